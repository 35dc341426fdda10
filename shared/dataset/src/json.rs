//! JSON as people and Python write it.

use serde_json::{Map, Value};

use crate::fault::{Fault, shorten};

/// Reads a text as one JSON object.
pub(crate) fn object(text: &str) -> Result<Map<String, Value>, Fault> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Fault::Json {
            problem: format!("`{}` is not an object", shorten(text)),
        }),
        Err(error) => Err(json_fault(text, &error)),
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
