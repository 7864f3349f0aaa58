// Searches of AuthZEN: which of these subjects, resources or actions would be allowed?
//
// A search decides about one candidate after the other, each as an evaluation would. So a page never holds
// more than its caller may see, wherever it is told to begin.

import { asked, toAuxData, toPrincipal, toResource, type Directory } from "./authzen-decide.ts";
import type { ActionSearch, Entity, ResourceSearch, SubjectSearch } from "./authzen-read.ts";
import type { Pdp, Resource } from "./types.ts";

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
  { candidates, window, directory }: Among,
): Found<Reference> {
  if (!isKnown("resource", search.resource, directory)) return NOTHING;
  const resource = toResource(search.resource, directory);
  const [action, auxData] = [search.action.name, toAuxData(search.action, search.context)];
  const may = (subject: Entity): boolean => {
    const principal = toPrincipal(subject, directory);
    return asked(() => pdp.isAllowed({ principal, action, resource, auxData }));
  };
  return referring(scan(candidates, window, (chunk) => chunk.map(may)));
}

/** Finds those of the candidates on which the subject may perform the action. */
export function searchResources(
  pdp: Pdp,
  search: ResourceSearch,
  { candidates, window, directory }: Among,
): Found<Reference> {
  if (!isKnown("subject", search.subject, directory)) return NOTHING;
  const principal = toPrincipal(search.subject, directory);
  const [action, auxData] = [search.action.name, toAuxData(search.action, search.context)];
  const may = (chunk: readonly Entity[]): boolean[] => {
    const resources = chunk.map((resource) => toResource(resource, directory));
    const allowed: Set<Resource> = new Set(asked(() => pdp.filter({ principal, action, resources, auxData })));
    return resources.map((resource) => allowed.has(resource));
  };
  return referring(scan(candidates, window, may));
}

/**
 * Finds the actions that the subject may perform on the resource: among the candidates of the search, or else among
 * those that rules name. A pattern such as `view:*` is no name; a candidate that it matches is decided like any other.
 */
export function searchActions(
  pdp: Pdp,
  search: ActionSearch,
  { window, directory }: Omit<Among, "candidates">,
): Found<{ readonly name: string }> {
  const { subject, resource, context } = search;
  if (!isKnown("subject", subject, directory) || !isKnown("resource", resource, directory)) return NOTHING;
  const [principal, auxData] = [toPrincipal(subject, directory), toAuxData(undefined, context)];
  const asResource = toResource(resource, directory);
  const may = (action: string): boolean =>
    asked(() => pdp.isAllowed({ principal, action, resource: asResource, auxData }));
  const { results, next } = scan(search.candidates ?? pdp.actions(resource.type), window, (chunk) => chunk.map(may));
  return { results: results.map((name) => ({ name })), next };
}

/** Among whom a search takes place, and what is known of them. */
export interface Among {
  readonly candidates: readonly Entity[];
  readonly window: Window;
  readonly directory?: Directory | undefined;
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
    for (const [place, candidate] of chunk.entries()) {
      if (allowed[place] !== true) continue;
      if (results.length === window.limit) return { results, next: at + place };
      results.push(candidate);
    }
  }
  return { results, next: end < candidates.length ? end : undefined };
}

function referring({ results, next }: Found<Entity>): Found<Reference> {
  return { results: results.map(({ type, id }) => ({ type, id })), next };
}

const NOTHING = { results: [], next: undefined } as const;
const CHUNK = 256;
