//! The meaning of a scalar without quotes.
//!
//! The rules are those of go-yaml, which reads policies in Cerbos: the words of the YAML 1.2 core
//! schema, integers with an optional base (a leading zero is octal) and `_` between digits, and
//! numbers with a fraction. `1e3`, which has neither sign of a fraction, is text.

use std::sync::Arc;

use super::Kind;
use crate::expression::Style;

/// Returns the value of a plain scalar.
pub fn resolve(text: &str) -> Kind {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Kind::Null,
        "true" | "True" | "TRUE" => Kind::Bool(true),
        "false" | "False" | "FALSE" => Kind::Bool(false),
        ".inf" | ".Inf" | ".INF" => Kind::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Kind::Float(f64::NEG_INFINITY),
        ".nan" | ".NaN" | ".NAN" => Kind::Float(f64::NAN),
        _ => number(text).unwrap_or_else(|| Kind::String(Arc::from(text), Style::Plain)),
    }
}

fn number(text: &str) -> Option<Kind> {
    let first = text.chars().next()?;
    if text.len() > LONGEST_NUMBER || !(first.is_ascii_digit() || "+-.".contains(first)) {
        return None;
    }
    let (negative, rest) = match (text.strip_prefix('-'), text.strip_prefix('+')) {
        (Some(rest), _) => (true, rest),
        (None, Some(rest)) => (false, rest),
        (None, None) => (false, text),
    };
    let digits = rest.replace('_', "");
    if digits.matches('.').count() == 1 {
        return fraction(&digits).map(|value| Kind::Float(if negative { -value } else { value }));
    }
    integer(negative, &digits).map(Kind::Integer)
}

fn fraction(digits: &str) -> Option<f64> {
    let numeric = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    let starts_well = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if !digits.chars().all(numeric) || !starts_well {
        return None;
    }
    digits.parse().ok().filter(|value: &f64| value.is_finite())
}

fn integer(negative: bool, digits: &str) -> Option<i128> {
    let (base, digits) = match digits.get(..2) {
        Some("0x") => (16, digits.get(2..)?),
        Some("0o") => (8, digits.get(2..)?),
        Some("0b") => (2, digits.get(2..)?),
        Some(two) if two.starts_with('0') => (8, digits),
        _ => (10, digits),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let magnitude = i128::from_str_radix(digits, base).ok()?;
    let value = if negative { magnitude.checked_neg()? } else { magnitude };
    (value >= i128::from(i64::MIN) && value <= i128::from(u64::MAX)).then_some(value)
}

/// Longer texts are no number that 64 bits hold.
const LONGEST_NUMBER: usize = 400;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Kind) {
        assert_eq!(resolve(text), expected, "{text}");
    }

    fn text(text: &str) {
        check(text, Kind::String(Arc::from(text), Style::Plain));
    }

    #[test]
    fn core_words_have_three_spellings() {
        check("", Kind::Null);
        check("~", Kind::Null);
        check("NULL", Kind::Null);
        check("True", Kind::Bool(true));
        check("FALSE", Kind::Bool(false));
        text("yes");
        text("nULL");
        text("on");
    }

    #[test]
    fn integers_have_bases_and_signs() {
        check("20210210", Kind::Integer(20_210_210));
        check("+1", Kind::Integer(1));
        check("-12", Kind::Integer(-12));
        check("1_000", Kind::Integer(1000));
        check("0x1F", Kind::Integer(31));
        check("0o17", Kind::Integer(15));
        check("017", Kind::Integer(15));
        check("0b11", Kind::Integer(3));
        check("18446744073709551615", Kind::Integer(u64::MAX.into()));
        text("08");
        text("18446744073709551616");
        text("_1");
        text("0x");
        text("--1");
        text("0x-1");
    }

    #[test]
    fn a_dot_makes_a_fraction() {
        check("1.5", Kind::Float(1.5));
        check("-.5", Kind::Float(-0.5));
        check("1.5e3", Kind::Float(1500.0));
        check("5.", Kind::Float(5.0));
        text("1e3");
        text(".");
        text("1.2.3");
        text("1.0e999");
        text("10.0.0.0/8");
        text(".inf.");
    }
}
