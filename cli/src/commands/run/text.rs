//! A job's verdict for a terminal.

use std::path::Path;

use evalfarm_coordinator::VerdictRecord;
use evalfarm_coordinator::sweep::{
    FieldEffect, FieldReport, SelectionFold, SweepReport, Unchanged,
};
use evalfarm_report::{
    Align, Findings, Table, count, findings_text, share, signed, slices_text, value,
};
use evalfarm_retrieval::FieldEvidence;

/// Names listed before the rest is only counted.
const SHOWN: usize = 5;

/// Returns the verdict, what the sweep found, and where everything is stored.
pub(crate) fn run_text(record: &VerdictRecord, evidence: &[FieldEvidence], out: &Path) -> String {
    let findings = Findings {
        verdict: record.verdict,
        candidate: &named(&record.best.label, record.best.id.as_str()),
        baseline: &named(&record.baseline.label, record.baseline.id.as_str()),
        reasons: &record.reasons,
        criteria: &record.criteria,
        metrics: &record.metrics,
        family: &record.family,
        limits: &record.limits,
    };
    let mut text = findings_text(&findings) + &slices_text(&record.slices);
    text = text + "\nsweep\n" + &sweep(record) + "\nfields\n" + &fields(&record.report, evidence);
    if !record.others.is_empty() {
        text = text + "\nother candidates of the family\n" + &others(record);
    }
    text + &format!(
        "\njob {}, dataset {}{}, stored in {}\n",
        record.job,
        record.provenance.dataset,
        if record.provenance.synthetic {
            " (synthetic)"
        } else {
            ""
        },
        out.display(),
    )
}

fn named(label: &str, id: &str) -> String {
    format!("{label} ({id})")
}

fn sweep(record: &VerdictRecord) -> String {
    let report = &record.report;
    let mut lines = vec![format!(
        "{} distinct candidates gave {} distinct results on the {} queries",
        count(report.configurations),
        count(report.distinct_results),
        match report.fold {
            SelectionFold::Train => "train",
            SelectionFold::All => "judged",
        },
    )];
    if !report.aliases.is_empty() {
        lines.push(format!(
            "{} configurations were another spelling of a candidate and were not evaluated again",
            count(report.aliases.len()),
        ));
    }
    if let Some(left_out) = record.rows_left_out {
        lines.push(format!(
            "only the means of {} candidates are stored, not their rows: with them there would be more than the {} rows of \
             `max_rows`; the rows of baseline and best are stored",
            count(left_out.candidates),
            usize::try_from(left_out.max_rows).map_or_else(|_| left_out.max_rows.to_string(), count),
        ));
    }
    lines.extend(unchanged(&report.unchanged));
    let changed = record.changed_queries;
    lines.push(format!(
        "of the judged queries {} have another ranking, {} another value, {} are unchanged",
        count(changed.rankings),
        count(changed.metrics),
        count(changed.unchanged),
    ));
    lines.push(format!(
        "weights of the candidate, as ratios to the largest: {}",
        record.best.configuration,
    ));
    if let Some(earlier) = record.earlier_looks {
        lines.push(format!(
            "look {} at this holdout, {} at this comparison",
            earlier.same_holdout + 1,
            earlier.same_hypothesis + 1,
        ));
    }
    if let Some(selection) = record.selection {
        lines.push(format!(
            "the winner promised {} on the train queries and kept {} on the holdout: optimism {}",
            signed(selection.train_delta),
            signed(selection.holdout_delta),
            signed(selection.optimism),
        ));
    }
    lines
        .iter()
        .fold(String::new(), |text, line| text + "  " + line + "\n")
}

/// The candidates that gave the baseline's result, by name, as many as a reader wants to see.
fn unchanged(unchanged: &[Unchanged]) -> Vec<String> {
    if unchanged.is_empty() {
        return vec!["every candidate changed something".to_owned()];
    }
    let mut lines = vec![format!(
        "{} candidates changed nothing against the baseline:",
        count(unchanged.len()),
    )];
    let shown = unchanged.iter().take(SHOWN);
    lines.extend(shown.map(|one| format!("  {} ({})", one.label, one.candidate)));
    if let Some(rest) = unchanged.len().checked_sub(SHOWN).filter(|&rest| rest > 0) {
        lines.push(format!("  and {rest} more, listed in verdict.json"));
    }
    lines
}

fn fields(report: &SweepReport, evidence: &[FieldEvidence]) -> String {
    let mut table = Table::new(&[
        ("field", Align::Left),
        ("effect", Align::Left),
        ("range of the primary", Align::Right),
        ("documents", Align::Right),
        ("distinct terms", Align::Right),
        ("most frequent term", Align::Left),
    ]);
    for FieldReport { field, effect, .. } in &report.fields {
        let curve = report.curves.iter().find(|curve| curve.field == *field);
        let own = evidence.iter().find(|evidence| evidence.field == *field);
        table.row([
            field.to_string(),
            effect_text(*effect).to_owned(),
            curve.map_or("-".to_owned(), |curve| value(curve.sensitivity)),
            own.map_or("-".to_owned(), |own| count(own.documents as usize)),
            own.map_or("-".to_owned(), |own| {
                usize::try_from(own.distinct_terms).map_or("-".to_owned(), count)
            }),
            own.and_then(|own| {
                let term = own.top_term.as_ref()?;
                Some(format!(
                    "{term} (in {} of documents)",
                    share(own.top_term_share)
                ))
            })
            .unwrap_or_default(),
        ]);
    }
    table.text()
}

fn effect_text(effect: FieldEffect) -> &'static str {
    match effect {
        FieldEffect::NotCompared => "not varied alone",
        FieldEffect::Nothing => "changes nothing",
        FieldEffect::OnlyPresence => "only its presence counts, not its weight",
        FieldEffect::Changes => "changes results",
    }
}

fn others(record: &VerdictRecord) -> String {
    let mut table = Table::new(&[
        ("candidate", Align::Left),
        ("verdict", Align::Left),
        ("delta", Align::Right),
        ("reason", Align::Left),
    ]);
    for other in record.others.iter().take(SHOWN) {
        table.row([
            other.label.clone(),
            other.verdict.to_string(),
            signed(other.primary.delta),
            other.reason.text.clone(),
        ]);
    }
    let rest = record.others.len().saturating_sub(SHOWN);
    match rest {
        0 => table.text(),
        _ => table.text() + &format!("  and {rest} more (verdict.json)\n"),
    }
}
