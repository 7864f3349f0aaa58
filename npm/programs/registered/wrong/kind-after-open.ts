import { openSync } from "wardgate";
import type {} from "../registration.d.ts";
declare const bundle: Uint8Array;
const principal = { id: "ada", roles: ["user"] };

// TS2820
openSync(bundle, { trust: "unsigned" }).isAllowed({ principal, action: "view", resource: { kind: "albun", id: "a1" } });
