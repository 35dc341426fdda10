//! An error with everything that caused it, for the one place that prints it.

use std::error::Error;
use std::fmt;

/// Displays an error and its causes, one line each.
///
/// An error's own `Display` says one thing and never repeats its source, so the chain is complete and says nothing
/// twice.
#[derive(Debug)]
pub struct ErrorChain<'a>(pub &'a (dyn Error + 'a));

impl fmt::Display for ErrorChain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut source = self.0.source();
        while let Some(cause) = source {
            write!(f, "\n  caused by: {cause}")?;
            source = cause.source();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("failed to read `a.tsv`")]
    struct Outer(#[source] Inner);

    #[derive(Debug, thiserror::Error)]
    #[error("line 3 has 5 columns")]
    struct Inner;

    #[test]
    fn every_cause_is_said_once() {
        assert_eq!(
            ErrorChain(&Outer(Inner)).to_string(),
            "failed to read `a.tsv`\n  caused by: line 3 has 5 columns"
        );
    }
}
