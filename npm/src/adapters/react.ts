// Components and hooks for React: the entry `wardgate/react`.
//
// They show and hide parts of a page. The server must decide again before it performs an action.
// The components follow the bundle in use, and render again only if the decision has changed.

"use client";

import { createContext, createElement, useContext, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import type { ReactElement, ReactNode } from "react";

import { loadedNow, report, View, whenLoaded, type Difference, type LazyPdp, type PageDecisions, type Shown, type ShownRows } from "./view.ts";
import type { ActionOf, KindOf, RegisteredTypes } from "../pdp/policy-types.ts";
import type { AuxData, Principal, Resource } from "../pdp/request-types.ts";
import type { Pdp } from "../pdp/types.ts";

export type { Difference, LazyPdp, PageDecisions, Shown, ShownRows, Why } from "./view.ts";

/** The decisions, the PDP and the principal of a part of a page. */
export interface WardgateProps {
  /**
   * The PDP, or a promise or function that loads it, which is called once the page is shown. While it
   * is missing, `decisions` answer. Give a function that stays the same between renders.
   */
  readonly pdp?: LazyPdp | null | undefined;
  /** The principal; `null` if nobody is signed in. While it is missing, every decision is loading. */
  readonly principal: Principal | null | undefined;
  /** The decisions of the server: see `decide` of `wardgate/view`. */
  readonly decisions?: PageDecisions | null | undefined;
  /** Verified data about the requests, such as the claims of a token. */
  readonly auxData?: AuxData | undefined;
  /** Gets each question that server and PDP answer differently, once. Default: a warning on the console. */
  readonly onDifference?: ((difference: Difference) => unknown) | undefined;
  /** Gets the error if the PDP could not be loaded. Default: it is reported as an uncaught one. */
  readonly onError?: ((error: unknown) => unknown) | undefined;
  /** The components that use the PDP. */
  readonly children?: ReactNode;
}

/** An action on a resource, and the elements to show for each state of the decision. */
export interface CanProps<K extends KindOf = KindOf> {
  /** The action, such as `edit`. */
  readonly action: ActionOf<RegisteredTypes, K>;
  /** The resource; `null` if there is none. While it is missing, the decision is loading. */
  readonly resource: Resource<RegisteredTypes, K> | null | undefined;
  /** True to show the children if the action is denied, and `fallback` if it is allowed. */
  readonly not?: boolean | undefined;
  /** The element to show while the decision is loading. Default: none. */
  readonly loading?: ReactNode;
  /** The element to show if the children are not. Default: none. */
  readonly fallback?: ReactNode;
  /** The elements to show if the action is allowed, or a function of the decision that is called in every state. */
  readonly children?: ReactNode | ((decision: Shown) => ReactNode);
}

/** Provides decisions, the PDP and the principal to the components below it. */
export function WardgateProvider({ pdp: lazy, principal, decisions, auxData, onDifference, onError, children }: WardgateProps): ReactElement {
  const [loaded, setLoaded] = useState<{ readonly from: unknown; readonly pdp: Pdp | null }>();
  const now = loadedNow(lazy);
  useEffect(() => now ? undefined : whenLoaded(lazy, (pdp, error) => {
    setLoaded({ from: lazy, pdp });
    if (pdp === null) (onError ?? report)(error);
  }), [lazy]);
  const late = loaded?.from === lazy ? loaded?.pdp : undefined;
  const pdp = now ?? late;
  const isFinal = late === null;
  const view = useMemo(
    () => new View({ pdp, isFinal, principal, auxData, decisions, onDifference }),
    [pdp, isFinal, principal, auxData, decisions, onDifference],
  );
  return createElement(WardgateContext.Provider, { value: view }, children);
}

/**
 * Returns true if the principal may perform the action. It decides again after each `reload` of the
 * PDP. While the decision is loading it is false.
 *
 * @throws Error outside of a `WardgateProvider`.
 * @throws TypeError, RangeError or WardgateError like `pdp.isAllowed`, to the nearest error
 * boundary.
 */
export function useCan<K extends KindOf>(action: ActionOf<RegisteredTypes, K>, resource: Resource<RegisteredTypes, K> | null | undefined): boolean {
  return useShownText("useCan", action, resource, false) === "allowed";
}

/**
 * Returns what is known about an action: `loading`, `allowed` or `denied`, and why.
 *
 * @throws as `useCan`.
 */
export function useDecision<K extends KindOf>(action: ActionOf<RegisteredTypes, K>, resource: Resource<RegisteredTypes, K> | null | undefined): Shown {
  const text = useShownText("useDecision", action, resource, true);
  return useMemo(() => JSON.parse(text) as Shown, [text]);
}

/**
 * Returns the rows on whose resources the principal may perform the action. Without a PDP it needs a
 * decision of the server about each of them.
 *
 * @throws as `useCan`.
 */
export function useFilter<T, K extends KindOf = KindOf>(action: ActionOf<RegisteredTypes, K>, rows: readonly T[], resource: (row: T) => Resource<RegisteredTypes, K>): ShownRows<T> {
  const view = useView("useFilter");
  const revision = useSnapshot(view, (isFirst) => (isFirst ? FIRST : view.revision));
  return useMemo(() => view.filter(action, rows, resource, revision === FIRST), [view, action, rows, revision]);
}

/** Shows its children if the action is allowed, `fallback` if not, and `loading` while that is not known. */
export function Can<K extends KindOf>({ action, resource, not = false, loading, fallback, children }: CanProps<K>): ReactNode {
  // One component and the same hooks for both kinds of children: a page may have thousands of them.
  const isFunction = typeof children === "function";
  const text = useShownText("Can", action, resource, isFunction);
  const decision = useMemo(() => (isFunction ? (JSON.parse(text) as Shown) : undefined), [isFunction, text]);
  if (decision !== undefined) return (children as (decision: Shown) => ReactNode)(decision);
  if (text === "loading") return loading;
  return (text === "allowed") !== not ? (children as ReactNode) : fallback;
}

/** Returns a decision as JSON with its reason, or its state alone. Texts are compared by their value, so that an equal decision renders nothing again. */
function useShownText(hook: string, action: string, resource: Resource | null | undefined, isWhole: boolean): string {
  const view = useView(hook);
  return useSnapshot(view, (isFirst) => {
    const shown = isFirst ? view.first(action, resource) : view.show(action, resource, isWhole);
    return isWhole ? JSON.stringify(shown) : shown.state;
  });
}

function useView(hook: string): View {
  const view = useContext(WardgateContext);
  if (view === undefined) throw new Error(`\`${hook}\` must be used inside of a \`WardgateProvider\``);
  return view;
}

/** Returns what `read` returns, after each reload too; `isFirst` is true on a server and while its page comes to life. */
function useSnapshot<T extends string>(view: View, read: (isFirst: boolean) => T): T {
  return useSyncExternalStore(view.subscribe, () => read(false), () => read(true));
}

/** The revision of the first paint. */
const FIRST = "first";

const WardgateContext = createContext<View | undefined>(undefined);
