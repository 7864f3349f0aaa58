// Copies of the apps, whose policies may be changed, and their servers.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const HERE = import.meta.dirname;

/**
 * Copies an app, and returns its folder: below the packages of this folder. In its configuration `output` is what becomes of
 * a build of Next.
 */
export function copied(name, output = "") {
  const folder = join(HERE, "out", name + output);
  rmSync(folder, { recursive: true, force: true });
  cpSync(join(HERE, name), folder, { recursive: true });
  process.env.NEXT_OUTPUT = output;
  return folder;
}

/** Runs a program of the packages to its end. */
export async function run(folder, words) {
  const child = started(folder, words);
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`${words.join(" ")} failed:\n${child.output}`);
}

/** Starts a server, hands its address to `act`, and stops it. */
export async function serving(folder, words, act) {
  const port = await freePort();
  const child = started(folder, words.map((word) => (word === "PORT" ? String(port) : word)), { PORT: String(port), HOST: "127.0.0.1", HOSTNAME: "127.0.0.1" });
  try {
    const address = `http://127.0.0.1:${port}/`;
    await answering(child, address);
    return await act(address);
  } catch (error) {
    throw new Error(`${words.join(" ")}: ${error.message}\n${child.output}`, { cause: error });
  } finally {
    await stop(child);
  }
}

function started(folder, [program, ...words], environment = {}) {
  const env = { ...process.env, NEXT_TELEMETRY_DISABLED: "1", CI: "1", ...environment };
  // A server starts others; they are one group, which is ended as one.
  const file = program === "node" ? process.execPath : join(HERE, "node_modules/.bin", program);
  const child = spawn(file, words, { cwd: folder, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  child.output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (child.output = (child.output + data).slice(-MOST_OUTPUT)));
  return child;
}

async function stop(child) {
  if (child.exitCode !== null) return;
  const ended = once(child, "exit");
  process.kill(-child.pid, "SIGKILL");
  await ended;
}

async function answering(child, address) {
  const last = Date.now() + PATIENCE;
  for (;;) {
    if (child.exitCode !== null) throw new Error("it ended");
    if (await fetch(address).then(() => true, () => false)) return;
    if (Date.now() > last) throw new Error("it does not answer");
    await sleep(100);
  }
}

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  return port;
}

const PATIENCE = 180_000;
const MOST_OUTPUT = 8000;
