// A program that uses the package. `cargo xtask test` checks its types against the published
// declarations.

import { readFile } from "node:fs/promises";

import { open, WardgateError, type Principal, type PublicJwk, type Reason, type Resource } from "wardgate";

interface Album {
  readonly id: string;
  readonly owner: string;
  readonly sharedWith: readonly string[];
  readonly deletedAt: Date | undefined;
}

function resource({ id, ...attr }: Album): Resource {
  return { kind: "album", id, attr };
}

const ada: Principal = { id: "ada", roles: ["user"], attr: { country: "GB" } };
const holidays: Album = { id: "a1", owner: "ada", sharedWith: ["bo"], deletedAt: undefined };

const trust = JSON.parse(await readFile("release.pub.jwk", "utf8")) as PublicJwk;
using pdp = await open(await readFile("album.bundle"), { trust, minRevision: 7 });
console.log(`revision ${pdp.header.revision}, signed by ${pdp.header.signers.join(" and ")}`);

if (pdp.isAllowed({ principal: ada, action: "view", resource: resource(holidays) })) {
  console.log("show the album");
}

const decision = pdp.check({ principal: ada, resource: resource(holidays), actions: ["view", "edit"] });
for (const [action, { effect, reason }] of Object.entries(decision.actions)) {
  console.log(action, effect, why(reason));
}

try {
  pdp.reload(await readFile("album.next.bundle"));
} catch (error) {
  if (!(error instanceof WardgateError)) throw error;
  console.warn("the old policies stay:", error.code, error.message);
}

function why(reason: Reason): string {
  switch (reason.kind) {
    case "rule":
    case "condition-error":
      return `${reason.kind} ${reason.rule}`;
    case "limit-reached":
      return `${reason.kind} ${reason.rule ?? "for the whole request"}`;
    case "limited":
    case "limit-error":
    case "store-away":
      return `${reason.kind} ${reason.limit}`;
    case "not-in-role-policy":
    case "no-rule-applied":
    case "no-policy":
    case "schema-violation":
    case "expired":
    case "log-full":
      return reason.kind;
  }
}
