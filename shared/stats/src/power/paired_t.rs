//! Power of the paired comparison of means, by the noncentral t distribution.

use crate::PowerError;
use crate::power::PowerGoal;
use crate::power::goal::least_count;
use crate::special::{normal_cdf, rising_root, t_critical};

/// Standardised effects beyond this are found by any two pairs at any usual level.
const GREATEST_EFFECT: f64 = 1e6;

/// Standard errors of the scale beyond which its density is below 1e-30.
const SCALE_REACH: f64 = 12.0;

/// Returns the probability that a two-sided paired t-test of `pairs` pairs at `alpha` rejects.
///
/// ```text
/// power = P(|T| > t(1 − α/2; n − 1)),   T noncentral t with n − 1 degrees of freedom and noncentrality d·√n
/// ```
///
/// with `d` the mean difference in standard deviations of the paired differences. The sign-flip permutation test has nearly
/// this power when many queries changed. Fewer than two pairs have power 0. The integral over the scale,
/// `∫ Φ(δ − t·s) + Φ(−δ − t·s) dF(s)` with `s² ~ χ²(ν)/ν`, is finite for any effect, where series for the noncentral t
/// underflow. Absolute error about 1e-11.
///
/// Source: Cohen, *Statistical Power Analysis*, 2nd edition, 1988, chapter 2; as statsmodels' `TTestPower`.
pub fn paired_t_power(pairs: u64, effect: f64, alpha: f64) -> f64 {
    if pairs < 2 {
        return 0.0;
    }
    let df = (pairs - 1) as f64;
    let critical = t_critical(alpha / 2.0, df);
    let shift = effect.abs() * (pairs as f64).sqrt();
    let ln_norm = (df / 2.0).ln() * (df / 2.0) - libm::lgamma(df / 2.0) + 2.0_f64.ln();
    let integrand = |s: f64| {
        // Density of √(χ²/ν): 2 (ν/2)^(ν/2) / Γ(ν/2) · s^(ν−1) e^(−ν s²/2).
        let density = (ln_norm + (df - 1.0) * s.ln() - df * s * s / 2.0).exp();
        density * (normal_cdf(shift - critical * s) + normal_cdf(-shift - critical * s))
    };
    let spread = SCALE_REACH / (2.0 * df).sqrt();
    let low = (1.0 - spread).max(f64::MIN_POSITIVE);
    integral(low, 1.0 + spread, &integrand).min(1.0)
}

/// Returns the smallest mean difference, in standard deviations of the paired differences, that `pairs` pairs find with the
/// wanted power; nothing for fewer than two pairs.
pub fn paired_t_detectable(pairs: u64, goal: PowerGoal) -> Option<f64> {
    (pairs >= 2).then(|| {
        let power = |effect| paired_t_power(pairs, effect, goal.alpha()) - goal.power();
        let mut high = 1.0;
        while power(high) < 0.0 && high < GREATEST_EFFECT {
            high *= 2.0;
        }
        rising_root(0.0, high, power)
    })
}

/// Returns the least number of pairs that find a mean difference of `effect` standard deviations with the wanted power.
pub fn paired_t_sample_size(effect: f64, goal: PowerGoal) -> Result<u64, PowerError> {
    if !effect.is_finite() {
        return Err(PowerError::Effect(effect));
    }
    if effect.abs() < f64::MIN_POSITIVE {
        return Err(PowerError::NoEffect);
    }
    least_count(2, |pairs| {
        paired_t_power(pairs, effect, goal.alpha()) >= goal.power()
    })
}

/// Returns the standard deviation of a paired difference whose sides have standard deviation `sd` and correlation
/// `correlation`: `sd · √(2(1 − ρ))`.
///
/// One system's own standard deviation without the correlation says nothing of a paired comparison.
pub fn standard_deviation_of_difference(sd: f64, correlation: f64) -> f64 {
    sd * (2.0 * (1.0 - correlation)).max(0.0).sqrt()
}

/// Integrates by adaptive Simpson over panels that are halved until their error is negligible.
fn integral(low: f64, high: f64, function: &dyn Fn(f64) -> f64) -> f64 {
    const PANELS: u32 = 64;
    const TOLERANCE: f64 = 1e-13;
    const DEPTH: u32 = 40;
    let width = (high - low) / f64::from(PANELS);
    (0..PANELS)
        .map(|panel| {
            let left = low + f64::from(panel) * width;
            let ends = [left, left + width / 2.0, left + width].map(|x| (x, function(x)));
            panel_integral(ends, TOLERANCE, DEPTH, function)
        })
        .sum()
}

/// Integrates one panel, given by its ends and middle with their values.
fn panel_integral(
    [left, middle, right]: [(f64, f64); 3],
    tolerance: f64,
    depth: u32,
    function: &dyn Fn(f64) -> f64,
) -> f64 {
    let between = |a: (f64, f64), b: (f64, f64)| {
        let x = f64::midpoint(a.0, b.0);
        (x, function(x))
    };
    let simpson =
        |a: (f64, f64), m: (f64, f64), b: (f64, f64)| (b.0 - a.0) / 6.0 * (a.1 + 4.0 * m.1 + b.1);
    let (first, second) = (between(left, middle), between(middle, right));
    let coarse = simpson(left, middle, right);
    let fine = simpson(left, first, middle) + simpson(middle, second, right);
    let error = (fine - coarse) / 15.0;
    if depth == 0 || error.abs() <= tolerance {
        return fine + error;
    }
    panel_integral([left, first, middle], tolerance / 2.0, depth - 1, function)
        + panel_integral(
            [middle, second, right],
            tolerance / 2.0,
            depth - 1,
            function,
        )
}
