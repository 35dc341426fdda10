//! How hard the catalogue is, measured with the project's own engine and metrics.

use std::num::NonZeroU32;

use evalfarm_domain::{
    Candidate, Combine, EngineSettings, FieldName, FieldWeights, Gains, Grade, Measurement, Metric,
};
use evalfarm_metrics::QueryMetrics;
use evalfarm_retrieval::Bm25Index;
use evalfarm_synthetic::{FIELDS, Generated};

use crate::catalogue;

/// Depth to which failures are traced, as in the third document.
const DEEP: usize = 200;

/// The weights that the published experiment started from.
const PUBLISHED: [f64; 5] = [4.0, 2.5, 1.5, 1.0, 1.2];

fn candidate(weights: [f64; 5]) -> Candidate {
    let pairs = FIELDS.iter().zip(weights);
    let map: std::collections::BTreeMap<FieldName, f64> = pairs
        .map(|(&field, weight)| (FieldName::try_from(field).unwrap(), weight))
        .collect();
    Candidate {
        combine: Combine::best_fields(0.0).unwrap(),
        weights: FieldWeights::try_from(map).unwrap(),
    }
}

/// Values of one candidate: nDCG@10, R@10, Judged@10, and the first relevant rank down to [`DEEP`] for each query.
#[derive(Default)]
struct Measured {
    values: Vec<[f64; 3]>,
    first: Vec<Option<usize>>,
}

impl Measured {
    fn mean(&self, metric: usize) -> f64 {
        self.values.iter().map(|values| values[metric]).sum::<f64>() / self.values.len() as f64
    }
}

fn measure(generated: &Generated, weights: &[[f64; 5]]) -> Vec<Measured> {
    let metrics = ["nDCG@10", "R@10", "Judged@10"].map(|name| name.parse::<Metric>().unwrap());
    let measurement = Measurement {
        metrics: metrics.to_vec(),
        depth: NonZeroU32::new(10).unwrap(),
        gains: Gains::Linear,
        relevant_from: Grade::RELEVANT,
        top_grade: Grade::try_from(3.0).unwrap(),
    };
    let index = Bm25Index::build(&generated.corpus, &EngineSettings::default()).unwrap();
    let candidates: Vec<Candidate> = weights.iter().copied().map(candidate).collect();
    let prepared = index.prepare(&candidates).unwrap();
    let mut searcher = index.searcher();
    let mut measured: Vec<Measured> = weights.iter().map(|_| Measured::default()).collect();
    for query in &generated.queries {
        let judged = generated.judgments.query(query.id.as_str());
        let metrics = QueryMetrics::new(&measurement, judged).unwrap();
        let mut visit = |position: usize, hits: &[evalfarm_retrieval::ScoredDocument]| {
            let grade =
                |row: u32| judged?.grade(generated.corpus.documents[row as usize].id.as_str());
            let grades: Vec<Option<Grade>> = hits.iter().map(|hit| grade(hit.row)).collect();
            let mut values = Vec::new();
            metrics.values_into(&grades[..grades.len().min(10)], &mut values);
            let values = [0, 1, 2].map(|metric| values[metric].unwrap_or(0.0));
            let relevant =
                |grade: &Option<Grade>| grade.is_some_and(|grade| grade >= Grade::RELEVANT);
            measured[position].values.push(values);
            measured[position]
                .first
                .push(grades.iter().position(relevant).map(|place| place + 1));
        };
        searcher
            .search_many(&query.text, &prepared, DEEP, &mut visit)
            .unwrap();
    }
    measured
}

#[test]
fn weights_matter_and_failures_lie_at_every_depth() {
    let generated = catalogue(20_260_816, 5_000, 2_000);
    let bullets =
        [0.2, 0.5, 0.625, 0.8, 1.0, 1.25, 2.0].map(|ratio| [4.0, 2.5, 4.0 * ratio, 1.0, 1.2]);
    let mut weights = vec![
        PUBLISHED,
        [4.0, 2.5, 1.5, 1.0, 0.0],
        [0.2, 2.5, 1.5, 5.0, 1.2],
        [4.0, 20.0, 1.5, 1.0, 1.2],
        [4.0, 2.5, 1.5, 10.0, 1.2],
    ];
    weights.extend(bullets);
    let measured = measure(&generated, &weights);
    let ndcg: Vec<f64> = measured.iter().map(|values| values.mean(0)).collect();
    let [
        published,
        no_category,
        harmful,
        brand_heavy,
        description_heavy,
    ] = [0, 1, 2, 3, 4].map(|place| ndcg[place]);
    // The third document: nDCG@10 .48, R@10 .58, 12 % of the top ten judged.
    assert!((0.35..0.55).contains(&published), "{published}");
    assert!(
        (0.40..0.65).contains(&measured[0].mean(1)),
        "{}",
        measured[0].mean(1)
    );
    assert!(
        (0.07..0.16).contains(&measured[0].mean(2)),
        "{}",
        measured[0].mean(2)
    );
    assert!(
        (published - no_category).abs() < f64::EPSILON,
        "the category is dead"
    );
    assert!(harmful < 0.6 * published, "{harmful}");
    assert!(brand_heavy < published - 0.05, "{brand_heavy}");
    assert!(description_heavy < published - 0.05, "{description_heavy}");
    // One peak in the bullet points, and it beats the published weights clearly.
    let curve = &ndcg[5..];
    let peak = (0..curve.len())
        .max_by(|&a, &b| curve[a].total_cmp(&curve[b]))
        .unwrap();
    assert!(
        (0.015..0.08).contains(&(curve[peak] - published)),
        "{curve:?}"
    );
    assert!(
        curve[..=peak]
            .windows(2)
            .all(|pair| pair[0] <= pair[1] + 0.002),
        "{curve:?}"
    );
    assert!(
        curve[peak..]
            .windows(2)
            .all(|pair| pair[0] + 0.002 >= pair[1]),
        "{curve:?}"
    );
    // Failures: nothing relevant in the top ten. The third document: 30, 27 and 42 % at the three depths.
    let failed: Vec<Option<usize>> = measured[0]
        .first
        .iter()
        .copied()
        .filter(|first| first.is_none_or(|rank| rank > 10))
        .collect();
    let share = |band: fn(Option<usize>) -> bool| {
        failed.iter().filter(|&&first| band(first)).count() as f64 / failed.len() as f64
    };
    let near = share(|first| first.is_some_and(|rank| rank <= 50));
    let deep = share(|first| first.is_some_and(|rank| rank > 50));
    let out_of_reach = share(|first| first.is_none());
    assert!(
        near >= 0.15 && deep >= 0.15 && out_of_reach >= 0.10,
        "{near} {deep} {out_of_reach}"
    );
}
