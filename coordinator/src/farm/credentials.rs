//! Who may ask for what: tokens, kinds and roles.

use std::fmt;
use std::path::{Path, PathBuf};
use std::{fs, io};

use evalfarm_domain::Digest;
use serde::{Deserialize, Serialize};

/// Longest name of a credential, in characters.
const MAX_NAME: usize = 100;

/// Who stands behind a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A person.
    Human,
    /// A program that a person runs, such as a nightly job.
    Service,
    /// An agent that decides for itself: it may propose and measure, whatever its role says, and never more.
    Automated,
}

/// What a credential allows, each including the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// May read jobs, verdicts and workers.
    Reader,
    /// May also submit jobs and cancel its own.
    Proposer,
    /// May also cancel the jobs of others.
    Operator,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reader => "reader",
            Self::Proposer => "proposer",
            Self::Operator => "operator",
        })
    }
}

/// Who asks: what a job record keeps of its submitter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Actor {
    /// Name of the credential.
    pub name: String,
    /// Who stands behind it.
    pub kind: Kind,
    /// What it allows.
    pub role: Role,
}

impl Actor {
    /// Returns whether this actor may do what needs `role`.
    pub fn may(&self, role: Role) -> bool {
        let most = match self.kind {
            Kind::Human | Kind::Service => Role::Operator,
            Kind::Automated => Role::Proposer,
        };
        self.role.min(most) >= role
    }
}

/// A credentials file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CredentialsError {
    /// The file could not be read.
    #[error("failed to read credentials from `{path}`")]
    Read {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        #[source]
        source: io::Error,
    },
    /// The file is not a list of credentials. Of the parser's message only the place is kept: the text around it may be secret.
    #[error("`{path}`, line {line}: {what}")]
    Parse {
        /// The file.
        path: PathBuf,
        /// One-based line.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// There is no credential, so nobody could ask for anything.
    #[error("`{path}` holds no `[[credential]]`")]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A name is empty, too long, or cannot be shown on one line.
    #[error(
        "`{path}`: the name of credential {number} has to have 1 to {MAX_NAME} visible characters"
    )]
    Name {
        /// The file.
        path: PathBuf,
        /// Its place in the file, from 1.
        number: usize,
    },
    /// The digest is that of no token at all: anybody could ask.
    #[error("`{path}`: credential `{name}` has the digest of an empty token")]
    EmptyToken {
        /// The file.
        path: PathBuf,
        /// Its name.
        name: String,
    },
    /// Two credentials have one name or one token.
    #[error("`{path}`: credential `{name}` has the {what} of an earlier one")]
    Twice {
        /// The file.
        path: PathBuf,
        /// Name of the later one.
        name: String,
        /// `name` or `token`.
        what: &'static str,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    #[serde(default)]
    credential: Vec<RawCredential>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCredential {
    name: String,
    kind: Kind,
    role: Role,
    token_sha256: Digest,
}

/// The credentials that a coordinator accepts. It knows the SHA-256 of each token and never a token.
#[derive(Debug)]
pub struct Credentials(Vec<(Digest, Actor)>);

impl Credentials {
    /// Reads a credentials file: a TOML list of `[[credential]]` with `name`, `kind`, `role` and `token_sha256`.
    pub fn read(path: &Path) -> Result<Self, CredentialsError> {
        let text = fs::read_to_string(path).map_err(|source| CredentialsError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&text, path)
    }

    /// Reads the text of a credentials file; `path` is named in errors.
    pub fn parse(text: &str, path: &Path) -> Result<Self, CredentialsError> {
        let path = || path.to_owned();
        let file: RawFile = toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let before = text.get(..start).unwrap_or_default();
            CredentialsError::Parse {
                path: path(),
                line: before.matches('\n').count() + 1,
                what: "expected `name`, `kind` (human, service or automated), `role` (reader, proposer or operator) and \
                       `token_sha256` (64 hexadecimal digits)"
                    .to_owned(),
            }
        })?;
        let mut known: Vec<(Digest, Actor)> = Vec::new();
        for (number, raw) in (1..).zip(file.credential) {
            let visible = |c: char| !c.is_control();
            let length = raw.name.chars().count();
            if !(1..=MAX_NAME).contains(&length) || !raw.name.chars().all(visible) {
                return Err(CredentialsError::Name {
                    path: path(),
                    number,
                });
            }
            if raw.token_sha256 == Digest::of(b"") {
                return Err(CredentialsError::EmptyToken {
                    path: path(),
                    name: raw.name,
                });
            }
            let twice = |what| CredentialsError::Twice {
                path: path(),
                name: raw.name.clone(),
                what,
            };
            if known.iter().any(|(_, actor)| actor.name == raw.name) {
                return Err(twice("name"));
            }
            if known.iter().any(|(token, _)| *token == raw.token_sha256) {
                return Err(twice("token"));
            }
            let actor = Actor {
                name: raw.name,
                kind: raw.kind,
                role: raw.role,
            };
            known.push((raw.token_sha256, actor));
        }
        if known.is_empty() {
            return Err(CredentialsError::Empty { path: path() });
        }
        Ok(Self(known))
    }

    /// Returns who has this token. Digests of tokens are compared, all of them and every byte, so that the time taken says
    /// nothing about a token.
    pub fn actor(&self, token: &str) -> Option<&Actor> {
        let asked = Digest::of(token.as_bytes());
        let mut found = None;
        for (known, actor) in &self.0 {
            let bytes = known.as_bytes().iter().zip(asked.as_bytes());
            if bytes.fold(0, |differs, (a, b)| differs | (a ^ b)) == 0 {
                found = Some(actor);
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credential(name: &str, kind: &str, role: &str, token: &str) -> String {
        let digest = Digest::of(token.as_bytes());
        format!(
            "[[credential]]\nname = \"{name}\"\nkind = \"{kind}\"\nrole = \"{role}\"\ntoken_sha256 = \"{digest}\"\n"
        )
    }

    fn parse(text: &str) -> Result<Credentials, CredentialsError> {
        Credentials::parse(text, Path::new("credentials.toml"))
    }

    #[test]
    fn a_token_names_its_actor_and_no_other_does() {
        let text = credential("mia", "human", "operator", "secret-1")
            + &credential("nightly", "service", "proposer", "secret-2");
        let credentials = parse(&text).unwrap();
        assert_eq!(credentials.actor("secret-1").unwrap().name, "mia");
        assert_eq!(credentials.actor("secret-2").unwrap().name, "nightly");
        for wrong in ["", "secret", "secret-1 ", "SECRET-1", "secret-3"] {
            assert_eq!(credentials.actor(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_automated_actor_may_propose_and_never_more() {
        let actor = |kind, role| Actor {
            name: "a".to_owned(),
            kind,
            role,
        };
        for kind in [Kind::Human, Kind::Service] {
            assert!(actor(kind, Role::Operator).may(Role::Operator));
            assert!(actor(kind, Role::Reader).may(Role::Reader));
            assert!(!actor(kind, Role::Reader).may(Role::Proposer));
            assert!(!actor(kind, Role::Proposer).may(Role::Operator));
        }
        assert!(actor(Kind::Automated, Role::Operator).may(Role::Proposer));
        assert!(!actor(Kind::Automated, Role::Operator).may(Role::Operator));
        assert!(!actor(Kind::Automated, Role::Reader).may(Role::Proposer));
    }

    #[test]
    fn a_file_that_cannot_be_meant_is_refused_without_its_secrets() {
        let one = credential("mia", "human", "operator", "secret-1");
        assert!(matches!(parse(""), Err(CredentialsError::Empty { .. })));
        let same_name = one.clone() + &credential("mia", "human", "reader", "secret-2");
        let same_token = one.clone() + &credential("tom", "human", "reader", "secret-1");
        let twice = |text: &str| match parse(text) {
            Err(CredentialsError::Twice { what, .. }) => what,
            other => panic!("{other:?}"),
        };
        assert_eq!(twice(&same_name), "name");
        assert_eq!(twice(&same_token), "token");
        let plain = one.clone() + "token = \"secret-9\"\n";
        let error = parse(&plain).unwrap_err().to_string();
        assert!(error.starts_with("`credentials.toml`, line"), "{error}");
        assert!(!error.contains("secret-9"), "{error}");
        let nobody = credential("mia", "human", "operator", "");
        assert!(matches!(
            parse(&nobody),
            Err(CredentialsError::EmptyToken { .. })
        ));
        for name in ["", "a\\nb", &"x".repeat(101)] {
            let named = credential(name, "human", "operator", "secret-1");
            let error = parse(&named).unwrap_err();
            assert!(
                matches!(error, CredentialsError::Name { number: 1, .. }),
                "{error:?}"
            );
        }
        let short = one.replace("human", "robot");
        assert!(matches!(
            parse(&short),
            Err(CredentialsError::Parse { line: 3, .. })
        ));
    }
}
