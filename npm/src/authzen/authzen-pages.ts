// Tokens for the pages of a search.
//
// A token says where the next page begins. It holds for one request of one caller, for an hour, and carries a
// MAC: what was changed or taken from somebody else is refused. Nothing secret is in it. A caller is named by
// what tells it from every other: hosts that know callers in several ways put the way before the name.

import { AuthzenError, type ActionSearch, type ResourceSearch, type SubjectSearch } from "./authzen-read.ts";

/** A search that can be paged. */
export type Searching = SubjectSearch | ResourceSearch | ActionSearch;

/** What a token says. */
export interface Place {
  readonly from: number;
  readonly limit: number;
}

/** Writes and reads tokens with a key of its own. */
export class PageTokens {
  readonly #key: CryptoKey;
  readonly #clock: () => number;

  private constructor(key: CryptoKey, clock: () => number) {
    this.#key = key;
    this.#clock = clock;
  }

  /** Takes a key of at least 32 bytes into use. Hosts that serve the same callers must share it. */
  static async create(secret: Uint8Array, clock: () => number = () => Date.now()): Promise<PageTokens> {
    if (secret.length < SECRET) throw new RangeError(`a key for pages must have ${SECRET} bytes, found ${secret.length}`);
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    const key = await crypto.subtle.importKey("raw", secret.slice(), algorithm, false, ["sign", "verify"]);
    return new PageTokens(key, clock);
  }

  /** Returns the token for the page of this search that begins at a place. */
  async write(search: Searching, caller: string, { from, limit }: Place): Promise<string> {
    const expires = Math.floor(this.#clock() / 1000) + LIFETIME;
    const payload = numbers(from, Math.min(limit, MOST), expires);
    const mac = await crypto.subtle.sign("HMAC", this.#key, await bound(payload, search, caller));
    return toBase64Url(new Uint8Array([...payload, ...new Uint8Array(mac)]));
  }

  /**
   * Returns the place that a token means, for the same search by the same caller.
   *
   * @throws AuthzenError for a token that is not this one's, or too old.
   */
  async read(token: string, search: Searching, caller: string): Promise<Place> {
    const bytes = fromBase64Url(token);
    if (bytes?.length !== PAYLOAD_BYTES + MAC) throw refused();
    const [payload, mac] = [bytes.slice(0, PAYLOAD_BYTES), bytes.slice(PAYLOAD_BYTES)];
    const isOurs = await crypto.subtle.verify("HMAC", this.#key, mac, await bound(payload, search, caller));
    if (!isOurs) throw refused();
    const view = new DataView(payload.buffer);
    const [from, limit, expires] = [view.getUint32(0), view.getUint32(4), view.getUint32(8)];
    if (expires <= this.#clock() / 1000) throw new AuthzenError("`page.token` has expired: search again");
    const asked = search.page?.limit;
    if (asked !== undefined && Math.min(asked, MOST) !== limit) throw refused();
    return { from, limit };
  }
}

/** What the MAC is over: what the token says, whose it is, and for which search. */
async function bound(payload: Uint8Array, search: Searching, caller: string): Promise<Uint8Array<ArrayBuffer>> {
  const { page, ...asked } = search;
  const text = new TextEncoder().encode(canonical([caller, asked, page?.properties ?? {}]));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", text));
  return new Uint8Array([...payload, ...digest]);
}

/** JSON with members in the order of their names: two spellings of one search are one search. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

function numbers(...values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(4 * values.length);
  const view = new DataView(bytes.buffer);
  values.forEach((value, at) => view.setUint32(4 * at, value));
  return bytes;
}

function toBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (text.length > LONGEST || !/^[\w-]+$/.test(text)) return undefined;
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    // The last character has bits that say nothing; a token has one spelling.
    return toBase64Url(bytes) === text ? bytes : undefined;
  } catch {
    return undefined;
  }
}

function refused(): AuthzenError {
  return new AuthzenError("`page.token` is not a token for this search");
}

/** Seconds. */
const LIFETIME = 3600;
const SECRET = 32;
/** The largest number that has room in a token. */
const MOST = 2 ** 32 - 1;
const PAYLOAD_BYTES = 12;
const MAC = 32;
const LONGEST = 64;
