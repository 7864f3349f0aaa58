// Reads the options of `open`. A key that is not known is an error: an option accepted and ignored
// would be a silent downgrade.

import { FORMAT } from "./accessors.ts";
import type { Accessors } from "./types.ts";

/**
 * Which bundles may be opened. `"unsigned"` accepts every bundle whose digest fits: whoever can write
 * the bytes then decides what is allowed, so they must come from where you would take code from.
 */
export type Trust = "unsigned";

/** How to open a bundle. */
export interface OpenOptions {
  /** Which bundles may be opened. There is no default: trust is always a decision. */
  readonly trust: Trust;
  /** Returns the time in milliseconds since 1970; `Date.now` unless given. */
  readonly clock?: (() => number) | undefined;
  /**
   * The module that `wardgate compile --emit` wrote with this bundle. It makes `isAllowed` faster and
   * changes no answer. After a `reload` it goes on, and helps with the names that it knows.
   */
  readonly accessors?: Accessors | undefined;
}

/** The options, complete. */
export interface Settings {
  readonly trust: Trust;
  readonly clock: () => number;
  readonly accessors?: Accessors | undefined;
}

/** Reads options that may come from JavaScript, where nobody has checked their types. */
export function readOptions(options: unknown): Settings {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`options must be an object with \`trust\`, found ${describe(options)}`);
  }
  const members = new Map<string, unknown>(Object.entries(options));
  for (const name of members.keys()) {
    if (!KNOWN.includes(name)) {
      throw new TypeError(`unknown option \`${name}\`, expected one of ${KNOWN.join(", ")}`);
    }
  }
  return {
    trust: readTrust(members.get("trust")),
    clock: readClock(members.get("clock")),
    accessors: readAccessors(members.get("accessors")),
  };
}

function readTrust(trust: unknown): Trust {
  if (typeof trust !== "string") {
    throw new TypeError(`option \`trust\` must be "unsigned", found ${describe(trust)}`);
  }
  if (trust !== "unsigned") {
    throw new RangeError(`option \`trust\` must be "unsigned", found ${JSON.stringify(trust)}`);
  }
  return trust;
}

function readClock(clock: unknown): () => number {
  if (clock === undefined) return () => Date.now();
  if (typeof clock !== "function") {
    throw new TypeError(`option \`clock\` must be a function, found ${describe(clock)}`);
  }
  return () => {
    const now: unknown = clock();
    if (typeof now !== "number") {
      throw new TypeError(`the clock must return a number, found ${describe(now)}`);
    }
    return now;
  };
}

function readAccessors(accessors: unknown): Accessors | undefined {
  if (accessors === undefined) return undefined;
  if (typeof accessors !== "object" || accessors === null) {
    throw new TypeError(`option \`accessors\` must be a module, found ${describe(accessors)}`);
  }
  const { format, bundle, names, decideRequest } = accessors as { readonly [name: string]: unknown };
  if (typeof bundle !== "string" || !Array.isArray(names) || typeof decideRequest !== "function") {
    throw new TypeError("option `accessors` must be a module that `wardgate compile --emit` wrote");
  }
  if (format !== FORMAT) {
    throw new RangeError(`option \`accessors\` must have format ${FORMAT}, found ${String(format)}: emit it again`);
  }
  return accessors as Accessors;
}

/** The word for the kind of a value in a message. */
export function describe(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

const KNOWN: readonly string[] = ["trust", "clock", "accessors"];
