// The references of the npm package and of the crates, which TypeDoc and rustdoc write before the site is built.
import { existsSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const BUILT = fileURLToPath(new URL("../../../target/api", import.meta.url));
const ALL = [
  { folder: "js", text: "JavaScript API", link: "/api/js/index.html" },
  { folder: "rust", text: "Rust API", link: "/api/rust/wardgate_native/index.html" },
];
const built = ALL.filter(({ folder }) => existsSync(join(BUILT, folder)));

/** Links to the references that have been built. They are no pages of VitePress, so the browser loads them. */
export const references = built.map(({ text, link }) => ({ text, link, target: "_self" }));

/** Copies the references into the site. */
export async function addReferences({ outDir }) {
  for (const { folder } of built) await cp(join(BUILT, folder), join(outDir, "api", folder), { recursive: true });
}
