// The bounds of rate limits. Those of rules and times keep every sum and product below 2^53, as in
// `crates/ratelimit`, whose vectors this arithmetic shares.

/** The most tokens of a quota or a burst. */
export const MAX_TOKENS = 1_000_000_000_000;

/** The longest window in microseconds: 366 days. */
export const MAX_WINDOW = 366 * 86_400_000_000;

/** The latest time in microseconds since 1970. A later one is taken as this one. */
export const MAX_TIME = 2 ** 53 - 2 ** 47;

/** The parts of a microsecond in which GCRA counts. */
export const TICKS = 128;

/** The most ticks of a burst. */
export const MAX_BURST_TICKS = 2 ** 52;

/** The parts of a microsecond that bound the counts of sliding windows. */
export const PARTS = 2048;

/** The most bytes of the name of a limit. */
export const MAX_NAME_BYTES = 128;

/** The most limits of one check. */
export const MAX_CHARGES = 16;

/** The most limits in the fields of a response. */
export const MAX_FIELD_LIMITS = 16;

/** The most bytes of all parts of a key. */
export const MAX_KEY_BYTES = 8192;

/** The names whose rules are remembered between checks. */
export const MAX_KNOWN_RULES = 1024;

/** The keys of a set of the table. */
export const WAYS = 8;

/** The most keys of a store in memory: its table has at most 768 MB. */
export const MAX_KEYS = 16_777_216;

/** The keys of a store in memory if nothing is said. */
export const DEFAULT_KEYS = 100_000;

/** The longest time of a check in milliseconds, unless another is given. */
export const DEADLINE_MS = 50;

/** The longest time that may be given. */
export const MAX_DEADLINE_MS = 60_000;

/** The failures in a row that open the breaker. */
export const FAILURES = 5;

/** The microseconds from one try to the next while the breaker is open. */
export const TRY_MICROS = 1_000_000;

/** The most checks that wait for a store on a network. */
export const MAX_WAITING = 65_536;

/** The most checks of one call to Redis. */
export const MAX_BATCH = 128;

/** The most limits that one Durable Object has states of. */
export const MAX_STATES = 64;

/** The window in microseconds up to which a Durable Object keeps states in memory only: a minute. */
export const MEMORY_WINDOW = 60_000_000;

/** The longest time in microseconds for which tokens may be spent after they were paid. */
export const LEASE_MICROS = 1_000_000;

/** The part of a full key that a lease is at most. */
export const LEASES_OF_A_KEY = 10;

/** The part of what remains that a lease is at most. */
export const LEASES_OF_THE_REST = 16;

/** The fewest checks for which there is a lease. */
export const CHECKS_OF_A_LEASE = 16;

/** The keys that have leases at once if nothing is said, and the most. */
export const DEFAULT_LEASES = 1024;
export const MAX_LEASES = 65_536;

/** The most bytes of a call to a Durable Object. */
export const MAX_CALL_BYTES = 16_384;
