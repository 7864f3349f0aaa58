//! Moments and times of day.
//!
//! RFC 3339, section 5.6. The draft also writes `_` for `T`, colons between year, month and day, no
//! offset for UTC, and no minutes of the offset if they are zero. An offset is subtracted as in RFC
//! 3339: `10:00:00+01:00` is nine o'clock in UTC. (The example of the draft adds it.)

use core::fmt;

/// A moment: minutes of UTC since 1970, and the time within the minute. The 61st second sorts last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment {
    minutes: i64,
    within: Nanoseconds,
}

/// A time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Clock {
    minutes: u16,
    within: Nanoseconds,
}

/// Nanoseconds within a minute, below 61 seconds.
type Nanoseconds = u64;

impl Clock {
    pub(crate) const LEAST: Self = Self { minutes: 0, within: 0 };

    /// Reads `hh:mm:ss` with or without a fraction of at most nine digits.
    pub(crate) fn read(text: &[u8]) -> Option<Self> {
        let (clock, rest) = Self::split(text)?;
        rest.is_empty().then_some(clock)
    }

    fn split(text: &[u8]) -> Option<(Self, &[u8])> {
        let (hour, rest) = number(text, 2)?;
        let (minute, rest) = number(rest.strip_prefix(b":")?, 2)?;
        let (second, rest) = number(rest.strip_prefix(b":")?, 2)?;
        let (fraction, rest) = match rest.strip_prefix(b".") {
            Some(digits) => fraction(digits)?,
            None => (0, rest),
        };
        if hour > 23 || minute > 59 || second > 60 {
            return None;
        }
        let minutes = u16::try_from(hour.checked_mul(60)?.checked_add(minute)?).ok()?;
        let within = u64::from(second).checked_mul(SECOND)?.checked_add(fraction)?;
        Some((Self { minutes, within }, rest))
    }
}

impl Moment {
    /// Reads a date and a time of day.
    pub(crate) fn read(text: &[u8]) -> Option<Self> {
        let (year, rest) = number(text, 4)?;
        let (dash, rest) = rest.split_first().filter(|(byte, _)| matches!(byte, b'-' | b':'))?;
        let (month, rest) = number(rest, 2)?;
        let (day, rest) = number(rest.strip_prefix(&[*dash])?, 2)?;
        let (_, rest) =
            rest.split_first().filter(|(byte, _)| matches!(byte, b'T' | b't' | b'_'))?;
        let (clock, rest) = Clock::split(rest)?;
        let days = days(i64::from(year), month, day)?;
        let local = days.checked_mul(24 * 60)?.checked_add(i64::from(clock.minutes))?;
        let minutes = local.checked_sub(offset(rest)?)?;
        (FIRST..=LAST).contains(&minutes).then_some(Self { minutes, within: clock.within })
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = date(self.minutes.div_euclid(24 * 60));
        let of_day = u16::try_from(self.minutes.rem_euclid(24 * 60)).unwrap_or_default();
        let clock = Clock { minutes: of_day, within: self.within };
        write!(out, "{year:04}-{month:02}-{day:02}T{clock}Z")
    }
}

impl fmt::Display for Clock {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hour, minute) = (self.minutes / 60, self.minutes % 60);
        write!(out, "{hour:02}:{minute:02}:{:02}", self.within / SECOND)?;
        let mut fraction = self.within % SECOND;
        let mut digits: usize = 9;
        while fraction != 0 && fraction.is_multiple_of(10) {
            fraction /= 10;
            digits = digits.saturating_sub(1);
        }
        if fraction == 0 { Ok(()) } else { write!(out, ".{fraction:0digits$}") }
    }
}

/// Reads exactly `count` digits.
fn number(text: &[u8], count: usize) -> Option<(u32, &[u8])> {
    let (digits, rest) = text.split_at_checked(count)?;
    let value = digits.iter().try_fold(0_u32, |value, digit| {
        let digit = char::from(*digit).to_digit(10)?;
        value.checked_mul(10)?.checked_add(digit)
    })?;
    Some((value, rest))
}

/// Reads up to nine digits as nanoseconds. Zeros after them are ignored, and other digits refused.
fn fraction(text: &[u8]) -> Option<(u64, &[u8])> {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at_checked(count).filter(|_| count > 0)?;
    let mut value: u64 = 0;
    let mut worth = SECOND / 10;
    for digit in digits.iter().map(|digit| u64::from(digit & 0xF)) {
        if worth == 0 && digit != 0 {
            return None;
        }
        value = value.checked_add(digit.checked_mul(worth)?)?;
        worth /= 10;
    }
    Some((value, rest))
}

/// Reads an offset in minutes: the empty text, `Z`, `+01:30` or `+01`.
fn offset(text: &[u8]) -> Option<i64> {
    let (sign, rest) = match text.split_first() {
        None | Some((b'Z' | b'z', [])) => return Some(0),
        Some((b'+', rest)) => (1, rest),
        Some((b'-', rest)) => (-1, rest),
        Some(_) => return None,
    };
    let (hours, rest) = number(rest, 2)?;
    let (minutes, rest) = match rest.strip_prefix(b":") {
        Some(rest) => number(rest, 2)?,
        None => (0, rest),
    };
    if hours > 23 || minutes > 59 || !rest.is_empty() {
        return None;
    }
    Some(sign * i64::from(hours.checked_mul(60)?.checked_add(minutes)?))
}

/// Counts the days from 1970-01-01 to a date of the Gregorian calendar that exists.
///
/// Years begin in March, so that the leap day is the last.
fn days(year: i64, month: u32, day: u32) -> Option<i64> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let of_year = (153 * i64::from(month) + 2) / 5 + i64::from(day) - 1;
    let before = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(before + of_year - DAYS_BEFORE_1970)
}

/// Returns the date of a day counted from 1970-01-01: the inverse of `days`.
fn date(day: i64) -> (i64, i64, i64) {
    let day = day + DAYS_BEFORE_1970;
    let era = day.div_euclid(DAYS_OF_400_YEARS);
    let of_era = day.rem_euclid(DAYS_OF_400_YEARS);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + next, month, day)
}

const SECOND: u64 = 1_000_000_000;

/// The number of days from the first of March of the year 0 to 1970-01-01.
const DAYS_BEFORE_1970: i64 = 719_468;

const DAYS_OF_400_YEARS: i64 = 146_097;

/// The first minute of the year 0, and the last of the year 9999: four digits can write no other.
const FIRST: i64 = -719_528 * 24 * 60;
const LAST: i64 = 2_932_897 * 24 * 60 - 1;
