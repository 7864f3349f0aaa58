// Similar rules, groups, comparisons and indices through the public API, and arguments of the wrong kind.

import { beforeAll, describe, expect, it } from "vitest";

import { analyze, compare, indexOf, similar, type IndexOptions, type PolicyFiles, type PolicyIndex, type SimilarQuery } from "./analysis.ts";
import { AnalysisInstance } from "./analysis-abi.ts";

const policy = (kind: string, rules: readonly string[]) => `apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: ${kind}
  version: default
  importDerivedRoles: [common]
  rules:
${rules.map((rule) => `    - ${rule}\n`).join("")}`;
const owners = "{ name: owners, actions: [edit], derivedRoles: [owner], effect: EFFECT_ALLOW, condition: { match: { expr: R.attr.open == true } } }";
const roles = `apiVersion: api.cerbos.dev/v1
derivedRoles:
  name: common
  definitions: [{ name: owner, parentRoles: [user], condition: { match: { expr: P.id == R.attr.owner } } }]
`;
const files = {
  "album.yaml": policy("album", [owners, "{ name: admins, actions: [edit], roles: [admin], effect: EFFECT_ALLOW }"]),
  "photo.yaml": policy("photo", [owners]),
  "roles.yaml": roles,
};

describe("similar", () => {
  it("finds the rules that are most like a rule", async () => {
    const { rules, diagnostics } = await similar(files, { to: "resource.album.vdefault#owners" }, { top: 1, directory: "policies" });
    expect(diagnostics).toEqual([]);
    expect(rules).toMatchObject([{ policy: "resource.album.vdefault", rule: "owners", matches: [{ file: "policies/photo.yaml", line: 7, column: 7, score: 1, rules: 1 }] }]);
    expect(rules![0]!.matches[0]!.differs).toEqual([{ part: "kind", query: ["album"], other: ["photo"] }]);
    const all = await similar(files, { to: "resource.album.vdefault" });
    expect(all.rules!.map(({ rule, matches }) => [rule, matches.length])).toEqual([["owners", 2], ["admins", 1]]);
  });

  it("takes a draft that imports from the files", async () => {
    const { rules } = await similar(files, { draft: policy("film", [owners]), path: "film.yaml" });
    expect(rules).toMatchObject([{ policy: "resource.film.vdefault", matches: [{ rules: 2, score: 1 }, { rule: "admins" }] }]);
    const broken = await similar(files, { draft: policy("film", ["{ actions: [x], derivedRoles: [nobody], effect: EFFECT_ALLOW }"]) });
    expect(broken).toMatchObject({ diagnostics: [{ code: "unknown-derived-role", file: "draft.yaml", line: 7 }] });
    expect(broken.rules).toBeUndefined();
  });

  it("refuses what is not there", async () => {
    await expect(similar(files, { to: "resource.film.vdefault" })).rejects.toThrow(new RangeError("there is no policy or rule `resource.film.vdefault`"));
    await expect(similar(files, { draft: "" })).rejects.toThrow(new RangeError("the draft `draft.yaml` holds no policy"));
    await expect(similar(files, { to: "a" }, { top: 0 })).rejects.toThrow(RangeError);
    await expect(similar(files, { to: "a" }, { top: 1001 })).rejects.toThrow(RangeError);
  });
});

describe("analyze", () => {
  it("finds groups, and only those of some kinds", async () => {
    const { findings } = await analyze(files);
    expect(findings).toMatchObject([{ kind: "same-rule", part: null, across: ["kind"], saves: 0, rules: [{ rule: "owners" }, { rule: "owners" }] }]);
    expect(await analyze(files, { only: ["same-shape"] })).toEqual({ findings: [], diagnostics: [] });
  });

  it("merges rules, with edits", async () => {
    const alike = ["user", "guest"].map((role) => `{ actions: [edit], roles: [${role}], effect: EFFECT_ALLOW }`);
    const { findings } = await analyze({ "album.yaml": policy("album", alike), "roles.yaml": roles }, { only: ["merge"] });
    expect(findings).toMatchObject([{ kind: "merge", parts: ["roles"], saves: 1, edits: [{ file: "album.yaml" }, { file: "album.yaml" }], refused: null }]);
  });

  it.each([{}, { "a.yaml": "" }, { "a.yaml": "a: [" }])("reports that %o is no policy", async (wrong) => {
    expect(await analyze(wrong)).toMatchObject({ diagnostics: [{ severity: "error" }] });
  });
});

describe("compare", () => {
  it("shows who gains by a request", async () => {
    const after = { ...files, "album.yaml": files["album.yaml"].replace("[admin]", "[admin, guest]") };
    const { comparison, diagnostics } = await compare(files, after, { now: 0, directories: ["a", "b"] });
    expect(diagnostics).toEqual({ old: [], new: [] });
    expect(comparison).toMatchObject({ differences: [{ change: "more", kind: "album", roles: ["guest"], actions: ["edit"] }], unknown: [] });
    expect(comparison!.differences[0]).toMatchObject({ old: { allowed: false }, new: { allowed: true, file: "b/album.yaml", line: 8 } });
    expect((await compare(files, files)).comparison).toMatchObject({ differences: [], counts: { targets: 2, sameTargets: 2 } });
  });

  it("reports the errors of each side", async () => {
    const compared = await compare(files, { "a.yaml": "a: [" }, { directories: ["old", "new"] });
    expect(compared).toMatchObject({ diagnostics: { old: [], new: [{ code: "syntax", file: "new/a.yaml" }] } });
    expect(compared.comparison).toBeUndefined();
  });

  it("refuses times and folders that are none", async () => {
    await expect(compare(files, files, { now: new Date(NaN) })).rejects.toThrow(RangeError);
    await expect(compare(files, files, { now: "2024" } as object)).rejects.toThrow(TypeError);
    await expect(compare(files, files, { directories: ["a"] } as object)).rejects.toThrow(TypeError);
  });
});

describe("an index", () => {
  let index: PolicyIndex;
  beforeAll(async () => {
    index = (await indexOf(files)).index!;
  });

  it("takes one changed file at a time", async () => {
    const { index } = await indexOf(files);
    const scores = () => index!.similar({ to: "resource.photo.vdefault" }).rules![0]!.matches.map(({ score }) => score === 1);
    expect(scores()).toEqual([true, false]);
    expect(index!.replace("roles.yaml", roles.replace("[user]", "[guest]"))).toEqual([]);
    expect(scores()).toEqual([true, false]);
    expect(index!.replace("album.yaml", policy("album", ["{ actions: [edit], roles: [guest], effect: EFFECT_ALLOW }"]))).toEqual([]);
    expect(scores()).toEqual([false]);
    expect(index!.replace("photo.yaml", new Uint8Array())).toEqual([]);
    expect(() => index!.similar({ to: "resource.photo.vdefault" })).toThrow(RangeError);
  });

  it("stays as it was after an error", () => {
    const groups = index.groups();
    expect(index.replace("roles.yaml", roles.replace("owner", "author"))).toMatchObject([{ code: "unknown-derived-role", file: "album.yaml" }, { file: "photo.yaml" }]);
    expect(index.replace("photo.yaml", "a: [")).toMatchObject([{ code: "syntax", file: "photo.yaml" }]);
    expect(index.groups()).toEqual(groups);
    expect(index.groups(["same-rule"])).toHaveLength(1);
  });

  it("is made again after a trap", async () => {
    const { index } = await indexOf(files);
    index!.replace("photo.yaml", policy("photo", []).replace("rules:", "rules: [{ actions: [a], roles: [b], effect: EFFECT_DENY }]"));
    const before = index!.similar({ to: "resource.photo.vdefault" });
    const call = AnalysisInstance.prototype.call;
    AnalysisInstance.prototype.call = function (this: AnalysisInstance) {
      AnalysisInstance.prototype.call = call;
      // The module has no way to trap that a test could use.
      this.isLost = true;
      return call.call(this, "groups", { only: 1 }, []);
    };
    expect(() => index!.groups()).toThrow("refused a message of the package");
    expect(index!.similar({ to: "resource.photo.vdefault" })).toEqual(before);
  });
});

describe("an argument of the wrong kind", () => {
  const queries: readonly unknown[] = [undefined, null, [], "resource.a.vdefault", {}, { to: 1 }, { draft: 1 }, { to: "a", draft: "b" }, { to: "a", path: "b" }, { to: "a", top: 1 }];
  it.each(queries)("is a TypeError: query %o", async (query) => {
    await expect(similar(files, query as SimilarQuery)).rejects.toThrow(TypeError);
  });

  const lists: readonly unknown[] = [undefined, null, [files], "text", { "a.yaml": 1 }, new Map([[1, "a"]])];
  it.each(lists)("is a TypeError: files %o", async (wrong) => {
    await expect(analyze(wrong as PolicyFiles)).rejects.toThrow(TypeError);
    await expect(compare(files, wrong as PolicyFiles)).rejects.toThrow(TypeError);
  });

  it("is an error: options", async () => {
    await expect(indexOf(files, { top: 1 } as IndexOptions)).rejects.toThrow(TypeError);
    await expect(indexOf(files, [] as IndexOptions)).rejects.toThrow(TypeError);
    await expect(indexOf(files, { directory: 1 } as object)).rejects.toThrow(TypeError);
    await expect(analyze(files, { only: ["all"] } as object)).rejects.toThrow(RangeError);
    await expect(analyze(files, { only: "same-rule" } as object)).rejects.toThrow(TypeError);
    await expect(analyze(files, { globals: "[" } as object)).rejects.toThrow(TypeError);
  });
});

describe("hostile input", () => {
  it("is refused or answered: huge texts, many files, many rules, deep conditions", async () => {
    expect(await analyze({ "a.yaml": " ".repeat(2 ** 25 + 9) })).toMatchObject({ diagnostics: [{ code: "limit" }] });
    const many = new Map(Array.from({ length: 10_000 }, (_, at) => [`${at}.yaml`, "a: ["]));
    expect((await analyze(many)).diagnostics).toHaveLength(10_000);
    const rules = Array.from({ length: 5_000 }, (_, at) => `{ actions: [a${at % 50}], roles: [r${at % 7}], effect: EFFECT_ALLOW, condition: { match: { expr: R.attr.n == ${at} } } }`);
    const large = { "roles.yaml": roles, "large.yaml": policy("large", rules) };
    const { index } = await indexOf(large);
    expect(index!.similar({ to: "resource.large.vdefault#rule-001" }, 3).rules![0]!.matches).toHaveLength(3);
    expect(index!.groups().length).toBeGreaterThan(0);
    const deep = `${"(".repeat(5_000)}R.attr.a${")".repeat(5_000)}`;
    const condition = `{ actions: [a], roles: [b], effect: EFFECT_ALLOW, condition: { match: { expr: "${deep}" } } }`;
    const { diagnostics } = await analyze({ "roles.yaml": roles, "deep.yaml": policy("deep", [condition]) });
    expect(diagnostics).toHaveLength(1);
  });
});
