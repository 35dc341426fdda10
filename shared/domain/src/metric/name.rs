//! How metric names are written and read.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use super::{DcgGain, Measure, Metric, MetricError, Persistence};

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (base, parameter) = match self.measure {
            Measure::Ndcg(DcgGain::Declared) => ("nDCG", None),
            Measure::Ndcg(DcgGain::Exponential) => ("nDCG", Some("dcg='exp-log2'".to_owned())),
            Measure::ReciprocalRank => ("RR", None),
            Measure::Precision => ("P", None),
            Measure::Recall => ("R", None),
            Measure::AveragePrecision => ("AP", None),
            Measure::Success => ("Success", None),
            Measure::Err => ("ERR", None),
            Measure::Rbp(persistence) => ("RBP", Some(format!("p={}", persistence.value()))),
            Measure::Judged => ("Judged", None),
            Measure::RPrecision => ("Rprec", None),
            Measure::ZeroResult => ("zero_result", None),
            Measure::NumQ => ("NumQ", None),
            Measure::NumRet => ("NumRet", None),
            Measure::NumRel => ("NumRel", None),
            Measure::NumRelRet => ("NumRelRet", None),
        };
        f.write_str(base)?;
        let level = self.level.map(|level| format!("rel={level}"));
        let parameters: Vec<String> = parameter.into_iter().chain(level).collect();
        if !parameters.is_empty() {
            write!(f, "({})", parameters.join(","))?;
        }
        match self.cutoff {
            Some(cutoff) => write!(f, "@{cutoff}"),
            None => Ok(()),
        }
    }
}

/// Base names of both spellings, in lower case.
const NAMES: &[(&str, Measure)] = &[
    ("ndcg", Measure::Ndcg(DcgGain::Declared)),
    ("ndcg_cut", Measure::Ndcg(DcgGain::Declared)),
    ("rr", Measure::ReciprocalRank),
    ("mrr", Measure::ReciprocalRank),
    ("recip_rank", Measure::ReciprocalRank),
    ("p", Measure::Precision),
    ("precision", Measure::Precision),
    ("r", Measure::Recall),
    ("recall", Measure::Recall),
    ("ap", Measure::AveragePrecision),
    ("map", Measure::AveragePrecision),
    ("map_cut", Measure::AveragePrecision),
    ("success", Measure::Success),
    ("err", Measure::Err),
    ("rbp", Measure::Rbp(Persistence(800))),
    ("judged", Measure::Judged),
    ("rprec", Measure::RPrecision),
    ("zero_result", Measure::ZeroResult),
    ("numq", Measure::NumQ),
    ("num_q", Measure::NumQ),
    ("numret", Measure::NumRet),
    ("num_ret", Measure::NumRet),
    ("numrel", Measure::NumRel),
    ("num_rel", Measure::NumRel),
    ("numrelret", Measure::NumRelRet),
    ("num_rel_ret", Measure::NumRelRet),
];

impl FromStr for Metric {
    type Err = MetricError;

    /// Reads `nDCG@10`, `nDCG(dcg='exp-log2')@10`, `P(rel=2)@5`, `RBP(p=0.8)@10`, and `trec_eval`'s `ndcg_cut_10`, `map`,
    /// `recip_rank`, `P_5`. Case does not matter. A dot may stand for the `_` before a cutoff (`ndcg_cut.10`).
    fn from_str(name: &str) -> Result<Self, MetricError> {
        let unknown = || MetricError::Unknown {
            name: name.to_owned(),
        };
        let (head, cutoff) = split_cutoff(name)?;
        let (base, parameters) = match head.split_once('(') {
            Some((base, rest)) => (base, Some(rest.strip_suffix(')').ok_or_else(unknown)?)),
            None => (head, None),
        };
        let base = base.to_ascii_lowercase();
        let &(_, mut measure) = NAMES
            .iter()
            .find(|(known, _)| *known == base)
            .ok_or_else(unknown)?;
        let mut level = None;
        for parameter in parameters.into_iter().flat_map(|text| text.split(',')) {
            let invalid = || MetricError::Parameter {
                name: name.to_owned(),
                parameter: parameter.trim().to_owned(),
            };
            let (key, value) = parameter.split_once('=').ok_or_else(invalid)?;
            match (key.trim(), value.trim(), measure) {
                ("rel", value, _) => {
                    level = Some(
                        value
                            .parse::<u8>()
                            .ok()
                            .filter(|level| (1..=30).contains(level))
                            .ok_or_else(invalid)?,
                    );
                }
                ("dcg", "'exp-log2'" | "\"exp-log2\"" | "exp-log2", Measure::Ndcg(_)) => {
                    measure = Measure::Ndcg(DcgGain::Exponential);
                }
                ("dcg", "'log2'" | "\"log2\"" | "log2", Measure::Ndcg(_)) => {
                    measure = Measure::Ndcg(DcgGain::Declared);
                }
                ("p", value, Measure::Rbp(_)) => {
                    measure = Measure::Rbp(persistence(value).ok_or_else(invalid)?);
                }
                _ => return Err(invalid()),
            }
        }
        Self::checked(measure, cutoff, level, name)
    }
}

fn persistence(text: &str) -> Option<Persistence> {
    let thousandths = text.parse::<f64>().ok()? * 1000.0;
    let rounded = thousandths.round();
    if (1.0..=999.0).contains(&rounded) && (thousandths - rounded).abs() < 1e-6 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "rounded lies in [1, 999]"
        )]
        return Some(Persistence(rounded as u16));
    }
    None
}

/// Splits `nDCG@10`, `ndcg_cut_10` and `P.5` into the name before the cutoff and the cutoff.
fn split_cutoff(name: &str) -> Result<(&str, Option<NonZeroU32>), MetricError> {
    let wrong = || MetricError::Cutoff {
        name: name.to_owned(),
    };
    if let Some((head, digits)) = name.rsplit_once('@') {
        let cutoff = digits.parse().map_err(|_| wrong())?;
        return Ok((head, Some(cutoff)));
    }
    match name.rsplit_once(['_', '.']) {
        Some((head, digits))
            if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            Ok((head, Some(digits.parse().map_err(|_| wrong())?)))
        }
        _ => Ok((name, None)),
    }
}

impl TryFrom<String> for Metric {
    type Error = MetricError;

    fn try_from(name: String) -> Result<Self, MetricError> {
        name.parse()
    }
}

impl From<Metric> for String {
    fn from(metric: Metric) -> Self {
        metric.to_string()
    }
}
