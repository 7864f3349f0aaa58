// Asks for the decision on what stands in the frame, if it still is what was written there.

import { ALWAYS, BY_CLASS, NOW, TRUE, UNSURE } from "../wasm/frame.ts";
import type { Plan, Plans } from "./plans.ts";
import { turn } from "../wasm/turn.ts";

/** Decides by a plan that runs no program and whose roles fit in a mask. `key` stands for mask and words. */
export function decideShort(plans: Plans, plan: Plan, mask: number, key: number, mine: number): number {
  // Before the turn: the clock is code of the caller.
  if (plans.canExpire === true && plans.isOver()) return UNSURE;
  const { frame, handle } = plans;
  // To ask a view for its length takes 3 ns.
  if (turn.serial !== mine || frame.words[ALWAYS] !== TRUE) return UNSURE;
  const known = plan.answers[key & plan.lastKey]!;
  if (known !== UNSURE) return known;
  turn.isAsking = true;
  const answer = frame.decide(handle, plan.id, mask);
  turn.isAsking = false;
  return answer;
}

/** Decides by any other plan; `roles` is a mask, or in a plan by class the number of classes. */
export function decideLong(plans: Plans, { id, flags }: Plan, roles: number, mine: number): number {
  if (plans.canExpire === true && plans.isOver()) return UNSURE;
  // The clock is code of the caller too.
  const now = flags & NOW ? plans.clock() : 0;
  const { frame, handle } = plans;
  if (turn.serial !== mine || frame.words.length === 0) return UNSURE;
  turn.isAsking = true;
  const answer =
    flags & BY_CLASS
      ? frame.decideClasses(handle, id, roles, frame.used, now)
      : frame.decideValues(handle, id, roles, frame.used, now);
  turn.isAsking = false;
  return answer;
}
