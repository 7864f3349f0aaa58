// Reads the options of the plug-ins for bundlers.

import { describe, describeClass } from "../base/describe.ts";
import { knownMembers, readFlag, readText } from "../base/option.ts";
import { readCompileOptions, type CompileOptions } from "../compiler/compiler-options.ts";

/** The options of the plug-ins for bundlers. */
export interface BundlerOptions {
  /**
   * The names of the folders that an import compiles: the last part of `./policies`. Default:
   * `["policies"]`.
   */
  readonly folders?: readonly string[] | undefined;
  /** The options of the compiler: the name and revision of the bundle, its dates, and so on. */
  readonly compile?: Omit<CompileOptions, "code" | "emitAccessors"> | undefined;
  /**
   * The path of the private key that signs the bundles of a production build, in a file that
   * `wardgate keys generate` wrote. Default: the environment variable `WARDGATE_SIGNING_KEY`, which
   * has such a path or the JSON Web Key itself.
   */
  readonly key?: string | undefined;
  /** True to write the types of the policies too: `policies.d.ts` beside the folder `policies`. Default: `false`. */
  readonly types?: boolean | undefined;
}

/** The options, checked. */
export interface BundlerSettings {
  readonly folders: readonly string[];
  readonly compile: CompileOptions;
  readonly key: string | undefined;
  readonly types: boolean;
}

/** Reads options that come from JavaScript without type checks. */
export function readBundlerOptions(options: unknown): BundlerSettings {
  if (describeClass(options) !== "object") throw new TypeError(`options must be an object, found ${describe(options)}`);
  const members = knownMembers(options as object, ["folders", "compile", "key", "types"]);
  const compile = (members.get("compile") ?? {}) as CompileOptions;
  // A wrong option must end the start of the bundler, and not the first import.
  readCompileOptions(compile);
  return {
    folders: readFolders(members.get("folders")),
    compile,
    key: readText(members.get("key"), "key"),
    types: readFlag(members.get("types"), "types") ?? false,
  };
}

function readFolders(folders: unknown = ["policies"]): readonly string[] {
  if (!Array.isArray(folders)) throw new TypeError(`option \`folders\` must be an array, found ${describeClass(folders)}`);
  return folders.map((name) => {
    const text = readText(name, "folders") ?? "";
    if (text !== "" && !/[/\\?#]/.test(text)) return text;
    throw new RangeError(`option \`folders\` must have the names of folders, without their paths, found \`${text}\``);
  });
}
