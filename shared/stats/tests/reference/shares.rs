//! Shares against scipy and statsmodels, and against their definitions.

use evalfarm_stats::{
    Confidence, PairedShares, Share, ShareInterval, fisher_exact, mcnemar_exact, newcombe,
};

use crate::{assert_close, count, number, numbers, reference_cases};

fn share(successes: u64, trials: u64) -> Share {
    Share::new(successes, trials).unwrap()
}

fn assert_interval(found: ShareInterval, expected: &[f64], tolerance: f64, what: &str) {
    assert_close(found.low, expected[0], tolerance, what);
    assert_close(found.high, expected[1], tolerance, what);
}

#[test]
fn wilson_and_clopper_pearson_equal_statsmodels() {
    let Some(cases) = reference_cases("wilson") else {
        return fewer_cases_of_scipy_hold();
    };
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let share = share(count(&case["input"]["k"]), count(&case["input"]["n"]));
        let expected = |key: &str| numbers(&case["expected"][key]);
        let level = Confidence::DEFAULT;
        assert_interval(share.wilson(level), &expected("ci"), 1e-9, name);
        let exact = share.clopper_pearson(level);
        assert_interval(exact, &expected("clopper_pearson"), 1e-9, name);
    }
}

#[test]
fn newcombe_and_fisher_equal_their_references() {
    let Some(cases) = reference_cases("newcombe_diff") else {
        return fewer_cases_of_scipy_hold();
    };
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let arm = |k: &str, n: &str| share(count(&case["input"][k]), count(&case["input"][n]));
        let (first, second) = (arm("k1", "n1"), arm("k2", "n2"));
        let interval = newcombe(first, second, Confidence::DEFAULT);
        assert_interval(interval, &numbers(&case["expected"]["ci"]), 1e-9, name);
        let p = fisher_exact(first, second).value();
        assert_close(p, number(&case["expected"]["fisher_p"]), 1e-9, name);
    }
}

#[test]
fn mcnemar_equals_statsmodels() {
    let Some(cases) = reference_cases("mcnemar_exact") else {
        return assert_close(mcnemar_exact(0, 6).value(), 0.031_25, 1e-12, "2/2^6");
    };
    for case in cases {
        let p = mcnemar_exact(count(&case["input"]["b"]), count(&case["input"]["c"]));
        let name = case["name"].as_str().unwrap();
        assert_close(p.value(), number(&case["expected"]["p"]), 1e-12, name);
    }
}

#[test]
fn fewer_cases_of_scipy_hold() {
    // scipy 1.17.1: fisher_exact.
    for (first, second, expected) in [
        ((8, 20), (1, 20), 0.019_656_019_656_019_652),
        ((30, 100), (45, 100), 0.040_534_006_514_982_644),
        ((5, 5), (0, 5), 0.007_936_507_936_507_938),
        ((4, 5), (0, 5), 0.047_619_047_619_047_62),
        ((3, 5), (1, 5), 0.523_809_523_809_523_8),
        ((400, 600), (350, 600), 0.003_458_549_804_149_015_6),
    ] {
        let p = fisher_exact(share(first.0, first.1), share(second.0, second.1)).value();
        assert_close(p, expected, 1e-10, &format!("{first:?} {second:?}"));
    }
}

#[test]
fn a_few_changes_have_exact_p_values() {
    // By hand: 2/2^3; 2·(1 + 3)/2^3 is 1.
    assert_eq!(mcnemar_exact(3, 0).value().to_bits(), 0.25_f64.to_bits());
    assert_eq!(mcnemar_exact(1, 2).value().to_bits(), 1.0_f64.to_bits());
    // scipy 1.17.1: binomtest(520, 1100).pvalue, beyond the exact range.
    assert_close(
        mcnemar_exact(520, 580).value(),
        0.075_205_533_602_639_5,
        1e-10,
        "1,100 changes",
    );
}

#[test]
fn the_exact_bound_covers_by_its_definition() {
    // At the bound u, P(X ≤ x) = .05 for X ~ Binomial(n, u).
    for (lost, pairs) in [(0, 10_u32), (1, 40), (3, 100), (7, 60)] {
        let upper = share(lost, u64::from(pairs)).upper_bound(Confidence::DEFAULT);
        let mut term = (1.0 - upper).powi(i32::try_from(pairs).unwrap());
        let mut sum = term;
        for k in 1..=u32::try_from(lost).unwrap() {
            term *= f64::from(pairs - k + 1) / f64::from(k) * upper / (1.0 - upper);
            sum += term;
        }
        assert_close(sum, 0.05, 1e-10, &format!("{lost} of {pairs}"));
    }
}

#[test]
fn the_paired_interval_equals_newcombes_method_10() {
    // Newcombe 1998 (paired), method 10; digits from the formula over statsmodels 0.15.0's Wilson intervals. The second table
    // is the worked example of Altman, Machin, Bryant and Gardner, *Statistics with Confidence*, 2000, p. 52.
    for ([both, gained, lost, neither], expected) in [
        (
            [36, 12, 2, 0],
            [0.056_929_584_003_238_75, 0.340_427_602_974_940_8],
        ),
        (
            [14, 5, 0, 22],
            [0.011_483_241_383_033_221, 0.226_492_684_351_211_2],
        ),
        (
            [500, 30, 10, 60],
            [0.012_599_825_833_338_046, 0.054_983_641_183_147_684],
        ),
    ] {
        let table = PairedShares::new(both, gained, lost, neither).unwrap();
        let interval = table.newcombe(Confidence::DEFAULT);
        assert_interval(interval, &expected, 1e-9, "Newcombe");
    }
    let table = PairedShares::new(36, 12, 2, 0).unwrap();
    assert_close(table.difference(), 0.2, 1e-12, "difference");
}
