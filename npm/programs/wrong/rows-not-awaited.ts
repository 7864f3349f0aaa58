import type { Pdp } from "wardgate";
declare const pdp: Pdp;
const principal = { id: "ada", roles: ["user"] };
const resource = { kind: "album", id: "a1" };

declare const rows: Promise<readonly { owner: string }[]>;
// TS2769
pdp.filter({ principal, action: "view", resources: rows });
