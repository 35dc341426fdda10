//! `evalfarm dataset`.

mod import;
mod split;
mod stored;
