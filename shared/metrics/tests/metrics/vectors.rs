//! Small judged rankings with the values that other tools give them.
//!
//! Expected values: `pytrec_eval-terrier` 0.5.11, except where a vector says otherwise.

use evalfarm_domain::{Gains, Measurement};
use evalfarm_metrics::QueryMetrics;
use evalfarm_testkit::reference_data;
use serde_json::Value;

use crate::support::{
    assert_within, gain_map, judgments, measurement, ranked, value, value_with, values,
};

/// nDCG, P, R, RR, AP and Judged at one cutoff.
struct Vector {
    id: &'static str,
    grades: &'static [(&'static str, f64)],
    run: &'static [(&'static str, f32)],
    k: u32,
    expected: [f64; 6],
}

const VECTORS: &[Vector] = &[
    Vector {
        id: "M01-ties",
        grades: &[("x5", 2.0), ("x7", 1.0), ("x9", 0.0)],
        run: &[("x5", 3.0), ("x7", 3.0), ("x9", 3.0)],
        k: 3,
        expected: [
            0.619_906_233_284_065_7,
            2.0 / 3.0,
            1.0,
            0.5,
            0.583_333_333_333_333_3,
            1.0,
        ],
    },
    Vector {
        id: "M13-k-gt-results",
        grades: &[("a", 1.0), ("b", 1.0), ("c", 1.0)],
        run: &[("a", 3.0), ("x", 2.0), ("b", 1.0)],
        k: 10,
        expected: [
            0.703_918_089_034_134_7,
            0.2,
            2.0 / 3.0,
            1.0,
            0.555_555_555_555_555_5,
            2.0 / 3.0,
        ],
    },
    Vector {
        id: "M14-idcg-from-qrels",
        grades: &[("a", 1.0), ("b", 1.0)],
        run: &[("a", 1.0)],
        k: 10,
        expected: [0.613_147_192_765_458_4, 0.1, 0.5, 1.0, 0.5, 1.0],
    },
    Vector {
        id: "M11-negative",
        grades: &[("a", -2.0), ("b", 1.0), ("c", 0.0), ("d", 2.0)],
        run: &[("a", 4.0), ("b", 3.0), ("c", 2.0), ("d", 1.0)],
        k: 10,
        expected: [0.567_207_416_956_870_9, 0.2, 1.0, 0.5, 0.5, 1.0],
    },
    Vector {
        id: "M16-linear",
        grades: &[("a", 0.0), ("b", 2.0), ("c", 3.0), ("d", 1.0)],
        run: &[("a", 4.0), ("b", 3.0), ("c", 2.0), ("d", 1.0)],
        k: 10,
        expected: [
            0.670_438_945_211_932_3,
            0.3,
            1.0,
            0.5,
            0.638_888_888_888_888_8,
            1.0,
        ],
    },
    Vector {
        id: "M09-all-zero-grades",
        grades: &[("b", 0.0), ("c", 0.0)],
        run: &[("b", 1.0), ("c", 0.5)],
        k: 10,
        expected: [0.0, 0.0, 0.0, 0.0, 0.0, 1.0],
    },
    Vector {
        id: "M24-all-unjudged",
        grades: &[("a", 1.0)],
        run: &[("x", 2.0), ("y", 1.0)],
        k: 10,
        expected: [0.0; 6],
    },
];

fn names(k: u32) -> Vec<String> {
    ["nDCG", "P", "R", "RR", "AP", "Judged"]
        .iter()
        .map(|base| format!("{base}@{k}"))
        .collect()
}

#[test]
fn typed_vectors() {
    for vector in VECTORS {
        let names = names(vector.k);
        let values = values(
            &measurement(&names),
            &judgments(vector.grades),
            &ranked(vector.run),
        );
        for ((name, value), expected) in names.iter().zip(values).zip(vector.expected) {
            let what = format!("{} {name}", vector.id);
            assert_within(value.unwrap(), expected, 1e-12, &what);
        }
    }
}

/// Evaluates one entry of the vector file and returns how many values it checked.
fn check(vector: &Value) -> usize {
    let id = vector["id"].as_str().unwrap();
    let pairs = |key: &str| -> Vec<(&str, f64)> {
        let object = vector[key].as_object().unwrap();
        object
            .iter()
            .map(|(document, number)| (document.as_str(), number.as_f64().unwrap()))
            .collect()
    };
    #[expect(
        clippy::cast_possible_truncation,
        reason = "scores of the file are small whole numbers and halves"
    )]
    let run: Vec<(&str, f32)> = pairs("run")
        .into_iter()
        .map(|(document, score)| (document, score as f32))
        .collect();
    let grades = pairs("qrels");
    let mut checked = 0;
    for (name, expected) in vector["expect"].as_object().unwrap() {
        let name = match name.as_str() {
            "idcg_zero" => {
                let linear = measurement(&["nDCG@10"]);
                let metrics = QueryMetrics::new(&linear, Some(&judgments(&grades))).unwrap();
                assert_eq!(expected.as_bool(), Some(!metrics.has_gain()), "{id}");
                continue;
            }
            "checked_against" => continue,
            name => name,
        };
        let found = value(name, &grades, &ranked(&run));
        assert_within(
            found,
            expected.as_f64().unwrap(),
            1e-12,
            &format!("{id} {name}"),
        );
        checked += 1;
    }
    checked
}

#[test]
fn vectors_of_the_case_file() {
    // The case file lies beside the reference data.
    let path = reference_data("golden")
        .map(|golden| golden.join("../../cases/vectors.json"))
        .filter(|path| path.is_file());
    let Some(path) = path else {
        typed_vectors();
        return;
    };
    let vectors: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let metric = |vector: &&Value| vector["kind"] == "metric" && vector.get("qrels").is_some();
    let checked: usize = vectors
        .as_array()
        .unwrap()
        .iter()
        .filter(metric)
        .map(check)
        .sum();
    assert_eq!(checked, 12 * 8); // twelve vectors of eight values
}

#[test]
fn m16_exponential_gain_is_another_metric() {
    let grades = [("a", 0.0), ("b", 2.0), ("c", 3.0), ("d", 1.0)];
    let ranking = ["a", "b", "c", "d"];
    let expected = 0.619_993_237_061_603; // cases/vectors.json, M16-exp
    let by_name = value("nDCG(dcg='exp-log2')@10", &grades, &ranking);
    assert_within(by_name, expected, 1e-12, "by name");
    let declared = value_with("nDCG@10", Gains::Exponential, &grades, &ranking);
    assert_within(declared, expected, 1e-12, "declared");
}

#[test]
fn m17_the_gain_map_of_esci_is_explicit() {
    // Irrelevant, substitute, exact, complement, in rank order. A published script swaps the gains of substitute and
    // complement, so the map has to be stated to be seen. Expected values: cases/vectors.json, M17-esci.
    let grades = [("i", 0.0), ("c", 1.0), ("s", 2.0), ("e", 3.0)];
    let ranking = ["i", "s", "e", "c"];
    let stated = gain_map(&[(0.0, 0.0), (1.0, 0.01), (2.0, 0.1), (3.0, 1.0)]);
    let swapped_script = [("i", 0.0), ("s", 1.0), ("c", 2.0), ("e", 3.0)];
    let value_of = |gains, grades: &[(&str, f64)]| value_with("nDCG@10", gains, grades, &ranking);
    assert_within(
        value_of(stated.clone(), &grades),
        0.531_226_919_405_732_7,
        1e-12,
        "stated gains",
    );
    assert_within(
        value_of(stated, &swapped_script),
        0.514_353_119_080_625_9,
        1e-12,
        "swapped",
    );
    assert_within(
        value_of(Gains::Linear, &grades),
        0.670_438_945_211_932_3,
        1e-12,
        "3, 2, 1, 0",
    );
}

/// Values of ir-measures 0.4.3 for grades up to 4, to the digits that its providers print.
#[test]
fn ir_measures_agrees() {
    let grades = [
        ("a", 3.0),
        ("b", 0.0),
        ("c", 1.0),
        ("d", 4.0),
        ("e", 2.0),
        ("f", 1.0),
    ];
    let ranking = ["x", "c", "a", "b", "d", "y", "e"];
    let expected = [
        ("ERR@3", 0.16797, 5e-6), // gdeval.pl, top grade 4
        ("ERR@20", 0.26773, 5e-6),
        ("nDCG(dcg='exp-log2')@5", 0.45706, 5e-6),
        ("nDCG@5", 0.477_067_312_120_569_46, 1e-12),
        ("nDCG", 0.563_531_529_619_528_5, 1e-12),
        ("AP@5", 0.353_333_333_333_333_33, 1e-12),
        ("AP", 0.467_619_047_619_047_55, 1e-12),
        ("Rprec", 0.6, 1e-12),
        ("R@100", 0.8, 1e-12),
        ("RBP(p=0.8,rel=2)", 0.262_348_8, 1e-12), // cwl-eval
        ("Judged@3", 2.0 / 3.0, 1e-12),
        ("Judged@10", 0.714_285_714_285_714_3, 1e-12),
    ];
    for (name, expected, tolerance) in expected {
        assert_within(value(name, &grades, &ranking), expected, tolerance, name);
    }
    let all = Measurement {
        depth: std::num::NonZeroU32::MIN,
        ..measurement(&["nDCG@5"])
    };
    let at_depth_one = values(&all, &judgments(&grades), &ranking)[0].unwrap();
    assert_within(
        at_depth_one,
        0.477_067_312_120_569_46,
        1e-12,
        "the depth does not cut",
    );
}
