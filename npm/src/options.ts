// Reads the options of `open`. A key that is not known is an error: an option accepted and ignored
// would be a silent downgrade.

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
}

/** The options, complete. */
export interface Settings {
  readonly trust: Trust;
  readonly clock: () => number;
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
  return { trust: readTrust(members.get("trust")), clock: readClock(members.get("clock")) };
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

/** The word for the kind of a value in a message. */
export function describe(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

const KNOWN: readonly string[] = ["trust", "clock"];
