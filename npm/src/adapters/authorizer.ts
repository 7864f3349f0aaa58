// What the adapters for frameworks share: how a request of the framework becomes a question to the PDP.

import { describe, membersOf } from "../base/describe.ts";
import type { AuxData, Pdp, Principal, Resource } from "../pdp/types.ts";

/** The PDP, or what finds it when a request comes, such as `() => watcher.ready`. */
export type PdpSource = Pdp | (() => Pdp | Promise<Pdp>);

/** A value, or what finds it in the request; it may take its time. */
export type Found<C, T> = T | ((context: C) => T | Promise<T>);

/**
 * Where the parts of a question are found. Who has no principal, and what is no resource, is denied. An exception
 * is an error of the request, never a pass.
 */
export interface Question<C> {
  /** Who is asking, as the framework has authenticated it; `undefined` or `null` for nobody. */
  readonly principal: (context: C) => Absent<Principal> | Promise<Absent<Principal>>;
  readonly action: Found<C, string>;
  /** It is looked for only when there is a principal. */
  readonly resource: Found<C, Absent<Resource>>;
  readonly auxData?: Found<C, AuxData | undefined> | undefined;
}

type Absent<T> = T | null | undefined;

/** Returns what decides requests. */
export function authorizer<C>(source: PdpSource, question: Question<C>): (context: C) => Promise<boolean> {
  mustBeQuestion(question);
  if (typeof source !== "function" && typeof (source as Partial<Pdp> | null)?.isAllowed !== "function") {
    throw new TypeError(`the PDP must be one that \`open\` returned, or a function, found ${describe(source)}`);
  }
  return async (context) => {
    const principal = await question.principal(context);
    if (principal === undefined || principal === null) return false;
    const resource = await resolve(question.resource, context);
    if (resource === undefined || resource === null) return false;
    const action = await resolve(question.action, context);
    const auxData = await resolve(question.auxData, context);
    const pdp = typeof source === "function" ? await source() : source;
    // Nothing but `true` opens the door.
    return pdp.isAllowed({ principal, action, resource, auxData }) === true;
  };
}

/** Reads the options of an adapter. */
export function readDenied<F>(options: { readonly denied?: F | undefined } | undefined, otherwise: F): F {
  const members = membersOf(options ?? {});
  if (members === undefined) throw new TypeError(`options must be an object, found ${describe(options)}`);
  mustBeKnown(members, ["denied"], "option");
  const denied = options?.denied;
  if (denied !== undefined && typeof denied !== "function") {
    throw new TypeError(`option \`denied\` must be a function, found ${describe(denied)}`);
  }
  return denied ?? otherwise;
}

function mustBeQuestion(question: unknown): void {
  const members = membersOf(question);
  if (members === undefined) throw new TypeError(`a question must be an object, found ${describe(question)}`);
  mustBeKnown(members, ["principal", "action", "resource", "auxData"], "member");
  if (typeof members.get("principal") !== "function") {
    throw new TypeError(`\`principal\` must be a function, found ${describe(members.get("principal"))}`);
  }
  for (const name of ["action", "resource"]) {
    if (members.get(name) === undefined) throw new TypeError(`\`${name}\` is missing in the question`);
  }
}

function mustBeKnown(members: ReadonlyMap<string, unknown>, names: readonly string[], what: string): void {
  for (const name of members.keys()) {
    if (!names.includes(name)) throw new TypeError(`unknown ${what} \`${name}\`, expected one of ${names.join(", ")}`);
  }
}

async function resolve<C, T>(from: Found<C, T>, context: C): Promise<T> {
  return typeof from === "function" ? (from as (context: C) => T | Promise<T>)(context) : from;
}
