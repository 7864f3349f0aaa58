// The steps to the slots of all fast paths of a bundle, and their details.

import { isSchema, readTest, type SlotTest } from "./derived.ts";
import { ACCESSOR, BY_NAME, DETAIL, LAST, OPERAND, SITE } from "./read-sites.ts";
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

  /** Appends the steps to one of the slots of a fast path. Returns false if only the general path may read it. */
  add(slot: number, wire: WireSlot, slots: readonly WireSlot[], isOperand: boolean): boolean {
    const path = stepsTo(slot, wire);
    const members = isSchema(wire.test) ? membersOf(slots, wire) : [];
    if (path === null || members === null) return false;
    const constants = readConstants(wire.constants);
    const test = wire.test === undefined ? null : readTest(wire.test, wire.terms ?? [], members);
    if (wire.uses & USES_TEST && test === null) return false;
    for (const [step, name] of path) {
      const detail = step & LAST ? this.#detail(name, constants, test) : this.#detail(name, null, null);
      if (detail > DETAIL) return false;
      this.#addStep(step & LAST && isOperand ? step | OPERAND : step, detail | (this.#accessorOf(step, name) << ACCESSOR));
    }
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
