// The worker: its routes, and the authentication for each.
//
//     POST /access/v1/evaluation, /access/v1/evaluations             with a bearer token
//     POST /access/v1/search/subject, .../resource, .../action       with a bearer token
//     GET  /metrics                                                  with a bearer token
//     GET  /health, /.well-known/authzen-configuration               public

import { isLoopback, metadata, PATHS, WELL_KNOWN, type Endpoint } from "wardgate/authzen";

import { actionSearch, evaluation, evaluations, resourceSearch, subjectSearch, type EndpointAnswer, type EndpointRequest } from "./endpoints.ts";
import type { Env } from "./env.ts";
import { errorResponse, json, Problem } from "./http.ts";
import { serviceOf, type Service } from "./service.ts";
import { prepare } from "./warm-up.ts";

// The class of the binding `LIMITS`.
export { LimitObject } from "wardgate/ratelimit";

export default {
  async fetch(request, env, context): Promise<Response> {
    const response = await answer(request, env, context).catch(errorResponse);
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
  const outcome = await respond(route, { request, service, context }).catch(errorResponse);
  const [response, decisions] = outcome instanceof Response ? [outcome, NONE] : [json(outcome.body, 200, outcome.headers), outcome];
  const { allowed, denied } = decisions;
  const milliseconds = Date.now() - started;
  service.metrics.record({ endpoint: route?.name ?? "unknown", status: response.status, milliseconds, allowed, denied });
  service.log.send(context);
  return response;
}

/** Returns the endpoint of a request. */
function routeOf({ url }: Request, { config }: Service): Route | undefined {
  const path = new URL(url).pathname;
  if (path === `${WELL_KNOWN}${config.basePath}`) return WELL_KNOWN_ROUTE;
  return path.startsWith(config.basePath) ? ROUTES.get(path.slice(config.basePath.length)) : undefined;
}

async function respond(route: Route | undefined, incoming: Omit<EndpointRequest, "endpoint" | "caller">): Promise<Response | EndpointAnswer> {
  if (route === undefined) throw new Problem(404, "not-found", "there is no such endpoint");
  const { method } = incoming.request;
  if (method !== route.method && !(method === "HEAD" && route.method === "GET")) {
    throw new Problem(405, "method-not-allowed", `the method must be ${route.method}`, { Allow: route.method });
  }
  if (route.kind === "open") return route.answer(incoming);
  const caller = await callerOf(incoming);
  if (route.method === "POST") incoming.service.policies.awaken(incoming.context);
  return route.answer({ ...incoming, endpoint: route.name, caller });
}

/** Authenticates the caller, or throws the problem for its response. */
async function callerOf({ request, service }: Pick<EndpointRequest, "request" | "service">): Promise<EndpointRequest["caller"]> {
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
      throw new Problem(403, "forbidden", "this caller may not use this endpoint", challenge(', error="insufficient_scope"'));
  }
}

/** Polls for a bundle if there is none yet, so that a probe starts the worker. */
async function health({ service, context }: Omit<EndpointRequest, "endpoint" | "caller">): Promise<Response> {
  await service.policies.pdp(context).catch(() => undefined);
  const health = service.policies.health();
  // The name and revision of the policies are not public: see `/metrics`.
  const { name: _, revision: __, ...visible } = health;
  return json(visible, health.status === "not-ready" || health.status === "expired" ? 503 : 200);
}

async function describe({ request, service }: Omit<EndpointRequest, "endpoint" | "caller">): Promise<Response> {
  const endpoints = service.index === undefined ? WITHOUT_INDEX : undefined;
  return json(metadata(service.config.url ?? originOf(request), endpoints), 200, { "Cache-Control": "public, max-age=300" });
}

/**
 * Returns the origin of this worker for its clients. A caller may send any host, and would direct
 * clients there; but if `cf` is present, the platform has routed the request by a host of this
 * worker. It is https except on the machine of a developer.
 */
function originOf(request: Request): string {
  const { protocol, host, hostname } = new URL(request.url);
  if (isLoopback(hostname)) return `${protocol}//${host}`;
  if (request.cf === undefined) throw new Problem(404, "not-found", "the URL of this PDP is not configured: set PDP_URL");
  return `https://${host}`;
}

async function metricsAnswer({ service }: EndpointRequest): Promise<EndpointAnswer> {
  const policies = service.policies.health();
  return { body: { ...service.metrics.read(), policies, log: { lost: service.log.lost } }, allowed: 0, denied: 0 };
}

type Route =
  | {
      readonly kind: "open";
      readonly name: string;
      readonly method: "GET";
      readonly answer: (incoming: Omit<EndpointRequest, "endpoint" | "caller">) => Promise<Response>;
    }
  | {
      readonly kind: "guarded";
      readonly name: string;
      readonly method: "GET" | "POST";
      readonly answer: (incoming: EndpointRequest) => Promise<EndpointAnswer>;
    };

function post(name: string, answer: (incoming: EndpointRequest) => Promise<EndpointAnswer>): Route {
  return { kind: "guarded", name, method: "POST", answer };
}

const NONE = { allowed: 0, denied: 0 };
/** The endpoints of a deployment without an index. */
const WITHOUT_INDEX: readonly Endpoint[] = ["access_evaluation_endpoint", "access_evaluations_endpoint", "search_action_endpoint"];
const WELL_KNOWN_ROUTE: Route = { kind: "open", name: "metadata", method: "GET", answer: describe };
const ROUTES: ReadonlyMap<string, Route> = new Map([
  [PATHS.access_evaluation_endpoint, post("evaluation", evaluation)],
  [PATHS.access_evaluations_endpoint, post("evaluations", evaluations)],
  [PATHS.search_subject_endpoint, post("search/subject", subjectSearch)],
  [PATHS.search_resource_endpoint, post("search/resource", resourceSearch)],
  [PATHS.search_action_endpoint, post("search/action", actionSearch)],
  ["/metrics", { kind: "guarded", name: "metrics", method: "GET", answer: metricsAnswer }],
  ["/health", { kind: "open", name: "health", method: "GET", answer: health }],
] satisfies [string, Route][]);

prepare((request, service, context) => respond(routeOf(request, service), { request, service, context }));
