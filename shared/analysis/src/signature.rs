//! When two queries ask the same.

use std::collections::BTreeSet;

use crate::Analyzer;

/// Returns what `text` asks for, whatever its word order, repetitions and inflections: its distinct English tokens in
/// byte order, separated by a space.
///
/// Two queries with the same signature are near duplicates. A text of stop words alone keeps these, so that `to be` and
/// `the who` differ; the empty signature means that there is no token at all.
pub fn signature(text: &str) -> String {
    let distinct =
        |analyzer: Analyzer| -> BTreeSet<String> { analyzer.tokens(text).into_iter().collect() };
    let mut tokens = distinct(Analyzer::English);
    if tokens.is_empty() {
        tokens = distinct(Analyzer::Standard);
    }
    tokens.into_iter().collect::<Vec<_>>().join(" ")
}
