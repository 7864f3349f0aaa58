//! Moments as the numbers of a frame: milliseconds since 1970.
//!
//! Doubles hold whole milliseconds exactly. A fraction is rounded, but near enough to 1970 different
//! microseconds, and a moment between two of them, have different numbers in the same order.

use wardgate_engine::cel::Timestamp;
use wardgate_engine::number::int_to_double;
use wardgate_fastpath::layout::test::MAX_FINE_SECONDS;

/// Returns the number of the moment of a text; `None` if only the general path may compare it.
pub(crate) fn of_text(moment: Timestamp) -> Option<f64> {
    moment.nanos().is_multiple_of(1000).then(|| of_time(moment))?
}

/// Returns the number of the time of a decision; it lies between those of two microseconds if the
/// time does.
pub(crate) fn of_time(moment: Timestamp) -> Option<f64> {
    let (seconds, nanos) = (moment.seconds(), i64::from(moment.nanos()));
    if nanos % 1_000_000 == 0 {
        return Some(int_to_double(seconds * 1000 + nanos / 1_000_000));
    }
    if seconds.abs() > MAX_FINE_SECONDS {
        return None;
    }
    let whole = int_to_double(seconds * 1_000_000 + nanos / 1000);
    let rest = if nanos % 1000 == 0 { 0.0 } else { 0.5 };
    Some((whole + rest) / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::{of_text, of_time};
    use wardgate_engine::cel::Timestamp;
    use wardgate_fastpath::layout::test::MAX_FINE_SECONDS;

    #[test]
    fn numbers_have_the_order_of_moments() {
        let seconds = [
            Timestamp::MIN_SECONDS,
            -MAX_FINE_SECONDS - 1,
            -MAX_FINE_SECONDS,
            -1,
            0,
            1_700_000_000,
            MAX_FINE_SECONDS - 1,
            MAX_FINE_SECONDS,
            MAX_FINE_SECONDS + 1,
            Timestamp::MAX_SECONDS,
        ];
        let nanos = [
            0,
            1,
            999,
            1000,
            1001,
            2000,
            999_000,
            1_000_000,
            998_999_999,
            999_999_000,
            999_999_999,
        ];
        let all = seconds
            .iter()
            .flat_map(|seconds| nanos.iter().filter_map(|nanos| Timestamp::new(*seconds, *nanos)));
        let all: Vec<Timestamp> = all.collect();
        let mut compared = 0;
        for text in &all {
            for time in &all {
                let (Some(left), Some(right)) = (of_text(*text), of_time(*time)) else { continue };
                assert_eq!(left.partial_cmp(&right), Some(text.cmp(time)), "{text} {time}");
                compared += 1;
            }
        }
        assert!(compared > 1000, "{compared}");
    }
}
