// A program whose compiler does not know `exports`.

import { openSync, type Pdp } from "wardgate";

export const pdp: Pdp = openSync(new Uint8Array(), { trust: "unsigned" });
