//! Distribution functions that the exact tests and the power calculations are made of.

use crate::normal_quantile;

/// Halvings of a bracket of width at most 1; beyond them f64 has no number between the ends.
const HALVINGS: u32 = 200;

/// Returns the standard normal distribution function at `z`.
///
/// `Φ(z) = erfc(−z/√2)/2`, which keeps its relative precision in the lower tail.
pub(crate) fn normal_cdf(z: f64) -> f64 {
    libm::erfc(-z / std::f64::consts::SQRT_2) / 2.0
}

/// Returns `ln C(n, k)`.
///
/// From `lgamma`, so the relative error of the coefficient grows as `n ln n · 2^-52`: about 1e-12 at n = 1,000.
pub(crate) fn ln_choose(n: u64, k: u64) -> f64 {
    let factorial = |n: u64| libm::lgamma(n as f64 + 1.0);
    factorial(n) - factorial(k) - factorial(n - k)
}

/// Returns the probability of exactly `k` successes in `n` trials of probability `p`.
pub(crate) fn binomial_pmf(k: u64, n: u64, p: f64) -> f64 {
    // 0 · ln 0 is 0 here, not NaN.
    let term = |count: u64, ln: f64| {
        if count == 0 { 0.0 } else { count as f64 * ln }
    };
    (ln_choose(n, k) + term(k, p.ln()) + term(n - k, (-p).ln_1p())).exp()
}

/// Returns the probabilities of 0, 1, … n heads of `n` fair coins; up to 1,000 coins exact as long as f64 holds the
/// coefficient.
pub(crate) fn coin_pmfs(n: u64) -> impl Iterator<Item = f64> {
    const EXACT: u64 = 1_000;
    let mut next = (n <= EXACT).then(|| (0..n).fold(1.0, |power, _| power / 2.0));
    (0..=n).map(move |k| match next {
        Some(here) => {
            // C(n, k + 1) = C(n, k)·(n − k)/(k + 1), a whole number before it is scaled.
            next = Some(here * (n - k) as f64 / (k + 1) as f64);
            here
        }
        None => binomial_pmf(k, n, 0.5),
    })
}

/// Returns the regularised incomplete beta function `I_x(a, b)` for `a, b > 0` and `0 ≤ x ≤ 1`.
///
/// By Lentz's continued fraction on the side of the mean where it converges fast. Source: Press et al., *Numerical Recipes*,
/// 3rd edition, 2007, section 6.4; Didonato and Morris, *Algorithm 708*, 1992, for the fraction.
pub(crate) fn beta_cdf(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let ln_front =
        libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * x.ln() + b * (-x).ln_1p();
    if x < (a + 1.0) / (a + b + 2.0) {
        ln_front.exp() * beta_fraction(x, a, b) / a
    } else {
        1.0 - ln_front.exp() * beta_fraction(1.0 - x, b, a) / b
    }
}

/// The continued fraction of `I_x(a, b)`; some `√max(a, b)` steps are needed.
fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    const STEPS: u32 = 100_000;
    let guard = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut numerator = 1.0;
    let mut denominator = guard(1.0 - (a + b) * x / (a + 1.0)).recip();
    let mut fraction = denominator;
    for step in (1..STEPS).map(f64::from) {
        let twice = a + 2.0 * step;
        let even = step * (b - step) * x / ((twice - 1.0) * twice);
        let odd = -(a + step) * (a + b + step) * x / (twice * (twice + 1.0));
        for term in [even, odd] {
            denominator = guard(1.0 + term * denominator).recip();
            numerator = guard(1.0 + term / numerator);
            fraction *= denominator * numerator;
        }
        if (denominator * numerator - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    fraction
}

/// Returns the `p` quantile of the beta distribution, by bisection of [`beta_cdf`].
pub(crate) fn beta_quantile(p: f64, a: f64, b: f64) -> f64 {
    rising_root(0.0, 1.0, |x| beta_cdf(x, a, b) - p)
}

/// Returns the `1 − tail` quantile of Student's t with `df` degrees of freedom, for `0 < tail < ½`.
pub(crate) fn t_critical(tail: f64, df: f64) -> f64 {
    // P(T > t) = I_x(df/2, ½)/2 with x = df/(df + t²), so the quantile of the beta distribution gives t.
    let x = beta_quantile(2.0 * tail, df / 2.0, 0.5);
    if x > 0.0 {
        (df * (1.0 - x) / x).sqrt()
    } else {
        f64::INFINITY
    }
}

/// Returns the point of `[low, high]` where a non-decreasing function crosses 0, by halving.
pub(crate) fn rising_root(low: f64, high: f64, function: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (low, high);
    for _ in 0..HALVINGS {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if function(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    low + (high - low) / 2.0
}

/// Returns the two-sided critical value of the normal distribution, `z(1 − alpha/2)`.
pub(crate) fn z_critical(alpha: f64) -> f64 {
    // Through the lower tail, which keeps its precision for alpha of any size.
    -normal_quantile(alpha / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_relative(found: f64, expected: f64, tolerance: f64) {
        assert!(
            (found / expected - 1.0).abs() < tolerance,
            "{found} is not {expected}"
        );
    }

    #[test]
    fn tails_equal_scipy() {
        // scipy 1.17.1: norm.cdf, betainc, betaincinv, t.sf, t.isf, binom.pmf.
        assert_relative(normal_cdf(-6.0), 9.865_876_450_376_98e-10, 1e-13);
        assert_relative(normal_cdf(1.5), 0.933_192_798_731_141_9, 1e-14);
    }

    #[test]
    fn the_ends_of_the_beta_distribution_are_exact() {
        assert!(beta_cdf(0.0, 2.0, 3.0).abs() < f64::MIN_POSITIVE);
        assert!((beta_cdf(1.0, 2.0, 3.0) - 1.0).abs() < f64::MIN_POSITIVE);
        // I_x(1, b) = 1 − (1 − x)^b.
        assert_relative(beta_cdf(0.3, 1.0, 4.0), 1.0 - 0.7_f64.powi(4), 1e-14);
    }
}
