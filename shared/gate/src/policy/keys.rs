//! Every key of a policy: what it accepts, its default, and what it does. Checks, schema and documentation come from here.

use serde_json::{Map, Value, json};

/// What a number of a policy may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    pub(crate) low: f64,
    /// Whether `low` itself is accepted.
    pub(crate) from: bool,
    pub(crate) high: Option<f64>,
    /// Whether `high` itself is accepted.
    pub(crate) to: bool,
    pub(crate) words: &'static str,
}

pub(crate) const LEVEL: Range = Range {
    low: 0.0,
    from: false,
    high: Some(0.5),
    to: true,
    words: "greater than 0 and at most 0.5",
};
pub(crate) const RESAMPLES: Range = Range {
    low: 100.0,
    from: true,
    high: Some(1e6),
    to: true,
    words: "at least 100 and at most 1000000",
};
pub(crate) const CONFIDENCE: Range = Range {
    low: 0.5,
    from: true,
    high: Some(1.0),
    to: false,
    words: "at least 0.5 and less than 1",
};
pub(crate) const SHARE: Range = Range {
    low: 0.0,
    from: true,
    high: Some(1.0),
    to: true,
    words: "at least 0 and at most 1",
};
pub(crate) const AMOUNT: Range = Range {
    low: 0.0,
    from: true,
    high: None,
    to: false,
    words: "finite and at least 0",
};

impl Range {
    pub(crate) fn holds(self, value: f64) -> bool {
        let above = value > self.low || (self.from && value >= self.low);
        let below = match self.high {
            None => value.is_finite(),
            Some(high) => value < high || (self.to && value <= high),
        };
        above && below
    }

    fn schema(self) -> Map<String, Value> {
        let mut schema = Map::new();
        let low = if self.from {
            "minimum"
        } else {
            "exclusiveMinimum"
        };
        schema.insert(low.to_owned(), json!(self.low));
        if let Some(high) = self.high {
            let key = if self.to {
                "maximum"
            } else {
                "exclusiveMaximum"
            };
            schema.insert(key.to_owned(), json!(high));
        }
        schema
    }
}

/// What a key accepts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// A metric's name.
    Metric,
    /// A list of metric names, each once.
    Metrics,
    /// A number.
    Number(Range),
    /// A whole number.
    Whole(Range),
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// A table from metric names to numbers.
    PerMetric(Range),
    /// A table from names of costs and figures to `higher` or `lower`.
    Directions,
    /// A list of tables, see `docs/policy.md`.
    Slices,
}

/// A key of a policy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// The default as the documentation says it.
    pub(crate) default: &'static str,
    pub(crate) what: &'static str,
}

const fn key(name: &'static str, kind: Kind, default: &'static str, what: &'static str) -> Key {
    Key {
        name,
        kind,
        default,
        what,
    }
}

/// Every key, in the order in which the documentation has them.
pub(crate) const KEYS: [Key; 26] = [
    key(
        "primary",
        Kind::Metric,
        "`nDCG@10`; for a job its own primary",
        "metric that has to improve",
    ),
    key(
        "guards",
        Kind::Metrics,
        "the other quality metrics that were measured",
        "metrics that must not be harmed",
    ),
    key(
        "directions",
        Kind::Directions,
        "`higher` for columns that we do not know",
        "which way a cost or other figure of a value table is better; the direction of a relevance metric is known and cannot be changed",
    ),
    key("alpha", Kind::Number(LEVEL), "0.05", "level of every test"),
    key(
        "correction",
        Kind::Choice(&["bh", "holm", "max_t"]),
        "`bh` for one candidate, `max_t` for several",
        "how the p-values of the family are corrected; under `bh` many truly worse candidates loosen the threshold for the better ones, so several candidates get `max_t`",
    ),
    key(
        "resamples",
        Kind::Whole(RESAMPLES),
        "10000",
        "resamples of every interval, and with which every test begins",
    ),
    key(
        "max_resamples",
        Kind::Whole(RESAMPLES),
        "100000, or `resamples` when that is more",
        "resamples up to which a test is continued while the 99 % Monte Carlo interval of a p-value that decides straddles its threshold",
    ),
    key(
        "seed",
        Kind::Whole(Range {
            low: 0.0,
            from: true,
            high: None,
            to: false,
            words: "a whole number from 0",
        }),
        "1; for a job its own seed",
        "seed of the resamples",
    ),
    key(
        "interval",
        Kind::Choice(&["percentile", "bca"]),
        "`percentile`",
        "how bootstrap intervals are read off the resamples; where BCa is undefined the percentile interval takes its place, and the verdict says so",
    ),
    key(
        "confidence",
        Kind::Number(CONFIDENCE),
        "0.95",
        "confidence of every interval",
    ),
    key(
        "min_queries",
        Kind::Whole(AMOUNT),
        "20",
        "queries below which nothing is decided",
    ),
    key(
        "min_changed",
        Kind::Whole(AMOUNT),
        "0",
        "queries on which the primary has to have changed, beside what the test needs",
    ),
    key(
        "min_judged_share",
        Kind::Number(SHARE),
        "0",
        "share of returned hits that has to be judged, on both sides",
    ),
    key(
        "min_effect",
        Kind::Number(AMOUNT),
        "0",
        "improvement of the primary below which nobody cares, in its own unit",
    ),
    key(
        "noise_band",
        Kind::Number(AMOUNT),
        "what reruns showed, when there were any",
        "change of the primary that reruns of one configuration show, in its own unit; the larger of this and what was measured counts",
    ),
    key(
        "max_drop",
        Kind::PerMetric(AMOUNT),
        "none",
        "guards with a margin: the interval has to exclude a worsening of this much, in the guard's own unit",
    ),
    key(
        "max_flips",
        Kind::PerMetric(SHARE),
        "none",
        "for metrics that are 0 or 1: largest share of queries that may go from right to wrong",
    ),
    key(
        "max_flips_bound",
        Kind::PerMetric(SHARE),
        "none",
        "for metrics that are 0 or 1: what the exact upper bound of that share, at `confidence`, may reach",
    ),
    key(
        "catastrophic_drop",
        Kind::Number(AMOUNT),
        "0.3",
        "worsening of the primary on one query that counts as catastrophic, in its own unit",
    ),
    key(
        "max_catastrophic_share",
        Kind::Number(SHARE),
        "0.05",
        "largest share of catastrophic queries",
    ),
    key(
        "max_zero_result_increase",
        Kind::Number(SHARE),
        "0",
        "largest increase of the share of queries without a result",
    ),
    key(
        "max_degraded_share",
        Kind::Number(SHARE),
        "0.01",
        "largest share of queries on which a stage failed, of either side",
    ),
    key(
        "max_failed_share",
        Kind::Number(SHARE),
        "0",
        "largest share of queries that failed, of either side",
    ),
    key(
        "max_judged_gap",
        Kind::Number(SHARE),
        "0.1",
        "by how much the judged share of the side that loses may lie below the other's",
    ),
    key(
        "min_per_arm",
        Kind::Whole(AMOUNT),
        "20",
        "for two independent arms: cases (clusters, when there are any) in each arm below which nothing is decided",
    ),
    key(
        "slices",
        Kind::Slices,
        "none",
        "named groups of queries that are reported, or guarded",
    ),
];

/// Returns the JSON schema (draft 2020-12) of a policy file's content, as `docs/policy.schema.json` has it.
pub fn policy_schema() -> Value {
    let properties: Map<String, Value> = KEYS
        .iter()
        .map(|key| (key.name.to_owned(), property(key)))
        .collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "evalfarm gate policy",
        "description": "What a candidate has to fulfil to be promoted. Every key is optional; docs/policy.md describes them.",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    })
}

/// Returns the table of keys, as `docs/policy.md` has it.
pub fn policy_table() -> String {
    let mut text = "| key | accepts | default | what |\n|---|---|---|---|\n".to_owned();
    for key in KEYS {
        let accepts = match key.kind {
            Kind::Metric => "a metric's name".to_owned(),
            Kind::Metrics => "a list of metric names".to_owned(),
            Kind::Number(range) => format!("a number, {}", range.words),
            Kind::Whole(range) if range.words.starts_with("a whole") => range.words.to_owned(),
            Kind::Whole(range) => format!("a whole number, {}", range.words),
            Kind::Choice(words) => quoted(words),
            Kind::PerMetric(range) => format!("a table: metric = number, {}", range.words),
            Kind::Directions => "a table: column = `higher` or `lower`".to_owned(),
            Kind::Slices => "a list of tables, see below".to_owned(),
        };
        let row = format!(
            "| `{}` | {accepts} | {} | {} |\n",
            key.name, key.default, key.what
        );
        text.push_str(&row);
    }
    text
}

fn quoted(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    words.join(", ")
}

fn property(key: &Key) -> Value {
    let mut schema = match key.kind {
        Kind::Metric => map(json!({"type": "string", "minLength": 1})),
        Kind::Metrics => map(json!({
            "type": "array", "uniqueItems": true, "items": {"type": "string", "minLength": 1},
        })),
        Kind::Number(range) => number("number", range),
        Kind::Whole(range) => number("integer", range),
        Kind::Choice(words) => map(json!({"enum": words})),
        Kind::PerMetric(range) => map(json!({
            "type": "object", "additionalProperties": number("number", range),
        })),
        Kind::Directions => map(json!({
            "type": "object", "additionalProperties": {"enum": ["higher", "lower"]},
        })),
        Kind::Slices => map(json!({"type": "array", "items": slice()})),
    };
    schema.insert("description".to_owned(), json!(key.what));
    Value::Object(schema)
}

fn number(kind: &str, range: Range) -> Map<String, Value> {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!(kind));
    schema.extend(range.schema());
    schema
}

fn slice() -> Value {
    let count = number("integer", AMOUNT);
    let share = number("number", LEVEL);
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["name"],
        "properties": {
            "name": {"type": "string", "minLength": 1, "description": "what the slice is called"},
            "guard": {"type": "boolean", "description": "whether harm to the primary in this slice blocks"},
            "column": {"type": "string", "description": "a named column of the queries"},
            "values": {"type": "array", "items": {"type": "string"}, "description": "the column's values that belong to the slice"},
            "words": {"type": "array", "items": {"type": "string"}, "description": "queries with any of these words"},
            "negation": {"type": "boolean", "description": "queries with a word that negates"},
            "min_words": count,
            "max_words": count,
            "head": share,
            "tail": share,
        },
    })
}

fn map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    }
}
