// The endpoints of the AuthZEN Authorization API 1.0: each reads the body, decides, and answers.

import {
  evaluate,
  evaluateAll,
  evaluateAllLimited,
  AuthzenError,
  readActionSearch,
  readEvaluation,
  readEvaluations,
  readResourceSearch,
  readSubjectSearch,
  searchActions,
  searchResources,
  searchSubjects,
  type Answer,
  type Answers,
  type Entity,
  type Evaluation,
  type Evaluations,
  type SearchResults,
  type Searching,
  type Window,
} from "wardgate/authzen";
import { fields } from "wardgate/ratelimit";

import type { Known } from "./auth.ts";
import { cut, eventFields, type DecisionEvent } from "./decision-log.ts";
import type { EntityType } from "./directory.ts";
import { Problem, readBody } from "./http.ts";
import type { Guard } from "./limits.ts";
import { directoryOf, type Service } from "./service.ts";

/** A request of an authenticated caller. */
export interface EndpointRequest {
  readonly endpoint: string;
  readonly request: Request;
  readonly service: Service;
  readonly caller: Known;
  readonly context: Pick<ExecutionContext, "waitUntil">;
}

/** The body of an answer, and the numbers of its decisions. */
export interface EndpointAnswer {
  readonly body: object;
  readonly allowed: number;
  readonly denied: number;
  /** The fields of rate limits. */
  readonly headers?: Readonly<Record<string, string>>;
}

export async function evaluation(incoming: EndpointRequest): Promise<EndpointAnswer> {
  const { request, service, context } = incoming;
  const evaluation = readEvaluation(await readBody(request));
  const pdp = await service.policies.pdp(context);
  const guard = service.limits?.(pdp);
  if (guard !== undefined) return limited(incoming, guard, { kind: "one", evaluation });
  const answer = evaluate(pdp, evaluation, await directoryOf(service, typesOf([evaluation]), context));
  return decisionAnswer(incoming, [evaluation], [answer], answer);
}

export async function evaluations(incoming: EndpointRequest): Promise<EndpointAnswer> {
  const { request, service, context } = incoming;
  const evaluations = readEvaluations(await readBody(request));
  const pdp = await service.policies.pdp(context);
  const guard = service.limits?.(pdp);
  if (guard !== undefined) return limited(incoming, guard, evaluations);
  const items = itemsOf(evaluations);
  const body = evaluateAll(pdp, evaluations, await directoryOf(service, typesOf(items.filter(isReadable)), context), { maxSteps: MAX_STEPS });
  return decisionAnswer(incoming, items, answersOf(body), body);
}

/** Decides, charges the limits that are met, and answers as `wardgate serve` does: with 200, whatever limits say. */
async function limited(incoming: EndpointRequest, guard: Guard, evaluations: Evaluations): Promise<EndpointAnswer> {
  const { service, context } = incoming;
  const items = itemsOf(evaluations);
  const directory = await directoryOf(service, typesOf(items.filter(isReadable)), context);
  const { answer, ...told } = await evaluateAllLimited(guard, evaluations, directory, { maxSteps: MAX_STEPS });
  return { ...decisionAnswer(incoming, items, answersOf(answer), answer), headers: fields(told) };
}

function itemsOf(evaluations: Evaluations): readonly (Evaluation | AuthzenError)[] {
  return evaluations.kind === "one" ? [evaluations.evaluation] : evaluations.items;
}

function isReadable(item: Evaluation | AuthzenError): item is Evaluation {
  return !(item instanceof AuthzenError);
}

function answersOf(body: Answer | Answers): readonly Answer[] {
  return "evaluations" in body ? body.evaluations : [body];
}

export async function subjectSearch(incoming: EndpointRequest): Promise<EndpointAnswer> {
  const { request, service, context } = incoming;
  const search = readSubjectSearch(await readBody(request));
  const sought: EntityType = { side: "subject", type: search.type };
  if (search.candidates === undefined) mustHaveIndex(service);
  const pdp = await service.policies.pdp(context);
  const directory = await directoryOf(service, [sought, { side: "resource", type: search.resource.type }], context);
  const candidates: readonly Entity[] = search.candidates ?? directory?.all(sought) ?? [];
  return pageOf(incoming, search, (window) => searchSubjects(pdp, search, { candidates, window, directory, maxSteps: MAX_STEPS }));
}

export async function resourceSearch(incoming: EndpointRequest): Promise<EndpointAnswer> {
  const { request, service, context } = incoming;
  const search = readResourceSearch(await readBody(request));
  const sought: EntityType = { side: "resource", type: search.type };
  if (search.candidates === undefined) mustHaveIndex(service);
  const pdp = await service.policies.pdp(context);
  const directory = await directoryOf(service, [sought, { side: "subject", type: search.subject.type }], context);
  const candidates: readonly Entity[] = search.candidates ?? directory?.all(sought) ?? [];
  return pageOf(incoming, search, (window) => searchResources(pdp, search, { candidates, window, directory, maxSteps: MAX_STEPS }));
}

export async function actionSearch(incoming: EndpointRequest): Promise<EndpointAnswer> {
  const { request, service, context } = incoming;
  const search = readActionSearch(await readBody(request));
  const pdp = await service.policies.pdp(context);
  const directory = await directoryOf(service, typesOf([search]), context);
  return pageOf(incoming, search, (window) => searchActions(pdp, search, { window, directory, maxSteps: MAX_STEPS }));
}

/** An empty list of results would mean that every candidate is denied. */
function mustHaveIndex({ index }: Service): void {
  if (index === undefined) throw new Problem(501, "no-index", "there is no index to search: send `candidates`");
}

/** Returns the types whose entries in the index may matter. */
function typesOf(items: readonly Pick<Evaluation, "subject" | "resource">[]): EntityType[] {
  return items.flatMap(({ subject, resource }): EntityType[] => [
    { side: "subject", type: subject.type },
    { side: "resource", type: resource.type },
  ]);
}

/** Logs and counts decisions. There may be fewer answers than items. */
function decisionAnswer(
  incoming: EndpointRequest,
  items: readonly (Evaluation | AuthzenError)[],
  answers: readonly Answer[],
  body: object,
): EndpointAnswer {
  let about: DecisionEvent | undefined;
  for (const [at, { decision }] of answers.entries()) {
    const item = items[at];
    if (item === undefined || item instanceof AuthzenError) continue;
    incoming.service.log.record(() => ({ ...(about ??= eventOf(incoming)), ...eventFields(item), decision }));
  }
  const allowed = answers.filter(({ decision }) => decision).length;
  return { body, allowed, denied: answers.length - allowed };
}

/**
 * Answers a search with the requested page, or with all results if page tokens are not configured.
 */
async function pageOf<T>(incoming: EndpointRequest, search: Searching, run: (window: Window) => SearchResults<T>): Promise<EndpointAnswer> {
  const { service } = incoming;
  const { pages } = service;
  // The same name may come from a token of the configuration and from a signed one.
  const caller = `${incoming.caller.by} ${incoming.caller.name}`;
  if (pages === undefined) {
    const { results } = run({ from: 0, limit: Infinity, most: Infinity });
    return searchAnswer(incoming, search, { results });
  }
  const token = search.page?.token;
  const begin = { from: 0, limit: search.page?.limit ?? MOST_RESULTS };
  // An empty token counts as absent: the specification ends a listing with one.
  const { from, limit } = token === undefined || token === "" ? begin : await pages.read(token, search, caller);
  const { results, next } = run({ from, limit: Math.min(limit, MOST_RESULTS), most: MOST_DECISIONS });
  const next_token = next === undefined ? "" : await pages.write(search, caller, { from: next, limit });
  const isPaged = search.page !== undefined || next_token !== "";
  const page = isPaged ? { page: { next_token, count: results.length } } : {};
  return searchAnswer(incoming, search, { ...page, results });
}

function searchAnswer(incoming: EndpointRequest, search: Searching, body: { readonly results: readonly unknown[] }): EndpointAnswer {
  const resource = search.kind === "resource" ? { type: cut(search.type) } : { type: cut(search.resource.type), id: cut(search.resource.id) };
  const subject = search.kind === "subject" ? { type: cut(search.type) } : { type: cut(search.subject.type), id: cut(search.subject.id) };
  const action = search.kind === "action" ? {} : { action: cut(search.action.name) };
  incoming.service.log.record(() => ({ ...eventOf(incoming), subject, ...action, resource, results: body.results.length }));
  return { body, allowed: body.results.length, denied: 0 };
}

function eventOf({ endpoint, caller, service, request }: EndpointRequest): DecisionEvent {
  const requestId = request.headers.get("X-Request-ID");
  return {
    time: new Date().toISOString(),
    endpoint,
    caller: caller.name,
    revision: service.policies.revision,
    ...(requestId !== null && { requestId: cut(requestId) }),
  };
}

/** The largest number of results in one page. */
const MOST_RESULTS = 1000;
/**
 * The largest number of decisions for one page. A page that needs more is short and has a token.
 */
const MOST_DECISIONS = 10_000;

/**
 * The steps of all decisions on one request. In WebAssembly most steps take 50 ns, and the most
 * expensive ones, for looking up a role, 200 (2026-11-23, Node 20, 2 cores).
 */
const MAX_STEPS = 1_500_000;
