//! A query in, rankings of many candidates out.
