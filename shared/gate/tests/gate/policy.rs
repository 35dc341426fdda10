//! Policies as files: defaults, ranges, and what is printed with a verdict.

use crate::scene::Scene;
use evalfarm_domain::MetricName;
use evalfarm_gate::{GatePolicy, Guards, PolicyError, RawGatePolicy};
use evalfarm_stats::Correction;

fn read(text: &str) -> Result<GatePolicy, PolicyError> {
    GatePolicy::try_from(toml::from_str::<RawGatePolicy>(text).unwrap())
}

#[test]
fn an_empty_file_means_the_defaults_of_the_design() {
    let policy = read("").unwrap();
    assert_eq!(policy, GatePolicy::default());
    // Design section 8, and its "policy defaults".
    let printed = serde_json::to_value(&policy).unwrap();
    let expected = serde_json::json!({
        "primary": "nDCG@10", "guards": null, "alpha": 0.05, "resamples": 10_000, "seed": 1, "correction": null,
        "min_queries": 20, "min_effect": 0.0, "max_drop": {}, "catastrophic_drop": 0.30,
        "max_catastrophic_share": 0.05, "max_zero_result_increase": 0.0, "max_degraded_share": 0.01,
        "max_failed_share": 0.0, "max_judged_gap": 0.10, "noise_band": null, "confidence": 0.95,
        "directions": {}, "max_resamples": 100_000, "interval": "percentile", "min_changed": 0,
        "min_judged_share": 0.0, "max_flips": {}, "max_flips_bound": {}, "slices": [], "min_per_arm": 20,
    });
    assert_eq!(printed, expected);
}

#[test]
fn a_verdict_prints_the_policy_with_nothing_left_open() {
    let judgement = Scene::promoted(100).judge();
    let printed = serde_json::to_value(&judgement.policy).unwrap();
    assert_eq!(printed["correction"], "bh");
    assert_eq!(printed["guards"], serde_json::json!(["RR@10", "R@10"]));
    let read: GatePolicy = serde_json::from_value(printed).unwrap();
    assert_eq!(read, judgement.policy);
}

#[test]
fn names_are_read_in_either_spelling() {
    let policy = read(
        "primary = 'recip_rank'\nguards = ['ndcg_cut_10', 'latency_ms']\ncorrection = 'holm'\n[max_drop]\nlatency_ms = 5.0\n",
    )
    .unwrap();
    assert_eq!(policy.primary().as_str(), "RR");
    let Guards::Named(guards) = policy.guards() else {
        panic!("guards were named");
    };
    let guards: Vec<&str> = guards.iter().map(MetricName::as_str).collect();
    assert_eq!(guards, ["nDCG@10", "latency_ms"]);
    assert_eq!(
        serde_json::to_value(&policy).unwrap()["correction"],
        serde_json::to_value(Correction::Holm).unwrap()
    );
}

#[test]
fn values_outside_their_range_are_refused_by_key() {
    for (text, key) in [
        ("alpha = 0.0", "alpha"),
        ("alpha = nan", "alpha"),
        ("alpha = 0.6", "alpha"),
        ("resamples = 10", "resamples"),
        ("resamples = 2000000", "resamples"),
        ("min_effect = -0.1", "min_effect"),
        ("min_effect = inf", "min_effect"),
        ("catastrophic_drop = nan", "catastrophic_drop"),
        ("max_catastrophic_share = 1.5", "max_catastrophic_share"),
        (
            "max_zero_result_increase = -1.0",
            "max_zero_result_increase",
        ),
        ("max_degraded_share = 2.0", "max_degraded_share"),
        ("max_failed_share = nan", "max_failed_share"),
        ("max_judged_gap = -0.5", "max_judged_gap"),
        ("noise_band = -0.5", "noise_band"),
        ("confidence = 1.0", "confidence"),
        ("max_drop = { 'R@10' = -1.0 }", "max_drop.R@10"),
    ] {
        match read(text) {
            Err(PolicyError::Range { key: found, .. }) => assert_eq!(found, key),
            other => panic!("`{text}` gave {other:?}"),
        }
    }
}

#[test]
fn policies_that_contradict_themselves_are_refused() {
    assert!(matches!(
        read("guards = ['nDCG@10']"),
        Err(PolicyError::PrimaryGuards { .. })
    ));
    assert!(matches!(
        read("guards = ['R@10', 'recall_10']"),
        Err(PolicyError::Twice { .. })
    ));
    assert!(matches!(
        read("guards = []\nmax_drop = { 'R@10' = 0.1 }"),
        Err(PolicyError::MarginWithoutGuard { .. })
    ));
    assert!(matches!(
        read("primary = ''"),
        Err(PolicyError::Name { .. })
    ));
    assert!(matches!(
        read("alpha = 0.001\nresamples = 500"),
        Err(PolicyError::TooFewResamples { resamples: 500, .. })
    ));
}

#[test]
fn unknown_keys_and_corrections_are_refused() {
    for text in [
        "alhpa = 0.05",
        "correction = 'bonferroni'",
        "primary-metric = 'R@10'",
    ] {
        assert!(toml::from_str::<RawGatePolicy>(text).is_err(), "{text}");
    }
}
