// Authenticates callers: by a bearer token of the configuration, or by a signed one.

import type { Claims, JwtVerifier } from "./jwt.ts";

/** The result of authentication. All callers but `known` are refused. */
export type Caller =
  | Known
  | { readonly kind: "anonymous" }
  | { readonly kind: "unknown" }
  /** The caller is authenticated, but may not use this PDP. */
  | { readonly kind: "forbidden" };

/** A caller that may use this PDP. Its name is unique only together with its source. */
export interface Known {
  readonly kind: "known";
  readonly by: "token" | "client_id" | "sub" | "iss";
  readonly name: string;
  /** The claims of a signed token. */
  readonly claims?: Claims;
}

export class Authenticator {
  readonly #digests: Digests;
  readonly #verifier: JwtVerifier | undefined;

  private constructor(digests: Digests, verifier: JwtVerifier | undefined) {
    this.#digests = digests;
    this.#verifier = verifier;
  }

  static async create(tokens: ReadonlyMap<string, string>, verifier?: JwtVerifier): Promise<Authenticator> {
    const digests = [...tokens].map(async ([name, token]) => [name, await digest(token)] as const);
    return new Authenticator(await Promise.all(digests), verifier);
  }

  /** Authenticates the header `Authorization`. */
  async caller(header: string | null, now: number): Promise<Caller> {
    if (header === null) return { kind: "anonymous" };
    const token = /^bearer +([\w~+/.=-]+) *$/i.exec(header)?.[1];
    if (token === undefined || token.length > LONGEST) return { kind: "unknown" };
    const name = await this.#owner(token);
    if (name !== undefined) return { kind: "known", by: "token", name };
    return this.#verifier === undefined ? { kind: "unknown" } : this.#verifier.caller(token, now);
  }

  /**
   * Returns the owner of a token. Constant-time: it compares digests, all of them and each to its
   * end, so that the time reveals nothing about an almost correct token.
   */
  async #owner(token: string): Promise<string | undefined> {
    const given = await digest(token);
    let owner: string | undefined;
    for (const [name, expected] of this.#digests) {
      let difference = 0;
      for (let at = 0; at < expected.length; at += 1) difference |= (expected[at] ?? 0) ^ (given[at] ?? 0);
      if (difference === 0) owner = name;
    }
    return owner;
  }
}

/** The names of callers with the digests of their tokens. */
type Digests = readonly (readonly [name: string, digest: Uint8Array])[];

async function digest(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

const LONGEST = 8192;
