import { open } from "wardgate";
import type { ActionOf, KindOf, Pdp } from "wardgate";
import type { Policies } from "../../policies.d.ts";
import type {} from "../registration.d.ts";

const principal = { id: "ada", roles: ["user"] };

export const kinds: readonly KindOf[] = ["album", "document", "log_audit"];
export const actions: readonly ActionOf<Policies, "album">[] = ["view", "edit", "download:cover"];

export async function decide(bundle: Uint8Array): Promise<boolean> {
  const pdp: Pdp = await open(bundle, { trust: "unsigned" });
  const same: Pdp<Policies> = pdp;
  return same.isAllowed({ principal, action: "view", resource: { kind: "album", id: "a1", attr: { owner: "ada" } } });
}
