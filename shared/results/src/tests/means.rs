//! Means of candidates whose rows are not stored.

use evalfarm_domain::{Fold, JobId};

use super::{candidate, chain, job, metrics, written};
use crate::{MeansRow, means_to_bytes, read_means};

pub(super) fn means() -> Vec<MeansRow> {
    let row = |id, mean, weighted, class| MeansRow {
        candidate: candidate(id),
        means: vec![mean, 0.25],
        weighted,
        class,
    };
    vec![
        row("c1", 1.0 / 3.0, 0.1, u64::MAX - 1),
        row("c2", 0.0, 0.0, 0),
    ]
}

#[test]
fn means_come_back_and_name_their_job_and_fold() {
    let bytes = means_to_bytes(&job(), Fold::Train, &metrics(), &means()).unwrap();
    let (_folder, path) = written(&bytes);
    let read = |job: &JobId, fold| read_means(&path, job, fold, &metrics());
    assert_eq!(read(&job(), Fold::Train).unwrap(), means());
    assert!(read(&JobId::try_from("j2").unwrap(), Fold::Train).is_err());
    let error = chain(&read(&job(), Fold::Holdout).unwrap_err());
    let expected =
        "holds `train` in row 0, which is not the side of the split that the task is about";
    assert!(error.ends_with(expected), "{error}");

    let mut short = means();
    short[1].means.pop();
    let error = means_to_bytes(&job(), Fold::Train, &metrics(), &short).unwrap_err();
    assert_eq!(
        error.to_string(),
        "candidate `c2` has 1 means for 2 metrics"
    );
}

#[test]
fn means_are_those_of_the_values_and_equal_weights_change_no_bit() {
    // By hand: (0.5 + 0.25 + 0) / 3 and (1·0.5 + 2·0.25 + 5·0) / 8.
    let ndcg = [0.5, 0.25, 0.0];
    let other = [1.0, 1.0, 0.0];
    let of =
        |weights: &[f64]| MeansRow::new(candidate("c1"), &[&ndcg, &other], &[7, 8, 9], weights);
    let weighted = of(&[1.0, 2.0, 5.0]);
    assert_eq!(weighted.means, [0.25, 2.0 / 3.0]);
    assert_eq!(weighted.weighted.to_bits(), 0.125_f64.to_bits());
    let thirds = [0.1, 0.7, 1.0 / 3.0];
    let plain = MeansRow::new(candidate("c1"), &[&thirds], &[7, 8, 9], &[1.0; 3]);
    assert_eq!(plain.weighted.to_bits(), plain.means[0].to_bits());
}

#[test]
fn the_class_tells_results_apart() {
    let of = |values: &[f64], digests: &[u64]| {
        MeansRow::new(candidate("c1"), &[values], digests, &[1.0; 2]).class
    };
    let one = of(&[0.5, 0.25], &[7, 8]);
    assert_eq!(one, of(&[0.5, 0.25], &[7, 8]));
    assert_ne!(one, of(&[0.25, 0.5], &[7, 8]), "the same mean");
    assert_ne!(one, of(&[0.5, 0.25], &[8, 7]), "another ranking");
}
