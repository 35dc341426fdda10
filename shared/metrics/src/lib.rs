//! A ranking and its judgments in, metric values out.
