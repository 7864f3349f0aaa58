// What happens before there is a request: the first one finds compiled what it needs.
//
// Workers may compute at their top level, but neither wait for anything outside nor answer. An engine forgets what it
// compiled when memory is short; then the first request is as slow as without this, and nothing else is different.

import { warmUp, type Pdp } from "wardgate";
import { evaluate, readEvaluation } from "wardgate/authzen";

import { readConfig } from "./config.ts";

/** Runs the module, the reading of a configuration and of a question once. What goes wrong is told, and stops nobody. */
export function prepare(): void {
  try {
    warmUp();
    evaluate(NOBODY, readEvaluation(QUESTION));
    readConfig(CONFIGURATION).then(({ authenticator }) => authenticator.caller("Bearer none", 0)).catch(tell);
  } catch (thrown) {
    tell(thrown);
  }
}

function tell(thrown: unknown): void {
  console.error(JSON.stringify({ event: "warm-up", message: String(thrown) }));
}

/** It denies everything. */
const NOBODY = { check: () => ({ actions: {} }) } as unknown as Pdp;

const QUESTION = {
  subject: { type: "none", id: "none", properties: { none: 0 } },
  action: { name: "none" },
  resource: { type: "none", id: "none", properties: { none: 0 } },
  context: { none: 0 },
};

/** It is read and thrown away: nobody can ask by it, and no bundle is opened by it. */
const CONFIGURATION = { TRUSTED_KEYS: "{}", AUTH_TOKENS: `{"none": "${"-".repeat(16)}"}` };
