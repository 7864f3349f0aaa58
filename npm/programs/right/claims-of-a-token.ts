import type { Pdp } from "wardgate";

const principal = { id: "ada", roles: ["user"] };

// As jose has it: some named claims, and any others.
interface JWTPayload {
  iss?: string;
  exp?: number;
  [claim: string]: unknown;
}

export function decide(pdp: Pdp): boolean {
  const jwt: JWTPayload = { iss: "accounts.example", team: "art" };
  return pdp.isAllowed({ principal, action: "view", resource: { kind: "album", id: "a1" }, auxData: { jwt, jwts: { access: { claims: jwt } } } });
}
