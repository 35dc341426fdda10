use proptest::prelude::*;

use super::*;

/// Lucene 8.7's tokens: `StandardTokenizer`, `LowerCaseFilter`, `ASCIIFoldingFilter`; then for the second list
/// `EnglishPossessiveFilter`, `StopFilter` with the English set, and `PorterStemFilter`.
const LUCENE: [(&str, &str, &str); 7] = [
    (
        "Xerox® 006R90321 toner, 6 pc(s)",
        "xerox|®|006r90321|toner|6|pc|s",
        "xerox|®|006r90321|toner|6|pc|s",
    ),
    (
        "43.2 cm (17\") x² ½ 10.5\"",
        "43.2|cm|17|x|10.5",
        "43.2|cm|17|x|10.5",
    ),
    (
        "Café ﬁn STRASSE straße İstanbul ΣΊΣΥΦΟΣ",
        "cafe|fin|strasse|strasse|istanbul|σίσυφοσ",
        "cafe|fin|strass|strass|istanbul|σίσυφοσ",
    ),
    (
        "can't O’Reilly’s rock'n'roll 3,5 a.b a_b a:b a-b",
        "can't|o'reilly's|rock'n'roll|3,5|a.b|a_b|a:b|a|b",
        "can't|o'reilli|rock'n'rol|3,5|a.b|a_b|a:b|b",
    ),
    (
        "中国 ひら カタカナ 한국어",
        "中|国|ひ|ら|カタカナ|한국어",
        "中|国|ひ|ら|カタカナ|한국어",
    ),
    ("🇩🇪🇫🇷 👍 ❤ ™", "🇩🇪|🇫🇷|👍|❤|™", "🇩🇪|🇫🇷|👍|❤|™"),
    (
        "The boys' and the girl's batteries are fully charged, with flexibly priced assemblies",
        "the|boys|and|the|girl's|batteries|are|fully|charged|with|flexibly|priced|assemblies",
        "boi|girl|batteri|fulli|charg|flexibl|price|assembl",
    ),
];

#[test]
fn tokens_are_lucenes() {
    for (text, standard, english) in LUCENE {
        assert_eq!(Analyzer::Standard.tokens(text).join("|"), standard);
        assert_eq!(Analyzer::English.tokens(text).join("|"), english);
    }
}

#[test]
fn text_without_words_has_no_tokens() {
    for text in ["", " \t\n", "--- !!! ½ ²", "_", "\u{301}"] {
        assert_eq!(Analyzer::Standard.tokens(text), Vec::<String>::new());
    }
    assert_eq!(Analyzer::English.tokens("to be"), Vec::<String>::new());
}

#[test]
fn a_word_is_cut_at_255_utf16_units_or_the_last_boundary_before() {
    // Lengths in UTF-16 units that Lucene 8.7 gives for the same texts.
    let lengths = |text: &str| -> Vec<usize> {
        let tokens = Analyzer::Standard.tokens(text);
        tokens.iter().map(|t| t.encode_utf16().count()).collect()
    };
    assert_eq!(lengths(&"a".repeat(300)), [255, 45]);
    assert_eq!(lengths(&"a.".repeat(150)), [255, 43]);
    let astral = format!("{}{}", "😀".repeat(3), "𐐀".repeat(200));
    assert_eq!(lengths(&astral), [2, 2, 2, 254, 146]);
}

#[test]
fn a_very_long_word_takes_time_in_proportion_to_its_length() {
    let mut tokens = 0;
    Analyzer::Standard.for_each_token(&"a".repeat(2_550_000), |_| tokens += 1);
    assert_eq!(tokens, 10_000);
}

#[test]
fn a_signature_ignores_order_repetition_and_inflection() {
    assert_eq!(signature("Laptops for the laptop bag"), "bag laptop");
    assert_eq!(signature("bags laptop"), signature("laptop bag"));
    assert_eq!(signature("to be or not to be"), "be not or to");
    assert_eq!(signature("?!"), "");
}

proptest! {
    #[test]
    fn tokens_are_never_empty_and_never_depend_on_what_surrounds_them(
        one in "\\PC{0,12}",
        other in "\\PC{0,12}",
    ) {
        for analyzer in [Analyzer::Standard, Analyzer::English] {
            let mut apart = analyzer.tokens(&one);
            apart.extend(analyzer.tokens(&other));
            prop_assert!(apart.iter().all(|token| !token.is_empty()));
            prop_assert_eq!(analyzer.tokens(&format!("{one}\n{other}")), apart);
        }
    }
}
