// Fast paths and lists of them as the module writes them.

import { isInherited } from "../base/plain.ts";
import { intern } from "../base/text.ts";
import { LONE } from "../wasm/frame.ts";
import { isSchema, isTruth, readTest, type WireTerm } from "./derived.ts";
import type { Members } from "./schema.ts";
import type { Constants } from "./step-list.ts";
import {
  CLAIMS,
  FROM_PRINCIPAL,
  FROM_RESOURCE,
  LAST,
  PRINCIPAL_ID,
  PRINCIPAL_ROLES,
  RESOURCE_ID,
  RESOURCE_KIND,
  siteOf,
  SLOT,
  TOKENS,
  USES,
  WHOLE,
} from "./read-sites.ts";

/**
 * Returns the steps to one slot, each with its name; `null` if only the general path may read it.
 */
export function stepsTo(slot: number, { root, path, uses }: WireSlot): readonly (readonly [number, string])[] | null {
  const site = ROOTS.get(root);
  if (site === undefined || path.some(isInherited)) return null;
  const from = root === "resource.attr" ? FROM_RESOURCE : root === "principal.attr" ? FROM_PRINCIPAL : 0;
  if (path.length === 0 && readsTokens(root)) return null;
  if (path.length === 0) return [[from | site | LAST | (slot << SLOT) | (uses << USES), ""]];
  const steps = path.map((segment, at) => {
    const name = intern(segment);
    const ends = at === path.length - 1 ? LAST | (uses << USES) : 0;
    return [(at === 0 ? from : 0) | siteOf(name) | (slot << SLOT) | ends, name] as const;
  });
  if (from !== 0) return steps;
  // Beside attributes, only tokens have members that a condition reads.
  return readsTokens(root) ? [[site | (slot << SLOT), ""], ...steps] : null;
}

/** Returns true for the roots of slots below the auxiliary data. */
export function readsTokens(root: string): boolean {
  return root === "auxData.jwt" || root === "auxData.jwts";
}

/** Returns true if few different words can be in a slot: see `truth-table.ts`. */
export function isTabled({ path, uses, test }: WireSlot): boolean {
  return path.length < 2 && ((uses & ~LONE) === 0 || (test !== undefined && isTruth(test)));
}

/** Returns the slots whose values tests read. */
export function operandsOf(slots: readonly WireSlot[]): ReadonlySet<number> {
  const operands = slots.flatMap((wire) =>
    isSchema(wire.test)
      ? (membersOf(slots, wire) ?? []).map(([, slot]) => slot)
      : (wire.terms ?? []).map((term) => readTest(0, [term])?.terms[0]?.slot ?? -1),
  );
  return new Set(operands);
}

/**
 * Returns the slots with attributes below the root of a slot with a schema; `null` if one lies below
 * an attribute of the schema, which would be read twice.
 */
export function membersOf(slots: readonly WireSlot[], { root, terms = [] }: WireSlot): Members | null {
  const members: [string, number][] = [];
  for (const [slot, { root: other, path: [name, ...rest] }] of slots.entries()) {
    if (other !== root || name === undefined) continue;
    if (rest.length === 0) members.push([name, slot]);
    else if (terms.some(([known]) => known === name)) return null;
  }
  return members;
}

export function readConstants(pairs: WirePairs): Constants | null {
  return pairs.length === 0 ? null : readPairs(pairs);
}

export function readPairs(pairs: WirePairs): Constants {
  const named = pairs.map(([text, word]) => [intern(text), word] as const);
  return {
    texts: named.map(([text]) => text),
    words: named.map(([, word]) => word),
    map: named.length > MAX_SCAN ? new Map(named) : null,
  };
}

/** A list as `planList` writes it. */
export interface WireList {
  readonly other: readonly [plan: number, withVerdicts: number];
  readonly grants: number;
  readonly actions: readonly (readonly [name: string, plan: number, withVerdicts: number])[];
  /** The offset of the list, if patterns decide about other actions. */
  readonly at?: number;
}

/** A fast path as `planOf` writes it. */
export interface WireFastPath {
  readonly flags: number;
  readonly others: number;
  readonly slots: readonly WireSlot[];
  readonly roles: WirePairs;
}

export interface WireSlot {
  readonly root: string;
  readonly path: readonly string[];
  readonly uses: number;
  readonly constants: WirePairs;
  readonly test?: number;
  readonly terms?: readonly WireTerm[];
}

export type WirePairs = readonly (readonly [text: string, word: number])[];

const ROOTS: ReadonlyMap<string, number> = new Map([
  ["principal.id", PRINCIPAL_ID],
  ["principal.roles", PRINCIPAL_ROLES],
  ["principal.attr", WHOLE],
  ["resource.id", RESOURCE_ID],
  ["resource.kind", RESOURCE_KIND],
  ["resource.attr", WHOLE],
  ["auxData.jwt", CLAIMS],
  ["auxData.jwts", TOKENS],
]);

/** The roots that are strings in every request. */
export const TEXTS: ReadonlySet<string> = new Set(["principal.id", "resource.id", "resource.kind"]);

/** Up to this number of names, a comparison with each is faster than a `Map`. */
const MAX_SCAN = 8;
