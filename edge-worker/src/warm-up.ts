// Runs the code once before the first request, so that it finds the code compiled.
//
// Workers may compute at their top level, but may neither wait for external events nor create a
// response. An engine discards compiled code when memory is short; then the first request is as
// slow as without this, and nothing else changes.

import { warmUp, type Pdp } from "wardgate";
import { evaluate, PATHS, readEvaluation } from "wardgate/authzen";

import { readConfig } from "./config.ts";
import { DecisionLog } from "./decision-log.ts";
import { Metrics } from "./metrics.ts";
import { Policies } from "./policies.ts";
import type { Service } from "./service.ts";

/** Responds to a request for which there is a service. */
export type Responder = (request: Request, service: Service, context: Waiting) => Promise<unknown>;

type Waiting = Pick<ExecutionContext, "waitUntil">;

/** Runs the module and one request. Errors are logged, and do not stop the worker. */
export function prepare(respond: Responder): void {
  try {
    warmUp();
    evaluate(DENY_ALL, readEvaluation(BODY));
  } catch (thrown) {
    logFailure(thrown);
  }
  respondOnce(respond).catch(logFailure);
}

async function respondOnce(respond: Responder): Promise<void> {
  const config = await readConfig(CONFIGURATION);
  const policies = new NoPolicies({ ...NO_SOURCE, opening: config.opening });
  const service = { config, policies, index: undefined, pages: undefined, limits: undefined, log: new DecisionLog(undefined, 1), metrics: new Metrics(undefined) };
  await respond(request(), service, { waitUntil: () => undefined });
}

/** A request needs a stream of the program as its body: any other body counts as external input. */
function request(): Request {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(JSON.stringify(BODY)));
      controller.close();
    },
  });
  const headers = { "Authorization": `Bearer ${TOKEN}`, "Content-Type": "application/json" };
  return new Request(`https://none.invalid${PATHS.access_evaluation_endpoint}`, { method: "POST", headers, body });
}

function logFailure(thrown: unknown): void {
  console.error(JSON.stringify({ event: "warm-up", message: String(thrown) }));
}

/** A PDP that denies everything. */
const DENY_ALL = { check: () => ({ actions: {} }) } as unknown as Pdp;

/** Policies that poll for a bundle, find no new one, and deny everything. */
class NoPolicies extends Policies {
  override async pdp(): Promise<Pdp> {
    return DENY_ALL;
  }
}

const NO_SOURCE = {
  source: async () => ({ kind: "unchanged" }) as const,
  lastGood: { read: async () => undefined, write: async () => {} },
  refreshMilliseconds: 0,
};

const BODY = {
  subject: { type: "none", id: "none", properties: { none: 0 } },
  action: { name: "none" },
  resource: { type: "none", id: "none", properties: { none: 0 } },
  context: { none: 0 },
};

/** Only this program reads this token: no caller can use it, and it opens no bundle. */
const TOKEN = "of-nobody-at-all";
const CONFIGURATION = { TRUSTED_KEYS: "{}", AUTH_TOKENS: JSON.stringify({ nobody: TOKEN }) };
