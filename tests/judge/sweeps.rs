//! Sweeps whose candidates are all equally good, run to their verdict by the real coordinator.
//!
//! Real are the generated catalogue, its split, index, rankings and metric values, the sweep file and its strategy, the job's
//! folder and its Parquet, selection on the train queries, the judgement of the winner on the holdout, the examination of
//! its unjudged hits, and the gate. Simulated is one thing: a candidate has no rankings of its own. On each query it has the
//! row of one of two real configurations, which of them decided by a seeded coin for candidate and query, and so has the
//! baseline. With a fair coin all candidates and the baseline are exchangeable: no candidate is better, by construction.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::Path;

use evalfarm_coordinator::sweep::SweepFile;
use evalfarm_coordinator::{
    Job, Progress, Surroundings, VerdictRecord, Workers, WorkersError, run,
};
use evalfarm_dataset::Dataset;
use evalfarm_domain::{
    Candidate, CandidateId, Combine, Digest, EvaluateTask, ExamineTask, FieldName, FieldWeights,
    Fold, QueryId,
};
use evalfarm_results::{JobFolder, QueryRow, RowBlock};
use evalfarm_retrieval::Bm25Index;
use evalfarm_tests::{Bench, Data, Sweep};
use evalfarm_worker::{Evaluator, Examination, Stop};

/// Candidates of a sweep beside its baseline.
pub(crate) const CANDIDATES: usize = 50;

/// Weights of the two real configurations.
const WEIGHTS: [(&str, f64); 5] = [
    ("title", 4.0),
    ("brand", 2.5),
    ("bullet_point", 1.5),
    ("description", 1.0),
    ("category", 1.2),
];

/// Their tie breakers, the better first. They find the same documents in another order, and differ on a third of the queries by
/// little enough that the gate's limit on catastrophic queries decides nothing.
const TIE_BREAKERS: [f64; 2] = [0.3, 0.0];

const HITS: NonZeroU32 = NonZeroU32::new(50).expect("50 is not 0");
const RANK_DEPTH: NonZeroU32 = NonZeroU32::new(1000).expect("1000 is not 0");

/// A generated shop and what two real configurations give on it.
pub(crate) struct Shop {
    bench: Bench,
    dataset: Dataset,
    split: (u32, u32),
    rows: BTreeMap<Fold, [Vec<QueryRow>; 2]>,
    /// Of each query, by the configuration of the baseline, then by that of the candidate.
    examined: BTreeMap<Fold, Vec<[[Examination; 2]; 2]>>,
}

/// A sweep over a shop.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Coins {
    /// Seed of the sweep's coins, candidates and resamples.
    pub(crate) seed: u64,
    /// Probability of the better configuration on a query of the baseline.
    pub(crate) baseline: f64,
    /// The same of every candidate.
    pub(crate) candidates: f64,
}

impl Coins {
    /// Fair coins: no candidate is better.
    pub(crate) fn fair(seed: u64) -> Self {
        Self {
            seed,
            baseline: 0.5,
            candidates: 0.5,
        }
    }

    /// Which configuration a candidate has on a query.
    fn configuration(self, candidate: &CandidateId, baseline: bool, query: &QueryId) -> usize {
        let seed = self.seed.to_le_bytes();
        let parts = [
            seed.as_slice(),
            candidate.as_str().as_bytes(),
            query.as_str().as_bytes(),
        ];
        let digest = Digest::of_parts(parts);
        let mut head = [0; 4];
        head.copy_from_slice(&digest.as_bytes()[..4]);
        let thrown = f64::from(u32::from_le_bytes(head)) / 2.0_f64.powi(32);
        let chance = if baseline {
            self.baseline
        } else {
            self.candidates
        };
        usize::from(thrown >= chance)
    }
}

impl Shop {
    /// Generates a shop and measures both configurations on all queries of the split.
    pub(crate) fn new(products: u32, split: (u32, u32)) -> Self {
        let bench = Bench::new();
        let folder = bench.generate("shop", products, split.0 + split.1);
        let dataset = Dataset::open(&folder).expect("it was generated");
        let mut shop = Self {
            bench,
            dataset,
            split,
            rows: BTreeMap::new(),
            examined: BTreeMap::new(),
        };
        shop.measure();
        shop
    }

    fn job(&self, seed: u64) -> Job {
        let strategy =
            format!("strategy = \"random\"\npoints = {CANDIDATES}\nzero_probability = 0.0");
        let data = Data::Stored("shop".to_owned());
        let mut sweep = Sweep::new(data, self.split.0, self.split.1, &strategy);
        sweep.seed = seed;
        let file = SweepFile::parse(&sweep.toml(), self.bench.path()).expect("it is a sweep");
        Job::new(file, &self.dataset).expect("the sweep fits the shop")
    }

    fn measure(&mut self) {
        let job = self.job(0);
        let settings = &job.settings;
        let index = Bm25Index::build(&self.dataset.corpus, &settings.engine);
        let index = index.expect("it can be indexed");
        let evaluator = Evaluator::new(settings, &self.dataset, &index);
        let evaluator = evaluator.expect("the job is about this dataset");
        let configurations = TIE_BREAKERS.map(configuration);
        for (&fold, ids) in &settings.folds {
            let queries = u32::try_from(ids.len()).expect("there are few queries");
            let rows = configurations.each_ref().map(|one| {
                let task = EvaluateTask {
                    job: settings.job.clone(),
                    fold,
                    first_query: 0,
                    query_count: queries,
                    candidates: [one.clone()].into(),
                };
                evaluator
                    .evaluate(&task, &Stop::never())
                    .expect("it can be evaluated")
                    .rows
            });
            self.rows.insert(fold, rows);
            let examine = |query: u32, pair: [&Candidate; 2]| {
                let task = ExamineTask {
                    job: settings.job.clone(),
                    fold,
                    first_query: query,
                    query_count: 1,
                    candidates: pair.map(Clone::clone).to_vec(),
                    hits: HITS,
                    rank_depth: RANK_DEPTH,
                };
                evaluator
                    .examine(&task, &Stop::never())
                    .expect("it can be examined")
            };
            let all = configurations.each_ref();
            let pairs = |query| all.map(|first| all.map(|second| examine(query, [first, second])));
            self.examined
                .insert(fold, (0..queries).map(pairs).collect());
        }
    }

    /// Mean nDCG@10 of the two configurations on a fold.
    pub(crate) fn means(&self, fold: Fold) -> [f64; 2] {
        self.rows[&fold].each_ref().map(|rows| {
            let sum: f64 = rows.iter().map(|row| row.scored[0]).sum();
            sum / rows.len() as f64
        })
    }

    /// Runs a sweep of [`CANDIDATES`] candidates to its verdict.
    pub(crate) fn sweep(&self, coins: Coins) -> VerdictRecord {
        let job = self.job(coins.seed);
        let root = self.bench.at(&format!("job-{}", coins.seed));
        let record = serde_json::to_value(job.record()).expect("it has a JSON form");
        let folder = JobFolder::create(&root, &job.settings.job, &record).expect("it is new");
        let workers = CoinWorkers {
            shop: self,
            coins,
            folder: &folder,
            baseline: job.sweep.baseline.configuration.candidate.id(),
            job: &job,
        };
        let verdict = run(
            &job,
            &Surroundings {
                folder: &folder,
                ledger: &root.with_extension("looks"),
                workers: &workers,
                progress: &Unwatched,
            },
        )
        .expect("nothing fails");
        remove(&root);
        verdict
    }
}

fn remove(folder: &Path) {
    std::fs::remove_dir_all(folder).expect("the folder of a finished job can be removed");
}

fn configuration(tie_breaker: f64) -> Candidate {
    let field = |name| FieldName::try_from(name).expect("a field");
    let weights: BTreeMap<FieldName, f64> = WEIGHTS
        .into_iter()
        .map(|(name, weight)| (field(name), weight))
        .collect();
    Candidate {
        combine: Combine::best_fields(tie_breaker).expect("it is a tie breaker"),
        weights: FieldWeights::try_from(weights).expect("they are weights"),
    }
}

/// Gives every candidate the rows that its coins choose.
struct CoinWorkers<'a> {
    shop: &'a Shop,
    coins: Coins,
    folder: &'a JobFolder,
    baseline: CandidateId,
    job: &'a Job,
}

impl CoinWorkers<'_> {
    fn thrown(&self, candidate: &CandidateId, query: &QueryId) -> usize {
        let baseline = *candidate == self.baseline;
        self.coins.configuration(candidate, baseline, query)
    }

    fn queries(
        &self,
        fold: Fold,
        first: u32,
        count: u32,
    ) -> impl Iterator<Item = (usize, &QueryId)> {
        let ids = self.job.settings.folds[&fold].iter().enumerate();
        ids.skip(first as usize).take(count as usize)
    }

    /// What is found of a candidate against the baseline on one query.
    fn pair(
        &self,
        task: &ExamineTask,
        candidate: &CandidateId,
        query: (usize, &QueryId),
    ) -> &Examination {
        let first = self.thrown(&task.candidates[0].id(), query.1);
        let second = self.thrown(candidate, query.1);
        &self.shop.examined[&task.fold][query.0][first][second]
    }

    fn examination(&self, task: &ExamineTask) -> Examination {
        assert_eq!((task.hits, task.rank_depth), (HITS, RANK_DEPTH));
        let ids: Vec<CandidateId> = task.candidates.iter().map(Candidate::id).collect();
        let mut whole = Examination::default();
        for query in self.queries(task.fold, task.first_query, task.query_count) {
            for (position, id) in ids.iter().enumerate() {
                let found = self.pair(task, id, query);
                // The pair's second half is the candidate's, and the first list of a task has no pair.
                let half = usize::from(position > 0);
                let mut condensed = found.condensed[half].clone();
                condensed.candidate = id.clone();
                whole.condensed.push(condensed);
                let middle = found.relevant.len() / 2;
                let relevant = found.relevant.split_at(middle);
                let relevant = [relevant.0, relevant.1][half].to_vec();
                whole.relevant.extend(relevant.into_iter().map(|mut row| {
                    row.candidate = id.clone();
                    row
                }));
                let middle = found.hits.iter().rposition(|hit| hit.rank == 1);
                let hits = found.hits.split_at(middle.unwrap_or_default());
                let hits = [hits.0, hits.1][half].to_vec();
                whole.hits.extend(hits.into_iter().map(|mut row| {
                    row.candidate = id.clone();
                    row
                }));
                let unjudged = if half == 0 {
                    &[]
                } else {
                    found.unjudged.as_slice()
                };
                whole
                    .unjudged
                    .extend(unjudged.iter().cloned().map(|mut row| {
                        row.candidate = id.clone();
                        row
                    }));
            }
        }
        whole
    }
}

impl Workers for CoinWorkers<'_> {
    fn evaluate(
        &self,
        tasks: &[EvaluateTask],
        finished: &(dyn Fn(&EvaluateTask) + Sync),
    ) -> Result<(), WorkersError> {
        for task in tasks {
            let mut rows = Vec::new();
            for candidate in task.candidates.iter().map(Candidate::id) {
                for (at, query) in self.queries(task.fold, task.first_query, task.query_count) {
                    let thrown = self.thrown(&candidate, query);
                    rows.push(QueryRow {
                        candidate: candidate.clone(),
                        ..self.shop.rows[&task.fold][thrown][at].clone()
                    });
                }
            }
            let block = RowBlock {
                job: task.job.clone(),
                fold: task.fold,
                metrics: self.job.settings.measurement.metrics.clone(),
                rows,
            };
            let committed = self.folder.commit_rows(&task.id(), &block);
            committed.expect("the folder can be written to");
            finished(task);
        }
        Ok(())
    }

    fn average(
        &self,
        _tasks: &[EvaluateTask],
        _finished: &(dyn Fn(&EvaluateTask) + Sync),
    ) -> Result<(), WorkersError> {
        let why = "these sweeps are far below `max_rows`";
        Err(WorkersError::Failed(why.into()))
    }

    fn examine(
        &self,
        tasks: &[ExamineTask],
        finished: &(dyn Fn(&ExamineTask) + Sync),
    ) -> Result<(), WorkersError> {
        let metrics = &self.job.settings.measurement.metrics;
        for task in tasks {
            let (id, found) = (task.id(), self.examination(task));
            let committed = [
                self.folder.commit_hits(&id, &found.hits),
                self.folder.commit_relevant(&id, &found.relevant),
                self.folder.commit_condensed(&id, metrics, &found.condensed),
                self.folder.commit_unjudged(&id, &found.unjudged),
            ];
            for committed in committed {
                committed.expect("the folder can be written to");
            }
            finished(task);
        }
        Ok(())
    }
}

/// Nobody watches.
struct Unwatched;

impl Progress for Unwatched {
    fn begin(&self, _step: &str, _evaluations: u64) {}
    fn advance(&self, _evaluations: u64) {}
    fn end(&self) {}
    fn note(&self, _line: &str) {}
}
