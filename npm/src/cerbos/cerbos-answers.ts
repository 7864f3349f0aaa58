// The answers and errors of a client of Cerbos.

import type { Json } from "../pdp/decision.ts";

/** The effect of a decision, as Cerbos writes it. */
export type Effect = "EFFECT_ALLOW" | "EFFECT_DENY";

/** A violation of a schema. */
export interface ValidationError {
  readonly path: string;
  readonly message: string;
  readonly source: "SOURCE_PRINCIPAL" | "SOURCE_RESOURCE";
}

/** A value that a rule returns. */
export interface OutputResult {
  readonly action: string;
  readonly source: string;
  readonly value: Json | undefined;
  readonly error: string | undefined;
}

/** The policies that matched, and the derived roles. */
export interface ResultMetadata {
  readonly actions: { readonly [action: string]: { readonly matchedPolicy: string; readonly matchedScope: string } };
  readonly effectiveDerivedRoles: readonly string[];
}

/** What names a resource among the results. */
export interface ResourceSearch {
  readonly kind: string;
  readonly id: string;
  readonly policyVersion?: string | undefined;
  readonly scope?: string | undefined;
}

type ResultParts = Pick<CheckResourcesResult, "resource" | "actions" | "validationErrors" | "metadata" | "outputs">;

/** The decisions on one resource. */
export class CheckResourcesResult {
  readonly resource: { readonly kind: string; readonly id: string; readonly policyVersion: string; readonly scope: string };
  readonly actions: { readonly [action: string]: Effect };
  readonly validationErrors: readonly ValidationError[];
  readonly metadata: ResultMetadata | undefined;
  readonly outputs: readonly OutputResult[];

  constructor({ resource, actions, validationErrors, metadata, outputs }: ResultParts) {
    this.resource = resource;
    this.actions = actions;
    this.validationErrors = validationErrors;
    this.metadata = metadata;
    this.outputs = outputs;
  }

  /** Returns true if every action is allowed. */
  allAllowed(): boolean {
    return Object.values(this.actions).every((effect) => effect === "EFFECT_ALLOW");
  }

  /** Returns the allowed actions. */
  allowedActions(): string[] {
    return Object.keys(this.actions).filter((action) => this.isAllowed(action));
  }

  /** Returns true if the action is allowed; `undefined` if it is not in the request. */
  isAllowed(action: string): boolean | undefined {
    return Object.hasOwn(this.actions, action) ? this.actions[action] === "EFFECT_ALLOW" : undefined;
  }

  /** Returns the value that a rule, `policy#rule`, returned. */
  output(source: string): Json | undefined {
    return this.outputs.find((output) => output.source === source)?.value;
  }
}

/** The decisions on several resources. */
export class CheckResourcesResponse {
  /** Empty: no server was called. */
  readonly cerbosCallId = "";
  readonly requestId: string;
  readonly results: readonly CheckResourcesResult[];

  constructor(requestId: string, results: readonly CheckResourcesResult[]) {
    this.requestId = requestId;
    this.results = results;
  }

  allAllowed(resource: ResourceSearch): boolean | undefined {
    return this.findResult(resource)?.allAllowed();
  }

  allowedActions(resource: ResourceSearch): string[] | undefined {
    return this.findResult(resource)?.allowedActions();
  }

  isAllowed({ resource, action }: { readonly resource: ResourceSearch; readonly action: string }): boolean | undefined {
    return this.findResult(resource)?.isAllowed(action);
  }

  /** Returns the first result about a resource. */
  findResult({ kind, id, policyVersion, scope }: ResourceSearch): CheckResourcesResult | undefined {
    return this.results.find(({ resource }) =>
      resource.kind === kind && resource.id === id && (policyVersion ?? resource.policyVersion) === resource.policyVersion && (scope ?? resource.scope) === resource.scope);
  }

  /** The violations of schemas in all results, each once. */
  get validationErrors(): ValidationError[] {
    const all = this.results.flatMap(({ validationErrors }) => validationErrors);
    return [...new Map(all.map((error) => [`${error.path}:${error.message}:${error.source}`, error])).values()];
  }
}

/** The codes of gRPC that this client answers with. */
export const Status = { INVALID_ARGUMENT: 3, UNIMPLEMENTED: 12, INTERNAL: 13 } as const;

/** A request that was not decided. */
export class NotOK extends Error {
  override readonly name = "NotOK";
  readonly code: (typeof Status)[keyof typeof Status];
  readonly details: string;

  constructor(code: NotOK["code"], details: string, cause?: unknown) {
    const [word] = Object.entries(Status).find(([, known]) => known === code)!;
    super(`gRPC error ${code} (${word}): ${details}`, cause === undefined ? undefined : { cause });
    this.code = code;
    this.details = details;
  }
}

/** Attributes violate a schema, and the option `onValidationError` is `"throw"`. */
export class ValidationFailed extends Error {
  override readonly name = "ValidationFailed";
  readonly validationErrors: readonly ValidationError[];

  constructor(validationErrors: readonly ValidationError[]) {
    super("Input failed schema validation");
    this.validationErrors = validationErrors;
  }
}
