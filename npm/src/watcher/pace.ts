// Computes the time of the next poll of a watcher.
//
// Many hosts watch one server. Random jitter spreads their polls, and waits double with each
// failure, so that a struggling server can recover.

/** The settings for the wait. */
export interface Pace {
  readonly interval: number;
  readonly maxInterval: number;
  readonly jitter: number;
  readonly random: () => number;
}

/** The results of earlier polls. */
export interface PollHistory {
  /** The number of failures since the last good answer. */
  readonly failures: number;
  /** True if the watcher has a bundle. */
  readonly hasBundle: boolean;
  /** The time that the server asks to wait, in milliseconds. */
  readonly retryAfter: number;
}

/** Returns the milliseconds until the next poll. */
export function wait({ interval, maxInterval, jitter, random }: Pace, { failures, hasBundle, retryAfter }: PollHistory): number {
  // A watcher without a bundle retries sooner.
  const first = failures > 0 && !hasBundle ? Math.min(interval, SOON) : interval;
  const doubled = Math.min(first * 2 ** Math.min(failures, MOST_DOUBLINGS), maxInterval);
  const wanted = Math.max(doubled, Math.min(retryAfter, maxInterval));
  // Jitter must not shorten a time that the server has named.
  const swing = wanted > doubled ? fraction(random) : 2 * fraction(random) - 1;
  return Math.min(Math.max(wanted * (1 + jitter * swing), LEAST), LONGEST);
}

/** Reads `Retry-After` in milliseconds: seconds or a date (RFC 9110, section 10.2.3). */
export function readRetryAfter(text: string | null, now: number): number {
  if (text === null) return 0;
  const milliseconds = /^\d{1,10}$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - now;
  return milliseconds > 0 ? milliseconds : 0;
}

/** Returns a number of the caller, whose function may return or throw anything. */
function fraction(random: () => number): number {
  try {
    const value = random();
    return value >= 0 && value <= 1 ? value : 0.5;
  } catch {
    return 0.5;
  }
}

const SOON = 1000;
const MOST_DOUBLINGS = 30;
/** The shortest wait. However short the interval, other tasks run in between. */
const LEAST = 1;
/** The longest time of a timer. */
const LONGEST = 2 ** 31 - 1;
