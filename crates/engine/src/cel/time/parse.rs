//! The text of a moment: RFC 3339, as Go's `time.Parse` reads it.
//!
//! Go is laxer than the RFC in two respects and so is this: the hour may have one digit, and a
//! comma may start the fraction.

use super::Timestamp;
use super::civil::{day_of, days_in_month};
use crate::cel::error::Error;

/// Reads a moment such as `2021-04-22T10:05:20.021-05:00`.
///
/// # Errors
///
/// The text is not a moment, or is outside the years 1 to 9999.
pub fn parse_timestamp(text: &str) -> Result<Timestamp, Error<'static>> {
    let wrong = || Error::conversion("string", "google.protobuf.Timestamp");
    let (seconds, nanos, offset) = parse(text).ok_or_else(wrong)?;
    Timestamp::new(seconds, nanos)
        .map(|moment| moment.at_offset(offset))
        .ok_or(Error::TIMESTAMP_OVERFLOW)
}

/// Returns seconds and nanoseconds since the epoch, and the offset.
fn parse(text: &str) -> Option<(i64, u32, i32)> {
    let mut reader = Reader(text.as_bytes());
    let year = reader.digits(4)?;
    let month = reader.after(b'-')?.digits(2).filter(|month| (1..=12).contains(month))?;
    let days = days_in_month(year, month);
    let day = reader.after(b'-')?.digits(2).filter(|day| (1..=days).contains(day))?;
    let hour = reader.after(b'T')?.hour().filter(|hour| *hour < 24)?;
    let minute = reader.after(b':')?.digits(2).filter(|minute| *minute < 60)?;
    let second = reader.after(b':')?.digits(2).filter(|second| *second < 60)?;
    let nanos = reader.fraction();
    let offset = reader.offset()?;
    if !reader.0.is_empty() {
        return None;
    }
    let local = day_of(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    Some((local - i64::from(offset), nanos, offset))
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn after(&mut self, expected: u8) -> Option<&mut Self> {
        self.0 = self.0.strip_prefix(&[expected])?;
        Some(self)
    }

    fn digit(&mut self) -> Option<i64> {
        let (first, rest) = self.0.split_first()?;
        let digit = first.is_ascii_digit().then(|| i64::from(first - b'0'))?;
        self.0 = rest;
        Some(digit)
    }

    fn digits(&mut self, count: usize) -> Option<i64> {
        (0..count).try_fold(0, |number, _| Some(number * 10 + self.digit()?))
    }

    fn hour(&mut self) -> Option<i64> {
        let first = self.digit()?;
        Some(self.digit().map_or(first, |second| first * 10 + second))
    }

    /// Reads the digits after a point; those beyond nanoseconds are dropped.
    fn fraction(&mut self) -> u32 {
        let starts = matches!(self.0, [b'.' | b',', digit, ..] if digit.is_ascii_digit());
        if !starts {
            return 0;
        }
        self.0 = self.0.get(1..).unwrap_or_default();
        let (mut nanos, mut unit) = (0, 100_000_000);
        while let Some(digit) = self.digit() {
            nanos += digit * unit;
            unit /= 10;
        }
        u32::try_from(nanos).unwrap_or(0)
    }

    fn offset(&mut self) -> Option<i32> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        let sign = match first {
            b'Z' => return Some(0),
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        // Go accepts 24 hours and 60 minutes.
        let hours = self.digits(2).filter(|hours| *hours <= 24)?;
        let minutes = self.after(b':')?.digits(2).filter(|minutes| *minutes <= 60)?;
        i32::try_from(sign * (hours * 3600 + minutes * 60)).ok()
    }
}
