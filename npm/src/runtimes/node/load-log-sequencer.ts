// Reads the sequencer of decision logs from a file of the package, in Node, Deno and Bun.

import { nodeLoader } from "./files.ts";

export const loader = nodeLoader(() => new URL("../../../wasm/wardgate_log_sequencer_bg.wasm", import.meta.url));
