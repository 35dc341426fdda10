//! The command as its user meets it: values, verdicts, refusals, files left behind, and the words for all of these.

mod compare;
mod dataset;
mod evaluate;
mod farm;
mod help;
mod hostile;
mod support;
mod sweep_files;
