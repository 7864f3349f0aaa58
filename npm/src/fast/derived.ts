// Computes the words of derived slots: tests of a value, such as `x in list`, where the value is.
//
// A test reads every element once, and to the end. A value that the general path would refuse or
// examine closely makes it unsure, and so does one beyond a bound: the compiler has counted the
// steps of the general path up to these bounds. The mirror of `layout::test` in
// `crates/fastpath/src/layout.rs`.

import * as frames from "../wasm/frame.ts";
import type { Frame } from "../wasm/frame.ts";
import { hash, hashedOf, MAX_HASHED } from "../base/hashed.ts";
import { isInherited, isObject, isPlain, type Fields } from "../base/plain.ts";
import { isWellFormed } from "../base/text.ts";
import { momentOf } from "./moment.ts";
import { isFit, readSchema, type Members, type Schema } from "./schema.ts";
import { isLevel, isMatched, isTopic, patternOf, type Pattern } from "./topic.ts";

/** A test of the value of a slot. */
export interface SlotTest {
  readonly kind: number;
  readonly terms: readonly Term[];
  /** The term, if it looks for one element that is equal, or has an equal member. */
  readonly search: Term | null;
  /** The schema of all attributes, instead of terms. */
  readonly schema?: Schema;
  /** The patterns of topics. */
  readonly patterns?: readonly Pattern[];
}

/** One comparison: of an element or of its member with an operand. */
export interface Term {
  /** The member; `null` is the element itself. */
  readonly member: string | null;
  readonly isNegated: boolean;
  /** The slot with the operand, or -1 if it is the constant. */
  readonly slot: number;
  readonly constant: unknown;
}

/** The values of slots that tests read. Those of a decision are written before its tests. */
export const operands: unknown[] = Array.from({ length: 32 }, () => undefined);

/** A term as the module writes it: an empty member is the element itself. */
export type WireTerm = readonly [member: string, bits: number, operand: unknown];

/**
 * Returns the test of a slot; `null` if only the general path may compute it. `members` are the
 * slots with attributes that a schema is about.
 */
export function readTest(kind: number, terms: readonly WireTerm[], members: Members = []): SlotTest | null {
  if (kind > INTERSECTS || kind === NOW || terms.some(([member]) => isInherited(member))) return null;
  if (kind === FITS) return { kind, terms: [], search: null, schema: readSchema(terms, members) };
  const read = ([member, bits, operand]: WireTerm): Term => {
    const isSlot = (bits & OF_SLOT) !== 0;
    return {
      member: member === "" ? null : member,
      isNegated: (bits & NEGATED) !== 0,
      slot: isSlot ? Number(operand) : -1,
      constant: isSlot ? undefined : operand,
    };
  };
  const all = terms.map(read);
  if (kind >= TOPIC && kind <= FILLED_TOPIC) {
    const constants = kind === TOPIC ? all : all.slice(0, 1);
    const patterns = constants.map(({ constant }) => patternOf(constant, kind === FILLED_TOPIC));
    const isKnown = (pattern: Pattern | null): pattern is Pattern => pattern !== null;
    return patterns.every(isKnown) ? { kind, terms: all, search: null, patterns } : null;
  }
  return { kind, terms: all, search: kind < ALL && all.length === 1 && !all[0]!.isNegated ? all[0]! : null };
}

/** Returns true if the result of a test is a truth, and not a number. */
export const isTruth = (kind: number): boolean => kind < SIZE || kind >= TOPIC;

/** Returns true if a slot holds the time of the decision, which is written when it is decided. */
export const isNow = (kind: number | undefined): boolean => kind === NOW;

/** Returns true if the terms of a test are those of a schema. */
export const isSchema = (kind: number | undefined): boolean => kind === FITS;

/** Writes the time of a decision into the slots that hold it; the module refuses one that is not finite. */
export const writeTime = ({ words, numbers }: Frame, slots: readonly number[], now: number): void => {
  for (let at = 0; at < slots.length; at += 1) {
    const slot = slots[at]!;
    words[slot] = NUMBER;
    numbers[slot] = Math.floor(now);
  }
};

/** Returns the word of a slot with a test; -1 if only the general path may compute it. */
export function testWord(frame: Frame, slot: number, test: SlotTest, value: unknown): number {
  const { kind, terms, search } = test;
  if (search !== null && search.member === null) {
    const hashed = hashedOf(value);
    const operand = hashed === undefined ? undefined : operandOf(search);
    if (typeof operand === "string" && operand.length <= MAX_NEEDLE) return hashed!.elements.has(operand) ? TRUE : FALSE;
  }
  if (kind === SIZE) return sizeWord(frame, slot, value);
  if (kind === TIME) return timeWord(frame, slot, value);
  if (kind === FITS) return isFit(test.schema!, value as Fields) ? TRUE : -1;
  if (kind === INTERSECTS) return commonWord(value, operandOf(terms[0]!));
  if (kind >= TOPIC) return topicWord(test, value);
  if (kind >= STARTS_WITH) return textWord(kind, operandOf(terms[0]!), value);
  if (Array.isArray(value)) return listWord(test, value);
  if (value instanceof Set) return Object.getPrototypeOf(value) === Set.prototype ? listWord(test, Array.from(values.call(value))) : -1;
  if (isObject(value)) return kind === MEMBER ? keyWord(value, operandOf(terms[0]!)) : -1;
  // Only lists and maps have elements.
  return isScalar(value) || value === undefined ? MISSING : -1;
}

const listWord = (test: SlotTest, list: readonly unknown[]): number => {
  const { length } = list;
  if (length > MAX_ELEMENTS || Object.getPrototypeOf(list) !== Array.prototype) return -1;
  for (const term of test.terms) {
    const operand = operandOf(term);
    if (operand !== undefined && !isScalar(operand)) return -1;
    if (typeof operand === "string" && operand.length > MAX_NEEDLE) return -1;
    if (term.member !== null && term.member in OBJECT) return -1;
  }
  if (test.search !== null) {
    const { member } = test.search;
    const operand = operandOf(test.search);
    if (typeof operand === "string") {
      const word = member === null ? searchTexts(list, length, operand) : searchMembers(list, length, member, operand);
      if (word !== ODD) return word;
    }
  }
  return overElements(test, list, length);
};

/** Makes searches in long lists and sets among attributes quick. They must not change any more. */
export function hashLists(attributes: Fields): void {
  for (const value of Object.values(attributes)) {
    if (hashedOf(value) !== undefined) continue;
    const list: unknown = value instanceof Set ? Array.from(value) : value;
    if (!Array.isArray(list) || list.length <= MANY || list.length > MAX_HASHED || !list.every(isScalar)) continue;
    hash(value as object, list);
  }
}

const operandOf = ({ slot, constant }: Term): unknown => (slot < 0 ? constant : operands[slot]);

/** Returns true if a value of a request is no list and no map, and usual. */
const isScalar = (value: unknown): boolean => {
  switch (typeof value) {
    case "string":
    case "boolean":
      return true;
    case "number":
      return value - value === 0;
    default:
      return value === null;
  }
};

/** Searches a list of scalars for a text. */
const searchTexts = (list: readonly unknown[], length: number, text: string): number => {
  const size = text.length;
  const last = size === 0 ? 0 : text.charCodeAt(size - 1);
  let word = FALSE;
  for (let at = 0; at < length; at += 1) {
    const element = list[at];
    if (typeof element === "string") {
      // `===` alone takes up to twice as long with texts that begin alike.
      if (element.length === size && (size === 0 || element.charCodeAt(size - 1) === last) && element === text) word = TRUE;
    } else if (!isScalar(element)) return -1;
  }
  return word;
};

/** Searches a list of maps for one that has a text as a member; `ODD` if an element is no such map. */
const searchMembers = (list: readonly unknown[], length: number, member: string, text: string): number => {
  const size = text.length;
  const last = size === 0 ? 0 : text.charCodeAt(size - 1);
  let word = FALSE;
  for (let at = 0; at < length; at += 1) {
    const element = list[at];
    if (!isObject(element) || Array.isArray(element) || (element.__proto__ !== OBJECT && !isPlain(element))) return ODD;
    const value = element[member];
    if (typeof value === "string") {
      // As above; in a function of its own the comparison takes a seventh longer.
      if (value.length === size && (size === 0 || value.charCodeAt(size - 1) === last) && value === text) word = TRUE;
    } else if (!isScalar(value)) return ODD;
  }
  return word;
};

/** Tests every element for all terms, in the plain form for every kind of element. */
const overElements = ({ kind, terms }: SlotTest, list: readonly unknown[], length: number): number => {
  // `false` absorbs what `all` found before, `true` what the others did.
  const absorbing = kind === ALL ? FALSE : TRUE;
  // The operand of `in` fails before the list is looked at, the one of a loop in each round.
  const isFailed = kind === MEMBER && operandOf(terms[0]!) === undefined;
  let word = isFailed ? MISSING : kind === ALL ? TRUE : FALSE;
  for (let at = 0; at < length; at += 1) {
    const found = elementWord(terms, list[at]);
    if (found < 0) return -1;
    if (isFailed || word === absorbing) continue;
    if (found === absorbing || found === MISSING) word = found;
  }
  return word;
};

/** Returns the conjunction of all terms of an element; -1 if it is unsure. */
const elementWord = (terms: readonly Term[], element: unknown): number => {
  const isMap = isObject(element);
  if (isMap ? Array.isArray(element) || (element.__proto__ !== OBJECT && !isPlain(element)) : !isScalar(element)) return -1;
  let word = TRUE;
  for (let at = 0; at < terms.length; at += 1) {
    const { member, isNegated, slot, constant } = terms[at]!;
    let value: unknown;
    if (member === null) {
      // A map is unequal to each operand, but its members were not read.
      if (isMap) return -1;
      value = element;
    } else if (isMap) {
      value = element[member];
      if (value !== undefined && !isScalar(value)) return -1;
    }
    const operand = slot < 0 ? constant : operands[slot];
    if (value === undefined || operand === undefined) {
      if (word === TRUE) word = MISSING;
    } else if ((value === operand) === isNegated) word = FALSE;
  }
  return word;
};

/** Returns the word of `hasIntersection`. */
const commonWord = (left: unknown, right: unknown): number => {
  const [ofOne, ofOther] = [hashedOf(left), hashedOf(right)];
  const one = ofOne === undefined ? scalarsOf(left) : ofOne.list;
  const other = ofOther === undefined ? scalarsOf(right) : ofOther.list;
  if (one === null || other === null) return -1;
  if (one === undefined || other === undefined) return MISSING;
  if (other.length * (other.length + one.length) > MAX_PAIRS) return -1;
  // The shorter one is walked, unless it alone is hashed.
  const isOneWalked = (ofOne === undefined) === (ofOther === undefined) ? one.length < other.length : ofOne === undefined;
  const [walked, searched] = isOneWalked ? [one, other] : [other, one];
  const hashed = (isOneWalked ? ofOther : ofOne)?.elements;
  for (let at = 0; at < walked.length; at += 1) {
    if (hashed === undefined ? includes(searched, walked[at]) : hashed.has(walked[at])) return TRUE;
  }
  return FALSE;
};

/** Returns true if a list of scalars has an element. */
const includes = (list: readonly unknown[], wanted: unknown): boolean => {
  if (typeof wanted !== "string") return list.includes(wanted);
  const size = wanted.length;
  const last = size === 0 ? 0 : wanted.charCodeAt(size - 1);
  for (let at = 0; at < list.length; at += 1) {
    const element = list[at];
    if (typeof element === "string" && element.length === size && (size === 0 || element.charCodeAt(size - 1) === last) && element === wanted) return true;
  }
  return false;
};

/** Returns a list of scalars; `undefined` if a value is no list, and `null` if only the general path may judge it. */
const scalarsOf = (value: unknown): readonly unknown[] | null | undefined => {
  const list: unknown = value instanceof Set && Object.getPrototypeOf(value) === Set.prototype ? Array.from(values.call(value)) : value;
  if (!Array.isArray(list)) return isScalar(list) || list === undefined ? undefined : null;
  if (list.length > MAX_ELEMENTS || Object.getPrototypeOf(list) !== Array.prototype) return null;
  for (let at = 0; at < list.length; at += 1) if (typeof list[at] !== "string" && !isScalar(list[at])) return null;
  return list;
};

/** Returns the word of `key in map`, for a map of few scalars. */
const keyWord = (map: Fields, key: unknown): number => {
  if (!isPlain(map) || typeof key !== "string" || key.length > MAX_NEEDLE || isInherited(key)) return -1;
  let count = 0;
  for (const name in map) {
    count += 1;
    const value = map[name];
    if (count > MAX_MEMBERS || (value !== undefined && !isScalar(value))) return -1;
  }
  return map[key] === undefined ? FALSE : TRUE;
};

const textWord = (kind: number, part: unknown, value: unknown): number => {
  if (typeof value !== "string" || typeof part !== "string") {
    const isUsual = (isScalar(value) || value === undefined) && (isScalar(part) || part === undefined);
    return isUsual ? MISSING : -1;
  }
  if (value.length > MAX_TEXT || part.length > MAX_TEXT || !isWellFormed(value)) return -1;
  const holds = kind === STARTS_WITH ? value.startsWith(part) : kind === ENDS_WITH ? value.endsWith(part) : value.includes(part);
  return holds ? TRUE : FALSE;
};

/** Returns the word of `matchesTopic`. A topic that a text does not name makes it unsure. */
const topicWord = ({ kind, terms, patterns }: SlotTest, topic: unknown): number => {
  if (typeof topic !== "string") return isScalar(topic) || topic === undefined ? MISSING : -1;
  if (!isTopic(topic)) return -1;
  if (kind === FILLED_TOPIC) {
    const pattern = patterns![0]!;
    for (let at = 0; at < pattern.length; at += 1) {
      const term = pattern[at]!;
      if (typeof term !== "number") continue;
      const word = operandOf(terms[term]!);
      if (typeof word !== "string") return isScalar(word) || word === undefined ? MISSING : -1;
      if (!isLevel(word, at)) return -1;
      WORDS[term] = word;
    }
  }
  let word = FALSE;
  for (let at = 0; at < patterns!.length; at += 1) if (isMatched(patterns![at]!, topic, WORDS)) word = TRUE;
  return word;
};

/** Writes the size of a value beside its word. */
const sizeWord = (frame: Frame, slot: number, value: unknown): number => {
  let size = 0;
  if (typeof value === "string") {
    size = value.length;
    if (size > MAX_TEXT) return -1;
    // Outside of ASCII, code units may not be code points.
    if (MAYBE_PAIRED.test(value)) return -1;
  } else if (Array.isArray(value)) {
    size = value.length;
    if (size > MAX_ELEMENTS || Object.getPrototypeOf(value) !== Array.prototype) return -1;
    for (let at = 0; at < size; at += 1) {
      const element: unknown = value[at];
      // Most elements are texts, and one comparison tells.
      if (typeof element !== "string" && !isScalar(element) && !isObject(element)) return -1;
    }
  } else return isScalar(value) || value === undefined ? MISSING : -1;
  frame.numbers[slot] = size;
  return NUMBER;
};

/** Writes a moment beside its word, in milliseconds since 1970. */
const timeWord = (frame: Frame, slot: number, value: unknown): number => {
  if (typeof value !== "string") return isScalar(value) || value === undefined ? MISSING : -1;
  // No shorter text is a moment.
  if (value.length < SHORTEST_MOMENT) return isWellFormed(value) ? MISSING : -1;
  const moment = momentOf(value);
  if (moment !== moment) return -1;
  frame.numbers[slot] = moment;
  return NUMBER;
};

// Constants of this module: see `encode-request.ts`.
const { FALSE, MISSING, NUMBER, TRUE } = frames;
const OBJECT = Object.prototype;
const { values } = Set.prototype;

/** Code units from the surrogates on. An expression takes less time than a loop. */
const MAYBE_PAIRED = /[\ud800-\uffff]/;

/** The words of the pattern at hand, by term. */
const WORDS: string[] = ["", "", "", ""];

/** The length up to which a scan of a list that is used for some decisions takes no more time than hashing it. */
const MANY = 16;

/** An answer of the quick searches: the plain form decides. */
const ODD = -2;

/** The kinds. */
const MEMBER = 0;
const ALL = 2;
const STARTS_WITH = 3;
const ENDS_WITH = 4;
const SIZE = 6;
const TIME = 7;
const NOW = 8;
const FITS = 9;
const TOPIC = 10;
const FILLED_TOPIC = 11;
const INTERSECTS = 12;

/** The bits of a term. */
const NEGATED = 1;
const OF_SLOT = 2;

/** The bounds: elements of a list, members of a map, code units of a text that is searched for, and of any text. */
const MAX_ELEMENTS = MAX_HASHED;
const MAX_MEMBERS = 64;
/** The most comparisons of the elements of two lists. */
const MAX_PAIRS = 8192;
const MAX_NEEDLE = 256;
const MAX_TEXT = 16_384;
/** The length of `2024-05-06T7:08:09Z`: the general path takes hours of one digit. */
const SHORTEST_MOMENT = 19;
