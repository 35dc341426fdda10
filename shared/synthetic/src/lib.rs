//! A seeded product catalogue whose complete grades are known.
