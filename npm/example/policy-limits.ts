// Decisions that charge the rate limits of the policies.

import { open, type CheckRequest, type Decision, type Principal, type Resource, type Trust } from "wardgate";
import { limiter, type PolicyGuard, type Store } from "wardgate/ratelimit";

export async function limitedPdp(bundle: Uint8Array, trust: Trust, store: Store) {
  const pdp = await open(bundle, { trust, limits: true });
  return limiter(pdp, { store });
}

export async function view(guard: PolicyGuard<CheckRequest, Decision>, principal: Principal, resource: Resource): Promise<Response> {
  const { allowed, limits, headers, problem } = await guard.check({ principal, resource, action: "view" });
  if (problem !== undefined) return new Response(JSON.stringify(problem), { status: problem.status, headers });
  if (!allowed) return new Response("Forbidden", { status: 403, headers });
  return new Response(`${limits.length} limits`, { headers });
}
