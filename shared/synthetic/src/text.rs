//! What is written about a product.

use crate::draw::{Draw, Purpose};
use crate::product::{Attribute, Product};
use crate::words::{self, ADJECTIVES, BULLETS, COLOURS, DESCRIPTIONS, LEAD_INS, STORIES};
use crate::world::World;

/// The text of the category field, the same in every document.
pub(crate) const CATEGORY: &str = "Other";

/// Attributes in the order of [`BULLETS`], without parts and brand.
const BULLET_ORDER: [(Attribute, usize); 6] = [
    (Attribute::Colour, 0),
    (Attribute::Material, 1),
    (Attribute::Audience, 3),
    (Attribute::Purpose, 4),
    (Attribute::Size, 5),
    (Attribute::Design, 6),
];
/// Where patterns about parts stand in [`BULLETS`].
const FEATURE_BULLETS: usize = 2;

/// Returns the texts of a product: title, brand, bullet points, description, category.
pub(crate) fn write(world: &World, seed: u64, product: &Product) -> Vec<String> {
    let mut writer = Writer {
        world,
        product,
        draw: Draw::new(seed, Purpose::Text, u64::from(product.number)),
    };
    vec![
        writer.title(),
        capitals(&words::brand_name(product.brand)),
        writer.bullets(),
        writer.description(),
        CATEGORY.to_owned(),
    ]
}

struct Writer<'a> {
    world: &'a World,
    product: &'a Product,
    draw: Draw,
}

impl Writer<'_> {
    fn title(&mut self) -> String {
        let product = self.product;
        let mut parts: Vec<String> = Vec::new();
        let before = [
            Attribute::Brand,
            Attribute::Design,
            Attribute::Colour,
            Attribute::Material,
        ];
        let shown = |attribute: &Attribute| product.in_title.has(*attribute);
        parts.extend(
            before
                .iter()
                .filter(|a| shown(a))
                .map(|&a| product.words(a)),
        );
        if self.draw.chance(220) {
            let adjective = (*self.draw.pick(&ADJECTIVES)).to_owned();
            let place = self.draw.index(parts.len() + 1);
            parts.insert(place, adjective);
        }
        let names = words::kind_name(product.kind);
        let name = if product.other_name {
            names.other
        } else {
            names.usual
        };
        let plural = self.draw.chance(300);
        if !product.nameless {
            parts.push(if plural {
                plural_of(name)
            } else {
                name.to_owned()
            });
        }
        let mut joint = "with";
        for feature in product.feature_numbers().map(Attribute::Feature) {
            if product.in_title.has(feature) {
                parts.push(format!("{joint} {}", product.words(feature)));
                joint = "&";
            }
        }
        if self.draw.chance(90) {
            parts.push(format!("without {}", self.lacking()));
        }
        for attribute in [Attribute::Audience, Attribute::Purpose] {
            if product.in_title.has(attribute) {
                parts.push(format!("for {}", product.words(attribute)));
            }
        }
        if product.in_title.has(Attribute::Size) {
            let size = product.words(Attribute::Size);
            let place = if self.draw.chance(300) {
                0
            } else {
                parts.len()
            };
            parts.insert(place, size);
        }
        if self.draw.chance(150) {
            parts.push(self.model_number());
        }
        // some sellers list what else people might search for
        for _ in 0..[0, 1, 3, 6][self.draw.weighted(&[800, 130, 50, 20])] {
            let pattern = *self.draw.pick(&[
                "{adj} {other}",
                "{tint} {stuff}",
                "{adj} gift for {folk}",
                "{adj}",
                "{adj} {adj}",
            ]);
            parts.push(self.fill(pattern, None));
        }
        capitals(&parts.join(" "))
    }

    fn model_number(&mut self) -> String {
        let letters = b"ABCDEFGHKLMNPRSTVWXZ";
        let first = char::from(*self.draw.pick(letters));
        let second = char::from(*self.draw.pick(letters));
        format!("{first}{second}-{}", 100 + self.draw.below(8_900))
    }

    fn bullets(&mut self) -> String {
        let product = self.product;
        if !product.bulleted {
            return String::new();
        }
        let mut lines: Vec<String> = Vec::new();
        for (attribute, row) in BULLET_ORDER {
            if product.in_bullets.has(attribute) {
                let pattern = *self.draw.pick(&BULLETS[row]);
                lines.push(self.fill(pattern, None));
            }
        }
        for feature in product.feature_numbers() {
            if product.in_bullets.has(Attribute::Feature(feature)) {
                let pattern = *self.draw.pick(&BULLETS[FEATURE_BULLETS]);
                lines.push(self.fill(pattern, Some(feature)));
            }
        }
        if self.draw.chance(200) {
            lines.push(format!("no {}", self.lacking()));
        }
        for _ in 0..=self.draw.below(3) {
            let pattern = *self.draw.pick(&LEAD_INS);
            lines.push(self.fill(pattern, None));
        }
        self.draw.shuffle(&mut lines);
        if product.in_bullets.has(Attribute::Brand) {
            lines.insert(0, format!("{} quality", words::brand_name(product.brand)));
        }
        for line in &mut lines {
            capital(line);
        }
        lines.join(". ")
    }

    fn description(&mut self) -> String {
        let opening = *self.draw.pick(&DESCRIPTIONS);
        let mut sentences = vec![self.fill(opening, None)];
        for _ in 0..=self.draw.below(8) {
            let pattern = *self.draw.pick(&STORIES);
            sentences.push(self.fill(pattern, None));
        }
        for (attribute, row) in BULLET_ORDER {
            if self.draw.chance(250) && self.product.in_bullets.has(attribute) {
                let pattern = *self.draw.pick(&BULLETS[row]);
                sentences.push(self.fill(pattern, None) + ".");
            }
        }
        for sentence in &mut sentences {
            capital(sentence);
        }
        sentences.join(" ")
    }

    /// Fills the slots of a pattern; `feature` is the part that the pattern is about.
    fn fill(&mut self, pattern: &str, feature: Option<u8>) -> String {
        let mut text = String::with_capacity(pattern.len() + 32);
        for (position, piece) in pattern.split(['{', '}']).enumerate() {
            if position % 2 == 0 {
                text.push_str(piece);
            } else {
                self.slot(piece, feature, &mut text);
            }
        }
        text
    }

    fn slot(&mut self, slot: &str, feature: Option<u8>, text: &mut String) {
        let product = self.product;
        let own = match slot {
            "colour" => Attribute::Colour,
            "material" => Attribute::Material,
            "audience" => Attribute::Audience,
            "purpose" => Attribute::Purpose,
            "size" => Attribute::Size,
            "design" => Attribute::Design,
            "brand" => Attribute::Brand,
            "feature" => Attribute::Feature(feature.unwrap_or(0)),
            _ => {
                text.push_str(self.borrowed(slot));
                return;
            }
        };
        text.push_str(&product.words(own));
    }

    /// Draws a word for a slot that is not one of the product's attributes.
    fn borrowed(&mut self, slot: &str) -> &'static str {
        let department = self.product.department();
        let list: &[&'static str] = match slot {
            "kind" => {
                let names = words::kind_name(self.product.kind);
                return if self.draw.chance(200) {
                    names.other
                } else {
                    names.usual
                };
            }
            "other" => return self.world.other_kind_name(&mut self.draw),
            "adj" => &ADJECTIVES,
            "tint" => &COLOURS,
            "stuff" => department.materials,
            "part" => department.features,
            "folk" => department.audiences,
            _ => department.purposes,
        };
        list[self.draw.index(list.len())]
    }

    /// Returns a part that the product does not have.
    fn lacking(&mut self) -> &'static str {
        let product = self.product;
        let lacked: Vec<u8> = (0..)
            .take(product.department().features.len())
            .filter(|&f| !product.has_feature(f))
            .collect();
        product.department().features[usize::from(*self.draw.pick(&lacked))]
    }
}

/// Returns the plural of the last word.
pub(crate) fn plural_of(name: &str) -> String {
    let sibilant = ["s", "x", "ch", "sh"].iter().any(|end| name.ends_with(end));
    let stem = name
        .strip_suffix('y')
        .filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u']));
    match stem {
        _ if name.ends_with('s') => name.to_owned(),
        _ if sibilant => format!("{name}es"),
        Some(stem) => format!("{stem}ies"),
        None => format!("{name}s"),
    }
}

/// Returns the text with a capital at the start of every word.
fn capitals(text: &str) -> String {
    let mut start = true;
    let capital = |letter: char| {
        let written = if start {
            letter.to_ascii_uppercase()
        } else {
            letter
        };
        start = letter == ' ';
        written
    };
    text.chars().map(capital).collect()
}

/// Puts a capital at the start of the text.
fn capital(text: &mut str) {
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_are_english_enough() {
        let pairs = [
            ("belt", "belts"),
            ("lunch box", "lunch boxes"),
            ("couch", "couches"),
            ("leggings", "leggings"),
            ("bird aviary", "bird aviaries"),
            ("floor tray", "floor trays"),
        ];
        for (one, many) in pairs {
            assert_eq!(plural_of(one), many);
        }
    }

    #[test]
    fn patterns_name_only_slots_that_exist() {
        let known = [
            "kind", "colour", "material", "feature", "audience", "purpose", "size", "design",
            "brand", "other", "tint", "stuff", "part", "folk", "job", "adj",
        ];
        let patterns = BULLETS
            .iter()
            .flatten()
            .chain(&LEAD_INS)
            .chain(&STORIES)
            .chain(&DESCRIPTIONS);
        for pattern in patterns {
            assert_eq!(
                pattern.matches('{').count(),
                pattern.matches('}').count(),
                "{pattern}"
            );
            for slot in pattern.split(['{', '}']).skip(1).step_by(2) {
                assert!(known.contains(&slot), "{pattern}");
            }
        }
    }
}
