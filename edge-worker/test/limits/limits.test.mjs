// Rate limits in Durable Objects, as a worker of a user has them: the entry `wardgate/ratelimit` in workerd. The
// workers of this folder do not import it.

import { readFileSync } from "node:fs";

import { Log, LogLevel, Miniflare } from "miniflare";
import { afterAll, beforeAll, expect, it } from "vitest";

const WORKER = `
  import { durable, LimitObject, limiter, response, fields } from "./ratelimit.js";
  export { LimitObject };

  let guard;
  export default {
    async fetch(request, env) {
      guard ??= limiter({ store: durable(env.LIMITS, { deadline: 60_000 }) });
      const { action, charges } = await request.json();
      const checked = await guard[action](charges);
      if (action === "look") return Response.json({ ...checked, now: Date.now() });
      return response(checked) ?? new Response("ok", { headers: fields(checked) });
    },
  };
`;

let worker;
let settings;
beforeAll(async () => {
  const contents = readFileSync(new URL("../../node_modules/wardgate/dist/ratelimit.js", import.meta.url), "utf8");
  settings = {
    modules: [
      { type: "ESModule", path: "worker.js", contents: WORKER },
      { type: "ESModule", path: "ratelimit.js", contents },
    ],
    compatibilityDate: "2026-04-01",
    durableObjects: { LIMITS: { className: "LimitObject", useSQLite: true } },
    cf: false,
    log: new Log(LogLevel.NONE),
  };
  worker = new Miniflare(settings);
  await worker.ready;
});
afterAll(() => worker.dispose());

const HOUR = 3_600_000_000;
const charge = (more = {}) => ({ name: "api", key: ["sam"], quota: 10, window: HOUR, ...more });
const ask = (action, ...charges) => worker.dispatchFetch("http://worker/", { method: "POST", body: JSON.stringify({ action, charges }) });
const look = async (...charges) => (await ask("look", ...charges)).json();
const left = async (...charges) => (await look(...charges)).limits.map(({ remaining }) => remaining);

it("answers with fields, and with 429 beyond the quota", async () => {
  const own = charge({ key: ["fields"], quota: 2 });
  const first = await ask("charge", own);
  expect([first.status, first.headers.get("ratelimit-policy"), first.headers.get("ratelimit")]).toEqual([
    200,
    expect.stringMatching(/^"api";q=2;w=3600;pk=:.*:$/),
    expect.stringMatching(/^"api";r=1;t=1800;pk=:.*:$/),
  ]);
  await ask("charge", own);
  const refused = await ask("charge", own);
  expect([refused.status, refused.headers.get("content-type")]).toEqual([429, "application/problem+json"]);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(1790);
  expect(await refused.json()).toMatchObject({ status: 429, "violated-policies": ["api"] });
});

it("admits nobody beyond the quota", async () => {
  const many = charge({ key: ["many"], quota: 50 });
  const all = await Promise.all(Array.from({ length: 200 }, () => ask("charge", many)));
  expect(all.filter(({ status }) => status === 200).length).toBe(50);
  await Promise.all(all.map((one) => one.text()));
});

it("refunds one key where another refuses", async () => {
  const [one, other] = [charge({ key: ["one"] }), charge({ key: ["other"], quota: 1 })];
  expect([(await ask("charge", one, other)).status, (await ask("charge", one, other)).status]).toEqual([200, 429]);
  expect(await left(one, other)).toEqual([9, 0]);
});

it("counts by the clock of the object", async () => {
  const month = charge({ name: "month", key: ["month"], algorithm: "fixed", window: "month" });
  await ask("charge", month);
  const { now, limits: [{ resetMs }] } = await look(month);
  const date = new Date(now);
  const end = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
  expect(Math.abs(now + resetMs - end)).toBeLessThan(60_000);
});

it("keeps long windows when the worker is deployed again", async () => {
  const long = charge({ name: "long", key: ["kept"] });
  await ask("charge", long);
  await worker.setOptions(settings);
  expect(await left(long)).toEqual([9]);
});
