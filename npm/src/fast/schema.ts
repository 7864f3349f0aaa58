// Flat schemas: whether the attributes of a request fit them for certain.
//
// The general path reports what does not fit, so every doubt is its business. An attribute that a
// slot has is not read again: a getter may change its answer. The mirror of
// `crates/fastpath/src/schema.rs`.

import type { Fields } from "../base/plain.ts";
import { isWellFormed } from "../base/text.ts";
import { operands, type WireTerm } from "./derived.ts";

/** The schema of all attributes of the principal or of the resource. */
export interface Schema {
  readonly properties: readonly Property[];
  /** The form that restricts the names of attributes; 0 without one. */
  readonly names: number;
}

/** The schema of one attribute. */
interface Property {
  readonly name: string;
  readonly types: number;
  /** The constants of which the value has to be one; empty if it may be any. */
  readonly constants: unknown[];
  /** The bounds, each a form and a number. */
  readonly bounds: number[];
  /** The slots that have the value. */
  readonly slots: readonly number[];
}

/** The names of attributes that slots have, with the slots. */
export type Members = readonly (readonly [name: string, slot: number])[];

/** Reads the terms of a schema. */
export function readSchema(terms: readonly WireTerm[], members: Members): Schema {
  const properties: Property[] = [];
  let names = 0;
  for (const [name, bits, operand] of terms) {
    const form = bits >> 8;
    const slots = members.flatMap(([member, slot]) => (member === name ? [slot] : []));
    if (form === 0) properties.push({ name, types: bits, constants: [], bounds: [], slots });
    else if (form >= CLOSED) names = form;
    else if (form < MINIMUM) properties.at(-1)!.constants.push(operand);
    else properties.at(-1)!.bounds.push(form, Number(operand));
  }
  return { properties, names };
}

/** Returns true if the attributes fit for certain. */
export function isFit({ properties, names }: Schema, attributes: Fields): boolean {
  for (let at = 0; at < properties.length; at += 1) {
    const { name, types, constants, bounds, slots } = properties[at]!;
    if (name in OBJECT) return false;
    const value = slots.length === 0 ? attributes[name] : operands[slots[0]!];
    for (let other = 1; other < slots.length; other += 1) if (operands[slots[other]!] !== value) return false;
    if (value === undefined ? types & REQUIRED : !(types & typeOf(value))) return false;
    if (value === undefined) continue;
    if (constants.length > 0 && !constants.includes(value)) return false;
    for (let bound = 0; bound < bounds.length; bound += 2) if (!isWithin(bounds[bound]!, bounds[bound + 1]!, value)) return false;
  }
  if (names === 0) return true;
  let count = 0;
  for (const name in attributes) {
    count += 1;
    if (names === CLOSED) {
      if (!properties.some((known) => known.name === name) && attributes[name] !== undefined) return false;
    } else if (count > MAX_ATTRIBUTES || name.length > MAX_NAME) return false;
  }
  return true;
}

/** Returns the types of a value; 0 if it is no usual scalar. */
const typeOf = (value: unknown): number => {
  switch (typeof value) {
    case "string":
      return value.length <= MAX_TEXT && isWellFormed(value) ? 16 : 0;
    case "number":
      return value - value !== 0 ? 0 : value % 1 === 0 ? 12 : 4;
    case "boolean":
      return 2;
    default:
      return value === null ? 1 : 0;
  }
};

/** Returns true if a bound holds. Those of texts are in code points, which equal code units outside of pairs. */
const isWithin = (form: number, bound: number, value: unknown): boolean => {
  if (form > MAXIMUM) {
    if (typeof value !== "string") return true;
    if (SURROGATE.test(value)) return false;
    return form === MAX_LENGTH ? value.length <= bound : value.length >= bound;
  }
  return typeof value !== "number" || (form === MINIMUM ? value >= bound : value <= bound);
};

const OBJECT = Object.prototype;
const SURROGATE = /[\ud800-\udfff]/;

/** The forms of terms, and the bit of a required attribute. */
const MINIMUM = 3;
const MAXIMUM = 4;
const MAX_LENGTH = 6;
const CLOSED = 7;
const REQUIRED = 0x80;

/** The bounds: code units of a text, attributes that are counted, code units of their names. */
const MAX_TEXT = 16_384;
const MAX_ATTRIBUTES = 1024;
const MAX_NAME = 256;
