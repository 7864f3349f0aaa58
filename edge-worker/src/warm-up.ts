// What happens before there is a request: the first one finds compiled what it needs.
//
// Workers may compute at their top level, but neither wait for anything outside nor make a response. An engine forgets
// what it compiled when memory is short; then the first request is as slow as without this, and nothing else differs.

import { warmUp, type Pdp } from "wardgate";
import { evaluate, PATHS, readEvaluation } from "wardgate/authzen";

import { readConfig } from "./config.ts";
import { DecisionLog } from "./decision-log.ts";
import { Metrics } from "./metrics.ts";
import { Policies } from "./policies.ts";
import type { Service } from "./service.ts";

/** How the worker responds to a request that has a service. */
export type Responding = (request: Request, service: Service, context: Waiting) => Promise<unknown>;

type Waiting = Pick<ExecutionContext, "waitUntil">;

/** Runs the module and a question of nobody once. What goes wrong is told, and stops nobody. */
export function prepare(respond: Responding): void {
  try {
    warmUp();
    evaluate(NOBODY, readEvaluation(QUESTION));
  } catch (thrown) {
    tell(thrown);
  }
  ask(respond).catch(tell);
}

async function ask(respond: Responding): Promise<void> {
  const config = await readConfig(CONFIGURATION);
  const policies = new Without({ ...WITHOUT, opening: config.opening });
  const service = { config, policies, index: undefined, pages: undefined, log: new DecisionLog(undefined, 1), metrics: new Metrics(undefined) };
  await respond(request(), service, { waitUntil: () => undefined });
}

/** A body that is no stream of a program counts as something from outside. */
function request(): Request {
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(JSON.stringify(QUESTION)));
      controller.close();
    },
  });
  const headers = { "Authorization": `Bearer ${TOKEN}`, "Content-Type": "application/json" };
  return new Request(`https://none.invalid${PATHS.access_evaluation_endpoint}`, { method: "POST", headers, body });
}

function tell(thrown: unknown): void {
  console.error(JSON.stringify({ event: "warm-up", message: String(thrown) }));
}

/** It denies everything. */
const NOBODY = { check: () => ({ actions: {} }) } as unknown as Pdp;

/** Policies that look for a bundle, find nothing new, and deny everything. */
class Without extends Policies {
  override async pdp(): Promise<Pdp> {
    return NOBODY;
  }
}

const WITHOUT = {
  source: async () => ({ kind: "unchanged" }) as const,
  lastGood: { read: async () => undefined, write: async () => {} },
  refreshMilliseconds: 0,
};

const QUESTION = {
  subject: { type: "none", id: "none", properties: { none: 0 } },
  action: { name: "none" },
  resource: { type: "none", id: "none", properties: { none: 0 } },
  context: { none: 0 },
};

/** It is read here and nowhere else: nobody can ask by it, and no bundle is opened by it. */
const TOKEN = "of-nobody-at-all";
const CONFIGURATION = { TRUSTED_KEYS: "{}", AUTH_TOKENS: JSON.stringify({ nobody: TOKEN }) };
