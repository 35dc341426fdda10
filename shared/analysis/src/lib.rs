//! Text in, the tokens that are indexed and searched out.
