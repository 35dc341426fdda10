//! How people type what they are after: noise, negations, sizes.

use std::collections::BTreeMap;

use crate::draw::Draw;
use crate::intent::{Intent, Unwanted};
use crate::product::Attribute;
use crate::text::plural_of;
use crate::words::{self, ADJECTIVES};

/// What is wrong with the spelling of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Noise {
    None,
    Punctuation,
    Misspelt,
    Abbreviated,
}

impl Noise {
    fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Punctuation => "punctuation",
            Self::Misspelt => "misspelt",
            Self::Abbreviated => "abbreviated",
        }
    }
}

/// A query as typed.
#[derive(Debug)]
pub(crate) struct Wording {
    /// The text.
    pub(crate) text: String,
    /// Columns for slices.
    pub(crate) columns: BTreeMap<String, String>,
}

/// Words that turn a query around: noise leaves them legible.
const NEGATIONS: [&str; 3] = ["without", "not", "no"];

/// Words and what hurried people make of them.
const SHORT_FORMS: [(&str, &str); 18] = [
    ("without", "w/o"),
    ("with", "w/"),
    ("stainless steel", "ss"),
    ("black", "blk"),
    ("white", "wht"),
    ("leather", "lthr"),
    ("silver", "slvr"),
    ("plastic", "plstc"),
    ("cotton", "cttn"),
    ("women", "wmn"),
    ("toddlers", "tdlr"),
    ("kids", "kds"),
    ("professionals", "pros"),
    ("bedroom", "bdrm"),
    ("aluminum", "alum"),
    ("galvanized", "galv"),
    ("polyester", "poly"),
    ("brown", "brn"),
];

/// Words the query with noise, negation and order drawn.
pub(crate) fn word(intent: &Intent, draw: &mut Draw) -> Wording {
    let noise = match draw.weighted(&[630, 100, 170, 100]) {
        0 => Noise::None,
        1 => Noise::Punctuation,
        2 => Noise::Misspelt,
        _ => Noise::Abbreviated,
    };
    let negation = negation_word(intent, draw);
    let mut text = plain_text(intent, noise, draw);
    if let (Some(word), Some(unwanted)) = (negation, intent.unwanted_words()) {
        text = format!("{text} {word} {unwanted}");
    }
    let text = match noise {
        Noise::None => text,
        Noise::Punctuation => punctuate(&text, draw),
        Noise::Misspelt => match draw.weighted(&[25, 25, 20, 30]) {
            0 => misspell(&text, Spared::AllButOne, draw),
            1 => run_together(&text, draw),
            2 => misspell(&text, Spared::One, draw),
            _ => misspell(&text, Spared::None, draw),
        },
        Noise::Abbreviated => abbreviate(&text),
    };
    let sized = intent.wanted.contains(&Attribute::Size);
    let family = match (negation, noise) {
        (Some(_), _) => "negation",
        (None, Noise::None) if sized => "numbers",
        (None, Noise::None) => "plain",
        (None, noise) => noise.as_str(),
    };
    let branded = intent.wanted.contains(&Attribute::Brand);
    let yes_no = |yes: bool| if yes { "yes" } else { "no" };
    let columns = [
        ("family", family),
        ("noise", noise.as_str()),
        ("negation", negation.unwrap_or("none")),
        ("sized", yes_no(sized)),
        ("kind_named", yes_no(intent.names_kind)),
        ("branded", yes_no(branded)),
        ("wanted", ["0", "1", "2", "3", "4"][intent.wanted.len()]),
        ("department", intent.target.department().name),
    ];
    Wording {
        text,
        columns: columns
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into(),
    }
}

fn negation_word(intent: &Intent, draw: &mut Draw) -> Option<&'static str> {
    intent.unwanted.map(|unwanted| match unwanted {
        Unwanted::Feature(_) if draw.chance(750) => "without",
        Unwanted::Feature(_) => "no",
        Unwanted::Material(_) => "not",
    })
}

/// Returns kind and wanted attributes in one of the usual orders.
fn plain_text(intent: &Intent, noise: Noise, draw: &mut Draw) -> String {
    let names = words::kind_name(intent.target.kind);
    let name = if draw.chance(190) {
        names.other
    } else {
        names.usual
    };
    let kind = if draw.chance(150) {
        plural_of(name)
    } else {
        name.to_owned()
    };
    let mut before = Vec::new();
    let mut after = Vec::new();
    for &attribute in &intent.wanted {
        let written = intent.target.words(attribute);
        match attribute {
            Attribute::Size if noise == Noise::Abbreviated => {
                let department = intent.target.department();
                before.insert(0, department.sizes.written(intent.target.size).1.to_owned());
            }
            Attribute::Size | Attribute::Brand => before.insert(0, written),
            Attribute::Colour | Attribute::Material | Attribute::Design => before.push(written),
            Attribute::Feature(_) => after.push(format!("with {written}")),
            Attribute::Audience if draw.chance(500) => before.push(written),
            Attribute::Audience | Attribute::Purpose => after.push(format!("for {written}")),
        }
    }
    if draw.chance(90) {
        before.insert(0, (*draw.pick(&ADJECTIVES)).to_owned());
    }
    if draw.chance(150) {
        after.append(&mut before);
    }
    if intent.names_kind {
        before.push(kind);
    }
    before.append(&mut after);
    before.join(" ")
}

/// Puts a sign in front, as in `!awnmower tires`, `# 2 pencils`, `#1 rated`, `+dark chocolate` and `$13 bb guns`.
fn punctuate(text: &str, draw: &mut Draw) -> String {
    match draw.weighted(&[35, 15, 15, 20, 15]) {
        0 => text
            .chars()
            .skip(1)
            .fold("!".to_owned(), |mut kept, letter| {
                kept.push(letter);
                kept
            }),
        1 => format!("# {} {text}", 1 + draw.below(4)),
        2 => format!("#1 rated {text}"),
        3 => format!("+{text}"),
        _ => format!("${} {text}", 5 + draw.below(45)),
    }
}

/// Which of the longer words are spelt right.
#[derive(Debug, Clone, Copy)]
enum Spared {
    AllButOne,
    One,
    None,
}

/// Misspells longer words, at least one of them, but no negation.
fn misspell(text: &str, spared: Spared, draw: &mut Draw) -> String {
    let mut typed: Vec<String> = text.split(' ').map(str::to_owned).collect();
    let mut long: Vec<usize> = (0..typed.len())
        .filter(|&place| typed[place].len() >= 4 && !NEGATIONS.contains(&typed[place].as_str()))
        .collect();
    draw.shuffle(&mut long);
    let count = match spared {
        Spared::AllButOne => 1,
        Spared::One => long.len().saturating_sub(1),
        Spared::None => long.len(),
    };
    for &place in long.iter().take(count.max(1)) {
        typed[place] = misspell_word(&typed[place], draw);
    }
    typed.join(" ")
}

/// Misspells a word of four letters or more inside: a letter is left out, doubled or swapped with the next, or a vowel
/// is wrong.
fn misspell_word(word: &str, draw: &mut Draw) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let place = 1 + draw.index(letters.len() - 2);
    match draw.weighted(&[35, 20, 25, 20]) {
        0 => {
            letters.remove(place);
        }
        1 => letters.insert(place, letters[place]),
        2 if letters[place] != letters[place + 1] => letters.swap(place, place + 1),
        _ => {
            let vowel = *draw.pick(&['a', 'e', 'i', 'o', 'u']);
            letters[place] = if letters[place] == vowel { 'y' } else { vowel };
        }
    }
    letters.into_iter().collect()
}

/// Leaves out the space between two words, but not beside a negation; misspells when there is no other space.
fn run_together(text: &str, draw: &mut Draw) -> String {
    let typed: Vec<&str> = text.split(' ').collect();
    let loose = |place: usize| {
        !typed[place..place + 2]
            .iter()
            .any(|word| NEGATIONS.contains(word))
    };
    let places: Vec<usize> = (0..typed.len() - 1).filter(|&place| loose(place)).collect();
    if places.is_empty() {
        return misspell(text, Spared::AllButOne, draw);
    }
    let joined = *draw.pick(&places);
    let mut text = String::with_capacity(text.len());
    for (place, word) in typed.iter().enumerate() {
        text.push_str(word);
        if place != joined && place + 1 < typed.len() {
            text.push(' ');
        }
    }
    text
}

/// Shortens the words that have a short form, or the last word of five letters or more when none has.
fn abbreviate(text: &str) -> String {
    let mut short = format!(" {text} ");
    for (long, form) in SHORT_FORMS {
        short = short.replace(&format!(" {long} "), &format!(" {form} "));
    }
    let short = short.trim();
    if short != text {
        return short.to_owned();
    }
    let mut typed: Vec<String> = text.split(' ').map(str::to_owned).collect();
    if let Some(word) = typed.iter_mut().rev().find(|word| word.len() >= 5) {
        word.truncate(4);
    }
    typed.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Purpose;

    #[test]
    fn short_forms_replace_whole_words() {
        assert_eq!(
            abbreviate("black belt without buckle"),
            "blk belt w/o buckle"
        );
        assert_eq!(abbreviate("blackboard"), "blac");
        assert_eq!(abbreviate("oak desk"), "oak desk");
    }

    #[test]
    fn a_misspelling_changes_one_word_and_no_negation() {
        for number in 0..500 {
            let mut draw = Draw::new(1, Purpose::Wording, number);
            let text = "lawnmower tires without rims";
            let typed = misspell(text, Spared::AllButOne, &mut draw);
            assert_ne!(typed, text);
            let changed = text
                .split(' ')
                .zip(typed.split(' '))
                .filter(|(a, b)| a != b);
            assert_eq!(changed.count(), 1, "{typed}");
            assert!(typed.contains("without"));
        }
    }

    #[test]
    fn signs_stand_in_front() {
        let seen: Vec<String> = (0..40)
            .map(|number| punctuate("lawnmower", &mut Draw::new(1, Purpose::Wording, number)))
            .collect();
        assert!(seen.contains(&"!awnmower".to_owned()));
        assert!(seen.contains(&"#1 rated lawnmower".to_owned()));
        assert!(seen.contains(&"+lawnmower".to_owned()));
    }
}
