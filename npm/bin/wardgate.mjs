#!/usr/bin/env node
// The command `wardgate`: the program of `crates/cli` without its server, as WebAssembly. It sees the files of the
// machine as a native program does, and its directory as `PWD`.
import { statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { parse } from "node:path";

// WASI is experimental in Node, which says so on every run.
const { emitWarning } = process;
process.emitWarning = (warning, ...rest) => {
  if (!String(warning).startsWith("WASI")) emitWarning.call(process, warning, ...rest);
};
const { WASI } = await import("node:wasi");

const args = process.argv.slice(2);
const directory = process.cwd();
const { root } = parse(directory);
// The program cannot set permissions, and keys are for their owner alone.
if (args[0] === "keys") process.umask(0o077);
const wasi = new WASI({
  version: "preview1",
  args: ["wardgate", ...args],
  env: {
    ...process.env,
    PWD: `/${directory.slice(root.length).replaceAll("\\", "/")}`,
    WARDGATE_EXPOSED: args.map(exposed).join(""),
  },
  preopens: { "/": root },
  returnOnExit: false,
});
const bytes = await readFile(new URL("../wasm/command/wardgate.wasm", import.meta.url));
const { instance } = await WebAssembly.instantiate(bytes, wasi.getImportObject());
wasi.start(instance);

/** Returns a line with the mode of the file that an argument names, if others than its owner can read it. */
function exposed(arg) {
  const path = arg.slice(arg.indexOf("=") + 1);
  const about = process.platform === "win32" ? undefined : statSync(path, { throwIfNoEntry: false });
  if (!about?.isFile() || (about.mode & 0o077) === 0) return "";
  return `${(about.mode & 0o777).toString(8)} ${path}\n`;
}
