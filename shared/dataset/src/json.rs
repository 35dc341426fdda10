//! JSON as people and Python write it.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::fault::{Fault, shorten};

/// Reads a text as one JSON object.
pub(crate) fn object(text: &str) -> Result<Map<String, Value>, Fault> {
    match value(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Fault::Json {
            problem: format!("`{}` is not an object", shorten(text)),
        }),
        Err(error) => Err(json_fault(text, &error)),
    }
}

/// Reads a text as JSON in which no object has a key twice: which of the two was meant nobody can tell.
pub(crate) fn value(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(text).map(|Unambiguous(value)| value)
}

struct Unambiguous(Value);

impl<'de> Deserialize<'de> for Unambiguous {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Values).map(Self)
    }
}

struct Values;

impl<'de> Visitor<'de> for Values {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Unambiguous(value)) = items.next_element()? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format!(
                    "key `{key}` occurs twice in one object"
                )));
            }
            let Unambiguous(value) = entries.next_value()?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

/// Describes why a text is not JSON. Python's `NaN`, `Infinity` and `-Infinity` are told apart from other mistakes.
pub(crate) fn json_fault(text: &str, error: &serde_json::Error) -> Fault {
    let at = text
        .split('\n')
        .nth(error.line().saturating_sub(1))
        .and_then(|line| line.as_bytes().get(error.column().saturating_sub(2)..))
        .unwrap_or_default();
    let starts = |literal: &str| {
        // the reported column is that of the first or the second wrong character
        (0..2).any(|skip| {
            at.get(skip..)
                .is_some_and(|rest| rest.starts_with(literal.as_bytes()))
        })
    };
    for (literal, pattern) in [
        ("NaN", "NaN"),
        ("-Infinity", "-I"),
        ("Infinity", "Infinity"),
    ] {
        if starts(pattern) {
            return Fault::JsonNonFinite { literal };
        }
    }
    Fault::Json {
        problem: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_that_python_writes_are_named() {
        for (text, literal) in [
            (r#"{"a": NaN}"#, "NaN"),
            (r#"{"a":NaN}"#, "NaN"),
            ("NaN", "NaN"),
            ("{\"a\": [1,\n\n  Infinity]}", "Infinity"),
            (r#"{"a": -Infinity, "b": 1}"#, "-Infinity"),
        ] {
            let error = serde_json::from_str::<Value>(text).unwrap_err();
            assert_eq!(
                json_fault(text, &error),
                Fault::JsonNonFinite { literal },
                "{text}"
            );
        }
        let fault = object("{\"a\": Nope}").unwrap_err();
        assert!(matches!(fault, Fault::Json { .. }));
        let fault = object("[1]").unwrap_err();
        assert_eq!(
            fault.to_string(),
            "not the expected JSON: `[1]` is not an object"
        );
    }
}
