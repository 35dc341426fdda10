//! Verdicts and tables in, words out.
