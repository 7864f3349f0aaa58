// Answers evaluations of AuthZEN by policies with rate limits: each is decided, and charges the limits that it
// meets. Answers are those of `wardgate serve`.

import { answerTo, toRequest, withRequestErrors, type Answer, type Answers, type Directory, type LimitEntry } from "./authzen-decide.ts";
import { isLast, Parts, refusalOf } from "./authzen-many.ts";
import type { Evaluation, Evaluations } from "./authzen-read.ts";
import { readCheckMany, type CheckManyOptions } from "../pdp/check-many.ts";
import type { Decision } from "../pdp/decision.ts";
import { MAX_STEPS } from "../pdp/sharing.ts";
import type { CheckRequest } from "../pdp/request-types.ts";
import type { Guarded, MetLimit, PolicyGuard, SharingGuard } from "../ratelimit/policy-guard.ts";

/** An answer, and what `fields` of `wardgate/ratelimit` tells about it. */
export interface LimitedAnswer<A> {
  /** The body of the response. */
  readonly answer: A;
  /** The limits that all evaluations met. */
  readonly limits: readonly MetLimit[];
  /** True if a limit denies since its store is away. */
  readonly unavailable: boolean;
}

/** The guard of a PDP: `limiter(pdp, options)`. */
type Guard = PolicyGuard<CheckRequest, Decision>;

/**
 * Answers one evaluation like `evaluate`, and charges the limits that its action meets.
 *
 * @throws AuthzenError if the request is invalid.
 */
export async function evaluateLimited(guard: Guard, evaluation: Evaluation, directory?: Directory): Promise<LimitedAnswer<Answer>> {
  const { action, ...request } = toRequest(evaluation, directory);
  const guarded = await withErrors(() => guard.check({ ...request, actions: [action] }));
  return { answer: answerOf(guarded, action), limits: guarded.limits, unavailable: guarded.unavailable };
}

/**
 * Answers several evaluations like `evaluateAll`, and charges the limits of one after the other: those behind
 * the evaluation that ends the semantic are not charged.
 */
export async function evaluateAllLimited(
  guard: Guard,
  evaluations: Evaluations,
  directory?: Directory,
  options?: CheckManyOptions,
): Promise<LimitedAnswer<Answer | Answers>> {
  if (evaluations.kind === "one") return evaluateLimited(guard, evaluations.evaluation, directory);
  const parts = new Parts(evaluations.items, directory);
  const sharer = guard.within(readCheckMany(options) ?? MAX_STEPS);
  const [answers, limits]: [Answer[], MetLimit[]] = [[], []];
  let unavailable = false;
  for (const item of evaluations.items) {
    let answer: Answer;
    try {
      const guarded = await checked(parts, item, sharer);
      limits.push(...(guarded?.limits ?? []));
      unavailable ||= guarded?.unavailable === true;
      answer = guarded === undefined ? { decision: false } : answerOf(guarded, (item as Evaluation).action.name);
    } catch (thrown) {
      answer = refusalOf(thrown);
    }
    answers.push(answer);
    if (isLast(evaluations.semantic, answer)) break;
  }
  return { answer: { evaluations: answers }, limits, unavailable };
}

/** Checks one of several; returns `undefined` if no steps are left for it. */
async function checked(parts: Parts, item: Parameters<Parts["request"]>[0], sharer: SharingGuard<CheckRequest, Decision>): Promise<Guarded<Decision> | undefined> {
  const request = parts.request(item);
  return sharer.left() === 0 ? undefined : withErrors(() => sharer.check(request, parts.shared(item as Evaluation)));
}

async function withErrors<T>(check: () => Promise<T>): Promise<T> {
  const result = await check().then((value) => ({ value }), (thrown: unknown) => ({ thrown }));
  return withRequestErrors(() => {
    if ("thrown" in result) throw result.thrown;
    return result.value;
  });
}

function answerOf({ decision, limits }: Guarded<Decision>, action: string): Answer {
  const { decision: isAllowed, context } = answerTo(decision, action);
  if (limits.length === 0) return { decision: isAllowed, ...(context !== undefined && { context }) };
  return { decision: isAllowed, context: { ...context, limits: limits.map(entryOf) } };
}

/** Returns the entry of a limit, with the numbers that are known. */
function entryOf({ name, quota, remaining, resetMs, retryAfterMs, state, message }: MetLimit): LimitEntry {
  switch (state) {
    case "failed":
      return { ...(message !== undefined && { error: message }), name, quota, state };
    case "unasked":
      return { name, quota, state: "untouched" };
    case "store-away":
      return { name, quota, state };
    case "refused":
      return retryAfterMs < Infinity ? { name, quota, remaining, resetMs, retryAfterMs, state } : { name, quota, remaining, resetMs, state: "never" };
    case "charged":
    case "untouched":
    case "shadow":
      return { name, quota, remaining, resetMs, ...(retryAfterMs < Infinity && { retryAfterMs }), state };
  }
}
