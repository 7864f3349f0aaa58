// Searches of AuthZEN: which of these subjects, resources or actions would be allowed?
//
// A search decides about one candidate after the other, each as an evaluation would. So a page never holds
// more than its caller may see, wherever it is told to begin.
//
// What the request itself brings is read again for each candidate, unless it is much: then it is read once, and all
// decisions together have a bound of steps. A body of 40 KB would otherwise cost minutes.

import { answerOf, withRequestErrors, toAuxData, toPrincipal, toResource, type Directory } from "./authzen-decide.ts";
import type { Searching } from "./authzen-pages.ts";
import { AuthzenError, type ActionSearch, type Entity, type ResourceSearch, type SubjectSearch } from "./authzen-read.ts";
import { readCheckMany } from "../pdp/check-many.ts";
import { AUX_DATA, MAX_STEPS, PRINCIPAL, RESOURCE, sharing } from "../pdp/sharing.ts";
import type { ActionRequest, Pdp, Resource } from "../pdp/types.ts";

/** Where a search begins and ends: at a position among the candidates, after so many results. */
export interface Window {
  readonly from: number;
  readonly limit: number;
  /** How many candidates are decided about at most. */
  readonly most: number;
}

/** What was found, and where to go on; nothing if there is no more. */
export interface Found<T> {
  readonly results: readonly T[];
  readonly next: number | undefined;
}

/** A subject or resource as a search returns it. */
export interface Reference {
  readonly type: string;
  readonly id: string;
}

/** Finds those of the candidates who may perform the action on the resource. */
export function searchSubjects(
  pdp: Pdp,
  search: SubjectSearch,
  { candidates, window, directory, maxSteps }: Among,
): Found<Reference> {
  if (!isKnown("resource", search.resource, directory)) return NOTHING;
  const resource = toResource(search.resource, directory);
  const [action, auxData] = [search.action.name, toAuxData(search.action, search.context)];
  const decide = isSmall(search) ? each(pdp) : together(pdp, RESOURCE | AUX_DATA, maxSteps);
  const may = (subject: Entity): boolean => decide({ principal: toPrincipal(subject, directory), action, resource, auxData });
  return referring(scan(candidates, window, (chunk) => chunk.map(may)));
}

/** Finds those of the candidates on which the subject may perform the action. */
export function searchResources(
  pdp: Pdp,
  search: ResourceSearch,
  { candidates, window, directory, maxSteps }: Among,
): Found<Reference> {
  if (!isKnown("subject", search.subject, directory)) return NOTHING;
  const principal = toPrincipal(search.subject, directory);
  const [action, auxData] = [search.action.name, toAuxData(search.action, search.context)];
  const filtered = (resources: readonly Resource[]): boolean[] => {
    const allowed: Set<Resource> = new Set(withRequestErrors(() => pdp.filter({ principal, action, resources, auxData })));
    return resources.map((resource) => allowed.has(resource));
  };
  const decide = together(pdp, PRINCIPAL | AUX_DATA, maxSteps);
  const one = (resource: Resource): boolean => decide({ principal, action, resource, auxData });
  const may = isSmall(search) ? filtered : (resources: readonly Resource[]): boolean[] => resources.map(one);
  return referring(scan(candidates, window, (chunk) => may(chunk.map((resource) => toResource(resource, directory)))));
}

/**
 * Finds the actions that the subject may perform on the resource: among the candidates of the search, or else among
 * those that rules name. A pattern such as `view:*` is no name; a candidate that it matches is decided like any other.
 */
export function searchActions(
  pdp: Pdp,
  search: ActionSearch,
  { window, directory, maxSteps }: Omit<Among, "candidates">,
): Found<{ readonly name: string }> {
  const { subject, resource, context } = search;
  if (!isKnown("subject", subject, directory) || !isKnown("resource", resource, directory)) return NOTHING;
  const [principal, auxData] = [toPrincipal(subject, directory), toAuxData(undefined, context)];
  const asResource = toResource(resource, directory);
  const decide = isSmall(search) ? each(pdp) : together(pdp, PRINCIPAL | RESOURCE | AUX_DATA, maxSteps);
  const may = (action: string): boolean => decide({ principal, action, resource: asResource, auxData });
  const { results, next } = scan(search.candidates ?? pdp.actions(resource.type), window, (chunk) => chunk.map(may));
  return { results: results.map((name) => ({ name })), next };
}

/** Among whom a search takes place, and what is known of them. */
export interface Among {
  readonly candidates: readonly Entity[];
  readonly window: Window;
  readonly directory?: Directory | undefined;
  /**
   * The steps that all decisions of a search may take together that brings more than a few values: 20 million unless
   * given. Where they do not suffice, the search is refused.
   */
  readonly maxSteps?: number | undefined;
}

type Decide = (request: ActionRequest) => boolean;

function each(pdp: Pdp): Decide {
  return (request) => withRequestErrors(() => pdp.isAllowed(request));
}

/** Decides on requests that share these parts, by no more than so many steps. */
function together(pdp: Pdp, shared: number, maxSteps: number | undefined): Decide {
  const steps = readCheckMany({ maxSteps }) ?? MAX_STEPS;
  const sharer = sharing(pdp, steps);
  return ({ action, ...request }) => {
    const { decision } = sharer.left() === 0 ? DENIED : answerOf(() => sharer.check({ ...request, actions: [action] }, shared), action);
    if (!decision && sharer.left() === 0) throw new AuthzenError(`the decisions of the search take more than ${steps} steps`);
    return decision;
  };
}

/** Whether a search brings so little that it may be read, and looked at by conditions, for each candidate anew. */
function isSmall(search: Searching): boolean {
  return budgetAfter(search, MAX_SMALL) >= 0;
}

/** What is left of the room for values after this one; less than nothing as soon as there is none. */
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
 * Whether anything is known of an entity: the directory has it, or the request describes it. Nobody may do
 * anything, and nothing may be done to what there is not. Without a directory everybody is taken as they are.
 */
function isKnown(side: "subject" | "resource", entity: Entity, directory?: Directory): boolean {
  if (directory === undefined || entity.properties !== undefined) return true;
  return directory[side](entity.type, entity.id) !== undefined;
}

/** Decides about candidates, some at a time, until the window is full and one more is found. */
function scan<T>(candidates: readonly T[], window: Window, may: (chunk: readonly T[]) => readonly boolean[]): Found<T> {
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

function referring({ results, next }: Found<Entity>): Found<Reference> {
  return { results: results.map(({ type, id }) => ({ type, id })), next };
}

const DENIED = { decision: false } as const;
const NOTHING = { results: [], next: undefined } as const;
const CHUNK = 256;
/** Values of a small search. Two lists of half as many, compared with each other, take as long as a decision the general way. */
const MAX_SMALL = 64;
const TEXT_OF_A_VALUE = 16;
