//! Enums as numbers. Append-only: a tag is never given to another variant, and 0 is never given at all.

use evalfarm_domain::Fold;

use crate::{Commit, Fate, Malformed, Newer, TaskFailureKind, Unreadable};

macro_rules! tags {
    ($write:ident, $read:ident, $type:ident, $field:literal, $($tag:literal = $variant:ident),+) => {
        pub(crate) fn $write(value: $type) -> u16 {
            match value {
                $($type::$variant => $tag,)+
            }
        }

        pub(crate) fn $read(tag: u16) -> Result<$type, Unreadable> {
            match tag {
                0 => Err(Malformed::Zero { field: $field }.into()),
                $($tag => Ok($type::$variant),)+
                tag => Err(Newer::Tag { field: $field, tag }.into()),
            }
        }
    };
}

tags!(
    fold_tag,
    fold,
    Fold,
    "fold",
    1 = Train,
    2 = Holdout,
    3 = All
);
tags!(
    commit_tag,
    commit,
    Commit,
    "commit",
    1 = First,
    2 = Identical,
    3 = Different
);
tags!(
    failure_tag,
    failure,
    TaskFailureKind,
    "failure kind",
    1 = Retryable,
    2 = Permanent,
    3 = Infrastructure,
    4 = Panic,
    5 = Deadline,
    6 = Conflict
);
tags!(fate_tag, fate, Fate, "fate", 1 = Retried, 2 = Dead);
