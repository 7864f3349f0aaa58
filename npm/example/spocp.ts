// Queries to the rules of SPOCP that a bundle holds.

import { open, type PublicJwk } from "wardgate";
import { spocp, type SpocpPdp } from "wardgate/spocp";

export async function openPages(bundle: Uint8Array, trust: PublicJwk | "unsigned"): Promise<SpocpPdp> {
  return open(bundle, { trust, spocp });
}

export function mayGet(pdp: SpocpPdp, page: string, user: string): boolean {
  // In the canonical form an atom needs no quotes, whatever is in it.
  const atom = (text: string): string => `${new TextEncoder().encode(text).length}:${text}`;
  return pdp.spocp.query(`(4:http(4:page${atom(page)})(6:action3:GET)(4:user${atom(user)}))`);
}

export function reasons(pdp: SpocpPdp, query: string): string[] {
  return pdp.spocp.matches(query).map(({ text }) => text);
}
