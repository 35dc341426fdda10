//! What products are, before anything is written about them.

use crate::draw::{Draw, Purpose, scramble};
use crate::words::{self, COLOURS, DESIGNS, Department};
use crate::world::World;

/// What a query can ask of a product, apart from its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attribute {
    /// The colour.
    Colour,
    /// What it is made of.
    Material,
    /// A part that it has, by number in its department.
    Feature(u8),
    /// Whom it is for.
    Audience,
    /// What it is for.
    Purpose,
    /// Its size.
    Size,
    /// Its design.
    Design,
    /// Its brand.
    Brand,
}

/// Which attributes a text mentions.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shown {
    plain: u8,
    features: u16,
}

impl Shown {
    /// Whether the attribute is mentioned.
    pub(crate) fn has(self, attribute: Attribute) -> bool {
        match attribute {
            Attribute::Feature(feature) => self.features >> feature & 1 == 1,
            Attribute::Colour => self.plain & 1 != 0,
            Attribute::Material => self.plain & 2 != 0,
            Attribute::Audience => self.plain & 4 != 0,
            Attribute::Purpose => self.plain & 8 != 0,
            Attribute::Size => self.plain & 16 != 0,
            Attribute::Brand => self.plain & 32 != 0,
            Attribute::Design => self.plain & 64 != 0,
        }
    }

    fn add(&mut self, attribute: Attribute) {
        match attribute {
            Attribute::Feature(feature) => self.features |= 1 << feature,
            Attribute::Colour => self.plain |= 1,
            Attribute::Material => self.plain |= 2,
            Attribute::Audience => self.plain |= 4,
            Attribute::Purpose => self.plain |= 8,
            Attribute::Size => self.plain |= 16,
            Attribute::Brand => self.plain |= 32,
            Attribute::Design => self.plain |= 64,
        }
    }
}

/// What a product is, and what its texts will say about it.
#[derive(Debug, Clone)]
pub(crate) struct Product {
    /// Number in the order of generation; names the product's streams.
    pub(crate) number: u32,
    /// Kind of product.
    pub(crate) kind: u16,
    /// Brand.
    pub(crate) brand: u16,
    /// Position in the list of colours.
    pub(crate) colour: u8,
    /// Position in the department's materials.
    pub(crate) material: u8,
    /// Position in the department's purposes.
    pub(crate) purpose: u8,
    /// Position in the department's audiences.
    pub(crate) audience: u8,
    /// Position in the department's sizes.
    pub(crate) size: u8,
    /// Position in the list of designs.
    pub(crate) design: u8,
    /// The parts that it has, a bit each.
    pub(crate) features: u16,
    /// Whether it has bullet points.
    pub(crate) bulleted: bool,
    /// Whether its title leaves out what kind of product it is.
    pub(crate) nameless: bool,
    /// Whether its title calls it by the other name of its kind.
    pub(crate) other_name: bool,
    /// What its title mentions.
    pub(crate) in_title: Shown,
    /// What its bullet points mention.
    pub(crate) in_bullets: Shown,
}

impl Product {
    /// Draws the product of a number.
    pub(crate) fn draw(world: &World, seed: u64, number: u32) -> Self {
        let draw = &mut Draw::new(seed, Purpose::Product, u64::from(number));
        let kind = world.kind(draw);
        let department = words::department(kind);
        let mut product = Self {
            number,
            kind,
            brand: world.brand(kind, draw),
            colour: world.colour(draw),
            material: World::word(draw, department.materials.len()),
            purpose: World::word(draw, department.purposes.len()),
            audience: World::word(draw, department.audiences.len()),
            size: world.size(draw),
            design: world.design(draw),
            features: 0,
            bulleted: true,
            nameless: draw.chance(80),
            other_name: draw.chance(140),
            in_title: Shown::default(),
            in_bullets: Shown::default(),
        };
        for _ in 0..2 + draw.below(3) {
            product.features |= 1 << world.feature(kind, draw);
        }
        product.draw_shown(draw);
        product
    }

    /// Draws what the texts mention: titles the main attributes, bullet points most of all of them.
    fn draw_shown(&mut self, draw: &mut Draw) {
        let plain = [
            (Attribute::Colour, 900, 600),
            (Attribute::Material, 900, 700),
            (Attribute::Audience, 700, 600),
            (Attribute::Purpose, 650, 700),
            (Attribute::Size, 850, 550),
            (Attribute::Design, 950, 650),
            (Attribute::Brand, 500, 250),
        ];
        let title_care = [100, 80, 60][draw.weighted(&[820, 110, 70])];
        // some sellers fill in one bullet point in three, some none at all
        let care = [100, 60, 25, 0][draw.weighted(&[600, 170, 140, 90])];
        self.bulleted = care > 0;
        for (attribute, title, bullets) in plain {
            if draw.chance(title * title_care / 100) {
                self.in_title.add(attribute);
            }
            if draw.chance(bullets * care / 100) {
                self.in_bullets.add(attribute);
            }
        }
        for feature in self.feature_numbers() {
            if draw.chance(700 * title_care / 100) {
                self.in_title.add(Attribute::Feature(feature));
            }
            if draw.chance(800 * care / 100) {
                self.in_bullets.add(Attribute::Feature(feature));
            }
        }
    }

    /// Returns the product's department.
    pub(crate) fn department(&self) -> &'static Department {
        words::department(self.kind)
    }

    /// Returns the parts that it has.
    pub(crate) fn feature_numbers(&self) -> impl Iterator<Item = u8> + use<> {
        let features = self.features;
        (0..16).filter(move |feature| features >> feature & 1 == 1)
    }

    /// Whether it has the part.
    pub(crate) fn has_feature(&self, feature: u8) -> bool {
        self.features >> feature & 1 == 1
    }

    /// Whether this product of the same department agrees with `wanted` in an attribute of the latter.
    pub(crate) fn agrees(&self, wanted: &Self, attribute: Attribute) -> bool {
        match attribute {
            Attribute::Colour => self.colour == wanted.colour,
            Attribute::Material => self.material == wanted.material,
            Attribute::Feature(feature) => self.has_feature(feature),
            Attribute::Audience => self.audience == wanted.audience,
            Attribute::Purpose => self.purpose == wanted.purpose,
            Attribute::Size => self.size == wanted.size,
            Attribute::Design => self.design == wanted.design,
            Attribute::Brand => self.brand == wanted.brand,
        }
    }

    /// Returns the words for an attribute, sizes in full.
    pub(crate) fn words(&self, attribute: Attribute) -> String {
        let department = self.department();
        let word = match attribute {
            Attribute::Colour => COLOURS[usize::from(self.colour)],
            Attribute::Material => department.materials[usize::from(self.material)],
            Attribute::Feature(feature) => department.features[usize::from(feature)],
            Attribute::Audience => department.audiences[usize::from(self.audience)],
            Attribute::Purpose => department.purposes[usize::from(self.purpose)],
            Attribute::Size => department.sizes.written(self.size).0,
            Attribute::Design => DESIGNS[usize::from(self.design)],
            Attribute::Brand => return words::brand_name(self.brand),
        };
        word.to_owned()
    }
}

/// Digits of product codes.
const CODE_DIGITS: &[u8; 36] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Returns the product code of a number: ten characters, different for every number below 2^29.
///
/// One in ten is a nine-digit number after a zero, as book numbers are; the others are `B` and nine digits or letters.
pub(crate) fn product_code(seed: u64, number: u32) -> String {
    let (head, base, mixed) = if number.is_multiple_of(10) {
        // 2^29 < 10^9
        ('0', 10, scramble(u64::from(number), 29, seed))
    } else {
        // 2^46 < 36^9
        ('B', 36, scramble(u64::from(number), 46, seed))
    };
    let mut code = [b'0'; 9];
    let mut left = mixed;
    for place in code.iter_mut().rev() {
        let digit = usize::try_from(left % base).expect("a remainder of 36 is an index");
        *place = CODE_DIGITS[digit];
        left /= base;
    }
    std::iter::once(head)
        .chain(code.into_iter().map(char::from))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn codes_are_unique_and_some_start_with_zeros() {
        let codes: BTreeSet<String> = (0..50_000).map(|number| product_code(3, number)).collect();
        assert_eq!(codes.len(), 50_000);
        assert!(codes.iter().all(|code| code.len() == 10));
        assert!(codes.iter().any(|code| code.starts_with("00")));
    }

    #[test]
    fn mentioned_parts_and_attributes_are_kept_apart() {
        let mut shown = Shown::default();
        shown.add(Attribute::Feature(3));
        shown.add(Attribute::Size);
        assert!(shown.has(Attribute::Feature(3)) && shown.has(Attribute::Size));
        assert!(!shown.has(Attribute::Feature(4)) && !shown.has(Attribute::Audience));
    }
}
