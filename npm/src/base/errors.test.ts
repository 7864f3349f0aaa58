import { readFileSync } from "node:fs";

import { expect, it } from "vitest";

import { WardgateError, type Code } from "./errors.ts";

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");

it("leads each code to the section that explains it", () => {
  const unions = read("errors.ts").match(/export type \w+ =\n(?: {2}\| [^\n]+\n?)+/g) ?? [];
  const codes = [...unions.join("").matchAll(/\| "([a-z-]+)"/g)].map(([, code]) => code as Code);
  expect(codes.length).toBeGreaterThan(40);
  for (const code of codes) {
    const [page = "", anchor] = new WardgateError(code, "").page.split("#");
    expect(anchor).toBe(code);
    expect(read(`../../../${page}`)).toContain(`\n### \`${code}\`\n`);
  }
});
