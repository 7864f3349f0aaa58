#!/usr/bin/env node
// The command `wardgate`: the program of `crates/cli` without its server, as WebAssembly. It sees the files of the
// machine as a native program does, and its directory as `PWD`.
import { chmodSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { parse } from "node:path";
import { setFlagsFromString } from "node:v8";

// WASI is experimental in Node, which says so on every run.
const { emitWarning } = process;
process.emitWarning = (warning, ...rest) => {
  if (!String(warning).startsWith("WASI")) emitWarning.call(process, warning, ...rest);
};
// Called often enough, calls of WASI become fast calls of V8, after which the stack of Node 20 is broken.
setFlagsFromString("--no-turbo-fast-api-calls");
const { WASI } = await import("node:wasi");

const args = process.argv.slice(2);
const directory = process.cwd();
const { root } = parse(directory);
// The program cannot set permissions, and keys are for their owner alone. `keys public` writes no secret.
const umask = process.umask();
if (args[0] === "keys" && args[1] !== "public") process.umask(0o077);
const wasi = new WASI({
  version: "preview1",
  args: ["wardgate", ...args],
  env: {
    ...process.env,
    PWD: `/${directory.slice(root.length).replaceAll("\\", "/")}`,
    WARDGATE_EXPOSED: args.map(exposed).join(""),
  },
  preopens: { "/": root },
});
// The end of the program is thrown past its frames.
const ended = {};
const proc_exit = (code) => {
  process.exitCode = code;
  throw ended;
};
const imports = { wasi_snapshot_preview1: { ...wasi.wasiImport, proc_exit } };
const bytes = await readFile(new URL("wardgate.wasm", import.meta.url));
const { instance } = await WebAssembly.instantiate(bytes, imports);
try {
  wasi.start(instance);
} catch (thrown) {
  if (thrown !== ended) throw thrown;
}
// A public half that was just written is for everybody.
if (args[0] === "keys" && args[1] === "generate" && !process.exitCode) publish(args);

/** Gives the file of `--public` the permissions of any other new file. */
function publish(args) {
  const at = args.findIndex((arg) => arg === "--public" || arg.startsWith("--public="));
  const path = args[at] === "--public" ? args[at + 1] : args[at]?.slice("--public=".length);
  if (path && statSync(path).isFile()) chmodSync(path, 0o666 & ~umask);
}

/** Returns a line with the mode of the file that an argument names, if others than its owner can read it. */
function exposed(arg) {
  const path = arg.slice(arg.indexOf("=") + 1);
  const mode = modeOf(path);
  return (mode & 0o077) === 0 ? "" : `${mode.toString(8)} ${path}\n`;
}

/** Returns the mode of a file; 0 where there is none, and on Windows, which has no modes. */
function modeOf(path) {
  if (process.platform === "win32") return 0;
  try {
    const about = statSync(path);
    return about.isFile() ? about.mode & 0o777 : 0;
  } catch {
    return 0;
  }
}
