// Queries to the rules of SPOCP in a bundle.

import { open, type PublicJwk } from "wardgate";
import { spocp, type SpocpPdp } from "wardgate/spocp";

export async function openPages(bundle: Uint8Array, trust: PublicJwk | "unsigned"): Promise<SpocpPdp> {
  return open(bundle, { trust, spocp });
}

export function mayGet(pdp: SpocpPdp, page: string, user: string): boolean {
  // In the canonical form no atom needs quotes.
  const atom = (text: string): string => `${new TextEncoder().encode(text).length}:${text}`;
  return pdp.spocp.query(`(4:http(4:page${atom(page)})(6:action3:GET)(4:user${atom(user)}))`);
}

export function reasons(pdp: SpocpPdp, query: string): string[] {
  return pdp.spocp.matches(query).map(({ text }) => text);
}
