// The components in the real React, in a window without a screen.

import { readFileSync } from "node:fs";

import { Window } from "happy-dom";
import { Component, createElement, type ReactElement, type ReactNode } from "react";
import { renderToString } from "react-dom/server";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";

import type { WardgateProps } from "./react.ts";
import { album, closed, openAlbum, viewing } from "../testing.ts";
import type { Resource } from "../pdp/request-types.ts";
import type { Pdp } from "../pdp/types.ts";

// React looks for the window when it is loaded.
const window = new Window() as unknown as typeof globalThis;
vi.stubGlobal("window", window);
vi.stubGlobal("document", window.document);
vi.stubGlobal("navigator", window.navigator);
vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
const { act } = await import("react");
const { createRoot } = await import("react-dom/client");
const { Can, useCan, WardgateProvider } = await import("./react.ts");
afterAll(() => void vi.unstubAllGlobals());

const { principal, resource } = viewing();
const owned = { ...resource, attr: { owner: "ada" } };

let pdp: Pdp;
let page: HTMLElement;
let root: ReturnType<typeof createRoot>;
let renders = 0;
beforeAll(() => void vi.spyOn(console, "error").mockImplementation(() => {}));
beforeEach(async () => {
  pdp = await openAlbum();
  page = window.document.createElement("div");
  root = createRoot(page, { onCaughtError: () => {} });
  renders = 0;
});
afterEach(async () => {
  await act(async () => root.unmount());
  pdp.dispose();
});

/** Returns the visible text. */
async function shown(children: ReactNode, changes: Partial<WardgateProps> = {}): Promise<string> {
  const provider = createElement(WardgateProvider, { pdp, principal, ...changes }, children);
  await act(async () => root.render(createElement(Boundary, { key: Math.random() }, provider)));
  return page.textContent;
}

function Answer({ action, on }: { readonly action: string; readonly on?: Resource | null }): ReactElement {
  renders += 1;
  return createElement("b", null, useCan(action, on) ? "yes" : "no");
}

function answer(action: string, on: Resource | null | undefined = owned): ReactElement {
  return createElement(Answer, { action, ...(on === undefined ? {} : { on }) });
}

class Boundary extends Component<{ readonly children?: ReactNode }, { readonly failed?: string }> {
  override state: { readonly failed?: string } = {};

  static getDerivedStateFromError(error: Error): { readonly failed: string } {
    return { failed: `${error.name}: ${error.message}` };
  }

  override render(): ReactNode {
    return this.state.failed ?? this.props.children;
  }
}

describe("useCan", () => {
  it("is the answer of the PDP", async () => {
    expect(await shown(answer("view"))).toBe("yes");
    expect(await shown(answer("edit"))).toBe("yes");
    expect(await shown(answer("edit", resource))).toBe("no");
    expect(await shown(answer("edit"), { principal: { id: "bo", roles: ["user"] } })).toBe("no");
  });

  it("is false while a part is missing", async () => {
    expect(await shown(answer("view"), { pdp: undefined })).toBe("no");
    expect(await shown(answer("view"), { pdp: null })).toBe("no");
    expect(await shown(answer("view"), { principal: undefined })).toBe("no");
    expect(await shown(answer("view", null))).toBe("no");
    expect(await shown(createElement(Answer, { action: "view" }))).toBe("no");
  });

  it("changes with the bundle in use, and renders again only if the decision changed", async () => {
    const hidden = { ...resource, kind: "safe" };
    expect(await shown([answer("view"), answer("view", hidden)].map((one, key) => createElement("p", { key }, one)))).toBe("yesno");
    renders = 0;
    await act(async () => pdp.reload(closed));
    expect([page.textContent, renders]).toEqual(["nono", 1]);
    await act(async () => pdp.reload(closed));
    expect(renders).toBe(1);
    await act(async () => pdp.reload(album));
    expect([page.textContent, renders]).toEqual(["yesno", 2]);
  });

  it("follows another PDP, and leaves the first one alone", async () => {
    const other = await openAlbum();
    other.reload(closed);
    const at = (one: Pdp): ReactElement => createElement(WardgateProvider, { pdp: one, principal }, answer("view"));
    await act(async () => root.render(at(pdp)));
    await act(async () => root.render(at(other)));
    expect(page.textContent).toBe("no");
    renders = 0;
    await act(async () => pdp.reload(closed));
    expect(renders).toBe(0);
    await act(async () => other.reload(album));
    expect(page.textContent).toBe("yes");
  });

  it("removes its listener when it unmounts", async () => {
    const stops: (() => void)[] = [];
    const { onReload } = pdp;
    pdp.onReload = (listener) => {
      const stop = vi.fn(onReload.call(pdp, listener));
      stops.push(stop);
      return stop;
    };
    await shown(answer("view"));
    await act(async () => root.render(null));
    expect(stops.length).toBeGreaterThan(0);
    for (const stop of stops) expect(stop).toHaveBeenCalledOnce();
  });

  it("passes errors to the error boundary, and shows nothing", async () => {
    expect(await shown(answer("view", {} as Resource))).toContain("TypeError");
    await act(async () => root.render(createElement(Boundary, { key: "outside" }, answer("view"))));
    expect(page.textContent).toBe("Error: `useCan` must be used inside of a `WardgateProvider`");
    const closed = await openAlbum();
    closed.dispose();
    expect(await shown(answer("view"), { pdp: closed })).toContain("disposed");
  });
});

describe("dist/react.js", () => {
  it("is marked as a client module, which frameworks with server components require", () => {
    const text = readFileSync(new URL("../../dist/react.js", import.meta.url), "utf8");
    expect(text).toMatch(/^(\/\/.*\n|\s)*"use client";/);
  });
});

describe("Can", () => {
  const edit = (on: Resource): ReactElement =>
    createElement(Can, { action: "edit", resource: on, fallback: "look only" }, createElement("button", null, "edit"));

  it("shows its children if the action is allowed", async () => {
    expect(await shown(edit(owned))).toBe("edit");
    expect(await shown(edit(resource))).toBe("look only");
    expect(await shown(createElement(Can, { action: "burn", resource }, "burn"))).toBe("");
  });

  it("renders on a server", () => {
    const page = (principalId: string): string =>
      renderToString(createElement(WardgateProvider, { pdp, principal: { id: principalId, roles: ["user"] } }, edit(owned)));
    expect([page("ada"), page("bo")]).toEqual(["<button>edit</button>", "look only"]);
  });
});
