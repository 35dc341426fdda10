//! Numbers as people read them. Stored numbers keep every digit; these are for the eye.

/// Returns a count with thousands separated, e.g. `20,000`.
pub fn count(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a metric value with four decimals.
pub fn value(number: f64) -> String {
    format!("{number:.4}")
}

/// Returns a difference with its sign and four decimals, so that an improvement and a loss look different at a glance.
pub fn signed(number: f64) -> String {
    format!("{number:+.4}")
}

/// Returns a p-value with four decimals, or in powers of ten where four decimals would say zero.
pub fn p_value(number: f64) -> String {
    if number < 0.000_05 {
        format!("{number:.0e}")
    } else {
        format!("{number:.4}")
    }
}

/// Returns a share as a percentage with one decimal.
pub fn share(number: f64) -> String {
    format!("{:.1} %", 100.0 * number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_written_here() {
        let counts = [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_234_567, "1,234,567"),
        ];
        for (number, text) in counts {
            assert_eq!(count(number), text);
        }
        assert_eq!(signed(0.003_451), "+0.0035");
        assert_eq!(signed(-0.5), "-0.5000");
        assert_eq!(p_value(0.120_2), "0.1202");
        assert_eq!(p_value(0.000_01), "1e-5");
        assert_eq!(share(0.1234), "12.3 %");
    }
}
