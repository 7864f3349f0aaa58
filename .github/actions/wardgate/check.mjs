// Lints, tests and compares policies, and prints what is found as annotations: `::error file=...,line=...::text`.
//
// COMMAND is the command, POLICIES the directory. Where BASE is a folder, its policies are those before the change. FORBID and DENY are the
// options of the action. The program fails if one of the commands fails.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, posix } from "node:path";

const { COMMAND = "wardgate", POLICIES = "policies", BASE = "", FORBID = "more", DENY = "" } = process.env;
let failed = 0;
lint();
test();
compare();
process.exitCode = failed === 0 ? 0 : 1;

function lint() {
  const denied = DENY.split(/\s+/).filter(Boolean).flatMap((code) => ["--deny", code]);
  for (const { severity, code, file, line, column, message, expected, found } of parsed(run("lint", [POLICIES, "--json", ...denied])) ?? []) {
    const text = expected ? `${message}: expected ${expected}, found ${found}` : message;
    report(severity === "error" ? "error" : "warning", { file, line, col: column, title: code }, text);
  }
}

function test() {
  for (const suite of parsed(run("test", [POLICIES, "--json", "--pass-with-no-tests"]))?.suites ?? []) {
    if (suite.error) report("error", { file: inPolicies(suite.file) }, suite.error);
    for (const { name, principals } of suite.testCases ?? []) {
      for (const { path, action } of actionsOf(principals)) annotateTest(suite, [name, ...path], action);
    }
  }
}

function annotateTest({ file }, path, { line, column, details }) {
  const { result, failure, error } = details ?? {};
  if (result !== "RESULT_FAILED" && result !== "RESULT_ERRORED") return;
  const text = failure ? `expected ${failure.expected}, found ${failure.actual}` : (error ?? result);
  report("error", { file: inPolicies(file), line, col: column }, `${path.join(" / ")}: ${text}`);
}

/** Returns the actions of a test, each with the names that lead to it. */
function actionsOf(principals = []) {
  return principals.flatMap((principal) =>
    (principal.resources ?? []).flatMap((resource) =>
      (resource.actions ?? []).map((action) => ({ path: [principal.name, resource.name, action.name], action })),
    ),
  );
}

function compare() {
  const old = join(BASE, POLICIES);
  if (BASE === "" || !existsSync(old)) return console.log("no policies before the change: nothing is compared");
  const forbidden = FORBID === "nothing" ? [] : ["--forbid", FORBID];
  annotate(run("compare", [old, POLICIES, "--format", "sarif", ...forbidden]));
}

/** Prints the results of a document in SARIF. */
function annotate(text) {
  for (const result of parsed(text)?.runs?.flatMap(({ results }) => results ?? []) ?? []) {
    const { artifactLocation, region = {} } = result.locations?.[0]?.physicalLocation ?? {};
    const place = { file: inPolicies(artifactLocation?.uri), line: region.startLine, col: region.startColumn, title: result.ruleId };
    report(result.level === "error" ? "error" : "warning", place, result.message.text);
  }
}

/** Prints one annotation. */
function report(level, place, text) {
  const properties = Object.entries(place).filter(([, value]) => value !== undefined);
  const shown = properties.map(([name, value]) => `${name}=${escaped(String(value)).replaceAll(":", "%3A").replaceAll(",", "%2C")}`);
  console.log(`::${level}${shown.length > 0 ? ` ${shown.join(",")}` : ""}::${escaped(text)}`);
}

/** Returns the path of a file that is named from the directory of the policies. */
function inPolicies(file) {
  return file === undefined ? undefined : posix.join(POLICIES, file);
}

/** A text of others must not end its line: the next one would be a command to the workflow. */
function escaped(text) {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

/** Runs a verb of the command, counts it if it fails, and returns its output. What it says to people goes into the log. */
function run(verb, words) {
  const options = { encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "inherit"] };
  const { status, stdout, error } = spawnSync(COMMAND, [verb, ...words], options);
  if (error) throw error;
  console.log(`wardgate ${verb}: exit code ${status}`);
  if (status !== 0) failed += 1;
  return stdout;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
