// The steps to the slots of all fast paths of a bundle, and their details.

import { isSchema, readTest, type SlotTest } from "./derived.ts";
import { ACCESSOR, BY_NAME, DETAIL, LAST, OPERAND, SITE, SLOT, UNREADABLE, USES } from "./read-sites.ts";
import { membersOf, readConstants, stepsTo, type WireSlot } from "./wire-paths.ts";
import { USES_TEST } from "../wasm/frame.ts";

/** The strings that a slot is compared with, and the word of each. */
export interface Constants {
  readonly texts: readonly string[];
  readonly words: readonly number[];
  readonly map: ReadonlyMap<string, number> | null;
}

/** The data of a step beside its numbers. */
export interface Detail {
  readonly name: string;
  readonly constants: Constants | null;
  readonly test: SlotTest | null;
}

/** Steps, two numbers each; see `read-sites.ts`. */
export class StepList {
  #length = 0;
  #steps = new Int32Array(64);
  readonly #all: Detail[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #accessors: ReadonlyMap<string, number>;

  /** Creates a list for an accessor module that reads these names under these numbers. */
  constructor(accessors: ReadonlyMap<string, number>) {
    this.#accessors = accessors;
  }

  get length(): number {
    return this.#length;
  }

  /** The steps that were added so far; a longer list is another array. */
  get steps(): Int32Array {
    return this.#steps;
  }

  get details(): readonly Detail[] {
    return this.#all;
  }

  /**
   * Appends the steps to one of the slots of a fast path; to one that only the general path may read in a request, a step
   * that no loop knows. Returns false if there are too many details.
   */
  add(slot: number, wire: WireSlot, slots: readonly WireSlot[], isOperand: boolean): boolean {
    const members = isSchema(wire.test) ? membersOf(slots, wire) : [];
    const constants = readConstants(wire.constants);
    const test = wire.test === undefined || members === null ? null : readTest(wire.test, wire.terms ?? [], members);
    const path = wire.uses & USES_TEST && test === null ? null : stepsTo(slot, wire);
    for (const [step, name] of path ?? [[UNREADABLE | LAST | (slot << SLOT) | (wire.uses << USES), ""]] as const) {
      const detail = step & LAST ? this.#detail(name, constants, test) : this.#detail(name, null, null);
      if (detail > DETAIL) return false;
      this.#addStep(step & LAST && isOperand ? step | OPERAND : step, detail | (this.#accessorOf(step, name) << ACCESSOR));
    }
    return true;
  }

  /** Returns true if a request may be read by all steps from a position on. */
  isReadable(from: number): boolean {
    for (let at = from; at < this.#length; at += 2) if ((this.#steps[at]! & SITE) === UNREADABLE) return false;
    return true;
  }

  #addStep(step: number, detail: number): void {
    if (this.#length + 2 > this.#steps.length) {
      const more = new Int32Array(this.#steps.length * 2);
      more.set(this.#steps);
      this.#steps = more;
    }
    this.#steps[this.#length] = step;
    this.#steps[this.#length + 1] = detail;
    this.#length += 2;
  }

  /** Returns the number of a detail. Steps with equal details share it. */
  #detail(name: string, constants: Constants | null, test: SlotTest | null): number {
    const key = JSON.stringify([name, constants?.texts, constants?.words, test]);
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.#all.length;
      this.#numbers.set(key, number);
      this.#all.push({ name, constants, test });
    }
    return number;
  }

  /** Returns the number under which the accessor module reads the value of the step. */
  #accessorOf(step: number, name: string): number {
    const site = step & SITE;
    return site > BY_NAME ? site : (this.#accessors.get(name) ?? BY_NAME);
  }
}
