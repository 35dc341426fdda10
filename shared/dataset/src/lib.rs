//! Judged queries and documents: files in, verified typed tables out.
