//! Sign flips and corrections against scipy and statsmodels.

use evalfarm_stats::{PValue, benjamini_hochberg};
use serde_json::Value;

use crate::{assert_close, exact, numbers, reference_cases};

#[test]
fn sign_flips_equal_scipy() {
    let Some(cases) = reference_cases("paired_sign_flip_exact") else {
        // The generated vectors of `s4_tenths_tie_as_whole_numbers_do` stand in.
        return crate::hand::s4_tenths_tie_as_whole_numbers_do();
    };
    for case in cases {
        let p = exact(&numbers(&case["input"]["diff"])).p.value();
        let name = case["name"].as_str().unwrap();
        assert_close(p, case["expected"]["p"].as_f64().unwrap(), 1e-12, name);
    }
}

#[test]
fn benjamini_hochberg_equals_statsmodels() {
    let adjust = |values: &[f64]| {
        let family: Vec<PValue> = values
            .iter()
            .map(|&p| PValue::try_from(p).unwrap())
            .collect();
        benjamini_hochberg(&family)
    };
    let Some(cases) = reference_cases("benjamini_hochberg") else {
        // By hand: .01·3/1, .02·3/2, .9·3/3.
        let q = adjust(&[0.01, 0.02, 0.9]);
        for (q, expected) in q.iter().zip([0.03, 0.03, 0.9]) {
            assert_close(q.value(), expected, 1e-12, "by hand");
        }
        return;
    };
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let alpha = case["input"]["alpha"].as_f64().unwrap();
        let q = adjust(&numbers(&case["input"]["p"]));
        for (q, expected) in q.iter().zip(numbers(&case["expected"]["adjusted"])) {
            assert_close(q.value(), expected, 1e-12, name);
        }
        let reject: Vec<Value> = q.iter().map(|q| (q.value() <= alpha).into()).collect();
        let expected = case["expected"]["reject"].as_array().unwrap();
        assert_eq!(&reject, expected, "{name}");
    }
}
