//! Named groups of queries: how a policy describes them, and which queries they hold.

use std::collections::BTreeSet;

use evalfarm_domain::Query;
use serde::{Deserialize, Serialize};

use crate::PolicyError;

/// Words that turn a query's meaning round. A word ending in `n't` does so too.
const NEGATIONS: [&str; 10] = [
    "no",
    "not",
    "without",
    "never",
    "none",
    "non",
    "nor",
    "except",
    "excluding",
    "w/o",
];

/// A slice as it is written in a policy. A query belongs to it when every condition holds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawSlice {
    /// What it is called.
    pub name: String,
    /// Whether harm to the primary in it blocks; false.
    #[serde(default)]
    pub guard: bool,
    /// A named column of the queries; alone it makes one slice for each of its values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// Values of the column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<String>>,
    /// Queries that have any of these words, in any case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<Vec<String>>,
    /// Queries that have a word that negates, or with `false` have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub negation: Option<bool>,
    /// Least number of words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_words: Option<usize>,
    /// Largest number of words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_words: Option<usize>,
    /// The fewest queries that carry this share of the traffic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<f64>,
    /// The queries that are left when those with the rest of the traffic are taken away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tail: Option<f64>,
}

/// A checked slice of a policy.
///
/// Invariants: a name, at least one condition, shares greater than 0 and less than 1, words in lower case.
#[derive(Debug, Clone, PartialEq)]
pub struct SliceRule(RawSlice);

impl From<SliceRule> for RawSlice {
    fn from(rule: SliceRule) -> Self {
        rule.0
    }
}

impl SliceRule {
    /// Returns what the slice is called.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Whether harm in it blocks.
    pub fn is_guard(&self) -> bool {
        self.0.guard
    }
}

/// Some of the queries.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Slice {
    pub(crate) name: String,
    pub(crate) guard: bool,
    /// Rows of the evidence, ascending.
    pub(crate) rows: Vec<usize>,
}

/// Checks the slices of a policy.
pub(crate) fn slice_rules(written: Vec<RawSlice>) -> Result<Vec<SliceRule>, PolicyError> {
    let mut names = BTreeSet::new();
    let mut rules = Vec::new();
    for mut slice in written {
        let problem = problem(&slice).or_else(|| {
            let first = names.insert(slice.name.clone());
            (!first).then_some("is there twice")
        });
        if let Some(problem) = problem {
            let name = slice.name;
            return Err(PolicyError::Slice { name, problem });
        }
        for word in slice.words.iter_mut().flatten() {
            *word = word.to_lowercase();
        }
        rules.push(SliceRule(slice));
    }
    Ok(rules)
}

fn problem(slice: &RawSlice) -> Option<&'static str> {
    let empty = |list: &Option<Vec<String>>| list.as_ref().is_some_and(Vec::is_empty);
    let improper = |share: &Option<f64>| share.is_some_and(|share| !(share > 0.0 && share < 1.0));
    let words = |is: fn(&str) -> bool| slice.words.iter().flatten().any(|word| is(word.as_str()));
    let limits = slice.min_words.zip(slice.max_words);
    let contradicts = limits.is_some_and(|(least, most)| least > most);
    let conditions = slice.column.is_some()
        || slice.words.is_some()
        || slice.negation.is_some()
        || slice.min_words.is_some()
        || slice.max_words.is_some()
        || slice.head.is_some()
        || slice.tail.is_some();
    if slice.name.is_empty() {
        Some("needs a `name`")
    } else if !conditions {
        Some(
            "has no condition: give it `column`, `words`, `negation`, `min_words`, `max_words`, `head` or `tail`",
        )
    } else if slice.values.is_some() && slice.column.is_none() {
        Some("has `values` without a `column`")
    } else if empty(&slice.values) || empty(&slice.words) {
        Some("has an empty list, to which no query belongs")
    } else if improper(&slice.head) || improper(&slice.tail) {
        Some("has a `head` or `tail` that is not greater than 0 and less than 1")
    } else if words(str::is_empty) {
        Some("has an empty word, which no query has")
    } else if words(|word| bare(word) != word || word.contains(char::is_whitespace)) {
        Some(
            "has in `words` what no single word of a query can be: write single words without blanks and outer punctuation, `[\"red\", \"dress\"]` for queries with either",
        )
    } else if contradicts {
        Some("has a `min_words` above its `max_words`, so no query belongs to it")
    } else if slice.guard && slice.column.is_some() && slice.values.is_none() {
        Some("is a guard and has no `values`: name those that are guarded")
    } else {
        None
    }
}

/// Returns the rows of each slice among the queries, which are in the order of the evidence.
pub(crate) fn resolve(rules: &[SliceRule], queries: &[Query]) -> Vec<Slice> {
    let mut slices = Vec::new();
    for SliceRule(rule) in rules {
        let per_value = rule.column.as_ref().filter(|_| rule.values.is_none());
        let rows = selected(rule, queries);
        let Some(column) = per_value else {
            slices.push(Slice {
                name: rule.name.clone(),
                guard: rule.guard,
                rows,
            });
            continue;
        };
        let value = |row: &usize| queries[*row].columns.get(column);
        let values: BTreeSet<&String> = rows.iter().filter_map(value).collect();
        for wanted in values {
            let rows = rows.iter().copied();
            slices.push(Slice {
                name: format!("{}: {wanted}", rule.name),
                guard: false,
                rows: rows.filter(|row| value(row) == Some(wanted)).collect(),
            });
        }
    }
    slices
}

fn selected(rule: &RawSlice, queries: &[Query]) -> Vec<usize> {
    let head = rule.head.map(|share| heaviest(queries, share));
    let rest = rule.tail.map(|share| heaviest(queries, 1.0 - share));
    let in_column = |query: &Query| match (&rule.column, &rule.values) {
        (None, _) => true,
        (Some(column), None) => query.columns.contains_key(column),
        (Some(column), Some(values)) => {
            let value = query.columns.get(column);
            value.is_some_and(|value| values.contains(value))
        }
    };
    let holds = |row: &usize| {
        let query = &queries[*row];
        let text = query.text.to_lowercase();
        let words: Vec<&str> = text.split_whitespace().map(bare).collect();
        let has = |wanted: &Vec<String>| words.iter().any(|word| wanted.iter().any(|w| w == word));
        in_column(query)
            && rule.words.as_ref().is_none_or(has)
            && rule.negation.is_none_or(|wanted| negates(&words) == wanted)
            && rule.min_words.is_none_or(|least| words.len() >= least)
            && rule.max_words.is_none_or(|most| words.len() <= most)
            && head.as_ref().is_none_or(|head| head.contains(row))
            && rest.as_ref().is_none_or(|rest| !rest.contains(row))
    };
    (0..queries.len()).filter(holds).collect()
}

/// Returns a word without the punctuation around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| c.is_ascii_punctuation())
}

fn negates(words: &[&str]) -> bool {
    words.iter().any(|word| {
        NEGATIONS.contains(word) || word.ends_with("n't") || word.ends_with("n\u{2019}t")
    })
}

/// Returns the fewest queries that carry `share` of the traffic: the heaviest, ties by id.
fn heaviest(queries: &[Query], share: f64) -> BTreeSet<usize> {
    let mut order: Vec<usize> = (0..queries.len()).collect();
    order.sort_by(|&a, &b| {
        let by_weight = queries[b].weight.total_cmp(&queries[a].weight);
        by_weight.then_with(|| queries[a].id.cmp(&queries[b].id))
    });
    let wanted = share * queries.iter().map(|query| query.weight).sum::<f64>();
    let mut carried = 0.0;
    let mut heaviest = BTreeSet::new();
    for row in order {
        if carried >= wanted {
            break;
        }
        carried += queries[row].weight;
        heaviest.insert(row);
    }
    heaviest
}

#[cfg(test)]
mod tests {
    use evalfarm_domain::QueryId;

    use super::*;

    fn query(id: &str, text: &str, weight: f64) -> Query {
        let id = QueryId::try_from(id).unwrap();
        Query {
            weight,
            ..Query::new(id, text)
        }
    }

    fn rows(rule: RawSlice, queries: &[Query]) -> Vec<usize> {
        let rules = slice_rules(vec![RawSlice {
            name: "s".to_owned(),
            ..rule
        }]);
        resolve(&rules.unwrap(), queries)[0].rows.clone()
    }

    #[test]
    fn rules_pick_the_queries_that_they_describe() {
        let queries = [
            query("a", "dog leash without handle", 1.0),
            query("b", "Shoes", 8.0),
            query("c", "a phone that doesn't ring", 0.5),
            query("d", "non-stick pan", 0.5),
        ];
        let rule = RawSlice::default;
        let negation = |wanted| RawSlice {
            negation: Some(wanted),
            ..rule()
        };
        assert_eq!(rows(negation(true), &queries), [0, 2]);
        assert_eq!(rows(negation(false), &queries), [1, 3]);
        let short = RawSlice {
            max_words: Some(2),
            ..rule()
        };
        assert_eq!(rows(short, &queries), [1, 3]);
        let long = RawSlice {
            min_words: Some(4),
            words: Some(vec!["Ring".to_owned(), "leash".to_owned()]),
            ..rule()
        };
        assert_eq!(rows(long, &queries), [0, 2]);
        // 8 of 10 is more than half; the rest is the tail.
        let head = RawSlice {
            head: Some(0.5),
            ..rule()
        };
        assert_eq!(rows(head, &queries), [1]);
        let tail = RawSlice {
            tail: Some(0.5),
            ..rule()
        };
        assert_eq!(rows(tail, &queries), [0, 2, 3]);
    }

    #[test]
    fn a_column_alone_gives_a_slice_for_each_value() {
        let mut queries = [
            query("a", "x", 1.0),
            query("b", "y", 1.0),
            query("c", "z", 1.0),
        ];
        for (query, value) in queries.iter_mut().zip(["b", "a", "b"]) {
            query.columns.insert("kind".to_owned(), value.to_owned());
        }
        let rules = slice_rules(vec![RawSlice {
            name: "kind".to_owned(),
            column: Some("kind".to_owned()),
            ..RawSlice::default()
        }]);
        let slices = resolve(&rules.unwrap(), &queries);
        let shown: Vec<(&str, &[usize])> = slices
            .iter()
            .map(|slice| (slice.name.as_str(), slice.rows.as_slice()))
            .collect();
        assert_eq!(shown, [("kind: a", [1].as_slice()), ("kind: b", &[0, 2])]);
    }

    #[test]
    fn slices_that_select_nothing_are_refused() {
        let named = |slice: RawSlice| RawSlice {
            name: "s".to_owned(),
            ..slice
        };
        for slice in [
            RawSlice::default(),
            named(RawSlice::default()),
            named(RawSlice {
                values: Some(vec!["x".to_owned()]),
                ..RawSlice::default()
            }),
            named(RawSlice {
                words: Some(Vec::new()),
                ..RawSlice::default()
            }),
            named(RawSlice {
                head: Some(1.0),
                ..RawSlice::default()
            }),
        ] {
            assert!(slice_rules(vec![slice]).is_err());
        }
    }

    #[test]
    fn words_and_lengths_that_no_query_can_have_are_refused() {
        let words = |words: &[&str]| RawSlice {
            words: Some(words.iter().map(ToString::to_string).collect()),
            ..RawSlice::default()
        };
        let lengths = |least, most| RawSlice {
            min_words: Some(least),
            max_words: Some(most),
            ..RawSlice::default()
        };
        for (slice, problem) in [
            (words(&["red", "w/o", "it's"]), None),
            (words(&[""]), Some("empty word")),
            (words(&["ok", ""]), Some("empty word")),
            (words(&["red dress"]), Some("single words")),
            (words(&["red\u{a0}dress"]), Some("single words")),
            (words(&[" red"]), Some("single words")),
            // Queries' words lose the punctuation around them, so this one could not be among them.
            (words(&["red,"]), Some("single words")),
            (lengths(5, 1), Some("`min_words` above")),
            (lengths(2, 2), None),
        ] {
            let shown = format!("{slice:?}");
            let found = slice_rules(vec![RawSlice {
                name: "s".to_owned(),
                ..slice
            }]);
            let message = found.err().map(|error| error.to_string());
            match (problem, message) {
                (None, None) => {}
                (Some(piece), Some(message)) if message.contains(piece) => {}
                (_, message) => panic!("{shown}: {message:?}"),
            }
        }
    }
}
