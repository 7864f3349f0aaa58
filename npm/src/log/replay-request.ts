// Decides again the request that is the evidence of a record.

import { METERED, NEEDS_LIMITER, type Metered } from "../base/metered.ts";
import { readable } from "../fast/replay.ts";
import { ValueReader } from "../fast/stored-values.ts";
import type { Decision } from "../pdp/decision.ts";
import type { CheckRequest } from "../pdp/request-types.ts";
import type { Pdp } from "../pdp/types.ts";
import type { TargetRecord } from "./log-types.ts";

/** Returns the request of an evidence; `undefined` if the bytes are none. */
export function recordedRequest(bytes: Uint8Array): CheckRequest | undefined {
  return readable(() => {
    const reader = new ValueReader(bytes);
    const actions = names(reader);
    const [id, policyVersion, scope] = [reader.text(), reader.text(), reader.text()];
    const principal = { id, policyVersion, scope, roles: names(reader), attr: reader.map() };
    const [kind, version, resourceId, place] = [reader.text(), reader.text(), reader.text(), reader.text()];
    const resource = { kind, policyVersion: version, id: resourceId, scope: place, attr: reader.map() };
    const auxData = { jwt: reader.map(), jwts: reader.map() };
    reader.mustEnd();
    return { actions, principal, resource, auxData } as unknown as CheckRequest;
  });
}

/** Decides a recorded request about one target; `undefined` if it is not about it, or refused. */
export function replayRequest(pdp: Pdp, request: CheckRequest, target: TargetRecord): boolean | undefined {
  const { kind, policyVersion, scope } = request.resource;
  const { action } = target;
  if (kind !== target.resourceKind || policyVersion !== target.policyVersion || scope !== target.scope || !request.actions.includes(action)) return undefined;
  const { actions: _, ...rest } = request;
  try {
    return (pdp as Limited)[NEEDS_LIMITER] ? isAllowedByPolicies(pdp as Limited, { ...rest, actions: [action] }) : pdp.isAllowed({ ...rest, action });
  } catch (thrown) {
    // A request that this host refuses.
    if (thrown instanceof TypeError || thrown instanceof RangeError) return undefined;
    throw thrown;
  }
}

/** Decides without rate limits, which only refuse what the policies allow. */
function isAllowedByPolicies(pdp: Limited, request: CheckRequest): boolean {
  return pdp[METERED](request).decision.actions[request.actions[0]!]?.effect === "allow";
}

function names(reader: ValueReader): readonly unknown[] {
  return reader.texts();
}

interface Limited extends Pdp {
  readonly [NEEDS_LIMITER]: boolean;
  [METERED](request: CheckRequest): Metered<Decision>;
}
