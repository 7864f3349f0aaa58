// What the tests share: a bundle, a request that it allows, and a PDP whose clock stands still.

import { readFileSync } from "node:fs";

import type { PublicJwk } from "./pdp/keys.ts";
import { open } from "./pdp/open.ts";
import { readOptions } from "./pdp/options.ts";
import type { ActionRequest, Pdp } from "./pdp/types.ts";

/** `fixtures/album`, compiled by `cargo xtask test` before the tests run. */
export const album: Uint8Array = read("album");

/** `fixtures/closed`: the same kinds, where nobody may do anything. */
export const closed: Uint8Array = read("closed");

/** `fixtures/odd`: one rule for each way of reading an attribute. */
export const odd: Uint8Array = read("odd");

/** The album as revision 7, signed with `releaseKey` for the year 2024. */
export const signed: Uint8Array = new Uint8Array(trustFile("signed.bundle"));
export const releaseKey = JSON.parse(trustFile("release.pub.jwk").toString()) as PublicJwk;

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

/** A file that the command made for the tests: keys, and what they signed and sealed. */
export function trustFile(name: string): Buffer {
  return readFileSync(new URL(`../fixtures/trust/${name}`, import.meta.url));
}

function read(name: string): Uint8Array {
  return readFileSync(new URL(`../fixtures/${name}.bundle`, import.meta.url));
}
