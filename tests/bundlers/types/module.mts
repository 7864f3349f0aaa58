// An ES module of Node, whose program declares nothing of the web.

import { readFileSync } from "node:fs";

import { createWatcher, hash, open, openSync, WardgateError, type Code, type Pdp } from "wardgate";
import { FORMAT } from "wardgate/accessors";
import * as authzen from "wardgate/authzen";
import { indexOf, type PolicyIndex, type RuleGroup } from "wardgate/analysis";
import { compile, lint, type Diagnostic } from "wardgate/compiler";
import { createPool } from "wardgate/pool";
import { limiter, redis, type Checked } from "wardgate/ratelimit";
import { spocp, type SpocpPdp, type SpocpRule } from "wardgate/spocp";

const bundle = readFileSync("policies.wardgate");
const now: Pdp = openSync(bundle, { trust: "unsigned" });
const later: Promise<Pdp> = open(new URL("policies.wardgate", import.meta.url), { trust: "unsigned", maxBytes: 7 });
const fetched: Promise<Pdp> = open(fetch("https://example.com"), { trust: "unsigned", code: fetch("https://example.com") });
const streamed: Promise<Pdp> = open(new Blob([bundle]).stream(), { trust: "unsigned" });
const digest: Uint8Array = hash(bundle);
const code: Code = new WardgateError("not-fetched", "text").code;
const format: number = FORMAT;
const found: Promise<readonly Diagnostic[]> = lint({ "a.yaml": "text" }, { globals: { open: true } });
const compiled: Promise<Uint8Array | undefined> = compile(new Map([["a.yaml", bundle]])).then(({ bundle }) => bundle);

const indexed: Promise<PolicyIndex | undefined> = indexOf({ "a.yaml": "text" }).then(({ index }) => index);
const grouped: Promise<readonly RuleGroup[] | undefined> = indexed.then((index) => index?.groups(["same-rule"]));

const ruled: Promise<SpocpPdp> = open(bundle, { trust: "unsigned", spocp });
const rules: readonly SpocpRule[] | undefined = now.spocp?.matches("(a)");

const checked: Promise<Checked> = limiter({ store: redis(async () => []) }).charge([{ name: "api", key: ["ada"], quota: 1, window: "month", algorithm: "fixed" }]);

// @ts-expect-error: who did not ask for rules may have none
const asked: boolean = now.spocp.query("(a)");
// @ts-expect-error: an address is a URL
const text = open("https://example.com", { trust: "unsigned" });
// @ts-expect-error: trust is always a decision
const untold = openSync(bundle, {});
// @ts-expect-error: no option has this name
const unknown = openSync(bundle, { trust: "unsigned", cache: true });

export { asked, authzen, checked, code, compiled, createPool, createWatcher, digest, fetched, format, found, grouped, indexed, later, now, ruled, rules, streamed, text, unknown, untold };
