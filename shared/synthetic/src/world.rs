//! What is frequent in a catalogue: kinds of product, brands of a department, parts of a kind.

use crate::draw::{Draw, Purpose, Zipf};
use crate::words::{self, BRAND_NAMES, COLOURS, DESIGNS, KindName, SIZES};

/// Parts that a department knows.
pub(crate) const FEATURES: usize = 12;
/// Brands that sell in a department.
const BRANDS_PER_DEPARTMENT: usize = 90;
/// Most brands of a catalogue.
const MOST_BRANDS: usize = 600;
/// Products for each brand, so that a brand is as rare in a small catalogue as in the usual one.
const PRODUCTS_PER_BRAND: u32 = 33;

/// Products for each kind in use, so that small catalogues are about as crowded as the usual one.
const PRODUCTS_PER_KIND: u32 = 125;
/// Fewest kinds in use.
const FEWEST_KINDS: usize = 8;

/// The frequencies of a seed.
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
    /// Returns the frequencies of a seed for a catalogue of that many products.
    pub(crate) fn new(seed: u64, products: u32) -> Self {
        let mut draw = Draw::new(seed, Purpose::World, 0);
        let kind_count = words::kind_count();
        let mut kinds: Vec<u16> = (0..).take(kind_count).collect();
        draw.shuffle(&mut kinds);
        let in_use = (products / PRODUCTS_PER_KIND) as usize;
        kinds.truncate(in_use.max(FEWEST_KINDS));
        let mut all_brands: Vec<u16> = (0..BRAND_NAMES).collect();
        draw.shuffle(&mut all_brands);
        let brand_count = (products / PRODUCTS_PER_BRAND) as usize;
        let mut chosen = all_brands;
        chosen.truncate(brand_count.clamp(BRANDS_PER_DEPARTMENT, MOST_BRANDS));
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
            kind_law: Zipf::new(kinds.len(), 25),
            kinds,
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
