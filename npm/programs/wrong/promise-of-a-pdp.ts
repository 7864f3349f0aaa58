import { open } from "wardgate";
const pdp = open(new Uint8Array(), { trust: "unsigned" });
// TS2339
pdp.isAllowed({ principal: { id: "ada", roles: [] }, action: "view", resource: { kind: "album", id: "a1" } });
