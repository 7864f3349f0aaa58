// The worker on this machine: `wrangler dev` with the policies and the index of this folder in its KV.

import { execFileSync, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));
const wrangler = `${root}node_modules/.bin/wrangler`;
const env = { ...process.env, WRANGLER_SEND_METRICS: "false", NO_COLOR: "1" };

/** The token that the local worker accepts. It listens on this machine only. */
export const TOKEN = "token-of-the-local-developer";

/** Writes bundle, index and configuration to where `wrangler dev` finds them. `.dev` must have been prepared. */
export function seed() {
  const list = (key, file) => ({ key, value: read(`index/${file}.json`).toString() });
  // Not in bulk: there the command takes texts only.
  run(["kv", "key", "put", "policies.bundle", "--path", ".dev/policies.bundle", "--binding", "POLICIES_KV"]);
  put("INDEX", [
    list("subject/user", "subject.user"),
    list("resource/record", "resource.record"),
    list("resource/todo", "resource.todo"),
  ]);
  const vars = {
    AUTH_TOKENS: JSON.stringify({ developer: TOKEN }),
    TRUSTED_KEYS: read(".dev/release.pub.jwk").toString().replaceAll("\n", ""),
    PAGE_KEY: "local".repeat(9).slice(0, 43),
  };
  writeFileSync(`${root}.dev/vars`, Object.entries(vars).map(([name, value]) => `${name}='${value}'\n`).join(""));
}

/** Starts the worker, as a process group of its own: wrangler has children. */
export function start(port, options = {}) {
  const words = ["dev", "--local", "--ip", "127.0.0.1", "--port", String(port), "--env-file", ".dev/vars"];
  return spawn(wrangler, [...words, ...STATE, "--show-interactive-dev-session=false"], { cwd: root, env, ...options });
}

function put(binding, entries) {
  const file = `${root}.dev/${binding}.json`;
  writeFileSync(file, JSON.stringify(entries));
  run(["kv", "bulk", "put", file, "--binding", binding]);
}

function run(words) {
  execFileSync(wrangler, [...words, "--local", ...STATE], { cwd: root, env, stdio: "pipe" });
}

function read(name) {
  return readFileSync(`${root}${name}`);
}

const STATE = ["--persist-to", ".dev/state"];
