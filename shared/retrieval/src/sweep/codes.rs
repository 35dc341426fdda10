//! Rankings as numbers: equal numbers exactly for equal rankings.

/// How a ranking of positions is packed into words of 32 bits: at each rank the position + 1, and 0 where the ranking has
/// ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) depth: u32,
    pub(super) bits: u32,
    /// Ranks in one word.
    pub(super) ranks: u32,
}

/// Words of a packed ranking.
pub(super) const MOST_WORDS: usize = 4;

/// Deepest rankings that are packed.
pub(super) const DEEPEST: usize = 20;

impl Layout {
    /// Returns how rankings of the best `depth` of `documents` are packed, or nothing when they do not fit.
    pub(super) fn new(documents: usize, depth: usize) -> Option<Self> {
        let depth = depth.min(documents);
        let bits = usize::BITS - documents.leading_zeros();
        let ranks = u32::BITS.checked_div(bits).unwrap_or(1);
        let fits = depth <= DEEPEST && depth <= ranks as usize * MOST_WORDS;
        fits.then_some(Self {
            depth: u32::try_from(depth).ok()?,
            bits,
            ranks,
        })
    }

    /// Returns the positions of a packed ranking.
    pub(super) fn positions(self, words: [u32; MOST_WORDS]) -> impl Iterator<Item = usize> {
        let mask = 1_u32
            .checked_shl(self.bits)
            .map_or(u32::MAX, |next| next - 1);
        let at = move |rank: u32| {
            let word = words[(rank / self.ranks) as usize];
            let position = word >> (rank % self.ranks * self.bits) & mask;
            (position as usize).checked_sub(1)
        };
        (0..self.depth).map_while(at)
    }
}

/// Numbers packed rankings in the order in which they are met.
#[derive(Debug, Default)]
pub(super) struct Codes {
    /// An open hash table whose size is a power of two; the number of its ranking + 1 in each slot, 0 when it is free.
    slots: Vec<u32>,
    words: Vec<[u32; MOST_WORDS]>,
    last: u32,
}

const FEWEST_SLOTS: usize = 256;

impl Codes {
    /// Forgets all rankings.
    pub(super) fn clear(&mut self) {
        self.slots.clear();
        self.slots.resize(FEWEST_SLOTS, 0);
        self.words.clear();
        self.last = 0;
    }

    /// Returns the number of a ranking; `first_met` is called when it has none yet.
    pub(super) fn code(
        &mut self,
        words: [u32; MOST_WORDS],
        first_met: impl FnOnce([u32; MOST_WORDS]),
    ) -> u32 {
        // Neighbouring candidates often agree.
        if self.words.get(self.last as usize) == Some(&words) {
            return self.last;
        }
        let mut at = self.home(words);
        loop {
            match self.slots[at].checked_sub(1) {
                Some(code) if self.words[code as usize] == words => {
                    self.last = code;
                    return code;
                }
                Some(_) => at = (at + 1) & (self.slots.len() - 1),
                None => break,
            }
        }
        first_met(words);
        let code = u32::try_from(self.words.len()).expect("no more rankings than candidates");
        self.words.push(words);
        self.slots[at] = code + 1;
        self.last = code;
        if self.words.len() * 2 > self.slots.len() {
            self.grow();
        }
        code
    }

    /// Returns where the search for a ranking starts.
    fn home(&self, words: [u32; MOST_WORDS]) -> usize {
        // Fibonacci hashing (Knuth, volume 3, 6.4): the upper bits of a product with 2^64 over the golden ratio.
        const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
        let [a, b, c, d] = words.map(u64::from);
        let (low, high) = (a | b << 32, c | d << 32);
        let mixed = (low.wrapping_mul(FACTOR) ^ high).wrapping_mul(FACTOR);
        let bits = self.slots.len().trailing_zeros();
        usize::try_from(mixed >> (u64::BITS - bits)).expect("it is less than the number of slots")
    }

    fn grow(&mut self) {
        let slots = self.slots.len() * 2;
        self.slots.clear();
        self.slots.resize(slots, 0);
        for (code, &words) in (1..).zip(&self.words) {
            let mut at = self.home(words);
            while self.slots[at] != 0 {
                at = (at + 1) & (slots - 1);
            }
            self.slots[at] = code;
        }
    }
}
