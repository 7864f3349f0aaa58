// Rate limits in policies, charged in Durable Objects.

import type { CheckRequest, Decision, Pdp } from "wardgate";
import { durable, limiter, type LimiterOptions, type PolicyGuard } from "wardgate/ratelimit";

import { ConfigError, readNumber } from "./config.ts";
import type { Env } from "./env.ts";

/** A PDP whose decisions charge limits. */
export type Guard = PolicyGuard<CheckRequest, Decision>;

/** Returns the guard of a PDP, always the same one. */
export type Limits = (pdp: Pdp) => Guard;

/** Returns the limits of an environment; `undefined` if bundles with limits are refused. */
export function readLimits(env: Env): Limits | undefined {
  const options = readOptions(env);
  if (options === undefined) return undefined;
  const guards = new WeakMap<Pdp, Guard>();
  return (pdp) => {
    const guard = guards.get(pdp) ?? limiter(pdp, options);
    guards.set(pdp, guard);
    return guard;
  };
}

function readOptions({ LIMITS, LIMITS_DEADLINE, LIMITS_SHARE }: Env): LimiterOptions | undefined {
  if (LIMITS === undefined) return undefined;
  const deadline = readNumber("LIMITS_DEADLINE", LIMITS_DEADLINE, { otherwise: OBJECT_DEADLINE, most: 60_000 });
  const share = readNumber("LIMITS_SHARE", LIMITS_SHARE, { otherwise: 1, most: 1 });
  if (!Number.isInteger(deadline) || deadline === 0) throw new ConfigError("LIMITS_DEADLINE must be whole milliseconds");
  if (share === 0) throw new ConfigError("LIMITS_SHARE must be above 0");
  return { store: durable(LIMITS, { deadline }), share };
}

/** Objects are near their first caller, and further from others than the 50 ms that a store has usually. */
const OBJECT_DEADLINE = 500;
