//! A verdict with its numbers, reasons and limits, for a terminal.

use evalfarm_gate::{
    CriterionResult, Family, Limit, MetricJudgement, MetricRole, Outcome, Reason, SliceJudgement,
    Verdict,
};

use evalfarm_stats::Correction;

use crate::{Align, Table, p_value, signed, value};

/// What a verdict consists of, whoever made it.
#[derive(Debug, Clone, Copy)]
pub struct Findings<'a> {
    /// The verdict.
    pub verdict: Verdict,
    /// What people call the candidate.
    pub candidate: &'a str,
    /// What people call the baseline.
    pub baseline: &'a str,
    /// Every broken criterion, the deciding one first.
    pub reasons: &'a [Reason],
    /// Every criterion in the order of decision.
    pub criteria: &'a [CriterionResult],
    /// The metrics, the primary first.
    pub metrics: &'a [MetricJudgement],
    /// The family that was corrected.
    pub family: &'a Family,
    /// What limits the verdict.
    pub limits: &'a [Limit],
}

/// Returns the verdict first, then why, then the numbers, then what limits them.
pub fn findings_text(findings: &Findings<'_>) -> String {
    let mut text = format!(
        "{}\n  candidate  {}\n  baseline   {}\n",
        findings.verdict, findings.candidate, findings.baseline
    );
    text.push_str("\nbecause\n");
    for reason in findings.reasons {
        text = text + "  " + &reason.text + "\n";
    }
    text = text + "\n" + &metrics(findings.metrics);
    text = text + "\n" + &family(findings.family) + "\n";
    text = text + "\ncriteria, in the order of decision\n" + &criteria(findings.criteria);
    text.push_str("\nlimits\n");
    for limit in findings.limits {
        text = text + "  " + &limit.text + "\n";
    }
    text
}

fn metrics(metrics: &[MetricJudgement]) -> String {
    let mut table = Table::new(&[
        ("metric", Align::Left),
        ("", Align::Left),
        ("n", Align::Right),
        ("baseline", Align::Right),
        ("candidate", Align::Right),
        ("delta", Align::Right),
        ("interval", Align::Right),
        ("p", Align::Right),
        ("q", Align::Right),
        ("changed", Align::Right),
        ("wins", Align::Right),
        ("losses", Align::Right),
        ("ties", Align::Right),
    ]);
    for metric in metrics {
        table.row([
            metric.metric.to_string(),
            role(metric.role).to_owned(),
            metric.n.to_string(),
            value(metric.baseline),
            value(metric.candidate),
            signed(metric.delta),
            format!("[{}, {}]", signed(metric.ci_low), signed(metric.ci_high)),
            p_value(metric.p.value()),
            metric.q.map_or("-".to_owned(), |q| p_value(q.value())),
            metric.changed.to_string(),
            metric.wins.to_string(),
            metric.losses.to_string(),
            metric.ties.to_string(),
        ]);
    }
    table.text()
}

fn role(role: MetricRole) -> &'static str {
    match role {
        MetricRole::Primary => "primary",
        MetricRole::Guard => "guard",
        MetricRole::Descriptive => "reported",
    }
}

fn family(family: &Family) -> String {
    let candidates = match family.candidates {
        1 => "1 candidate".to_owned(),
        many => format!("{many} candidates"),
    };
    format!(
        "family of {} ({candidates} x {} metrics), corrected by {}",
        family.size,
        family.metrics.len(),
        correction(family.correction),
    )
}

fn correction(correction: Correction) -> &'static str {
    match correction {
        Correction::BenjaminiHochberg => "Benjamini-Hochberg",
        Correction::Holm => "Holm",
        Correction::MaxT => "step-down max-T",
    }
}

fn criteria(criteria: &[CriterionResult]) -> String {
    let mut table = Table::new(&[
        ("step", Align::Right),
        ("outcome", Align::Left),
        ("criterion", Align::Left),
    ]);
    for criterion in criteria {
        let outcome = match criterion.outcome {
            Outcome::Holds => "holds",
            Outcome::Broken => "FAILS",
            Outcome::NotTested => "not tested",
        };
        table.row([
            criterion.step.to_string(),
            outcome.to_owned(),
            criterion.reason.text.clone(),
        ]);
    }
    table.text()
}

/// Returns the primary metric in each slice, or nothing when there are no slices.
pub fn slices_text(slices: &[SliceJudgement]) -> String {
    if slices.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[
        ("slice", Align::Left),
        ("", Align::Left),
        ("n", Align::Right),
        ("delta", Align::Right),
        ("interval", Align::Right),
        ("p", Align::Right),
        ("q", Align::Right),
        ("changed", Align::Right),
        ("wins", Align::Right),
        ("losses", Align::Right),
    ]);
    for slice in slices {
        table.row([
            slice.slice.clone(),
            if slice.guard { "guard" } else { "reported" }.to_owned(),
            slice.n.to_string(),
            signed(slice.delta),
            format!("[{}, {}]", signed(slice.ci_low), signed(slice.ci_high)),
            p_value(slice.p.value()),
            p_value(slice.q.value()),
            slice.changed.to_string(),
            slice.wins.to_string(),
            slice.losses.to_string(),
        ]);
    }
    "\nslices of the queries, on the primary metric\n".to_owned() + &table.text()
}
