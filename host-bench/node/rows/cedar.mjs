// Cedar's own WebAssembly: the policy set parsed beforehand, and every call built beforehand, which a
// program that serves requests cannot do: the figure is the least that it takes.

import { preparsePolicySet, statefulIsAuthorized } from "@cedar-policy/cedar-wasm/nodejs";
import { versionOf } from "../versions.mjs";

/** Returns the row of Cedar. */
export function cedar(job) {
  const { expected } = job;
  const parse = () => {
    const answer = preparsePolicySet(SET, { staticPolicies: job.cedar });
    if (answer.type !== "success") throw new Error(`cedar: ${JSON.stringify(answer.errors)}`);
  };
  parse();
  const calls = job.requests.map(call);
  const run = (from, to) => {
    let wrong = 0;
    for (let i = from; i < to; i++) {
      const answer = statefulIsAuthorized(calls[i]);
      if ((answer.type === "success" && answer.response.decision === "allow") !== expected[i]) wrong++;
    }
    return wrong;
  };
  const name = `cedar-wasm ${versionOf("@cedar-policy/cedar-wasm")}, parsed beforehand`;
  return [{ name, side: "rival", run, reload: { what: "parse", run: parse } }];
}

function call({ principal, action, resource }) {
  const who = { type: "User", id: principal.id };
  const what = { type: resource.kind, id: resource.id };
  const owner = { __entity: { type: "User", id: resource.attr.owner } };
  return {
    principal: who,
    action: { type: "Action", id: action },
    resource: what,
    context: {},
    preparsedPolicySetId: SET,
    validateRequest: false,
    entities: [
      { uid: who, attrs: principal.attr, parents: principal.roles.map((id) => ({ type: "Role", id })) },
      { uid: what, attrs: { ...resource.attr, owner }, parents: [] },
    ],
  };
}

const SET = "workload";
