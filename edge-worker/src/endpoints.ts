// The endpoints of the AuthZEN Authorization API 1.0: read the body, ask, answer.

import {
  evaluate,
  evaluateAll,
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
  type Entity,
  type Evaluation,
  type Found,
  type Searching,
  type Window,
} from "wardgate/authzen";

import type { Known } from "./auth.ts";
import { cut, logged, type DecisionEvent } from "./decision-log.ts";
import type { Listed } from "./directory.ts";
import { Problem, readBody } from "./http.ts";
import { directoryOf, type Service } from "./service.ts";

/** A request of somebody who may ask. */
export interface Asking {
  readonly endpoint: string;
  readonly request: Request;
  readonly service: Service;
  readonly caller: Known;
  readonly context: Pick<ExecutionContext, "waitUntil">;
}

/** The body of an answer, and how many decisions it took. */
export interface Answered {
  readonly body: object;
  readonly allowed: number;
  readonly denied: number;
}

export async function evaluation(asking: Asking): Promise<Answered> {
  const { request, service, context } = asking;
  const evaluation = readEvaluation(await readBody(request));
  const pdp = await service.policies.pdp(context);
  const answer = evaluate(pdp, evaluation, await directoryOf(service, typesOf([evaluation]), context));
  return decided(asking, [evaluation], [answer], answer);
}

export async function evaluations(asking: Asking): Promise<Answered> {
  const { request, service, context } = asking;
  const asked = readEvaluations(await readBody(request));
  const items = asked.kind === "one" ? [asked.evaluation] : asked.items;
  const readable = items.filter((item): item is Evaluation => !(item instanceof AuthzenError));
  const pdp = await service.policies.pdp(context);
  const body = evaluateAll(pdp, asked, await directoryOf(service, typesOf(readable), context), { maxSteps: MAX_STEPS });
  return decided(asking, items, "evaluations" in body ? body.evaluations : [body], body);
}

export async function subjectSearch(asking: Asking): Promise<Answered> {
  const { request, service, context } = asking;
  const search = readSubjectSearch(await readBody(request));
  const sought: Listed = { side: "subject", type: search.type };
  if (search.candidates === undefined) mustHaveIndex(service);
  const pdp = await service.policies.pdp(context);
  const directory = await directoryOf(service, [sought, { side: "resource", type: search.resource.type }], context);
  const candidates: readonly Entity[] = search.candidates ?? directory?.all(sought) ?? [];
  return found(asking, search, (window) => searchSubjects(pdp, search, { candidates, window, directory, maxSteps: MAX_STEPS }));
}

export async function resourceSearch(asking: Asking): Promise<Answered> {
  const { request, service, context } = asking;
  const search = readResourceSearch(await readBody(request));
  const sought: Listed = { side: "resource", type: search.type };
  if (search.candidates === undefined) mustHaveIndex(service);
  const pdp = await service.policies.pdp(context);
  const directory = await directoryOf(service, [sought, { side: "subject", type: search.subject.type }], context);
  const candidates: readonly Entity[] = search.candidates ?? directory?.all(sought) ?? [];
  return found(asking, search, (window) => searchResources(pdp, search, { candidates, window, directory, maxSteps: MAX_STEPS }));
}

export async function actionSearch(asking: Asking): Promise<Answered> {
  const { request, service, context } = asking;
  const search = readActionSearch(await readBody(request));
  const pdp = await service.policies.pdp(context);
  const directory = await directoryOf(service, typesOf([search]), context);
  return found(asking, search, (window) => searchActions(pdp, search, { window, directory, maxSteps: MAX_STEPS }));
}

/** An empty list would say that nobody may, where nobody was looked for. */
function mustHaveIndex({ index }: Service): void {
  if (index === undefined) throw new Problem(501, "no-index", "there is no index to search through: send `candidates`");
}

/** The types whose entries in the index may matter. */
function typesOf(asked: readonly Pick<Evaluation, "subject" | "resource">[]): Listed[] {
  return asked.flatMap(({ subject, resource }): Listed[] => [
    { side: "subject", type: subject.type },
    { side: "resource", type: resource.type },
  ]);
}

/** Logs decisions and counts them. There may be fewer answers than questions. */
function decided(
  asking: Asking,
  asked: readonly (Evaluation | AuthzenError)[],
  answers: readonly Answer[],
  body: object,
): Answered {
  let about: DecisionEvent | undefined;
  for (const [at, { decision }] of answers.entries()) {
    const item = asked[at];
    if (item === undefined || item instanceof AuthzenError) continue;
    asking.service.log.record(() => ({ ...(about ??= eventOf(asking)), ...logged(item), decision }));
  }
  const allowed = answers.filter(({ decision }) => decision).length;
  return { body, allowed, denied: answers.length - allowed };
}

/** Answers a search with the page that was asked for; with everything where there are no tokens for pages. */
async function found<T>(asking: Asking, search: Searching, run: (window: Window) => Found<T>): Promise<Answered> {
  const { service } = asking;
  const { pages } = service;
  // The same name may come from a token of the configuration and from a signed one.
  const caller = `${asking.caller.by} ${asking.caller.name}`;
  if (pages === undefined) {
    const { results } = run({ from: 0, limit: Infinity, most: Infinity });
    return searched(asking, search, { results });
  }
  const token = search.page?.token;
  const begin = { from: 0, limit: search.page?.limit ?? MOST_RESULTS };
  // An empty token is none: the specification ends a listing with one.
  const { from, limit } = token === undefined || token === "" ? begin : await pages.read(token, search, caller);
  const { results, next } = run({ from, limit: Math.min(limit, MOST_RESULTS), most: MOST_DECISIONS });
  const next_token = next === undefined ? "" : await pages.write(search, caller, { from: next, limit });
  const isPaged = search.page !== undefined || next_token !== "";
  const page = isPaged ? { page: { next_token, count: results.length } } : {};
  return searched(asking, search, { ...page, results });
}

function searched(asking: Asking, search: Searching, body: { readonly results: readonly unknown[] }): Answered {
  const resource = search.kind === "resource" ? { type: cut(search.type) } : { type: cut(search.resource.type), id: cut(search.resource.id) };
  const subject = search.kind === "subject" ? { type: cut(search.type) } : { type: cut(search.subject.type), id: cut(search.subject.id) };
  const action = search.kind === "action" ? {} : { action: cut(search.action.name) };
  asking.service.log.record(() => ({ ...eventOf(asking), subject, ...action, resource, results: body.results.length }));
  return { body, allowed: body.results.length, denied: 0 };
}

function eventOf({ endpoint, caller, service, request }: Asking): DecisionEvent {
  const requestId = request.headers.get("X-Request-ID");
  return {
    time: new Date().toISOString(),
    endpoint,
    caller: caller.name,
    revision: service.policies.revision,
    ...(requestId !== null && { requestId: cut(requestId) }),
  };
}

/** The most results of one page. */
const MOST_RESULTS = 1000;
/** The most decisions for one page. Where they do not suffice, the page is short and has a token. */
const MOST_DECISIONS = 10_000;

/**
 * The steps of all decisions on one request. In WebAssembly most of a request's steps take 50 ns, and the dearest, those
 * for a role that is looked up, 200 (2026-11-23, Node 20, 2 cores).
 */
const MAX_STEPS = 1_500_000;
