// When a watcher asks next.
//
// Many hosts watch one server. Each waits a little more or less than it should, so that they do not all
// come at once, and longer with each failure, so that they do not keep a server down that is struggling.

/** What the wait depends on. */
export interface Pace {
  readonly interval: number;
  readonly maxInterval: number;
  readonly jitter: number;
  readonly random: () => number;
}

/** How the questions have gone. */
export interface PollHistory {
  /** Failures since the last good answer. */
  readonly failures: number;
  /** Whether there is a bundle to go on with. */
  readonly hasBundle: boolean;
  /** How long the server wants to be left alone, in milliseconds. */
  readonly retryAfter: number;
}

/** Milliseconds until the next question. */
export function wait({ interval, maxInterval, jitter, random }: Pace, { failures, hasBundle, retryAfter }: PollHistory): number {
  // Who has nothing to go on with tries again sooner.
  const first = failures > 0 && !hasBundle ? Math.min(interval, SOON) : interval;
  const doubled = Math.min(first * 2 ** Math.min(failures, MOST_DOUBLINGS), maxInterval);
  const wanted = Math.max(doubled, Math.min(retryAfter, maxInterval));
  // A server that has named a time does not want anybody earlier.
  const swing = wanted > doubled ? fraction(random) : 2 * fraction(random) - 1;
  return Math.min(Math.max(wanted * (1 + jitter * swing), LEAST), LONGEST);
}

/** What `Retry-After` says, in milliseconds: seconds or a date (RFC 9110, section 10.2.3). */
export function readRetryAfter(text: string | null, now: number): number {
  if (text === null) return 0;
  const milliseconds = /^\d{1,10}$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - now;
  return milliseconds > 0 ? milliseconds : 0;
}

/** A number of the caller, who may return or throw anything. */
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
/** However short the interval, others get their turn. */
const LEAST = 1;
/** What timers can count to. */
const LONGEST = 2 ** 31 - 1;
