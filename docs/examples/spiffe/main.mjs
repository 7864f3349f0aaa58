import { readFile } from "node:fs/promises";
import { open } from "wardgate";

const pdp = await open(await readFile("policies.wardgate"), { trust: "unsigned" });
const ledger = { kind: "ledger", id: "l1", attr: { writers: ["billing"] } };

/** Returns the SPIFFE ID of a verified certificate: its only URI among the alternative names. */
function spiffeIdOf({ subjectAltName }) {
  const uris = subjectAltName.split(", ").filter((name) => name.startsWith("URI:spiffe://"));
  if (uris.length !== 1) throw new Error("a certificate of a workload has one SPIFFE ID");
  return uris[0].slice("URI:".length);
}

// What `tlsSocket.getPeerX509Certificate()` returns has this member, after TLS has verified it.
for (const subjectAltName of [
  "DNS:billing, URI:spiffe://prod.shop.example/ns/payments/sa/billing",
  "URI:spiffe://prod.shop.example/ns/web/sa/shop",
  "URI:spiffe://staging.shop.example/ns/payments/sa/billing",
]) {
  const principal = { id: spiffeIdOf({ subjectAltName }), roles: ["workload"] };
  const { actions } = pdp.check({ principal, resource: ledger, actions: ["read", "append"] });
  console.log(new URL(principal.id).host, actions.read.effect, actions.append.effect); // prod.shop.example allow allow, prod.shop.example allow deny, staging.shop.example deny deny
}
