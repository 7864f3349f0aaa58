// The annotations of the action, with the real command: `WARDGATE` names it.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("check.mjs", import.meta.url));
const rule = (actions) => `    - { actions: [${actions}], roles: [member], effect: EFFECT_ALLOW }\n`;
const policy = (...rules) =>
  `apiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  resource: document\n  version: default\n  rules:\n${rules.map(rule).join("")}`;
const suite = (edit) => `name: Documents
principals: { sam: { id: sam, roles: [member] } }
resources: { d1: { kind: document, id: d1 } }
tests:
  - name: members
    input: { principals: [sam], resources: [d1], actions: [view, edit] }
    expected:
      - { principal: sam, resource: d1, actions: { view: EFFECT_ALLOW, edit: ${edit} } }
`;

/** Runs the program over policies, and returns its exit code and annotations. */
function check(files, base = {}, options = {}) {
  const home = mkdtempSync(join(tmpdir(), "wardgate-action-"));
  for (const [folder, content] of [["policies", files], ["base/policies", base]]) {
    for (const [name, text] of Object.entries(content)) {
      mkdirSync(join(home, folder), { recursive: true });
      writeFileSync(join(home, folder, name), text);
    }
  }
  const env = { ...process.env, COMMAND: process.env.WARDGATE ?? "wardgate", BASE: join(home, "base"), ...options };
  const { status, stdout } = spawnSync(process.execPath, [program], { cwd: home, env, encoding: "utf8" });
  return { status, annotations: stdout.split("\n").filter((line) => line.startsWith("::")) };
}

test("policies that are right have no annotation", () => {
  const right = { "document.yaml": policy("view"), "document_test.yaml": suite("EFFECT_DENY") };
  assert.deepEqual(check(right, right), { status: 0, annotations: [] });
});

test("a test that fails is shown at its line", () => {
  const { status, annotations } = check({ "document.yaml": policy("view"), "document_test.yaml": suite("EFFECT_ALLOW") });
  assert.equal(status, 1);
  assert.deepEqual(annotations.map((line) => line.replace(/col=\d+/, "col=N")), [
    "::error file=policies/document_test.yaml,line=8,col=N::members / sam / d1 / edit: expected EFFECT_ALLOW, found EFFECT_DENY",
  ]);
});

test("a finding warns, and fails the check where it is denied", () => {
  const twice = { "document.yaml": policy("view", "view") };
  const [warned, denied] = [{}, { DENY: "warnings" }].map((options) => check(twice, {}, options));
  assert.deepEqual([warned.status, denied.status], [0, 1]);
  assert.match(warned.annotations[0], /^::warning file=policies\/document\.yaml,line=7,/);
});

test("access that a change adds is shown at its rule, and forbidden unless told otherwise", () => {
  const [before, after] = [policy("view"), policy("view, edit")].map((text) => ({ "document.yaml": text }));
  const [forbidden, reported] = ["more", "nothing"].map((FORBID) => check(after, before, { FORBID }));
  assert.deepEqual([forbidden.status, reported.status], [1, 0]);
  assert.match(forbidden.annotations[0], /^::error file=policies\/document\.yaml,line=6,title=more-access::edit on document/);
});

test("policies that do not compile fail the check, at the line", () => {
  const wrong = policy("view").replace("EFFECT_ALLOW", "EFFECT_MAYBE");
  const { status, annotations } = check({ "document.yaml": wrong });
  assert.equal(status, 1);
  assert.deepEqual(annotations.slice(0, 1).map((line) => line.replace(/col=\d+/, "col=N")), [
    "::error file=policies/document.yaml,line=6,col=N,title=parse::unknown name: expected one of `EFFECT_ALLOW`, `EFFECT_DENY`, found `EFFECT_MAYBE`",
  ]);
});

test("a name cannot give commands to the workflow", () => {
  const hostile = suite("EFFECT_ALLOW").replace("name: members", 'name: "a\\n::set-env name=b::c"');
  const { annotations } = check({ "document.yaml": policy("view"), "document_test.yaml": hostile });
  assert.equal(annotations.length, 1);
  assert.match(annotations[0], /::a%0A::set-env name=b::c \/ sam/);
});
