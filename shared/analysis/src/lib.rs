//! Text in, the tokens that are indexed and searched out.
//!
//! | analyzer | tokens |
//! |---|---|
//! | `standard` | words of Lucene's `StandardTokenizer`, lower case, ASCII folding (`ASCIIFoldingFilter`) |
//! | `english` | these, without a possessive `'s`, without Lucene's English stop words, stemmed (Porter 1980) |

mod english;
mod signature;
mod words;

#[cfg(test)]
mod tests;

use tantivy::tokenizer::{
    AsciiFoldingFilter, RawTokenizer, TokenFilter, TokenStream as _, Tokenizer as _,
};

pub use signature::signature;

/// Changes whenever a text may give other tokens than before, so that a stored index is not searched with tokens that it
/// was not built from.
///
/// The first number is raised by hand with this crate's code; the others are the Unicode versions of the tables used.
pub fn version() -> String {
    let (segmentation, core) = (unicode_segmentation::UNICODE_VERSION, char::UNICODE_VERSION);
    format!("1 unicode {segmentation:?} {core:?}")
}

/// How text becomes tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Analyzer {
    /// Words, lower case, ASCII folding.
    Standard,
    /// `Standard` without possessives and stop words, stemmed.
    English,
}

impl Analyzer {
    /// Returns the tokens of `text`, in order and with repetitions.
    pub fn tokens(self, text: &str) -> Vec<String> {
        let mut tokens = Vec::new();
        self.for_each_token(text, |token| tokens.push(token.to_owned()));
        tokens
    }

    /// Calls `visit` with each token of `text`, in order and with repetitions. No token is empty.
    pub fn for_each_token(self, text: &str, mut visit: impl FnMut(&str)) {
        let mut normal = Normalizer::default();
        words::for_each_word(text, &mut |word| {
            let word = normal.normalize(word);
            match self {
                Self::Standard => visit(word),
                Self::English => english::visit_stem(word, &mut visit),
            }
        });
    }
}

/// Lower case and ASCII folding of one word after the other, in one buffer.
struct Normalizer {
    lower: String,
    folded: String,
    folding: <AsciiFoldingFilter as TokenFilter>::Tokenizer<RawTokenizer>,
}

impl Default for Normalizer {
    fn default() -> Self {
        Self {
            lower: String::new(),
            folded: String::new(),
            folding: AsciiFoldingFilter.transform(RawTokenizer::default()),
        }
    }
}

impl Normalizer {
    /// Returns the word in lower case with characters folded to ASCII where they have an equivalent there.
    fn normalize(&mut self, word: &str) -> &str {
        self.lower.clear();
        if word.is_ascii() {
            self.lower.push_str(word);
            self.lower.make_ascii_lowercase();
            return &self.lower;
        }
        // The first character of a mapping is Java's: only `İ` maps to more than one, and there Java says `i`.
        let lower = word.chars().filter_map(|c| c.to_lowercase().next());
        self.lower.extend(lower);
        let mut stream = self.folding.token_stream(&self.lower);
        self.folded.clear();
        while stream.advance() {
            self.folded.push_str(&stream.token().text);
        }
        &self.folded
    }
}
