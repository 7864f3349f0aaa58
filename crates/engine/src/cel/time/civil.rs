//! Calendar dates of the proleptic Gregorian calendar.
//!
//! Counting days from 1 March puts the leap day at the end of the year, so that a division finds
//! month and day; 400 years are always 146097 days.

const SECONDS_PER_DAY: i64 = 86_400;
const DAYS_PER_ERA: i64 = 146_097;
/// Days from 1 March of the year 0 to the epoch.
const EPOCH_DAY: i64 = 719_468;

/// Date and time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Civil {
    /// The year.
    pub year: i64,
    /// 1 to 12.
    pub month: i64,
    /// 1 to 31.
    pub day: i64,
    /// 0 to 23.
    pub hour: i64,
    /// 0 to 59.
    pub minute: i64,
    /// 0 to 59.
    pub second: i64,
    /// Days since the epoch.
    pub epoch_day: i64,
}

impl Civil {
    /// Returns the date and time of day `seconds` after the epoch.
    #[must_use]
    pub fn from_seconds(seconds: i64) -> Self {
        let epoch_day = seconds.div_euclid(SECONDS_PER_DAY);
        let clock = seconds.rem_euclid(SECONDS_PER_DAY);
        let (year, month, day) = date_of(epoch_day);
        let (hour, minute, second) = (clock / 3600, clock / 60 % 60, clock % 60);
        Self { year, month, day, hour, minute, second, epoch_day }
    }

    /// Returns the day of the week, 0 for Sunday.
    #[must_use]
    pub const fn weekday(self) -> i64 {
        weekday_of(self.epoch_day)
    }

    /// Returns the days since 1 January.
    #[must_use]
    pub fn day_of_year(self) -> i64 {
        self.epoch_day.saturating_sub(day_of(self.year, 1, 1))
    }
}

/// Returns the days from the epoch to a date up to the year 9999.
pub(super) fn day_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year.saturating_sub(1) } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era.saturating_mul(DAYS_PER_ERA).saturating_add(day_of_era - EPOCH_DAY)
}

/// Returns the number of days of a month.
pub(super) const fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the day of the week of a day since the epoch, 0 for Sunday.
pub(super) const fn weekday_of(epoch_day: i64) -> i64 {
    // The epoch was a Thursday.
    (epoch_day.rem_euclid(7) + 4) % 7
}

fn date_of(epoch_day: i64) -> (i64, i64, i64) {
    let shifted = epoch_day.saturating_add(EPOCH_DAY);
    let era = shifted.div_euclid(DAYS_PER_ERA);
    let day_of_era = shifted.rem_euclid(DAYS_PER_ERA);
    let leaps = day_of_era / 1_460 - day_of_era / 36_524 + day_of_era / 146_096;
    let year_of_era = (day_of_era - leaps) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = (march_month + 2) % 12 + 1;
    let year = year_of_era + era.saturating_mul(400) + i64::from(month <= 2);
    (year, month, day)
}
