//! Months of the proleptic Gregorian calendar in UTC.
//!
//! Years begin with March here, so that the leap day is the last of its year. All numbers are days,
//! and small.

use core::num::NonZeroU64;

/// Returns the start of the month that contains a time; both in microseconds since 1970.
pub(crate) fn month_start(time: u64) -> u64 {
    start_day(time / DAY).saturating_mul(DAY.get())
}

/// Returns the end of that month.
pub(crate) fn month_end(time: u64) -> u64 {
    // The 31st day after the first of a month is in the next one.
    let within_next = start_day(time / DAY).saturating_add(31);
    start_day(within_next).saturating_mul(DAY.get())
}

/// Returns the first day of the month of a day; both since 1970.
fn start_day(day: u64) -> u64 {
    let day_of_era = day.saturating_add(DAYS_TO_1970) % DAYS_OF_ERA;
    // Without the leap days before it, a day's year is a quotient.
    let leap_days = (day_of_era / DAYS_OF_FOUR_YEARS)
        .saturating_add(day_of_era / DAYS_OF_ERA_LESS_ONE)
        .saturating_sub(day_of_era / DAYS_OF_CENTURY);
    let year = day_of_era.saturating_sub(leap_days) / 365;
    let year_start = (year * 365).saturating_add(year / 4).saturating_sub(year / 100);
    let day_of_year = day_of_era.saturating_sub(year_start);
    // Five months from March or August on have 153 days: 31, 30, 31, 30, 31.
    let month = day_of_year.saturating_mul(5).saturating_add(2) / 153;
    let month_start = month.saturating_mul(153).saturating_add(2) / 5;
    day.saturating_sub(day_of_year.saturating_sub(month_start))
}

const DAY: NonZeroU64 = NonZeroU64::new(86_400_000_000).unwrap();

/// The days from the 1st of March of the year 0 to 1970.
const DAYS_TO_1970: u64 = 719_468;

/// The days of 400 years.
const DAYS_OF_ERA: u64 = 146_097;

const DAYS_OF_ERA_LESS_ONE: u64 = DAYS_OF_ERA - 1;

/// The days of 100 years that end with no leap day.
const DAYS_OF_CENTURY: u64 = 36_524;

/// The days before the leap day that ends four years.
const DAYS_OF_FOUR_YEARS: u64 = 1_460;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_follow_each_other_by_their_lengths() {
        let (mut day, mut year) = (0, 1970);
        while year < 2400 {
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let february = if is_leap { 29 } else { 28 };
            for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
                let (start, end) = (day * DAY.get(), (day + length) * DAY.get());
                for time in [start, start + 1, (start + end) / 2, end - DAY.get(), end - 1] {
                    assert_eq!((month_start(time), month_end(time)), (start, end), "{year} {time}");
                }
                for other in day..day + length {
                    assert_eq!(start_day(other), day);
                }
                day += length;
            }
            year += 1;
        }
    }
}
