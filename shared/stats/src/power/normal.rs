//! How small an effect the data at hand could have shown.

/// Returns the smallest mean difference that a two-sided test at `alpha` finds with probability `power`.
///
/// ```text
/// mde = (z(1 − α/2) + z(power)) · se,   se = sd/√n of the paired differences
/// ```
///
/// by the normal approximation, in the unit of the standard error; too optimistic when few queries changed. The standard
/// deviation has to be that of the paired differences: that of one system alone says nothing of a paired comparison.
///
/// Source: Lehr, *Sixteen s-squared over d-squared*, 1992; Cohen, *Statistical Power Analysis*, 2nd edition, 1988, section 2.4.
pub fn minimum_detectable_effect(standard_error: f64, alpha: f64, power: f64) -> f64 {
    (normal_quantile(1.0 - alpha / 2.0) + normal_quantile(power)) * standard_error
}

/// Returns the `p` quantile of the standard normal distribution; infinite at 0 and 1, NaN outside.
///
/// Relative error about 1e-16. Source: Wichura, *Algorithm AS 241: the percentage points of the normal distribution*, 1988,
/// routine PPND16.
pub fn normal_quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        return q * ratio(0.180_625 - q * q, &CENTRE);
    }
    let r = (-p.min(1.0 - p).ln()).sqrt();
    if r.is_infinite() {
        return r.copysign(q);
    }
    let magnitude = if r <= 5.0 {
        ratio(r - 1.6, &MIDDLE)
    } else {
        ratio(r - 5.0, &TAIL)
    };
    magnitude.copysign(q)
}

/// Coefficients of a numerator and a denominator, constant term first.
type Rational = [[f64; 8]; 2];

fn ratio(x: f64, [numerator, denominator]: &Rational) -> f64 {
    let horner = |terms: &[f64; 8]| terms.iter().rev().fold(0.0, |sum, term| sum * x + term);
    horner(numerator) / horner(denominator)
}

/// |p − ½| ≤ .425.
#[expect(
    clippy::excessive_precision,
    clippy::unreadable_literal,
    reason = "digits as the paper prints them"
)]
const CENTRE: Rational = [
    [
        3.3871328727963666080e0,
        1.3314166789178437745e2,
        1.9715909503065514427e3,
        1.3731693765509461125e4,
        4.5921953931549871457e4,
        6.7265770927008700853e4,
        3.3430575583588128105e4,
        2.5090809287301226727e3,
    ],
    [
        1.0,
        4.2313330701600911252e1,
        6.8718700749205790830e2,
        5.3941960214247511077e3,
        2.1213794301586595867e4,
        3.9307895800092710610e4,
        2.8729085735721942674e4,
        5.2264952788528545610e3,
    ],
];

/// √(−ln p) ≤ 5.
#[expect(
    clippy::excessive_precision,
    clippy::unreadable_literal,
    reason = "digits as the paper prints them"
)]
const MIDDLE: Rational = [
    [
        1.42343711074968357734e0,
        4.63033784615654529590e0,
        5.76949722146069140550e0,
        3.64784832476320460504e0,
        1.27045825245236838258e0,
        2.41780725177450611770e-1,
        2.27238449892691845833e-2,
        7.74545014278341407640e-4,
    ],
    [
        1.0,
        2.05319162663775882187e0,
        1.67638483018380384940e0,
        6.89767334985100004550e-1,
        1.48103976427480074590e-1,
        1.51986665636164571966e-2,
        5.47593808499534494600e-4,
        1.05075007164441684324e-9,
    ],
];

/// √(−ln p) > 5.
#[expect(
    clippy::excessive_precision,
    clippy::unreadable_literal,
    reason = "digits as the paper prints them"
)]
const TAIL: Rational = [
    [
        6.65790464350110377720e0,
        5.46378491116411436990e0,
        1.78482653991729133580e0,
        2.96560571828504891230e-1,
        2.65321895265761230930e-2,
        1.24266094738807843860e-3,
        2.71155556874348757815e-5,
        2.01033439929228813265e-7,
    ],
    [
        1.0,
        5.99832206555887937690e-1,
        1.36929880922735805310e-1,
        1.48753612908506148525e-2,
        7.86869131145613259100e-4,
        1.84631831751005468180e-5,
        1.42151175831644588870e-7,
        2.04426310338993978564e-15,
    ],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_equal_the_published_ones() {
        // The paper's own test values for PPND16.
        for (p, expected) in [
            (0.25, -0.674_489_750_196_081_7),
            (0.001, -3.090_232_306_167_814),
            (1e-20, -9.262_340_089_798_408),
        ] {
            assert!(
                (normal_quantile(p) / expected - 1.0_f64).abs() < 1e-15,
                "{p}"
            );
        }
        // scipy 1.17 norm.ppf(.975).
        assert!((normal_quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-14);
        assert!(normal_quantile(0.5).abs() < 1e-300);
        assert!(normal_quantile(1.0).is_infinite() && normal_quantile(0.0) < 0.0);
        assert!(normal_quantile(1.5).is_nan() && normal_quantile(f64::NAN).is_nan());
    }

    #[test]
    fn s22_detectable_effects_of_the_published_experiment() {
        // cases.md S22: sd .1374.
        for (n, expected) in [(600.0_f64, 0.0157), (1400.0, 0.0103)] {
            let effect = minimum_detectable_effect(0.1374 / n.sqrt(), 0.05, 0.80);
            assert!(
                (effect - expected).abs() < 5e-5,
                "{effect} is not {expected}"
            );
        }
    }
}
