//! Tables of values that a test makes up.

use std::fmt::Write as _;

/// Values of one query: id, and nDCG@10, RR@10 and R@10.
pub(crate) type Row = (String, [f64; 3]);

/// What the columns are.
pub(crate) const COLUMNS: [&str; 3] = ["ndcg10", "mrr10", "recall10"];

/// Returns a baseline of so many queries: values that differ from query to query, all in [0.2, 0.5].
pub(crate) fn baseline(queries: usize) -> Vec<Row> {
    (0..queries)
        .map(|at| {
            let value = 0.2 + 0.3 * ((at * 37 % 100) as f64 / 100.0);
            (format!("q{at:04}"), [value, value * 0.9, value * 0.8])
        })
        .collect()
}

/// Returns the rows with a change to the three values of some queries; it may be larger for one query than another.
pub(crate) fn changed(rows: &[Row], change: impl Fn(usize) -> f64) -> Vec<Row> {
    rows.iter()
        .enumerate()
        .map(|(at, (query, values))| (query.clone(), values.map(|value| value + change(at))))
        .collect()
}

/// Returns a clear improvement: 4 queries of 5 better by a tenth or more, the fifth a little worse.
pub(crate) fn improved(rows: &[Row]) -> Vec<Row> {
    changed(rows, |at| {
        if at % 5 == 0 {
            -0.02
        } else {
            0.1 + 0.001 * (at % 7) as f64
        }
    })
}

/// Returns the rows as CSV.
pub(crate) fn csv(rows: &[Row]) -> String {
    let mut text = format!("query_id,{}\n", COLUMNS.join(","));
    for (query, values) in rows {
        let values = values.map(|value| value.to_string()).join(",");
        writeln!(text, "{query},{values}").expect("text can be appended to");
    }
    text
}
