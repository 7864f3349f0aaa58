// What the tests share: a bundle, a request that it allows, and a PDP whose clock stands still.

import { readFileSync } from "node:fs";

import { open } from "./open.ts";
import { readOptions } from "./options.ts";
import type { ActionRequest, Pdp } from "./types.ts";

/** `fixtures/album`, compiled by `cargo xtask test` before the tests run. */
export const album: Uint8Array = read("album");

/** `fixtures/closed`: the same kinds, where nobody may do anything. */
export const closed: Uint8Array = read("closed");

/** `fixtures/odd`: one rule for each way of reading an attribute. */
export const odd: Uint8Array = read("odd");

/** The noon at which every test takes place. */
export const noon = Date.UTC(2024, 4, 6, 12);

/** The terms of those who believe anybody. */
export const anybody: Uint8Array = readOptions({ trust: "unsigned" }).terms;

export async function openAlbum(): Promise<Pdp> {
  return open(album, { trust: "unsigned", clock: () => noon });
}

/** A request that the album allows; `changes` reach into it by name. */
export function viewing(changes: { principal?: object; resource?: object; request?: object } = {}): ActionRequest {
  return {
    principal: { id: "ada", roles: ["user"], ...changes.principal },
    resource: { kind: "album", id: "a1", ...changes.resource },
    action: "view",
    ...changes.request,
  };
}

function read(name: string): Uint8Array {
  return readFileSync(new URL(`../fixtures/${name}.bundle`, import.meta.url));
}
