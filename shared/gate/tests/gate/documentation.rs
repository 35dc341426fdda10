//! What is documented of policies is what the gate does; set `EVALFARM_ACCEPT=1` to write the generated parts anew.

use std::env;
use std::fs;
use std::path::PathBuf;

use evalfarm_gate::{GatePolicy, RawGatePolicy, policy_schema, policy_table};

fn docs(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../docs")
        .join(name)
}

const BEFORE: &str = "`cargo test -p evalfarm-gate` compares. -->\n";
const AFTER: &str = "## The order of decision";

#[test]
fn the_schema_is_current() {
    let path = docs("policy.schema.json");
    let expected = serde_json::to_string_pretty(&policy_schema()).unwrap() + "\n";
    if env::var_os("EVALFARM_ACCEPT").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), expected);
}

#[test]
fn the_table_of_keys_is_current() {
    let path = docs("policy.md");
    let text = fs::read_to_string(&path).unwrap();
    let (head, rest) = text.split_once(BEFORE).unwrap();
    let (_, tail) = rest.split_once(AFTER).unwrap();
    let expected = format!("{head}{BEFORE}\n{}\n{AFTER}{tail}", policy_table());
    if env::var_os("EVALFARM_ACCEPT").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), expected);
}

#[test]
fn the_schema_knows_every_key_and_no_other() {
    let schema = policy_schema();
    let known: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    let form = serde_json::to_value(RawGatePolicy::default()).unwrap();
    for key in form.as_object().unwrap().keys() {
        assert!(known.contains(&key), "the schema lacks `{key}`");
    }
    assert_eq!(known.len(), form.as_object().unwrap().len());
}

#[test]
fn the_example_of_the_documentation_is_a_policy() {
    let text = fs::read_to_string(docs("policy.md")).unwrap();
    let (_, rest) = text.split_once("```toml\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    let policy = GatePolicy::try_from(toml::from_str::<RawGatePolicy>(example).unwrap()).unwrap();
    assert_eq!(policy.slices().len(), 2);
}

/// Policy files of this release. They stay as they are, and have to mean the same in every later one.
#[test]
fn stored_policies_mean_what_they_meant() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/policies");
    let mut seen = 0;
    let mut paths: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "toml")
        })
        .collect();
    paths.sort();
    for path in paths {
        let raw: RawGatePolicy = toml::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let meant = serde_json::to_value(GatePolicy::try_from(raw).unwrap()).unwrap();
        let expected = path.with_extension("json");
        if env::var_os("EVALFARM_ACCEPT").is_some() && !expected.try_exists().unwrap() {
            fs::write(
                &expected,
                serde_json::to_string_pretty(&meant).unwrap() + "\n",
            )
            .unwrap();
        }
        let expected: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(&expected).unwrap()).unwrap();
        // Keys that came later are allowed beside those that were there.
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(&meant[key], value, "`{key}` of {}", path.display());
        }
        seen += 1;
    }
    assert!(seen >= 3, "the stored policies are gone");
}
