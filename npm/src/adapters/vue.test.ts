// The composables in the real Vue, in a window without a screen.

import { Window } from "happy-dom";
import { afterAll, describe, expect, it, vi } from "vitest";

import type { WardgateParts } from "./vue.ts";
import { decide } from "./view.ts";
import { open } from "../pdp/open.ts";
import { album, atNoon, closed, openAlbum, viewing } from "../testing.ts";
import type { Pdp } from "../pdp/types.ts";

// Vue looks for the document when it is loaded.
const window = new Window() as unknown as typeof globalThis;
for (const name of ["window", "document", "Element", "SVGElement", "MathMLElement"] as const) vi.stubGlobal(name, name === "window" ? window : window[name as "document"]);
const { createApp, defineComponent, h, nextTick, shallowRef } = await import("vue");
const { Can, provideWardgate, useCan, useDecision, useFilter } = await import("./vue.ts");
afterAll(() => void vi.unstubAllGlobals());

const { principal, resource } = viewing();
const mine = { ...resource, attr: { owner: "ada" } };
const other = { ...resource, id: "a2", attr: { owner: "bo" } };
const pdp = await openAlbum();
const decisions = decide(pdp, principal, [mine, other].map((one) => ({ action: "edit", resource: one })));

const Shows = defineComponent(() => {
  const [decision, can] = [useDecision("edit", mine), useCan("edit", mine)];
  const rows = useFilter("edit", ["ada", "bo"], (owner) => (owner === "ada" ? mine : other));
  const slots = { default: () => "edit", loading: () => "…", fallback: () => "look only" };
  return () => [decision.value.state, String(can.value), rows.value.rows.join(), h(Can, { action: "edit", resource: other }, slots), h(Can, { action: "edit", resource: other, not: true }, slots)]
    .flatMap((one) => [one, "|"]);
});

function shown(first: WardgateParts) {
  const parts = shallowRef(first);
  const page = window.document.createElement("div");
  const app = createApp(defineComponent(() => (provideWardgate(parts), () => h(Shows))));
  app.mount(page);
  return { parts, app, text: async () => (await nextTick(), page.textContent) };
}

describe("Vue", () => {
  it("shows decisions of the server, and of the PDP once it is there", async () => {
    let arrive: (pdp: Pdp) => void = () => {};
    const { parts, app, text } = shown({ principal });
    expect(await text()).toBe("loading|false||…|…|");
    parts.value = { principal, decisions };
    expect(await text()).toBe("allowed|true|ada|look only|edit|");
    parts.value = { principal, pdp: () => new Promise((resolve) => (arrive = resolve)) };
    expect(await text()).toBe("loading|false||…|…|");
    await vi.waitFor(async () => (arrive(pdp), expect(await text()).toBe("allowed|true|ada|look only|edit|")));
    parts.value = { principal: null, pdp };
    expect(await text()).toBe("denied|false||look only|edit|");
    app.unmount();
  });

  it("follows the bundle in use, until the page is gone", async () => {
    using own = await open(album, atNoon);
    const { app, text } = shown({ principal, pdp: own });
    expect(await text()).toContain("allowed");
    own.reload(closed);
    expect(await text()).toContain("denied");
    app.unmount();
    expect(() => own.reload(album)).not.toThrow();
  });

  it("denies what the server did not decide if the PDP cannot be loaded, and says so", async () => {
    const errors: unknown[] = [];
    const { app, text } = shown({ principal, decisions: { ...decisions, answers: {} }, pdp: Promise.reject(new Error("offline")), onError: (error) => errors.push(error) });
    await vi.waitFor(async () => expect(await text()).toContain("denied"));
    expect(errors).toMatchObject([{ message: "offline" }]);
    app.unmount();
  });

  it("needs what `provideWardgate` provides", () => {
    const app = createApp(Shows);
    app.config.warnHandler = () => {};
    expect(() => app.mount(window.document.createElement("div"))).toThrow("`useDecision` must be used after or below a call of `provideWardgate`");
  });
});
