// The file that a worker of a pool runs.

import { port } from "#port";

import type { ToWorker } from "../../pool/pool-messages.ts";
import { Work } from "../../pool/pool-work.ts";

const work = new Work((message) => port.post(message));
port.listen((message) => void work.hear(message as ToWorker));
