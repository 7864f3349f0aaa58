// The members of web platform objects that the package uses.
//
// Every runtime declares `Response` and related types differently, and some programs do not declare
// them at all. These interfaces fit all of those declarations.

/** An address, such as a `URL`. */
export interface Address {
  /** The whole address. */
  readonly href: string;
  /** The scheme with a colon, such as `https:`. */
  readonly protocol: string;
}

/** A response, as `fetch` returns it. */
export interface FetchResponse {
  /** True if the status is a success. */
  readonly ok: boolean;
  /** The status code. */
  readonly status: number;
  /** The text for the status code. */
  readonly statusText: string;
  /** The final address, after redirects. */
  readonly url: string;
  /** True if the body has been read. */
  readonly bodyUsed: boolean;
  /** The headers. */
  readonly headers: { get(name: string): string | null };
  /** The body as a stream. */
  readonly body: ByteStream | null;
  /** Reads the whole body. */
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** A stream of bytes, such as a `ReadableStream<Uint8Array>`. */
export interface ByteStream {
  /** True if a reader holds the stream. */
  readonly locked: boolean;
  /** Returns a reader, which locks the stream. */
  getReader(): ByteReader;
}

export interface ByteReader {
  /** Reads the next chunk. */
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  /** Cancels the stream. */
  cancel(reason?: unknown): Promise<void>;
}

/** A `WebAssembly.Module`, whose declarations have no members. */
export type CompiledModule = object;

/** The code of the module: compiled, as bytes, or as a response. */
export type CodeSource = CodeNow | FetchResponse | PromiseLike<FetchResponse>;

/** The code of the module for synchronous use: compiled or as bytes. */
export type CodeNow = CompiledModule | Uint8Array | ArrayBuffer;

/**
 * Marks the rejection of a promise as handled, so that it does not end the process before it is
 * awaited.
 */
export function ignoreRejection(promise: unknown): void {
  if (promise instanceof Promise) promise.catch(() => {});
}
