//! Numbers and effects as a person reads them in a terminal. Stored numbers keep every digit; these are for the eye.

use evalfarm_domain::Direction;
use evalfarm_stats::Correction;

use crate::MetricJudgement;
use crate::measure::Comparison;

/// Returns a metric's value with four decimals.
pub(crate) fn value(number: f64) -> String {
    positive_zero(format!("{number:.4}"))
}

/// Returns a change with its sign and four decimals, so that a gain and a loss look different at a glance.
pub(crate) fn signed(number: f64) -> String {
    let text = format!("{number:+.4}");
    if text == "-0.0000" || text == "+0.0000" {
        "0.0000".to_owned()
    } else {
        text
    }
}

/// Returns a p-value with four decimals; below .0001 with as many as its first two digits need, and below 1e-7 as a power.
pub(crate) fn p(number: f64) -> String {
    if number < 1e-7 {
        format!("{number:.0e}")
    } else if number < 0.000_095 {
        let text = format!("{number:.8}");
        let zeros = text.chars().skip(2).take_while(|c| *c == '0').count();
        format!("{number:.*}", zeros + 2)
            .trim_end_matches('0')
            .to_owned()
    } else {
        format!("{number:.4}")
    }
}

/// Returns a share as a percentage with one decimal.
pub(crate) fn share(number: f64) -> String {
    positive_zero(format!("{:.1}", 100.0 * number)) + " %"
}

/// Returns a difference of shares in percentage points.
pub(crate) fn points(number: f64) -> String {
    format!("{:.1} points", 100.0 * number.abs())
}

/// Returns a difference of shares with its sign, in percent.
pub(crate) fn signed_share(number: f64) -> String {
    let text = format!("{:+.1} %", 100.0 * number);
    if text == "-0.0 %" || text == "+0.0 %" {
        "0.0 %".to_owned()
    } else {
        text
    }
}

/// Returns a limit as its policy spells it: no trailing zeros.
pub(crate) fn limit(number: f64) -> String {
    let text = format!("{number:.6}");
    positive_zero(text.trim_end_matches('0').trim_end_matches('.').to_owned())
}

/// Returns a count with its noun in the right number, e.g. `1 query`, `20 queries`.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Returns an interval's ends as changes.
pub(crate) fn interval(low: f64, high: f64) -> String {
    format!("[{}, {}]", signed(low), signed(high))
}

/// Returns a metric's change with interval and uncorrected p-value.
pub(crate) fn effect(summary: &MetricJudgement) -> String {
    format!(
        "{} {}, p {}",
        signed(summary.delta),
        interval(summary.ci_low, summary.ci_high),
        p(summary.p.value()),
    )
}

/// Returns the means on both sides of a change.
pub(crate) fn means(summary: &MetricJudgement) -> String {
    format!(
        "{} to {}",
        value(summary.baseline),
        value(summary.candidate)
    )
}

/// Returns the end of an interval that is worst for the candidate, in the metric's own unit.
pub(crate) fn worst_end(comparison: &Comparison) -> String {
    signed(match comparison.summary.direction {
        Direction::Higher => comparison.summary.ci_low,
        Direction::Lower => comparison.summary.ci_high,
    })
}

/// Returns the correction's name as people write it.
pub(crate) fn correction(correction: Correction) -> &'static str {
    match correction {
        Correction::BenjaminiHochberg => "Benjamini-Hochberg",
        Correction::Holm => "Holm",
        Correction::MaxT => "step-down max-T",
    }
}

fn positive_zero(text: String) -> String {
    let is_zero = text.bytes().all(|b| matches!(b, b'-' | b'0' | b'.'));
    match text.strip_prefix('-') {
        Some(rest) if is_zero => rest.to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_written_here() {
        assert_eq!(signed(0.035_768), "+0.0358");
        assert_eq!(signed(-0.5), "-0.5000");
        assert_eq!(signed(-0.000_001), "0.0000");
        assert_eq!(p(1.0 / 10_001.0), "0.0001");
        assert_eq!(p(1.0 / 100_001.0), "0.00001");
        assert_eq!(p(0.000_012_3), "0.000012");
        assert_eq!(p(0.000_000_12), "0.00000012");
        assert_eq!(p(2.2e-308), "2e-308");
        assert_eq!(p(0.119_488), "0.1195");
        assert_eq!(p(1.0), "1.0000");
        assert_eq!(share(0.037_037), "3.7 %");
        assert_eq!(share(-0.000_1), "0.0 %");
        assert_eq!(points(-0.232_4), "23.2 points");
        assert_eq!(limit(0.05), "0.05");
        assert_eq!(limit(0.3), "0.3");
        assert_eq!(limit(20.0), "20");
        assert_eq!(counted(1, "query", "queries"), "1 query");
    }
}
