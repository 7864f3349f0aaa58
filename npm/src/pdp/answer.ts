// The class of decisions: their data, and methods about their actions.
//
// The methods are on the prototype, so that JSON, `structuredClone` and comparisons of members see the data alone.

import type { ActionDecision, Decision, EvaluationError, Output, ValidationError } from "./decision.ts";

export class Answer<A extends string = string> implements Decision<A> {
  readonly requestId: string;
  readonly resourceId: string;
  readonly actions: { readonly [action in A]: ActionDecision };
  declare effectiveDerivedRoles?: readonly string[];
  declare outputs?: readonly Output[];
  declare readonly validationErrors?: readonly ValidationError[];
  declare readonly evaluationErrors?: readonly EvaluationError[];

  constructor(requestId: string, resourceId: string, actions: { readonly [action in A]: ActionDecision }) {
    this.requestId = requestId;
    this.resourceId = resourceId;
    this.actions = actions;
  }

  isAllowed(action: A): boolean {
    return Object.hasOwn(this.actions, action) && this.actions[action].effect === "allow";
  }

  allowedActions(): A[] {
    return (Object.keys(this.actions) as A[]).filter((action) => this.isAllowed(action));
  }

  allAllowed(): boolean {
    const actions = Object.keys(this.actions) as A[];
    return actions.length > 0 && actions.every((action) => this.isAllowed(action));
  }
}

/** The members of a decision that are data. */
export type DecisionData = Omit<Decision, "isAllowed" | "allowedActions" | "allAllowed">;

/** Returns a decision with the members of `data`, such as parsed JSON, in their order. */
export function answerOf(data: DecisionData): Decision {
  return Object.assign(Object.create(Answer.prototype) as Answer, data);
}
