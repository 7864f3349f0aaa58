// The functions in the real Svelte: on a server, and in a window without a screen.

import { Window } from "happy-dom";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";

import type { PageParts } from "./svelte.ts";
import { decide, type Difference } from "./view.ts";
import { open } from "../pdp/open.ts";
import { album, atNoon, closed, openAlbum, viewing } from "../testing.ts";
import type { Resource } from "../pdp/request-types.ts";
import type { Pdp } from "../pdp/types.ts";

// The import condition of Node is for servers: render there first, and then take the modules for browsers.
const { render } = await import("svelte/server");
const { default: ServerPage } = await import("./testing-page.svelte?server");
const { default: ServerExample } = await import("../../example/AlbumPage.svelte?server");
vi.resetModules();
vi.doMock("svelte", () => import(new URL("../../node_modules/svelte/src/index-client.js", import.meta.url).href));
for (const name of ["store", "reactivity"]) {
  vi.doMock(`svelte/${name}`, () => import(new URL(`../../node_modules/svelte/src/${name}/index-client.js`, import.meta.url).href));
}
const window = new Window() as unknown as typeof globalThis;
for (const name of ["window", "document", "navigator", "Element", "Node", "Text", "Comment", "DocumentFragment", "HTMLElement"] as const) vi.stubGlobal(name, name === "window" ? window : window[name as "document"]);
const { flushSync, hydrate, mount, unmount } = await import("svelte");
const { fromStore, writable } = await import("svelte/store");
const { default: Page } = await import("./testing-page.svelte");
const { default: Example } = await import("../../example/AlbumPage.svelte");
const { decisionsFor } = await import("../../example/pages.ts");
afterAll(() => void vi.unstubAllGlobals());

const { principal, resource } = viewing();
const albums = { mine: { ...resource, attr: { owner: "ada" } }, other: { ...resource, id: "a2", attr: { owner: "bo" } } };
const pdp = await openAlbum();
const decisions = decide(pdp, principal, Object.values(albums).map((one) => ({ action: "edit", resource: one })));

let leave: (() => unknown) | undefined;
afterEach(async () => {
  await leave?.();
  leave = undefined;
});

/** Shows the page in a new element, or brings an element to life that a server has filled. */
function shown(first: PageParts, html?: string) {
  const [parts, mine] = [writable(first), writable<Resource | null>(albums.mine)];
  const [now, its] = [fromStore(parts), fromStore(mine)];
  const target = window.document.createElement("div");
  target.innerHTML = html ?? "";
  const props = { other: albums.other, get parts() { return now.current; }, get mine() { return its.current; } };
  const page = (html === undefined ? mount : hydrate)(Page, { target, props });
  leave = () => unmount(page);
  return { parts, mine, text: () => (flushSync(), textOf(target)) };
}

function textOf(target: HTMLElement): string {
  return target.textContent.trim();
}

describe("Svelte", () => {
  it("shows decisions of the server, and of the PDP once it is there", async () => {
    let arrive: (pdp: Pdp) => void = () => {};
    const load = vi.fn(() => new Promise<Pdp>((resolve) => (arrive = resolve)));
    const { parts, mine, text } = shown({ principal });
    expect(text()).toBe("loading|false||loading|");
    parts.set({ principal, decisions });
    expect(text()).toBe("allowed|true|ada|denied|");
    parts.set({ principal, pdp: load });
    expect(text()).toBe("loading|false||loading|");
    // The principal is another object, and the function is not called again.
    parts.set({ principal: { ...principal }, pdp: load });
    await vi.waitFor(() => (arrive(pdp), expect(text()).toBe("allowed|true|ada|denied|")));
    expect(load).toHaveBeenCalledOnce();
    mine.set({ ...albums.mine, attr: { owner: "eve" } });
    expect(text()).toBe("denied|false||denied|");
    parts.set({ principal: null, pdp });
    expect(text()).toBe("denied|false||denied|");
  });

  it("follows the bundle in use, until the page is gone", async () => {
    using own = await open(album, atNoon);
    const { text } = shown({ principal, pdp: own });
    expect(text()).toBe("allowed|true|ada|denied|");
    own.reload(closed);
    expect(text()).toBe("denied|false||denied|");
    await leave?.();
    leave = undefined;
    expect(() => own.reload(album)).not.toThrow();
  });

  it("denies what the server did not decide if the PDP cannot be loaded, and says so", async () => {
    const errors: unknown[] = [];
    const { text } = shown({ principal, decisions: { ...decisions, answers: {} }, pdp: Promise.reject(new Error("offline")), onError: (error) => errors.push(error) });
    await vi.waitFor(() => expect(text()).toBe("denied|false||denied|"));
    expect(errors).toMatchObject([{ message: "offline" }]);
  });

  it("comes to life as the server painted it, also if the PDP is there and says otherwise", async () => {
    using denying = await open(closed, atNoon);
    const differences: Difference[] = [];
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const load = vi.fn(() => denying);
    const { body } = render(ServerPage, { props: { ...albums, parts: { principal, decisions, pdp: load } } });
    expect([body.replaceAll(/<!--.*?-->/g, "").trim(), load.mock.calls]).toEqual(["allowed|true|ada|denied|", []]);
    const { text } = shown({ principal, decisions, pdp: denying, onDifference: (difference) => differences.push(difference) }, body);
    expect(text()).toBe("denied|false||denied|");
    await vi.waitFor(() => expect(differences).toMatchObject([{ action: "edit", resource: albums.mine, server: true, page: false, samePolicies: false }]));
    expect(warn.mock.calls).toEqual([]);
    warn.mockRestore();
  });

  it("brings the page of the documentation to life, without a warning", () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const mine = [{ id: "a1", owner: "ada" }, { id: "a2", owner: "bo" }];
    const props = { albums: mine, principal, decisions: decisionsFor(pdp, principal, mine), pdp };
    const target = window.document.createElement("div");
    target.innerHTML = render(ServerExample, { props }).body;
    const [painted, button] = [textOf(target), target.querySelector("button")];
    const page = hydrate(Example, { target, props });
    leave = () => unmount(page);
    flushSync();
    expect([textOf(target), target.querySelector("button"), warn.mock.calls]).toEqual([painted, button, []]);
    warn.mockRestore();
  });

  it("needs what `provideWardgate` provides", () => {
    const target = window.document.createElement("div");
    const props = { ...albums, parts: { principal }, isProvided: false };
    expect(() => mount(Page, { target, props })).toThrow("`useDecision` must be used after or below a call of `provideWardgate`");
  });
});
