// A CommonJS module of Node.

import { readFileSync } from "node:fs";

import wardgate = require("wardgate");
import { openSync, type Pdp } from "wardgate";
import { memory, type Memory } from "wardgate/ratelimit";

const pdp: Pdp = openSync(readFileSync("policies.wardgate"), { trust: "unsigned" });
const same: typeof openSync = wardgate.openSync;
const store: Memory = memory({ keys: 10 });

export { pdp, same, store };
