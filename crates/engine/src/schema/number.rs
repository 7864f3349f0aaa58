//! Numbers as JSON Schema defines them: decimals.
//!
//! `0.3` is a multiple of `0.1`, although their doubles are not. So divisibility is computed on the
//! shortest decimal of the double.

use crate::number::decimal;

pub(super) use crate::number::double_text as text;

/// Returns the double whose bits are two words, low word first.
pub(super) fn from_words(words: &[u32]) -> Option<f64> {
    match words {
        [low, high] => Some(f64::from_bits(u64::from(*low) | (u64::from(*high) << 32))),
        _ => None,
    }
}

pub(super) fn is_whole(value: f64) -> bool {
    value.is_finite() && value % 1.0 == 0.0
}

pub(super) fn is_multiple(value: f64, factor: f64) -> bool {
    let of = Decimal::of;
    value.is_finite() && factor.is_finite() && of(value).is_multiple_of(of(factor))
}

/// `digits * 10^exponent`, without its sign.
#[derive(Clone, Copy)]
struct Decimal {
    digits: u64,
    exponent: i32,
}

impl Decimal {
    fn of(value: f64) -> Self {
        let (digits, exponent) = decimal::Decimal::shortest(value).whole();
        Self { digits, exponent }
    }

    fn is_multiple_of(self, factor: Self) -> bool {
        if self.digits == 0 {
            return true;
        }
        if factor.digits == 0 {
            return false;
        }
        let shift = self.exponent.saturating_sub(factor.exponent);
        if shift >= 0 {
            // Each has at most 17 digits, so one more digit fits. A double's exponent bounds the
            // loop.
            let times_ten = |rest: u64, _| rest.saturating_mul(10) % factor.digits;
            return (0..shift).fold(self.digits % factor.digits, times_ten) == 0;
        }
        // A factor that does not fit is larger than any number of 17 digits.
        10_u64
            .checked_pow(shift.unsigned_abs())
            .and_then(|scale| factor.digits.checked_mul(scale))
            .is_some_and(|factor| self.digits.is_multiple_of(factor))
    }
}

#[cfg(test)]
mod tests {
    use super::{is_multiple, is_whole};

    #[test]
    fn multiples_are_those_of_the_decimals() {
        let check = |value, factor, expected| {
            assert_eq!(is_multiple(value, factor), expected, "{value} {factor}")
        };
        check(0.3, 0.1, true);
        check(0.35, 0.1, false);
        check(4.5, 1.5, true);
        check(-6.0, 4.0, false);
        check(-8.0, 4.0, true);
        check(0.0, 7.0, true);
        check(1e300, 3.0, false);
        check(1e300, 1e-300, true);
        check(1e-300, 1e300, false);
        check(7.0, 0.0, false);
    }

    #[test]
    fn whole_numbers_have_no_fraction() {
        assert!(is_whole(1e300) && is_whole(-0.0));
        assert!(!is_whole(0.5) && !is_whole(f64::NAN) && !is_whole(f64::INFINITY));
    }
}
