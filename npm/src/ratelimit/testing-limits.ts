// Shared by the tests of limits: charges, and a redis-server of the system.

import { spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";

import type { Charge } from "./demand.ts";
import type { RunScript } from "./redis.ts";

export const MINUTE = 60_000_000;

/** Returns a charge of one token from ten a minute for `sam`. */
export function charge(more: Partial<Charge> = {}): Charge {
  return { name: "api", key: ["sam"], quota: 10, window: MINUTE, ...more };
}

/** True if redis-server is installed; `WARDGATE_REQUIRE_REDIS` makes its absence an error. */
export const hasRedis = ((): boolean => {
  const isThere = (process.env["PATH"] ?? "").split(delimiter).some((folder) => existsSync(join(folder, "redis-server")));
  if (!isThere && process.env["WARDGATE_REQUIRE_REDIS"] !== undefined) throw new Error("redis-server is not installed");
  return isThere;
})();

/** A server on loopback that writes no file. */
export class Server {
  readonly port: number;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.port = port;
  }

  static async start(port?: number, ...options: string[]): Promise<Server> {
    const at = port ?? (await freePort());
    const words = ["--port", String(at), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", ...options];
    const child = spawn("redis-server", words, { stdio: ["ignore", "pipe", "ignore"] });
    for await (const line of createInterface({ input: child.stdout! })) {
      if (line.includes("Ready to accept connections")) break;
    }
    // What it says later is read, so that it never waits for a reader.
    child.stdout!.resume();
    return new Server(child, at);
  }

  /** Stops the process without its knowledge: connections stay, and nobody answers. */
  pause(): void {
    this.#child.kill("SIGSTOP");
  }

  resume(): void {
    this.#child.kill("SIGCONT");
  }

  /** Ends the server at once, as a crash does. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill("SIGKILL");
    await ended;
  }
}

/** Returns a port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

type Waiting = { readonly resolve: (reply: unknown) => void; readonly reject: (error: Error) => void };

/** A client with one connection, which connects anew after it broke. It knows no more than tests need. */
export class Client {
  readonly #port: number;
  #socket: Socket | undefined;
  #waiting: Waiting[] = [];
  #rest = Buffer.alloc(0);

  constructor(port: number) {
    this.#port = port;
  }

  readonly byText: RunScript = (script, keys, args) => this.call("EVAL", script, String(keys.length), ...keys, ...args);
  readonly byDigest: RunScript = (digest, keys, args) => this.call("EVALSHA", digest, String(keys.length), ...keys, ...args);

  call(...words: string[]): Promise<unknown> {
    this.#socket ??= this.#connected();
    const text = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("");
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#socket!.write(`*${words.length}\r\n${text}`);
    });
  }

  close(): void {
    this.#socket?.destroy();
  }

  #connected(): Socket {
    const socket = connect(this.#port, "127.0.0.1");
    socket.setNoDelay(true);
    socket.on("data", (data) => this.#read(data));
    socket.on("error", () => {});
    socket.on("close", () => {
      const lost = this.#waiting;
      [this.#socket, this.#waiting, this.#rest] = [undefined, [], Buffer.alloc(0)];
      for (const { reject } of lost) reject(new Error("Connection is closed."));
    });
    return socket;
  }

  #read(data: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, data]);
    for (;;) {
      const found = parsed(this.#rest, 0);
      if (found === undefined) return;
      this.#rest = this.#rest.subarray(found.end);
      const waiting = this.#waiting.shift();
      if (found.value instanceof Error) waiting?.reject(found.value);
      else waiting?.resolve(found.value);
    }
  }
}

/** Reads one reply at a position; `undefined` if it is not complete. */
function parsed(bytes: Buffer, start: number): { readonly value: unknown; readonly end: number } | undefined {
  const line = bytes.indexOf("\r\n", start);
  if (line < 0) return undefined;
  const [kind, rest, end] = [String.fromCharCode(bytes[start]!), bytes.toString("utf8", start + 1, line), line + 2];
  if (kind === "+") return { value: rest, end };
  if (kind === "-") return { value: new Error(rest), end };
  if (kind === ":") return { value: Number(rest), end };
  if (kind === "$") {
    const length = Number(rest);
    if (length < 0) return { value: null, end };
    return bytes.length < end + length + 2 ? undefined : { value: bytes.toString("utf8", end, end + length), end: end + length + 2 };
  }
  const values: unknown[] = [];
  let at = end;
  for (let count = Number(rest); count > 0; count -= 1) {
    const next = parsed(bytes, at);
    if (next === undefined) return undefined;
    values.push(next.value);
    at = next.end;
  }
  return { value: values, end: at };
}
