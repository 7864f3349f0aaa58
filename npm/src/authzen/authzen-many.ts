// Answers several evaluations of AuthZEN in one request, which share the defaults of that request.
//
// A shared part is converted once and read into the module once. So the work grows with the size of
// the request body, not with the number of evaluations times the size of the defaults.

import { answerOf, evaluate, toAuxData, toPrincipal, toResource, type Answer, type Answers, type Directory } from "./authzen-decide.ts";
import { AuthzenError, type Action, type Entity, type Evaluation, type Evaluations, type Semantic } from "./authzen-read.ts";
import { readCheckMany, type CheckManyOptions } from "../pdp/check-many.ts";
import { AUX_DATA, MAX_STEPS, PRINCIPAL, RESOURCE, sharing, type Sharer } from "../pdp/sharing.ts";
import type { Attributes, AuxData, Principal, Resource } from "../pdp/request-types.ts";
import type { Pdp } from "../pdp/types.ts";

/**
 * Answers several evaluations up to the point that their semantic requires, or the single
 * evaluation of a request without a list. All decisions of a list together take at most `maxSteps`
 * steps (default: 20 million); evaluations beyond them are denied.
 */
export function evaluateAll(pdp: Pdp, evaluations: Evaluations, directory?: Directory, options?: CheckManyOptions): Answer | Answers {
  if (evaluations.kind === "one") return evaluate(pdp, evaluations.evaluation, directory);
  const parts = new Parts(evaluations.items, directory);
  const sharer = sharing(pdp, readCheckMany(options) ?? MAX_STEPS);
  const answers: Answer[] = [];
  for (const item of evaluations.items) {
    const answer = answerFrom(item, parts, sharer);
    answers.push(answer);
    if (isLast(evaluations.semantic, answer)) break;
  }
  return { evaluations: answers };
}

/** Returns true if an answer ends the evaluations of a semantic. */
export function isLast(semantic: Semantic, { decision }: Answer): boolean {
  return (semantic === "deny_on_first_deny" && !decision) || (semantic === "permit_on_first_permit" && decision);
}

function answerFrom(item: Evaluation | AuthzenError, parts: Parts, sharer: Sharer): Answer {
  try {
    const request = parts.request(item);
    // Reading a request that is denied for lack of steps would take further steps.
    if (sharer.left() === 0) return { decision: false };
    return answerOf(() => sharer.check(request, parts.shared(item as Evaluation)), request.actions[0]);
  } catch (thrown) {
    return refusalOf(thrown);
  }
}

/** Returns the answer to an evaluation that is refused; throws what is no refusal. */
export function refusalOf(thrown: unknown): Answer {
  if (!(thrown instanceof AuthzenError)) throw thrown;
  const { status, message } = thrown;
  return { decision: false, context: { error: { status, message } } };
}

/** The converted parts of evaluations. */
export class Parts {
  readonly principals: Converted<Entity, Principal>;
  readonly resources: Converted<Entity, Resource>;
  readonly #contexts: Converted<object, AuxData>;
  readonly #subjects: Repeated;
  readonly #objects: Repeated;
  readonly #plainContexts: Repeated;
  #valuesLeft = MAX_REPEATED_VALUES;

  constructor(items: readonly (Evaluation | AuthzenError)[], directory: Directory | undefined) {
    const readable = items.filter((item): item is Evaluation => !(item instanceof AuthzenError));
    this.principals = new Converted((subject) => toPrincipal(subject, directory));
    this.resources = new Converted((resource) => toResource(resource, directory));
    this.#contexts = new Converted((context) => toAuxData(undefined, context === NO_CONTEXT ? undefined : (context as Attributes)));
    this.#subjects = new Repeated(readable.map(({ subject }) => subject));
    this.#objects = new Repeated(readable.map(({ resource }) => resource));
    this.#plainContexts = new Repeated(readable.filter(({ action }) => isPlain(action)).map(({ context }) => context ?? NO_CONTEXT));
  }

  /** Returns the request of an evaluation. Throws an `AuthzenError` if it is, or has, an error. */
  request(item: Evaluation | AuthzenError): { readonly principal: Principal; readonly resource: Resource; readonly actions: [string]; readonly auxData: AuxData } {
    if (item instanceof AuthzenError) throw item;
    const { subject, action, resource, context } = item;
    return {
      principal: this.principals.of(subject),
      resource: this.resources.of(resource),
      actions: [action.name],
      auxData: this.circumstances(action, context),
    };
  }

  circumstances(action: Action, context: Attributes | undefined): AuxData {
    if (isPlain(action)) return this.#contexts.of(context ?? NO_CONTEXT);
    // The claims of the context are read again for each action that has properties of its own.
    this.#valuesLeft -= valuesIn(context);
    if (this.#valuesLeft < 0) {
      throw new AuthzenError(`contexts of actions with properties must have at most ${MAX_REPEATED_VALUES} values together`);
    }
    return toAuxData(action, context);
  }

  shared({ subject, action, resource, context }: Evaluation): number {
    const isShared = isPlain(action) && this.#plainContexts.has(context ?? NO_CONTEXT);
    return (
      (this.#subjects.has(subject) ? PRINCIPAL : 0) | (this.#objects.has(resource) ? RESOURCE : 0) | (isShared ? AUX_DATA : 0)
    );
  }
}

/**
 * Objects with their conversions. Each object is converted once, and an exception is remembered
 * too.
 */
class Converted<S extends object, T> {
  readonly #convert: (source: S) => T;
  readonly #known = new Map<S, { readonly value: T } | { readonly thrown: unknown }>();

  constructor(convert: (source: S) => T) {
    this.#convert = convert;
  }

  of(source: S): T {
    const known = this.#known.get(source) ?? this.#learn(source);
    if ("thrown" in known) throw known.thrown;
    return known.value;
  }

  #learn(source: S): { readonly value: T } | { readonly thrown: unknown } {
    let outcome;
    try {
      outcome = { value: this.#convert(source) };
    } catch (thrown) {
      outcome = { thrown };
    }
    this.#known.set(source, outcome);
    return outcome;
  }
}

/**
 * The one object that occurs more than once in a list: a default, which items without that part
 * share.
 */
class Repeated {
  readonly #object: object | undefined;

  constructor(objects: readonly object[]) {
    const seen = new Set<object>();
    this.#object = objects.find((object) => seen.size === seen.add(object).size);
  }

  has(object: object): boolean {
    return object === this.#object;
  }
}

/** Returns true if an action has a name and no properties. */
function isPlain({ properties }: Action): boolean {
  return properties === undefined || Object.keys(properties).length === 0;
}

/** Returns the number of values in a context, whose depth is bounded. */
function valuesIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce<number>((sum, member) => sum + valuesIn(member), 1);
}

const NO_CONTEXT = {};
/** As many as one request may hold. */
const MAX_REPEATED_VALUES = 100_000;
