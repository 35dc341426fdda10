//! Ids that differ and still look like one.

use serde::Serialize;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

use crate::Warning;

/// Two different ids that become the same when Unicode form (NFC), case and leading zeros are disregarded.
///
/// Ids are never changed: the pair is only reported, because one of the two was often made by a tool that changed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NearCollision {
    /// The id that comes first bytewise.
    pub first: String,
    /// The other.
    pub second: String,
}

/// Returns neighbouring pairs of ids that look like one, in bytewise order. Equal ids are not reported.
pub fn near_collisions<'a>(ids: impl IntoIterator<Item = &'a str>) -> Vec<NearCollision> {
    let mut keyed: Vec<(String, &str)> = ids.into_iter().map(|id| (look(id), id)).collect();
    keyed.sort_unstable();
    keyed.dedup();
    let pairs = keyed.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    let mut found: Vec<NearCollision> = pairs
        .map(|pair| NearCollision {
            first: pair[0].1.to_owned(),
            second: pair[1].1.to_owned(),
        })
        .collect();
    found.sort_unstable_by(|a, b| (&a.first, &a.second).cmp(&(&b.first, &b.second)));
    found
}

/// Returns a warning for the pairs among `ids`, if there are any.
pub(crate) fn near_collision_warning<'a>(
    what: &str,
    ids: impl IntoIterator<Item = &'a str>,
) -> Option<Warning> {
    let pairs = near_collisions(ids);
    let first = pairs.first()?;
    Some(Warning::NearCollisions {
        what: what.to_owned(),
        count: pairs.len() as u64,
        first: first.first.clone(),
        second: first.second.clone(),
    })
}

fn look(id: &str) -> String {
    let trimmed = id.trim_start_matches('0');
    let normal = if is_nfc_quick(trimmed.chars()) == IsNormalized::Yes {
        trimmed.to_owned()
    } else {
        trimmed.nfc().collect()
    };
    if normal.is_ascii() {
        normal.to_ascii_lowercase()
    } else {
        normal.to_lowercase()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(ids: &[&str]) -> Vec<(String, String)> {
        let found = near_collisions(ids.iter().copied());
        found.into_iter().map(|p| (p.first, p.second)).collect()
    }

    #[test]
    fn p17_composed_and_decomposed_forms_are_reported() {
        let found = pairs(&["caf\u{e9}", "cafe\u{301}", "cafe"]);
        assert_eq!(found, [("cafe\u{301}".to_owned(), "caf\u{e9}".to_owned())]);
    }

    #[test]
    fn p9_ids_without_their_zeros_are_reported() {
        let found = pairs(&["0545010225", "b", "545010225", "b"]);
        assert_eq!(found, [("0545010225".to_owned(), "545010225".to_owned())]);
        assert!(pairs(&["10", "100", "1"]).is_empty());
    }
}
