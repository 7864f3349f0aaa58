// Shared data of the tests: bundles, keys, requests, every method that decides, and a PDP with a
// fixed clock.

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { AddressInfo, Server } from "node:net";
import { fileURLToPath } from "node:url";

import { expect } from "vitest";

import type { Code } from "./base/errors.ts";
import type { PublicJwk } from "./pdp/keys.ts";
import { open } from "./pdp/open.ts";
import { readOptions } from "./pdp/options.ts";
import type { ActionRequest, CheckRequest, Resource } from "./pdp/request-types.ts";
import type { Accessors, Pdp, Target } from "./pdp/types.ts";

/** `fixtures/album`, compiled by `cargo xtask test` before the tests run. */
export const album = fixture("album.bundle");

/** `fixtures/closed`: the same kinds, with every action denied. */
export const closed = fixture("closed.bundle");

/** `fixtures/unusual`: one rule for each way of reading an attribute. */
export const unusual = fixture("unusual.bundle");

/** The album as revision 7, signed with `releaseKey` for the year 2024. */
export const signed = trustFile("signed.bundle");
export const releaseKey = jwk("release.pub");

/** The time of every test. */
export const noon = Date.UTC(2024, 4, 6, 12);

/** The terms that accept unsigned bundles. */
export const unsignedTerms: Uint8Array = readOptions({ trust: "unsigned" }).terms;

/** The options that accept unsigned bundles, with the time of every test. */
export const atNoon = { trust: "unsigned", clock: () => noon } as const;

export async function openAlbum(): Promise<Pdp> {
  return open(album, atNoon);
}

interface Changes {
  readonly principal?: object;
  readonly resource?: object;
  readonly request?: object;
}

/** Returns a request that the album allows, with changes by name. */
export function viewing(changes: Changes = {}): ActionRequest {
  return {
    principal: { id: "ada", roles: ["user"], ...changes.principal },
    resource: { kind: "album", id: "a1", ...changes.resource },
    action: "view",
    ...changes.request,
  };
}

/** Returns a request to edit an album with these attributes, which its owner may. */
export function editing(attr: unknown): ActionRequest {
  return viewing({ resource: { attr }, request: { action: "edit" } });
}

/** Returns the same request about several actions. */
export function withActions({ action: _, ...rest }: ActionRequest, actions: readonly string[]): CheckRequest {
  return { ...rest, actions };
}

/**
 * Decides by one method. Wherever the method takes a part of the request, `make` makes it anew;
 * `target` is what the request is about.
 */
type Decide = (pdp: Pdp, make: () => ActionRequest, target: Target) => boolean;
type Ways = readonly (readonly [name: string, decide: Decide])[];

/** The methods that decide on one resource. */
export const onOne: Ways = [
  ["isAllowed", (pdp, make) => pdp.isAllowed(make())],
  ["isAllowedMany", (pdp, make) => pdp.isAllowedMany([make()])[0]!],
  ["for", (pdp, make, { action }) => pdp.for(make().principal, make().auxData).isAllowed(action, make().resource)],
  ["prepare", (pdp, make, target) => pdp.prepare(target).isAllowed(make().principal, make().resource, make().auxData)],
  ["for and prepare", (pdp, make, target) => pdp.for(make().principal, make().auxData).prepare(target).isAllowed(make().resource)],
];

/** The methods that decide on a list: of one resource, and of enough for a batch. */
export const onLists: Ways = [
  ["filter of a few", (pdp, make, { action }) => pdp.filter({ principal: make().principal, action, resources: [make().resource], auxData: make().auxData }).length === 1],
  ["filter", (pdp, make, { action }) => keepsAll(make, (resources) => pdp.filter({ principal: make().principal, action, resources, auxData: make().auxData }))],
  ["for and filter", (pdp, make, { action }) => keepsAll(make, (resources) => pdp.for(make().principal, make().auxData).filter(action, resources))],
];

/** The methods that read the whole request. */
export const inFull: Ways = [
  ["check", (pdp, make, { action }) => pdp.check(withActions(make(), [action])).actions[action]?.effect === "allow"],
  ["explain", (pdp, make, { action }) => pdp.explain(make()).decision.actions[action]?.effect === "allow"],
];

/** Returns true if a filter keeps all of 20 equal resources, and false if it keeps none. */
function keepsAll(make: () => ActionRequest, filter: (resources: Resource[]) => readonly Resource[]): boolean {
  const { length } = filter(Array.from({ length: 20 }, () => make().resource));
  if (length !== 0 && length !== 20) throw new Error(`${length} of 20 are kept`);
  return length > 0;
}

/** Returns the value that a function throws; `undefined` if it returns. */
export function thrownBy(act: () => unknown): unknown {
  try {
    act();
    return undefined;
  } catch (thrown) {
    return thrown;
  }
}

/** Matches an error of the package by its code. */
export function ofCode(code: Code): Error {
  return expect.objectContaining({ name: "WardgateError", code }) as Error;
}

/** Runs a program with Node in the folder of the built package, and returns its output. */
export function node(words: readonly string[], timeout = 0): string {
  const cwd = fileURLToPath(new URL("..", import.meta.url));
  return execFileSync(process.execPath, words, { cwd, encoding: "utf8", timeout });
}

/** Waits until a server listens, and returns its address. */
export async function addressOf(server: Server): Promise<string> {
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Reads a file that `cargo xtask test` made for the tests. */
export function fixture(path: string): NonSharedBuffer {
  return readFileSync(new URL(`../fixtures/${path}`, import.meta.url));
}

/** Loads the accessors for a bundle of the fixtures. */
export async function accessorsOf(name: string): Promise<Accessors> {
  return (await import(fileURLToPath(new URL(`../fixtures/${name}.accessors.js`, import.meta.url)))) as Accessors;
}

/**
 * Reads a file that the command made for the tests: keys, and files that are signed or sealed with
 * them.
 */
export function trustFile(name: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(fixture(`trust/${name}`));
}

/** Reads a key that the command made for the tests. */
export function jwk<Key = PublicJwk>(name: string): Key {
  return JSON.parse(fixture(`trust/${name}.jwk`).toString()) as Key;
}

/** Returns a copy of bytes with one bit changed. */
export function edited(original: Uint8Array, at = 0): Uint8Array {
  const copy = original.slice();
  copy[at]! ^= 1;
  return copy;
}
