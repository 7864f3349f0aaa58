// Reads requests of the API and writes them as messages: the mirror of `crates/wasm/src/request.rs`.
//
// The names are those of the Cerbos API. An unknown name is an error: a misspelt `attr` that was
// ignored would change the decision.

import { sharedParts } from "./abi.ts";
import { OBJECT, RequestWriter, tagOf, type Members } from "./request-writer.ts";

/** The names of the attributes that policies read, of each root; `null` for all. */
export interface ReadNames {
  readonly principal: readonly string[] | null;
  readonly resource: readonly string[] | null;
  readonly jwt: readonly string[] | null;
  readonly jwts: readonly string[] | null;
}

/** A message, and the strings of the request that return in its decision. */
export interface Message {
  readonly bytes: Uint8Array;
  readonly length: number;
  readonly requestId: string;
  readonly resourceId: string;
  readonly actions: readonly string[];
}

/** The parts of a message: bits, of which a request may share the first three with others. */
const PRINCIPAL = 1;
const RESOURCE = 2;
const AUX_DATA = 4;
const ACTIONS = 8;
const REQUEST_ID = 16;

/** All attributes. */
export const ALL_NAMES: ReadNames = { principal: null, resource: null, jwt: null, jwts: null };

/** The requests of which one is part. */
export interface Series {
  /** The word of a sharer for this request: see `pdp/sharing.ts`; 0 without one. */
  readonly shared: number;
  /** The steps that remain for all of them; reading takes steps too. */
  readonly budget?: { left: number } | undefined;
}

/**
 * Reads a request about one action (`action`) or several (`actions`). Of attributes, only those in
 * `names` are read. The message is valid until the next request is read.
 *
 * @throws TypeError or RangeError if the request is not one of the API, or exceeds its bounds.
 */
export function readRequest(request: unknown, field: "action" | "actions", names: ReadNames, series: Series = ALONE): Message {
  // Code of the caller may make a request of its own while this one is read.
  const writer = spare ?? new RequestWriter();
  spare = undefined;
  writer.reset();
  try {
    const { shared } = series;
    const message = new RequestReader(writer, shared === 0 ? names : namesOf(shared, names)).read(request, field, shared);
    if (message === undefined) throw writer.error();
    return message;
  } finally {
    const { budget } = series;
    if (budget !== undefined) budget.left = Math.max(0, budget.left - writer.values * STEPS_OF_A_VALUE);
    spare = writer;
  }
}

const ALONE: Series = { shared: 0 };

/** The steps that one value costs in a series with a bound. */
const STEPS_OF_A_VALUE = 5;

let spare: RequestWriter | undefined;

class RequestReader {
  readonly #writer: RequestWriter;
  readonly #names: ReadNames;
  #resourceId = "";

  constructor(writer: RequestWriter, names: ReadNames) {
    this.#writer = writer;
    this.#names = names;
  }

  read(request: unknown, field: "action" | "actions", shared: number): Message | undefined {
    const writer = this.#writer;
    const fields = readFields(writer, request, field === "action" ? ACTION_FIELDS : ACTIONS_FIELDS);
    if (fields === undefined) return undefined;
    const [principal, resource, action, auxData, requestId] = fields;
    let known = shared === 0 ? 0 : sharedParts(shared);
    if (requestId !== undefined) {
      writer.byte(REQUEST_ID);
      if (!writer.string(requestId)) return this.#refuse("requestId");
    }
    if (!(known & PRINCIPAL) && !this.#principal(principal)) return this.#refuse("principal");
    if (!(known & RESOURCE) && !this.#resource(resource)) return this.#refuse("resource");
    const actions: string[] = [];
    if (!this.#actions(action, field, actions)) return this.#refuse(field);
    if (!(known & AUX_DATA) && !this.#auxData(auxData)) return this.#refuse("auxData");
    // Code of the caller that ran meanwhile may have replaced the parts that the module has.
    for (let lost = lostOf(known, shared); lost !== 0; lost = lostOf(known, shared)) {
      known &= ~lost;
      if (lost & PRINCIPAL && !this.#principal(principal)) return this.#refuse("principal");
      if (lost & RESOURCE && !this.#resource(resource)) return this.#refuse("resource");
      if (lost & AUX_DATA && !this.#auxData(auxData)) return this.#refuse("auxData");
    }
    const { bytes, length } = writer;
    return { bytes, length, requestId: (requestId ?? "") as string, resourceId: this.#resourceId, actions };
  }

  #principal(value: unknown): boolean {
    const writer = this.#writer;
    const fields = readFields(writer, value, PRINCIPAL_FIELDS);
    if (fields === undefined) return false;
    const [id, roles, attr, version, scope] = fields;
    writer.byte(PRINCIPAL);
    return (
      (writer.string(id) || writer.inside("id")) &&
      (writer.optionalString(version) || writer.inside("policyVersion")) &&
      (writer.optionalString(scope) || writer.inside("scope")) &&
      (writer.strings(roles) || writer.inside("roles")) &&
      (writer.attributes(attr, this.#names.principal) || writer.inside("attr"))
    );
  }

  #resource(value: unknown): boolean {
    const writer = this.#writer;
    const fields = readFields(writer, value, RESOURCE_FIELDS);
    if (fields === undefined) return false;
    const [kind, id, attr, version, scope] = fields;
    writer.byte(RESOURCE);
    this.#resourceId = id as string;
    return (
      (writer.string(kind) || writer.inside("kind")) &&
      (writer.optionalString(version) || writer.inside("policyVersion")) &&
      (writer.string(id) || writer.inside("id")) &&
      (writer.optionalString(scope) || writer.inside("scope")) &&
      (writer.attributes(attr, this.#names.resource) || writer.inside("attr"))
    );
  }

  #actions(value: unknown, field: "action" | "actions", copies: string[]): boolean {
    const writer = this.#writer;
    writer.byte(ACTIONS);
    if (field === "actions") return writer.strings(value, copies);
    writer.count(1);
    copies.push(value as string);
    return writer.string(value);
  }

  #auxData(value: unknown): boolean {
    if (value === undefined) return true;
    const writer = this.#writer;
    const fields = readFields(writer, value, AUX_DATA_FIELDS);
    if (fields === undefined) return false;
    const [jwt, jwts] = fields;
    writer.byte(AUX_DATA);
    return (
      (writer.attributes(jwt, this.#names.jwt) || writer.inside("jwt")) &&
      (writer.attributes(jwts, this.#names.jwts) || writer.inside("jwts"))
    );
  }

  #refuse(field: string): undefined {
    this.#writer.inside(field);
    return undefined;
  }
}

/** Returns the names to read if requests share parts: those are read whole, since they are read once. */
function namesOf(shared: number, names: ReadNames): ReadNames {
  return {
    principal: shared & PRINCIPAL ? null : names.principal,
    resource: shared & RESOURCE ? null : names.resource,
    jwt: shared & AUX_DATA ? null : names.jwt,
    jwts: shared & AUX_DATA ? null : names.jwts,
  };
}

/** Returns the parts, of those that the module had, that it does not have any more. */
function lostOf(known: number, shared: number): number {
  return known === 0 ? 0 : known & ~sharedParts(shared);
}

/**
 * Returns the members of an object in the order of `known`, the only names that it may have;
 * `undefined` if it is refused.
 */
function readFields(writer: RequestWriter, value: unknown, known: readonly string[]): unknown[] | undefined {
  if (tagOf(value) !== OBJECT) {
    writer.wrong("an object", value);
    return undefined;
  }
  const fields: unknown[] = [undefined, undefined, undefined, undefined, undefined];
  for (const name of Object.keys(value as Members)) {
    const at = known.indexOf(name);
    if (at < 0 ? !writer.unknown(name, known) : !writer.name(name.length)) return undefined;
    fields[at] = (value as Members)[name];
  }
  return fields;
}

const ACTION_FIELDS: readonly string[] = ["principal", "resource", "action", "auxData", "requestId"];
const ACTIONS_FIELDS: readonly string[] = ["principal", "resource", "actions", "auxData", "requestId"];
const PRINCIPAL_FIELDS: readonly string[] = ["id", "roles", "attr", "policyVersion", "scope"];
const RESOURCE_FIELDS: readonly string[] = ["kind", "id", "attr", "policyVersion", "scope"];
const AUX_DATA_FIELDS: readonly string[] = ["jwt", "jwts"];
