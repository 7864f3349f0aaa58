// Components for React: the entry `wardgate/react`.
//
// They show and hide parts of a page. The server must decide again before it performs an action.
// The components follow the bundle in use, and render again only if the decision has changed.

"use client";

import { createContext, createElement, Fragment, useCallback, useContext, useMemo, useSyncExternalStore } from "react";
import type { ReactElement, ReactNode } from "react";

import type { AuxData, Pdp, Principal, Resource } from "../pdp/types.ts";

/** The PDP and the principal of a part of a page. */
export interface WardgateProps {
  /** The PDP. While it is missing, every action is denied. */
  readonly pdp: Pdp | null | undefined;
  /** The principal. While it is missing, every action is denied. */
  readonly principal: Principal | null | undefined;
  /** Verified data about the requests, such as the claims of a token. */
  readonly auxData?: AuxData | undefined;
  /** The components that use the PDP. */
  readonly children?: ReactNode;
}

/** An action on a resource, and the elements to show for an allow and for a deny. */
export interface CanProps {
  /** The action, such as `edit`. */
  readonly action: string;
  /** The resource. While it is missing, the action is denied. */
  readonly resource: Resource | null | undefined;
  /** The element to show if the action is denied. Default: none. */
  readonly fallback?: ReactNode;
  /** The elements to show if the action is allowed. */
  readonly children?: ReactNode;
}

/** Provides the PDP and the principal to the components below it. */
export function WardgateProvider({ pdp, principal, auxData, children }: WardgateProps): ReactElement {
  const value = useMemo(() => ({ pdp, principal, auxData }), [pdp, principal, auxData]);
  return createElement(WardgateContext.Provider, { value }, children);
}

/**
 * Returns true if the principal may perform the action. It decides again after each `reload` of the
 * PDP.
 *
 * @throws Error outside of a `WardgateProvider`.
 * @throws TypeError, RangeError or WardgateError like `pdp.isAllowed`, to the nearest error
 * boundary.
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

/** Shows its children if the action is allowed, and `fallback` if not. */
export function Can({ action, resource, fallback, children }: CanProps): ReactElement {
  return createElement(Fragment, null, useCan(action, resource) ? children : fallback);
}

function isThere<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null;
}

function nothing(): void {}

const WardgateContext = createContext<Omit<WardgateProps, "children"> | undefined>(undefined);
