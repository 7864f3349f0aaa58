// Tokens for the pages of a search.
//
// A token holds the start of the next page. It is valid for one search by one caller, for an hour,
// and carries a MAC: a changed token and the token of another caller are refused. It contains no
// secret. The name of a caller must be unique: a host with several kinds of authentication puts the
// kind before the name.

import { bytesOfBinary } from "../base/text.ts";
import { AuthzenError, type ActionSearch, type ResourceSearch, type SubjectSearch } from "./authzen-read.ts";

/** A search with pages. */
export type Searching = SubjectSearch | ResourceSearch | ActionSearch;

/** The content of a token: the start of a page and its size. */
export interface PageWindow {
  /** The index of the first result of the page. */
  readonly from: number;
  /** The size of the page. */
  readonly limit: number;
}

/** Writes and verifies tokens with a secret key. */
export class PageTokens {
  readonly #key: CryptoKey;
  readonly #clock: () => number;

  private constructor(key: CryptoKey, clock: () => number) {
    this.#key = key;
    this.#clock = clock;
  }

  /**
   * Creates the tokens for a key of at least 32 bytes. Hosts that serve the same callers must share
   * the key.
   */
  static async create(secret: Uint8Array, clock: () => number = () => Date.now()): Promise<PageTokens> {
    if (secret.length < SECRET) throw new RangeError(`a key for pages must have ${SECRET} bytes, found ${secret.length}`);
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    const key = await crypto.subtle.importKey("raw", secret.slice(), algorithm, false, ["sign", "verify"]);
    return new PageTokens(key, clock);
  }

  /** Returns the token for the page of this search that starts at `from`. */
  async write(search: Searching, caller: string, { from, limit }: PageWindow): Promise<string> {
    const expires = Math.floor(this.#clock() / 1000) + LIFETIME;
    const payload = numbers(from, Math.min(limit, MOST), expires);
    const mac = await crypto.subtle.sign("HMAC", this.#key, await bound(payload, search, caller));
    return toBase64Url(new Uint8Array([...payload, ...new Uint8Array(mac)]));
  }

  /**
   * Verifies a token and returns the start and size of its page, for the same search by the same
   * caller.
   *
   * @throws AuthzenError if the token is invalid, expired, or for another search or caller.
   */
  async read(token: string, search: Searching, caller: string): Promise<PageWindow> {
    const bytes = fromBase64Url(token);
    if (bytes?.length !== PAYLOAD_BYTES + MAC) throw refused();
    const [payload, mac] = [bytes.slice(0, PAYLOAD_BYTES), bytes.slice(PAYLOAD_BYTES)];
    const isOurs = await crypto.subtle.verify("HMAC", this.#key, mac, await bound(payload, search, caller));
    if (!isOurs) throw refused();
    const view = new DataView(payload.buffer);
    const [from, limit, expires] = [view.getUint32(0), view.getUint32(4), view.getUint32(8)];
    if (expires <= this.#clock() / 1000) throw new AuthzenError("`page.token` has expired: search again");
    const requested = search.page?.limit;
    if (requested !== undefined && Math.min(requested, MOST) !== limit) throw refused();
    return { from, limit };
  }
}

/**
 * Returns the bytes under the MAC: the content of the token, and a digest of the caller and the
 * search.
 */
async function bound(payload: Uint8Array, search: Searching, caller: string): Promise<Uint8Array<ArrayBuffer>> {
  const { page, ...parameters } = search;
  const text = new TextEncoder().encode(canonical([caller, parameters, page?.properties ?? {}]));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", text));
  return new Uint8Array([...payload, ...digest]);
}

/**
 * Returns JSON with members in the order of their names, so that two spellings of one search are
 * equal.
 */
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
    const bytes = bytesOfBinary(atob(text.replaceAll("-", "+").replaceAll("_", "/")));
    // The last character has unused bits; only one spelling of a token is valid.
    return toBase64Url(bytes) === text ? bytes : undefined;
  } catch {
    return undefined;
  }
}

function refused(): AuthzenError {
  return new AuthzenError("`page.token` is not a token for this search");
}

/** The lifetime of a token in seconds. */
const LIFETIME = 3600;
const SECRET = 32;
/** The largest number that fits in a token. */
const MOST = 2 ** 32 - 1;
const PAYLOAD_BYTES = 12;
const MAC = 32;
const LONGEST = 64;
