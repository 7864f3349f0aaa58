// Policy tests through the public API: results, options, and errors.

import { describe, expect, it } from "vitest";

import { compile, test, type TestOptions } from "./compiler.ts";
import { fixture } from "../testing.ts";

const policy = fixture("album/album.yaml").toString();
const suite = `
name: Albums
principals: { ann: { id: ann, roles: [nobody] } }
resources: { beach: { kind: album, id: a1 } }
tests:
  - name: Strangers
    input: { principals: [ann], resources: [beach], actions: [fly, swim] }
    expected:
      - { principal: ann, resource: beach, actions: { fly: EFFECT_DENY, swim: EFFECT_ALLOW } }
`;
const files = { "album.yaml": policy, "deep/album_test.yaml": suite };

describe("test", () => {
  it("reports every action", async () => {
    const { results, junit, diagnostics } = await test(files, { emitJunit: true });
    expect(diagnostics).toEqual([]);
    expect(results).toMatchObject({
      suites: [{ file: "deep/album_test.yaml", name: "Albums", testCases: [{ name: "Strangers" }] }],
      summary: { overallResult: "RESULT_FAILED", testsCount: 2 },
    });
    const [fly, swim] = results!.suites[0]!.testCases![0]!.principals[0]!.resources[0]!.actions;
    expect(fly!.details).toEqual({ result: "RESULT_PASSED", success: { effect: "EFFECT_DENY" } });
    expect(swim).toMatchObject({ line: 9, details: { failure: { expected: "EFFECT_ALLOW", actual: "EFFECT_DENY" } } });
    expect(junit).toContain('<testcase file="deep/album_test.yaml" classname="ann.beach.swim" name="Strangers">');
  });

  it("runs the selected tests", async () => {
    const summary = async (options: TestOptions) => (await test(files, options)).results?.summary;
    expect(await summary({ filter: "action=fly" })).toMatchObject({ overallResult: "RESULT_PASSED", testsCount: 1 });
    expect(await summary({ run: "^Nobody/" })).toMatchObject({ overallResult: "RESULT_SKIPPED", testsCount: 2 });
    expect((await test({ "album.yaml": policy })).results).toEqual({ suites: [], summary: {} });
  });

  it("reports errors in policies and in suites", async () => {
    const broken = await test({ ...files, "wrong.yaml": "apiVersion: 1" });
    expect(broken.results).toBeUndefined();
    expect(broken.diagnostics[0]).toMatchObject({ file: "wrong.yaml" });
    const { results } = await test({ ...files, "deep/album_test.yaml": suite.replace("[ann]", "[bob]") });
    expect(results?.suites[0]).toMatchObject({ diagnostics: [{ code: "unknown-fixture" }, { code: "unreachable-expectation" }] });
  });

  it("refuses options that are not possible", async () => {
    await expect(test(files, { run: "(" })).rejects.toThrow(RangeError);
    await expect(test(files, { filter: "who=ann" })).rejects.toThrow(RangeError);
    await expect(test(files, { name: "a" } as object)).rejects.toThrow("unknown option `name`");
    await expect(test(files, { run: 1 } as object)).rejects.toThrow(TypeError);
    expect((await compile(files)).diagnostics).toEqual([]);
  });
});
