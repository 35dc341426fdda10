//! The markup of TREC topics and documents, which is SGML rather than XML: elements may stay open, `&` and `<` may stand
//! for themselves, and a file has many roots. An XML parser refuses such files or loses text in them, so this is a
//! scanner for tags and nothing more.

/// A tag and the text that follows it, up to the next tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Element name in lower case.
    pub(crate) name: String,
    /// Whether the tag closes the element.
    pub(crate) closing: bool,
    /// Byte offset of the tag.
    pub(crate) offset: usize,
    /// Text up to the next tag, entities resolved.
    pub(crate) text: String,
}

/// Splits a file into tags with the text after each. Text before the first tag, comments, processing instructions,
/// doctypes and elements that close themselves are dropped.
pub(crate) fn pieces(text: &str) -> Vec<Piece> {
    let mut found: Vec<Piece> = Vec::new();
    let (mut text_from, mut search_from) = (0, 0);
    loop {
        let rest = text.get(search_from..).unwrap_or_default();
        let offset = rest.find('<').map_or(text.len(), |p| p + search_from);
        let tag = text.get(offset..).and_then(tag);
        if tag.is_none() && offset < text.len() {
            search_from = offset + 1;
            continue;
        }
        if let Some(last) = found.last_mut() {
            let raw = text.get(text_from..offset).unwrap_or_default();
            resolve_entities(raw, &mut last.text);
        }
        let Some(tag) = tag else {
            return found;
        };
        if let Some((name, closing)) = tag.element {
            found.push(Piece {
                name,
                closing,
                offset,
                text: String::new(),
            });
        }
        search_from = offset + tag.len;
        text_from = search_from;
    }
}

struct Tag {
    /// Bytes from `<` to `>`.
    len: usize,
    /// Name and whether it closes; nothing for comments and the like.
    element: Option<(String, bool)>,
}

/// Reads the tag that `text` starts with, unless its `<` stands for itself.
fn tag(text: &str) -> Option<Tag> {
    let rest = text.strip_prefix('<')?;
    if rest.starts_with("!--") {
        let len = text.find("-->")? + 3;
        return Some(Tag { len, element: None });
    }
    let len = text.find('>')? + 1;
    if rest.starts_with(['!', '?']) {
        return Some(Tag { len, element: None });
    }
    let inner = text.get(1..len - 1)?;
    let (closing, inner) = match inner.strip_prefix('/') {
        Some(inner) => (true, inner),
        None => (false, inner),
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    let (name, attributes) = match inner.find(|c| !is_name(c)) {
        Some(end) => inner.split_at(end),
        None => (inner, ""),
    };
    let attributes = attributes.trim_ascii();
    let looks_right = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && !attributes.contains('<')
        && (attributes.is_empty() || attributes == "/" || attributes.contains('='));
    if !looks_right {
        return None;
    }
    let element = (!attributes.ends_with('/')).then(|| (name.to_ascii_lowercase(), closing));
    Some(Tag { len, element })
}

/// Appends `raw` with the predefined and numeric entities replaced; any other `&` stands for itself.
fn resolve_entities(raw: &str, into: &mut String) {
    let mut rest = raw;
    while let Some((before, after)) = rest.split_once('&') {
        into.push_str(before);
        let entity = after
            .split_once(';')
            .and_then(|(name, tail)| Some((entity(name)?, tail)));
        if let Some((character, tail)) = entity {
            into.push(character);
            rest = tail;
        } else {
            into.push('&');
            rest = after;
        }
    }
    into.push_str(rest);
}

fn entity(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)
        }
    }
}
