// Answers that a gate keeps: those that the topic alone decides, for the policies that gave them.

import { afterEach, beforeAll, beforeEach, expect, it } from "vitest";

import { PrincipalQueries } from "../pdp/prepared.ts";
import { openSync } from "../pdp/open.ts";
import type { Pdp } from "../pdp/types.ts";
import { closed, fixture, releaseKey, signed } from "../testing.ts";
import { mqtt, type Gate, type PacketToEncode, type Steps } from "./mqtt.ts";

const policies = fixture("topics.bundle");
const morning = Date.UTC(2024, 4, 6, 7);

let pdp: Pdp;
let now: number;
/** The decisions that a PDP made, each as an action and a topic. */
let decided: string[];
beforeAll(() => mqtt.load());
beforeEach(() => {
  now = morning;
  pdp = openSync(policies, { trust: "unsigned", clock: () => now });
  decided = [];
});
afterEach(() => pdp.dispose());

/** The PDP, with a note of each decision about a topic. */
const noting: Pick<Pdp, "for"> = {
  for(principal, auxData) {
    const queries = pdp.for(principal, auxData) as PrincipalQueries;
    const isAllowed: typeof queries.isAllowed = (action, resource) => {
      if (resource.kind === "mqtt:topic") decided.push(`${action} ${resource.id}`);
      return queries.isAllowed(action, resource);
    };
    return { isAllowed, pathFor: queries.pathFor.bind(queries) } as unknown as PrincipalQueries;
  },
};

function openGate(clientId: string, will?: object): { gate: Gate; steps: Steps } {
  const gate = mqtt.gate(noting, { principal: { id: "ada", roles: ["device"] }, deliver: "each" });
  const steps = gate.fromClient(mqtt.encode({ kind: "connect", version: 5, clientId, will } as PacketToEncode, 5));
  gate.fromServer(mqtt.encode({ kind: "connack" }, 5));
  return { gate, steps };
}

const message = (topic: string, more = {}): Uint8Array => mqtt.encode({ kind: "publish", topic, ...more }, 5);
const publishes = ({ gate }: { gate: Gate }, topic: string, more = {}): boolean => gate.fromClient(message(topic, more)).forward.length > 0;
const receives = ({ gate }: { gate: Gate }, topic: string): boolean => gate.fromServer(message(topic)).reply.length > 0;

it("a topic is decided once for each client", () => {
  const [first, second] = [openGate("c1"), openGate("c2")];
  const answers = [1, 2, 3].flatMap((size) => {
    const payload = new Uint8Array(size);
    const topics = ["devices/c1/a", "devices/c2/a", "devices/c1/secret", "news"];
    return [first, second].map((client) => topics.map((topic) => publishes(client, topic, { payload, retain: size > 2 })));
  });
  expect(new Set(answers.map(String))).toEqual(new Set(["true,false,false,true", "false,true,false,true"]));
  expect(decided).toHaveLength(8);
});

it("what another attribute or the time decides is decided each time", () => {
  const client = openGate("c1");
  const seen = [receives(client, "news/a"), receives(client, "news/a")];
  now = Date.UTC(2024, 4, 6, 8);
  expect([...seen, receives(client, "news/a")]).toEqual([true, true, false]);
  const wills = [0, 1].map((qos) => openGate("c1", { topic: "gone/c1", payload: "", qos }).steps.close);
  expect(wills).toMatchObject([undefined, { reason: 0x87 }]);
  expect(decided).toEqual(["receive news/a", "receive news/a", "receive news/a", "will gone/c1", "will gone/c1"]);
});

it("other policies have answers of their own", () => {
  const client = openGate("c1");
  const before = publishes(client, "devices/c1/a");
  pdp.reload(closed);
  const meanwhile = publishes(client, "devices/c1/a");
  pdp.reload(policies);
  expect([before, meanwhile, publishes(client, "devices/c1/a")]).toEqual([true, false, true]);
  pdp.dispose();
  expect(publishes(client, "devices/c1/a")).toBe(false);
  expect(decided).toHaveLength(4);
});

it("many topics and long ones are decided, and take no more room", () => {
  const client = openGate("c1");
  const topics = Array.from({ length: 200 }, (_, at) => `devices/c1/${at}`);
  const long = `devices/c1/${"x".repeat(300)}`;
  for (let round = 0; round < 2; round += 1) expect([...topics, long].every((topic) => publishes(client, topic))).toBe(true);
  expect(decided.filter((line) => line.endsWith(long))).toHaveLength(2);
  // 64 topics are kept: the last ones of a round, and none that the next round begins with.
  expect(decided).toHaveLength(402);
});

it("policies that have expired decide by no answer from before", () => {
  const dated = openSync(signed, { trust: releaseKey, clock: () => now });
  const queries = dated.for({ id: "ada", roles: ["user"] }) as PrincipalQueries;
  queries.isAllowed("view", { kind: "album", id: "a1", attr: {} });
  expect(queries.pathFor("album", "view")).not.toBe(null);
  now = Date.UTC(2025, 0);
  expect(queries.pathFor("album", "view")).toBe(null);
  now = NaN;
  expect(queries.pathFor("album", "view")).toBe(null);
  dated.dispose();
});
