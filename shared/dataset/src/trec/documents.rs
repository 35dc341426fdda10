//! Documents: `<doc> <docno>…</docno> <title>…</title> … </doc>`.

use std::path::Path;

use evalfarm_domain::{Corpus, DocId};

use super::markup::{Piece, pieces};
use crate::InputError;
use crate::content::{CorpusBuilder, append_text};
use crate::fault::Fault;
use crate::source::{line_of, read_text};

/// Field of text that stands in a document outside of any element.
const LOOSE_TEXT: &str = "text";

/// Reads documents. Each element directly inside a document is a field; fields are in the order in which the file first
/// has them. An element that occurs again adds its text after a space, tags inside an element are dropped and their
/// text kept, and text outside of elements belongs to the field `text`.
pub fn read_documents(path: &Path) -> Result<Corpus, InputError> {
    let text = read_text(path)?;
    let fail = |offset: usize, fault: Fault| {
        InputError::line(path, line_of(text.as_bytes(), offset), fault)
    };
    let problem = |problem: &str| Fault::Markup {
        problem: problem.to_owned(),
    };
    let mut corpus = CorpusBuilder::default();
    let mut open: Option<Open> = None;
    for piece in pieces(&text) {
        match (open.take(), piece.name.as_str(), piece.closing) {
            (None, "doc", false) => {
                let mut document = Open::at(piece.offset);
                document
                    .append(LOOSE_TEXT, &piece.text, &mut corpus)
                    .map_err(|fault| fail(piece.offset, fault))?;
                open = Some(document);
            }
            (Some(_), "doc", false) => {
                let fault = problem("`<doc>` before the document above is closed");
                return Err(fail(piece.offset, fault));
            }
            (Some(document), "doc", true) => {
                let offset = document.offset;
                let line = line_of(text.as_bytes(), offset);
                document
                    .close(line, &mut corpus)
                    .map_err(|fault| fail(offset, fault))?;
            }
            (None, "doc", true) => {
                return Err(fail(piece.offset, problem("`</doc>` without `<doc>`")));
            }
            (None, _, _) => {}
            (Some(mut document), _, _) => {
                document
                    .add(&piece, &mut corpus)
                    .map_err(|fault| fail(piece.offset, fault))?;
                open = Some(document);
            }
        }
    }
    if let Some(document) = open {
        return Err(fail(document.offset, problem("`<doc>` is not closed")));
    }
    corpus
        .finish()
        .map_err(|(line, fault)| InputError::line(path, line, fault))
}

/// A document that is being read.
struct Open {
    offset: usize,
    id: Option<String>,
    /// The element directly inside the document that is open, and how many of the same name are open inside it.
    element: Option<(String, usize)>,
    /// Text of each field, by the corpus's field order.
    texts: Vec<String>,
}

impl Open {
    fn at(offset: usize) -> Self {
        Self {
            offset,
            id: None,
            element: None,
            texts: Vec::new(),
        }
    }

    fn add(&mut self, piece: &Piece, corpus: &mut CorpusBuilder) -> Result<(), Fault> {
        self.element = match (self.element.take(), piece.closing) {
            (None, false) => Some((piece.name.clone(), 0)),
            (None, true) => None,
            (Some((name, nested)), false) if name == piece.name => Some((name, nested + 1)),
            (Some((name, nested)), true) if name == piece.name => {
                nested.checked_sub(1).map(|nested| (name, nested))
            }
            (Some(element), _) => Some(element),
        };
        let field = match &self.element {
            Some((name, _)) => name.clone(),
            None => LOOSE_TEXT.to_owned(),
        };
        self.append(&field, &piece.text, corpus)
    }

    fn append(&mut self, field: &str, text: &str, corpus: &mut CorpusBuilder) -> Result<(), Fault> {
        let text = text.trim();
        if field == "docno" {
            self.id.get_or_insert_default().push_str(text);
            return Ok(());
        }
        if text.is_empty() && field == LOOSE_TEXT {
            return Ok(());
        }
        let index = corpus.field(field)?;
        if self.texts.len() <= index {
            self.texts.resize(index + 1, String::new());
        }
        append_text(&mut self.texts[index], text);
        Ok(())
    }

    fn close(self, line: u64, corpus: &mut CorpusBuilder) -> Result<(), Fault> {
        let Some(id) = self.id else {
            let problem = "the document has no `<docno>`".to_owned();
            return Err(Fault::Markup { problem });
        };
        corpus.add(DocId::try_from(id)?, self.texts, line);
        Ok(())
    }
}
