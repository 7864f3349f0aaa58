// The worker: who may ask what, and where.
//
//     POST /access/v1/evaluation, /access/v1/evaluations             with a bearer token
//     POST /access/v1/search/subject, .../resource, .../action       with a bearer token
//     GET  /metrics                                                  with a bearer token
//     GET  /health, /.well-known/authzen-configuration               for everybody

import { isLoopback, metadata, PATHS, WELL_KNOWN, type Endpoint } from "wardgate/authzen";

import { actionSearch, evaluation, evaluations, resourceSearch, subjectSearch, type Answered, type Asking } from "./endpoints.ts";
import type { Env } from "./env.ts";
import { failed, json, Problem } from "./http.ts";
import { serviceOf, type Service } from "./service.ts";
import { prepare } from "./warm-up.ts";

export default {
  async fetch(request, env, context): Promise<Response> {
    const response = await answer(request, env, context).catch(failed);
    const id = request.headers.get("X-Request-ID");
    if (id !== null) response.headers.set("X-Request-ID", id);
    response.headers.set("X-Content-Type-Options", "nosniff");
    return response;
  },
} satisfies ExportedHandler<Env>;

async function answer(request: Request, env: Env, context: ExecutionContext): Promise<Response> {
  const service = await serviceOf(env);
  const started = Date.now();
  const route = routeOf(request, service);
  const answered = await respond(route, { request, service, context }).catch(failed);
  const [response, decisions] = answered instanceof Response ? [answered, NONE] : [json(answered.body), answered];
  const { allowed, denied } = decisions;
  const milliseconds = Date.now() - started;
  service.metrics.record({ endpoint: route?.name ?? "unknown", status: response.status, milliseconds, allowed, denied });
  service.log.send(context);
  return response;
}

/** Finds the endpoint of a request. */
function routeOf({ url }: Request, { config }: Service): Route | undefined {
  const path = new URL(url).pathname;
  if (path === `${WELL_KNOWN}${config.basePath}`) return WELL_KNOWN_ROUTE;
  return path.startsWith(config.basePath) ? ROUTES.get(path.slice(config.basePath.length)) : undefined;
}

async function respond(route: Route | undefined, asked: Omit<Asking, "endpoint" | "caller">): Promise<Response | Answered> {
  if (route === undefined) throw new Problem(404, "not-found", "there is no such endpoint");
  const { method } = asked.request;
  if (method !== route.method && !(method === "HEAD" && route.method === "GET")) {
    throw new Problem(405, "method-not-allowed", `the method must be ${route.method}`, { Allow: route.method });
  }
  if (route.kind === "open") return route.answer(asked);
  const caller = await callerOf(asked);
  if (route.method === "POST") asked.service.policies.awaken(asked.context);
  return route.answer({ ...asked, endpoint: route.name, caller });
}

/** What tells the caller from every other, if it may ask. */
async function callerOf({ request, service }: Pick<Asking, "request" | "service">): Promise<Asking["caller"]> {
  const header = request.headers.get("Authorization");
  const caller = await service.config.authenticator.caller(header, Date.now());
  const challenge = (error: string) => ({ "WWW-Authenticate": `Bearer realm="wardgate"${error}` });
  switch (caller.kind) {
    case "known":
      return caller;
    case "anonymous":
      throw new Problem(401, "unauthorized", "a bearer token is required", challenge(""));
    case "unknown":
      throw new Problem(401, "unauthorized", "the bearer token is not accepted", challenge(', error="invalid_token"'));
    case "forbidden":
      throw new Problem(403, "forbidden", "this caller may not ask here", challenge(', error="insufficient_scope"'));
  }
}

/** Looks for a bundle if there is none yet, so that a probe wakes the worker up. */
async function health({ service, context }: Omit<Asking, "endpoint" | "caller">): Promise<Response> {
  await service.policies.pdp(context).catch(() => undefined);
  const health = service.policies.health();
  // Which policies are in use is not for everybody: see `/metrics`.
  const { name: _, revision: __, ...told } = health;
  return json(told, health.status === "not-ready" || health.status === "expired" ? 503 : 200);
}

async function describe({ request, service }: Omit<Asking, "endpoint" | "caller">): Promise<Response> {
  const endpoints = service.index === undefined ? WITHOUT_INDEX : undefined;
  return json(metadata(service.config.url ?? originOf(request), endpoints), 200, { "Cache-Control": "public, max-age=300" });
}

/**
 * The origin by which the worker was called. Somebody may name any host, and would be told to ask there; but the
 * platform, which says so by `cf`, calls a worker by hosts that are its own. It is https but on the machine of a developer.
 */
function originOf(request: Request): string {
  const { protocol, host, hostname } = new URL(request.url);
  if (isLoopback(hostname)) return `${protocol}//${host}`;
  if (request.cf === undefined) throw new Problem(404, "not-found", "this PDP was not told its URL");
  return `https://${host}`;
}

async function numbers({ service }: Asking): Promise<Answered> {
  const policies = service.policies.health();
  return { body: { ...service.metrics.read(), policies, log: { lost: service.log.lost } }, allowed: 0, denied: 0 };
}

type Route =
  | {
      readonly kind: "open";
      readonly name: string;
      readonly method: "GET";
      readonly answer: (asked: Omit<Asking, "endpoint" | "caller">) => Promise<Response>;
    }
  | {
      readonly kind: "guarded";
      readonly name: string;
      readonly method: "GET" | "POST";
      readonly answer: (asking: Asking) => Promise<Answered>;
    };

function post(name: string, answer: (asking: Asking) => Promise<Answered>): Route {
  return { kind: "guarded", name, method: "POST", answer };
}

const NONE = { allowed: 0, denied: 0 };
/** What is served where there is nothing to search through. */
const WITHOUT_INDEX: readonly Endpoint[] = ["access_evaluation_endpoint", "access_evaluations_endpoint", "search_action_endpoint"];
const WELL_KNOWN_ROUTE: Route = { kind: "open", name: "metadata", method: "GET", answer: describe };
const ROUTES: ReadonlyMap<string, Route> = new Map([
  [PATHS.access_evaluation_endpoint, post("evaluation", evaluation)],
  [PATHS.access_evaluations_endpoint, post("evaluations", evaluations)],
  [PATHS.search_subject_endpoint, post("search/subject", subjectSearch)],
  [PATHS.search_resource_endpoint, post("search/resource", resourceSearch)],
  [PATHS.search_action_endpoint, post("search/action", actionSearch)],
  ["/metrics", { kind: "guarded", name: "metrics", method: "GET", answer: numbers }],
  ["/health", { kind: "open", name: "health", method: "GET", answer: health }],
] satisfies [string, Route][]);

prepare((request, service, context) => respond(routeOf(request, service), { request, service, context }));
