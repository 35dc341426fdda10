//! `evalfarm evaluate`.

mod parsing;
mod reference;
mod values;
