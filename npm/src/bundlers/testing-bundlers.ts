// Projects for the tests of bundlers: a folder with files in which the package is installed.

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { onTestFinished } from "vitest";

/** A program that imports its policies. */
export const MAIN = `import policies from "./policies";\nexport default policies;\n`;

/** A policy that lets these roles view albums. */
export function albumFor(...roles: readonly string[]): string {
  const rule = `{ actions: [view], roles: [${roles.join(", ")}], effect: EFFECT_ALLOW }`;
  return `apiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  resource: album\n  version: default\n  rules:\n    - ${rule}\n`;
}

/** A policy with an error in line 6, column 42. */
export const BROKEN = albumFor("user").replace("EFFECT_ALLOW", "ALOW");

/** A question about an album; the role decides. */
export const viewAs = (role: string) => ({ principal: { id: "ada", roles: [role] }, action: "view", resource: { kind: "album", id: "a1" } });

/** Makes a folder with these files, which is removed at the end of the test. */
export function project(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), "wardgate-test-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, "node_modules"));
  symlinkSync(fileURLToPath(new URL("../..", import.meta.url)), join(root, "node_modules/wardgate"), "dir");
  for (const [path, text] of Object.entries({ "package.json": `{ "type": "module" }`, ...files })) write(root, path, text);
  return root;
}

/** Writes a file of a project. */
export function write(root: string, path: string, text: string): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
