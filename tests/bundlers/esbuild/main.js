import { open } from "wardgate";
// With `--loader:.wasm=file` this is the address of the file that esbuild puts beside the program.
import wasm from "wardgate/wasm";
import { answers, now } from "../asked.mjs";

answers(async () => {
  const trust = await (await fetch("release.pub.jwk")).json();
  return open(fetch("signed.bundle"), { trust, now, code: fetch(wasm) });
}).then(
  (said) => (document.title = said),
  (error) => (document.title = `${error.code}: ${error.message}`),
);
