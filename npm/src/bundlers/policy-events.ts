// Hands each saved policy to open pages during development, without the bundler: a stream of events from
// a server on this machine.
//
// Next with webpack compiles its servers before the page, one after the other, and a saved policy took
// more than a second to the page. Webpack is busy meanwhile, so that the server has a thread of its own,
// whose program is the file that has this module. The bundler goes on to replace the module too, so that
// a page which cannot reach this server only waits longer.

import { randomUUID } from "node:crypto";
import { watch } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { parentPort, Worker, workerData } from "node:worker_threads";

import type { BundlerSettings } from "./bundler-options.ts";
import { compileFolder } from "./compile-folder.ts";

/** The folder whose policies a thread compiles and serves, and the settings of the plug-in. */
interface Served {
  readonly folder: string;
  readonly settings: BundlerSettings;
}

const started = new Map<string, Promise<string>>();

/** Returns the address of the events of a folder, whose thread starts with the first call. Nobody can guess it. */
export function eventsOf(folder: string, settings: BundlerSettings): Promise<string> {
  const known = started.get(folder) ?? start({ folder, settings });
  started.set(folder, known);
  return known;
}

/** Starts the thread, and returns the address that it sends. It does not keep the program alive, and has none of its flags. */
function start(served: Served): Promise<string> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL(import.meta.url), { workerData: { [SERVED]: served }, execArgv: [] });
    thread.on("message", resolve);
    // Later the streams end with the thread, and pages take policies from the bundler.
    thread.on("error", reject);
    thread.on("exit", (code) => reject(new Error(`the thread ended with code ${code}`)));
    thread.unref();
  });
}

/** Serves the events of a folder, and hands the address to `tell`. */
function serve({ folder, settings }: Served, tell: (address: string) => void): void {
  const pages = new Set<ServerResponse>();
  const path = `/${randomUUID()}`;
  const server = createServer((request, response) => {
    if (request.url !== path || pages.size >= MOST_PAGES) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store", "access-control-allow-origin": "*" }).flushHeaders();
    pages.add(response);
    response.on("close", () => pages.delete(response));
  });
  // The bundler shows the error of a policy, and the page keeps its last good policies.
  const compiled = () => compileFolder(folder, settings, false).catch(() => undefined);
  const publish = async (): Promise<void> => {
    if (pages.size === 0) return;
    const bundle = (await compiled())?.bundle;
    if (bundle === undefined) return;
    const text = `data: ${Buffer.from(bundle).toString("base64")}\n\n`;
    for (const page of pages) page.write(text);
  };
  follow(folder, publish, () => {
    for (const page of pages) page.end();
  });
  server.listen(0, "127.0.0.1", () => tell(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`));
  // Loads the compiler, for which the first save would wait.
  void compiled();
}

/** Calls `act` after each change in a folder, and `end` if it cannot go on; editors write a file in several steps. */
function follow(folder: string, act: () => Promise<void>, end: () => void): void {
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(folder, { recursive: true }, () => {
    clearTimeout(timer);
    timer = setTimeout(() => void act(), JOIN_MS);
  });
  // The folder is gone: the bundler reports it.
  watcher.on("error", () => {
    watcher.close();
    end();
  });
}

/** Changes within so many milliseconds are one. */
const JOIN_MS = 10;

/** The most open pages of one folder. */
const MOST_PAGES = 64;

/** The member of the data of a thread that holds a `Served`. */
const SERVED = "wardgate events";

const served = (workerData as { readonly [SERVED]?: Served } | null)?.[SERVED];
if (served !== undefined) serve(served, (address) => parentPort?.postMessage(address));
