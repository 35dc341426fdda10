//! Which metric a column is.

use evalfarm_domain::Metric;

/// Base names that people write with the cutoff right behind, as in `ndcg10`. Others, such as `p95`, mean something else.
const GLUED: [&str; 5] = ["ndcg", "mrr", "recall", "precision", "map"];

/// Returns the metric that a column's name means, or nothing when it means none: ir-measures' and `trec_eval`'s names
/// (`nDCG@10`, `ndcg_cut_10`), the slugs of this project's own columns (`ndcg_exp_10`, `p_rel2_5`, `rbp_p800_10`), and
/// names with the cutoff right behind (`ndcg10`, `mrr10`).
pub fn metric_of_column(name: &str) -> Option<Metric> {
    let name = name.trim();
    name.parse()
        .ok()
        .or_else(|| of_slug(name))
        .or_else(|| of_glued(name))
}

/// Reads what [`Metric::slug`] writes.
fn of_slug(slug: &str) -> Option<Metric> {
    let (head, cutoff) = match slug.rsplit_once('_') {
        Some((head, digits)) if is_number(digits) => (head, Some(digits)),
        _ => (slug, None),
    };
    let (head, level) = match head.rsplit_once("_rel") {
        Some((head, level)) if is_number(level) => (head, Some(level)),
        _ => (head, None),
    };
    let (base, parameter) = match head.split_once("_p") {
        _ if head == "ndcg_exp" => ("ndcg", Some("dcg=exp-log2".to_owned())),
        Some(("rbp", thousandths)) if is_number(thousandths) => {
            ("rbp", Some(format!("p=0.{thousandths}")))
        }
        _ => (head, None),
    };
    let level = level.map(|level| format!("rel={level}"));
    let parameters: Vec<String> = parameter.into_iter().chain(level).collect();
    let parameters = match parameters.join(",") {
        none if none.is_empty() => none,
        some => format!("({some})"),
    };
    let cutoff = cutoff.map_or(String::new(), |cutoff| format!("@{cutoff}"));
    format!("{base}{parameters}{cutoff}").parse().ok()
}

fn of_glued(name: &str) -> Option<Metric> {
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = name.strip_prefix(base).filter(|digits| is_number(digits))?;
    let known = GLUED.iter().any(|known| known.eq_ignore_ascii_case(base));
    known
        .then(|| format!("{base}@{digits}").parse().ok())
        .flatten()
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slug_is_read_back() {
        for name in [
            "nDCG@10",
            "nDCG",
            "nDCG(dcg='exp-log2')@10",
            "nDCG(dcg='exp-log2')",
            "RR",
            "RR(rel=2)@10",
            "P(rel=2)@5",
            "R@1000",
            "AP(rel=3)",
            "Success@1",
            "ERR@20",
            "RBP(p=0.8)@10",
            "RBP(p=0.95,rel=2)",
            "RBP(p=0.005)",
            "Judged@10",
            "Rprec",
            "zero_result",
            "NumRelRet",
        ] {
            let metric: Metric = name.parse().unwrap();
            assert_eq!(
                metric_of_column(&metric.slug()),
                Some(metric),
                "{}",
                metric.slug()
            );
            assert_eq!(metric_of_column(name), Some(metric));
        }
    }

    #[test]
    fn names_of_other_tools_are_read() {
        for (column, name) in [
            ("ndcg10", "nDCG@10"),
            ("mrr10", "RR@10"),
            ("recall10", "R@10"),
            ("precision10", "P@10"),
            ("NDCG5", "nDCG@5"),
            ("ndcg_cut_10", "nDCG@10"),
            ("map", "AP"),
            ("recip_rank", "RR"),
        ] {
            assert_eq!(metric_of_column(column).unwrap().to_string(), name);
        }
        for column in [
            "p95",
            "latency_ms",
            "query",
            "10",
            "",
            "ndcg_exp_0",
            "rbp_p000_10",
        ] {
            assert_eq!(metric_of_column(column), None, "{column}");
        }
    }
}
