//! The words of Lucene's `StandardTokenizer`.
//!
//! These are UAX #29 word-bound segments, plus the pictographs that Unicode's own definition of a word leaves out, minus
//! superscripts, fractions and other numbers that are not decimal digits.
//!
//! Measured with Lucene 8.7, which has the rules of Unicode 9, on the 263,924 field texts of two English collections (Chorus
//! products and Cranfield): none differs. Known to differ: what later Unicode versions added or changed (skin tones
//! belong to the emoji before them, `˂` joins letters), runs of Thai, Lao, Khmer and Burmese, which Lucene keeps
//! whole, the keycaps `#⃣` and `*⃣`, CJK radicals on their own, and combining marks without a base.

use std::sync::LazyLock;

use regex::Regex;
use unicode_segmentation::UnicodeSegmentation as _;

/// Longest word in UTF-16 units, `StandardAnalyzer.DEFAULT_MAX_TOKEN_LENGTH` of Lucene.
const MAX_UNITS: usize = 255;

/// What makes a segment outside ASCII a word, besides letters: decimal digits, pictographs (®, ™ and © are some), or a
/// flag, which is a pair of regional indicators.
static OTHER_WORD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[\p{Nd}\p{Extended_Pictographic}]|\p{Regional_Indicator}{2}")
        .expect("the pattern is valid")
});

/// Calls `visit` with each word of `text`, in order, as it is spelled.
pub(crate) fn for_each_word<'a>(text: &'a str, visit: &mut dyn FnMut(&'a str)) {
    for segment in text.split_word_bounds() {
        if segment.len() <= MAX_UNITS {
            if is_word(segment) {
                visit(segment);
            }
        } else {
            for_each_piece(segment, visit);
        }
    }
}

/// Splits a segment that may exceed [`MAX_UNITS`] as Lucene's scanner does: it sees only a window of that length, takes
/// the longest word in it and goes on behind that.
fn for_each_piece<'a>(segment: &'a str, visit: &mut dyn FnMut(&'a str)) {
    let mut rest = segment;
    while !rest.is_empty() {
        let window = window(rest);
        let piece = window.split_word_bounds().next().unwrap_or(window);
        if is_word(piece) {
            visit(piece);
        }
        rest = rest.strip_prefix(piece).unwrap_or_default();
    }
}

/// Returns the longest start of `text` with at most [`MAX_UNITS`] UTF-16 units.
fn window(text: &str) -> &str {
    let mut units = 0;
    let end = text.char_indices().find_map(|(at, c)| {
        units += c.len_utf16();
        (units > MAX_UNITS).then_some(at)
    });
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

/// Whether a segment is a word and not white space, punctuation or a symbol.
fn is_word(segment: &str) -> bool {
    if segment.bytes().any(|byte| byte.is_ascii_alphanumeric()) {
        return true;
    }
    !segment.is_ascii()
        && (segment.chars().any(char::is_alphabetic) || OTHER_WORD.is_match(segment))
}
