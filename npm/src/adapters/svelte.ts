// Functions for Svelte: the entry `wardgate/svelte`. They show what a `View` knows, as those for React do.
//
// What they return is a reactive object with `current`, as those of `svelte/reactivity` are, and a store too.

import { getContext, onMount, setContext } from "svelte";
import { createSubscriber } from "svelte/reactivity";
import { toStore, type Readable } from "svelte/store";

import { isSame, ViewSource } from "./view-source.ts";
import type { PageParts, Shown, ShownRows, View } from "./view.ts";
import type { Resource } from "../pdp/request-types.ts";

export type { Difference, LazyPdp, PageDecisions, PageParts, Shown, ShownRows, Why } from "./view.ts";

/** A value that changes: `current` in markup, `$derived` and `$effect`, and a store for `$name`. */
export interface Current<T> extends Readable<T> {
  readonly current: T;
}

/** A value, or a function that returns it and may read what changes. */
export type ValueOrGetter<T> = T | (() => T);

/**
 * Provides decisions, the PDP and the principal to a component and those below it. Call it while the component is made.
 *
 * @example
 *     provideWardgate(() => ({ principal, decisions, pdp }));
 */
export function provideWardgate(given: () => PageParts): void {
  let update = (): void => {};
  const source = new ViewSource(() => update());
  const subscribe = createSubscriber((changed) => {
    update = changed;
    return () => (update = () => {});
  });
  onMount(() => {
    source.start();
    return () => source.end();
  });
  setContext<() => View>(KEY, () => {
    subscribe();
    return source.viewOf(given());
  });
}

/**
 * Returns what is known about an action: `loading`, `allowed` or `denied`, and why.
 *
 * @throws Error if no component above calls `provideWardgate`; `current` throws what `pdp.check` throws.
 */
export function useDecision(action: ValueOrGetter<string>, resource: ValueOrGetter<Resource | null | undefined>): Current<Shown> {
  // An equal decision renders nothing again.
  return currentOf("useDecision", (view) => view.show(valueOf(action), valueOf(resource), true), isSame);
}

/**
 * Returns true if the principal may perform the action; false while that is not known.
 *
 * @throws as `useDecision`.
 */
export function useCan(action: ValueOrGetter<string>, resource: ValueOrGetter<Resource | null | undefined>): Current<boolean> {
  return currentOf("useCan", (view) => view.can(valueOf(action), valueOf(resource)));
}

/**
 * Returns the rows on whose resources the principal may perform the action.
 *
 * @throws as `useDecision`.
 */
export function useFilter<T>(action: ValueOrGetter<string>, rows: ValueOrGetter<readonly T[]>, resource: (row: T) => Resource): Current<ShownRows<T>> {
  return currentOf("useFilter", (view) => view.filter(valueOf(action), valueOf(rows), resource));
}

function currentOf<T>(name: string, read: (view: View) => T, isEqual: (before: T | undefined, found: T) => boolean = Object.is): Current<T> {
  const viewNow = getContext<(() => View) | undefined>(KEY);
  if (viewNow === undefined) throw new Error(`\`${name}\` must be used after or below a call of \`provideWardgate\``);
  let before: T | undefined;
  const now = (): T => {
    const found = read(viewNow());
    return (before = isEqual(before, found) ? (before as T) : found);
  };
  // The store must be made here, where Svelte knows the component, and it reads at once: only subscribers need its value.
  let isStore = false;
  const store = toStore(() => (isStore ? now() : undefined));
  return {
    get current() {
      return now();
    },
    subscribe(run, invalidate) {
      isStore = true;
      // On a server the value of a store is the one that was read at once.
      return store.subscribe((value) => run(value ?? now()), invalidate);
    },
  };
}

function valueOf<T extends string | object | null | undefined>(given: ValueOrGetter<T>): T {
  return typeof given === "function" ? given() : given;
}

const KEY = Symbol.for("wardgate.view");
