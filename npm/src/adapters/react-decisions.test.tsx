// Decisions of a server on a page of React: the first paint, the PDP that comes later, and where both differ.

import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { fileURLToPath } from "node:url";

import { Window } from "happy-dom";
import type { ReactElement, ReactNode } from "react";
import { renderToString } from "react-dom/server";
import { build } from "rolldown";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Difference, Shown, WardgateProps } from "./react.ts";
import { decide } from "./view.ts";
import { album, atNoon, closed, openAlbum, viewing } from "../testing.ts";
import { open } from "../pdp/open.ts";
import type { Resource } from "../pdp/request-types.ts";
import type { Pdp } from "../pdp/types.ts";

const window = new Window() as unknown as typeof globalThis;
vi.stubGlobal("window", window);
vi.stubGlobal("document", window.document);
vi.stubGlobal("navigator", window.navigator);
vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
const { act } = await import("react");
const { createRoot, hydrateRoot } = await import("react-dom/client");
const { Can, useDecision, useFilter, WardgateProvider } = await import("./react.ts");
afterAll(() => void vi.unstubAllGlobals());

const { principal, resource } = viewing();
const mine = { ...resource, attr: { owner: "ada" } };
const other = { ...resource, id: "a2", attr: { owner: "bo" } };
const pdp = await openAlbum();
const decisions = JSON.parse(JSON.stringify(decide(pdp, principal, [{ action: "edit", resource: mine }, { action: "edit", resource: other }]))) as ReturnType<typeof decide>;

let page: HTMLElement;
let root: ReturnType<typeof createRoot> | undefined;
let errors: ReturnType<typeof vi.spyOn>;
beforeEach(() => {
  page = window.document.createElement("div");
  errors = vi.spyOn(console, "error").mockImplementation(() => {});
});
afterEach(async () => {
  await act(async () => root?.unmount());
  root = undefined;
  errors.mockRestore();
});

const within = (children: ReactNode, props: Partial<WardgateProps>): ReactElement => <WardgateProvider principal={principal} {...props}>{children}</WardgateProvider>;

async function shown(children: ReactNode, props: Partial<WardgateProps>): Promise<string> {
  root ??= createRoot(page);
  await act(async () => root!.render(within(children, props)));
  return page.textContent;
}

const edit = (on: Resource | null | undefined): ReactElement => <Can action="edit" resource={on} loading="…" fallback="look only">edit</Can>;

function State({ on, tell }: { readonly on: Resource | null | undefined; readonly tell?: (decision: Shown) => void }): ReactNode {
  const decision = useDecision("edit", on);
  tell?.(decision);
  return decision.state;
}

describe("a decision", () => {
  it("has three states, and says why it is denied", async () => {
    const seen: Shown[] = [];
    const state = async (on: Resource | null | undefined, props: Partial<WardgateProps>): Promise<Shown> => {
      await shown(<State on={on} tell={(decision) => void seen.push(decision)} />, props);
      return seen.at(-1)!;
    };
    expect(await state(mine, {})).toEqual({ state: "loading" });
    expect(await state(mine, { pdp })).toMatchObject({ state: "allowed", reason: { kind: "rule" } });
    expect(await state({ ...mine, kind: "safe" }, { pdp })).toEqual({ state: "denied", reason: { kind: "no-policy" } });
    expect(await state(other, { decisions })).toEqual({ state: "denied" });
    expect(await state(mine, { pdp, principal: null })).toEqual({ state: "denied", reason: { kind: "no-principal" } });
    expect(await state(mine, { pdp, principal: undefined })).toEqual({ state: "loading" });
    expect(await state(null, { pdp })).toEqual({ state: "denied", reason: { kind: "no-resource" } });
    expect(await state(undefined, { pdp })).toEqual({ state: "loading" });
  });

  it("renders again only if it changed", async () => {
    using own = await open(album, atNoon);
    let renders = 0;
    expect(await shown(<State on={mine} tell={() => void (renders += 1)} />, { pdp: own })).toBe("allowed");
    renders = 0;
    await act(async () => own.reload(album));
    expect(renders).toBe(0);
    await act(async () => own.reload(closed));
    expect([page.textContent, renders]).toEqual(["denied", 1]);
  });
});

describe("Can", () => {
  it("shows children, fallback or loading", async () => {
    const three = [edit(mine), "|", edit(other), "|", edit(undefined)];
    expect(await shown(three, { pdp })).toBe("edit|look only|…");
    expect(await shown(three, {})).toBe("…|…|…");
    expect(await shown(three, { decisions })).toBe("edit|look only|…");
  });

  it("with `not` shows its children if the action is denied, and never while it is loading", async () => {
    const not = (on: Resource): ReactElement => <Can not action="edit" resource={on} loading="…" fallback="edit">ask the owner</Can>;
    expect(await shown([not(mine), "|", not(other)], { pdp })).toBe("edit|ask the owner");
    expect(await shown(not(other), {})).toBe("…");
  });

  it("calls a function with the decision in every state", async () => {
    const button = <Can action="edit" resource={other}>{({ state }) => <button disabled={state !== "allowed"}>{state}</button>}</Can>;
    expect(await shown(button, {})).toBe("loading");
    expect(await shown(button, { pdp })).toBe("denied");
  });
});

describe("useFilter", () => {
  const rows = ["ada", "bo", "ada"];
  function Rows(): ReactNode {
    const found = useFilter("edit", rows, ownedBy);
    return `${found.state} ${found.rows.join()}`;
  }
  const ownedBy = (owner: string): Resource => (owner === "ada" ? mine : other);

  it("returns the allowed rows, by the PDP or by decisions about all of them", async () => {
    expect(await shown(<Rows />, { pdp })).toBe("ready ada,ada");
    expect(await shown(<Rows />, { decisions })).toBe("ready ada,ada");
    expect(await shown(<Rows />, { decisions: decide(pdp, principal, [{ action: "edit", resource: mine }]) })).toBe("loading ");
    expect(await shown(<Rows />, { pdp, principal: undefined })).toBe("loading ");
    expect(await shown(<Rows />, { pdp, principal: null })).toBe("ready ");
  });

  it("follows the bundle in use", async () => {
    using own = await open(album, atNoon);
    await shown(<Rows />, { pdp: own });
    await act(async () => own.reload(closed));
    expect(page.textContent).toBe("ready ");
  });
});

describe("decisions of the server", () => {
  it("are plain JSON without attributes, and reasons only on request", () => {
    expect(JSON.stringify(decisions)).not.toContain("ada\"}");
    expect(Object.values(decisions.answers)).toEqual([{ allowed: true }, { allowed: false }]);
    expect(decisions).toMatchObject({ digest: pdp.header.content, principal: "ada" });
    const told = decide(pdp, principal, [{ action: "edit", resource: mine }], { reasons: true });
    expect(Object.values(told.answers)).toMatchObject([{ allowed: true, reason: { kind: "rule" } }]);
  });

  it("count for their principal, kind, id, scope and version alone", async () => {
    expect(await shown(edit(mine), { decisions, principal: { id: "bo", roles: ["user"] } })).toBe("…");
    for (const changed of [{ kind: "safe" }, { id: "a9" }, { scope: "acme" }, { policyVersion: "2" }]) {
      expect(await shown(edit({ ...mine, ...changed }), { decisions })).toBe("…");
    }
  });

  it("make the first paint of the page, without a warning, also if the PDP is there and says otherwise", async () => {
    using denying = await open(closed, atNoon);
    const differences: Difference[] = [];
    const props = { decisions, onDifference: (difference: Difference) => differences.push(difference) };
    const children = [edit(mine), "|", edit(other)].map((one, key) => <b key={key}>{one}</b>);
    page.innerHTML = renderToString(within(children, props));
    expect(page.textContent).toBe("edit|look only");
    const painted: string[] = [];
    await act(async () => {
      root = hydrateRoot(page, within(children, { ...props, pdp: denying }), { onRecoverableError: (error) => painted.push(String(error)) });
    });
    expect([page.textContent, painted, errors.mock.calls]).toEqual(["look only|look only", [], []]);
    expect(differences).toMatchObject([{ action: "edit", resource: mine, server: true, page: false, samePolicies: false }]);
  });

  it("answer until the PDP is loaded, which is asked for once", async () => {
    let calls = 0;
    let arrive: (pdp: Pdp) => void = () => {};
    const lazy = (): Promise<Pdp> => ((calls += 1), new Promise((resolve) => (arrive = resolve)));
    const safe = { ...mine, id: "a7" };
    expect(await shown([edit(mine), "|", edit(safe)], { decisions, pdp: lazy })).toBe("edit|…");
    await act(async () => arrive(pdp));
    expect([page.textContent, calls]).toEqual(["edit|edit", 1]);
    expect(await shown([edit(mine), "|", edit(safe)], { decisions, pdp: lazy })).toBe("edit|edit");
    expect(calls).toBe(1);
  });

  it("go on answering if the PDP cannot be loaded; all else is denied", async () => {
    const failed: unknown[] = [];
    const lazy = Promise.reject<Pdp>(new Error("offline"));
    const onError = (error: unknown): number => failed.push(error);
    expect(await shown([edit(mine), "|", edit({ ...mine, id: "a7" })], { decisions, pdp: lazy, onError })).toBe("edit|look only");
    expect(failed).toMatchObject([{ message: "offline" }]);
  });

  it("are told of on the console if they differ and no one listens, once each", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const sold = { ...mine, attr: { owner: "eve" } };
    await shown([edit(sold), edit(sold)], { decisions, pdp });
    expect(warn.mock.calls).toEqual([["wardgate: the server allowed edit on album a1, and the page denied it, with the same policies"]]);
    warn.mockRestore();
  });
});

describe.each(["react", "view", "vue", "svelte", "angular"])("dist/%s.js", (name) => {
  it("imports no module, and has at most 2 KiB when minified and compressed", async () => {
    const input = fileURLToPath(new URL(`../../dist/${name}.js`, import.meta.url));
    expect(readFileSync(input, "utf8")).not.toMatch(/WebAssembly|\.wasm|from "\.\//);
    const { output } = await build({ input, external: /^(react|vue|svelte(\/.*)?|@angular\/core)$/, output: { minify: true }, write: false, onLog: () => {} });
    expect(gzipSync(output[0].code, { level: 9 }).length).toBeLessThanOrEqual(2048);
  });
});
