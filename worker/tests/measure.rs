//! What a task gives for many candidates at once is what each candidate's own whole list gives.

#![expect(
    clippy::unwrap_used,
    reason = "clippy.toml allows it in test functions, this is also for what they call"
)]

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use evalfarm_dataset::{About, Dataset, DatasetContent, store};
use evalfarm_domain::{
    Candidate, Combine, DocId, EngineSettings, EvaluateTask, ExamineTask, FieldName, FieldWeights,
    Fold, Grade, JobId, JobSettings, Measurement,
};
use evalfarm_metrics::QueryMetrics;
use evalfarm_retrieval::Bm25Index;
use evalfarm_synthetic::{CatalogueSpec, generate};
use evalfarm_worker::{EvaluateError, Evaluator, Stop};
use rand::Rng as _;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

const QUERIES: u32 = 30;

/// Depth to which ranks of relevant documents are looked for.
const RANKS: u32 = 20;

fn dataset() -> Dataset {
    let generated = generate(&CatalogueSpec::new(7, 400, QUERIES).unwrap());
    let content = DatasetContent {
        corpus: generated.corpus,
        queries: generated.queries,
        judgments: generated.judgments,
    };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("dataset");
    store(&folder, content, About::new("test")).unwrap();
    Dataset::open(&folder).unwrap()
}

fn settings(dataset: &Dataset, depth: u32) -> JobSettings {
    let metrics = ["nDCG", "RR", "P", "R", "AP", "Judged"].map(|name| {
        let name = format!("{name}@{depth}");
        name.parse().unwrap()
    });
    let about = &dataset.manifest;
    let ids = dataset.queries.iter().map(|query| query.id.clone());
    JobSettings {
        job: JobId::try_from("jtest").unwrap(),
        dataset: about.fingerprint,
        engine: EngineSettings::default(),
        served_by: None,
        measurement: Measurement {
            metrics: metrics.into(),
            depth: NonZeroU32::new(depth).unwrap(),
            gains: about.gains.clone(),
            relevant_from: about.relevant_from,
            top_grade: about.top_grade,
        },
        folds: BTreeMap::from([(Fold::All, ids.collect())]),
    }
}

/// Returns candidates of every kind, some without some fields, drawn from a seed.
fn candidates(dataset: &Dataset) -> Vec<Candidate> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut candidates = Vec::new();
    for round in 0..40_u32 {
        let combine = match round % 3 {
            0 => Combine::MostFields,
            1 => Combine::best_fields(0.3).unwrap(),
            _ => Combine::best_fields(0.0).unwrap(),
        };
        let mut weights: BTreeMap<FieldName, f64> = BTreeMap::new();
        for field in &dataset.corpus.fields {
            if random.random_ratio(3, 4) {
                weights.insert(field.clone(), random.random_range(0.01..4.0));
            }
        }
        if weights.is_empty() {
            weights.insert(dataset.corpus.fields[0].clone(), 1.0);
        }
        let weights = FieldWeights::try_from(weights).unwrap();
        candidates.push(Candidate { combine, weights });
    }
    candidates
}

#[test]
fn values_and_digests_are_those_of_each_candidates_whole_list() {
    let dataset = dataset();
    let index = Bm25Index::build(&dataset.corpus, &EngineSettings::default()).unwrap();
    let candidates = candidates(&dataset);
    // Up to 16 hits share values by their grades, deeper lists do not.
    for depth in [1, 10, 16, 17, 40] {
        let settings = settings(&dataset, depth);
        let evaluator = Evaluator::new(&settings, &dataset, &index).unwrap();
        let task = EvaluateTask {
            job: settings.job.clone(),
            fold: Fold::All,
            first_query: 0,
            query_count: QUERIES,
            candidates: candidates.clone().into(),
        };
        let block = evaluator.evaluate(&task, &Stop::never()).unwrap();
        let mut rows = block.rows.iter();
        let mut digests: BTreeMap<Vec<&DocId>, u64> = BTreeMap::new();
        for candidate in &candidates {
            let prepared = index.prepare(std::slice::from_ref(candidate)).unwrap();
            for query in &dataset.queries {
                let row = rows.next().unwrap();
                let mut list: Vec<&DocId> = Vec::new();
                let mut searcher = index.searcher();
                let all = dataset.corpus.documents.len();
                searcher
                    .search_many(&query.text, &prepared, all, &mut |_, hits| {
                        let hits = hits.iter().take(depth as usize);
                        list.extend(hits.map(|hit| &dataset.corpus.documents[hit.row as usize].id));
                    })
                    .unwrap();
                let judgments = dataset.judgments.query(query.id.as_str());
                let grade = |id: &&DocId| judgments.and_then(|grades| grades.grade(id.as_str()));
                let grades: Vec<_> = list.iter().map(grade).collect();
                let mut values = Vec::new();
                QueryMetrics::new(&settings.measurement, judgments)
                    .unwrap()
                    .values_into(&grades, &mut values);
                let bits = |values: &[Option<f64>]| -> Vec<Option<u64>> {
                    values.iter().map(|value| value.map(f64::to_bits)).collect()
                };
                assert_eq!(row.query, query.id);
                assert_eq!(bits(&row.values), bits(&values), "{candidate} {}", query.id);
                assert_eq!(row.hits_returned as usize, list.len());
                assert_eq!(row.zero_result, list.is_empty());
                let judged = grades.iter().flatten().count() as f64 / list.len() as f64;
                assert_eq!(
                    row.judged_share,
                    Some(judged).filter(|share| !share.is_nan())
                );
                assert_eq!(
                    *digests.entry(list).or_insert(row.top_digest),
                    row.top_digest
                );
            }
        }
        assert!(rows.next().is_none());
        // Different lists have different digests.
        let lists = digests.len();
        let mut digests: Vec<u64> = digests.into_values().collect();
        digests.sort_unstable();
        digests.dedup();
        assert_eq!(digests.len(), lists);
    }
}

#[test]
fn ranks_and_condensed_values_are_those_of_the_hits() {
    let dataset = dataset();
    let index = Bm25Index::build(&dataset.corpus, &EngineSettings::default()).unwrap();
    let settings = settings(&dataset, 10);
    let evaluator = Evaluator::new(&settings, &dataset, &index).unwrap();
    let candidates = candidates(&dataset);
    let task = ExamineTask {
        job: settings.job.clone(),
        fold: Fold::All,
        first_query: 0,
        query_count: QUERIES,
        candidates: candidates[..3].to_vec(),
        hits: NonZeroU32::new(400).unwrap(),
        rank_depth: NonZeroU32::new(RANKS).unwrap(),
    };
    let examined = evaluator.examine(&task, &Stop::never()).unwrap();
    let mut ranks = BTreeMap::new();
    let mut judged: BTreeMap<_, Vec<Option<Grade>>> = BTreeMap::new();
    for hit in &examined.hits {
        ranks.insert((&hit.candidate, &hit.query, &hit.document), hit.rank);
        let grades = judged.entry((&hit.candidate, &hit.query)).or_default();
        grades.extend(hit.grade.map(Some));
    }
    let (mut found, mut too_deep) = (0, 0);
    for row in &examined.relevant {
        let rank = ranks.get(&(&row.candidate, &row.query, &row.document));
        let shallow = rank.copied().filter(|&rank| rank <= RANKS);
        assert_eq!(row.rank, shallow, "{} {}", row.query, row.document);
        found += u32::from(shallow.is_some());
        too_deep += u32::from(rank.is_some() && shallow.is_none());
    }
    assert!(found > 0 && too_deep > 0, "{found} found, {too_deep} below");
    assert_eq!(examined.condensed.len(), 3 * QUERIES as usize);
    for row in &examined.condensed {
        let grades = judged.remove(&(&row.candidate, &row.query));
        let judgments = dataset.judgments.query(row.query.as_str());
        let mut values = Vec::new();
        QueryMetrics::new(&settings.measurement, judgments)
            .unwrap()
            .values_into(&grades.unwrap_or_default(), &mut values);
        let values: Vec<f64> = values.into_iter().map(Option::unwrap_or_default).collect();
        assert_eq!(row.values, values, "{}", row.query);
    }
}

#[test]
fn a_task_that_nobody_waits_for_ends_before_its_next_query() {
    let dataset = dataset();
    let index = Bm25Index::build(&dataset.corpus, &EngineSettings::default()).unwrap();
    let settings = settings(&dataset, 10);
    let evaluator = Evaluator::new(&settings, &dataset, &index).unwrap();
    let task = EvaluateTask {
        job: settings.job.clone(),
        fold: Fold::All,
        first_query: 0,
        query_count: QUERIES,
        candidates: candidates(&dataset).into(),
    };
    let stop = Stop::new();
    assert!(evaluator.average(&task, &stop).is_ok());
    stop.set();
    let error = evaluator.average(&task, &stop).unwrap_err();
    assert!(matches!(error, EvaluateError::Stopped(_)), "{error}");
}
