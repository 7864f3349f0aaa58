// Reads the options of `compile` and `lint`, which are those of the command `wardgate compile`.

import { describe } from "../base/describe.ts";
import { jsonOf } from "../base/json-text.ts";
import { known, readFlag, readOneOf, readText, readWhole } from "../base/option.ts";
import type { CodeSource } from "../base/web.ts";

/** What the policies are compiled to. */
export interface TableOptions {
  /** What an error in a condition means: it denies, or the condition counts as false; `strict` unless given. */
  readonly evaluation?: "strict" | "lenient" | undefined;
  /** Where no policy has the scope of a request, whether to start at the nearest scope above it. */
  readonly lenientScopeSearch?: boolean | undefined;
  /** Attributes that do not fit their schema: nobody looks, the decision tells, or it denies; `none` unless given. */
  readonly schemaEnforcement?: "none" | "warn" | "reject" | undefined;
  /** The policy version that a request without one means; `default` unless given. */
  readonly defaultVersion?: string | undefined;
  /** The values of `globals` in conditions: whatever JSON can hold. */
  readonly globals?: Readonly<Record<string, unknown>> | ReadonlyMap<string, unknown> | undefined;
}

/** How to look at policies. */
export interface LintOptions extends TableOptions {
  /**
   * The code of the module, for runtimes or bundlers that do not find it themselves, compiled, as bytes or as a
   * response: `wardgate/wasm/wardgate_compiler_bg.wasm`. The code that came first is used from then on.
   */
  readonly code?: CodeSource | undefined;
}

/** How to run tests. What a test says of itself comes first; otherwise it is decided as `compile` would. */
export interface TestOptions extends LintOptions {
  /** A regular expression that the name of a test must match: `suite/test/principal/resource`. */
  readonly run?: string | undefined;
  /** What tests must match: `suite=GLOB,..;test=GLOB;principal=GLOB;resource=GLOB;action=GLOB`. */
  readonly filter?: string | undefined;
  /** Whether JUnit XML is wanted too. */
  readonly emitJunit?: boolean | undefined;
}

/** How to lay out a file. */
export interface FormatOptions {
  /** What diagnostics call the file; one whose name ends in `.json` is left alone. `policy.yaml` unless given. */
  readonly path?: string | undefined;
  /** The code of the module, as for {@link LintOptions.code}. */
  readonly code?: CodeSource | undefined;
}

/** How to compile policies. */
export interface CompileOptions extends LintOptions {
  /** What the bundle is called; it has no name unless given. */
  readonly name?: string | undefined;
  /** A number that grows with every bundle of this name, so that hosts can refuse older ones; 0 unless given. */
  readonly revision?: number | undefined;
  /**
   * When it was made, as a `Date` or in milliseconds since 1970. No clock is read: without it the bundle does not say,
   * and the same files always give the same bytes. A bundle counts in seconds.
   */
  readonly created?: Date | number | undefined;
  /** From when on the bundle may be opened. */
  readonly notBefore?: Date | number | undefined;
  /** From when on it may no longer be opened, and what has opened it denies everything. */
  readonly expires?: Date | number | undefined;
  /** Whether to write the accessor module for the bundle too, which makes `isAllowed` faster. */
  readonly emitAccessors?: boolean | undefined;
}

/** The options as the module reads them: the mirror of `crates/compiler-wasm/src/asked.rs`. */
export interface ModuleOptions {
  readonly [name: string]: string | number | boolean;
}

/** What to compile to, or to lay out, and with what. */
export interface Settings {
  readonly code: unknown;
  readonly moduleOptions: ModuleOptions;
}

export function readCompileOptions(options: unknown): Settings {
  const members = membersOf(options, COMPILE);
  const [notBefore, expires] = [readTime(members, "notBefore"), readTime(members, "expires")];
  if (expires !== undefined && expires <= (notBefore ?? 0)) {
    throw new RangeError("option `expires` must be later than `notBefore`");
  }
  const label = {
    name: readName(members.get("name")),
    revision: readWhole(members.get("revision"), "revision", Number.MAX_SAFE_INTEGER),
    created: readTime(members, "created"),
    notBefore,
    expires,
    emitAccessors: readFlag(members.get("emitAccessors"), "emitAccessors"),
  };
  return { code: members.get("code"), moduleOptions: given({ ...readTable(members), ...label }) };
}

export function readLintOptions(options: unknown): Settings {
  const members = membersOf(options, LINT);
  return { code: members.get("code"), moduleOptions: given({ ...readTable(members), lint: true }) };
}

export function readFormatOptions(options: unknown): Settings & { readonly path: string } {
  const members = membersOf(options, ["path", "code"]);
  return { code: members.get("code"), moduleOptions: given({}), path: readText(members.get("path"), "path") ?? "policy.yaml" };
}

export function readTestOptions(options: unknown): Settings {
  const members = membersOf(options, TEST);
  const tests = {
    run: readText(members.get("run"), "run"),
    filter: readText(members.get("filter"), "filter"),
    emitJunit: readFlag(members.get("emitJunit"), "emitJunit"),
  };
  return { code: members.get("code"), moduleOptions: given({ ...readTable(members), ...tests }) };
}

function membersOf(options: unknown, names: readonly string[]): ReadonlyMap<string, unknown> {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new TypeError(`options must be an object, found ${describe(options)}`);
  }
  return known(options, names);
}

function readTable(members: ReadonlyMap<string, unknown>): Members {
  const globals = members.get("globals");
  return {
    evaluation: readOneOf(members.get("evaluation"), "evaluation", ["strict", "lenient"]),
    lenientScopeSearch: readFlag(members.get("lenientScopeSearch"), "lenientScopeSearch"),
    schemaEnforcement: readOneOf(members.get("schemaEnforcement"), "schemaEnforcement", ["none", "warn", "reject"]),
    defaultVersion: readVersion(members.get("defaultVersion")),
    globals: globals === undefined ? undefined : jsonOf(globals, "option `globals`"),
  };
}

function readName(value: unknown): string | undefined {
  const name = readText(value, "name");
  if (name !== undefined && (/\p{Cc}/u.test(name) || new TextEncoder().encode(name).length > MAX_NAME_BYTES)) {
    throw new RangeError(`option \`name\` must have at most ${MAX_NAME_BYTES} bytes and no control characters`);
  }
  return name;
}

function readVersion(value: unknown): string | undefined {
  const version = readText(value, "defaultVersion");
  if (version === undefined || /^\w+$/.test(version)) return version;
  throw new RangeError("option `defaultVersion` must be of letters, digits and `_`");
}

/** A time in seconds, as bundles have it. */
function readTime(members: ReadonlyMap<string, unknown>, name: string): number | undefined {
  const value = members.get(name);
  if (value === undefined) return undefined;
  const time = value instanceof Date ? value.getTime() : value;
  if (typeof time !== "number") {
    throw new TypeError(`option \`${name}\` must be a number or a Date, found ${describe(value)}`);
  }
  if (!(time >= 0 && time <= Number.MAX_SAFE_INTEGER)) {
    throw new RangeError(`option \`${name}\` must be a time after 1970, found ${time}`);
  }
  return Math.floor(time / 1000);
}

/** Leaves out what was not given. It inherits nothing: the module would read that too. */
function given(members: Members): ModuleOptions {
  const entries = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.assign(Object.create(null) as object, Object.fromEntries(entries)) as ModuleOptions;
}

interface Members {
  readonly [name: string]: string | number | boolean | undefined;
}

const MAX_NAME_BYTES = 256;
const LINT = ["evaluation", "lenientScopeSearch", "schemaEnforcement", "defaultVersion", "globals", "code"];
const COMPILE = [...LINT, "name", "revision", "created", "notBefore", "expires", "emitAccessors"];
const TEST = [...LINT, "run", "filter", "emitJunit"];
