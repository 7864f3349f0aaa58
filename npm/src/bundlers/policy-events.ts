// Hands each saved policy to open pages during development, without the bundler: a stream of events from
// a server on this machine.
//
// Next with webpack compiles its servers before the page, one after the other, and a saved policy took
// more than a second to the page. The bundler goes on to replace the module too, so that a page which
// cannot reach this server only waits longer.

import { randomUUID } from "node:crypto";
import { watch } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import type { BundlerSettings } from "./bundler-options.ts";
import { compileFolder } from "./compile-folder.ts";

const started = new Map<string, Promise<string>>();

/** Returns the address of the events of a folder, whose server starts with the first call. Nobody can guess it. */
export function eventsOf(folder: string, settings: BundlerSettings): Promise<string> {
  const known = started.get(folder) ?? start(folder, settings);
  started.set(folder, known);
  return known;
}

/** Starts the server. Neither it nor its watcher keeps the program alive. */
function start(folder: string, settings: BundlerSettings): Promise<string> {
  const pages = new Set<ServerResponse>();
  const path = `/${randomUUID()}`;
  const server = createServer((request, response) => {
    if (request.url !== path || pages.size >= MOST_PAGES) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store", "access-control-allow-origin": "*" }).flushHeaders();
    pages.add(response);
    response.on("close", () => pages.delete(response));
  });
  const publish = async (): Promise<void> => {
    if (pages.size === 0) return;
    // The bundler shows the error of a policy, and the page keeps its last good policies.
    const compiled = await compileFolder(folder, settings, false).catch(() => undefined);
    if (compiled === undefined) return;
    const text = `data: ${Buffer.from(compiled.bundle).toString("base64")}\n\n`;
    for (const page of pages) page.write(text);
  };
  follow(folder, publish, () => {
    for (const page of pages) page.end();
  });
  return new Promise((resolve, reject) => {
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`));
    server.unref();
  });
}

/** Calls `act` after each change in a folder, and `end` if it cannot go on; editors write a file in several steps. */
function follow(folder: string, act: () => Promise<void>, end: () => void): void {
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(folder, { recursive: true, persistent: false }, () => {
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
