// The functions in the real Angular, in a window without a screen. Its compiler reads the templates while the test runs.

import "@angular/compiler";

import { Window } from "happy-dom";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";

import type { PageParts } from "./angular.ts";
import { decide, type Difference } from "./view.ts";
import { open } from "../pdp/open.ts";
import { album, atNoon, closed, openAlbum, viewing } from "../testing.ts";
import type { Pdp } from "../pdp/types.ts";

const window = new Window() as unknown as typeof globalThis;
for (const name of ["window", "document", "Element", "Node", "HTMLElement"] as const) vi.stubGlobal(name, name === "window" ? window : window[name as "document"]);
const { ApplicationRef, Component, createComponent, provideZonelessChangeDetection, signal } = await import("@angular/core");
const { createApplication } = await import("@angular/platform-browser");
const { injectCan, injectDecision, injectFilter, provideWardgate } = await import("./angular.ts");
afterAll(() => void vi.unstubAllGlobals());

const { principal, resource } = viewing();
const albums = { mine: { ...resource, attr: { owner: "ada" } }, other: { ...resource, id: "a2", attr: { owner: "bo" } } };
const pdp = await openAlbum();
const decisions = decide(pdp, principal, Object.values(albums).map((one) => ({ action: "edit", resource: one })));

const mine = signal(albums.mine);
/** The text of each rendering in which it changed. */
let painted: string[] = [];

class Answers {
  readonly edit = injectDecision("edit", mine);
  readonly may = injectCan("edit", mine);
  readonly found = injectFilter("edit", ["ada", "bo"], (owner) => (owner === "ada" ? mine() : albums.other));
  readonly other = injectDecision("edit", albums.other);
  told(text: string): string {
    if (painted.at(-1) !== text) painted.push(text);
    return text;
  }
}
const template = "{{ told(edit().state + '|' + may() + '|' + found().rows.join() + '|') }}@if (other().state === 'denied') { not yours }";
const AnswersComponent = Component({ selector: "answers-of", template })(Answers) ?? Answers;

let leave: (() => void) | undefined;
afterEach(() => {
  leave?.();
  leave = undefined;
  painted = [];
  mine.set(albums.mine);
});

async function shown(first: PageParts) {
  const parts = signal(first);
  const app = await createApplication({ providers: [provideZonelessChangeDetection(), provideWardgate(() => parts)] });
  leave = () => app.destroy();
  const hostElement = window.document.createElement("div");
  const component = createComponent(AnswersComponent, { environmentInjector: app.injector, hostElement });
  app.injector.get(ApplicationRef).attachView(component.hostView);
  const text = async (): Promise<string> => (await app.whenStable(), hostElement.textContent.trim());
  return { parts, text, app };
}

describe("Angular", () => {
  it("shows decisions of the server, and of the PDP once it is there", async () => {
    let arrive: (pdp: Pdp) => void = () => {};
    const load = vi.fn(() => new Promise<Pdp>((resolve) => (arrive = resolve)));
    const { parts, text } = await shown({ principal });
    expect(await text()).toBe("loading|false||");
    parts.set({ principal, decisions });
    expect(await text()).toBe("allowed|true|ada| not yours");
    parts.set({ principal, pdp: load });
    expect(await text()).toBe("loading|false||");
    // The principal is another object, and the function is not called again.
    parts.set({ principal: { ...principal }, pdp: load });
    await vi.waitFor(async () => (arrive(pdp), expect(await text()).toBe("allowed|true|ada| not yours")));
    expect(load).toHaveBeenCalledOnce();
    mine.set({ ...albums.mine, attr: { owner: "eve" } });
    expect(await text()).toBe("denied|false|| not yours");
    parts.set({ principal: null, pdp });
    expect(await text()).toBe("denied|false|| not yours");
  });

  it("follows the bundle in use, until the page is gone", async () => {
    using own = await open(album, atNoon);
    const { text } = await shown({ principal, pdp: own });
    expect(await text()).toBe("allowed|true|ada| not yours");
    own.reload(closed);
    expect(await text()).toBe("denied|false|| not yours");
    leave?.();
    leave = undefined;
    expect(() => own.reload(album)).not.toThrow();
  });

  it("denies what the server did not decide if the PDP cannot be loaded, and says so", async () => {
    const errors: unknown[] = [];
    const { text } = await shown({ principal, decisions: { ...decisions, answers: {} }, pdp: () => Promise.reject(new Error("offline")), onError: (error) => errors.push(error) });
    await vi.waitFor(async () => expect(await text()).toBe("denied|false|| not yours"));
    expect(errors).toMatchObject([{ message: "offline" }]);
  });

  it("paints first as the server did, also if the PDP is there and says otherwise, and says where both differ", async () => {
    using denying = await open(closed, atNoon);
    const differences = signal<readonly Difference[]>([]);
    const onDifference = (difference: Difference): void => differences.update((before) => [...before, difference]);
    const { text } = await shown({ principal, decisions, pdp: denying, onDifference });
    expect(await text()).toBe("denied|false|| not yours");
    expect(painted).toEqual(["allowed|true|ada|", "denied|false||"]);
    await vi.waitFor(() => expect(differences()).toMatchObject([{ action: "edit", resource: albums.mine, server: true, page: false, samePolicies: false }]));
  });

  it("shows the page of the documentation", async () => {
    const { AlbumPage, providers, Session } = await import("../../example/angular.ts");
    const app = await createApplication({ providers: [provideZonelessChangeDetection(), providers] });
    leave = () => app.destroy();
    const hostElement = window.document.createElement("div");
    app.injector.get(ApplicationRef).attachView(createComponent(AlbumPage, { environmentInjector: app.injector, hostElement }).hostView);
    const session = app.injector.get(Session);
    const html = async (): Promise<string> => (await app.whenStable(), hostElement.innerHTML.replaceAll(/<!--.*?-->|<\/?album-card>/g, "").trim());
    session.albums.set([{ id: "a1", owner: "ada" }, { id: "a2", owner: "bo" }]);
    expect(await html()).toBe("<p>one moment</p>");
    session.principal.set(principal);
    session.pdp.set(pdp);
    expect(await html()).toBe("<section><button>edit</button></section><section> look only<small>by bo</small></section>");
  });

  it("needs what `provideWardgate` provides", async () => {
    const app = await createApplication({ providers: [provideZonelessChangeDetection()] });
    leave = () => app.destroy();
    expect(() => createComponent(AnswersComponent, { environmentInjector: app.injector, hostElement: window.document.createElement("div") })).toThrow("`injectDecision` needs `provideWardgate` among the providers");
  });
});
