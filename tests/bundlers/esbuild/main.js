import { open } from "wardgate";
import { createPool } from "wardgate/pool";
// With `--loader:.wasm=file` this is the address of the file that esbuild puts beside the program.
import wasm from "wardgate/wasm";
import { answers, now } from "../answers.mjs";

const options = async () => ({ trust: await (await fetch("release.pub.jwk")).json(), now, code: fetch(wasm) });

answers(
  async () => open(fetch("signed.bundle"), await options()),
  async () => createPool(fetch("signed.bundle"), { ...(await options()), size: 2 }),
).then(
  (text) => (document.title = text),
  (error) => (document.title = `${error.code}: ${error.message}`),
);
