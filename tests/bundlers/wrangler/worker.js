import { openSync } from "wardgate";
import { createPool } from "wardgate/pool";
// The package imports the same file by itself.
import wasm from "wardgate/wasm";
import bundle from "./built/signed.bundle";
import trust from "./built/release.pub.jwk";
import { answers, now } from "../answers.mjs";

// Before the first request: a worker has the module at once.
const options = { trust: JSON.parse(trust), now };
const pdp = openSync(bundle, options);

export default {
  async fetch() {
    // Here are no threads: a pool decides everything by itself.
    const pool = () => createPool(bundle, options);
    const text = await answers(() => pdp, pool);
    return new Response(wasm instanceof WebAssembly.Module ? text : "the module is not compiled");
  },
};
