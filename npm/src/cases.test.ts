// Every request of `tests/cases` against the types of its policies: one program for each case, and no
// error but in the requests that ask for what the policies do not have.

import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

import ts from "typescript";
import { expect, it } from "vitest";
import { parse } from "yaml";

import { types, type LintOptions } from "./compiler/compiler.ts";

/** What a case of `tests/cases` says of its policies and requests. */
interface Case {
  readonly options?: Pick<LintOptions, "evaluation" | "lenientScopeSearch" | "defaultVersion" | "globals"> & { readonly schemas?: LintOptions["schemaEnforcement"]; readonly now?: string };
  readonly policies: readonly (string | { readonly file: string; readonly text: string })[];
  readonly checks: readonly { readonly actions?: readonly string[]; readonly expect: Readonly<Record<string, string | { readonly effect: string }>>; readonly [member: string]: unknown }[];
}

/** A case, the number of a request from 1 on, and the place of its error. */
type Wrong = `${string} ${number} ${string}`;

const folder = new URL("../../tests/cases/", import.meta.url);
const programs = fileURLToPath(new URL("../programs/", import.meta.url));
const names = readdirSync(folder).filter((name) => name.endsWith(".yaml")).map((name) => name.slice(0, -".yaml".length)).sort();
const cases = new Map(names.map((name) => [name, parse(readFileSync(new URL(`${name}.yaml`, folder), "utf8")) as Case]));

/** The requests that are wrong by intention, by the reason: their cases say what a program without types gets. */
const WRONG = {
  "an action that no rule names": [
    "absent_rule_is_no_permission 1 actions.edit",
    "hostile_ids 1 actions.own",
    "json_and_multiple_formats 1 actions.edit",
    "kind_names_of_the_old_form 1 actions.edit",
    "member_names_of_the_host_language 1 actions.constructor",
    "member_names_of_the_host_language 1 actions.toString",
    "mqtt_topics 1 actions.unsubscribe",
    "repeated_actions_and_roles 1 actions.edit",
    "role_policy_alone 1 actions.edit",
    "role_policy_narrows 1 actions.unheard_of",
    "schemas_reject 1 actions.edit",
    "schemas_reject 2 actions.edit",
    "scopes_empty_child_policy 1 actions.edit",
    "scopes_override_parent 3 actions.burn",
    "unicode 1 actions.offnen",
    "which_files_are_policies 1 actions.edit",
  ],
  "a kind without policies": [
    "absent_rule_is_no_permission 5 resource.kind",
    "absent_rule_is_no_permission 6 resource.kind",
    "hostile_ids 9 resource.kind",
    "kind_names_of_the_old_form 3 resource.kind",
    "lenient_scope_search 4 resource.kind",
    "member_names_of_the_host_language 4 resource.kind",
    "principal_policy 5 resource.kind",
    "role_policy_alone 2 resource.kind",
    "role_policy_narrows 6 resource.kind",
  ],
  "a version without policies": [
    "disabled_policies 2 resource.policyVersion",
    "versions 3 resource.policyVersion",
  ],
  "an attribute that its schema refuses": [
    "schemas_of_principals 6 principal.attr.level",
    "schemas_refer_to_each_other 7 resource.attr.any",
    "schemas_reject 2 resource.attr",
    "schemas_reject 4 resource.attr.owner",
    "schemas_reject 7 resource.attr.status",
    "schemas_warn 2 resource.attr.owner",
    "schemas_warn 3 resource.attr",
  ],
  "an attribute of another type than a condition needs": [
    "cel_maps 1 resource.attr.m",
    "cel_numbers 1 resource.attr.text",
    "cel_regex 1 resource.attr.n",
    "cel_strings 1 resource.attr.n",
    "cel_types_and_dyn 1 resource.attr.n",
    "condition_is_not_a_boolean 2 resource.attr.flag",
    "condition_is_not_a_boolean 3 resource.attr.flag",
    "condition_is_not_a_boolean 5 resource.attr.flag",
    "lenient_errors_in_derived_roles 1 resource.attr.amount",
    "missing_attribute_strict 4 resource.attr.deep",
    "strict_errors_in_derived_roles 3 resource.attr.amount",
    "strict_errors_in_variables 3 resource.attr.amount",
  ],
} as const satisfies { readonly [reason: string]: readonly Wrong[] };

/** Returns the text of `types` for the policies of a case. */
async function typesOf({ options = {}, policies }: Case): Promise<string> {
  const files = policies.map((entry): [string, string] => typeof entry === "string" ? [entry, readFileSync(new URL(`policies/${entry}`, folder), "utf8")] : [entry.file, entry.text]);
  const { schemas: schemaEnforcement, now: _, ...others } = options;
  const written = await types(new Map(files), { ...others, schemaEnforcement });
  expect(written.diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  return written.types!;
}

/** Returns a value as an expression. `__proto__` would be no member, if it were not computed. */
function expression(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(expression).join(", ")}]`;
  if (typeof value !== "object" || value === null) return typeof value === "number" ? String(value) : JSON.stringify(value);
  return `{ ${Object.entries(value).map(([name, member]) => `[${JSON.stringify(name)}]: ${expression(member)}`).join(", ")} }`;
}

/** Returns the program of a case: the types of its policies, and one call for each request. */
async function programOf(tested: Case): Promise<string> {
  const requests = tested.checks.map(({ principal, resource, auxData, actions, expect }) => {
    const request = { principal, resource, ...(auxData === undefined ? {} : { auxData }), actions: actions ?? Object.keys(expect) };
    return `pdp.check(${expression(request)});`;
  });
  return ['import type { Pdp } from "wardgate";', await typesOf(tested), "declare const pdp: Pdp<Policies>;", ...requests].join("\n");
}

/** Returns the requests with an error, and its place in each: `CASE NUMBER MEMBER.MEMBER`. */
function errorsIn(texts: ReadonlyMap<string, string>): { readonly found: Wrong[]; readonly requests: number } {
  const { options } = ts.parseJsonConfigFileContent(ts.readConfigFile(`${programs}tsconfig.json`, ts.sys.readFile).config, ts.sys, programs);
  const host = ts.createCompilerHost(options, true);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (path) => texts.has(path) || fileExists(path);
  host.getSourceFile = (path, version, ...rest) => {
    const text = texts.get(path);
    return text === undefined ? getSourceFile(path, version, ...rest) : ts.createSourceFile(path, text, version, true);
  };
  const program = ts.createProgram([...texts.keys()], options, host);
  const found = ts.getPreEmitDiagnostics(program).map((error): Wrong => {
    const calls = error.file === undefined ? [] : callsOf(error.file);
    const number = calls.findIndex((call) => call.getStart() <= error.start! && error.start! < call.end) + 1;
    if (number === 0) throw new Error(ts.formatDiagnostic(error, { ...host, getCanonicalFileName: (path) => path }));
    return `${basename(error.file!.fileName, ".ts")} ${number} ${placeOf(error.file!, error.start!)}`;
  });
  const requests = [...texts.keys()].flatMap((path) => callsOf(program.getSourceFile(path)!)).length;
  return { found: found.sort(), requests };
}

/** Returns the calls of a program, one for each request. */
function callsOf(file: ts.SourceFile): readonly ts.Statement[] {
  return file.statements.filter(ts.isExpressionStatement);
}

/** Returns the members around a place in a request, from the outside to the inside, and the text there. */
function placeOf(file: ts.SourceFile, start: number): string {
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    if (start < node.getStart() || start >= node.end) return;
    if (ts.isPropertyAssignment(node) && ts.isComputedPropertyName(node.name)) names.push((node.name.expression as ts.StringLiteral).text);
    else if (ts.isStringLiteral(node) && ts.isArrayLiteralExpression(node.parent)) names.push(node.text);
    node.forEachChild(visit);
  };
  visit(file);
  return names.join(".");
}

it("compiles with the types of the policies, except where it asks for what they do not have", async () => {
  const texts = new Map<string, string>();
  for (const [name, tested] of cases) texts.set(`${programs}${name}.ts`, await programOf(tested));
  const { found, requests } = errorsIn(texts);
  expect(requests).toBe([...cases.values()].flatMap(({ checks }) => checks).length);
  expect(requests).toBeGreaterThanOrEqual(300);
  expect(found).toEqual(Object.values(WRONG).flat().sort());
});

it("does not compile with an action, a kind or a version for which everything is denied", () => {
  const unknown = [...WRONG["an action that no rule names"], ...WRONG["a kind without policies"], ...WRONG["a version without policies"]];
  for (const wrong of unknown) {
    const [name, number, place] = wrong.split(" ") as [string, string, string];
    const action = /^actions\.(.*)$/.exec(place)?.[1];
    const asked = Object.entries(cases.get(name)!.checks[Number(number) - 1]!.expect).filter(([name]) => action === undefined || name === action);
    const effects = asked.map(([, expected]) => typeof expected === "string" ? expected : expected.effect);
    expect([wrong, ...new Set(effects)]).toEqual([wrong, "deny"]);
  }
});
