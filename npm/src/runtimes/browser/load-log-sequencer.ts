// Fetches the sequencer of decision logs, for browsers. Bundlers recognise this form of address.

import { fetchModule } from "../../wasm/code.ts";
import type { EagerLoader } from "../../wasm/loader.ts";

export const loader: EagerLoader = {
  load() {
    return fetchModule(new URL("../../../wasm/wardgate_log_sequencer_bg.wasm", import.meta.url));
  },
  loadNow() {
    return undefined;
  },
};
