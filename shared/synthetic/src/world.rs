//! What is frequent in a catalogue: kinds of product, brands of a department, parts of a kind.

use crate::draw::{Draw, Purpose, Zipf};
use crate::words::{self, BRAND_NAMES, COLOURS, DESIGNS, KindName, SIZES};

/// Parts that a department knows.
pub(crate) const FEATURES: usize = 12;
/// Brands that sell in a department.
const BRANDS_PER_DEPARTMENT: usize = 90;
/// Brands of the whole catalogue.
const BRANDS: u16 = 600;

/// The frequencies of a seed. They do not depend on the size of the catalogue.
#[derive(Debug)]
pub(crate) struct World {
    kinds: Vec<u16>,
    kind_law: Zipf,
    brands: Vec<Vec<u16>>,
    brand_law: Zipf,
    features: Vec<[u8; FEATURES]>,
    feature_law: Zipf,
    colour_law: Zipf,
    size_law: Zipf,
    design_law: Zipf,
}

impl World {
    /// Returns the frequencies of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        let mut draw = Draw::new(seed, Purpose::World, 0);
        let kind_count = words::kind_count();
        let mut kinds: Vec<u16> = (0..).take(kind_count).collect();
        draw.shuffle(&mut kinds);
        let mut all_brands: Vec<u16> = (0..BRAND_NAMES).collect();
        draw.shuffle(&mut all_brands);
        let mut chosen: Vec<u16> = all_brands.into_iter().take(usize::from(BRANDS)).collect();
        let brands = (0..words::department_count())
            .map(|_| {
                draw.shuffle(&mut chosen);
                chosen.iter().copied().take(BRANDS_PER_DEPARTMENT).collect()
            })
            .collect();
        let features = (0..kind_count)
            .map(|_| {
                let mut order = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
                draw.shuffle(&mut order);
                order
            })
            .collect();
        Self {
            kinds,
            kind_law: Zipf::new(kind_count, 25),
            brands,
            brand_law: Zipf::new(BRANDS_PER_DEPARTMENT, 6),
            features,
            feature_law: Zipf::new(FEATURES, 2),
            colour_law: Zipf::new(COLOURS.len(), 2),
            size_law: Zipf::new(SIZES, 2),
            design_law: Zipf::new(DESIGNS.len(), 5),
        }
    }

    /// Draws a kind of product.
    pub(crate) fn kind(&self, draw: &mut Draw) -> u16 {
        self.kinds[self.kind_law.draw(draw)]
    }

    /// Draws the name of a kind as it is written here and there.
    pub(crate) fn other_kind_name(&self, draw: &mut Draw) -> &'static str {
        let KindName { usual, other } = words::kind_name(self.kind(draw));
        if draw.chance(150) { other } else { usual }
    }

    /// Draws a brand that sells products of a kind.
    pub(crate) fn brand(&self, kind: u16, draw: &mut Draw) -> u16 {
        self.brands[words::department_number(kind)][self.brand_law.draw(draw)]
    }

    /// Draws a part that products of a kind have, frequent ones more often.
    pub(crate) fn feature(&self, kind: u16, draw: &mut Draw) -> u8 {
        self.features[usize::from(kind)][self.feature_law.draw(draw)]
    }

    /// Draws a colour.
    pub(crate) fn colour(&self, draw: &mut Draw) -> u8 {
        small(self.colour_law.draw(draw))
    }

    /// Draws a design.
    pub(crate) fn design(&self, draw: &mut Draw) -> u8 {
        small(self.design_law.draw(draw))
    }

    /// Draws a size.
    pub(crate) fn size(&self, draw: &mut Draw) -> u8 {
        small(self.size_law.draw(draw))
    }

    /// Draws a position in a list of words whose first are the most frequent.
    pub(crate) fn word(draw: &mut Draw, len: usize) -> u8 {
        // the smaller of two: falls linearly, which is near enough to 1/n for lists of six to nine
        small(draw.index(len).min(draw.index(len)))
    }
}

/// Returns a position in a word list as it is stored.
fn small(position: usize) -> u8 {
    u8::try_from(position).expect("every word list is shorter than 256")
}
