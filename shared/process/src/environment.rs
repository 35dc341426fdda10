//! The process environment, read here and nowhere else.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// Returns the user's folder for files that can be made again: `$XDG_CACHE_HOME/evalfarm`, else
/// `$HOME/.cache/evalfarm`, else nothing.
///
/// Source: XDG Base Directory Specification 0.8; a relative `XDG_CACHE_HOME` is ignored, as it asks.
pub fn cache_folder() -> Option<PathBuf> {
    let absolute = |name: &str| {
        #[expect(
            clippy::disallowed_methods,
            reason = "this module is where the environment is read"
        )]
        let text = std::env::var(name).ok()?;
        let path = PathBuf::from(text);
        path.is_absolute().then_some(path)
    };
    let base =
        absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))?;
    Some(base.join("evalfarm"))
}

/// Returns the environment variables whose names begin with one of `prefixes`, by name. Those that are not Unicode are left
/// out.
pub fn variables(prefixes: &[&str]) -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, _)| prefixes.iter().any(|prefix| name.starts_with(prefix)))
        .collect()
}
