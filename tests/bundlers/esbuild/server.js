// A program for Node in one file: it brings its module along.

import { readFileSync } from "node:fs";

import { openSync } from "wardgate";
import { createPool } from "wardgate/pool";
// With `--loader:.wasm=binary` these are its bytes.
import code from "wardgate/wasm";
import { answers, now } from "../answers.mjs";

const bundle = readFileSync("signed.bundle");
const options = { trust: JSON.parse(readFileSync("release.pub.jwk", "utf8")), now, code };
// The program of workers is in no file of its own here.
answers(
  () => openSync(bundle, options),
  () => createPool(bundle, { ...options, size: 0 }),
).then((text) => process.stdout.write(text));
