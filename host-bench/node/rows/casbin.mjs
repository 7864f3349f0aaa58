// node-casbin: one row of its policy for each rule, conditions as functions of the host, which is its
// fastest form (`eval` of a condition in the row parses it in every check).

import { newEnforcer, newModelFromString, StringAdapter } from "casbin";
import { versionOf } from "../versions.mjs";

/** Returns the row of casbin. */
export async function casbin(job) {
  const { model, policy } = job.casbin;
  const make = async () => {
    const enforcer = await newEnforcer(newModelFromString(model), new StringAdapter(policy));
    await enforcer.addFunction("covers", (actions, action) => actions.split("|").includes(action));
    await enforcer.addFunction("holds", holds);
    return enforcer;
  };
  const enforcer = await make();
  const run = (from, to) => {
    const { requests, expected } = job;
    let wrong = 0;
    for (let i = from; i < to; i++) {
      const { principal, resource, action } = requests[i];
      if (enforcer.enforceSync(principal, resource, action) !== expected[i]) wrong++;
    }
    return wrong;
  };
  const name = `casbin ${versionOf("casbin")}`;
  return [{ name, side: "rival", run, reload: { what: "new enforcer", run: make } }];
}

function holds(condition, principal, resource) {
  switch (condition) {
    case "viewer":
    case "editor":
      return principal.roles.includes(condition);
    case "owner":
      return resource.attr.owner === principal.id;
    default:
      return resource.attr[condition] === true;
  }
}
