//! How sizes are written: in full in the catalogue, shortened by hurried people.

/// A way of writing sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SizeSystem {
    /// Bed sizes.
    Bed,
    /// Lengths in feet.
    Feet,
    /// Fractions of an inch.
    Fractions,
    /// Garment sizes.
    Garment,
    /// Whole inches.
    Inches,
    /// Lengths in millimetres.
    Millimetres,
    /// Volumes in millilitres.
    Millilitres,
    /// Volumes in ounces.
    Ounces,
    /// Numbers of things in a pack.
    Pack,
    /// Numbers of people.
    Persons,
    /// Numbers of pieces.
    Pieces,
    /// Model years.
    Years,
}

/// Sizes in every system.
pub(crate) const SIZES: usize = 10;

impl SizeSystem {
    /// Returns a size in full and shortened, most frequent size first; `size` is less than [`SIZES`].
    pub(crate) fn written(self, size: u8) -> (&'static str, &'static str) {
        let table = match self {
            Self::Bed => &BED,
            Self::Feet => &FEET,
            Self::Fractions => &FRACTIONS,
            Self::Garment => &GARMENT,
            Self::Inches => &INCHES,
            Self::Millimetres => &MILLIMETRES,
            Self::Millilitres => &MILLILITRES,
            Self::Ounces => &OUNCES,
            Self::Pack => &PACK,
            Self::Persons => &PERSONS,
            Self::Pieces => &PIECES,
            Self::Years => &YEARS,
        };
        table[usize::from(size)]
    }
}

/// Sizes in full and shortened.
type Table = [(&'static str, &'static str); SIZES];

const BED: Table = [
    ("queen size", "queen sz"),
    ("king size", "king sz"),
    ("twin size", "twin sz"),
    ("full size", "full sz"),
    ("twin extra long", "twin xl"),
    ("california king", "cal king"),
    ("crib size", "crib sz"),
    ("standard size", "std size"),
    ("oversized", "os"),
    ("split king", "splt king"),
];
const FEET: Table = [
    ("6 feet", "6 ft"),
    ("4 feet", "4 ft"),
    ("8 feet", "8 ft"),
    ("10 feet", "10 ft"),
    ("3 feet", "3ft"),
    ("2 1/2 feet", "2 1/2 ft"),
    ("12 feet", "12ft"),
    ("50 feet", "50 ft"),
    ("25 feet", "25'"),
    ("7 1/2 feet", "7.5 ft"),
];
const FRACTIONS: Table = [
    ("1/2 inch", "1/2 in"),
    ("1 1/2 inch", "1 1/2"),
    ("3/4 inch", "3/4"),
    ("1/4 inch", "1/4 in"),
    ("1 inch", "1 in"),
    ("3/8 inch", "3/8"),
    ("2 1/2 inch", "2 1/2"),
    ("1 1/4 inch", "1 1/4 in"),
    ("5/8 inch", "5/8"),
    ("7/16 inch", "7/16"),
];
const GARMENT: Table = [
    ("medium", "med"),
    ("large", "lg"),
    ("small", "sm"),
    ("extra large", "xl"),
    ("xx large", "2xl"),
    ("extra small", "xs"),
    ("plus size", "plus"),
    ("one size", "os"),
    ("xxx large", "3xl"),
    ("petite", "pet"),
];
const INCHES: Table = [
    ("24 inch", "24 in"),
    ("36 inch", "36in"),
    ("18 inch", "18 in"),
    ("12 inch", "12 in"),
    ("48 inch", "48in"),
    ("30 inch", "30 in"),
    ("60 inch", "60in"),
    ("72 inch", "72 in"),
    ("15 1/2 inch", "15 1/2 in"),
    ("20 inch", "20\""),
];
const MILLIMETRES: Table = [
    ("10 mm", "10mm"),
    ("6 mm", "6mm"),
    ("15 mm", "15mm"),
    ("8 mm", "8mm"),
    ("12 mm", "12mm"),
    ("20 mm", "20mm"),
    ("25 mm", "25mm"),
    ("50 mm", "50mm"),
    ("3 mm", "3mm"),
    ("100 mm", "100mm"),
];
const MILLILITRES: Table = [
    ("10 ml", "10ml"),
    ("1 ml", "1ml"),
    ("5 ml", "5ml"),
    ("50 ml", "50ml"),
    ("100 ml", "100ml"),
    ("3 ml", "3ml"),
    ("20 ml", "20ml"),
    ("250 ml", "250ml"),
    ("30 ml", "30ml"),
    ("500 ml", "500ml"),
];
const OUNCES: Table = [
    ("16 ounce", "16 oz"),
    ("32 ounce", "32oz"),
    ("12 ounce", "12 oz"),
    ("8 ounce", "8oz"),
    ("64 ounce", "64 oz"),
    ("24 ounce", "24oz"),
    ("20 ounce", "20 oz"),
    ("40 ounce", "40oz"),
    ("10 1/2 ounce", "10.5 oz"),
    ("128 ounce", "128oz"),
];
const PACK: Table = [
    ("2 pack", "2pk"),
    ("12 pack", "12 pk"),
    ("6 pack", "6pk"),
    ("4 pack", "4 pk"),
    ("10 pack", "10pk"),
    ("3 pack", "3pk"),
    ("24 pack", "24 ct"),
    ("50 pack", "50 ct"),
    ("100 pack", "100 ct"),
    ("1 pack", "1pk"),
];
const PERSONS: Table = [
    ("2 person", "2p"),
    ("4 person", "4 pers"),
    ("1 person", "1p"),
    ("6 person", "6 pers"),
    ("3 person", "3p"),
    ("8 person", "8 pers"),
    ("5 person", "5p"),
    ("10 person", "10 pers"),
    ("12 person", "12 pers"),
    ("7 person", "7p"),
];
const PIECES: Table = [
    ("100 piece", "100 pc"),
    ("500 piece", "500pc"),
    ("1000 piece", "1000 pcs"),
    ("50 piece", "50 pc"),
    ("24 piece", "24pc"),
    ("300 piece", "300 pcs"),
    ("12 piece", "12pc"),
    ("2000 piece", "2000 pcs"),
    ("36 piece", "36 pc"),
    ("250 piece", "250pc"),
];
const YEARS: Table = [
    ("2015", "15"),
    ("2018", "18"),
    ("2012", "12"),
    ("2008", "08"),
    ("2010", "10"),
    ("2003", "03"),
    ("2020", "20"),
    ("2006", "06"),
    ("1999", "99"),
    ("2001", "01"),
];
