// The worker for MQTT: a deployment of its own beside that for AuthZEN.
//
//     GET  /mqtt       a WebSocket with MQTT; a token in the password of CONNECT
//     GET  /metrics    with a bearer token
//     GET  /health     public

import { errorResponse, json, Problem } from "../http.ts";
import type { MqttEnv } from "./env.ts";
import { Relay } from "./relay.ts";
import { serviceOf, type MqttService } from "./service.ts";
import { mustUpgrade } from "./upgrade.ts";

export { MqttHub } from "./mqtt-hub.ts";

export default {
  async fetch(request, env, context): Promise<Response> {
    const response = await answer(request, env, context).catch(errorResponse);
    if (response.webSocket === null) response.headers.set("X-Content-Type-Options", "nosniff");
    return response;
  },
} satisfies ExportedHandler<MqttEnv>;

async function answer(request: Request, env: MqttEnv, context: ExecutionContext): Promise<Response> {
  const service = await serviceOf(env);
  const { basePath } = service.config;
  const path = new URL(request.url).pathname;
  switch (path.startsWith(basePath) ? path.slice(basePath.length) : "") {
    case "/mqtt":
      return connect(request, service, context);
    case "/health":
      mustGet(request);
      return health(service, context);
    case "/metrics":
      mustGet(request);
      return metrics(request, service);
    default:
      throw new Problem(404, "not-found", "there is no such endpoint");
  }
}

async function connect(request: Request, service: MqttService, context: ExecutionContext): Promise<Response> {
  const { mode } = service.settings;
  if (mode.kind === "off") throw new Problem(404, "not-found", "there is no such endpoint");
  mustUpgrade(request, service.settings);
  return mode.kind === "hub" ? hubOf(mode.namespace).fetch(request) : Relay.admit(request, { service, mode, context });
}

/** Fetches the policies if there are none yet, so that a probe starts the worker. */
async function health({ policies }: MqttService, context: ExecutionContext): Promise<Response> {
  await policies.pdp(context).catch(() => undefined);
  // The name and revision of the policies are not public.
  const { name: _, revision: __, ...visible } = policies.health();
  return json(visible, visible.status === "not-ready" || visible.status === "expired" ? 503 : 200);
}

/** Returns the counts of the hub, or of this instance of the gate. */
async function metrics(request: Request, { config, settings, counts, policies, log }: MqttService): Promise<Response> {
  const caller = await config.authenticator.caller(request.headers.get("Authorization"), Date.now());
  if (caller.kind !== "known") throw new Problem(401, "unauthorized", "a bearer token is required", { "WWW-Authenticate": 'Bearer realm="wardgate"' });
  if (settings.mode.kind === "hub") return new Response((await hubOf(settings.mode.namespace).fetch(request.url)).body, JSON_ANSWER);
  return json({ ...counts.read(), policies: policies.health(), log: { lost: log.lost } });
}

function mustGet({ method }: Request): void {
  if (method !== "GET" && method !== "HEAD") throw new Problem(405, "method-not-allowed", "the method must be GET", { Allow: "GET" });
}

/** Clients of one broker reach each other, so that there is one hub. */
function hubOf(namespace: DurableObjectNamespace): DurableObjectStub {
  return namespace.get(namespace.idFromName("hub"));
}

const JSON_ANSWER = { headers: { "Content-Type": "application/json", "Cache-Control": "no-store" } };
