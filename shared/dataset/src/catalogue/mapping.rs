//! Which keys of a catalogue make up a field.

use std::fmt;
use std::str::FromStr;

use evalfarm_domain::{FieldName, IdError};

/// A field of the corpus and the keys or columns whose values make it up.
///
/// Written `title` (the key of that name), `title=product_title` (another key), `attrs=attr_t*` (every key that matches,
/// where `*` stands for any text), or `body=description,bullets` (several). Values are joined by a space in the order in
/// which the file has their keys; missing and empty ones add nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldMap {
    /// The field.
    pub name: FieldName,
    /// Keys, each a name or a pattern with `*`.
    keys: Vec<String>,
}

/// A field mapping that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FieldMapError {
    /// The field has no acceptable name.
    #[error("the field mapping `{text}` has no usable field name")]
    Name {
        /// The mapping.
        text: String,
        /// Why.
        #[source]
        source: IdError,
    },
    /// A key is empty.
    #[error(
        "the field mapping `{text}` has an empty key, expected `name`, `name=key` or `name=key,key*`"
    )]
    EmptyKey {
        /// The mapping.
        text: String,
    },
    /// A pattern stands where the name of the field is taken from.
    #[error("the field mapping `{text}` needs a name before the pattern, e.g. `attributes={text}`")]
    PatternWithoutName {
        /// The mapping.
        text: String,
    },
}

impl FieldMap {
    /// Whether a key of the file belongs to the field.
    pub(crate) fn takes(&self, key: &str) -> bool {
        self.keys.iter().any(|pattern| matches(pattern, key))
    }
}

impl FromStr for FieldMap {
    type Err = FieldMapError;

    fn from_str(text: &str) -> Result<Self, FieldMapError> {
        let (name, keys) = match text.split_once('=') {
            Some((name, keys)) => (name, keys),
            None if text.contains('*') => {
                let text = text.to_owned();
                return Err(FieldMapError::PatternWithoutName { text });
            }
            None => (text, text),
        };
        let name = FieldName::try_from(name).map_err(|source| FieldMapError::Name {
            text: text.to_owned(),
            source,
        })?;
        let keys: Vec<String> = keys.split(',').map(str::to_owned).collect();
        if keys.iter().any(String::is_empty) {
            let text = text.to_owned();
            return Err(FieldMapError::EmptyKey { text });
        }
        Ok(Self { name, keys })
    }
}

impl fmt::Display for FieldMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.keys.join(","))
    }
}

/// Whether a text matches a pattern in which `*` stands for any text. Every part between stars is looked for as early as
/// possible, and the last one at the end.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut text) = text.strip_prefix(first) else {
        return false;
    };
    let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    for part in middle.split('*') {
        match text.split_once(part) {
            _ if part.is_empty() => {}
            Some((_, after)) => text = after,
            None => return false,
        }
    }
    text.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        for (pattern, text, expected) in [
            ("attr_t*", "attr_t_type", true),
            ("attr_t*", "attr_t", true),
            ("attr_t*", "attr_n_type", false),
            ("*_name", "product_name", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("a*a", "a", false),
            ("*", "", true),
            ("**x", "x", true),
            ("title", "title2", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn mappings_are_read_and_written() {
        for (text, written) in [
            ("title", "title=title"),
            ("title=name", "title=name"),
            ("attrs=attr_t*,x", "attrs=attr_t*,x"),
        ] {
            assert_eq!(text.parse::<FieldMap>().unwrap().to_string(), written);
        }
        for (text, message) in [
            ("=x", "the field mapping `=x` has no usable field name"),
            (
                "a=x,",
                "the field mapping `a=x,` has an empty key, expected `name`, `name=key` or `name=key,key*`",
            ),
            (
                "attr*",
                "the field mapping `attr*` needs a name before the pattern, e.g. `attributes=attr*`",
            ),
        ] {
            assert_eq!(text.parse::<FieldMap>().unwrap_err().to_string(), message);
        }
    }
}
