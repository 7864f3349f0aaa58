// What the PDP answers, as it stands in the canonical JSON of a decision. A list that would be empty is
// left out.

/** What a rule says, and what a decision comes to. */
export type Effect = "allow" | "deny";

/** A value of JSON. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** Why an action was allowed or denied; `rule` is `policy#rule`. */
export type Reason =
  | { readonly kind: "rule"; readonly rule: string }
  | { readonly kind: "condition-error"; readonly rule: string }
  // Without a rule where the request as a whole reached the limit.
  | { readonly kind: "limit-reached"; readonly rule?: string }
  | { readonly kind: "not-in-role-policy" }
  | { readonly kind: "no-rule-applied" }
  | { readonly kind: "no-policy" }
  | { readonly kind: "schema-violation" }
  // The bundle has expired since it was opened.
  | { readonly kind: "expired" };

/** The decision on one action. */
export interface ActionDecision {
  readonly effect: Effect;
  /** The policy that decided, such as `resource.album.vdefault`, or `NO_MATCH`. */
  readonly policy: string;
  /** The scope in which the decision fell; empty is the root. */
  readonly scope: string;
  readonly reason: Reason;
}

/** A value that a rule hands back to the caller: `val`, or `error` where the expression failed. */
export interface Output {
  /** The rule, as `policy#rule`. */
  readonly src: string;
  readonly action: string;
  readonly val?: Json;
  readonly error?: string;
}

/** A violation of a schema. */
export interface ValidationError {
  /** JSON pointer to the attribute. */
  readonly path: string;
  readonly message: string;
  readonly source: "SOURCE_PRINCIPAL" | "SOURCE_RESOURCE";
}

/** An expression that could not be evaluated. */
export interface EvaluationError {
  readonly expression: string;
  readonly message: string;
}

/** The answer to one request. */
export interface Decision {
  readonly requestId: string;
  readonly resourceId: string;
  /** One entry for each action that was asked for. */
  readonly actions: { readonly [action: string]: ActionDecision };
  /** The derived roles that the principal gained. */
  readonly effectiveDerivedRoles?: readonly string[];
  readonly outputs?: readonly Output[];
  readonly validationErrors?: readonly ValidationError[];
  readonly evaluationErrors?: readonly EvaluationError[];
}

/** A rule that was considered, and what came of it. */
export interface Step {
  readonly action: string;
  /** The role that was tried; empty in principal policies. */
  readonly role: string;
  readonly scope: string;
  readonly policy: string;
  readonly rule: string;
  /** The derived role through which the rule names the role. */
  readonly derivedRole?: string;
  /** What the rule says; absent if it only emits outputs. */
  readonly effect?: Effect;
  /** The rule denies where its condition fails. */
  readonly narrows?: true;
  readonly file: string;
  readonly line: number;
  readonly outcome:
    | "applied"
    | "condition-not-met"
    | "derived-role-not-met"
    | "failed"
    | "other-action"
    | "other-role"
    | "other-resource";
  /** The expressions that were looked at. */
  readonly conditions?: readonly { readonly expression: string; readonly value: string }[];
}

/** A decision, and every rule that was considered on the way to it. */
export interface Explanation {
  readonly decision: Decision;
  readonly steps?: readonly Step[];
}
