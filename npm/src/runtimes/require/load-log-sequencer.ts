// Reads the sequencer of decision logs from a file, in the form of the package for `require`.

import { join } from "node:path";

import { nodeLoader } from "../node/files.ts";

export const loader = nodeLoader(() => join(__dirname, "../../../wasm/wardgate_log_sequencer_bg.wasm"));
