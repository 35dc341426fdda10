//! The crate graph of ARCHITECTURE.md, checked against the manifests.
//!
//! Reading `cargo metadata` rather than a drawing means that a new edge has to be added here, in the
//! same commit, by someone who can say why.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

/// Layer of every crate; a crate may depend only on crates of a lower layer.
const LAYERS: &[(&str, u8)] = &[
    ("evalfarm-analysis", 0),
    ("evalfarm-columnar", 0),
    ("evalfarm-domain", 0),
    ("evalfarm-process", 0),
    ("evalfarm-stats", 0),
    ("evalfarm-telemetry", 0),
    ("evalfarm-dataset", 1),
    ("evalfarm-gate", 1),
    ("evalfarm-metrics", 1),
    ("evalfarm-proto", 1),
    ("evalfarm-results", 1),
    ("evalfarm-retrieval", 1),
    ("evalfarm-state", 1),
    ("evalfarm-synthetic", 1),
    ("evalfarm-broker", 2),
    ("evalfarm-report", 2),
    ("evalfarm-store", 2),
    ("evalfarm-testkit", 3),
    ("evalfarm-coordinator", 4),
    ("evalfarm-worker", 4),
    ("evalfarm-cli", 5),
    ("evalfarm-tests", 6),
];

/// Edges that the layers would allow but the design forbids, each with the sentence it protects.
const FORBIDDEN: &[(&str, &str, &str)] = &[
    (
        "evalfarm-worker",
        "evalfarm-stats",
        "workers measure; only the coordinator judges",
    ),
    (
        "evalfarm-worker",
        "evalfarm-gate",
        "workers measure; only the coordinator judges",
    ),
    (
        "evalfarm-coordinator",
        "evalfarm-retrieval",
        "the coordinator never runs a query",
    ),
    (
        "evalfarm-coordinator",
        "evalfarm-metrics",
        "the coordinator never scores a ranking",
    ),
];

/// Outside crates that only one of our crates may name, so that it can be replaced in one place.
const SOLE_USERS: &[(&str, &str)] = &[
    ("bincode", "evalfarm-proto"),
    ("lapin", "evalfarm-broker"),
    ("redis", "evalfarm-state"),
    ("object_store", "evalfarm-store"),
    ("opentelemetry", "evalfarm-telemetry"),
    ("parquet", "evalfarm-columnar"),
    ("arrow-array", "evalfarm-columnar"),
    ("arrow-schema", "evalfarm-columnar"),
    ("ureq", "evalfarm-cli"),
];

/// Crates that are tested without a runtime.
const PURE: &[&str] = &[
    "evalfarm-domain",
    "evalfarm-stats",
    "evalfarm-metrics",
    "evalfarm-gate",
    "evalfarm-report",
];

fn workspace_edges() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .output()
        .expect("cargo metadata runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON");
    let packages = metadata["packages"].as_array().expect("packages is a list");
    packages
        .iter()
        .map(|package| {
            let name = package["name"]
                .as_str()
                .expect("a package has a name")
                .to_owned();
            let dependencies = package["dependencies"]
                .as_array()
                .expect("dependencies is a list")
                .iter()
                .filter(|dependency| dependency["kind"].is_null())
                .filter_map(|dependency| dependency["name"].as_str())
                .map(str::to_owned)
                .collect();
            (name, dependencies)
        })
        .collect()
}

#[test]
fn every_crate_is_in_the_layer_table() {
    let known: BTreeSet<&str> = LAYERS.iter().map(|(name, _)| *name).collect();
    let found = workspace_edges();
    let missing: Vec<&String> = found
        .keys()
        .filter(|name| !known.contains(name.as_str()))
        .collect();
    assert!(missing.is_empty(), "not in LAYERS: {missing:?}");
}

#[test]
fn dependencies_point_downwards() {
    let layers: BTreeMap<&str, u8> = LAYERS.iter().copied().collect();
    for (from, targets) in workspace_edges() {
        for to in targets.iter().filter(|to| to.starts_with("evalfarm-")) {
            assert!(
                layers[from.as_str()] > layers[to.as_str()],
                "`{from}` must not depend on `{to}`: arrows point to a lower layer"
            );
        }
    }
}

#[test]
fn forbidden_edges_are_absent() {
    let edges = workspace_edges();
    for (from, to, why) in FORBIDDEN {
        assert!(
            !edges[*from].contains(*to),
            "`{from}` depends on `{to}`, but {why}"
        );
    }
}

#[test]
fn replaceable_crates_have_one_user() {
    for (from, targets) in workspace_edges() {
        for (outside, user) in SOLE_USERS {
            assert!(
                from == *user || !targets.contains(*outside),
                "`{from}` names `{outside}`, which belongs to `{user}`"
            );
        }
    }
}

#[test]
fn pure_crates_do_without_a_runtime() {
    let edges = workspace_edges();
    for name in PURE {
        assert!(
            !edges[*name].contains("tokio"),
            "`{name}` is tested without a runtime"
        );
    }
}

#[test]
fn the_worker_is_built_without_anything_that_judges() {
    // Not only the worker's own manifest: whatever its dependencies bring counts too.
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--package", "evalfarm-worker"])
        .args(["--edges", "normal", "--all-features"])
        .args(["--prefix", "none", "--format", "{p}"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .output()
        .expect("cargo tree runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let tree = String::from_utf8(output.stdout).expect("cargo writes UTF-8");
    let names: BTreeSet<&str> = tree
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert!(
        names.contains("evalfarm-retrieval"),
        "not the worker's tree:\n{tree}"
    );
    for judging in ["evalfarm-gate", "evalfarm-stats", "evalfarm-governance"] {
        assert!(
            !names.contains(judging),
            "the worker is built with `{judging}`, but workers measure; only the coordinator judges"
        );
    }
}
