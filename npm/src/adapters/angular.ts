// Functions for Angular: the entry `wardgate/angular`. They show what a `View` knows, as those for React do.
//
// They return signals for `@if` and `computed`. There is no directive: the compiler of the app's version of Angular would have to make it.

import { afterNextRender, computed, DestroyRef, inject, InjectionToken, signal, type FactoryProvider, type Signal } from "@angular/core";

import { isSame, ViewSource } from "./view-source.ts";
import type { PageParts, Shown, ShownRows, View } from "./view.ts";
import type { Resource } from "../pdp/request-types.ts";

export type { Difference, LazyPdp, PageDecisions, PageParts, Shown, ShownRows, Why } from "./view.ts";

/** A value, or a signal or function that returns it and may read signals. */
export type ValueOrSignal<T> = T | (() => T);

/** The view that `provideWardgate` provides: for other functions than those below. */
export const WARDGATE = /* @__PURE__ */ new InjectionToken<Signal<View>>("wardgate");

/**
 * Provides decisions, the PDP and the principal: for the providers of an application, a route or a component. `given` is
 * called once, where it may `inject`, and returns the parts, or a signal or function of them.
 *
 * @example
 *     bootstrapApplication(App, { providers: [provideWardgate(() => {
 *       const session = inject(Session);
 *       return () => ({ principal: session.principal(), pdp: loadPdp });
 *     })] });
 */
export function provideWardgate(given: () => ValueOrSignal<PageParts>): FactoryProvider {
  return { provide: WARDGATE, useFactory: () => viewSignal(given()) };
}

/**
 * Returns what is known about an action: `loading`, `allowed` or `denied`, and why. Call it where `inject` may be called.
 *
 * @throws Error outside of an injection context, and without `provideWardgate`; the signal throws what `pdp.check` throws.
 */
export function injectDecision(action: ValueOrSignal<string>, resource: ValueOrSignal<Resource | null | undefined>): Signal<Shown> {
  const view = injectView("injectDecision");
  // An equal decision renders nothing again.
  return computed(() => view().show(valueOf(action), valueOf(resource), true), { equal: isSame });
}

/**
 * Returns true if the principal may perform the action; false while that is not known.
 *
 * @throws as `injectDecision`.
 */
export function injectCan(action: ValueOrSignal<string>, resource: ValueOrSignal<Resource | null | undefined>): Signal<boolean> {
  const view = injectView("injectCan");
  return computed(() => view().can(valueOf(action), valueOf(resource)));
}

/**
 * Returns the rows on whose resources the principal may perform the action.
 *
 * @throws as `injectDecision`.
 */
export function injectFilter<T>(action: ValueOrSignal<string>, rows: ValueOrSignal<readonly T[]>, resource: (row: T) => Resource): Signal<ShownRows<T>> {
  const view = injectView("injectFilter");
  return computed(() => view().filter(valueOf(action), valueOf(rows), resource));
}

function viewSignal(given: ValueOrSignal<PageParts>): Signal<View> {
  const changes = signal(0);
  const source = new ViewSource(() => changes.update((count) => count + 1));
  // It is not called on a server.
  afterNextRender(() => source.start());
  inject(DestroyRef).onDestroy(() => source.end());
  return computed(() => {
    changes();
    return source.viewOf(valueOf(given));
  });
}

function injectView(name: string): Signal<View> {
  const view = inject(WARDGATE, { optional: true });
  if (view === null) throw new Error(`\`${name}\` needs \`provideWardgate\` among the providers`);
  return view;
}

function valueOf<T extends string | object | null | undefined>(given: ValueOrSignal<T>): T {
  return typeof given === "function" ? given() : given;
}
