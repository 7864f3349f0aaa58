// Components for React: the entry `wardgate/react`.
//
// They show and hide; what a person may do is decided again where it is done. What they show changes with
// the bundle in use, and only where the decision has changed.

"use client";

import { createContext, createElement, Fragment, useCallback, useContext, useMemo, useSyncExternalStore } from "react";
import type { ReactElement, ReactNode } from "react";

import type { AuxData, Pdp, Principal, Resource } from "../pdp/types.ts";

/** Who is asking whom. */
export interface WardgateProps {
  /** Nothing is allowed until it is there. */
  readonly pdp: Pdp | null | undefined;
  /** Nothing is allowed to nobody. */
  readonly principal: Principal | null | undefined;
  readonly auxData?: AuxData | undefined;
  readonly children?: ReactNode;
}

/** What may be done. */
export interface CanProps {
  readonly action: string;
  /** Nothing is allowed on what is not there yet. */
  readonly resource: Resource | null | undefined;
  /** What is shown where the action is denied: nothing unless given. */
  readonly fallback?: ReactNode;
  readonly children?: ReactNode;
}

/** Tells the components below it who is asking whom. */
export function WardgateProvider({ pdp, principal, auxData, children }: WardgateProps): ReactElement {
  const value = useMemo(() => ({ pdp, principal, auxData }), [pdp, principal, auxData]);
  return createElement(WardgateContext.Provider, { value }, children);
}

/**
 * Returns whether the principal may perform the action, now and after each `reload` of the PDP.
 *
 * @throws Error outside of a `WardgateProvider`.
 * @throws TypeError, RangeError or WardgateError like `pdp.isAllowed`, to the nearest error boundary.
 */
export function useCan(action: string, resource: Resource | null | undefined): boolean {
  const context = useContext(WardgateContext);
  if (context === undefined) throw new Error("`useCan` must be used inside of a `WardgateProvider`");
  const { pdp, principal, auxData } = context;
  const subscribe = useCallback((notify: () => void) => pdp?.onReload(notify) ?? nothing, [pdp]);
  const isAllowed = (): boolean =>
    isThere(pdp) && isThere(principal) && isThere(resource) && pdp.isAllowed({ principal, action, resource, auxData });
  return useSyncExternalStore(subscribe, isAllowed, isAllowed);
}

/** Shows its children where the action is allowed. */
export function Can({ action, resource, fallback, children }: CanProps): ReactElement {
  return createElement(Fragment, null, useCan(action, resource) ? children : fallback);
}

function isThere<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null;
}

function nothing(): void {}

const WardgateContext = createContext<Omit<WardgateProps, "children"> | undefined>(undefined);
