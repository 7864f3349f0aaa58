use alloc::format;
use alloc::string::{String, ToString};

use super::{Decimal, fixed, parts, read, scientific, scientific_fixed, text};

/// The oracle is the standard library, with one exception: see [`shortest`].
fn check(value: f64) {
    if !value.is_finite() {
        assert_eq!(text(value), value.to_string());
        return;
    }
    let (mantissa, exponent) = scientific(value);
    assert_eq!((mantissa.as_str(), exponent), shortest(value).parts());
    assert_eq!(text(value), shortest(value).plain());
    for places in [0, 1, 2, 6, 15, 16, 17, 30] {
        assert_eq!(fixed(value, places), format!("{value:.places$}"));
        let (mantissa, exponent) = scientific_fixed(value, places);
        assert_eq!(format!("{mantissa}e{exponent}"), format!("{value:.places$e}"));
    }
    check_text(&text(value));
    check_text(&format!("{value:e}"));
    check_text(&format!("{value:.17e}"));
    check_text(&format!("{value:.12e}"));
}

/// The shortest text in scientific notation.
struct Shortest(String);

/// Returns the shortest text. Of two that are equally near, the standard library takes any; Go and
/// JavaScript take the even one, to which it rounds when the number of digits is given.
fn shortest(value: f64) -> Shortest {
    let any = format!("{value:e}");
    let places = any.bytes().take_while(|b| *b != b'e').filter(u8::is_ascii_digit).count() - 1;
    let even = format!("{value:.places$e}");
    Shortest(if even.parse() == Ok(value) { even } else { any })
}

impl Shortest {
    fn parts(&self) -> (&str, i32) {
        let (mantissa, exponent) = self.0.split_once('e').unwrap();
        (mantissa, exponent.parse().unwrap())
    }

    fn plain(&self) -> String {
        let (mantissa, exponent) = self.parts();
        let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
        let sign = if mantissa.starts_with('-') { "-" } else { "" };
        let whole = usize::try_from(exponent + 1).unwrap_or(0);
        let zeros = "0".repeat(usize::try_from(-exponent).unwrap_or(0));
        match digits.split_at_checked(whole) {
            Some((_, digits)) if whole == 0 => {
                format!("{sign}0.{}{digits}", zeros.replacen('0', "", 1))
            }
            Some((whole, "")) => format!("{sign}{whole}"),
            Some((whole, rest)) => format!("{sign}{whole}.{rest}"),
            None => format!("{sign}{digits}{}", "0".repeat(whole - digits.len())),
        }
    }
}

#[test]
fn of_two_equally_near_texts_the_even_one_is_printed() {
    assert_eq!(text(7_378_697_629_483_821.0 / 4.0), "1844674407370955.2");
    assert_eq!(text(7_378_697_629_483_823.0 / 4.0), "1844674407370955.8");
    assert_eq!(text(0.5_f64.powi(25)), "0.000000029802322387695312");
}

fn check_text(text: &str) {
    let ours = read(text).map(f64::to_bits);
    assert_eq!(ours, text.parse::<f64>().ok().map(f64::to_bits), "{text}");
}

/// Returns bits that look random and are the same in every run.
fn noise() -> impl Iterator<Item = u64> {
    let mut random = fastrand::Rng::with_seed(0);
    core::iter::repeat_with(move || random.u64(..))
}

#[test]
fn doubles_of_every_size_print_and_read_as_in_the_standard_library() {
    noise().take(3_000).map(f64::from_bits).for_each(check);
}

#[test]
fn numbers_of_daily_life_print_and_read_as_in_the_standard_library() {
    for bits in noise().take(2_000) {
        let whole = i32::try_from(bits >> 33).unwrap();
        check(f64::from(whole));
        check(f64::from(whole) / 100.0);
        check(f64::from_bits(bits >> 6 | 0x3c << 56));
        check(f64::from_bits(0x430 << 52 | bits >> 4));
    }
}

#[test]
fn neighbours_of_powers_print_and_read_as_in_the_standard_library() {
    let twos = (0..2047_u64).map(|field| field << 52);
    let tens = (-324..309).map(|power| format!("1e{power}").parse::<f64>().unwrap().to_bits());
    for bits in twos.chain(tens) {
        check(f64::from_bits(bits.saturating_sub(1)));
        check(f64::from_bits(bits));
        check(-f64::from_bits(bits + 1));
    }
    (0..100).map(f64::from_bits).for_each(check);
    [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, -0.0].into_iter().for_each(check);
}

#[test]
fn texts_halfway_between_two_doubles_read_as_the_even_one() {
    for bits in noise().take(1_000).map(|bits| bits >> 1) {
        let (mantissa, exponent) = parts(bits);
        let halfway = Decimal::product(mantissa * 2 + 1, exponent - 1);
        let digits: String = halfway.digits.iter().map(u8::to_string).collect();
        check_text(&format!("0.{digits}e{}", halfway.point));
        check_text(&format!("0.{digits}0001e{}", halfway.point));
        check_text(&format!("{digits}e{}", -halfway.places()));
        check_text(&format!(
            "{}49e{}",
            digits.strip_suffix('5').unwrap_or(&digits),
            -halfway.places()
        ));
    }
}

#[test]
fn long_and_unusual_texts_read_as_in_the_standard_library() {
    let zeros = "0".repeat(5_000);
    let nines = "9".repeat(5_000);
    check_text(&format!("0.{zeros}1e5001"));
    check_text(&format!("1{zeros}e-5000"));
    check_text(&format!("{nines}e-5300"));
    check_text(&format!("0.{nines}"));
    check_text(&format!("2.4703282292062327{nines}e-324"));
    check_text(&format!("179769313486231580793{nines}e-4712"));
    check_text(&format!("0.1{zeros}e99999999999999999999"));
    for text in [
        "",
        "+",
        "-",
        ".",
        "1.",
        ".5",
        "+.5",
        "-5.",
        "e5",
        ".e5",
        "1e",
        "1e+",
        "1e+5",
        "1E-5",
        "1e5.0",
        "1..2",
        "1.2.3",
        "--1",
        "+-1",
        " 1",
        "1 ",
        "1_0",
        "0x10",
        "١",
        "inf",
        "-INF",
        "+Infinity",
        "infinit",
        "nan",
        "-NaN",
        "nano",
        "1e400",
        "-1e400",
        "1e-400",
        "0e99999999999",
        "00012.50",
        "1e309",
        "1.8e308",
        "1.7976931348623157e308",
        "1.7976931348623159e308",
        "4.9e-324",
        "2.5e-324",
        "2.4e-324",
        "1e-324",
        "9007199254740993",
        "9007199254740993.00000000000000000001",
        "123456789012345e22",
    ] {
        check_text(text);
    }
}
