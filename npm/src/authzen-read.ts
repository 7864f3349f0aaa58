// Reads the requests of the AuthZEN Authorization API 1.0, out of parsed JSON that anybody may have sent.
//
// Members that the specification does not name are ignored, as it asks for. A member that may be absent may
// be null too. Everything is bounded before it is looked at.

import { describe } from "./describe.ts";
import type { Attributes } from "./types.ts";

/** A subject or a resource. */
export interface Entity {
  readonly type: string;
  readonly id: string;
  readonly properties?: Attributes | undefined;
}

/** What a subject wants to do. */
export interface Action {
  readonly name: string;
  readonly properties?: Attributes | undefined;
}

/** One question: may the subject perform the action on the resource? */
export interface Evaluation {
  readonly subject: Entity;
  readonly action: Action;
  readonly resource: Entity;
  readonly context?: Attributes | undefined;
}

/** How far several questions are pursued. */
export type Semantic = "execute_all" | "deny_on_first_deny" | "permit_on_first_permit";

/** Several questions, or one where no list of them was sent. A question that cannot be read is its error. */
export type Evaluations =
  | { readonly kind: "one"; readonly evaluation: Evaluation }
  | {
      readonly kind: "many";
      readonly semantic: Semantic;
      readonly items: readonly (Evaluation | AuthzenError)[];
    };

/** Which part of the results is asked for. */
export interface Page {
  readonly token?: string | undefined;
  readonly limit?: number | undefined;
}

/** What every search says. `candidates` are those among whom the caller wants to know. */
interface Search {
  readonly context?: Attributes | undefined;
  readonly page?: Page | undefined;
  readonly candidates?: readonly Entity[] | undefined;
}

/** Who of this type may perform the action on the resource? */
export interface SubjectSearch extends Search {
  readonly kind: "subject";
  readonly type: string;
  readonly action: Action;
  readonly resource: Entity;
}

/** On which resources of this type may the subject perform the action? */
export interface ResourceSearch extends Search {
  readonly kind: "resource";
  readonly type: string;
  readonly subject: Entity;
  readonly action: Action;
}

/** Which actions may the subject perform on the resource? */
export interface ActionSearch extends Search {
  readonly kind: "action";
  readonly subject: Entity;
  readonly resource: Entity;
}

/** A request that cannot be answered, because of what it says. Over HTTP this is the status 400. */
export class AuthzenError extends Error {
  readonly code = "bad-request";
  readonly status = 400;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "AuthzenError";
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
  return { kind: "many", semantic, items: items.map((item: unknown) => readItem(item, defaults)) };
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

/** Reads the body of a search for actions. It takes no candidates: the policies know the actions. */
export function readActionSearch(body: unknown): ActionSearch {
  const members = readBody(body);
  const [subject, resource] = [readEntity(members, "subject"), readEntity(members, "resource")];
  return { kind: "action", subject, resource, context: readObject(members, "context"), page: readPage(members) };
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

/** The members at the top that stand in for those that an item leaves out, each as a whole. */
function readDefaults(members: Members): Members {
  const given = DEFAULTS.map((name) => [name, optional(members, name)] as const);
  for (const [name, value] of given) {
    if (value !== undefined && !isMembers(value)) throw wrong(name, "an object", value);
  }
  return Object.fromEntries(given);
}

function readItem(item: unknown, defaults: Members): Evaluation | AuthzenError {
  try {
    if (!isMembers(item)) throw new AuthzenError(`an evaluation must be an object, found ${describe(item)}`);
    const own = DEFAULTS.map((name) => [name, optional(item, name) ?? defaults[name]] as const);
    return evaluationOf(Object.fromEntries(own));
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

function readSearch(members: Members, type: string): Search {
  return {
    context: readObject(members, "context"),
    page: readPage(members),
    candidates: readCandidates(optional(members, "candidates"), type),
  };
}

function readCandidates(list: unknown, type: string): readonly Entity[] | undefined {
  if (list === undefined) return undefined;
  if (!Array.isArray(list)) throw wrong("candidates", "an array", list);
  if (list.length > MAX_CANDIDATES) {
    throw new AuthzenError(`\`candidates\` must have at most ${MAX_CANDIDATES} items, found ${list.length}`);
  }
  return list.map((item: unknown) => {
    if (!isMembers(item)) throw new AuthzenError(`a candidate must be an object, found ${describe(item)}`);
    if ((optional(item, "type") ?? type) !== type) {
      throw new AuthzenError("a candidate must be of the type that is searched for");
    }
    return { type, id: readText(item, "id", "candidates[]"), properties: readObject(item, "properties", "candidates[].") };
  });
}

function readPage(members: Members): Page | undefined {
  const page = readObject(members, "page");
  if (page === undefined) return undefined;
  const [token, limit] = [optional(page, "token"), optional(page, "limit")];
  if (token !== undefined && typeof token !== "string") throw wrong("page.token", "a string", token);
  if (limit === undefined) return { token };
  if (typeof limit !== "number" || !Number.isSafeInteger(limit) || limit < 0) {
    throw wrong("page.limit", "a whole number that is not negative", limit);
  }
  return { token, limit };
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

/** A member of the object itself; null counts as absent. */
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

/** Walks through the whole body once, without recursion. */
function mustBeBounded(body: Members): void {
  const left: (readonly [value: unknown, depth: number])[] = [[body, 1]];
  for (let values = 0; ; values += 1) {
    const next = left.pop();
    if (next === undefined) return;
    if (values > MAX_VALUES) throw new AuthzenError(`the request must have at most ${MAX_VALUES} values`);
    const [value, depth] = next;
    mustBeText(value);
    if (typeof value !== "object" || value === null) continue;
    if (depth > MAX_DEPTH) throw new AuthzenError(`the request must be at most ${MAX_DEPTH} values deep`);
    for (const [name, member] of Object.entries(value)) {
      mustBeText(name);
      left.push([member, depth + 1]);
    }
  }
}

/** Half of a pair of surrogates is no text: written as UTF-8 it would become another. */
function mustBeText(value: unknown): void {
  if (typeof value === "string" && LONE_SURROGATE.test(value)) {
    throw new AuthzenError("the request must be Unicode text, found an unpaired surrogate");
  }
}

/** The most questions of one request. */
export const MAX_EVALUATIONS = 1000;
/** The most candidates of one search. */
export const MAX_CANDIDATES = 10_000;
const MAX_DEPTH = 32;
const MAX_VALUES = 100_000;
const LONE_SURROGATE = /\p{Surrogate}/u;
const DEFAULTS = ["subject", "action", "resource", "context"] as const;
const SEMANTICS = ["execute_all", "deny_on_first_deny", "permit_on_first_permit"] as const;
