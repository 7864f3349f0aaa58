// What a page shows, by decisions that the server made for it and by a PDP that may come later: the
// entry `wardgate/view`, on which the adapters for React, Vue, Svelte and Angular stand.
//
// It loads no module. A page shows and hides parts; the server decides again before it acts.

import type { Reason } from "../pdp/decision.ts";
import type { AuxData, Principal, Resource } from "../pdp/request-types.ts";
import type { Pdp } from "../pdp/types.ts";

/** An action on a resource. */
export interface PageQuestion {
  readonly action: string;
  readonly resource: Resource;
}

/** Decisions for a page, as plain JSON: no attributes, and reasons only on request. */
export interface PageDecisions {
  /** The digest of the policies that decided: `header.content` of the PDP. */
  readonly digest: string;
  /** The id of the principal. */
  readonly principal: string;
  /** The answers, by {@link keyOf} of their questions. */
  readonly answers: { readonly [key: string]: PageAnswer };
}

/** The answer to one question. */
export interface PageAnswer {
  readonly allowed: boolean;
  /** The reason, if `decide` was asked for reasons. */
  readonly reason?: Reason;
}

/** The options of `decide`. */
export interface DecideOptions {
  /** Verified data about the requests, such as the claims of a token. */
  readonly auxData?: AuxData | undefined;
  /** True to send the reason of each decision to the page, with names of rules. Default: false. */
  readonly reasons?: boolean | undefined;
}

/**
 * Decides the questions of a page on the server.
 *
 * @throws what `pdp.isAllowed` throws.
 *
 * @example
 *     const decisions = decide(pdp, principal, albums.map((resource) => ({ action: "edit", resource })));
 */
export function decide(pdp: Pdp, principal: Principal, questions: readonly PageQuestion[], { auxData, reasons }: DecideOptions = {}): PageDecisions {
  const answers: { [key: string]: PageAnswer } = {};
  for (const { action, resource } of questions) answers[keyOf(action, resource)] = answerOf(pdp, { principal, resource, auxData }, action, reasons === true);
  return { digest: pdp.header.content, principal: principal.id, answers };
}

/** Returns the key of a question: its action, and what names its resource. */
export function keyOf(action: string, { kind, id, scope = "", policyVersion = "" }: Resource): string {
  return JSON.stringify([action, kind, id, scope, policyVersion]);
}

/** The reason of a view for a denial: of the PDP, or that there is no principal, no resource, or no PDP. */
export type Why = Reason | { readonly kind: "no-principal" } | { readonly kind: "no-resource" } | { readonly kind: "no-pdp" };

/** What a page knows about an action. `reason` is absent if the server sent none. */
export type Shown =
  | { readonly state: "loading" }
  | { readonly state: "allowed"; readonly reason?: Why }
  | { readonly state: "denied"; readonly reason?: Why };

/** Rows that a page may show. While they load there are none. */
export interface ShownRows<T> {
  readonly state: "loading" | "ready";
  readonly rows: readonly T[];
}

/** A question that the server and the PDP of the page answer differently. The PDP is right for the page. */
export interface Difference extends PageQuestion {
  /** True if the server allowed the action. */
  readonly server: boolean;
  /** True if the PDP of the page allows it. */
  readonly page: boolean;
  /** True if both have the same policies: then attributes or the time differ. */
  readonly samePolicies: boolean;
}

/** A PDP, a promise of one, or a function that loads one once the page is shown. */
export type LazyPdp = Pdp | PromiseLike<Pdp> | (() => Pdp | PromiseLike<Pdp>);

/** What a view decides with. */
export interface ViewParts {
  /** The PDP, once it is there. */
  readonly pdp?: Pdp | null | undefined;
  /** True if there will be no PDP: then what the server did not decide is denied. */
  readonly isFinal?: boolean | undefined;
  /** True for the first paint, which shows what the server has painted: its decisions come before those of the PDP. */
  readonly isFirst?: boolean | undefined;
  /** The principal; `null` if nobody is signed in, `undefined` while that is not known. */
  readonly principal: Principal | null | undefined;
  /** Verified data about the requests. */
  readonly auxData?: AuxData | undefined;
  /** The decisions of the server. */
  readonly decisions?: PageDecisions | null | undefined;
  /** Gets each question that server and PDP answer differently, once. Default: a warning on the console. */
  readonly onDifference?: ((difference: Difference) => unknown) | undefined;
}

/** The parts of a view whose PDP may come later. */
export interface PageParts extends Omit<ViewParts, "pdp" | "isFinal" | "isFirst"> {
  /**
   * The PDP, or a promise or function that loads it, which is called once, when the page is shown. While it is missing,
   * `decisions` answer. A function must stay the same: another one loads another PDP.
   */
  readonly pdp?: LazyPdp | null | undefined;
  /** Gets the error if the PDP could not be loaded. Default: it is reported as an uncaught one. */
  readonly onError?: ((error: unknown) => unknown) | undefined;
}

/** A view of what a principal may do. It is never changed; another PDP or principal makes another view. */
export class View {
  readonly #parts: ViewParts;
  readonly #told: Set<string>;
  /** Calls `notify` after each reload of the PDP, and returns a function that ends that. It needs no `this`. */
  readonly subscribe = (notify: () => void): (() => void) => this.#parts.pdp?.onReload(notify) ?? (() => {});

  /** Makes a view. `told` has the keys of the differences that `onDifference` got before. */
  constructor(parts: ViewParts, told = new Set<string>()) {
    this.#parts = parts;
    this.#told = told;
  }

  /** Returns true if the action is known to be allowed. */
  can(action: string, resource: Resource | null | undefined): boolean {
    return this.show(action, resource).state === "allowed";
  }

  /** Returns what the PDP says, or what the server said while there is no PDP. */
  show(action: string, resource: Resource | null | undefined, reasons = false): Shown {
    const { pdp, principal, isFirst } = this.#parts;
    return pdp && principal && resource && !isFirst ? this.#ask(pdp, principal, action, resource, reasons) : this.first(action, resource, reasons);
  }

  /** Returns what the server said, for the first paint, which must be what the server has painted; else what the PDP says. */
  first(action: string, resource: Resource | null | undefined, reasons = false): Shown {
    const { pdp, principal, isFinal } = this.#parts;
    if (principal === null) return denied("no-principal");
    if (resource === null) return denied("no-resource");
    if (principal === undefined || resource === undefined) return LOADING;
    const answer = this.#answer(action, resource);
    if (answer !== undefined) return shown(answer);
    if (pdp) return this.#ask(pdp, principal, action, resource, reasons);
    return isFinal ? denied("no-pdp") : LOADING;
  }

  /** Returns the rows on whose resources the action is allowed, once each of them is decided; `isFirst` is for the first paint. */
  filter<T>(action: string, rows: readonly T[], resource: (row: T) => Resource, isFirst = this.#parts.isFirst): ShownRows<T> {
    const { pdp, principal, auxData } = this.#parts;
    if (pdp && principal && !isFirst) return { state: "ready", rows: pdp.filter({ principal, action, rows, resource, ...(auxData && { auxData }) }) };
    const all = rows.map((row) => this.first(action, resource(row)).state);
    if (principal === undefined || all.includes("loading")) return { state: "loading", rows: [] };
    return { state: "ready", rows: rows.filter((_, at) => all[at] === "allowed") };
  }

  /** The digest of the policies of the PDP; empty without one. */
  get revision(): string {
    return this.#parts.pdp?.header.content ?? "";
  }

  #ask(pdp: Pdp, principal: Principal, action: string, resource: Resource, reasons: boolean): Shown {
    const { allowed, reason } = answerOf(pdp, { principal, resource, auxData: this.#parts.auxData }, action, reasons);
    const answer = this.#answer(action, resource);
    if (answer !== undefined && answer.allowed !== allowed) this.#differ(pdp, { action, resource, server: answer.allowed, page: allowed });
    return shown({ allowed, ...(reason && { reason }) });
  }

  #answer(action: string, resource: Resource): PageAnswer | undefined {
    const { decisions, principal } = this.#parts;
    // Decisions for another principal say nothing.
    return decisions && decisions.principal === principal?.id ? decisions.answers[keyOf(action, resource)] : undefined;
  }

  #differ(pdp: Pdp, question: Omit<Difference, "samePolicies">): void {
    const { decisions, onDifference = warn } = this.#parts;
    const key = keyOf(question.action, question.resource);
    if (this.#told.has(key)) return;
    this.#told.add(key);
    onDifference({ ...question, samePolicies: decisions?.digest === pdp.header.content });
  }
}

/** Hands the PDP to `use` once it is there, and nothing if it could not be loaded. Returns a function that ends that. */
export function whenLoaded(lazy: LazyPdp | null | undefined, use: (pdp: Pdp | null, error?: unknown) => void): () => void {
  let isWanted = true;
  const tell: typeof use = (pdp, error) => void (isWanted && use(pdp, error));
  if (lazy) Promise.resolve(lazy).then((one) => (typeof one === "function" ? one() : one)).then((pdp) => tell(pdp), (error: unknown) => tell(null, error));
  return () => void (isWanted = false);
}

/** Returns the PDP if it is there already. */
export function loadedNow(lazy: LazyPdp | null | undefined): Pdp | undefined {
  return lazy && "isAllowed" in lazy ? lazy : undefined;
}

/** Reports an error as an uncaught one. */
export function report(error: unknown): void {
  if (typeof reportError === "function") reportError(error);
}

function answerOf(pdp: Pdp, { auxData, ...parts }: { principal: Principal; resource: Resource; auxData: AuxData | undefined }, action: string, reasons: boolean): PageAnswer {
  const request = { ...parts, ...(auxData && { auxData }) };
  if (!reasons) return { allowed: pdp.isAllowed({ ...request, action }) === true };
  const { effect, reason } = pdp.check({ ...request, actions: [action] }).actions[action]!;
  return { allowed: effect === "allow", reason };
}

function shown({ allowed, reason }: PageAnswer): Shown {
  return { state: allowed ? "allowed" : "denied", ...(reason && { reason }) };
}

function denied(kind: "no-principal" | "no-resource" | "no-pdp"): Shown {
  return { state: "denied", reason: { kind } };
}

function warn({ action, resource: { kind, id }, server, page, samePolicies }: Difference): void {
  const [said, says] = [server, page].map((allowed) => (allowed ? "allowed" : "denied"));
  console.warn(`wardgate: the server ${said} ${action} on ${kind} ${id}, and the page ${says} it, with ${samePolicies ? "the same" : "other"} policies`);
}

const LOADING: Shown = { state: "loading" };
