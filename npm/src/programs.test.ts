// Programs of users against the declarations of the built package: those in `programs/right` compile
// and decide, and each in `programs/wrong` has exactly the error that stands above its line, with the
// words behind its code if there are some. Those in `programs/registered` are apart, because a registration holds for a whole program.
//
// `UPDATE_TYPES=1` writes `programs/policies.d.ts` anew; its changes are then read like any other.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

import ts from "typescript";
import { describe, expect, it } from "vitest";

import { types } from "./compiler/compiler.ts";
import type { Pdp } from "./pdp/types.ts";
import { openAlbum } from "./testing.ts";

const home = new URL("../programs/", import.meta.url);
const namesIn = (folder: string): string[] => readdirSync(new URL(folder, home)).sort();

/** An error of a program: its place, the code of TypeScript, and its words where a program promises them. */
type Found = `${string}:${number} TS${number}${string}`;

/** Returns the errors of all programs in a folder, with their words if `hasWords` returns true for the name of the program. */
function errorsIn(folder: string, hasWords: (name: string) => boolean): Found[] {
  const path = fileURLToPath(new URL("tsconfig.json", home));
  const { options } = ts.parseJsonConfigFileContent(ts.readConfigFile(path, ts.sys.readFile).config, ts.sys, fileURLToPath(home));
  const program = ts.createProgram(namesIn(folder).map((name) => fileURLToPath(new URL(`${folder}/${name}`, home))), options);
  return ts.getPreEmitDiagnostics(program).map(({ file, start, code, messageText }): Found => {
    const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start!).line + 1;
    const name = basename(file?.fileName ?? "no file");
    return `${name}:${line} TS${code}${hasWords(name) ? `: ${ts.flattenDiagnosticMessageText(messageText, " ")}` : ""}`;
  }).sort();
}

/** Returns the errors that the comments of a program promise for the line below them. */
function promised(name: string, folder: string): Found[] {
  const lines = ts.sys.readFile(fileURLToPath(new URL(`${folder}/${name}`, home)))!.split("\n");
  return lines.flatMap((text, at): Found[] => {
    const [, code, words] = /^ *\/\/ TS(\d+)(: .*)?$/.exec(text) ?? [];
    return code === undefined ? [] : [`${name}:${at + 2} TS${Number(code)}${words ?? ""}`];
  });
}

/** Expects of each program in a folder, of which there are at least so many, one error: the promised one. */
function expectPromisedErrors(folder: string, least: number): void {
  const names = namesIn(folder);
  expect(names.length).toBeGreaterThanOrEqual(least);
  for (const name of names) expect([name, promised(name, folder).length]).toEqual([name, 1]);
  const hasWords = (name: string): boolean => promised(name, folder).some((error) => error.includes(": "));
  expect(errorsIn(folder, hasWords)).toEqual(names.flatMap((name) => promised(name, folder)).sort());
}

describe("a wrong program", () => {
  it("has the error that its comment promises, and no other", () => {
    expectPromisedErrors("wrong", 30);
  });
});

describe("a right program", () => {
  it("compiles", () => {
    expect(namesIn("right").length).toBeGreaterThanOrEqual(30);
    expect(errorsIn("right", () => true)).toEqual([]);
  });

  it.each(namesIn("right"))("decides: %s", async (name) => {
    const { decide } = (await import(new URL(`right/${name}`, home).href)) as { decide(pdp: Pdp): boolean | Promise<boolean> };
    expect(await decide(await openAlbum())).toBe(true);
  });
});

describe("a program with registered policies", () => {
  it("has no error if it is right, and the promised ones if it is wrong", () => {
    expectPromisedErrors("registered/wrong", 5);
    expect(errorsIn("registered/right", () => true)).toEqual([]);
  });
});

describe("the types of the programs", () => {
  it("are those of their policies", async () => {
    const policies = new URL("policies/", home);
    const paths = readdirSync(policies, { recursive: true, encoding: "utf8" }).filter((path) => /\.(yaml|json)$/.test(path));
    const written = await types(new Map(paths.map((path) => [path.replaceAll("\\", "/"), readFileSync(new URL(path, policies))])));
    const file = new URL("policies.d.ts", home);
    if (process.env["UPDATE_TYPES"] !== undefined) writeFileSync(file, written.types!);
    expect(readFileSync(file, "utf8")).toBe(written.types);
  });
});
