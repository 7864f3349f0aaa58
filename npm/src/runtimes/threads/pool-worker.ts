// The program of a worker of a pool.

import { port } from "#port";

import type { ToWorker } from "../../pool/pool-messages.ts";
import { PoolExecutor } from "../../pool/pool-executor.ts";

const work = new PoolExecutor((message) => port.post(message));
port.listen((message) => void work.receive(message as ToWorker));
