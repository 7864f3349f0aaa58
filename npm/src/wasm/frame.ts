// The frame: the words that a decision reads. The mirror of `crates/fastpath/src/frame.rs`.
//
// It is in the memory of the module, at a fixed address. A view of it has length 0 as soon as the
// memory grows or the instance is dropped, and later writes through it are lost silently: check the
// length again after writing, before a decision.

/** The words of a slot. */
export const MISSING = 0;
export const BROKEN = 1;
export const NULL = 2;
export const FALSE = 3;
export const TRUE = 4;
export const NUMBER = 5;
export const VALUE = 6;
/** The index of a word that is `TRUE` in every live frame. */
export const ALWAYS = 63;
/** The first word for strings that are not in the policies. */
export const TEMPORARY = 1 << 24;

/**
 * The digits of words in the key of a truth table, three bits each. Strings follow the words of
 * `null` and the booleans; numbers, lists and maps are `ODD`, for which a table has no answer.
 */
export const DIGIT = 3;
export const ODD = 1;
export const STRINGS = TEMPORARY - 5;

/** The results of a decision. `UNSURE`: the general path must decide. */
export const DENY = 0;
export const ALLOW = 1;
export const UNSURE = 2;

/** No answer of `verdict` and `grants`, as the signed number that a call returns. */
export const UNKNOWN = -1;

/** The bit of an answer of `verdict` for a request with outputs. */
export const EMITS = 1 << 30;

/** The flags of a fast path. */
export const PROGRAMS = 2;
export const NOW = 4;
export const BY_CLASS = 8;

/** The uses of a slot beside comparisons with other slots. */
export const USES_CONSTANTS = 1;
export const USES_TEXT = 2;
export const USES_VALUE = 4;
/** The use of a slot whose word is the result of a test. */
export const USES_TEST = 8;
/** No other slot is compared with it, so strings outside of its constants share one word. */
export const LONE = 16;

export const MAX_SLOTS = 32;
/**
 * The index of the first class of a role, for fast paths by class, and the largest number of
 * classes.
 */
export const CLASSES_AT = 32;
export const MAX_CLASSES = 31;

/** The rows of one batch, and the columns that may differ between its rows. */
export const ROWS = 1024;
export const MAX_COLUMNS = 16;

/** The offset of the first value in the arena: offset 0 means no value. */
export const ARENA_START = 4;

/** The calls that decide the contents of the frame. */
export interface DecideCalls {
  decide(handle: number, fastPath: number, roles: number): number;
  decideValues(handle: number, fastPath: number, roles: number, used: number, now: number): number;
  decideClasses(handle: number, fastPath: number, count: number, used: number, now: number): number;
  decideInOrder(handle: number, fastPath: number, count: number, used: number, now: number): number;
  /**
   * The verdict, the number of scopes, the entry, and `EMITS` if a rule emits an output, in one number; `UNKNOWN` if
   * the general path decides.
   */
  verdict(handle: number, fastPath: number, count: number, used: number, now: number): number;
  /** A bit for each derived role; `UNKNOWN` if the general path decides. */
  grants(handle: number, fastPath: number, roles: number, scopes: number, used: number, now: number): number;
  decideColumns(handle: number, fastPath: number, roles: number, rows: number, varying: number): number;
}

/** The views of the frame of one instance. */
export interface Frame extends DecideCalls {
  readonly words: Uint32Array;
  readonly numbers: Float64Array;
  readonly spans: Uint32Array;
  readonly arena: Uint8Array;
  /** The number of bytes of the arena that this decision has filled. */
  used: number;
}

/** The views of the columns of a batch. */
export interface Columns {
  readonly words: Uint32Array;
  readonly numbers: Float64Array;
  /** A bit for each row. */
  readonly allowed: Uint32Array;
  readonly unsure: Uint32Array;
}

/** Returns the views of the frame at `address`. */
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
    decideInOrder: calls.decideInOrder,
    verdict: calls.verdict,
    grants: calls.grants,
    decideColumns: calls.decideColumns,
  };
}

/** Returns the views of the columns at `address`. */
export function columnsAt(buffer: ArrayBuffer, address: number): Columns {
  return {
    words: new Uint32Array(buffer, address, MAX_COLUMNS * ROWS),
    numbers: new Float64Array(buffer, address + COLUMN_NUMBERS_AT, MAX_COLUMNS * ROWS),
    allowed: new Uint32Array(buffer, address + ALLOWED_AT, ROWS / 32),
    unsure: new Uint32Array(buffer, address + UNSURE_AT, ROWS / 32),
  };
}

const never = (): number => UNSURE;

/** The frame of no instance. Writes to it are lost, and its calls are always unsure. */
export const NO_FRAME: Frame = {
  words: new Uint32Array(),
  numbers: new Float64Array(),
  spans: new Uint32Array(),
  arena: new Uint8Array(),
  used: ARENA_START,
  decide: never,
  decideValues: never,
  decideClasses: never,
  decideInOrder: never,
  verdict: () => UNKNOWN,
  grants: () => UNKNOWN,
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
