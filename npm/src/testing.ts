// Shared data of the tests: a bundle, a request that it allows, and a PDP with a fixed clock.

import { readFileSync } from "node:fs";

import type { PublicJwk } from "./pdp/keys.ts";
import { open } from "./pdp/open.ts";
import { readOptions } from "./pdp/options.ts";
import type { ActionRequest, Pdp } from "./pdp/types.ts";

/** `fixtures/album`, compiled by `cargo xtask test` before the tests run. */
export const album: Uint8Array = read("album");

/** `fixtures/closed`: the same kinds, with every action denied. */
export const closed: Uint8Array = read("closed");

/** `fixtures/unusual`: one rule for each way of reading an attribute. */
export const unusual: Uint8Array = read("unusual");

/** The album as revision 7, signed with `releaseKey` for the year 2024. */
export const signed: Uint8Array = new Uint8Array(trustFile("signed.bundle"));
export const releaseKey = JSON.parse(trustFile("release.pub.jwk").toString()) as PublicJwk;

/** The time of every test. */
export const noon = Date.UTC(2024, 4, 6, 12);

/** The terms that accept unsigned bundles. */
export const unsignedTerms: Uint8Array = readOptions({ trust: "unsigned" }).terms;

export async function openAlbum(): Promise<Pdp> {
  return open(album, { trust: "unsigned", clock: () => noon });
}

/** Returns a request that the album allows, with changes by name. */
export function viewing(changes: { principal?: object; resource?: object; request?: object } = {}): ActionRequest {
  return {
    principal: { id: "ada", roles: ["user"], ...changes.principal },
    resource: { kind: "album", id: "a1", ...changes.resource },
    action: "view",
    ...changes.request,
  };
}

/**
 * Reads a file that the command made for the tests: keys, and files that are signed or sealed with
 * them.
 */
export function trustFile(name: string): Buffer {
  return readFileSync(new URL(`../fixtures/trust/${name}`, import.meta.url));
}

function read(name: string): Uint8Array {
  return readFileSync(new URL(`../fixtures/${name}.bundle`, import.meta.url));
}
