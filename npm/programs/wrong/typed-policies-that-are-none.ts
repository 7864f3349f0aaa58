import type { Pdp } from "wardgate";
import type { Policies } from "../policies.d.ts";
declare const pdp: Pdp<Policies>;
const principal = { id: "ada", roles: ["user"] };

declare const other: Pdp<
  // TS2344
  { readonly kinds: string }
>;
other.dispose();
