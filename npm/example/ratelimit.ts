// Rate limits on Redis before an app for Hono, and in Durable Objects.

import { Hono } from "hono";
import { durable, fields, limiter, redis, response, type Charge, type Guard, type LimitNamespace } from "wardgate/ratelimit";

/** A client of Redis, here with the methods of ioredis. */
export interface Client {
  eval(script: string, count: number, ...words: string[]): Promise<unknown>;
  evalsha(digest: string, count: number, ...words: string[]): Promise<unknown>;
}

export function guardOn(client: Client): Guard {
  const store = redis((script, keys, args) => client.eval(script, keys.length, ...keys, ...args), {
    byDigest: (digest, keys, args) => client.evalsha(digest, keys.length, ...keys, ...args),
  });
  // Four processes share the server: while it is away, each admits a fourth of a quota.
  return limiter({ store, share: 1 / 4 });
}

export function limitsOf(client: string): Charge[] {
  const key = [client];
  return [
    { name: "burst", key, quota: 100, window: 60_000_000, burst: 20 },
    { name: "daily", key, quota: 10_000, window: 86_400_000_000, algorithm: "fixed", failure: "deny" },
  ];
}

export function limitedApp(guard: Guard) {
  const app = new Hono();
  app.use(async (context, next) => {
    const checked = await guard.charge(limitsOf(context.req.header("authorization") ?? ""));
    const refused = response(checked);
    if (refused !== undefined) return refused;
    await next();
    for (const [name, value] of Object.entries(fields(checked))) context.header(name, value);
    return undefined;
  });
  return app.get("/", (context) => context.text("here it is"));
}

// The class of the binding `LIMITS`, which the worker exports.
export { LimitObject } from "wardgate/ratelimit";

export function guardIn(env: { LIMITS: LimitNamespace }): Guard {
  return limiter({ store: durable(env.LIMITS) });
}
