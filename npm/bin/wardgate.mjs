#!/usr/bin/env node
// The command `wardgate`: the program of `crates/cli` without its server, as WebAssembly. It sees the files of the
// machine as a native program does, and its directory as `PWD`.
import { readFile } from "node:fs/promises";
import { parse } from "node:path";

// WASI is experimental in Node, which says so on every run.
const { emitWarning } = process;
process.emitWarning = (warning, ...rest) => {
  if (!String(warning).startsWith("WASI")) emitWarning.call(process, warning, ...rest);
};
const { WASI } = await import("node:wasi");

const directory = process.cwd();
const { root } = parse(directory);
const args = process.argv.slice(2);
// The program cannot set permissions, and keys are for their owner alone.
if (args[0] === "keys") process.umask(0o077);
const wasi = new WASI({
  version: "preview1",
  args: ["wardgate", ...args],
  env: { ...process.env, PWD: `/${directory.slice(root.length).replaceAll("\\", "/")}` },
  preopens: { "/": root },
});
const bytes = await readFile(new URL("../wasm/command/wardgate.wasm", import.meta.url));
const { instance } = await WebAssembly.instantiate(bytes, wasi.getImportObject());
process.exitCode = wasi.start(instance);
