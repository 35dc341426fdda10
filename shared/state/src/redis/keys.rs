//! Names of keys: `PREFIX:{WHAT}:PART`, where the braces are Redis's hash tag.

use std::fmt::Write as _;

use evalfarm_domain::{EngineName, JobId};

/// Names the keys of one farm.
#[derive(Debug, Clone)]
pub(super) struct Keys {
    prefix: String,
}

impl Keys {
    pub(super) fn new(prefix: &str) -> Self {
        let prefix = escaped(prefix);
        Self { prefix }
    }

    pub(super) fn job(&self, job: &JobId, part: &str) -> String {
        format!("{}:{{job.{}}}:{part}", self.prefix, escaped(job.as_str()))
    }

    pub(super) fn engine(&self, engine: &EngineName, part: &str) -> String {
        format!(
            "{}:{{engine.{}}}:{part}",
            self.prefix,
            escaped(engine.as_str())
        )
    }

    pub(super) fn workers(&self) -> String {
        format!("{}:{{workers}}", self.prefix)
    }
}

/// Ids are opaque: one with a brace or a colon must not end in another's key.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"._-@".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            write!(escaped, "%{byte:02x}").expect("a string takes what is written");
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_cannot_reach_into_each_other() {
        let keys = Keys::new("farm");
        let job = |text: &str| JobId::try_from(text).unwrap();
        assert_eq!(keys.job(&job("j1"), "ends"), "farm:{job.j1}:ends");
        assert_eq!(
            keys.job(&job("a}:b é"), "ends"),
            "farm:{job.a%7d%3ab%20%c3%a9}:ends"
        );
    }
}
