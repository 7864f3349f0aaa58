// Writes `dist`: one file for each entry and runtime, with its source map. `cargo xtask`
// runs this program after the TypeScript compiler, which writes the declarations.
//
//     node bundle.mjs          every entry for every runtime
//     node bundle.mjs entry    the main entry and the accessors, for Node
//
// The main entry of a runtime imports no file of the package. State and classes must exist once in
// a program, so the other entries import the main entry for them: see SHARED. A module that could
// exist twice ends the build.

import { cpSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

import { build } from "rolldown";

import { withoutSideEffects } from "./side-effects.mjs";

const SRC = fileURLToPath(new URL("src/", import.meta.url));

/** The source of the main entry, and the name by which other files import what is built from it. */
const MAIN = { source: "index.ts", file: "./index.js" };

/** The sources of the entries that load a module or share state with the main entry. */
const ENTRIES = {
  "compiler": "compiler/compiler.ts",
  "analysis": "analysis/analysis.ts",
  "spocp": "spocp/spocp.ts",
  "mqtt": "mqtt/mqtt.ts",
  "log": "log/log.ts",
  "log-sequencer": "log/log-sequencer.ts",
  "accessors": "fast/accessors.ts",
  "pool": "pool/pool.ts",
  "pool-worker": "runtimes/threads/pool-worker.ts",
  "policies": "bundlers/imported.ts",
};

/** The sources of the entries for Node alone. */
const NODE_ONLY = {
  vite: "bundlers/vite.ts",
  webpack: "bundlers/webpack.ts",
};

/** The sources of the entries whose one file suits every runtime. */
const COMMON = {
  angular: "adapters/angular.ts",
  authzen: "authzen/authzen.ts",
  cerbos: "adapters/cerbos.ts",
  express: "adapters/express.ts",
  fastify: "adapters/fastify.ts",
  hono: "adapters/hono.ts",
  nest: "adapters/nest.ts",
  opentelemetry: "adapters/opentelemetry.ts",
  ratelimit: "ratelimit/ratelimit.ts",
  react: "adapters/react.ts",
  svelte: "adapters/svelte.ts",
  trpc: "adapters/trpc.ts",
  view: "adapters/view.ts",
  vue: "adapters/vue.ts",
};

/** The folder of loaders in `src/runtimes` and the endings of files of threads, for each runtime. */
const RUNTIMES = {
  "node": { loaders: "node", port: "node", spawn: "node" },
  "deno": { loaders: "node", port: "web", spawn: "web" },
  "browser": { loaders: "browser", port: "web", spawn: "web" },
  "workerd": { loaders: "workerd", port: "web", spawn: "web" },
  "edge-light": { loaders: "edge-light", port: "web", spawn: "web" },
};

/** The modules without state, and without classes that callers see. Each file may have a copy. */
const STATELESS = /^(\0rolldown|base|runtimes)\/|^wasm\/(code|shared-loader)\.ts$|^pdp\/(check-many|recording|sharing)\.ts$/;

/** The text of modules in the other entries: imports of the main entry. */
const SHARED = {
  "base/errors.ts": `export { WardgateError } from "${MAIN.file}";`,
  "pdp/open.ts": `export { open } from "${MAIN.file}";`,
  "pdp/pdp.ts": internals("{ OpenedPdp }"),
  "wasm/module.ts": internals("{ runtime }"),
  "fast/accessors.ts": internals(`{ accessors: { ${(await described("fast/accessors.ts")).exports.join(", ")} } }`),
};

/** The same for the entries for Node: the compiler is the entry beside them. */
const SHARED_IN_NODE = { ...SHARED, "compiler/compiler.ts": `export { compile, types } from "./compiler.js";` };

if (process.argv[2] === "entry") {
  await bundleRuntime("dist/node", RUNTIMES.node, { accessors: ENTRIES.accessors });
} else {
  for (const [name, runtime] of Object.entries(RUNTIMES)) await bundleRuntime(`dist/${name}`, runtime, ENTRIES);
  for (const [name, source] of Object.entries(NODE_ONLY)) await bundle("dist/node", name, source, RUNTIMES.node);
  for (const name of ["workerd", "edge-light"]) await bundle(`dist/${name}`, "wasm", `runtimes/${name}/wasm.ts`, {});
  await bundleBeside("dist", COMMON, {}, (await described(MAIN.source)).moduleIds);
  cpSync(new URL("imports.d.ts", import.meta.url), new URL("dist/types/imports.d.ts", import.meta.url));
  // A copy of the package must contain its licence.
  cpSync(new URL("../LICENSE", import.meta.url), new URL("LICENSE", import.meta.url));
}

/** Writes the main entry of a runtime, and other entries. */
async function bundleRuntime(folder, runtime, entries) {
  const { moduleIds } = await bundle(folder, "index", MAIN.source, runtime);
  await bundleBeside(folder, entries, runtime, moduleIds);
}

/** Writes entries, and throws if one of them has a module with state that the main entry has too. */
async function bundleBeside(folder, entries, runtime, main) {
  for (const [name, source] of Object.entries(entries)) {
    const { moduleIds } = await bundle(folder, name, source, runtime);
    const twice = moduleIds.filter((id) => main.includes(id) && !STATELESS.test(nameOf(id)) && !(nameOf(id) in SHARED));
    if (twice.length > 0) throw new Error(`${folder}/${name}.js has a second copy of ${twice.map(nameOf).join(", ")}`);
  }
}

/** Writes one file, and returns its description. */
async function bundle(folder, name, source, runtime) {
  const { output } = await build({
    ...input(source, runtime),
    onLog: (_, { code, message }) => {
      // "use client" of `react.ts`: its file has no other module that the directive could reach.
      if (code !== "MODULE_LEVEL_DIRECTIVE") throw new Error(message);
    },
    plugins: [source === MAIN.source ? withInternals() : withShared(source), withAddresses(folder), withMarks()],
    output: {
      dir: fileURLToPath(new URL(folder, import.meta.url)),
      format: "es",
      entryFileNames: `${name}.js`,
      codeSplitting: false,
      sourcemap: true,
      // Callers read descriptions in the declarations, and engines would read them at every start.
      comments: { annotation: true, jsdoc: false, legal: true },
    },
  });
  return output[0];
}

/** Marks what an app may drop. Columns of these lines shift in the map, and statements stay on their lines. */
function withMarks() {
  return { name: "marks", renderChunk: (code) => ({ code: withoutSideEffects(code), map: null }) };
}

/** Returns the description of a source file and all that it imports: names and modules. */
async function described(source) {
  const { output } = await build({ ...input(source, RUNTIMES.node), write: false });
  return output[0];
}

function input(source, { loaders, port, spawn }) {
  const alias = {
    "#load": `${SRC}runtimes/${loaders}/load.ts`,
    "#load-compiler": `${SRC}runtimes/${loaders}/load-compiler.ts`,
    "#load-analysis": `${SRC}runtimes/${loaders}/load-analysis.ts`,
    "#load-spocp": `${SRC}runtimes/${loaders}/load-spocp.ts`,
    "#load-mqtt": `${SRC}runtimes/${loaders}/load-mqtt.ts`,
    "#load-log": `${SRC}runtimes/${loaders}/load-log.ts`,
    "#load-log-sequencer": `${SRC}runtimes/${loaders}/load-log-sequencer.ts`,
    "#port": `${SRC}runtimes/threads/port-${port}.ts`,
    "#spawn": `${SRC}runtimes/threads/spawn-${spawn}.ts`,
  };
  return {
    input: SRC + source,
    external: [MAIN.file, "./compiler.js", /^node:/, /^(react|vue|svelte|svelte\/(reactivity|store)|@angular\/core|@opentelemetry\/api|@trpc\/server)$/, /\.wasm(\?module)?$/],
    platform: "neutral",
    resolve: { alias },
    transform: { target: "es2022" },
    makeAbsoluteExternalsRelative: false,
    tsconfig: false,
  };
}

/** Adds `internals` to the main entry. */
function withInternals() {
  return loading({ [MAIN.source]: async (text) => `${await text}export { internals } from "./internals.ts";\n` });
}

/** Replaces the modules of SHARED, or of SHARED_IN_NODE. */
function withShared(source) {
  const texts = Object.values(NODE_ONLY).includes(source) ? SHARED_IN_NODE : SHARED;
  return loading(Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, () => text])));
}

/** Replaces the text of some modules. */
function loading(texts) {
  const load = async (id) => texts[nameOf(id)]?.(readFile(id, "utf8"));
  return { name: "loading", load };
}

/** Corrects the addresses of WebAssembly modules: a built file is not as deep in the package as its source. */
function withAddresses(folder) {
  const wasm = `${"../".repeat(folder.split("/").length)}wasm/`;
  const transform = (code, id) =>
    nameOf(id).startsWith("runtimes/") ? { code: code.replaceAll(/(?:\.\.\/)+wasm\/(?=\w+\.wasm)/g, wasm), map: null } : undefined;
  return { name: "addresses", transform };
}

function internals(pattern) {
  return `import { internals } from "${MAIN.file}"; export const ${pattern} = internals;`;
}

/** Returns the path of a module from `src`. */
function nameOf(id) {
  return id.startsWith(SRC) ? id.slice(SRC.length) : id;
}
