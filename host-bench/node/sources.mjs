// Imports sources of the package, for figures below its entries: the built package has one file for
// each entry.

import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

/** Returns the exports of files in `npm/src`, bundled in memory. */
export async function sources(...names) {
  const npm = new URL("../../npm/", import.meta.url);
  const { build } = await import(pathToFileURL(createRequire(npm).resolve("rolldown")));
  const text = names.map((name) => `export * from ${JSON.stringify(fileURLToPath(new URL(`src/${name}`, npm)))};`).join("\n");
  const entry = { name: "entry", resolveId: (id) => (id === "entry" ? id : undefined), load: (id) => (id === "entry" ? text : undefined) };
  const { output } = await build({ input: "entry", plugins: [entry], platform: "neutral", tsconfig: false, write: false });
  return import(`data:text/javascript;base64,${Buffer.from(output[0].code).toString("base64")}`);
}
