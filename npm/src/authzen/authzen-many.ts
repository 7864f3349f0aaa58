// Answers several questions of AuthZEN, which share what they do not name themselves.
//
// What questions share is converted once and read into the module once, whatever their number. So the work for
// all of them is that of what was sent.

import { answerOf, evaluate, toAuxData, toPrincipal, toResource, type Answer, type Answers, type Directory } from "./authzen-decide.ts";
import { AuthzenError, type Action, type Entity, type Evaluation, type Evaluations } from "./authzen-read.ts";
import { readCheckMany, type CheckManyOptions } from "../pdp/check-many.ts";
import { AUX_DATA, MAX_STEPS, PRINCIPAL, RESOURCE, sharing, type Sharer } from "../pdp/sharing.ts";
import type { Attributes, AuxData, Pdp, Principal, Resource } from "../pdp/types.ts";

/**
 * Answers several questions as far as their semantic goes; or the one, where there is no list of them. All answers to
 * several questions together take at most `maxSteps`, 20 million unless given: what those do not reach is denied.
 */
export function evaluateAll(pdp: Pdp, evaluations: Evaluations, directory?: Directory, options?: CheckManyOptions): Answer | Answers {
  if (evaluations.kind === "one") return evaluate(pdp, evaluations.evaluation, directory);
  const parts = new Parts(evaluations.items, directory);
  const sharer = sharing(pdp, readCheckMany(options) ?? MAX_STEPS);
  const answers: Answer[] = [];
  for (const item of evaluations.items) {
    const answer = answerTo(item, parts, sharer);
    answers.push(answer);
    if (evaluations.semantic === "deny_on_first_deny" && !answer.decision) break;
    if (evaluations.semantic === "permit_on_first_permit" && answer.decision) break;
  }
  return { evaluations: answers };
}

function answerTo(item: Evaluation | AuthzenError, parts: Parts, sharer: Sharer): Answer {
  try {
    if (item instanceof AuthzenError) throw item;
    const { subject, action, resource, context } = item;
    const request = {
      principal: parts.principals.of(subject),
      resource: parts.resources.of(resource),
      actions: [action.name],
      auxData: parts.circumstances(action, context),
    };
    // To read a request that is denied for want of steps would take more of them.
    if (sharer.left() === 0) return { decision: false };
    return answerOf(() => sharer.check(request, parts.shared(item)), action.name);
  } catch (thrown) {
    if (!(thrown instanceof AuthzenError)) throw thrown;
    const { status, message } = thrown;
    return { decision: false, context: { error: { status, message } } };
  }
}

/** What parts of questions become. */
class Parts {
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

/** Objects, and what each of them becomes. It is worked out once, be it an error. */
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

/** The one object that stands in a list more than once: a default, which stands in for what items leave out. */
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

/** Whether all that is known of an action is its name. */
function isPlain({ properties }: Action): boolean {
  return properties === undefined || Object.keys(properties).length === 0;
}

/** How many values a context holds. Its depth is bounded. */
function valuesIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce<number>((sum, member) => sum + valuesIn(member), 1);
}

const NO_CONTEXT = {};
/** As many as one request may hold. */
const MAX_REPEATED_VALUES = 100_000;
