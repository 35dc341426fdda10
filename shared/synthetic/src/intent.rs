//! What people are after, and the grade of every product for it.

use crate::draw::Draw;
use crate::product::{Attribute, Product};
use crate::words;

/// What a query must not get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unwanted {
    /// A part, by number in its department.
    Feature(u8),
    /// A material, by position in its department.
    Material(u8),
}

/// What a group of queries is after: products of a kind like one of them, the target, in some attributes.
#[derive(Debug, Clone)]
pub(crate) struct Intent {
    /// The product that the asker has in mind; it meets everything wanted.
    pub(crate) target: Product,
    /// Whether the kind is asked for; if not, the brand is, and another kind of the same brand will do.
    pub(crate) names_kind: bool,
    /// Attributes in which a product should agree with the target; at most four.
    pub(crate) wanted: Vec<Attribute>,
    /// What a product must not have; the target does not.
    pub(crate) unwanted: Option<Unwanted>,
}

/// How often each attribute is asked for, in the order colour, material, part, audience, purpose, size, design,
/// brand.
const ASKED: [u32; 8] = [22, 22, 22, 8, 12, 6, 34, 30];

impl Intent {
    /// Draws an intent that the target satisfies.
    pub(crate) fn draw(target: Product, draw: &mut Draw) -> Self {
        let mut asked = ASKED;
        let mut wanted = Vec::new();
        // people who type a size mean it: one in six does
        if draw.chance(165) {
            wanted.push(Attribute::Size);
            asked[5] = 0;
        }
        let unwanted = draw.chance(150).then(|| draw_unwanted(&target, draw));
        if matches!(unwanted, Some(Unwanted::Material(_))) {
            asked[1] = 0;
        }
        let features: Vec<u8> = target.feature_numbers().collect();
        let more = draw.weighted(&[15, 130, 415, 440]);
        while wanted.len() < more {
            let place = draw.weighted(&asked);
            let attribute = match place {
                0 => Attribute::Colour,
                1 => Attribute::Material,
                2 => Attribute::Feature(*draw.pick(&features)),
                3 => Attribute::Audience,
                4 => Attribute::Purpose,
                5 => Attribute::Size,
                6 => Attribute::Design,
                _ => Attribute::Brand,
            };
            // people mostly ask for what titles tell them
            if target.in_title.has(attribute) || draw.chance(120) {
                asked[place] = 0;
                wanted.push(attribute);
            }
        }
        let names_kind = !wanted.contains(&Attribute::Brand)
            || unwanted.is_some()
            || wanted.len() < 2
            || draw.chance(700);
        Self {
            target,
            names_kind,
            wanted,
            unwanted,
        }
    }

    /// Returns the grade of a product, 0 to 3.
    ///
    /// 0 for another kind or with what is unwanted; otherwise 3 with everything wanted, 2 when one of several wanted
    /// attributes differs, 1 when the only one differs or two of three or more do, and 0 below that.
    pub(crate) fn grade(&self, product: &Product) -> u8 {
        if !self.is_near(product) || self.is_spoilt(product) {
            return 0;
        }
        let wanted = self.wanted.len();
        let missing = self
            .wanted
            .iter()
            .filter(|&&attribute| !product.agrees(&self.target, attribute))
            .count();
        match missing {
            0 => 3,
            1 if wanted >= 2 => 2,
            1 => 1,
            2 if wanted >= 3 => 1,
            _ => 0,
        }
    }

    /// Whether the product is of the kind asked for, or of the brand when no kind was named.
    fn is_near(&self, product: &Product) -> bool {
        if self.names_kind {
            product.kind == self.target.kind
        } else {
            product.brand == self.target.brand && same_department(product.kind, self.target.kind)
        }
    }

    fn is_spoilt(&self, product: &Product) -> bool {
        match self.unwanted {
            Some(Unwanted::Feature(feature)) => product.has_feature(feature),
            Some(Unwanted::Material(material)) => product.material == material,
            None => false,
        }
    }

    /// Returns the words for what is unwanted.
    pub(crate) fn unwanted_words(&self) -> Option<&'static str> {
        let department = words::department(self.target.kind);
        self.unwanted.map(|unwanted| match unwanted {
            Unwanted::Feature(feature) => department.features[usize::from(feature)],
            Unwanted::Material(material) => department.materials[usize::from(material)],
        })
    }
}

/// Whether two kinds are in one department; attribute positions mean the same words only there.
fn same_department(one: u16, other: u16) -> bool {
    words::department_number(one) == words::department_number(other)
}

/// Draws something that the target does not have: mostly a part, sometimes a material.
fn draw_unwanted(target: &Product, draw: &mut Draw) -> Unwanted {
    let department = target.department();
    if draw.chance(250) {
        let others: Vec<u8> = (0..)
            .take(department.materials.len())
            .filter(|&material| material != target.material)
            .collect();
        Unwanted::Material(*draw.pick(&others))
    } else {
        let lacked: Vec<u8> = (0..)
            .take(department.features.len())
            .filter(|&feature| !target.has_feature(feature))
            .collect();
        Unwanted::Feature(*draw.pick(&lacked))
    }
}
