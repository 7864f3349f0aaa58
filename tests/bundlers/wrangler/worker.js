import { openSync } from "wardgate";
// Nobody needs it here: it is what the package imports by itself.
import wasm from "wardgate/wasm";
import bundle from "./built/signed.bundle";
import trust from "./built/release.pub.jwk";
import { answers, now } from "../asked.mjs";

// Before the first request: a worker has the module at once.
const pdp = openSync(bundle, { trust: JSON.parse(trust), now });

export default {
  async fetch() {
    const said = await answers(() => pdp);
    return new Response(wasm instanceof WebAssembly.Module ? said : "the module is not compiled");
  },
};
