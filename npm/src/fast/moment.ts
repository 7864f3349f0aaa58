// Reads moments such as `2021-04-22T10:05:20.021-05:00`.
//
// Only the common form, with which the general path agrees to the millisecond; any other text is
// left to it. It has no regular expression and no `Date`: both would cost more than the decision.

/** Returns the milliseconds since 1970 of a text; `NaN` if only the general path may read it. */
export const momentOf = (text: string): number => {
  const { length } = text;
  if (length > LONGEST || !has(text, 4, DASH) || !has(text, 7, DASH) || !has(text, 10, T)) return NaN;
  if (!has(text, 13, COLON) || !has(text, 16, COLON)) return NaN;
  const year = pair(text, 0) * 100 + pair(text, 2);
  const month = pair(text, 5);
  const day = pair(text, 8);
  const hour = pair(text, 11);
  const minute = pair(text, 14);
  const second = pair(text, 17);
  const isDate = year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
  const isTime = hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0 && second < 60;
  if (!isDate || !isTime) return NaN;
  let at = 19;
  let fraction = 0;
  let unit = 1_000_000;
  if (has(text, at, POINT)) {
    const start = ++at;
    for (let digit = digitAt(text, at); digit >= 0; digit = digitAt(text, at)) {
      unit /= 10;
      // Beyond microseconds.
      if (unit < 1) return NaN;
      fraction += digit * unit;
      at += 1;
    }
    if (at === start) return NaN;
  }
  const offset = offsetAt(text, at);
  const seconds = daysTo(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset * 60;
  if (!(seconds >= MIN_SECONDS && seconds <= MAX_SECONDS)) return NaN;
  if (fraction % 1000 === 0) return seconds * 1000 + fraction / 1000;
  return Math.abs(seconds) > MAX_FINE_SECONDS ? NaN : (seconds * 1_000_000 + fraction) / 1000;
};

/** Returns the minutes of the offset that ends the text; `NaN` if there is none. */
const offsetAt = (text: string, at: number): number => {
  if (has(text, at, Z)) return text.length === at + 1 ? 0 : NaN;
  const isWest = has(text, at, DASH);
  if ((!isWest && !has(text, at, PLUS)) || text.length !== at + 6 || !has(text, at + 3, COLON)) return NaN;
  const hours = pair(text, at + 1);
  const minutes = pair(text, at + 4);
  if (!(hours >= 0 && hours < 24 && minutes >= 0 && minutes < 60)) return NaN;
  return isWest ? -(hours * 60 + minutes) : hours * 60 + minutes;
};

const has = (text: string, at: number, code: number): boolean => text.charCodeAt(at) === code;

/** Returns the number of two digits; it is negative if they are none. */
const pair = (text: string, at: number): number => digitAt(text, at) * 10 + digitAt(text, at + 1);

const digitAt = (text: string, at: number): number => {
  const digit = text.charCodeAt(at) - 48;
  return digit >= 0 && digit <= 9 ? digit : NO_DIGIT;
};

const daysIn = (year: number, month: number): number =>
  month === 2 ? (isLeap(year) ? 29 : 28) : month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;

const isLeap = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);

/** Returns the days from 1970 to a date: years begin in March, so that a leap day ends one. */
const daysTo = (year: number, month: number, day: number): number => {
  const shifted = month > 2 ? year : year - 1;
  const ofYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  return shifted * 365 + Math.floor(shifted / 4) - Math.floor(shifted / 100) + Math.floor(shifted / 400) + ofYear - 719_468;
};

const [DASH, PLUS, POINT, COLON, T, Z] = [45, 43, 46, 58, 84, 90];

/** So far below zero that no sum with other digits is a number of a date. */
const NO_DIGIT = -10_000;

/** The length of a moment with six digits of a fraction and an offset. */
const LONGEST = 32;

/** The first and the last second of the years 1 to 9999. */
const MIN_SECONDS = -62_135_596_800;
const MAX_SECONDS = 253_402_300_799;

/** Farther from 1970 microseconds have no numbers of their own: see `crates/fastpath/src/layout.rs`. */
const MAX_FINE_SECONDS = 4_398_046_510;
