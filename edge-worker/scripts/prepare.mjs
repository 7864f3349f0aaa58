// Makes what the tests and `npm run dev` need, in `.dev`: keys, and bundles that they signed. Keys are made anew each
// time: a secret that is kept in a project is none.
//
// WARDGATE names the command; unless set, it is what `cargo build -p wardgate-cli` wrote, or found by PATH: that of the npm package.

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";

const root = new URL("../", import.meta.url);
const dev = new URL(".dev/", root);
const built = new URL("../target/debug/wardgate", root).pathname;
const command = process.env.WARDGATE ?? (existsSync(built) ? built : "wardgate");

rmSync(dev, { recursive: true, force: true });
mkdirSync(new URL("thousand/", dev), { recursive: true });
thousandRules().forEach((policy, kind) => writeFileSync(new URL(`thousand/kind${kind}.yaml`, dev), policy));

wardgate("keys generate -o release.jwk --public release.pub.jwk --id release");
wardgate("keys generate -o stranger.jwk --public stranger.pub.jwk --id stranger");
wardgate("compile ../policies -o policies.bundle --sign release.jwk --name interop --revision 1");
wardgate("compile ../test/closed -o next.bundle --sign release.jwk --name interop --revision 2");
wardgate("compile ../test/closed -o stranger.bundle --sign stranger.jwk --name interop --revision 3");
wardgate("compile ../policies -o dated.bundle --sign release.jwk --name interop --revision 1 --not-before 2026-01-01T00:00:00Z --expires 2036-01-01T00:00:00Z");
wardgate("compile ../test/limited -o limited.bundle --sign release.jwk --name interop --revision 2");
wardgate("compile ../policies -o later.bundle --sign release.jwk --name interop --revision 3");
wardgate("compile ../test/mqtt/policies -o mqtt.bundle --sign release.jwk --name mqtt --revision 1");
wardgate("compile ../test/mqtt/closed -o mqtt-closed.bundle --sign release.jwk --name mqtt --revision 2");
native("log keys --origin log.example/edge -o log.key --public log.vkey");
wardgate("compile thousand -o thousand.bundle --sign release.jwk --name interop --revision 1");

function wardgate(line) {
  execFileSync(command, line.split(" "), { cwd: dev, stdio: ["ignore", "ignore", "inherit"] });
}

/** Runs what the command of the npm package has not, and says so with 2. Only the tests of the signed log need it. */
function native(line) {
  const { status } = spawnSync(command, line.split(" "), { cwd: dev, stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0 && status !== 2) throw new Error(`wardgate ${line}: exit code ${status}`);
}

/** Twenty kinds with fifty rules each; the last rule of the last kind decides what the tests ask. */
function thousandRules() {
  const rule = (kind, at) => `    - actions: [do${at}]
      effect: EFFECT_ALLOW
      roles: [user]
      condition: { match: { expr: 'R.attr.owner == P.id && R.attr.level > ${kind * 50 + at}' } }
`;
  const policy = (kind) => `apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: kind${kind}
  rules:
${Array.from({ length: 50 }, (_, at) => rule(kind, at)).join("")}`;
  return Array.from({ length: 20 }, (_, kind) => policy(kind));
}
