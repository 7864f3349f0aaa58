// The versions beside the figures: those that are pinned are those that are installed.

import { readFileSync } from "node:fs";

const PINNED = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8")).dependencies;

/** Returns the version of a rival. */
export function versionOf(name) {
  return PINNED[name];
}
