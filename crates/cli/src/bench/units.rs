//! Figures for people: units that fit, and as many digits as a measurement deserves.

/// Returns the nearest double.
#[expect(clippy::as_conversions, reason = "a measured count need not be exact beyond 53 bits")]
pub(crate) const fn approximate(count: u64) -> f64 {
    count as f64
}

/// Returns the nearest whole number within the range.
#[expect(clippy::as_conversions, reason = "the cast saturates, which is what is wanted")]
pub(crate) const fn whole(figure: f64) -> u64 {
    figure.round() as u64
}

/// Returns a time with its unit.
pub(crate) fn time(nanoseconds: f64) -> String {
    scaled(nanoseconds, 1000.0, &["ns", "µs", "ms", "s"])
}

/// Returns a size with its unit.
pub(crate) fn size(bytes: f64) -> String {
    scaled(bytes, 1024.0, &["bytes", "KiB", "MiB", "GiB"])
}

/// Returns a part of a whole in percent.
pub(crate) fn share(count: u64, total: u64) -> String {
    let percent = approximate(count) * 100.0 / approximate(total.max(1));
    match count {
        0 => String::new(),
        _ if percent < 0.01 => "< 0.01 %".to_owned(),
        _ if percent < 10.0 => format!("{percent:.2} %"),
        _ => format!("{percent:.1} %"),
    }
}

/// Returns a whole number with its thousands apart.
pub(crate) fn grouped(figure: f64) -> String {
    let digits = whole(figure).to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns three digits of a figure, without zeros at the end of a fraction.
pub(crate) fn three_digits(figure: f64) -> String {
    let decimals = match figure.abs() {
        it if it < 9.995 => 2,
        it if it < 99.95 => 1,
        _ => 0,
    };
    let text = format!("{figure:.decimals$}");
    match text.split_once('.') {
        None => text,
        Some((whole, fraction)) => match fraction.trim_end_matches('0') {
            "" => whole.to_owned(),
            fraction => format!("{whole}.{fraction}"),
        },
    }
}

fn scaled(mut figure: f64, step: f64, units: &[&str]) -> String {
    let mut units = units.iter();
    let mut unit = units.next();
    while figure.abs() >= step - 0.5 && units.len() > 0 {
        figure /= step;
        unit = units.next();
    }
    format!("{} {}", three_digits(figure), unit.unwrap_or(&""))
}

#[cfg(test)]
mod tests {
    use super::{grouped, share, size, time};

    #[test]
    fn times_have_three_digits_and_the_unit_that_fits() {
        let check = |nanoseconds: f64, expected: &str| assert_eq!(time(nanoseconds), expected);
        check(0.0, "0 ns");
        check(0.25, "0.25 ns");
        check(31.46, "31.5 ns");
        check(99.96, "100 ns");
        check(999.4, "999 ns");
        check(999.6, "1 µs");
        check(3_150.0, "3.15 µs");
        check(20_000_000.0, "20 ms");
        check(7e12, "7000 s");
    }

    #[test]
    fn sizes_may_be_negative() {
        let check = |bytes: f64, expected: &str| assert_eq!(size(bytes), expected);
        check(17.0, "17 bytes");
        check(1_114_112.0, "1.06 MiB");
        check(-2048.0, "-2 KiB");
    }

    #[test]
    fn small_shares_are_not_rounded_away() {
        let check = |count: u64, expected: &str| assert_eq!(share(count, 100_000), expected);
        check(0, "");
        check(1, "< 0.01 %");
        check(10, "0.01 %");
        check(61_230, "61.2 %");
        check(100_000, "100.0 %");
    }

    #[test]
    fn thousands_stand_apart() {
        let check = |figure: f64, expected: &str| assert_eq!(grouped(figure), expected);
        check(0.0, "0");
        check(999.0, "999");
        check(1000.4, "1,000");
        check(4_210_000.0, "4,210,000");
        check(f64::NAN, "0");
    }
}
