//! Moments, durations, and their texts.
//!
//! A moment is in the years 1 to 9999 and has the offset of the text that it was read from, in
//! which it is written again, as in cel-go. Its parts, equality and order depend on the moment
//! alone.

mod civil;
mod duration;
mod parse;
mod zone;

use core::cmp::Ordering;
use core::fmt;

use super::error::Error;

pub use civil::Civil;
pub use duration::{format_duration, parse_duration};
pub use parse::parse_timestamp;
pub use zone::{Zone, ZoneError};

/// Nanoseconds in a second.
pub const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// A moment, with nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timestamp {
    // INVARIANT: MIN_SECONDS..=MAX_SECONDS.
    seconds: i64,
    // INVARIANT: below one second.
    nanos: u32,
    /// Seconds east of UTC.
    offset: i32,
}

impl Timestamp {
    /// Seconds since the epoch of the first moment, `0001-01-01T00:00:00Z`.
    pub const MIN_SECONDS: i64 = -62_135_596_800;
    /// Seconds since the epoch of the last second, `9999-12-31T23:59:59Z`.
    pub const MAX_SECONDS: i64 = 253_402_300_799;

    /// Returns the moment `seconds` and `nanos` after the epoch, in UTC; `None` if it is out of
    /// range.
    #[must_use]
    pub fn new(seconds: i64, nanos: u32) -> Option<Self> {
        let in_range = (Self::MIN_SECONDS..=Self::MAX_SECONDS).contains(&seconds);
        let whole = i64::from(nanos) < NANOS_PER_SECOND;
        (in_range && whole).then_some(Self { seconds, nanos, offset: 0 })
    }

    /// Returns the same moment with an offset of `offset` seconds east of UTC.
    #[must_use]
    pub const fn at_offset(self, offset: i32) -> Self {
        Self { offset, ..self }
    }

    /// Returns the whole seconds since the epoch.
    #[must_use]
    pub const fn seconds(self) -> i64 {
        self.seconds
    }

    /// Returns the nanoseconds within the second.
    #[must_use]
    pub const fn nanos(self) -> u32 {
        self.nanos
    }

    /// Returns the offset in seconds east of UTC.
    #[must_use]
    pub const fn offset(self) -> i32 {
        self.offset
    }

    /// Returns date and time of day at the moment's offset.
    #[must_use]
    pub fn civil(self) -> Civil {
        Civil::from_seconds(self.seconds.saturating_add(i64::from(self.offset)))
    }

    /// Returns the moment `nanos` nanoseconds later.
    ///
    /// # Errors
    ///
    /// The result is out of range.
    pub fn plus(self, nanos: i64) -> Result<Self, Error<'static>> {
        let sum = i64::from(self.nanos).saturating_add(nanos.rem_euclid(NANOS_PER_SECOND));
        let seconds = self
            .seconds
            .saturating_add(nanos.div_euclid(NANOS_PER_SECOND))
            .saturating_add(sum / NANOS_PER_SECOND);
        u32::try_from(sum % NANOS_PER_SECOND)
            .ok()
            .and_then(|nanos| Self::new(seconds, nanos))
            .map(|moment| moment.at_offset(self.offset))
            .ok_or(Error::TIMESTAMP_OVERFLOW)
    }

    /// Returns the nanoseconds from `earlier` to this moment.
    ///
    /// # Errors
    ///
    /// They do not fit 64 bits.
    pub fn since(self, earlier: Self) -> Result<i64, Error<'static>> {
        let nanos = i64::from(self.nanos).saturating_sub(i64::from(earlier.nanos));
        self.seconds
            .checked_sub(earlier.seconds)
            .and_then(|seconds| seconds.checked_mul(NANOS_PER_SECOND))
            .and_then(|whole| whole.checked_add(nanos))
            .ok_or(Error::INT_OVERFLOW)
    }
}

impl PartialEq for Timestamp {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Timestamp {}

impl PartialOrd for Timestamp {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Timestamp {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.seconds, self.nanos).cmp(&(other.seconds, other.nanos))
    }
}

impl fmt::Display for Timestamp {
    /// Writes RFC 3339, with as many digits of the fraction as are needed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let civil = self.civil();
        let Civil { year, month, day, hour, minute, second, .. } = civil;
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        write_fraction(f, self.nanos)?;
        let minutes = self.offset / 60;
        if minutes == 0 {
            return f.write_str("Z");
        }
        let sign = if minutes < 0 { '-' } else { '+' };
        let minutes = minutes.unsigned_abs();
        write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

fn write_fraction(f: &mut fmt::Formatter<'_>, nanos: u32) -> fmt::Result {
    if nanos == 0 {
        return Ok(());
    }
    let (mut digits, mut width) = (nanos, 9);
    while digits % 10 == 0 {
        digits /= 10;
        width -= 1;
    }
    write!(f, ".{digits:0width$}")
}

#[cfg(test)]
mod tests;
