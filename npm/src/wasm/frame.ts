// The frame: the few words that a decision reads. The mirror of `crates/fastpath/src/frame.rs`.
//
// It lies in the memory of the module, at an address that never changes. A view of it has length 0 as
// soon as the memory grows or the instance is given up, and what is written through it then is lost
// without a word: whoever wrote a frame looks at the length again before asking for a decision.

/** What the words of a slot mean. */
export const MISSING = 0;
export const BROKEN = 1;
export const NULL = 2;
export const FALSE = 3;
export const TRUE = 4;
export const NUMBER = 5;
export const VALUE = 6;
/** Where `TRUE` stands in every frame that is alive. */
export const ALWAYS = 63;
/** The first of the words for strings that no policy names. */
export const TEMPORARY = 1 << 24;

/**
 * Words as digits, of three bits each, in the key of a table of answers. Strings follow the words of `null`
 * and the booleans; numbers, lists and maps are `ODD`, about which no table has an answer.
 */
export const DIGIT = 3;
export const ODD = 1;
export const STRINGS = TEMPORARY - 5;

/** What a decision comes to. `UNSURE`: the general path has to say. */
export const DENY = 0;
export const ALLOW = 1;
export const UNSURE = 2;

/** Flags of a plan. */
export const PROGRAMS = 2;
export const NOW = 4;
export const BY_CLASS = 8;

/** What a slot is used for besides being compared with other slots. */
export const USES_CONSTANTS = 1;
export const USES_TEXT = 2;
export const USES_VALUE = 4;

export const MAX_SLOTS = 32;
/** Where the classes of the roles stand, in plans by class, and how many there may be. */
export const CLASSES_AT = 32;
export const MAX_CLASSES = 31;

/** Rows of one batch, and columns that may differ between its rows. */
export const ROWS = 1024;
export const MAX_COLUMNS = 16;

/** Where in the arena values begin: 0 says that there is none. */
export const ARENA_START = 4;

/** The calls that decide on what stands in the frame. */
export interface DecideCalls {
  decide(handle: number, fastPath: number, roles: number): number;
  decideValues(handle: number, fastPath: number, roles: number, used: number, now: number): number;
  decideClasses(handle: number, fastPath: number, count: number, used: number, now: number): number;
  decideColumns(handle: number, fastPath: number, roles: number, rows: number, varying: number): number;
}

/** Views of the frame of one instance. */
export interface Frame extends DecideCalls {
  readonly words: Uint32Array;
  readonly numbers: Float64Array;
  readonly spans: Uint32Array;
  readonly arena: Uint8Array;
  /** How much of the arena this decision has filled. */
  used: number;
}

/** Views of the columns of a batch. */
export interface Columns {
  readonly words: Uint32Array;
  readonly numbers: Float64Array;
  /** A bit for each row. */
  readonly allowed: Uint32Array;
  readonly unsure: Uint32Array;
}

/** Makes the views of the frame at `address`. */
export function frameAt(buffer: ArrayBuffer, address: number, calls: DecideCalls): Frame {
  return {
    words: new Uint32Array(buffer, address, WORDS),
    numbers: new Float64Array(buffer, address + NUMBERS_AT, WORDS),
    spans: new Uint32Array(buffer, address + SPANS_AT, WORDS),
    arena: new Uint8Array(buffer, address + ARENA_AT, ARENA_BYTES),
    used: ARENA_START,
    decide: calls.decide,
    decideValues: calls.decideValues,
    decideClasses: calls.decideClasses,
    decideColumns: calls.decideColumns,
  };
}

/** Makes the views of the columns at `address`. */
export function columnsAt(buffer: ArrayBuffer, address: number): Columns {
  return {
    words: new Uint32Array(buffer, address, MAX_COLUMNS * ROWS),
    numbers: new Float64Array(buffer, address + COLUMN_NUMBERS_AT, MAX_COLUMNS * ROWS),
    allowed: new Uint32Array(buffer, address + ALLOWED_AT, ROWS / 32),
    unsure: new Uint32Array(buffer, address + UNSURE_AT, ROWS / 32),
  };
}

const never = (): number => UNSURE;

/** The frame of no instance: whatever is written into it, nobody is asked. */
export const NO_FRAME: Frame = {
  words: new Uint32Array(),
  numbers: new Float64Array(),
  spans: new Uint32Array(),
  arena: new Uint8Array(),
  used: ARENA_START,
  decide: never,
  decideValues: never,
  decideClasses: never,
  decideColumns: never,
};

const WORDS = 64;
const NUMBERS_AT = 256;
const SPANS_AT = 768;
const ARENA_AT = 1024;
const ARENA_BYTES = 65_536;
const COLUMN_NUMBERS_AT = 65_536;
const ALLOWED_AT = 196_608;
const UNSURE_AT = 196_736;
