// Decides for gates by the policies: counts and logs decisions, and knows when a token has ended.

import type { Pdp, PreparedPrincipal } from "wardgate";

import { cut } from "../decision-log.ts";
import { isTimely, type Identity } from "./identity.ts";
import type { MqttService } from "./service.ts";

/** What a gate needs of a PDP. */
export type Decider = Pick<Pdp, "for">;

export function deciderOf(pdp: Pdp, identity: Identity, { log, counts }: Pick<MqttService, "log" | "counts">): Decider {
  return {
    for(principal, auxData) {
      const prepared = pdp.for(principal, auxData);
      const isAllowed: PreparedPrincipal["isAllowed"] = (action, resource) => {
        const decision = isTimely(identity, Date.now()) && prepared.isAllowed(action, resource) === true;
        counts.add(decision ? "allowed" : "denied");
        log.record(() => ({
          time: new Date().toISOString(),
          endpoint: "mqtt",
          caller: principal.id,
          revision: pdp.header.revision,
          action,
          resource: { type: resource.kind, id: cut(resource.id) },
          decision,
        }));
        return decision;
      };
      return { isAllowed } as PreparedPrincipal;
    },
  };
}

/** Returns a decider for questions about messages of a client that need not be connected. */
export function withoutConnect(decider: Decider): Decider {
  return {
    for(principal, auxData) {
      const prepared = decider.for(principal, auxData);
      const isAllowed: PreparedPrincipal["isAllowed"] = (action, resource) => action === "connect" || prepared.isAllowed(action, resource);
      return { isAllowed } as PreparedPrincipal;
    },
  };
}
