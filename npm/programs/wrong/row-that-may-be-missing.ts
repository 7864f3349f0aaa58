import type { Pdp } from "wardgate";
declare const pdp: Pdp;
const principal = { id: "ada", roles: ["user"] };
const resource = { kind: "album", id: "a1" };

interface Album { readonly owner: string }
declare const album: Album | null;
// TS2322
pdp.isAllowed({ principal, action: "view", resource: { ...resource, attr: album } });
