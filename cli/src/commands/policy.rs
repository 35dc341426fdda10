//! Gate policies as the user writes them.

use std::fs;
use std::path::Path;

use evalfarm_gate::RawGatePolicy;

use crate::failure::Failure;

/// Reads a policy file.
pub(crate) fn read_policy(path: &Path) -> Result<RawGatePolicy, Failure> {
    let shown = path.display();
    let text = fs::read_to_string(path).map_err(|error| {
        Failure::input(format!("failed to read the policy `{shown}`: {error}"))
            .with_hint("a policy is a TOML file, see docs/policy.md")
    })?;
    toml::from_str(&text)
        .map_err(|error| Failure::input(format!("`{shown}` is not a gate policy: {error}")))
}
