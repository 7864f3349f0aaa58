// The decisions of the PDP, as in the canonical JSON. An empty list is absent.

import type { KindOf, PolicyTypes } from "./policy-types.ts";

/** The effect of a rule, and of a decision on an action. */
export type Effect = "allow" | "deny";

/** A value of JSON. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** The reason for the effect on an action; `rule` is `policy#rule`. */
export type Reason =
  | { readonly kind: "rule"; readonly rule: string }
  | { readonly kind: "condition-error"; readonly rule: string }
  // Without a rule if the whole request reached the limit.
  | { readonly kind: "limit-reached"; readonly rule?: string }
  | { readonly kind: "not-in-role-policy" }
  | { readonly kind: "no-rule-applied" }
  | { readonly kind: "no-policy" }
  | { readonly kind: "schema-violation" }
  // The bundle has expired since it was opened.
  | { readonly kind: "expired" }
  // The decision log has no room, and its owner wants no decision without a record.
  | { readonly kind: "log-full" }
  // A limiter says these: the limit has too few tokens; its charge is unknown, since an expression of it
  // failed, with an empty name if the request reached a limit before any; or its store is away.
  | { readonly kind: "limited"; readonly limit: string }
  | { readonly kind: "limit-error"; readonly limit: string }
  | { readonly kind: "store-away"; readonly limit: string };

/** The decision on one action. */
export interface ActionDecision {
  /** The effect of the decision. */
  readonly effect: Effect;
  /** The policy that decided, such as `resource.album.vdefault`, or `NO_MATCH`. */
  readonly policy: string;
  /** The scope of the policy that decided; empty is the root. */
  readonly scope: string;
  /** The reason for the effect. */
  readonly reason: Reason;
}

/** A value that a rule returns to the caller: `val`, or `error` if the expression failed. */
export interface Output {
  /** The rule, as `policy#rule`. */
  readonly src: string;
  /** The action of the request. */
  readonly action: string;
  /** The value of the expression; absent if it failed. */
  readonly val?: Json;
  /** The error message of the expression; absent if it succeeded. */
  readonly error?: string;
}

/**
 * The outputs of the rules about resources of a kind, with the types of their values. Of a kind that no
 * rule emits outputs for, and of policies without types, they are any {@link Output}.
 *
 * @example
 *     const shown: OutputOf<Policies, "album">[] = [...(pdp.check(request).outputs ?? [])];
 */
export type OutputOf<P extends PolicyTypes, K extends KindOf<P> = KindOf<P>> =
  P["resources"][K]["output"] extends infer S extends string & keyof P["outputs"]
    ? [S] extends [never] ? Output : { [N in S]: OutputOfRule<N, P["outputs"][N]> }[S]
    : Output;

/** The outputs of one rule. */
interface OutputOfRule<S extends string, V> extends Pick<Output, "action" | "error"> {
  readonly src: S;
  readonly val?: V;
}

/** A violation of a schema. */
export interface ValidationError {
  /** A JSON pointer to the attribute. */
  readonly path: string;
  /** The violation, as text. */
  readonly message: string;
  /** The object with the attribute. */
  readonly source: "SOURCE_PRINCIPAL" | "SOURCE_RESOURCE";
}

/** An expression that could not be evaluated. */
export interface EvaluationError {
  /** The text of the expression. */
  readonly expression: string;
  /** The error, as text. */
  readonly message: string;
}

/**
 * The answer to one request; `A` is the type of the names of its actions, `P` are the policies, and `K` is the kind of
 * the resource. Its methods are members of
 * its class: `JSON.stringify` and a copy such as `{ ...decision }` have the data alone.
 */
export interface Decision<A extends string = string, P extends PolicyTypes = PolicyTypes, K extends KindOf<P> = KindOf<P>> {
  /** The id of the request. */
  readonly requestId: string;
  /** The id of the resource. */
  readonly resourceId: string;
  /** One decision for each action of the request. */
  readonly actions: { readonly [action in A]: ActionDecision };
  /** The derived roles that the principal gained. */
  readonly effectiveDerivedRoles?: readonly string[];
  /** The values that rules return to the caller. */
  readonly outputs?: readonly OutputOf<P, K>[];
  /** The violations of schemas, if they are enforced. */
  readonly validationErrors?: readonly ValidationError[];
  /** The expressions that could not be evaluated. */
  readonly evaluationErrors?: readonly EvaluationError[];
  /**
   * Returns true if the action is allowed. An action that is not in the request is not allowed.
   *
   * @example
   *     if (pdp.check(request).isAllowed("edit")) save();
   */
  isAllowed(action: A): boolean;
  /**
   * Returns the allowed actions, in the order of the request.
   *
   * @example
   *     const buttons = pdp.check(request).allowedActions();
   */
  allowedActions(): A[];
  /**
   * Returns true if every action is allowed, and there is one.
   *
   * @example
   *     if (!pdp.check(request).allAllowed()) throw new Forbidden();
   */
  allAllowed(): boolean;
}

/** A rule that the PDP considered, and its outcome. */
export interface Step {
  /** The action of the request. */
  readonly action: string;
  /** The role that was tried; empty in principal policies. */
  readonly role: string;
  /** The scope of the policy. */
  readonly scope: string;
  /** The policy with the rule, such as `resource.album.vdefault`. */
  readonly policy: string;
  /** The name of the rule within its policy. */
  readonly rule: string;
  /** The derived role through which the rule names the role. */
  readonly derivedRole?: string;
  /** The effect of the rule; absent if it only emits outputs. */
  readonly effect?: Effect;
  /** True if the rule denies if its condition fails. */
  readonly narrows?: true;
  /** The path of the policy file. */
  readonly file: string;
  /** The line of the rule in that file, counted from 1. */
  readonly line: number;
  /**
   * The outcome: the rule applied, failed, or did not match for the given reason. `partly-met` is for requests about many MQTT
   * topics: the conditions are met for a part of them, so that an allow does not apply and a deny does.
   */
  readonly outcome:
    | "applied"
    | "condition-not-met"
    | "partly-met"
    | "derived-role-not-met"
    | "failed"
    | "other-action"
    | "other-role"
    | "other-resource";
  /** The expressions that were evaluated, with their values. */
  readonly conditions?: readonly { readonly expression: string; readonly value: string }[];
}

/** A decision, and every rule that the PDP considered for it. */
export interface Explanation {
  /** The decision, as from `check`. */
  readonly decision: Decision;
  /** The considered rules. */
  readonly steps?: readonly Step[];
}
