//! How much greater a per-field score must be for every weighted score to be greater.

/// The margin by which computed scores of documents must differ for their order to be certain.
///
/// A score is computed with one rounding a product, one an addition and at most three where sum and maximum are combined,
/// so scores can meet, or even change places, when per-field scores differ by less than that.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Margin {
    factor: f32,
    step: f32,
}

/// Added to a raised score: more than rounding can take away where f32 loses relative precision, with weights down to
/// 1e-12, and less than 2^-19 of any score that a corpus gives. It also makes a positive score of what follows 0.
const STEP: f32 = 1.0 / (1_u128 << 100) as f32;

impl Margin {
    /// No margin at all for scores from 4 to 8: the next greater number counts. Only tests use it, to show that it is wrong.
    #[cfg(test)]
    pub(crate) const NONE_FROM_4_TO_8: Self = Self {
        factor: 1.0,
        step: 3.0e-7, // f32 numbers there are 4.8e-7 apart, so that sums round to the next one
    };

    /// Returns the margin for sums over `columns` fields: δ = 8 (F + 2) · 2⁻²⁴, twice what the rules need.
    pub(crate) fn for_columns(columns: usize) -> Self {
        let units = 8.0 * (columns as f32 + 2.0);
        Self {
            factor: 1.0 + units * (f32::EPSILON / 2.0),
            step: STEP,
        }
    }

    /// Returns what another document's score must reach to be certainly greater; an absent field is reached by all.
    pub(crate) fn raised(self, score: f32) -> f32 {
        if score >= 0.0 {
            score * self.factor + self.step
        } else {
            score
        }
    }

    /// Returns a score below which none is that, raised, exceeds `least`.
    pub(crate) fn lowest_above(self, least: f32) -> f32 {
        (least - self.step) / self.factor
    }
}
