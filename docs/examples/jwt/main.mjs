import { generateKeyPairSync, sign, verify } from "node:crypto";
import { readFile } from "node:fs/promises";
import { open } from "wardgate";

const pdp = await open(await readFile("policies.wardgate"), { trust: "unsigned" });
const ISSUER = "https://login.example";
const AUDIENCE = "reports";

/** Returns the claims of a token; throws if it is not one of our issuer, for us, and valid now. */
function verified(token, publicKey) {
  const [head, body, signature, ...rest] = token.split(".");
  if (signature === undefined || rest.length > 0) throw new Error("no token");
  // The algorithm is ours, not the token's: a token that names another one is refused.
  if (parsed(head).alg !== "ES256") throw new Error("wrong algorithm");
  const key = { key: publicKey, dsaEncoding: "ieee-p1363" };
  if (!verify("sha256", Buffer.from(`${head}.${body}`), key, Buffer.from(signature, "base64url"))) throw new Error("wrong signature");
  const claims = parsed(body);
  if (claims.iss !== ISSUER || claims.aud !== AUDIENCE) throw new Error("for somebody else");
  if (!(claims.exp > Date.now() / 1000)) throw new Error("expired");
  return claims;
}

/** Answers if the bearer of a token may perform the action, or says why the token is refused. */
function answer(token, action, resource) {
  try {
    const jwt = verified(token, publicKey);
    return pdp.isAllowed({ principal: { id: jwt.sub, roles: ["user"] }, action, resource, auxData: { jwt } });
  } catch (error) {
    return `refused (${error.message})`;
  }
}

const parsed = (part) => JSON.parse(Buffer.from(part, "base64url"));
const written = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");

// The issuer, which is another server in truth.
const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
function issued(claims, key = privateKey) {
  const text = `${written({ alg: "ES256", typ: "JWT" })}.${written(claims)}`;
  return `${text}.${sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
}

const now = Math.floor(Date.now() / 1000);
const claims = { iss: ISSUER, aud: AUDIENCE, sub: "ann", org: "acme", scope: "reports:read reports:write", auth_time: now - 60, exp: now + 300 };
const report = { kind: "report", id: "r1", attr: { org: "acme" } };
console.log("reads:", answer(issued(claims), "view", report)); // reads: true
console.log("writes:", answer(issued(claims), "edit", report)); // writes: true
console.log("another scope:", answer(issued({ ...claims, scope: "reports:read" }), "edit", report)); // another scope: false
console.log("signed in yesterday:", answer(issued({ ...claims, auth_time: now - 86400 }), "edit", report)); // signed in yesterday: false
console.log("expired:", answer(issued({ ...claims, exp: now - 1 }), "view", report)); // expired: refused (expired)
const forged = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
console.log("forged:", answer(issued(claims, forged), "view", report)); // forged: refused (wrong signature)
