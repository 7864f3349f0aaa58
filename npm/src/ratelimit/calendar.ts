// Months of the proleptic Gregorian calendar in UTC.
//
// Years begin with March here, so that the leap day is the last of its year.

/** Returns the end of the month that contains a time; both in microseconds since 1970. */
export function monthEnd(time: number): number {
  // The 31st day after the first of a month is in the next one.
  return startDay(startDay(Math.floor(time / DAY)) + 31) * DAY;
}

/** Returns the first day of the month of a day; both since 1970. */
function startDay(day: number): number {
  const ofEra = (day + DAYS_TO_1970) % DAYS_OF_ERA;
  // Without the leap days before it, a day's year is a quotient.
  const leaps = Math.floor(ofEra / 1460) + Math.floor(ofEra / (DAYS_OF_ERA - 1)) - Math.floor(ofEra / 36_524);
  const year = Math.floor((ofEra - leaps) / 365);
  const ofYear = ofEra - year * 365 - Math.floor(year / 4) + Math.floor(year / 100);
  // Five months from March or August on have 153 days: 31, 30, 31, 30, 31.
  const month = Math.floor((ofYear * 5 + 2) / 153);
  return day - ofYear + Math.floor((month * 153 + 2) / 5);
}

const DAY = 86_400_000_000;

/** The days from the 1st of March of the year 0 to 1970. */
const DAYS_TO_1970 = 719_468;

/** The days of 400 years. */
const DAYS_OF_ERA = 146_097;
