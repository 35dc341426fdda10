//! Topics: `<top> <num> … <title> … </top>`, in the form with closing tags and in the old one without.

use std::collections::BTreeMap;
use std::path::Path;

use evalfarm_domain::{Query, QueryId};

use super::markup::{Piece, pieces};
use crate::InputError;
use crate::fault::{Fault, shorten};
use crate::source::{line_of, read_text};

/// Where the ids of topics come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TopicIds {
    /// The number of the topic, as written.
    #[default]
    Number,
    /// The place of the topic in the file, from 1. Cranfield's judgments count topics so, although its topics carry other
    /// numbers: joined by number, most queries would silently get the judgments of another one.
    Position,
}

/// Words that the old form puts before the content of an element.
const PREFIXES: &[(&str, &str)] = &[
    ("num", "Number:"),
    ("title", "Topic:"),
    ("desc", "Description:"),
    ("narr", "Narrative:"),
];

/// Reads topics, in file order. The title is the query's text; other elements become columns under their names, with
/// `desc` and `narr` spelled out as `description` and `narrative`. White space between words becomes one space.
pub fn read_topics(path: &Path, ids: TopicIds) -> Result<Vec<Query>, InputError> {
    let text = read_text(path)?;
    let mut topics: Vec<Query> = Vec::new();
    let mut lines: BTreeMap<QueryId, u64> = BTreeMap::new();
    let mut open: Option<Topic> = None;
    let pieces = pieces(&text);
    let end = pieces.len();
    for at in 0..=end {
        let piece = pieces.get(at);
        let ends = piece.is_none_or(|piece| piece.name == "top");
        if ends && let Some(topic) = open.take() {
            let line = line_of(text.as_bytes(), topic.offset);
            let query = topic
                .into_query(ids, topics.len() + 1)
                .map_err(|fault| InputError::line(path, line, fault))?;
            if let Some(&first_line) = lines.get(&query.id) {
                let (kind, id) = ("topic", query.id.to_string());
                let fault = Fault::IdTwice {
                    kind,
                    id,
                    first_line,
                };
                return Err(InputError::line(path, line, fault));
            }
            lines.insert(query.id.clone(), line);
            topics.push(query);
        }
        match (piece, &mut open) {
            (Some(piece), _) if piece.name == "top" => {
                open = (!piece.closing).then(|| Topic {
                    offset: piece.offset,
                    elements: BTreeMap::new(),
                });
            }
            (Some(piece), Some(topic)) => topic.add(piece),
            _ => {}
        }
    }
    if topics.is_empty() {
        return Err(InputError::file(
            path,
            Fault::Empty {
                what: "`<top>` element",
            },
        ));
    }
    Ok(topics)
}

struct Topic {
    offset: usize,
    elements: BTreeMap<String, String>,
}

impl Topic {
    fn add(&mut self, piece: &Piece) {
        let words: Vec<&str> = piece.text.split_whitespace().collect();
        let mut text = words.join(" ");
        if piece.closing {
            // Text after a closing tag lies between elements.
            return;
        }
        let prefix = PREFIXES.iter().find(|(name, _)| *name == piece.name);
        if let Some(rest) = prefix.and_then(|(_, prefix)| strip_prefix(&text, prefix)) {
            text = rest.to_owned();
        }
        let so_far = self.elements.entry(piece.name.clone()).or_default();
        if !so_far.is_empty() && !text.is_empty() {
            so_far.push(' ');
        }
        so_far.push_str(&text);
    }

    fn into_query(mut self, ids: TopicIds, position: usize) -> Result<Query, Fault> {
        let missing = |name: &str| Fault::Markup {
            problem: format!("the topic has no `<{name}>`"),
        };
        let number = self.elements.remove("num").filter(|text| !text.is_empty());
        let number = match (ids, number) {
            (TopicIds::Position, _) => position.to_string(),
            (TopicIds::Number, number) => number.ok_or_else(|| missing("num"))?,
        };
        if number.contains(' ') {
            let problem = format!("`{}` is not the number of a topic", shorten(&number));
            return Err(Fault::Markup { problem });
        }
        let title = self
            .elements
            .remove("title")
            .ok_or_else(|| missing("title"))?;
        let mut query = Query::new(QueryId::try_from(number)?, title);
        for (name, text) in self.elements {
            let name = match name.as_str() {
                "desc" => "description".to_owned(),
                "narr" => "narrative".to_owned(),
                _ => name,
            };
            if !text.is_empty() {
                query.columns.insert(name, text);
            }
        }
        Ok(query)
    }
}

/// Removes a prefix whatever its case, and the white space after it.
fn strip_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix)
        .then(|| text.get(prefix.len()..).unwrap_or_default().trim_start())
}
