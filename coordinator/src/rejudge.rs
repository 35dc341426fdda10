//! Judges the stored rows of a finished job again, under its own policy or another.
//!
//! Nothing is retrieved and nothing is chosen anew: the candidates are those that the job judged, the queries those that
//! it judged them on. Under the job's own policy the verdict is the job's own.

use std::path::PathBuf;

use evalfarm_domain::{CandidateId, Digest, Fold, Gains, Metric, MetricName, QueryId};
use evalfarm_gate::{
    Evidence, EvidenceError, FamilyJudgement, GatePolicy, Guards, Judgement, PolicyError,
    RawGatePolicy, Verdict, judge_all,
};
use evalfarm_results::{CandidateRow, JobFolder, JobQuery, ResultsError, RowsView, Wanted};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::evidence::{About, evidence};
use crate::holes::unjudged;
use crate::job::JobRecord;
use crate::looks::{EarlierLooks, Look, LooksError, holdout, question, record, remembered};
use crate::measured::Measured;
use crate::sweep::Judge;
use crate::tied::judged_queries;
use crate::verdict::{ChangedQueries, VERDICT_SCHEMA, other};

/// A job's folder that cannot be judged again.
#[derive(Debug, thiserror::Error)]
pub enum RejudgeError {
    /// The job has no verdict yet.
    #[error("the job in `{path}` is not finished: it has no `verdict.json`")]
    Unfinished {
        /// The folder.
        path: PathBuf,
    },
    /// Rows that the verdict was made from are not there.
    #[error("rows of the job are missing")]
    MissingRows(#[source] ResultsError),
    /// A file cannot be read.
    #[error("the job's folder cannot be used")]
    Results(#[source] ResultsError),
    /// `verdict.json` or `job.json` is not of this version.
    #[error("`{file}` in `{path}` is not one that this version can read")]
    Form {
        /// The file.
        file: &'static str,
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// The queries are not those that the job was about.
    #[error(
        "the queries of fold `{fold}` are not those of the job: sha256 `{found}`, expected {}",
        .expected.map_or_else(|| "no such fold".to_owned(), |digest| format!("`{digest}`"))
    )]
    Queries {
        /// The fold.
        fold: Fold,
        /// Digest of the stored queries.
        found: Digest,
        /// Digest that the job was created with; nothing when it had no such fold.
        expected: Option<Digest>,
    },
    /// Two files of the folder contradict each other.
    #[error(
        "the files in `{path}` are not of one job: {what} is `{found}` in {place} and `{expected}` in {other}"
    )]
    Untied {
        /// The folder.
        path: PathBuf,
        /// What differs.
        what: Box<str>,
        /// Where the one value is.
        place: &'static str,
        /// The one value.
        found: Box<str>,
        /// Where the other value is.
        other: &'static str,
        /// The other value.
        expected: Box<str>,
    },
    /// The rows are not what this program would make.
    #[error("the rows in `{path}` are of evaluation `{found}`, and this program's is `{expected}`")]
    Evaluation {
        /// The folder.
        path: PathBuf,
        /// Number of the evaluation that made the rows.
        found: u32,
        /// Number of this program's.
        expected: u32,
    },
    /// The policy means nothing.
    #[error("the policy cannot be used")]
    Policy(#[source] PolicyError),
    /// The rows cannot be judged under this policy.
    #[error("the rows cannot be judged")]
    Evidence(#[source] EvidenceError),
    /// The ledger of looks cannot be used.
    #[error("the look at the holdout cannot be counted")]
    Looks(#[source] LooksError),
    /// The family has no leader.
    #[error("the job judged no candidate")]
    Nothing,
}

/// What a stored job says under a policy.
#[derive(Debug, Clone)]
pub struct Rejudged {
    /// The judgement of the candidate that leads.
    pub leading: Judgement,
    /// What people call that candidate.
    pub candidate: String,
    /// What people call the baseline.
    pub baseline: String,
    /// The verdict that the job ended in.
    pub stored: Verdict,
    /// The record of the job with what the policy decided in the place of what its own policy had.
    pub record: Value,
}

/// What of `verdict.json` is needed; the rest is passed on as it is.
#[derive(Debug, Deserialize)]
pub(crate) struct Stored {
    schema_version: u32,
    verdict: Verdict,
    best: Named,
    baseline: Named,
    judged_on: Fold,
    policy: GatePolicy,
    pub(crate) judge: Judge,
    earlier_looks: Option<EarlierLooks>,
    unfinished_train_rows: Option<usize>,
    provenance: Origin,
}

#[derive(Debug, Deserialize)]
struct Named {
    id: CandidateId,
    label: String,
}

#[derive(Debug, Deserialize)]
struct Origin {
    metrics: Vec<Metric>,
    gains: Gains,
    synthetic: bool,
    fingerprint: Digest,
}

/// How often the holdout was looked at before, and what else the limits say of that.
struct Looked {
    earlier: Option<EarlierLooks>,
    notes: Vec<String>,
}

/// Judges the rows of a job's folder. Without a policy its own is used; of a policy that leaves primary, guards or seed
/// open, those of the job are. Another policy is another look at the holdout, and is counted where the job's own was.
pub fn rejudge(
    folder: &JobFolder,
    policy: Option<RawGatePolicy>,
) -> Result<Rejudged, RejudgeError> {
    let (job, record) = StoredJob::open(folder)?;
    let policy = match policy {
        None => job.stored.policy.clone(),
        Some(raw) => job.resolved(raw)?,
    };
    job.judge(&policy, record)
}

/// Returns the policy that a job's rows are judged by, and the evidence of its baseline and of the candidate that its verdict
/// is about, for checks of the judge.
pub fn stored_evidence(
    folder: &JobFolder,
    policy: Option<RawGatePolicy>,
) -> Result<(GatePolicy, Evidence), RejudgeError> {
    let (job, _) = StoredJob::open(folder)?;
    let policy = match policy {
        None => job.stored.policy.clone(),
        Some(raw) => job.resolved(raw)?,
    };
    let mut ids = vec![job.stored.baseline.id.clone(), job.stored.best.id.clone()];
    ids.dedup();
    let measured = job.measured(&ids)?;
    // Checks of the judge are no look: no verdict comes out.
    let looked = Looked {
        earlier: job.stored.earlier_looks,
        notes: Vec::new(),
    };
    let (evidence, _) = job.evidence(looked, &measured)?;
    Ok((policy, evidence))
}

fn parsed<T: for<'a> Deserialize<'a>>(
    folder: &JobFolder,
    file: &'static str,
    value: Value,
) -> Result<T, RejudgeError> {
    serde_json::from_value(value).map_err(|source| RejudgeError::Form {
        file,
        path: folder.path().to_owned(),
        source,
    })
}

/// A job as its folder has it.
struct StoredJob<'a> {
    folder: &'a JobFolder,
    stored: Stored,
    queries: Vec<JobQuery>,
    candidates: Vec<CandidateRow>,
}

impl<'a> StoredJob<'a> {
    /// Reads what a finished job left, and its record as it is.
    fn open(folder: &'a JobFolder) -> Result<(Self, Map<String, Value>), RejudgeError> {
        let record = folder.verdict().map_err(RejudgeError::Results)?;
        let Some(record) = record else {
            let path = folder.path().to_owned();
            return Err(RejudgeError::Unfinished { path });
        };
        let record: Map<String, Value> = parsed(folder, "verdict.json", record)?;
        let stored: Stored = parsed(folder, "verdict.json", Value::Object(record.clone()))?;
        if stored.schema_version != VERDICT_SCHEMA {
            let found = stored.schema_version;
            let source = serde::de::Error::custom(format!("schema version `{found}` is not known"));
            let path = folder.path().to_owned();
            let file = "verdict.json";
            return Err(RejudgeError::Form { file, path, source });
        }
        let created: JobRecord = parsed(folder, "job.json", folder.record().clone())?;
        let queries = judged_queries(folder, &created, &stored, &record)?;
        let metrics = &stored.provenance.metrics;
        let candidates = folder.candidates(metrics).map_err(RejudgeError::Results)?;
        let job = Self {
            folder,
            stored,
            queries,
            candidates,
        };
        Ok((job, record))
    }

    /// Fills in what a policy leaves to the job.
    fn resolved(&self, mut raw: RawGatePolicy) -> Result<GatePolicy, RejudgeError> {
        let own = &self.stored.policy;
        if raw.primary.is_none() {
            raw.primary = Some(own.primary().to_string());
            if let (None, Guards::Named(guards)) = (&raw.guards, own.guards()) {
                raw.guards = Some(guards.iter().map(MetricName::to_string).collect());
            }
        }
        raw.seed.get_or_insert(own.resamples().seed);
        GatePolicy::try_from(raw).map_err(RejudgeError::Policy)
    }

    /// The baseline, then the family, as the job judged them.
    fn ids(&self) -> Vec<CandidateId> {
        let baseline = &self.stored.baseline.id;
        let mut ids = vec![baseline.clone()];
        if self.stored.judge == Judge::AllOnAll {
            let others = self.candidates.iter().map(|row| &row.candidate);
            ids.extend(others.filter(|id| *id != baseline).cloned());
        } else if self.stored.best.id != *baseline {
            ids.push(self.stored.best.id.clone());
        }
        ids
    }

    fn measured(&self, ids: &[CandidateId]) -> Result<Vec<Measured>, RejudgeError> {
        let metrics = &self.stored.provenance.metrics;
        let queries: Vec<QueryId> = self
            .queries
            .iter()
            .map(|one| one.query.id.clone())
            .collect();
        let files = self.folder.row_files().map_err(RejudgeError::Results)?;
        let wanted = Wanted {
            job: self.folder.job(),
            fold: self.stored.judged_on,
            metrics,
            candidates: ids,
            queries: &queries,
        };
        let view = RowsView::read(&files, wanted).map_err(|error| match error {
            ResultsError::MissingRow { .. } => RejudgeError::MissingRows(error),
            other => RejudgeError::Results(other),
        })?;
        let measured = ids.iter().enumerate();
        Ok(measured
            .map(|(index, id)| Measured::new(id, &view, index, metrics.len()))
            .collect())
    }

    fn label(&self, id: &CandidateId) -> String {
        let stored = [&self.stored.best, &self.stored.baseline];
        let row = self.candidates.iter().find(|row| row.candidate == *id);
        let named = stored.into_iter().find(|named| named.id == *id);
        named
            .map(|named| named.label.clone())
            .or_else(|| row?.labels.first().cloned())
            .unwrap_or_else(|| id.to_string())
    }

    /// Returns the evidence of measured candidates, the baseline first, and which of them are the family: a job whose
    /// baseline nothing beat compares it with itself.
    fn evidence<'m>(
        &self,
        looked: Looked,
        measured: &'m [Measured],
    ) -> Result<(Evidence, &'m [Measured]), RejudgeError> {
        let metrics = &self.stored.provenance.metrics;
        let baseline = &measured[0];
        let others = measured.get(1..).filter(|family| !family.is_empty());
        let family = others.unwrap_or(&measured[..1]);
        let judged: Vec<CandidateId> = family.iter().map(|one| one.side.id.clone()).collect();
        let queries: Vec<QueryId> = self
            .queries
            .iter()
            .map(|one| one.query.id.clone())
            .collect();
        let condensed = self
            .folder
            .condensed(metrics)
            .map_err(RejudgeError::Results)?;
        let holes = unjudged(&condensed, &baseline.side.id, &judged, metrics, &queries);
        let about = About {
            queries: &self.queries,
            metrics,
            gains: self.stored.provenance.gains.to_string(),
            synthetic: self.stored.provenance.synthetic,
            earlier: looked.earlier,
            notes: looked.notes,
            unfinished_train_rows: self.stored.unfinished_train_rows.unwrap_or_default(),
        };
        let sides = family.iter().map(|one| one.side.clone()).collect();
        let evidence =
            evidence(&about, &baseline.side, sides, Some(holes)).map_err(RejudgeError::Evidence)?;
        Ok((evidence, family))
    }

    fn judge(
        &self,
        policy: &GatePolicy,
        mut record: Map<String, Value>,
    ) -> Result<Rejudged, RejudgeError> {
        let measured = self.measured(&self.ids())?;
        let looked = self.look(policy)?;
        let earlier = looked.earlier;
        let (evidence, family) = self.evidence(looked, &measured)?;
        let judged = judge_all(policy, &evidence).map_err(RejudgeError::Evidence)?;
        if let Some(earlier) = earlier {
            let value = serde_json::json!(earlier);
            record.insert("earlier_looks".to_owned(), value);
        }
        let leader = family.iter().find(|one| one.side.id == judged.leader);
        let changed = leader.unwrap_or(&measured[0]).changes(&measured[0]);
        self.rejudged(judged, changed, record)
    }

    /// A policy that was written after its verdict was seen is no test: the verdict says so, and the look is counted.
    fn look(&self, policy: &GatePolicy) -> Result<Looked, RejudgeError> {
        let mut looked = Looked {
            earlier: self.stored.earlier_looks,
            notes: Vec::new(),
        };
        if means_the_same(policy, &self.stored.policy) {
            return Ok(looked);
        }
        looked.notes.push(format!(
            "stored rows were judged again under another policy than the job's own, whose verdict was {}",
            self.stored.verdict
        ));
        if looked.earlier.is_none() {
            return Ok(looked);
        }
        let Some(ledger) = remembered(self.folder.path()) else {
            let text = "this look at the holdout is not counted: the ledger of the job's looks is not on this machine";
            looked.notes.push(text.to_owned());
            return Ok(looked);
        };
        let queries: Vec<QueryId> = self
            .queries
            .iter()
            .map(|one| one.query.id.clone())
            .collect();
        let look = Look {
            holdout: holdout(self.stored.provenance.fingerprint, &queries),
            baseline: self.stored.baseline.id.clone(),
            candidate: self.stored.best.id.clone(),
            policy: question(policy).map_err(|source| self.form("verdict.json", source))?,
            job: self.folder.job().clone(),
        };
        let earlier = record(&ledger, &look).map_err(RejudgeError::Looks)?;
        looked.earlier = Some(earlier);
        Ok(looked)
    }

    fn form(&self, file: &'static str, source: serde_json::Error) -> RejudgeError {
        RejudgeError::Form {
            file,
            path: self.folder.path().to_owned(),
            source,
        }
    }

    fn rejudged(
        &self,
        family: FamilyJudgement,
        changed: ChangedQueries,
        mut record: Map<String, Value>,
    ) -> Result<Rejudged, RejudgeError> {
        let (leading, others): (Vec<Judgement>, Vec<Judgement>) = family
            .judgements
            .into_iter()
            .partition(|judgement| judgement.candidate == family.leader);
        let leading = leading.into_iter().next().ok_or(RejudgeError::Nothing)?;
        let others: Vec<_> = others
            .iter()
            .map(|judgement| other(judgement, &self.label(&judgement.candidate)))
            .collect();
        self.rewrite(&mut record, &leading, changed)
            .and_then(|()| {
                record.insert("others".to_owned(), serde_json::to_value(&others)?);
                Ok(())
            })
            .map_err(|source| self.form("verdict.json", source))?;
        Ok(Rejudged {
            candidate: self.label(&leading.candidate),
            baseline: self.label(&leading.baseline),
            stored: self.stored.verdict,
            leading,
            record: Value::Object(record),
        })
    }

    /// Puts what was decided in the place of what was.
    fn rewrite(
        &self,
        record: &mut Map<String, Value>,
        leading: &Judgement,
        changed: ChangedQueries,
    ) -> Result<(), serde_json::Error> {
        let Value::Object(judgement) = serde_json::to_value(leading)? else {
            return Ok(());
        };
        for key in [
            "verdict", "reasons", "criteria", "family", "limits", "metrics", "coverage", "policy",
        ] {
            if let Some(value) = judgement.get(key) {
                record.insert(key.to_owned(), value.clone());
            }
        }
        record.remove("slices");
        if let Some(slices) = judgement.get("slices") {
            record.insert("slices".to_owned(), slices.clone());
        }
        let counts = serde_json::json!({
            "baseline": leading.baseline_counts,
            "candidate": leading.candidate_counts,
        });
        record.insert("counts".to_owned(), counts);
        record.insert("changed_queries".to_owned(), serde_json::to_value(changed)?);
        if leading.candidate != self.stored.best.id {
            let row = self
                .candidates
                .iter()
                .find(|row| row.candidate == leading.candidate);
            let configuration: Value =
                row.map_or(Ok(Value::Null), |row| serde_json::from_str(&row.config))?;
            let best = serde_json::json!({
                "id": leading.candidate,
                "label": self.label(&leading.candidate),
                "stage": row.map(|row| &row.stage),
                "configuration": configuration,
            });
            record.insert("best".to_owned(), best);
        }
        Ok(())
    }
}

/// Whether a policy is the resolved one but for what it leaves to the job.
fn means_the_same(policy: &GatePolicy, resolved: &GatePolicy) -> bool {
    let form = |policy: &GatePolicy| serde_json::to_value(policy).unwrap_or_default();
    let (mut form, resolved) = (form(policy), form(resolved));
    for key in ["guards", "correction"] {
        if form[key].is_null() {
            form[key] = resolved[key].clone();
        }
    }
    form == resolved
}
