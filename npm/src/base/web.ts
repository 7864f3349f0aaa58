// What the package asks of objects of the web platform.
//
// Every runtime declares `Response` and its relatives a little differently, and some programs declare none
// of them. Said by their members they fit all of those declarations.

/** An address, such as a `URL`. */
export interface Address {
  readonly href: string;
  readonly protocol: string;
}

/** What `fetch` returns. */
export interface FetchResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly statusText: string;
  readonly url: string;
  readonly bodyUsed: boolean;
  readonly headers: { get(name: string): string | null };
  readonly body: ByteStream | null;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** A stream of bytes, such as a `ReadableStream<Uint8Array>`. */
export interface ByteStream {
  readonly locked: boolean;
  getReader(): ByteReader;
}

export interface ByteReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(reason?: unknown): Promise<void>;
}

/** A `WebAssembly.Module`. No declaration of it names a member. */
export type CompiledModule = object;

/** The code of the module: compiled, as bytes, or on its way. */
export type CodeSource = CodeNow | FetchResponse | PromiseLike<FetchResponse>;

/** The code of the module, without waiting: compiled or as bytes. */
export type CodeNow = CompiledModule | Uint8Array | ArrayBuffer;

/** A promise that may fail before anybody, or without anybody, waiting for it does not end the process. */
export function disregard(promise: unknown): void {
  if (promise instanceof Promise) promise.catch(() => {});
}
