// Checks `wardgate/ratelimit` in any runtime: the vectors that every implementation of rate limits shares, and the
// store in memory, and decisions with the limits of policies.

import { open } from "wardgate";
import { digestOf, limiter, memory, Rule, State } from "wardgate/ratelimit";

import byHand from "../limits/by-hand.json" with { type: "json" };
import decisions from "../limits/decisions.json" with { type: "json" };
import fixed from "../limits/fixed.json" with { type: "json" };
import gcra from "../limits/gcra.json" with { type: "json" };
import sliding from "../limits/sliding.json" with { type: "json" };

/** Throws if an outcome is wrong. */
export async function checkLimits() {
  const sequences = [byHand, gcra, fixed, sliding].flatMap((file) => file.sequences);
  if (sequences.length < 500) throw new Error(`limits: expected 500 sequences, found ${sequences.length}`);
  sequences.forEach(checkSequence);
  await checkMemory();
  await checkDecisions();
}

function checkSequence({ name, rule: terms, steps }) {
  const [rule, state] = [new Rule(terms), new State()];
  for (const [time, action, cost, ...expected] of steps) {
    const { wait, remaining, reset } = rule.apply(state, time, action, cost);
    mustBe(`${name}, at ${time}`, [wait, remaining, reset], expected);
  }
}

async function checkMemory() {
  const guard = limiter({ store: memory({ keys: 1000 }) });
  const charges = [
    { name: "wide", key: ["ü", "sam"], quota: 10, window: 86_400_000_000 },
    { name: "narrow", key: [], quota: 2, window: "month", algorithm: "fixed" },
  ];
  const allowed = [];
  for (let check = 0; check < 3; check += 1) allowed.push((await guard.charge(charges)).allowed);
  mustBe("checks", allowed, [true, true, false]);
  mustBe("what remains", (await guard.look(charges)).limits.map(({ remaining }) => remaining), [8, 0]);
}

async function checkDecisions() {
  const bundle = Uint8Array.from(atob(decisions.bundle), (letter) => letter.charCodeAt(0));
  const guard = limiter(await open(bundle, { trust: "unsigned", limits: true }), { store: memory({ keys: 1000 }) });
  for (const [at, { request, expected }] of decisions.cases.entries()) {
    const { decision, limits } = await guard.check(request);
    const found = expected.map(({ action }) => {
      const { effect, reason } = decision.actions[action];
      const met = limits.filter((limit) => limit.action === action).map(metLimit);
      return { action, effect, limits: met, reason: [reason.kind, reason.rule ?? reason.limit ?? null] };
    });
    mustBe(`decision ${at}`, found, expected);
  }
}

/** Returns a limit with the names, and in the order, of the file. */
function metLimit({ name, isShadow, key, quota, window, cost, remaining, state, admits, charged, retryAfterMs }) {
  const isKnown = state !== "failed";
  const refused = retryAfterMs === Infinity ? "never" : "refused";
  return {
    cost,
    key: isKnown ? digestOf(key) : null,
    name,
    quota,
    remaining: isKnown && state !== "unasked" ? remaining : null,
    shadow: isShadow,
    state: isKnown ? (admits ? (charged ? "charged" : "spared") : refused) : "failed",
    window: window === "month" ? null : window,
  };
}

function mustBe(what, found, expected) {
  const [one, other] = [found, expected].map((value) => JSON.stringify(value));
  if (one !== other) throw new Error(`limits, ${what}: expected ${other}, found ${one}`);
}
