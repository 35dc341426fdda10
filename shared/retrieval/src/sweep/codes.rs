//! Rankings as numbers: equal numbers exactly for equal rankings.

/// How a ranking of positions is packed into words of 64 bits: at each rank the document's place in the tie order, counted from
/// the end and from 1, and 0 where the ranking has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) documents: u32,
    pub(super) depth: u32,
    pub(super) bits: u32,
    /// Ranks in one word.
    pub(super) ranks: u32,
}

/// Words of a packed ranking.
pub(super) const MOST_WORDS: usize = 2;

/// Most bits of a place: those that the fraction of an f64 has more than that of an f32.
pub(super) const PLACE_BITS: u32 = f64::MANTISSA_DIGITS - f32::MANTISSA_DIGITS;

/// Deepest rankings that are packed.
pub(super) const DEEPEST: usize = 20;

impl Layout {
    /// Returns how rankings of the best `depth` of `documents` are packed, or nothing when they do not fit.
    pub(super) fn new(documents: usize, depth: usize) -> Option<Self> {
        let depth = depth.min(documents);
        let bits = usize::BITS - documents.leading_zeros();
        let ranks = u64::BITS.checked_div(bits).unwrap_or(1);
        let fits = bits <= PLACE_BITS && depth <= DEEPEST && depth <= ranks as usize * MOST_WORDS;
        fits.then_some(Self {
            documents: u32::try_from(documents).ok()?,
            depth: u32::try_from(depth).ok()?,
            bits,
            ranks,
        })
    }

    /// Returns the bits of one place.
    pub(super) fn mask(self) -> u64 {
        (1 << self.bits) - 1
    }

    /// Returns the positions of a packed ranking.
    pub(super) fn positions(self, words: [u64; MOST_WORDS]) -> impl Iterator<Item = u32> {
        let at = move |rank: u32| {
            let word = words[(rank / self.ranks) as usize];
            let place = word >> (rank % self.ranks * self.bits) & self.mask();
            let place = u32::try_from(place).ok().filter(|&place| place > 0)?;
            self.documents.checked_sub(place)
        };
        (0..self.depth).map_while(at)
    }
}

/// Numbers packed rankings in the order in which they are met.
#[derive(Debug, Default)]
pub(super) struct Codes {
    /// An open hash table whose size is a power of two: rankings with their numbers + 1, 0 where a slot is free.
    slots: Vec<([u64; MOST_WORDS], u32)>,
    known: u32,
}

const FEWEST_SLOTS: usize = 256;

impl Codes {
    /// Forgets all rankings.
    pub(super) fn clear(&mut self) {
        self.slots.clear();
        self.slots.resize(FEWEST_SLOTS, ([0; MOST_WORDS], 0));
        self.known = 0;
    }

    /// Returns the number of a ranking; `first_met` is called when it has none yet.
    #[inline]
    pub(super) fn code(
        &mut self,
        words: [u64; MOST_WORDS],
        first_met: impl FnOnce([u64; MOST_WORDS]),
    ) -> u32 {
        let last = self.slots.len() - 1;
        let mut at = self.home(words);
        loop {
            let (stored, number) = self.slots[at];
            if number == 0 {
                break;
            }
            if stored == words {
                return number - 1;
            }
            at = (at + 1) & last;
        }
        first_met(words);
        self.add(words, at)
    }

    /// Gives a ranking that has none the next number; its slot is free.
    fn add(&mut self, words: [u64; MOST_WORDS], at: usize) -> u32 {
        let code = self.known;
        self.known += 1; // no more rankings than candidates, which are far fewer than 2^32
        self.slots[at] = (words, self.known);
        if self.known as usize * 4 > self.slots.len() {
            self.grow();
        }
        code
    }

    /// Returns where the search for a ranking starts.
    #[inline]
    fn home(&self, [low, high]: [u64; MOST_WORDS]) -> usize {
        // Fibonacci hashing (Knuth, volume 3, 6.4): the upper bits of a product with 2^64 over the golden ratio.
        const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
        let mixed = (low ^ high.rotate_left(29)).wrapping_mul(FACTOR);
        let bits = self.slots.len().trailing_zeros();
        usize::try_from(mixed >> (u64::BITS - bits)).expect("it is less than the number of slots")
    }

    fn grow(&mut self) {
        let slots = vec![([0; MOST_WORDS], 0); self.slots.len() * 4];
        for (words, number) in std::mem::replace(&mut self.slots, slots) {
            if number > 0 {
                let mut at = self.home(words);
                while self.slots[at].1 > 0 {
                    at = (at + 1) & (self.slots.len() - 1);
                }
                self.slots[at] = (words, number);
            }
        }
    }
}
