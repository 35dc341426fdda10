//! Departments, the kinds of product in them, and the attributes that their products can have.

use super::home::HOME;
use super::leisure::LEISURE;
use super::sizes::SizeSystem;

/// What a kind of product is called, and what other people call it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KindName {
    /// The usual name.
    pub(crate) usual: &'static str,
    /// Another name with no word in common where English has one, otherwise the usual name.
    pub(crate) other: &'static str,
}

/// A department: products in it share a vocabulary.
#[derive(Debug)]
pub(crate) struct Department {
    /// The name, a value of the query column `department`.
    pub(crate) name: &'static str,
    /// Kinds of product as (usual name, other name).
    pub(crate) kinds: &'static [(&'static str, &'static str)],
    /// What products are made of, most frequent first.
    pub(crate) materials: &'static [&'static str],
    /// Parts that a product has or lacks.
    pub(crate) features: &'static [&'static str; 12],
    /// What products are for, most frequent first.
    pub(crate) purposes: &'static [&'static str],
    /// Whom products are for, most frequent first.
    pub(crate) audiences: &'static [&'static str],
    /// How sizes are written.
    pub(crate) sizes: SizeSystem,
}

/// Kinds in every department: a kind's number divided by this is its department's number.
const KINDS_PER_DEPARTMENT: usize = 14;

/// Returns the number of kinds of product.
pub(crate) fn kind_count() -> usize {
    department_count() * KINDS_PER_DEPARTMENT
}

/// Returns the number of departments.
pub(crate) fn department_count() -> usize {
    HOME.len() + LEISURE.len()
}

/// Returns the number of a kind's department.
pub(crate) fn department_number(kind: u16) -> usize {
    usize::from(kind) / KINDS_PER_DEPARTMENT
}

/// Returns the department of a kind.
pub(crate) fn department(kind: u16) -> &'static Department {
    let number = department_number(kind);
    HOME.get(number)
        .unwrap_or_else(|| &LEISURE[number - HOME.len()])
}

/// Returns the names of a kind.
pub(crate) fn kind_name(kind: u16) -> KindName {
    let (usual, other) = department(kind).kinds[usize::from(kind) % KINDS_PER_DEPARTMENT];
    KindName {
        usual,
        other: if other.is_empty() { usual } else { other },
    }
}

/// Colours, most frequent first.
pub(crate) const COLOURS: [&str; 24] = [
    "black",
    "white",
    "blue",
    "grey",
    "red",
    "green",
    "brown",
    "pink",
    "silver",
    "navy",
    "beige",
    "purple",
    "gold",
    "yellow",
    "orange",
    "teal",
    "burgundy",
    "turquoise",
    "ivory",
    "charcoal",
    "olive",
    "lavender",
    "copper",
    "coral",
];

/// Designs, most frequent first: the attribute that tells most products of a kind apart.
pub(crate) const DESIGNS: [&str; 40] = [
    "floral",
    "striped",
    "plaid",
    "camo",
    "geometric",
    "solid",
    "polka dot",
    "paisley",
    "tie dye",
    "leopard",
    "checkered",
    "chevron",
    "dinosaur",
    "unicorn",
    "nautical",
    "boho",
    "galaxy",
    "marbled",
    "herringbone",
    "tropical",
    "farmhouse",
    "skull",
    "butterfly",
    "mandala",
    "argyle",
    "cactus",
    "damask",
    "zebra",
    "mushroom",
    "patchwork",
    "lighthouse",
    "gingham",
    "origami",
    "sunflower",
    "honeycomb",
    "ombre",
    "toile",
    "houndstooth",
    "flamingo",
    "celestial",
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_department_has_the_same_number_of_kinds() {
        for department in HOME.iter().chain(&LEISURE) {
            assert_eq!(
                department.kinds.len(),
                KINDS_PER_DEPARTMENT,
                "{}",
                department.name
            );
        }
    }

    #[test]
    fn no_two_kinds_share_a_name() {
        let names: BTreeSet<_> = (0..kind_count())
            .map(|kind| kind_name(u16::try_from(kind).unwrap()).usual)
            .collect();
        assert_eq!(names.len(), kind_count());
    }

    #[test]
    fn all_words_are_lower_case_ascii() {
        for department in HOME.iter().chain(&LEISURE) {
            let kinds = department.kinds.iter().flat_map(|&(a, b)| [a, b]);
            let words = kinds
                .chain(department.materials.iter().copied())
                .chain(department.features.iter().copied())
                .chain(department.purposes.iter().copied())
                .chain(department.audiences.iter().copied());
            for word in words {
                let plain = |b: u8| b.is_ascii_lowercase() || b == b' ';
                assert!(word.bytes().all(plain), "{word}");
            }
        }
    }
}
