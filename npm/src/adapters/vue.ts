// Composables and a component for Vue: the entry `wardgate/vue`. They show what a `View` knows, as those for React do.

import { computed, defineComponent, inject, onScopeDispose, provide, shallowRef, toValue, triggerRef, watch } from "vue";
import type { ComputedRef, InjectionKey, MaybeRefOrGetter, PropType, ShallowRef } from "vue";

import { loadedNow, View, whenLoaded, type LazyPdp, type Shown, type ShownRows, type ViewParts } from "./view.ts";
import type { ActionOf, KindOf, RegisteredTypes } from "../pdp/policy-types.ts";
import type { Resource } from "../pdp/types.ts";

export type { Difference, LazyPdp, PageDecisions, Shown, ShownRows, Why } from "./view.ts";

/** What a part of a page decides with: as the properties of `WardgateProvider` for React. */
export interface WardgateParts extends Omit<ViewParts, "pdp" | "isFinal"> {
  /** The PDP, or a promise or function that loads it. While it is missing, `decisions` answer. */
  readonly pdp?: LazyPdp | null | undefined;
  /** Gets the error if the PDP could not be loaded. */
  readonly onError?: ((error: unknown) => unknown) | undefined;
}

/** Provides decisions, the PDP and the principal to the components below. Call it in `setup`. */
export function provideWardgate(given: MaybeRefOrGetter<WardgateParts>): void {
  const view = shallowRef(new View({ principal: undefined }));
  let end = (): void => {};
  watch(() => toValue(given), ({ pdp: lazy, onError, ...parts }) => {
    end();
    const use = (pdp: ViewParts["pdp"], isFinal: boolean): void => {
      view.value = new View({ ...parts, pdp, isFinal });
      const stop = view.value.subscribe(() => triggerRef(view));
      const before = end;
      end = () => (stop(), before());
    };
    const now = loadedNow(lazy);
    end = now ? () => {} : whenLoaded(lazy, (pdp, error) => {
      end();
      end = () => {};
      use(pdp, pdp === null);
      if (pdp === null) onError?.(error);
    });
    use(now, false);
  }, { immediate: true });
  onScopeDispose(() => end());
  provide(KEY, view);
}

/** Returns what is known about an action: `loading`, `allowed` or `denied`, and why. */
export function useDecision<K extends KindOf>(action: MaybeRefOrGetter<ActionOf<RegisteredTypes, K>>, resource: MaybeRefOrGetter<Resource<RegisteredTypes, K> | null | undefined>): ComputedRef<Shown> {
  const view = injected("useDecision");
  return computed((before: Shown | undefined) => {
    const found = view.value.show(toValue(action), toValue(resource), true);
    // An equal decision renders nothing again.
    return before !== undefined && JSON.stringify(before) === JSON.stringify(found) ? before : found;
  });
}

/** Returns true if the principal may perform the action; false while that is not known. */
export function useCan<K extends KindOf>(action: MaybeRefOrGetter<ActionOf<RegisteredTypes, K>>, resource: MaybeRefOrGetter<Resource<RegisteredTypes, K> | null | undefined>): ComputedRef<boolean> {
  const view = injected("useCan");
  return computed(() => view.value.can(toValue(action), toValue(resource)));
}

/** Returns the rows on whose resources the principal may perform the action. */
export function useFilter<T, K extends KindOf = KindOf>(action: MaybeRefOrGetter<ActionOf<RegisteredTypes, K>>, rows: MaybeRefOrGetter<readonly T[]>, resource: (row: T) => Resource<RegisteredTypes, K>): ComputedRef<ShownRows<T>> {
  const view = injected("useFilter");
  return computed(() => view.value.filter(toValue(action), toValue(rows), resource));
}

/** Shows its slot if the action is allowed, `#fallback` if not, and `#loading` while that is not known. Each gets the decision. */
export const Can = /* @__PURE__ */ defineComponent({
  props: { action: { type: String, required: true }, resource: { type: Object as PropType<Resource | null>, default: undefined }, not: Boolean },
  setup(props, { slots }) {
    const decision = useDecision(() => props.action, () => props.resource);
    return () => {
      const shown = decision.value;
      if (shown.state === "loading") return slots["loading"]?.(shown);
      return (shown.state === "allowed") !== props.not ? slots["default"]?.(shown) : slots["fallback"]?.(shown);
    };
  },
});

function injected(name: string): ShallowRef<View> {
  const view = inject(KEY, undefined);
  if (view === undefined) throw new Error(`\`${name}\` must be used below a component that calls \`provideWardgate\``);
  return view;
}

const KEY: InjectionKey<ShallowRef<View>> = Symbol.for("wardgate.view") as InjectionKey<ShallowRef<View>>;
