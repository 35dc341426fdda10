//! What the generated catalogue promises, seen from outside.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests are not seen as tests by clippy"
)]

mod measured;

use std::collections::BTreeMap;

use evalfarm_domain::{Digest, Grade};
use evalfarm_synthetic::{CatalogueSpec, FIELDS, Generated, RECIPE, SpecError, generate};
use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest};

fn catalogue(seed: u64, products: u32, queries: u32) -> Generated {
    generate(&CatalogueSpec::new(seed, products, queries).unwrap())
}

/// Returns a digest of everything in a catalogue.
fn digest(generated: &Generated) -> Digest {
    let mut parts: Vec<String> = Vec::new();
    for document in &generated.corpus.documents {
        parts.push(document.id.to_string());
        parts.extend(document.fields.iter().cloned());
    }
    for (position, query) in generated.queries.iter().enumerate() {
        parts.push(format!("{query:?}"));
        for (row, grade) in generated.truth.relevant(position) {
            parts.push(format!("{row} {grade}"));
        }
        let judged = generated.judgments.query(query.id.as_str()).unwrap();
        parts.extend(judged.iter().map(|(id, grade)| format!("{id} {grade}")));
    }
    Digest::of_parts(parts.iter().map(String::as_bytes))
}

/// Checks what holds for a catalogue of any size.
fn check(generated: &Generated) {
    let documents = &generated.corpus.documents;
    assert!(documents.windows(2).all(|pair| pair[0].id < pair[1].id));
    assert!(
        documents
            .iter()
            .all(|document| document.fields.len() == FIELDS.len())
    );
    let queries = &generated.queries;
    assert!(queries.windows(2).all(|pair| pair[0].id < pair[1].id));
    assert_eq!(generated.judgments.len(), queries.len());
    let rows: BTreeMap<&str, usize> = documents.iter().map(|d| d.id.as_str()).zip(0..).collect();
    for (position, query) in queries.iter().enumerate() {
        assert!(!query.text.trim().is_empty());
        assert!(query.weight > 0.0 && query.weight.is_finite());
        let judged = generated.judgments.query(query.id.as_str()).unwrap();
        assert!(
            judged.iter().any(|(_, grade)| grade >= Grade::RELEVANT),
            "{}",
            query.text
        );
        for (document, grade) in judged.iter() {
            assert_eq!(
                generated.truth.grade(position, rows[document.as_str()]),
                grade
            );
        }
    }
}

#[test]
fn the_bytes_of_a_tiny_catalogue_are_pinned() {
    // Recorded from this code: whoever changes it raises RECIPE and records the new digest.
    assert_eq!(RECIPE, 2);
    assert_eq!(
        digest(&catalogue(20_260_816, 50, 10)).to_string(),
        "6b18e84ac66dfb7eecffe410d8e02268a4ed2628b2fcdff3d0f2c04abb7621b6"
    );
}

#[test]
fn seeds_and_sizes_give_different_catalogues_and_repeats_the_same() {
    let one = catalogue(1, 300, 50);
    assert_eq!(one, catalogue(1, 300, 50));
    assert_ne!(digest(&one), digest(&catalogue(2, 300, 50)));
    assert_ne!(digest(&one), digest(&catalogue(1, 301, 50)));
}

#[test]
fn impossible_sizes_are_refused() {
    assert_eq!(
        CatalogueSpec::new(1, 49, 10),
        Err(SpecError::Products { products: 49 })
    );
    assert_eq!(
        CatalogueSpec::new(1, 1_000_001, 10),
        Err(SpecError::Products {
            products: 1_000_001
        })
    );
    assert_eq!(
        CatalogueSpec::new(1, 50, 0),
        Err(SpecError::Queries { queries: 0 })
    );
    let spec = CatalogueSpec::new(1, 50, 10).unwrap();
    assert_eq!(
        spec.with_clustered_percent(101),
        Err(SpecError::Clustered { percent: 101 })
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_size_and_seed_keeps_the_promises(seed in proptest::num::u64::ANY, products in 50_u32..800, queries in 1_u32..80) {
        let generated = catalogue(seed, products, queries);
        check(&generated);
        prop_assert_eq!(generated.corpus.documents.len(), products as usize);
        prop_assert_eq!(generated.queries.len(), queries as usize);
        prop_assert!(generated.truth.relevant_pairs() >= queries as usize);
    }
}

#[test]
fn judgments_are_sparse_and_of_four_grades() {
    let generated = catalogue(5, 5_000, 2_000);
    check(&generated);
    let mut counts = [0_usize; 4];
    for (_, judged) in generated.judgments.iter() {
        for (_, grade) in judged.iter() {
            counts[grade.to_string().parse::<usize>().unwrap()] += 1;
        }
    }
    assert!(counts.iter().all(|&count| count > 100), "{counts:?}");
    // the third document: 1.68 relevant judgments a query
    let relevant = counts[1..].iter().sum::<usize>() as f64 / 2_000.0;
    assert!((1.4..=2.0).contains(&relevant), "{relevant}");
    assert!(generated.truth.relevant_pairs() > 10 * counts[1..].iter().sum::<usize>());
}

#[test]
fn codes_look_like_product_codes_and_the_category_is_dead() {
    let generated = catalogue(5, 2_000, 10);
    let names: Vec<&str> = generated
        .corpus
        .fields
        .iter()
        .map(evalfarm_domain::FieldName::as_str)
        .collect();
    assert_eq!(names, FIELDS);
    let documents = &generated.corpus.documents;
    assert!(
        documents
            .iter()
            .all(|document| document.id.as_str().len() == 10)
    );
    assert!(
        documents
            .iter()
            .any(|document| document.id.as_str().starts_with('0'))
    );
    assert!(
        documents
            .iter()
            .all(|document| document.fields[4] == "Other")
    );
    assert!(
        documents
            .iter()
            .any(|document| document.fields[2].is_empty())
    );
}

#[test]
fn queries_come_in_families_with_the_noise_of_real_ones() {
    let generated = catalogue(20_260_816, 2_000, 2_000);
    let share = |column: &str, value: &str| {
        let has = |query: &&evalfarm_domain::Query| query.columns[column] == value;
        generated.queries.iter().filter(has).count() as f64 / 2_000.0
    };
    for (family, least, most) in [
        ("plain", 0.30, 0.50),
        ("negation", 0.10, 0.20),
        ("numbers", 0.08, 0.20),
        ("misspelt", 0.10, 0.20),
        ("abbreviated", 0.05, 0.14),
        ("punctuation", 0.05, 0.14),
    ] {
        let found = share("family", family);
        assert!((least..=most).contains(&found), "{family}: {found}");
    }
    for negation in ["without", "not", "no"] {
        assert!(share("negation", negation) > 0.01, "{negation}");
    }
    for start in ["!", "# ", "#1 ", "+", "$"] {
        assert!(
            generated
                .queries
                .iter()
                .any(|query| query.text.starts_with(start)),
            "{start}"
        );
    }
    assert!(
        generated
            .queries
            .iter()
            .any(|query| query.text.contains(" 1/2 "))
    );
}

#[test]
fn clusters_are_paraphrases_and_can_be_switched_off() {
    let generated = catalogue(20_260_816, 2_000, 2_000);
    let mut clusters: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (position, query) in generated.queries.iter().enumerate() {
        if let Some(cluster) = &query.cluster {
            clusters.entry(cluster).or_default().push(position);
        }
    }
    let clustered: usize = clusters.values().map(Vec::len).sum();
    assert!(
        (300..500).contains(&clustered),
        "{clustered} of 2,000 where 20 % are asked for"
    );
    for members in clusters.values() {
        assert!(members.len() > 1);
        // one intent, so one truth
        let truths: Vec<Vec<_>> = members
            .iter()
            .map(|&m| generated.truth.relevant(m).collect())
            .collect();
        assert!(truths.windows(2).all(|pair| pair[0] == pair[1]));
    }
    let spec = CatalogueSpec::new(1, 500, 300).unwrap();
    let plain = generate(&spec.with_clustered_percent(0).unwrap().with_even_traffic());
    assert!(plain.queries.iter().all(|query| query.cluster.is_none()));
    assert!(
        plain
            .queries
            .iter()
            .all(|query| query.weight.to_bits() == 1.0_f64.to_bits())
    );
}

#[test]
fn the_truth_as_judgments_has_the_same_grades() {
    let generated = catalogue(3, 500, 40);
    let judgments = generated
        .truth
        .to_judgments(&generated.corpus, &generated.queries);
    let pairs: usize = judgments.iter().map(|(_, judged)| judged.len()).sum();
    assert_eq!(pairs, generated.truth.relevant_pairs());
    for (position, query) in generated.queries.iter().enumerate() {
        for (row, grade) in generated.truth.relevant(position) {
            let id = generated.corpus.documents[row].id.as_str();
            assert_eq!(
                judgments.query(query.id.as_str()).unwrap().grade(id),
                Some(grade)
            );
            assert!(grade >= Grade::RELEVANT);
        }
    }
    assert_eq!(generated.truth.grade(40, 0), Grade::try_from(0.0).unwrap());
}
