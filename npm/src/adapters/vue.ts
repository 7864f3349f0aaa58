// Composables and a component for Vue: the entry `wardgate/vue`. They show what a `View` knows, as those for React do.

import { computed, defineComponent, getCurrentInstance, inject, onMounted, onScopeDispose, provide, shallowRef, toValue } from "vue";
import type { ComputedRef, InjectionKey, MaybeRefOrGetter, PropType } from "vue";

import { isSame, ViewSource } from "./view-source.ts";
import type { PageParts, Shown, ShownRows, View } from "./view.ts";
import type { ActionOf, KindOf, RegisteredTypes } from "../pdp/policy-types.ts";
import type { Resource } from "../pdp/request-types.ts";

export type { Difference, LazyPdp, PageDecisions, Shown, ShownRows, Why } from "./view.ts";

/** What a part of a page decides with: as the properties of `WardgateProvider` for React. */
export type WardgateParts = PageParts;

/** Provides decisions, the PDP and the principal to a component and those below. Call it in `setup`, before the composables. */
export function provideWardgate(given: MaybeRefOrGetter<WardgateParts>): void {
  const changes = shallowRef(0);
  const source = new ViewSource(() => (changes.value += 1));
  // It is not called on a server.
  onMounted(() => source.start());
  onScopeDispose(() => source.end());
  const view = computed(() => (changes.value, source.viewOf(toValue(given))));
  provide(KEY, view);
  OWN.set(getCurrentInstance()!, view);
}

/** Returns what is known about an action: `loading`, `allowed` or `denied`, and why. */
export function useDecision<K extends KindOf>(action: MaybeRefOrGetter<ActionOf<RegisteredTypes, K>>, resource: MaybeRefOrGetter<Resource<RegisteredTypes, K> | null | undefined>): ComputedRef<Shown> {
  const view = injected("useDecision");
  return computed((before: Shown | undefined) => {
    const found = view.value.show(toValue(action), toValue(resource), true);
    // An equal decision renders nothing again.
    return before !== undefined && isSame(before, found) ? before : found;
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

function injected(name: string): ComputedRef<View> {
  const view = OWN.get(getCurrentInstance()!) ?? inject(KEY, undefined);
  if (view === undefined) throw new Error(`\`${name}\` must be used after or below a call of \`provideWardgate\``);
  return view;
}

const KEY: InjectionKey<ComputedRef<View>> = Symbol.for("wardgate.view") as InjectionKey<ComputedRef<View>>;

/** The views of components that provide one: `inject` finds those of components above alone. */
const OWN = /* @__PURE__ */ new WeakMap<object, ComputedRef<View>>();
