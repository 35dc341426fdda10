//! What a run says of its progress, for those who may read jobs and know nothing of this machine.

use std::path::Path;

use super::board::Board;
use crate::Progress;

/// Passes on what a run says, without where its folder lies.
#[derive(Debug)]
pub(crate) struct Told<'b> {
    board: &'b Board,
    folder: String,
}

impl<'b> Told<'b> {
    pub(crate) fn new(board: &'b Board, folder: &Path) -> Self {
        Self {
            board,
            folder: folder.display().to_string(),
        }
    }
}

impl Progress for Told<'_> {
    fn begin(&self, step: &str, evaluations: u64) {
        self.board.begin(step, evaluations);
    }

    fn advance(&self, evaluations: u64) {
        self.board.advance(evaluations);
    }

    fn end(&self) {
        self.board.end();
    }

    fn note(&self, line: &str) {
        self.board.note(&line.replace(&self.folder, "."));
    }
}
