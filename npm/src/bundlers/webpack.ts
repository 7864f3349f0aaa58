// The plug-in for webpack and for Next, and the loader that both use: the entry `wardgate/webpack`.
//
// A folder of policies that an import names is a module of its own: webpack resolves it to the
// folder, and the loader returns the text of the module before webpack reads the folder as a file.
// Turbopack has no such hook: there an import names a file of the folder, and gets all of it.

import { basename, dirname, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

import { readBundlerOptions, type BundlerOptions, type BundlerSettings } from "./bundler-options.ts";
import { compileFolder, hotModuleText, moduleText, type Hot } from "./compile-folder.ts";
import { eventsOf } from "./policy-events.ts";

export type { BundlerOptions } from "./bundler-options.ts";

/** The compiler of webpack, as far as the plug-in calls it. */
export interface WebpackCompiler {
  readonly options: {
    readonly module: { readonly rules: unknown[] };
    readonly resolve: { plugins?: unknown[] | undefined };
  };
}

/** The plug-in for webpack: it compiles the folder that `import policies from "./policies"` names. */
export class WardgatePlugin {
  readonly #options: BundlerOptions;
  readonly #settings: BundlerSettings;

  /**
   * @throws TypeError or RangeError if an option is invalid.
   *
   * @example
   *     export default { entry: "./main.js", plugins: [new WardgatePlugin({ key: "release.jwk" })] };
   */
  constructor(options: BundlerOptions = {}) {
    this.#options = options;
    this.#settings = readBundlerOptions(options);
  }

  /** Adds the rule for folders of policies. Webpack calls it. */
  apply({ options: { module, resolve } }: WebpackCompiler): void {
    resolve.plugins = [...(resolve.plugins ?? []), resolverPlugin(this.#settings.folders)];
    module.rules.push({ resourceQuery: QUERY, use: [loaderFor(this.#options, "import.meta.webpackHot")] });
  }
}

/** The configuration of Next, as far as {@link withWardgate} changes it. */
export interface NextConfig {
  readonly webpack?: ((config: never, context: never) => unknown) | null | undefined;
  readonly turbopack?: { readonly rules?: Readonly<Record<string, unknown>> | undefined } | undefined;
  readonly outputFileTracingIncludes?: Readonly<Record<string, readonly string[]>> | undefined;
}

/**
 * Adds the plug-in to a configuration of Next. With webpack an import names the folder. With
 * Turbopack it names a file of the folder, such as `./policies/document.yaml`.
 *
 * @throws TypeError or RangeError if an option is invalid.
 *
 * @example
 *     export default withWardgate({ reactStrictMode: true }, { key: "release.jwk" });
 */
export function withWardgate<C extends NextConfig>(config: C, options: BundlerOptions = {}): C {
  const { folders } = readBundlerOptions(options);
  const plugin = new WardgatePlugin(options);
  const rule = { loaders: [loaderFor(plain(options), "import.meta.turbopackHot")], as: "*.js" };
  const rules = folders.flatMap((folder) => ENDINGS.map((ending) => [`**/${folder}/**/*.${ending}`, rule] as const));
  const { webpack, turbopack, outputFileTracingIncludes: traced } = config;
  return {
    ...config,
    outputFileTracingIncludes: { ...traced, [EVERY_ROUTE]: [...(traced?.[EVERY_ROUTE] ?? []), ...runtimeModules()] },
    turbopack: { ...turbopack, rules: { ...turbopack?.rules, ...Object.fromEntries(rules) } },
    webpack(given: { plugins: unknown[]; module: { rules: unknown[] } }, context: never) {
      const { dev, isServer } = context as { readonly dev?: boolean; readonly isServer?: boolean };
      const loader = loaderFor(options, "import.meta.webpackHot", dev === true && isServer === false);
      given.plugins.push(plugin);
      given.module.rules.push({ test: (file: string) => isIn(file, folders), use: [loader] });
      return webpack?.(given as never, context) ?? given;
    },
  };
}

/**
 * Returns the modules of the PDP, as globs from the folder of the app. Next looks for the files that a server reads, to copy
 * them beside a server of its own (`output: "standalone"`), and does not find these.
 */
function runtimeModules(): readonly string[] {
  const folder = fileURLToPath(new URL("../../wasm/", import.meta.url));
  return ["wardgate_bg.wasm", "wardgate_nosimd_bg.wasm"].map((name) => relative(process.cwd(), folder + name).replaceAll(sep, "/"));
}

/** Returns options as Turbopack takes them: as JSON, and a date as its milliseconds. */
function plain(options: BundlerOptions): BundlerOptions {
  const text = JSON.stringify(options, function (this: Record<string, unknown>, name, value: unknown) {
    const own = this[name];
    if (own instanceof Date) return own.getTime();
    return own instanceof Map ? Object.fromEntries(own) : value;
  });
  return JSON.parse(text) as BundlerOptions;
}

/** Returns true for a file of policies in a folder of one of these names. */
function isIn(file: string, folders: readonly string[]): boolean {
  return ENDINGS.some((ending) => file.endsWith(`.${ending}`)) && dirname(file).split(sep).some((part) => folders.includes(part));
}

function loaderFor(options: BundlerOptions, hot: Hot, hasEvents = false): { readonly loader: string; readonly options: LoaderOptions } {
  return { loader: LOADER, options: { plugin: options, hot, hasEvents } };
}

interface LoaderOptions {
  readonly plugin: BundlerOptions;
  readonly hot: Hot;
  /** True for pages that take bundles from a stream of events. */
  readonly hasEvents: boolean;
}

/** The loader, as far as webpack and Turbopack call it. */
interface LoaderContext {
  readonly resourcePath: string;
  readonly resourceQuery: string;
  readonly mode: string | undefined;
  getOptions(): LoaderOptions;
  addContextDependency(path: string): void;
  emitWarning(warning: Error): void;
}

/** Does nothing: {@link pitch} returns the text of each module. */
export default function load(source: string): string {
  return source;
}

/** Returns the text of the module of a folder, in place of a file. */
export async function pitch(this: LoaderContext): Promise<string> {
  const { plugin, hot, hasEvents } = this.getOptions();
  const settings = readBundlerOptions(plugin);
  const folder = this.resourceQuery === QUERY ? this.resourcePath : folderOf(this.resourcePath, settings.folders);
  this.addContextDependency(folder);
  const isProduction = this.mode === undefined ? process.env["NODE_ENV"] === "production" : this.mode === "production";
  const compiled = await compileFolder(folder, settings, isProduction);
  if (compiled.warning !== undefined) this.emitWarning(new Error(compiled.warning));
  if (isProduction) return moduleText(compiled);
  const events = hasEvents ? await eventsOf(folder, settings).catch(() => undefined) : undefined;
  return hotModuleText(compiled, hot, events);
}

/** Returns the nearest folder above a file that has a name of a folder of policies; else its own folder. */
function folderOf(file: string, names: readonly string[]): string {
  const parts = dirname(file).split(sep);
  const at = parts.findLastIndex((part) => names.includes(part));
  return at < 0 ? dirname(file) : parts.slice(0, at + 1).join(sep);
}

/** The resolver of webpack, as far as the plug-in calls it. */
interface Resolver {
  ensureHook(name: string): unknown;
  getHook(name: string): { tapAsync(tap: { readonly name: string; readonly stage: number }, act: (request: ResolveRequest, context: unknown, done: Done) => void): void };
  readonly fileSystem: { stat(path: string, done: (error: Error | null, about?: { isDirectory(): boolean }) => void): void };
  doResolve(hook: unknown, request: ResolveRequest, message: string, context: unknown, done: Done): void;
}

interface ResolveRequest {
  readonly path: string | false;
}

type Done = (error?: Error | null, result?: ResolveRequest) => void;

/**
 * Resolves folders of these names to themselves, after the rules for files and for folders with an
 * index. An ES module may not import a folder, so the rule for folders is not asked there.
 */
function resolverPlugin(names: readonly string[]): { apply(resolver: Resolver): void } {
  return {
    apply(resolver) {
      const target = resolver.ensureHook("resolved");
      resolver.getHook("describedRelative").tapAsync({ name: "wardgate", stage: LAST }, (request, context, done) => {
        const { path } = request;
        if (path === false || !names.includes(basename(path))) return done();
        resolver.fileSystem.stat(path, (_, about) => {
          if (about?.isDirectory() !== true) return done();
          resolver.doResolve(target, { ...request, query: QUERY } as ResolveRequest, "folder of policies", context, done);
        });
      });
    },
  };
}

const LOADER = fileURLToPath(import.meta.url);
const QUERY = "?wardgate";
const LAST = 100;
const ENDINGS = ["yaml", "yml"];
const EVERY_ROUTE = "/**";
