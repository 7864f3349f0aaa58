// The formatter, through its public API.

import { describe, expect, it } from "vitest";

import { format } from "./compiler.ts";

const loose = `# who may see
apiVersion:   api.cerbos.dev/v1
resourcePolicy: {resource: album,  version: default, rules: []}   # none yet
`;
const laidOut = `# who may see
apiVersion: api.cerbos.dev/v1
resourcePolicy: { resource: album, version: default, rules: [] } # none yet
`;

describe("format", () => {
  it("lays a file out, and leaves one alone that is", async () => {
    expect(await format(loose)).toEqual({ text: laidOut, outcome: "whole", diagnostics: [] });
    expect(await format(new TextEncoder().encode(laidOut))).toMatchObject({ text: laidOut, outcome: "whole" });
    expect(await format("")).toMatchObject({ text: "", diagnostics: [] });
    expect(await format('{"a":1}', { path: "a.json" })).toEqual({ text: '{"a":1}', outcome: "json", diagnostics: [] });
  });

  it("reports an unreadable file by its name", async () => {
    const { text, outcome, diagnostics } = await format("a: [\n", { path: "album.yaml" });
    expect([text, outcome]).toEqual([undefined, undefined]);
    expect(diagnostics).toMatchObject([{ severity: "error", code: "syntax", file: "album.yaml" }]);
    expect((await format("a: \ud800")).diagnostics).toMatchObject([{ code: "syntax", file: "policy.yaml" }]);
  });

  it("refuses an invalid file and invalid options", async () => {
    await expect(format(7 as unknown as string)).rejects.toThrow(TypeError);
    await expect(format("a: 1", { path: 7 } as object)).rejects.toThrow(TypeError);
    await expect(format("a: 1", { width: 80 } as object)).rejects.toThrow(TypeError);
    await expect(format("a: 1", { path: "\ud800" })).rejects.toThrow(RangeError);
  });
});
