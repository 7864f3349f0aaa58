// Compiles a folder of policies to the text of a module: the core of every plug-in.
//
// The bundle is text inside of the module, and no file beside it: a module is there wherever the
// program runs, on a server, at the edge or in a page, without another request.

import { compile } from "../compiler/compiler.ts";
import type { BundlerSettings } from "./bundler-options.ts";
import { errorOf } from "./policy-error.ts";
import { readFolder } from "./policy-folder.ts";
import { keySource, signBundle, type Signed } from "./signing.ts";
import { writeTypes } from "./types-file.ts";

/** A compiled folder. */
export interface CompiledFolder extends Pick<Signed, "bundle"> {
  readonly trust: Signed["trust"] | "unsigned";
  /** What the developer should know about this build. */
  readonly warning: string | undefined;
}

/**
 * Compiles a folder, signs its bundle for production, and writes the types if an option says so.
 *
 * @throws PolicyError if the folder cannot be read, its policies do not compile, or the key cannot sign.
 */
export async function compileFolder(folder: string, settings: BundlerSettings, isProduction: boolean): Promise<CompiledFolder> {
  const files = await readFolder(folder);
  const { bundle, diagnostics } = await compile(files, settings.compile);
  if (bundle === undefined) throw errorOf(folder, diagnostics);
  if (settings.types) await writeTypes(folder, files, settings.compile);
  if (!isProduction) return { bundle, trust: "unsigned", warning: undefined };
  const source = keySource(settings.key, process.env);
  if (source === undefined) return { bundle, trust: "unsigned", warning: unsignedWarning(folder) };
  return { ...(await signBundle(bundle, source)), warning: undefined };
}

/** Returns the text of a production module. */
export function moduleText({ bundle, trust }: CompiledFolder): string {
  return `${head()}export default imported(${values(bundle, trust)});\n`;
}

/** The object of a module that is replaced while it runs: of Vite, webpack and Turbopack. Each looks for its own words. */
export type Hot = "import.meta.hot" | "import.meta.webpackHot" | "import.meta.turbopackHot";

/** Returns the text of a module that is replaced while it runs. A page takes bundles from the address `events` too. */
export function hotModuleText({ bundle, trust }: CompiledFolder, hot: Hot, events?: string): string {
  const isVite = hot === "import.meta.hot";
  // Vite keeps one object of data, and the others hand over a new one.
  const data = isVite ? `${hot}?.data` : `${hot} ? { ...${hot}.data } : undefined`;
  const hand = isVite ? "" : `  ${hot}.dispose((next) => Object.assign(next, data));\n`;
  // A bundler that is slower than the stream has an older bundle.
  const streamed = events === undefined ? "" : "data?.events?.readyState === EventSource.OPEN ? data.wardgate : ";
  return `${head()}const data = ${data};\nexport default ${streamed}imported(${values(bundle, trust)}, data);\nif (${hot}) {\n  ${hot}.accept();\n${hand}${events === undefined ? "" : following(events)}}\n`;
}

/** Returns the lines that take bundles from a stream of events, if the page is one of this machine. They try once. */
function following(events: string): string {
  return `  if (typeof EventSource === "function" && /^(localhost|127\\.0\\.0\\.1|\\[::1\\])$/.test(location.hostname)) {
    data.events ??= new EventSource(${JSON.stringify(events)});
    data.events.onmessage = (event) => data.wardgate.replace(Uint8Array.from(atob(event.data), (character) => character.charCodeAt(0)));
    data.events.onerror = () => data.events.close();
  }
`;
}

function head(): string {
  return `import { imported } from "wardgate/policies";\n`;
}

function values(bundle: Uint8Array, trust: CompiledFolder["trust"]): string {
  return `${JSON.stringify(Buffer.from(bundle).toString("base64"))}, ${JSON.stringify(trust)}`;
}

function unsignedWarning(folder: string): string {
  return (
    `the policies of \`${folder}\` are not signed, because neither the option \`key\` nor \`WARDGATE_SIGNING_KEY\` names a private key. ` +
    "This program opens them all the same: their writer is whoever can change its files. A host that asks for a signature refuses them."
  );
}
