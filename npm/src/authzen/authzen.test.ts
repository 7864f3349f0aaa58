import { describe, expect, it } from "vitest";

import {
  AuthzenError,
  evaluate,
  evaluateAll,
  MAX_EVALUATIONS,
  metadata,
  parseBody,
  readEvaluation,
  readEvaluations,
  type Answer,
  type Directory,
} from "./authzen.ts";
import { openSync } from "../pdp/open.ts";
import { fixture, thrownBy } from "../testing.ts";

const user = { type: "user", id: "ada" };
const read = { name: "read" };
const record = { type: "record", id: "r1" };
/** A question that is allowed. */
const reading = { subject: user, action: read, resource: record };
const pdp = openSync(fixture("authzen.bundle"), { trust: "unsigned" });

function decide(body: object, directory?: Directory): Answer {
  return evaluate(pdp, readEvaluation(body), directory);
}

/** Returns the answers to several questions; one to a body without a list. */
function allAnswers(body: object, directory?: Directory, steps?: { readonly maxSteps: number }): readonly Answer[] {
  const answer = evaluateAll(pdp, readEvaluations(body), directory, steps);
  return "evaluations" in answer ? answer.evaluations : [answer];
}

describe("one question", () => {
  it("becomes a request", () => {
    const outputs = [{ src: "resource.record.vdefault#rule-001", action: "read", val: { log: "r1" } }];
    expect(decide(reading)).toEqual({ decision: true, context: { outputs } });
    expect(decide({ ...reading, subject: { type: "alien", id: "x" } })).toEqual({ decision: false });
    expect(decide({ ...reading, action: { name: "toString" } })).toEqual({ decision: false });
    expect(decide({ ...reading, resource: { type: "", id: "" } })).toEqual({ decision: false });
  });

  it("carries properties and context to the conditions", () => {
    const check = (body: object, decision: boolean): void => {
      expect(decide({ subject: user, resource: record, ...body }), JSON.stringify(body)).toEqual({ decision });
    };
    const owned = { ...record, properties: { owner: "ada", office: "Berlin" } };
    check({ action: { name: "write" }, resource: owned }, true);
    check({ action: { name: "write" }, resource: { ...record, properties: { owner: "bob" } } }, false);
    const admin = { ...user, properties: { roles: ["admin"] } };
    check({ subject: admin, action: { name: "delete", properties: { soft: true } } }, true);
    check({ subject: admin, action: { name: "delete", properties: { soft: false } } }, false);
    check({ subject: admin, action: { name: "delete" } }, false);
    check({ action: { name: "print" }, resource: owned, context: { office: "Berlin" } }, true);
    check({ action: { name: "print" }, resource: owned, context: { office: "Paris" } }, false);
    check({ action: { name: "print" }, resource: owned, context: null }, false);
  });

  it("takes roles from the properties, or else the type", () => {
    const check = (properties: object, decision: boolean): void => {
      const { decision: found } = decide({ ...reading, subject: { ...user, properties } });
      expect(found, JSON.stringify(properties)).toBe(decision);
    };
    check({}, true);
    check({ roles: ["robot"] }, true);
    check({ roles: ["nobody"] }, false);
    check({ roles: [] }, false);
    check({ roles: "nobody" }, true);
    check({ roles: ["nobody", 1] }, true);
    check({ "roles": ["nobody"], "cerbos.roles": ["user"] }, true);
    check({ "cerbos.scope": "acme" }, true);
    check({ "cerbos.policyVersion": "2" }, true);
    const elsewhere = { ...record, properties: { "cerbos.policyVersion": "2" } };
    expect(decide({ subject: user, action: read, resource: elsewhere })).toEqual({ decision: false });
    const labelled = { ...record, properties: { "cerbos.roles": 7 } };
    expect(decide({ subject: user, action: read, resource: labelled }).decision).toBe(true);
    const scoped = { ...record, properties: { "cerbos.scope": "acme" } };
    expect(decide({ subject: user, action: read, resource: scoped })).toEqual({ decision: false });
  });

  it("is completed by the directory, and the request takes precedence", () => {
    const directory: Directory = {
      subject: () => ({ roles: ["admin"] }),
      resource: (_, id) => (id === "r1" ? { owner: "ada" } : undefined),
    };
    const action = { name: "delete", properties: { soft: true } };
    expect(decide({ subject: user, action, resource: record }, directory)).toEqual({ decision: true });
    const named = { ...user, properties: { roles: ["user"] } };
    expect(decide({ subject: named, action, resource: record }, directory)).toEqual({ decision: false });
    expect(decide({ subject: named, action: { name: "write" }, resource: record }, directory)).toEqual({ decision: true });
    const taken = { ...record, properties: { owner: "bob" } };
    expect(decide({ subject: named, action: { name: "write" }, resource: taken }, directory)).toEqual({ decision: false });
  });

  it("is refused if it is unreadable", () => {
    const check = (body: unknown, message: string): void => {
      const thrown = thrownBy(() => decide(body as object));
      expect(thrown, message).toBeInstanceOf(AuthzenError);
      expect((thrown as AuthzenError).message).toContain(message);
    };
    for (const body of [undefined, null, "x", 1, [reading]]) check(body, "the request must be a JSON object");
    check({}, "`subject` must be an object, found nothing");
    check({ ...reading, subject: "ada" }, "`subject` must be an object, found string");
    check({ ...reading, subject: null }, "`subject` must be an object, found nothing");
    check({ ...reading, subject: { id: "ada" } }, "`subject.type` must be a string, found nothing");
    check({ ...reading, subject: { type: "user" } }, "`subject.id` must be a string, found nothing");
    check({ ...reading, subject: { type: "user", id: 7 } }, "`subject.id` must be a string, found number");
    check({ ...reading, action: {} }, "`action.name` must be a string, found nothing");
    check({ ...reading, action: { name: 123 } }, "`action.name` must be a string, found number");
    check({ ...reading, action: "read" }, "`action` must be an object, found string");
    check({ ...reading, resource: { type: "record" } }, "`resource.id` must be a string, found nothing");
    check({ ...reading, resource: { ...record, properties: [] } }, "`resource.properties` must be an object, found array");
    check({ ...reading, context: "now" }, "`context` must be an object, found string");
    check({ ...reading, subject: { ...user, properties: { "cerbos.roles": "x" } } }, "`cerbos.roles` must be an array");
    check({ ...reading, subject: { ...user, properties: { "cerbos.scope": 1 } } }, "`cerbos.scope` must be a string");
    check({ ...reading, context: { "cerbos.auxData": { jwt: { token: "x" } } } }, "tokens cannot be verified here");
    check({ ...reading, subject: { ...user, id: "\ud800" } }, "an unpaired surrogate");
    check({ ...reading, context: { "\udc00": 1 } }, "an unpaired surrogate");
    check({ ...reading, context: { list: Array.from({ length: 100_001 }, () => 0) } }, "at most 100000 values");
    const deep = JSON.parse(`${'{"a":'.repeat(40)}1${"}".repeat(40)}`) as object;
    check({ ...reading, context: deep }, "at most 32 values deep");
    check(Object.create(reading), "`subject` must be an object, found nothing");
  });

  it("may have unknown members", () => {
    const more = { foo: "bar", futureField: { nested: true } };
    const body = { subject: { ...user, more }, action: { ...read, more }, resource: { ...record, more }, ...more };
    expect(decide(body).decision).toBe(true);
    const hostile = JSON.parse('{"__proto__": {"roles": ["admin"]}, "constructor": 1, "toString": 2}') as object;
    const action = { name: "delete", properties: { soft: true } };
    expect(decide({ subject: { ...user, properties: hostile }, action, resource: record })).toEqual({ decision: false });
  });
});

describe("several questions", () => {
  const decisions = (body: object): (boolean | undefined)[] => allAnswers(body).map(({ decision }) => decision);
  const mixed = [{}, { subject: { type: "alien", id: "x" } }, { action: { name: "fly" } }, {}];
  const defaults = { ...reading, evaluations: mixed };
  const meaning = (evaluations_semantic: unknown): object => ({ ...defaults, options: { evaluations_semantic } });

  it("are answered as far as their semantic requires", () => {
    expect(decisions(defaults)).toEqual([true, false, false, true]);
    expect(decisions(meaning("execute_all"))).toEqual([true, false, false, true]);
    expect(decisions(meaning("deny_on_first_deny"))).toEqual([true, false]);
    expect(decisions(meaning("permit_on_first_permit"))).toEqual([true]);
    expect(decisions({ ...meaning("permit_on_first_permit"), evaluations: mixed.slice(1) })).toEqual([false, false, true]);
    expect(decisions({ ...meaning("deny_on_first_deny"), evaluations: [{}, {}] })).toEqual([true, true]);
    expect(decisions({ ...defaults, options: { other: 1 } })).toEqual([true, false, false, true]);
  });

  it("are one evaluation without a list", () => {
    const { evaluations: _, ...single } = defaults;
    expect(decisions(single)).toEqual([true]);
    expect(decisions({ ...single, evaluations: [] })).toEqual([true]);
    expect(decisions({ ...single, evaluations: null })).toEqual([true]);
  });

  it("take missing parts from the top level, each as a whole", () => {
    const top = { subject: user, resource: { ...record, properties: { owner: "ada" } }, action: { name: "write" } };
    expect(decisions({ ...top, evaluations: [{}, { resource: record }] })).toEqual([true, false]);
    expect(decisions({ subject: user, action: read, resource: {}, evaluations: [{ resource: record }] })).toEqual([true]);
  });

  it("refuse an item with a null part, which no default replaces", () => {
    const given = { ...reading, context: {} };
    for (const name of Object.keys(given)) {
      const [first, second] = allAnswers({ ...given, evaluations: [{ [name]: null }, {}] });
      const error = { status: 400, message: `\`${name}\` must be an object, found null` };
      expect(first).toEqual({ decision: false, context: { error } });
      expect(second?.decision, name).toBe(true);
    }
  });

  it("read each default once, whatever their number", () => {
    let reads = 0;
    const counted = <T extends object>(value: T): T => new Proxy(value, { get: (of, name) => ((reads += 1), Reflect.get(of, name) as unknown) });
    const body = (items: number): object => ({
      subject: counted({ ...user, properties: counted({ a: 1, b: 2 }) }),
      action: counted({ ...read }),
      resource: counted({ ...record, properties: counted({ a: 1 }) }),
      context: counted({ a: 1 }),
      evaluations: Array.from({ length: items }, () => ({})),
    });
    const readsFor = (items: number): number => {
      reads = 0;
      expect(new Set(decisions(body(items)))).toEqual(new Set([true]));
      return reads;
    };
    // Two items share each default: further items read nothing more.
    expect(readsFor(1000)).toBe(readsFor(2));
  });

  it("share defaults without mixing them with parts of items", () => {
    const owned = (owner: string): object => ({ ...record, properties: { owner } });
    const top = { subject: user, action: { name: "write" }, resource: owned("ada") };
    const bob = { subject: { type: "user", id: "bob" } };
    const items = [{}, bob, { ...bob, resource: owned("bob") }, { resource: owned("bob") }, {}, { action: read }, bob, {}];
    expect(decisions({ ...top, evaluations: items })).toEqual([true, false, true, false, true, true, false, true]);
    const print = { subject: user, action: { name: "print" }, resource: { ...record, properties: { owner: "ada", office: "Berlin" } } };
    const places = [{}, { context: { office: "Paris" } }, { action: { name: "print", properties: { x: 1 } } }, {}, { context: {} }, {}];
    expect(decisions({ ...print, context: { office: "Berlin" }, evaluations: places })).toEqual([true, false, true, true, false, true]);
  });

  it("deny an item with tokens that cannot be verified, and go on", () => {
    const context = { "cerbos.auxData": { jwt: { token: "forged" } } };
    expect(decisions({ ...reading, evaluations: [{}, { context }, {}] })).toEqual([true, false, true]);
    expect(decisions({ ...reading, context, evaluations: [{}, { context: {} }, {}] })).toEqual([false, true, false]);
  });

  it("take no more steps together than one request may", () => {
    const body = { ...reading, evaluations: Array.from({ length: 20 }, () => ({})) };
    const allowed = (maxSteps?: number): number =>
      allAnswers(body, undefined, maxSteps === undefined ? undefined : { maxSteps }).filter(({ decision }) => decision).length;
    expect([allowed(), allowed(20_000_000), allowed(0)]).toEqual([20, 20, 0]);
    const some = allowed(200);
    expect([some > 0, some < 20]).toEqual([true, true]);
    expect(() => allowed(-1)).toThrow(RangeError);
  });

  it("share nothing with requests that code of the caller makes in between", () => {
    const admin = { type: "robot", id: "root" };
    const robots = readEvaluations({ subject: admin, action: { name: "read" }, resource: record, evaluations: [{}, {}] });
    let request = 0;
    const nosy = { get x(): number { request += 1; evaluateAll(pdp, robots); return 1; } };
    const directory = { subject: () => undefined, resource: (_: string, id: string) => (id === "nosy" ? { nosy } : {}) };
    const stranger = { type: "alien", id: "eve" };
    const alone = { subject: { type: "alien", id: "bob" }, resource: { type: "record", id: "nosy" }, context: { a: 1 } };
    const evaluations = [{ resource: record }, alone, { resource: record }, { resource: { type: "record", id: "r2" } }];
    const found = allAnswers({ subject: stranger, action: read, evaluations }, directory);
    expect(request).toBeGreaterThan(0);
    expect(found.map(({ decision }) => decision)).toEqual([false, false, false, false]);
  });

  it("pay for reading a request, even a refused one, and for its outputs", () => {
    // Roles are an attribute too: together more values than the limit of a request.
    const roles = Array.from({ length: 60_000 }, () => "user");
    const subject = { ...user, properties: { roles } };
    const many = Array.from({ length: 1000 }, () => ({}));
    const refused = allAnswers({ ...reading, subject, evaluations: many });
    const errors = refused.filter(({ context }) => context?.error !== undefined).length;
    expect([errors > 0, errors < 100]).toEqual([true, true]);
    const long = { ...reading, resource: { ...record, id: "r".repeat(100_000) }, evaluations: many };
    const allowed = allAnswers(long, undefined, { maxSteps: 1_000_000 }).filter(({ decision }) => decision);
    expect(allowed.length).toBeLessThan(100);
  });

  it("read a context again only up to a bound", () => {
    const context = { list: Array.from({ length: 40_000 }, () => 0) };
    const items = Array.from({ length: 4 }, (_, x) => ({ action: { ...read, properties: { x } } }));
    expect(decisions({ subject: user, resource: record, context, evaluations: [...items, { action: read }] })).toEqual([true, true, false, false, true]);
  });

  it("deny an unreadable item, and go on", () => {
    const items = [{ resource: record }, {}, 7, { resource: { type: "record" } }, { resource: record }];
    const body = { subject: user, action: read, evaluations: items };
    expect(decisions(body)).toEqual([true, false, false, false, true]);
    expect(decisions({ ...body, options: { evaluations_semantic: "deny_on_first_deny" } })).toEqual([true, false]);
    const error = { status: 400, message: "`resource` must be an object, found nothing" };
    expect(allAnswers(body)[1]).toEqual({ decision: false, context: { error } });
  });

  it("are refused as a whole if the list is unreadable", () => {
    const check = (change: object): void => {
      expect(() => readEvaluations({ ...defaults, ...change }), JSON.stringify(change).slice(0, 80)).toThrow(AuthzenError);
    };
    check({ evaluations: {} });
    check({ subject: "ada" });
    check({ context: [] });
    check({ options: "execute_all" });
    check({ options: { evaluations_semantic: "sometimes" } });
    check({ options: { evaluations_semantic: 1 } });
    check({ evaluations: Array.from({ length: MAX_EVALUATIONS + 1 }, () => ({})) });
    check({ evaluations: [], subject: { type: "user" } });
  });
});

describe("the text of a body", () => {
  const fails = (text: string, message: string): void => {
    expect(() => parseBody(text), text.slice(0, 80)).toThrow(AuthzenError);
    expect(() => parseBody(text), text.slice(0, 80)).toThrow(message);
  };

  it("equals the result of JSON.parse", () => {
    const texts = ['{"a":{"b":[{"c":1},{"c":2}],"c":"}{"},"c":"a\\\\","d":"\\""}', "[]", '"a"', " {} ", '[{"a":1},{"a":1}]', '{"a":["a","a"],"b":"a"}'];
    for (const text of texts) expect(parseBody(text)).toEqual(JSON.parse(text));
  });

  it("has no repeated member, in any spelling, at any depth", () => {
    fails('{"roles":["guest"],"roles":["admin"]}', "duplicate member `roles` in an object");
    fails('{"subject":{"properties":{"a":{"b":1,"c":{},"b":1}}}}', "duplicate member `b`");
    fails('[1,{"a":1,"\\u0061":2}]', "duplicate member `a`");
    fails('{"\\u0061\\"":1,"a\\"":2}', 'duplicate member `a"`');
    fails('{"":1,"":1}', "duplicate member ``");
    fails('{"__proto__":1,"__proto__":1}', "duplicate member `__proto__`");
    const many = Array.from({ length: 5000 }, (_, at) => `"m${at}":0`);
    expect(Object.keys(parseBody(`{${many.join()}}`) as object).length).toBe(5000);
    fails(`{${many.join()},"m77":0}`, "duplicate member `m77`");
    fails(`{"${"n".repeat(5000)}":0,"${"n".repeat(5000)}":0}`, `duplicate member \`${"n".repeat(100)}...\``);
  });

  it("is no deeper than a request may be, and JSON", () => {
    expect(parseBody(`${"[".repeat(32)}${"]".repeat(32)}`)).toBeInstanceOf(Array);
    fails("[".repeat(33) + "]".repeat(33), "at most 32 values deep");
    fails("[".repeat(4_000_000), "at most 32 values deep");
    fails('{"a":'.repeat(1_000_000), "at most 32 values deep");
    for (const text of ["", "{", '{"a', '{"a\\', '"', "}}}}", "]", '{"a":1,}', '{"a":1]', "{,}", '{"\\u00', "nul", '{a:1,a:1}']) fails(text, "the request must be JSON");
  });

  it("is scanned once, even with a few MiB of quotes and backslashes", () => {
    for (const piece of ['\\"', "\\\\", "a", "\\u0022"]) {
      const long = piece.repeat(1_000_000);
      expect((parseBody(`["${long}","${long}"]`) as string[])[0]).toBe(JSON.parse(`"${long}"`));
    }
  });
});

describe("a body of a few MiB", () => {
  const refusedBody = (body: object, message: string): void => {
    expect(() => readEvaluations(parseBody(JSON.stringify(body)))).toThrow(message);
  };

  it("is refused before a closer check", () => {
    const list = Array.from({ length: 1_000_000 }, () => 0);
    const wide = Object.fromEntries(Array.from({ length: 300_000 }, (_, at) => [`m${at}`, at]));
    refusedBody({ ...reading, context: { list } }, "at most 100000 values");
    refusedBody({ ...reading, context: wide }, "at most 100000 values");
    refusedBody({ ...reading, evaluations: list }, "at most 100000 values");
  });

  it("is decided if it is one long text", () => {
    const text = "x".repeat(4 * 2 ** 20);
    const answers = allAnswers({ ...reading, subject: { ...user, properties: { text } }, evaluations: [{}, {}, {}] });
    expect(answers.map(({ decision }) => decision)).toEqual([true, true, true]);
  });
});

describe("metadata", () => {
  it("names every endpoint below the URL of the PDP", () => {
    expect(metadata("https://pdp.example.com/tenant1/")).toEqual({
      policy_decision_point: "https://pdp.example.com/tenant1",
      access_evaluation_endpoint: "https://pdp.example.com/tenant1/access/v1/evaluation",
      access_evaluations_endpoint: "https://pdp.example.com/tenant1/access/v1/evaluations",
      search_subject_endpoint: "https://pdp.example.com/tenant1/access/v1/search/subject",
      search_resource_endpoint: "https://pdp.example.com/tenant1/access/v1/search/resource",
      search_action_endpoint: "https://pdp.example.com/tenant1/access/v1/search/action",
    });
    const some = ["access_evaluation_endpoint", "search_action_endpoint"] as const;
    expect(metadata("http://127.0.0.1:8787", some)).toEqual({
      policy_decision_point: "http://127.0.0.1:8787",
      access_evaluation_endpoint: "http://127.0.0.1:8787/access/v1/evaluation",
      search_action_endpoint: "http://127.0.0.1:8787/access/v1/search/action",
    });
    const plain = ["http://a.example", "http://127.0.0.1.a.example", "http://localhost.a.example", "http://[::2]"];
    for (const url of [...plain, "", "pdp", "ftp://a.example", "https://a.example?b", "https://a.example#b", "https://a.example?", "https://a.example#"]) {
      expect(() => metadata(url), url).toThrow(RangeError);
    }
  });
});
