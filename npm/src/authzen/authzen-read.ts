// Reads requests of the AuthZEN Authorization API 1.0 from parsed JSON. The input is untrusted.
//
// Unknown members are ignored, as the specification requires. An optional member may be null,
// except in an item of `evaluations`: there null is an error and no default replaces it. Every size
// is bounded before it is used.

import { describe } from "../base/describe.ts";
import { faultIn } from "../base/json-members.ts";
import type { Attributes } from "../pdp/request-types.ts";

/** A subject or a resource. */
export interface Entity {
  /** The type of the entity. */
  readonly type: string;
  /** The id of the entity, unique within its type. */
  readonly id: string;
  /** The properties, which become attributes. */
  readonly properties?: Attributes | undefined;
}

/** The action that a subject wants to perform. */
export interface Action {
  /** The name of the action. */
  readonly name: string;
  /** The properties, which conditions read as claims of `action`. */
  readonly properties?: Attributes | undefined;
}

/** One evaluation: may the subject perform the action on the resource? */
export interface Evaluation {
  /** The subject that wants to act. */
  readonly subject: Entity;
  /** The action that it wants to perform. */
  readonly action: Action;
  /** The resource on which it wants to act. */
  readonly resource: Entity;
  /** Further data about the request, which conditions read as claims of `context`. */
  readonly context?: Attributes | undefined;
}

/** The semantic of several evaluations: all of them, or up to the first deny or permit. */
export type Semantic = "execute_all" | "deny_on_first_deny" | "permit_on_first_permit";

/** Several evaluations, or one if the request has no list. An unreadable item is its error. */
export type Evaluations =
  | { readonly kind: "one"; readonly evaluation: Evaluation }
  | {
      readonly kind: "many";
      readonly semantic: Semantic;
      readonly items: readonly (Evaluation | AuthzenError)[];
    };

/** The requested part of the results. */
export interface Page {
  /** The token of the page; absent for the first page. */
  readonly token?: string | undefined;
  /** The requested number of results. */
  readonly limit?: number | undefined;
  /** Further properties of the page. They select nothing, and a token is bound to them. */
  readonly properties?: Attributes | undefined;
}

/** The members of every search. */
interface Search {
  readonly context?: Attributes | undefined;
  readonly page?: Page | undefined;
}

/** The members of a search for entities. `candidates` limits the search to these entities. */
interface EntitySearch extends Search {
  readonly candidates?: readonly Entity[] | undefined;
}

/** A search for the subjects of a type that may perform the action on the resource. */
export interface SubjectSearch extends EntitySearch {
  readonly kind: "subject";
  readonly type: string;
  readonly action: Action;
  readonly resource: Entity;
}

/** A search for the resources of a type on which the subject may perform the action. */
export interface ResourceSearch extends EntitySearch {
  readonly kind: "resource";
  readonly type: string;
  readonly subject: Entity;
  readonly action: Action;
}

/** A search for the actions that the subject may perform on the resource. */
export interface ActionSearch extends Search {
  readonly kind: "action";
  readonly subject: Entity;
  readonly resource: Entity;
  /** The names to decide about. Default: the actions that rules name. */
  readonly candidates?: readonly string[] | undefined;
}

/** An error of a request. Over HTTP its status is 400. */
export class AuthzenError extends Error {
  /** The stable code of the error. */
  readonly code = "bad-request";
  /** The HTTP status of the error. */
  readonly status = 400;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "AuthzenError";
  }
}

/**
 * Parses the text of a body for the readers below. It checks for repeated members, which
 * `JSON.parse` hides: of two members with one name it keeps the last.
 *
 * @throws AuthzenError if the text is not JSON, is nested too deep, or repeats a member.
 */
export function parseBody(text: string): unknown {
  const fault = faultIn(text, MAX_DEPTH);
  if (fault?.kind === "deep") throw tooDeep();
  if (fault?.kind === "doubled") throw new AuthzenError(`duplicate member \`${shortened(fault.name)}\` in an object`);
  try {
    return JSON.parse(text);
  } catch (thrown) {
    throw new AuthzenError("the request must be JSON", { cause: thrown });
  }
}

/** Reads the body of an access evaluation. */
export function readEvaluation(body: unknown): Evaluation {
  return evaluationOf(readBody(body));
}

/** Reads the body of access evaluations. */
export function readEvaluations(body: unknown): Evaluations {
  const members = readBody(body);
  const items = optional(members, "evaluations") ?? [];
  const semantic = readSemantic(members);
  if (!Array.isArray(items)) throw wrong("evaluations", "an array", items);
  if (items.length > MAX_EVALUATIONS) {
    throw new AuthzenError(`\`evaluations\` must have at most ${MAX_EVALUATIONS} items, found ${items.length}`);
  }
  if (items.length === 0) return { kind: "one", evaluation: evaluationOf(members) };
  const defaults = readDefaults(members);
  return { kind: "many", semantic, items: Array.from(items, (item: unknown) => readItem(item, defaults)) };
}

/** Reads the body of a search for subjects. */
export function readSubjectSearch(body: unknown): SubjectSearch {
  const members = readBody(body);
  const type = readSought(members, "subject");
  const [action, resource] = [readAction(members), readEntity(members, "resource")];
  return { kind: "subject", type, action, resource, ...readSearch(members, type) };
}

/** Reads the body of a search for resources. */
export function readResourceSearch(body: unknown): ResourceSearch {
  const members = readBody(body);
  const type = readSought(members, "resource");
  const [subject, action] = [readEntity(members, "subject"), readAction(members)];
  return { kind: "resource", type, subject, action, ...readSearch(members, type) };
}

/** Reads the body of a search for actions. */
export function readActionSearch(body: unknown): ActionSearch {
  const members = readBody(body);
  const [subject, resource] = [readEntity(members, "subject"), readEntity(members, "resource")];
  const candidates = readCandidates(members, (item) => readText(item, "name", "candidates[]"));
  return { kind: "action", subject, resource, context: readObject(members, "context"), page: readPage(members), candidates };
}

type Members = Readonly<Record<string, unknown>>;

function readBody(body: unknown): Members {
  if (!isMembers(body)) throw new AuthzenError(`the request must be a JSON object, found ${describe(body)}`);
  mustBeBounded(body);
  return body;
}

function evaluationOf(members: Members): Evaluation {
  return {
    subject: readEntity(members, "subject"),
    action: readAction(members),
    resource: readEntity(members, "resource"),
    context: readObject(members, "context"),
  };
}

/** The defaults for the parts that items leave out. Each is read once and replaces a whole part. */
type Defaults = { readonly [Name in keyof Evaluation]-?: () => Evaluation[Name] };

function readDefaults(members: Members): Defaults {
  for (const name of DEFAULTS) {
    const value = optional(members, name);
    if (value !== undefined && !isMembers(value)) throw wrong(name, "an object", value);
  }
  return {
    subject: once(() => readEntity(members, "subject")),
    action: once(() => readAction(members)),
    resource: once(() => readEntity(members, "resource")),
    context: once(() => readObject(members, "context")),
  };
}

/**
 * Returns a function that reads on its first call. It repeats the result or the exception of that
 * call.
 */
function once<T>(read: () => T): () => T {
  let known: { readonly value: T } | { readonly thrown: unknown } | undefined;
  return () => {
    known ??= outcomeOf(read);
    if ("thrown" in known) throw known.thrown;
    return known.value;
  };
}

function outcomeOf<T>(read: () => T): { readonly value: T } | { readonly thrown: unknown } {
  try {
    return { value: read() };
  } catch (thrown) {
    return { thrown };
  }
}

function readItem(item: unknown, defaults: Defaults): Evaluation | AuthzenError {
  try {
    if (!isMembers(item)) throw new AuthzenError(`an evaluation must be an object, found ${describe(item)}`);
    for (const name of DEFAULTS) {
      if (Object.hasOwn(item, name) && item[name] === null) throw wrong(name, "an object", null);
    }
    const has = (name: string): boolean => optional(item, name) !== undefined;
    return {
      subject: has("subject") ? readEntity(item, "subject") : defaults.subject(),
      action: has("action") ? readAction(item) : defaults.action(),
      resource: has("resource") ? readEntity(item, "resource") : defaults.resource(),
      context: has("context") ? readObject(item, "context") : defaults.context(),
    };
  } catch (thrown) {
    if (thrown instanceof AuthzenError) return thrown;
    throw thrown;
  }
}

function readSemantic(members: Members): Semantic {
  const options = readObject(members, "options") ?? {};
  const semantic = optional(options, "evaluations_semantic") ?? "execute_all";
  const known = SEMANTICS.find((name) => name === semantic);
  if (known !== undefined) return known;
  throw new AuthzenError(`\`options.evaluations_semantic\` must be one of ${SEMANTICS.join(", ")}`);
}

function readSought(members: Members, name: string): string {
  return readText(readRequired(members, name), "type", name);
}

function readSearch(members: Members, type: string): EntitySearch {
  return {
    context: readObject(members, "context"),
    page: readPage(members),
    candidates: readCandidates(members, (item) => readCandidate(item, type)),
  };
}

function readCandidates<T>(members: Members, read: (item: Members) => T): readonly T[] | undefined {
  const list = optional(members, "candidates");
  if (list === undefined) return undefined;
  if (!Array.isArray(list)) throw wrong("candidates", "an array", list);
  if (list.length > MAX_CANDIDATES) {
    throw new AuthzenError(`\`candidates\` must have at most ${MAX_CANDIDATES} items, found ${list.length}`);
  }
  return Array.from(list, (item: unknown) => {
    if (!isMembers(item)) throw new AuthzenError(`a candidate must be an object, found ${describe(item)}`);
    return read(item);
  });
}

function readCandidate(item: Members, type: string): Entity {
  if ((optional(item, "type") ?? type) !== type) {
    throw new AuthzenError("a candidate must be of the type that is searched for");
  }
  return { type, id: readText(item, "id", "candidates[]"), properties: readObject(item, "properties", "candidates[].") };
}

function readPage(members: Members): Page | undefined {
  const page = readObject(members, "page") as Members | undefined;
  if (page === undefined) return undefined;
  const [token, limit] = [optional(page, "token"), optional(page, "limit")];
  if (token !== undefined && typeof token !== "string") throw wrong("page.token", "a string", token);
  const properties = readObject(page, "properties", "page.");
  if (limit === undefined) return { token, properties };
  // A page without results would never end.
  if (typeof limit !== "number" || !Number.isSafeInteger(limit) || limit < 1) {
    throw wrong("page.limit", "a whole number from 1", limit);
  }
  return { token, limit, properties };
}

function readEntity(members: Members, name: string): Entity {
  const entity = readRequired(members, name);
  return {
    type: readText(entity, "type", name),
    id: readText(entity, "id", name),
    properties: readObject(entity, "properties", `${name}.`),
  };
}

function readAction(members: Members): Action {
  const action = readRequired(members, "action");
  return { name: readText(action, "name", "action"), properties: readObject(action, "properties", "action.") };
}

function readRequired(members: Members, name: string): Members {
  const value = optional(members, name);
  if (!isMembers(value)) throw wrong(name, "an object", value);
  return value;
}

function readObject(members: Members, name: string, path = ""): Attributes | undefined {
  const value = optional(members, name);
  if (value !== undefined && !isMembers(value)) throw wrong(`${path}${name}`, "an object", value);
  return value as Attributes | undefined;
}

function readText(members: Members, name: string, path: string): string {
  const value = optional(members, name);
  if (typeof value !== "string") throw wrong(`${path}.${name}`, "a string", value);
  return value;
}

/** Returns an own member of the object; null counts as absent. */
function optional(members: Members, name: string): unknown {
  return Object.hasOwn(members, name) ? (members[name] ?? undefined) : undefined;
}

function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function wrong(path: string, expected: string, found: unknown): AuthzenError {
  const what = found === undefined ? "nothing" : describe(found);
  return new AuthzenError(`\`${path}\` must be ${expected}, found ${what}`);
}

/** Checks the size and the text of the whole body in one walk, without recursion. */
function mustBeBounded(body: Members): void {
  const left: (readonly [value: unknown, depth: number])[] = [[body, 1]];
  for (let values = 0; ; values += 1) {
    const next = left.pop();
    if (next === undefined) return;
    const [value, depth] = next;
    mustBeText(value);
    if (typeof value !== "object" || value === null) continue;
    if (depth > MAX_DEPTH) throw tooDeep();
    const names = Array.isArray(value) ? undefined : Object.keys(value);
    // Before a list of the members is made.
    if (values + left.length + (names ?? (value as unknown[])).length > MAX_VALUES) throw tooMany();
    names?.forEach(mustBeText);
    for (const member of names === undefined ? (value as unknown[]) : Object.values(value)) left.push([member, depth + 1]);
  }
}

function tooDeep(): AuthzenError {
  return new AuthzenError(`the request must be at most ${MAX_DEPTH} values deep`);
}

function tooMany(): AuthzenError {
  return new AuthzenError(`the request must have at most ${MAX_VALUES} values`);
}

function shortened(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}...` : name;
}

/** Refuses half of a surrogate pair, which UTF-8 would turn into another character. */
function mustBeText(value: unknown): void {
  if (typeof value === "string" && LONE_SURROGATE.test(value)) {
    throw new AuthzenError("the request must be Unicode text, found an unpaired surrogate");
  }
}

/** The largest number of evaluations in one request. */
export const MAX_EVALUATIONS = 1000;
/** The largest number of candidates in one search. */
export const MAX_CANDIDATES = 10_000;
const MAX_DEPTH = 32;
const MAX_VALUES = 100_000;
const LONE_SURROGATE = /\p{Surrogate}/u;
/** The part of a name that a message repeats. */
const LONGEST_NAME = 100;
const DEFAULTS = ["subject", "action", "resource", "context"] as const;
const SEMANTICS = ["execute_all", "deny_on_first_deny", "permit_on_first_permit"] as const;
