import type { Pdp } from "wardgate";
declare const pdp: Pdp;
const principal = { id: "ada", roles: ["user"] };
const resource = { kind: "album", id: "a1" };

const rows = [{ key: "a1" }];
// TS2769
pdp.filter({ principal, action: "view", rows, resource: ({ id }: { id: string }) => ({ kind: "album", id }) });
