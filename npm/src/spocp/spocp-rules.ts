// The rules of SPOCP in the bundle of a PDP, and the queries to them.
//
// They always belong to the bundle in use: `pdp.ts` replaces policies and rules together. After a
// trap the instance is dropped, and the next query starts another one from the verified bytes.

import { bytesOf, describe } from "../base/describe.ts";
import { WardgateError } from "../base/errors.ts";
import { RuleInstance } from "./spocp-abi.ts";
import { isWellFormed } from "../base/text.ts";
import type { RuleSet, SpocpQuery, SpocpRule } from "../pdp/spocp-types.ts";

export class OpenedRules implements RuleSet {
  readonly #module: WebAssembly.Module;
  readonly #isExpired: () => boolean;
  #packed: Uint8Array;
  #instance: RuleInstance | undefined;
  #isDisposed = false;

  constructor(module: WebAssembly.Module, packed: Uint8Array, isExpired: () => boolean) {
    this.#module = module;
    this.#isExpired = isExpired;
    this.#packed = packed;
    this.#instance = this.#started(packed);
  }

  get size(): number {
    return this.#call((rules) => rules.size);
  }

  query(query: SpocpQuery): boolean {
    const checked = readQuery(query);
    return this.#call((rules) => rules.allows(checked)) && !this.#isExpired();
  }

  first(query: SpocpQuery): SpocpRule | undefined {
    const checked = readQuery(query);
    return this.#unlessExpired(this.#call((rules) => rulesOf(rules, rules.first(checked))))[0];
  }

  matches(query: SpocpQuery): SpocpRule[] {
    const checked = readQuery(query);
    return this.#unlessExpired(this.#call((rules) => rulesOf(rules, rules.matches(checked))));
  }

  offer(packed: Uint8Array): () => void {
    const instance = this.#started(packed);
    return () => {
      this.#packed = packed;
      this.#instance = instance;
    };
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#instance = undefined;
    this.#packed = new Uint8Array();
  }

  /** After the check of the query: a malformed query is an error in any case. */
  #unlessExpired(rules: SpocpRule[]): SpocpRule[] {
    return rules.length > 0 && this.#isExpired() ? [] : rules;
  }

  #call<T>(work: (rules: RuleInstance) => T): T {
    if (this.#isDisposed) throw new WardgateError("disposed", "this PDP is disposed");
    const rules = (this.#instance ??= this.#started(this.#packed));
    return runInternally(
      () => work(rules),
      () => (this.#instance = undefined),
    );
  }

  #started(packed: Uint8Array): RuleInstance {
    return runInternally(() => new RuleInstance(this.#module, packed));
  }
}

/**
 * Runs code without calls to the caller. An exception that is not a refusal is an internal fault.
 */
function runInternally<T>(work: () => T, drop = (): void => {}): T {
  try {
    return work();
  } catch (thrown) {
    if (thrown instanceof WardgateError) throw thrown;
    drop();
    throw new WardgateError("internal", "the module of SPOCP failed; no decision was made", { cause: thrown });
  }
}

function rulesOf(rules: RuleInstance, numbers: Uint32Array): SpocpRule[] {
  return Array.from(numbers, (number) => ({ number, text: rules.advanced(number), canonical: rules.canonical(number) }));
}

function readQuery(query: unknown): string | Uint8Array {
  if (typeof query !== "string") {
    const bytes = bytesOf(query);
    if (bytes !== undefined) return bytes;
    throw new TypeError(`a query must be a string or bytes, found ${describe(query)}`);
  }
  // The replacement of an unpaired surrogate would be another query.
  if (isWellFormed(query)) return query;
  throw new RangeError("a query must be Unicode");
}
