// Reads the options of the compiler, which match those of the command `wardgate compile`.

import { describe } from "../base/describe.ts";
import { jsonOf } from "../base/json-text.ts";
import { knownMembers, readFlag, readOneOf, readText, readWhole } from "../base/option.ts";
import type { CodeSource } from "../base/web.ts";

/** The options of a policy table. */
export interface TableOptions {
  /**
   * The meaning of an error in a condition: `strict` denies, `lenient` treats the condition as
   * false. Default: `strict`.
   */
  readonly evaluation?: "strict" | "lenient" | undefined;
  /**
   * True if a request whose scope has no policy starts at the nearest scope above it. Default:
   * `false`.
   */
  readonly lenientScopeSearch?: boolean | undefined;
  /**
   * The treatment of attributes that violate their schema: ignored, reported in the decision, or
   * denied. Default: `none`.
   */
  readonly schemaEnforcement?: "none" | "warn" | "reject" | undefined;
  /** The policy version for requests without one. Default: `default`. */
  readonly defaultVersion?: string | undefined;
  /** The values of `globals` in conditions, as for JSON. */
  readonly globals?: Readonly<Record<string, unknown>> | ReadonlyMap<string, unknown> | undefined;
}

/** The options of `lint`. */
export interface LintOptions extends TableOptions {
  /**
   * The code of the module, for runtimes and bundlers that cannot find it:
   * `wardgate/wasm/wardgate_compiler_bg.wasm`, compiled, as bytes or as a response. The first code
   * that a call loads is used from then on.
   */
  readonly code?: CodeSource | undefined;
}

/** The options of `test`. Options in a test suite take precedence over these. */
export interface TestOptions extends LintOptions {
  /**
   * A regular expression for the names of tests: `suite/test/principal/resource`. Default: all
   * tests.
   */
  readonly run?: string | undefined;
  /**
   * A filter for tests: `suite=GLOB,..;test=GLOB;principal=GLOB;resource=GLOB;action=GLOB`.
   * Default: all tests.
   */
  readonly filter?: string | undefined;
  /** True to return JUnit XML too. Default: `false`. */
  readonly emitJunit?: boolean | undefined;
}

/** The options of `format`. */
export interface FormatOptions {
  /**
   * The name of the file in diagnostics. A file whose name ends in `.json` is left as it is.
   * Default: `policy.yaml`.
   */
  readonly path?: string | undefined;
  /** The code of the module, as for {@link LintOptions.code}. */
  readonly code?: CodeSource | undefined;
}

/** The options of `compile`. */
export interface CompileOptions extends LintOptions {
  /** The name of the bundle. Default: no name. */
  readonly name?: string | undefined;
  /**
   * A number that grows with every bundle of this name, so that hosts can refuse older ones.
   * Default: 0.
   */
  readonly revision?: number | undefined;
  /**
   * The creation time, as a `Date` or in milliseconds since 1970, stored in seconds. The compiler
   * reads no clock: without this option the bundle has no creation time, and the same files always
   * give the same bytes.
   */
  readonly created?: Date | number | undefined;
  /** The time from which the bundle may be opened. Default: any time. */
  readonly notBefore?: Date | number | undefined;
  /**
   * The time from which the bundle may no longer be opened, and an open PDP denies every action.
   * Default: never.
   */
  readonly expires?: Date | number | undefined;
  /**
   * True to return the accessor module of the bundle too, which makes `isAllowed` faster.
   * Default: `false`.
   */
  readonly emitAccessors?: boolean | undefined;
}

/** The options for the module: the mirror of `crates/compiler-wasm/src/options.rs`. */
export interface ModuleOptions {
  readonly [name: string]: string | number | boolean;
}

/** The options, checked, and the code of the module. */
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

export function readTypesOptions(options: unknown): Settings {
  const members = membersOf(options, LINT);
  return { code: members.get("code"), moduleOptions: given({ ...readTable(members), emitTypes: true }) };
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

/** Reads options of a table, and returns them with the members of all names. */
export function readTableOptions(options: unknown, others: readonly string[]): Settings & { readonly members: ReadonlyMap<string, unknown> } {
  const members = membersOf(options, [...LINT, ...others]);
  return { code: members.get("code"), moduleOptions: given(readTable(members)), members };
}

function membersOf(options: unknown, names: readonly string[]): ReadonlyMap<string, unknown> {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new TypeError(`options must be an object, found ${describe(options)}`);
  }
  return knownMembers(options, names);
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

/** Reads a time, in seconds as in bundles. */
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

/**
 * Removes absent options. The result has no prototype, because the module would read inherited
 * members too.
 */
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
