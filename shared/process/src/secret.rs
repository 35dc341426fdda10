//! Text that is never written anywhere.

use std::fmt;

/// An address that may hold a password.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes in a secret.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text, for whoever needs it to connect.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether there is a password in the address.
    pub fn has_password(&self) -> bool {
        let user = self.0.rsplit_once('@').map(|(before, _)| before);
        let user = user.map(|before| before.split_once("://").map_or(before, |(_, user)| user));
        user.is_some_and(|user| user.contains(':'))
    }
}

impl fmt::Display for Secret {
    /// Writes the address without user and password, and without a query, which may hold more.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = self.0.split(['?', '#']).next().unwrap_or_default();
        let Some((scheme, rest)) = address.split_once("://") else {
            return f.write_str("***");
        };
        match rest.rsplit_once('@') {
            Some((_, host)) => write!(f, "{scheme}://***@{host}"),
            None => write!(f, "{scheme}://{rest}"),
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_shown() {
        let secret = Secret::new("amqp://farm:pa@ss@host:5672/%2f?token=hidden");
        assert!(secret.has_password());
        assert_eq!(secret.to_string(), "amqp://***@host:5672/%2f");
        assert_eq!(format!("{secret:?}"), "amqp://***@host:5672/%2f");
        assert_eq!(Secret::new("not-an-address").to_string(), "***");
        for plain in ["redis://host:6379/1", "amqp://guest@host"] {
            assert!(!Secret::new(plain).has_password(), "{plain}");
        }
    }
}
