use super::*;
use crate::Grade;

fn metric(name: &str) -> Metric {
    name.parse().unwrap()
}

#[test]
fn both_spellings_are_one_metric() {
    let pairs = [
        ("nDCG@10", "ndcg_cut_10"),
        ("nDCG@10", "ndcg_cut.10"),
        ("RR", "recip_rank"),
        ("RR@10", "MRR@10"),
        ("P@5", "P_5"),
        ("R@10", "recall_10"),
        ("AP", "map"),
        ("AP@100", "map_cut_100"),
        ("Success@1", "success_1"),
        ("NumRelRet", "num_rel_ret"),
        ("Rprec", "Rprec"),
        ("nDCG", "ndcg"),
    ];
    for (ours, trec) in pairs {
        assert_eq!(metric(ours), metric(trec));
        assert_eq!(metric(trec).to_string(), ours);
    }
    assert_eq!(metric("nDCG@10"), Metric::NDCG_10);
}

#[test]
fn parameters_are_part_of_the_name() {
    for name in [
        "nDCG(dcg='exp-log2')@10",
        "P(rel=2)@5",
        "RBP(p=0.85)",
        "AP(rel=3)",
    ] {
        assert_eq!(metric(name).to_string(), name);
        let json = serde_json::to_string(&metric(name)).unwrap();
        assert_eq!(serde_json::from_str::<Metric>(&json).unwrap(), metric(name));
    }
    assert_eq!(metric("nDCG(dcg='exp-log2')@10").slug(), "ndcg_exp_10");
    assert_eq!(metric("P(rel=2)@5").slug(), "p_rel2_5");
    assert_eq!(metric("RBP(p=0.85)").slug(), "rbp_p850");
    assert_ne!(metric("nDCG(dcg='exp-log2')@10"), metric("nDCG@10"));
}

#[test]
fn names_that_mean_nothing_are_refused() {
    for name in [
        "",
        "nDCG@0",
        "nDCG@ten",
        "P",
        "Success",
        "zero_result@10",
        "R_cap@10",
    ] {
        assert!(name.parse::<Metric>().is_err(), "{name}");
    }
    for name in [
        "nDCG(rel=2)@10",
        "P(rel=0)@5",
        "RBP(p=1)@10",
        "P(dcg=log2)@5",
        "nDCG(@10",
    ] {
        assert!(name.parse::<Metric>().is_err(), "{name}");
    }
}

#[test]
fn a_level_in_the_name_wins_over_the_jobs() {
    let two = Grade::try_from(2.0).unwrap();
    assert_eq!(metric("P@5").relevant_from(two), two);
    assert_eq!(
        metric("P(rel=3)@5").relevant_from(two),
        Grade::try_from(3.0).unwrap()
    );
}
