// Searches of AuthZEN: which of these subjects, resources or actions are allowed?
//
// A search decides each candidate as an evaluation does. So a page holds only results that its
// caller may see, wherever it starts.
//
// A small request is read again for each candidate. A larger one is read once, and one budget of
// steps covers all decisions: without it a body of 40 KB takes minutes.
//
// A search tells what the policies say. It charges no rate limits and knows none, as in the server: only an
// evaluation admits a request.

import { answerOf, withRequestErrors, toAuxData, toPrincipal, toResource, type Directory } from "./authzen-decide.ts";
import type { Searching } from "./authzen-pages.ts";
import { AuthzenError, type ActionSearch, type Entity, type ResourceSearch, type SubjectSearch } from "./authzen-read.ts";
import { readCheckMany } from "../pdp/check-many.ts";
import { METERED, METERING, NEEDS_LIMITER, settled, type Metered, type MeteredSharer } from "../base/metered.ts";
import type { Decision } from "../pdp/decision.ts";
import { AUX_DATA, MAX_STEPS, PRINCIPAL, RESOURCE, sharing, type Sharer } from "../pdp/sharing.ts";
import type { ActionRequest, Resource } from "../pdp/request-types.ts";
import type { Pdp } from "../pdp/types.ts";

/** The part of the candidates to search: a start position, and the size of a page. */
export interface Window {
  /** The index of the first candidate. */
  readonly from: number;
  /** The largest number of results. */
  readonly limit: number;
  /** The largest number of candidates to decide. */
  readonly most: number;
}

/** The results of a search, and the position of the next page; `undefined` if there are no more. */
export interface SearchResults<T> {
  /** The results, in the order of the candidates. */
  readonly results: readonly T[];
  /** The index of the next candidate; `undefined` if there are no more. */
  readonly next: number | undefined;
}

/** A subject or resource in the results of a search. */
export interface Reference {
  /** The type of the entity. */
  readonly type: string;
  /** The id of the entity. */
  readonly id: string;
}

/** Returns the candidates that may perform the action on the resource. */
export function searchSubjects(
  pdp: Pdp,
  search: SubjectSearch,
  { candidates, window, directory, maxSteps }: Among,
): SearchResults<Reference> {
  if (!isKnown("resource", search.resource, directory)) return NOTHING;
  const resource = toResource(search.resource, directory);
  const [action, auxData] = [search.action.name, toAuxData(search.action, search.context)];
  const decide = isSmall(search) ? decideEach(pdp) : decideTogether(pdp, RESOURCE | AUX_DATA, maxSteps);
  const may = (subject: Entity): boolean => decide({ principal: toPrincipal(subject, directory), action, resource, auxData });
  return toReferences(scan(candidates, window, (chunk) => chunk.map(may)));
}

/** Returns the candidates on which the subject may perform the action. */
export function searchResources(
  pdp: Pdp,
  search: ResourceSearch,
  { candidates, window, directory, maxSteps }: Among,
): SearchResults<Reference> {
  if (!isKnown("subject", search.subject, directory)) return NOTHING;
  const principal = toPrincipal(search.subject, directory);
  const [action, auxData] = [search.action.name, toAuxData(search.action, search.context)];
  const each = decideEach(pdp);
  const filtered = (resources: readonly Resource[]): boolean[] => {
    if (isLimited(pdp)) return resources.map((resource) => each({ principal, action, resource, auxData }));
    const allowed: Set<Resource> = new Set(withRequestErrors(() => pdp.filter({ principal, action, resources, auxData })));
    return resources.map((resource) => allowed.has(resource));
  };
  const decide = decideTogether(pdp, PRINCIPAL | AUX_DATA, maxSteps);
  const one = (resource: Resource): boolean => decide({ principal, action, resource, auxData });
  const may = isSmall(search) ? filtered : (resources: readonly Resource[]): boolean[] => resources.map(one);
  return toReferences(scan(candidates, window, (chunk) => may(chunk.map((resource) => toResource(resource, directory)))));
}

/**
 * Returns the actions that the subject may perform on the resource, among the candidates of the
 * search or else among the names in rules. A pattern such as `view:*` is not a name; a candidate
 * that matches it is decided like any other.
 */
export function searchActions(
  pdp: Pdp,
  search: ActionSearch,
  { window, directory, maxSteps }: Omit<Among, "candidates">,
): SearchResults<{ readonly name: string }> {
  const { subject, resource, context } = search;
  if (!isKnown("subject", subject, directory) || !isKnown("resource", resource, directory)) return NOTHING;
  const [principal, auxData] = [toPrincipal(subject, directory), toAuxData(undefined, context)];
  const asResource = toResource(resource, directory);
  const decide = isSmall(search) ? decideEach(pdp) : decideTogether(pdp, PRINCIPAL | RESOURCE | AUX_DATA, maxSteps);
  const may = (action: string): boolean => decide({ principal, action, resource: asResource, auxData });
  const { results, next } = scan(search.candidates ?? pdp.actions(resource.type), window, (chunk) => chunk.map(may));
  return { results: results.map((name) => ({ name })), next };
}

/** The candidates of a search and the data about them. */
export interface Among {
  /** The candidates of the search. */
  readonly candidates: readonly Entity[];
  /** The part of the candidates to search. */
  readonly window: Window;
  /** The attributes that the host knows of entities. */
  readonly directory?: Directory | undefined;
  /**
   * The steps for all decisions of a search that is not small. Default: 20 million. A search that
   * needs more is refused.
   */
  readonly maxSteps?: number | undefined;
}

type Decide = (request: ActionRequest) => boolean;

function decideEach(pdp: Pdp): Decide {
  if (!isLimited(pdp)) return (request) => withRequestErrors(() => pdp.isAllowed(request));
  return ({ action, ...request }) => answerOf(() => settled(pdp[METERED]({ ...request, actions: [action] })), action).decision;
}

/** A PDP that was opened with `limits: true`, whose own methods do not decide. */
interface LimitedPdp {
  [METERED](request: unknown): Metered<Decision>;
  [METERING](steps: number): MeteredSharer<Decision>;
}

function isLimited(pdp: Pdp): pdp is Pdp & LimitedPdp {
  return (pdp as { readonly [NEEDS_LIMITER]?: boolean })[NEEDS_LIMITER] === true;
}

/** Returns a sharer of decisions by the policies alone. */
function sharerOf(pdp: Pdp, steps: number): Sharer {
  if (!isLimited(pdp)) return sharing(pdp, steps);
  const metered = pdp[METERING](steps);
  return { check: (request, shared) => settled(metered.check(request, shared)), left: () => metered.left() };
}

/** Returns a function that decides requests with shared parts, within one budget of steps. */
function decideTogether(pdp: Pdp, shared: number, maxSteps: number | undefined): Decide {
  const steps = readCheckMany({ maxSteps }) ?? MAX_STEPS;
  const sharer = sharerOf(pdp, steps);
  return ({ action, ...request }) => {
    const { decision } = sharer.left() === 0 ? DENIED : answerOf(() => sharer.check({ ...request, actions: [action] }, shared), action);
    if (!decision && sharer.left() === 0) throw new AuthzenError(`the decisions of the search take more than ${steps} steps`);
    return decision;
  };
}

/**
 * Returns true if a search is so small that its parts may be read, and evaluated by conditions,
 * again for each candidate.
 */
function isSmall(search: Searching): boolean {
  return budgetAfter(search, MAX_SMALL) >= 0;
}

/** Returns the budget that is left after this value; negative as soon as it is exceeded. */
function budgetAfter(value: unknown, budget: number): number {
  if (typeof value === "string") return budget - 1 - value.length / TEXT_OF_A_VALUE;
  if (typeof value !== "object" || value === null) return budget - 1;
  let left = budget - 1;
  for (const [name, member] of Object.entries(value)) {
    if (left < 0) break;
    left = budgetAfter(member, left - name.length / TEXT_OF_A_VALUE);
  }
  return left;
}

/**
 * Returns true if an entity is known: the directory has it, or the request describes it. An unknown
 * entity is denied everything. Without a directory every entity counts as known.
 */
function isKnown(side: "subject" | "resource", entity: Entity, directory?: Directory): boolean {
  if (directory === undefined || entity.properties !== undefined) return true;
  return directory[side](entity.type, entity.id) !== undefined;
}

/** Decides candidates in chunks, until the page is full and one further result exists. */
function scan<T>(candidates: readonly T[], window: Window, may: (chunk: readonly T[]) => readonly boolean[]): SearchResults<T> {
  const results: T[] = [];
  const end = Math.min(candidates.length, window.from + window.most);
  for (let at = window.from; at < end; at += CHUNK) {
    const chunk = candidates.slice(at, Math.min(at + CHUNK, end));
    const allowed = may(chunk);
    for (const [offset, candidate] of chunk.entries()) {
      if (allowed[offset] !== true) continue;
      if (results.length === window.limit) return { results, next: at + offset };
      results.push(candidate);
    }
  }
  return { results, next: end < candidates.length ? end : undefined };
}

function toReferences({ results, next }: SearchResults<Entity>): SearchResults<Reference> {
  return { results: results.map(({ type, id }) => ({ type, id })), next };
}

const DENIED = { decision: false } as const;
const NOTHING = { results: [], next: undefined } as const;
const CHUNK = 256;
/**
 * The number of values in a small search. Comparing two lists of half as many values takes as long
 * as a decision on the general path.
 */
const MAX_SMALL = 64;
const TEXT_OF_A_VALUE = 16;
