//! Reads TOML values one by one, so that every error can name the key, the value and the place.
//!
//! Serde's derived readers know less: a wrong type names no key, an unknown key no nearest one, and NaN passes.

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue, ValueDeserializer};

use super::error::{Position, Refusal, SweepFileError, nearest};

type Result<T> = std::result::Result<T, SweepFileError>;

/// One value with its key and place.
#[derive(Debug)]
pub(super) struct Entry<'i> {
    text: &'i str,
    key: String,
    at: Position,
    value: DeValue<'i>,
}

/// Key and place of a value.
#[derive(Debug, Clone, Default)]
pub(super) struct Place {
    /// The key with the tables it is in.
    pub(super) key: String,
    /// Where the value is.
    pub(super) at: Position,
}

impl Place {
    /// Returns the error of a value that the type it becomes refuses.
    pub(super) fn refused(self, source: impl Into<Refusal>) -> SweepFileError {
        SweepFileError::Refused {
            at: self.at,
            key: self.key,
            source: source.into(),
        }
    }

    /// Returns the error of a value that collides with another setting.
    pub(super) fn conflict(self, problem: impl Into<String>) -> SweepFileError {
        SweepFileError::Conflict {
            at: self.at,
            key: self.key,
            problem: problem.into(),
        }
    }
}

/// A table whose keys are all known.
#[derive(Debug)]
pub(super) struct Section<'i> {
    text: &'i str,
    path: String,
    at: Position,
    entries: DeTable<'i>,
}

impl<'i> Section<'i> {
    /// Reads a document whose top-level keys have to be among `known`.
    pub(super) fn document(text: &'i str, known: &[&str]) -> Result<Self> {
        let document = DeTable::parse(text).map_err(|error| SweepFileError::Syntax {
            at: Position::of(text, error.span().map_or(0, |span| span.start)),
            message: error.message().replace('\n', ", "),
        })?;
        let section = Self {
            text,
            path: String::new(),
            at: Position { line: 1, column: 1 },
            entries: document.into_inner(),
        };
        section.check(known)?;
        Ok(section)
    }

    /// Refuses keys that are not among `known`.
    pub(super) fn check(&self, known: &[&str]) -> Result<()> {
        let unknown = self
            .entries
            .keys()
            .filter(|key| !known.contains(&key.get_ref().as_ref()))
            .min_by_key(|key| key.span().start);
        match unknown {
            None => Ok(()),
            Some(key) => Err(SweepFileError::UnknownKey {
                at: Position::of(self.text, key.span().start),
                key: self.dotted(key.get_ref()),
                nearest: nearest(key.get_ref(), known).map(str::to_owned),
                known: words(known),
            }),
        }
    }

    fn dotted(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        }
    }

    /// Returns where the table starts.
    pub(super) fn at(&self) -> Position {
        self.at
    }

    /// Takes the value of a key out of the table, if it is there.
    pub(super) fn take(&mut self, key: &str) -> Option<Entry<'i>> {
        let value = self.entries.remove(key)?;
        Some(Entry {
            text: self.text,
            key: self.dotted(key),
            at: Position::of(self.text, value.span().start),
            value: value.into_inner(),
        })
    }

    /// Takes the value of a key that has to be there; `allowed` says what it takes.
    pub(super) fn require(&mut self, key: &str, allowed: &str) -> Result<Entry<'i>> {
        self.take(key).ok_or_else(|| self.missing(key, allowed))
    }

    /// Returns the error of a key that has to be there and is not.
    pub(super) fn missing(&self, key: &str, allowed: &str) -> SweepFileError {
        SweepFileError::MissingKey {
            at: self.at,
            key: self.dotted(key),
            allowed: allowed.to_owned(),
        }
    }

    /// Takes a table whose keys have to be among `known`, if it is there.
    pub(super) fn table(&mut self, key: &str, known: &[&str]) -> Result<Option<Self>> {
        let entry = self.take(key);
        entry.map(|entry| entry.table(known)).transpose()
    }

    /// Takes a number that `allow` accepts, if it is there; `allowed` says which it does.
    pub(super) fn number(
        &mut self,
        key: &str,
        allowed: &str,
        allow: impl Fn(f64) -> bool,
    ) -> Result<Option<f64>> {
        let entry = self.take(key);
        entry.map(|entry| entry.number(allowed, allow)).transpose()
    }

    /// Takes a whole number within the range, if it is there.
    pub(super) fn count(&mut self, key: &str, range: RangeInclusive<u32>) -> Result<Option<u32>> {
        let entry = self.take(key);
        entry.map(|entry| entry.count(range)).transpose()
    }

    /// Takes true or false, if it is there.
    pub(super) fn flag(&mut self, key: &str) -> Result<Option<bool>> {
        self.take(key)
            .map(|entry| match entry.value {
                DeValue::Boolean(flag) => Ok(flag),
                _ => Err(entry.wrong_type("`true` or `false`")),
            })
            .transpose()
    }
}

impl Section<'_> {
    /// Returns where the table and its keys are, to speak of them after they were read.
    pub(super) fn places(&self) -> Places {
        let place = |(key, value): (&Spanned<DeString<'_>>, &Spanned<DeValue<'_>>)| {
            let place = Place {
                key: self.dotted(key.get_ref()),
                at: Position::of(self.text, value.span().start),
            };
            (key.get_ref().to_string(), place)
        };
        let whole = Place {
            key: self.path.clone(),
            at: self.at,
        };
        Places {
            whole,
            keys: self.entries.iter().map(place).collect(),
        }
    }

    /// Reads what was not taken into a type that reads itself.
    pub(super) fn read_rest<T: DeserializeOwned>(self) -> Result<T> {
        let spans: Vec<(String, Range<usize>)> = self
            .entries
            .iter()
            .map(|(key, value)| (self.dotted(key.get_ref()), value.span()))
            .collect();
        let value = Spanned::new(0..0, DeValue::Table(self.entries));
        T::deserialize(ValueDeserializer::from(value)).map_err(|error| {
            let start = error.span().map(|span| span.start);
            let inside = |span: &Range<usize>| start.is_some_and(|start| span.contains(&start));
            let key = spans.into_iter().find(|(_, span)| inside(span));
            SweepFileError::Unreadable {
                at: start.map_or(self.at, |start| Position::of(self.text, start)),
                key: key.map_or(self.path, |(key, _)| key),
                message: error.message().replace('\n', ", "),
            }
        })
    }
}

/// Places of a table and its keys.
#[derive(Debug, Default)]
pub(super) struct Places {
    whole: Place,
    keys: BTreeMap<String, Place>,
}

impl Places {
    /// Returns the place of a key, or that of the table when it does not have the key.
    pub(super) fn of(self, key: &str) -> Place {
        self.keys.get(key).cloned().unwrap_or(self.whole)
    }
}

/// Writes words for a message: `a`, `b`.
pub(super) fn words(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    quoted.join(", ")
}

impl<'i> Entry<'i> {
    /// Returns the value as text, if it is one.
    pub(super) fn as_text(&self) -> Option<&str> {
        self.value.as_str()
    }

    /// Whether the value is a list.
    pub(super) fn is_list(&self) -> bool {
        self.value.is_array()
    }

    /// Returns the error of a value of the wrong type.
    pub(super) fn wrong_type(&self, allowed: &str) -> SweepFileError {
        let kind = self.value.type_str();
        let found = match &self.value {
            DeValue::Array(_) | DeValue::Table(_) => kind.to_owned(),
            _ => format!("the {kind} `{}`", self.written()),
        };
        SweepFileError::Type {
            at: self.at,
            key: self.key.clone(),
            found,
            allowed: allowed.to_owned(),
        }
    }

    /// Returns the error of a value that is not allowed.
    pub(super) fn not_allowed(&self, allowed: &str) -> SweepFileError {
        SweepFileError::Value {
            at: self.at,
            key: self.key.clone(),
            value: self.written(),
            allowed: allowed.to_owned(),
        }
    }

    /// Returns the error of a value that collides with another setting.
    pub(super) fn conflict(&self, problem: impl Into<String>) -> SweepFileError {
        self.place().conflict(problem)
    }

    /// Returns the error of a value that the type it becomes refuses.
    pub(super) fn refused(&self, source: impl Into<Refusal>) -> SweepFileError {
        self.place().refused(source)
    }

    /// Returns key and place, to speak of the value after it was taken apart.
    pub(super) fn place(&self) -> Place {
        Place {
            key: self.key.clone(),
            at: self.at,
        }
    }

    fn written(&self) -> String {
        match &self.value {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(number) => number.to_string(),
            DeValue::Float(number) => number.to_string(),
            DeValue::Boolean(flag) => flag.to_string(),
            DeValue::Datetime(time) => time.to_string(),
            DeValue::Array(_) => "[…]".to_owned(),
            DeValue::Table(_) => "{…}".to_owned(),
        }
    }

    /// Returns the text; `allowed` says what the key takes.
    pub(super) fn text(&self, allowed: &str) -> Result<String> {
        match &self.value {
            DeValue::String(text) => Ok(text.to_string()),
            _ => Err(self.wrong_type(allowed)),
        }
    }

    /// Returns which of `words` the text is, as a position.
    pub(super) fn choice(&self, words: &[&str]) -> Result<usize> {
        let allowed = format!("one of {}", self::words(words));
        let text = self.text(&allowed)?;
        let position = words.iter().position(|word| *word == text);
        position.ok_or_else(|| self.not_allowed(&allowed))
    }

    /// Returns the finite number that `allow` accepts; `allowed` says which it does. Whole numbers are numbers, texts
    /// are not.
    pub(super) fn number(&self, allowed: &str, allow: impl Fn(f64) -> bool) -> Result<f64> {
        let text = match &self.value {
            DeValue::Float(number) => number.as_str(),
            DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
            _ => return Err(self.wrong_type(allowed)),
        };
        let number = text.parse::<f64>().ok();
        number
            .filter(|number| number.is_finite() && allow(*number))
            .ok_or_else(|| self.not_allowed(allowed))
    }

    /// Returns the whole number within the range.
    pub(super) fn count(&self, range: RangeInclusive<u32>) -> Result<u32> {
        let allowed = format!("a whole number from {} to {}", range.start(), range.end());
        let DeValue::Integer(number) = &self.value else {
            return Err(self.wrong_type(&allowed));
        };
        let count = u32::from_str_radix(number.as_str(), number.radix()).ok();
        count
            .filter(|count| range.contains(count))
            .ok_or_else(|| self.not_allowed(&allowed))
    }

    /// Returns the seed: a whole number that fits 63 bits, as far as TOML goes.
    pub(super) fn seed(self) -> Result<u64> {
        let allowed = format!("a whole number from 0 to {}", i64::MAX);
        let DeValue::Integer(number) = &self.value else {
            return Err(self.wrong_type(&allowed));
        };
        let seed = i64::from_str_radix(number.as_str(), number.radix()).ok();
        seed.and_then(|seed| u64::try_from(seed).ok())
            .ok_or_else(|| self.not_allowed(&allowed))
    }

    /// Returns the values of a list; `allowed` says what it holds.
    pub(super) fn list(self, allowed: &str) -> Result<Vec<Self>> {
        let DeValue::Array(values) = self.value else {
            return Err(self.wrong_type(allowed));
        };
        let entries = values.into_iter().enumerate().map(|(index, value)| Self {
            text: self.text,
            key: format!("{}[{index}]", self.key),
            at: Position::of(self.text, value.span().start),
            value: value.into_inner(),
        });
        Ok(entries.collect())
    }

    /// Returns the table, whose keys have to be among `known`.
    pub(super) fn table(self, known: &[&str]) -> Result<Section<'i>> {
        let section = self.open_table(&format!("a table with {}", words(known)))?;
        section.check(known)?;
        Ok(section)
    }

    /// Returns a table whose keys are checked later; `allowed` says what it holds.
    pub(super) fn open_table(self, allowed: &str) -> Result<Section<'i>> {
        let DeValue::Table(entries) = self.value else {
            return Err(self.wrong_type(allowed));
        };
        Ok(Section {
            text: self.text,
            path: self.key,
            at: self.at,
            entries,
        })
    }

    /// Returns a table with free keys, in the order in which the file has them.
    pub(super) fn pairs(self, allowed: &str) -> Result<Vec<(String, Self)>> {
        let section = self.open_table(allowed)?;
        let mut pairs: Vec<_> = section.entries.into_iter().collect();
        pairs.sort_by_key(|(key, _)| key.span().start);
        let path = section.path;
        let entries = pairs.into_iter().map(|(key, value)| {
            let name = key.into_inner().into_owned();
            let entry = Self {
                text: section.text,
                key: format!("{path}.{name}"),
                at: Position::of(section.text, value.span().start),
                value: value.into_inner(),
            };
            (name, entry)
        });
        Ok(entries.collect())
    }
}
