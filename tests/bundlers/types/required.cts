// A CommonJS module of Node.

import { readFileSync } from "node:fs";

import wardgate = require("wardgate");
import { openSync, type Pdp } from "wardgate";

const pdp: Pdp = openSync(readFileSync("policies.wardgate"), { trust: "unsigned" });
const same: typeof openSync = wardgate.openSync;

export { pdp, same };
