//! Which options were written on the command line: one that has no effect is a misunderstanding.

use std::path::Path;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

use crate::failure::Failure;

/// What is compared, which decides the options that mean something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Successes of cases.
    Counts,
    /// Rows of unit, arm and outcome.
    Outcomes,
    /// Two TREC runs with judgments.
    Runs,
    /// Two tables of values.
    Tables,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Self::Counts => "success counts",
            Self::Outcomes => "the outcomes of `--outcomes`",
            Self::Runs => "runs with `--qrels`",
            Self::Tables => "tables of values",
        }
    }
}

const PAIRED: &[Form] = &[Form::Runs, Form::Tables];
const RUNS: &[Form] = &[Form::Runs];
const TABLES: &[Form] = &[Form::Tables];

/// Every option that depends on the form, by the id that the parser knows it under.
const OPTIONS: [(&str, &[Form]); 23] = [
    ("qrels", RUNS),
    ("primary", PAIRED),
    ("guards", PAIRED),
    ("metrics", RUNS),
    ("missing", RUNS),
    ("lower_is_better", TABLES),
    ("baseline_id", TABLES),
    ("candidate_id", TABLES),
    ("split", TABLES),
    ("repeat", PAIRED),
    ("statuses", PAIRED),
    ("baseline_statuses", PAIRED),
    ("judge_next", RUNS),
    ("outcomes", &[Form::Outcomes]),
    ("scale", &[Form::Outcomes]),
    ("better", &[Form::Outcomes, Form::Counts]),
    ("order", RUNS),
    ("dedupe", RUNS),
    ("drop_self_hits", RUNS),
    ("gains", RUNS),
    ("level", RUNS),
    ("fractional", RUNS),
    ("labels", RUNS),
];

/// The options that were written. It has to come before the arguments that it looks at: these take their values out of
/// what was parsed.
#[derive(Debug)]
pub(super) struct Given(Vec<&'static str>);

impl Given {
    /// Refuses options that mean nothing for what is compared.
    pub(super) fn check(&self, baseline: &Path, candidate: &Path) -> Result<(), Failure> {
        let given = |id: &str| self.0.contains(&id);
        // Two sides written as counts are counts, unless a file says what they are.
        let form = if given("outcomes") {
            Form::Outcomes
        } else if is_counts(baseline) && is_counts(candidate) {
            Form::Counts
        } else if given("qrels") {
            Form::Runs
        } else {
            Form::Tables
        };
        let idle = OPTIONS
            .iter()
            .find(|(id, forms)| given(id) && !forms.contains(&form));
        let Some((id, forms)) = idle else {
            return Ok(());
        };
        let option = match *id {
            "guards" => "guard".to_owned(),
            "metrics" => "metric".to_owned(),
            other => other.replace('_', "-"),
        };
        let meant: Vec<&str> = forms.iter().map(|form| form.name()).collect();
        Err(Failure::input(format!(
            "`--{option}` has no effect when {} are compared",
            form.name()
        ))
        .with_hint(format!("it is for {}: leave it out", meant.join(" and "))))
    }
}

/// Whether a side is written as successes of cases and is no file.
fn is_counts(side: &Path) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let halves = side.to_str().and_then(|text| text.split_once('/'));
    halves.is_some_and(|(successes, cases)| digits(successes) && digits(cases))
        && !side.try_exists().unwrap_or(false)
}

impl FromArgMatches for Given {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let known: Vec<&str> = matches.ids().map(clap::Id::as_str).collect();
        let written = |id: &&str| {
            known.contains(id) && matches.value_source(id) == Some(ValueSource::CommandLine)
        };
        let ids = OPTIONS.iter().map(|(id, _)| *id);
        Ok(Self(ids.filter(written).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Given {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}
