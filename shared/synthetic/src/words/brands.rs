//! Invented brand names: syllables put together by number, so that brand `n` has the same name in every catalogue.

const STARTS: [&str; 24] = [
    "vor", "kel", "mab", "tru", "zan", "bel", "dor", "fen", "gri", "hol", "jas", "lum", "nev",
    "ost", "pir", "quo", "rud", "sel", "tam", "ulv", "wex", "yar", "cul", "bri",
];
const MIDDLES: [&str; 16] = [
    "a", "i", "o", "u", "ada", "eri", "ilo", "omu", "une", "ava", "iki", "ora", "upa", "esi",
    "any", "obo",
];
const ENDS: [&str; 16] = [
    "dun", "ket", "mar", "lith", "nox", "pra", "rill", "sko", "tane", "vik", "wyn", "zor", "bram",
    "drel", "gost", "felt",
];
/// Second words that some brands have: words of everyday language, which therefore also occur in queries.
const SECOND_WORDS: [&str; 12] = [
    "home", "outdoor", "kids", "kitchen", "travel", "sport", "garden", "leather", "baby", "steel",
    "work", "cotton",
];

/// Number of names before the syllables run out.
pub(crate) const BRAND_NAMES: u16 = 24 * 16 * 16;

/// Returns the name of a brand, lower case; `brand` is less than [`BRAND_NAMES`].
///
/// Neighbouring numbers differ in every syllable: they are multiplied by a number that shares no factor with the count.
pub(crate) fn brand_name(brand: u16) -> String {
    let spread = usize::from(brand) * 2_657 % usize::from(BRAND_NAMES);
    let (start, rest) = (spread % STARTS.len(), spread / STARTS.len());
    let (middle, end) = (rest % MIDDLES.len(), rest / MIDDLES.len());
    let mut name = format!("{}{}{}", STARTS[start], MIDDLES[middle], ENDS[end]);
    if brand % 4 == 3 {
        name.push(' ');
        name.push_str(SECOND_WORDS[usize::from(brand / 4) % SECOND_WORDS.len()]);
    }
    name
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn brands_have_different_names() {
        let first_words: BTreeSet<String> = (0..BRAND_NAMES)
            .map(|brand| brand_name(brand).split(' ').next().unwrap().to_owned())
            .collect();
        assert_eq!(first_words.len(), usize::from(BRAND_NAMES));
    }
}
