//! The columns of `rows/`.

use evalfarm_columnar::{ColumnType, Field, Schema};
use evalfarm_domain::{Direction, Metric};

/// Version of the columns of `rows/`. Every file of a job has the same columns; a change of any needs another version,
/// because tools that read a whole folder drop columns that its first file lacks.
const VERSION: u32 = 1;

/// Returns the schema of `rows/`: the same columns for the same metrics, whatever the rows hold.
pub fn rows_schema(metrics: &[Metric]) -> Schema {
    use ColumnType::{Bool, F64, Text, U64};
    let mut fields = vec![
        Field::required("job", Text, "Job that the row belongs to."),
        Field::required(
            "candidate",
            Text,
            "Candidate: `c` and 16 digits of the sha256 of its canonical form.",
        ),
        Field::required(
            "split",
            Text,
            "Side of the split that the query is on: train, holdout or all.",
        ),
        Field::required("query", Text, "Query, as the dataset spells it."),
    ];
    for &metric in metrics {
        let slug = metric.slug();
        let worst = match metric.direction() {
            Direction::Higher => 0,
            Direction::Lower => 1,
        };
        fields.push(Field::nullable(
            format!("value_{slug}"),
            F64,
            format!(
                "Measured {metric}; empty when the query failed or the metric is undefined for it."
            ),
        ));
        fields.push(Field::required(
            format!("scored_{slug}"),
            F64,
            format!(
                "{metric} as the judge used it, {worst} for a failed query. Take means over this column."
            ),
        ));
    }
    fields.extend([
        Field::nullable(
            "judged_share",
            F64,
            "Share of the returned hits that are judged; empty when nothing was returned.",
        ),
        Field::required(
            "zero_result",
            Bool,
            "Whether the query was answered with no hit at all. In DuckDB take avg(zero_result::int).",
        ),
        Field::required("hits_returned", U64, "Hits returned, at most the job's depth."),
        Field::required(
            "top_digest",
            U64,
            "Digest of the returned document ids in order: equal when the ranking is equal.",
        ),
        Field::required("rewrite_status", Text, "What became of the rewrite stage."),
        Field::required("rerank_status", Text, "What became of the rerank stage."),
        Field::nullable("failure", Text, "Why the query has no ranking; empty when it has one."),
    ]);
    Schema {
        name: "rows".to_owned(),
        version: VERSION,
        fields,
    }
}
