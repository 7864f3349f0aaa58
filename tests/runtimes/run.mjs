// Lets the package answer every question of the file that `runtimes write` made, in any runtime.
//
// It imports the package by its name, as a user does, and needs nothing of the runtime but the interfaces of the web.
// A line of the file is one of
//   { suite, name, digests, bundle, now, requests, right }       decide, by all ways where `right` has an answer
//   { suite, name, digests, bundle, base?, trust, ..., requests } open or refuse, then decide
//   { suite, name, digests, bundle, segment, with, changed }      decide again what a log records, also by another bundle
//   { suite, name, digests, bundle, queries }                     query the rules of SPOCP in the bundle
//   { suite, name, digests, lengths }                            digest messages of these lengths
//   { suite, name, digests, alg, key, signatures }               verify
// where `digests` are those of the right answers, one after the other.

import { hash, hashMany, load, open, verifyBatch, WardgateError } from "wardgate";
import { replay } from "wardgate/log";
import { spocp } from "wardgate/spocp";
import { compare, decisionBytes } from "../node/ways.mjs";
import { checkLimits } from "./limits.mjs";
import { checkMqtt } from "./mqtt.mjs";

/**
 * Answers everything in `stream`, and returns the report: see `tests/src/runtimes/report.rs`. The package finds
 * its module by itself, or is given the one without vectors as `plain`.
 */
export async function run(runtime, stream, plain) {
  if (plain !== undefined) await load({ code: plain });
  await checkMqtt();
  await checkLimits();
  const report = new Report();
  for await (const text of linesOf(stream)) {
    const line = JSON.parse(text);
    report.hold(line, await answersTo(line, report));
  }
  // Where there are vectors, the package takes the module that uses them.
  return { runtime, vectors: plain === undefined && WebAssembly.validate(VECTORS), ...report.json() };
}

async function answersTo(line, report) {
  if (line.lengths !== undefined) return digests(line);
  if (line.signatures !== undefined) return verified(line);
  if (line.queries !== undefined) return ruled(line);
  if (line.segment !== undefined) return replayed(line, report);
  return decided(line, report);
}

/** Decides again what a log records: by the bundle that decided, and by one that differs by a rule. */
async function replayed(line, report) {
  const [bundle, segment, other] = [bytes(line.bundle), bytes(line.segment), bytes(line.with)];
  try {
    const answers = [];
    for await (const { outcomes } of replay(segment, { bundles: [bundle], trust: "unsigned" })) answers.push(utf8.encode(answerOf(outcomes[0])));
    let at = 0;
    for await (const { outcomes } of replay(segment, { bundles: [bundle], trust: "unsigned", with: other })) {
      report.holdChanged(line, at, outcomes[0], line.changed[at]);
      at += 1;
    }
    return answers;
  } catch (error) {
    return [utf8.encode(error instanceof WardgateError ? error.code : String(error?.stack ?? error))];
  }
}

/** Returns the answer that is given again; an outcome that does not fit it is wrong too. */
function answerOf({ kind, answer, isAllowed }) {
  if (kind === "not-replayed") return "none";
  const again = isAllowed ? "allowed" : "denied";
  return (kind === "same") === (again === answer) ? again : `${kind}, although ${answer} and ${again}`;
}

/** Returns everything about each query: see `answer` in `tests/src/rules.rs`. */
async function ruled({ bundle, queries }) {
  const pdp = await open(bytes(bundle), { trust: "unsigned", spocp });
  try {
    return queries.map((query) => ruling(pdp.spocp, bytes(query)));
  } finally {
    pdp.dispose();
  }
}

function ruling(rules, query) {
  try {
    const [all, first] = [rules.matches(query), rules.first(query)];
    const head = `${rules.query(query)} ${first?.number ?? "-"} ${all.map(({ number }) => number)}`;
    const forms = all.flatMap(({ text, canonical }) => [utf8.encode(text), canonical]);
    return joined([utf8.encode(head), ...forms.flatMap((form) => [BLANK, form])]);
  } catch (error) {
    return utf8.encode(error instanceof WardgateError ? `${error.code} ${error.offset} ${error.message}` : String(error?.stack ?? error));
  }
}

function joined(parts) {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

async function decided(line, report) {
  const { bundle, base, requests, right, unsealKey, trust = "unsigned", now, minRevision = 0 } = line;
  const clock = { reads: 0, read: () => ((clock.reads += 1), now) };
  const settings = { trust, now, minRevision, clock: clock.read, ...(unsealKey && { unsealKey: bytes(unsealKey) }) };
  let pdp;
  try {
    pdp = await open(bytes(base ?? bundle), settings);
    if (base !== undefined) pdp.reload(bytes(bundle), { now });
    const answers = requests.map((request) => decisionBytes(pdp, request));
    if (right !== undefined) report.holdWays(line, compare({ pdp, clock }, requests.slice(0, right.allowed.length), right));
    return answers;
  } catch (error) {
    return [utf8.encode(error instanceof WardgateError ? error.code : String(error?.stack ?? error))];
  } finally {
    pdp?.dispose();
  }
}

/** Returns the digests of messages, one at a time and many at once, which must be the same. */
function digests({ lengths }) {
  const messages = lengths.map(message);
  const many = hashMany(messages);
  return messages.map((message, at) => (hex(hash(message)) === hex(many[at]) ? many[at] : new Uint8Array()));
}

/** Returns the message of this length: its bytes count from 0 to 250 again and again. */
function message(length) {
  return Uint8Array.from({ length }, (_, at) => at % 251);
}

function verified({ alg, key, signatures }) {
  const publicKey = { alg, key: bytes(key) };
  const all = signatures.map(({ message, context, signature }) => ({
    key: publicKey,
    message: bytes(message),
    context: bytes(context),
    signature: bytes(signature),
  }));
  return verifyBatch(all).map((isRight) => utf8.encode(String(isRight)));
}

/** Counts answers, and stores their digests. */
class Report {
  #suites = {};
  #ways = { passed: 0, failed: 0 };
  #decided = [];
  #failures = [];

  /** Compares the answers to a line with the right ones. A missing answer is wrong. */
  hold({ suite, name, digests }, answers) {
    const expected = hex(bytes(digests));
    const counted = (this.#suites[suite] ??= { passed: 0, failed: 0, digests: [] });
    const count = Math.max(answers.length, expected.length / HEX_DIGITS);
    for (let at = 0; at < count; at += 1) {
      const answer = answers[at] ?? new Uint8Array();
      const digest = hash(answer);
      counted.digests.push(digest);
      if (suite !== "crypto") this.#decided.push(digest);
      if (hex(digest) === expected.slice(at * HEX_DIGITS, (at + 1) * HEX_DIGITS)) counted.passed += 1;
      else {
        counted.failed += 1;
        this.#fail(suite, name, at, new TextDecoder().decode(answer));
      }
    }
  }

  /** Counts an answer of the bundle with another rule. What the evidence does not tell is no answer, and no wrong one. */
  holdChanged({ suite, name }, at, { kind, isAllowed }, right) {
    if (kind === "not-replayed") return;
    this.#ways[isAllowed === right ? "passed" : "failed"] += 1;
    if (isAllowed !== right) this.#fail(suite, name, at, `with: ${isAllowed}`);
  }

  /** Counts the answers of every way to the decisions of a line. */
  holdWays({ suite, name }, { differences, counts }) {
    const total = Object.values(counts).reduce((sum, [questions]) => sum + questions, 0);
    this.#ways.passed += total - differences.length;
    this.#ways.failed += differences.length;
    for (const { way, request, action, said } of differences) this.#fail(suite, name, request, `${way} of \`${action}\`: ${said}`);
  }

  json() {
    const suites = Object.entries(this.#suites).map(([suite, { digests, ...counts }]) => [suite, { ...counts, digest: digestOf(digests) }]);
    return {
      suites: Object.fromEntries(suites),
      ways: this.#ways,
      digest: digestOf(this.#decided),
      failures: this.#failures,
    };
  }

  #fail(suite, name, at, answer) {
    if (this.#failures.length < MOST_FAILURES) this.#failures.push({ suite, name, at, said: answer.slice(0, MOST_SAID) });
  }
}

function digestOf(digests) {
  const all = new Uint8Array(digests.length * 32);
  for (const [at, digest] of digests.entries()) all.set(digest, at * 32);
  return hex(hash(all));
}

/** Returns the lines of a stream of bytes. */
async function* linesOf(stream) {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop();
    yield* lines.filter((line) => line !== "");
    if (done) break;
  }
  if (rest !== "") yield rest;
}

function bytes(base64) {
  const characters = atob(base64);
  const all = new Uint8Array(characters.length);
  for (let at = 0; at < all.length; at += 1) all[at] = characters.charCodeAt(at);
  return all;
}

function hex(bytes) {
  let text = "";
  for (const byte of bytes) text += HEX[byte];
  return text;
}

const utf8 = new TextEncoder();
const BLANK = utf8.encode(" ");
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const HEX_DIGITS = 64;
const MOST_FAILURES = 5;
/** The most characters of a wrong answer in the report. */
const MOST_SAID = 4000;

/** A module with one operation on vectors. */
const VECTORS = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11,
]);
