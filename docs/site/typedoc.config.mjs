// The reference of the npm package: every entry that programs import, in `target/api/js`.
import { readFileSync } from "node:fs";

const { files } = JSON.parse(readFileSync(new URL("../../npm/tsconfig.build.json", import.meta.url), "utf8"));
/** Entries that only tools load. */
const INTERNAL = /\/(wasm\.d|accessors|pool-worker)\.ts$/;

export default {
  name: "wardgate",
  entryPoints: files.filter((file) => !INTERNAL.test(file)).map((file) => `../../npm/${file}`),
  tsconfig: "../../npm/tsconfig.json",
  plugin: ["./entries.mjs"],
  readme: "none",
  out: "../../target/api/js",
  excludeInternal: true,
  excludePrivate: true,
  disableSources: true,
  hideGenerator: true,
  githubPages: false,
  navigationLinks: { Documents: "/index.html" },
  // `tsc` has checked the package; here the packages of frameworks may be absent.
  skipErrorChecking: true,
  validation: { notExported: false, invalidLink: true, invalidPath: true },
  logLevel: "Error",
};
