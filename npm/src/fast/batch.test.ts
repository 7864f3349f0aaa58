// Batches and prepared requests with the real module: every answer equals that of `check`.

import { describe, expect, it } from "vitest";

import { album, closed, editing, noon, ofCode, onLists, onOne, openAlbum, viewing } from "../testing.ts";
import type { ActionRequest, Principal, Resource } from "../pdp/request-types.ts";
import type { Pdp } from "../pdp/types.ts";

const pdp = await openAlbum();

const ada: Principal = { id: "ada", roles: ["user"] };
const eve: Principal = { id: "eve", roles: ["guest"] };

function resource(at: number, changes: object = {}): Resource {
  return { kind: "album", id: `a${at}`, attr: { owner: at % 3 === 0 ? "ada" : `u${at}` }, ...changes };
}

/** Returns enough resources for a batch. */
function many(one: Resource): Resource[] {
  return Array<Resource>(20).fill(one);
}

/** Returns the answer of `check`, which reads every request completely. */
function allowed(principal: Principal, action: string, one: Resource): boolean {
  return pdp.check({ principal, resource: one, actions: [action] }).actions[action]?.effect === "allow";
}

/** Decides by every method, several times, and compares the answers. */
function compare(principal: Principal, action: string, resources: readonly Resource[]): void {
  const expected = resources.filter((one) => allowed(principal, action, one));
  const prepared = pdp.for(principal);
  const question = prepared.prepare({ kind: "album", action });
  const target = pdp.prepare({ kind: "album", action });
  const requests = resources.map((one) => ({ principal, action, resource: one }));
  for (let time = 0; time < 3; time += 1) {
    const answers = pdp.isAllowedMany(requests);
    for (const found of [
      pdp.filter({ principal, action, resources }),
      prepared.filter(action, resources),
      question.filter(resources),
      target.filter(principal, resources),
      resources.filter((one) => pdp.isAllowed({ principal, action, resource: one })),
      resources.filter((one) => prepared.isAllowed(action, one)),
      resources.filter((one) => question.isAllowed(one)),
      resources.filter((one) => target.isAllowed(principal, one)),
      resources.filter((_, at) => answers[at]),
    ]) {
      expect(found).toEqual(expected);
    }
  }
}

describe("every method", () => {
  it("gives the answers of check", () => {
    const resources = Array.from({ length: 40 }, (_, at) => resource(at));
    for (const action of ["view", "edit", "echo", "share", "burn", ""]) compare(ada, action, resources);
    compare({ id: "ada", roles: ["guest"] }, "edit", resources);
    compare({ id: "ada", roles: [] }, "edit", resources);
  });

  it("takes all values of an attribute", () => {
    const scalars = [undefined, null, true, false, 0, -0, 1.5, "", "ada", "a" + "da", "\ud83d\uddddä"];
    const values = [...scalars, [], {}, ["ada"], new Date(noon)];
    const twenty = (owner: unknown, at: number): Resource[] => many(resource(at, { attr: { owner } }));
    const resources = values.flatMap(twenty);
    compare(ada, "edit", resources);
    compare(ada, "edit", [...resources].reverse());
  });

  it("takes resources without attributes, with maps, and of many shapes", () => {
    const map = new Map([["owner", "ada"]]);
    class Own { owner = "ada"; }
    const own = JSON.parse('{"owner": "ada", "__proto__": {"owner": "x"}}') as object;
    const bare = Object.assign(Object.create(null) as object, { owner: "ada" });
    const inherits = Object.create({ owner: "ada" }) as object;
    const unusual = [undefined, {}, map, new Own(), own, bare, inherits, Object.freeze({ owner: "ada" })];
    const shapes = Array.from({ length: 30 }, (_, at) => ({ [`x${at}`]: 1, owner: "ada" }));
    const attrs = [...unusual, new Proxy({ owner: "ada" }, {}), ...shapes];
    compare(ada, "edit", attrs.map((attr, at) => resource(at, { attr })));
  });

  it("keeps the order of resources of many kinds, scopes and versions", () => {
    const versions = [{ policyVersion: "v9" }, { scope: "", policyVersion: "" }, { policyVersion: "default" }];
    const changes = [{}, { kind: "photo" }, { scope: "acme" }, ...versions];
    const mixed = Array.from({ length: 200 }, (_, at) => resource(at, changes[at % 6]));
    compare(ada, "edit", mixed);
    compare(ada, "view", mixed);
    const runs = Array.from({ length: 120 }, (_, at) => resource(at, { kind: at % 60 < 40 ? "album" : "photo" }));
    compare(ada, "view", runs);
  });
});

describe("an attribute that no rule reads", () => {
  const unread = { get x(): never { throw new Error("was read"); } };

  it.each([...onOne, ...onLists])("is not read by %s, not even the first time", async (_, decide) => {
    const own = await openAlbum();
    for (let time = 0; time < 3; time += 1) {
      for (const changes of [{ attr: unread }, { misspelt: 1 }]) {
        expect(decide(own, () => viewing({ resource: changes }), { kind: "album", action: "view" })).toBe(true);
      }
    }
    expect(() => own.explain(viewing({ resource: { attr: unread } }))).toThrow("was read");
    expect(() => own.explain(viewing({ resource: { misspelt: 1 } }))).toThrow(TypeError);
  });
});

describe("a misspelt name", () => {
  it("is found by every method if the correct member is absent", () => {
    const one = { kind: "album", id: "a1", attrs: { owner: "ada" } } as Resource;
    const error = new TypeError("unknown field `attrs` in resource, expected one of kind, id, attr, policyVersion, scope");
    for (let time = 0; time < 3; time += 1) {
      expect(() => pdp.isAllowed({ principal: ada, action: "edit", resource: one })).toThrow(error);
      expect(() => pdp.for(ada).isAllowed("edit", one)).toThrow(error);
      expect(() => pdp.prepare({ kind: "album", action: "edit" }).isAllowed(ada, one)).toThrow(error);
      expect(() => pdp.filter({ principal: ada, action: "edit", resources: many(one) })).toThrow(error);
    }
  });
});

describe("filter", () => {
  it("takes more rows than fit in a batch, and none", () => {
    const resources = Array.from({ length: 2500 }, (_, at) => resource(at));
    const expected = resources.filter((_, at) => at % 3 === 0);
    for (let time = 0; time < 3; time += 1) {
      expect(pdp.filter({ principal: ada, action: "edit", resources })).toEqual(expected);
    }
    expect(pdp.filter({ principal: ada, action: "edit", resources: [] })).toEqual([]);
  });

  it("returns the objects themselves", () => {
    const [own, other] = [resource(3), resource(4)];
    expect(pdp.filter({ principal: ada, action: "edit", resources: [other, own] })[0]).toBe(own);
  });

  it("refuses unreadable arguments", () => {
    const check = (request: unknown, message: string): void =>
      expect(() => pdp.filter(request as never)).toThrow(new TypeError(message));
    check(undefined, "request must be an object, found undefined");
    check({ principal: ada, action: "edit" }, "resources must be an array, found undefined");
    const known = "principal, action, resources, auxData";
    check({ principal: ada, where: [] }, `unknown field \`where\` in request, expected one of ${known}`);
    check({ principal: ada, resource: [] }, "unknown field `resource` in request, did you mean `resources`?");
    check({ principal: ada, action: 7, resources: [resource(1)] }, "action must be a string, found number");
    const request = { action: "edit", resources: [resource(1)] };
    check({ ...request, principal: { id: 7, roles: [] } }, "principal.id must be a string, found number");
    const roles = "principal.roles must be an array of strings, found string";
    check({ ...request, principal: { id: "ada", roles: "user" } }, roles);
    const resources = Array.from({ length: 40 }, (_, at) => resource(at, at === 30 ? { id: 7n } : {}));
    check({ principal: ada, action: "edit", resources }, "resource.id must be a string, found bigint");
  });

  it("decides correctly if code of the caller decides in between", () => {
    const resources = Array.from({ length: 100 }, (_, at) => {
      const attr = { get owner(): string {
        pdp.filter({ principal: ada, action: "edit", resources: [resource(1), resource(3)] });
        return at % 2 === 0 ? "ada" : "eve";
      } };
      return resource(at, at % 10 === 0 ? { attr } : {});
    });
    compare(ada, "edit", resources);
  });
});

describe("a prepared principal", () => {
  it("keeps its state", () => {
    const principal = { id: "ada", roles: ["user"], attr: {} };
    const prepared = pdp.for(principal);
    principal.roles.pop();
    principal.id = "eve";
    expect(prepared.isAllowed("edit", resource(3))).toBe(true);
    expect(prepared.isAllowed("share", resource(3))).toBe(true);
  });

  it("outlives a reload, and ends with its PDP", async () => {
    const own = await openAlbum();
    const prepared = own.for(ada);
    const viewingAlbums = { kind: "album", action: "view" };
    const [question, target] = [prepared.prepare(viewingAlbums), own.prepare(viewingAlbums)];
    const one = resource(1);
    const decide = (): boolean[] => [prepared.isAllowed("view", one), question.isAllowed(one), target.isAllowed(ada, one)];
    for (let time = 0; time < 3; time += 1) expect(decide()).toEqual([true, true, true]);
    own.reload(closed);
    for (let time = 0; time < 3; time += 1) expect(decide()).toEqual([false, false, false]);
    own.reload(album);
    for (let time = 0; time < 3; time += 1) expect(decide()).toEqual([true, true, true]);
    own.dispose();
    for (const use of [decide, () => prepared.filter("view", [resource(1)]), () => own.isAllowed(viewing())]) {
      expect(use).toThrow(ofCode("disposed"));
    }
  });

  it("is refused when it is used, not when it is prepared", () => {
    const prepared = pdp.for({ id: 7, roles: [] } as never);
    expect(() => prepared.isAllowed("view", resource(1))).toThrow(new TypeError("principal.id must be a string, found number"));
    expect(() => pdp.prepare({ kind: "album" } as never)).toThrow(new TypeError("action must be a string, found undefined"));
  });
});

describe("code of the caller that runs while a request is read", () => {
  /** Returns a request whose owner is read by `effect` first. */
  function running(effect: () => void): ActionRequest {
    return editing({ get owner(): string { effect(); return "ada"; } });
  }

  async function warm(): Promise<Pdp> {
    const own = await openAlbum();
    for (let time = 0; time < 3; time += 1) expect(own.isAllowed(editing({ owner: "ada" }))).toBe(true);
    return own;
  }

  it("may decide for another principal", async () => {
    const own = await warm();
    expect(own.isAllowed(running(() => own.isAllowed(editing({ owner: "eve" }))))).toBe(true);
  });

  it("may reload the bundle: the old one decides nothing more", async () => {
    const own = await warm();
    expect(own.isAllowed(running(() => own.reload(closed)))).toBe(false);
  });

  it("may dispose of the PDP, and open another under its handle", async () => {
    const own = await warm();
    const other = await openAlbum();
    other.dispose();
    expect(() => own.isAllowed(running(() => own.dispose()))).toThrow(ofCode("disposed"));
  });

  it("may make the memory grow", async () => {
    const own = await warm();
    const big = { attr: { x: "x".repeat(4 << 20) } };
    expect(own.isAllowed(running(() => own.explain(viewing({ resource: big }))))).toBe(true);
    expect(own.isAllowed(viewing())).toBe(true);
  });
});

describe("many requests", () => {
  it("are decided independently", () => {
    const request = { principal: ada, resource: resource(3), actions: ["view", "burn"] };
    expect(pdp.checkMany([request, request])).toEqual([pdp.check(request), pdp.check(request)]);
    expect(pdp.isAllowedMany([])).toEqual([]);
    expect(() => pdp.isAllowedMany(new Array<ActionRequest>(1))).toThrow(TypeError);
    expect(() => pdp.isAllowedMany({} as never)).toThrow(new TypeError("requests must be an array, found object"));
    expect(() => pdp.checkMany("x" as never)).toThrow(new TypeError("requests must be an array, found string"));
  });

  it("share a principal that is one object, and no other", () => {
    let reads = 0;
    const counted: Principal = { ...ada, attr: { get x() { reads += 1; return 1; } } };
    const request = (principal: Principal, more: object = {}) => ({ principal, resource: resource(3), actions: ["view", "burn"], ...more });
    const requests = [request(counted), request(counted), request(eve), request({ ...counted }), request(counted), request(eve), request(ada)];
    // With a budget the general path decides.
    const many = pdp.checkMany(requests, { maxSteps: 1_000_000 });
    expect(reads).toBe(3);
    expect(many).toEqual(requests.map((request) => pdp.check(request)));
    const token = { jwt: { aud: "x" } };
    const withClaims = [request(eve), request(eve, { auxData: token }), request(eve, { auxData: token }), request(eve), request(ada, { auxData: token })];
    expect(pdp.checkMany(withClaims)).toEqual(withClaims.map((request) => pdp.check(request)));
  });

  it("that are not plain objects are read independently", () => {
    let turn = 0;
    const fickle = { get principal() { turn += 1; return turn % 2 === 0 ? ada : eve; }, resource: resource(3), actions: ["view"] };
    const [first, second, third] = pdp.checkMany([fickle, fickle, fickle]);
    const [ofEve, ofAda] = [eve, ada].map((principal) => pdp.check({ principal, resource: resource(3), actions: ["view"] }));
    expect([first, second, third]).toEqual([ofEve, ofAda, ofEve]);
    expect(turn).toBe(3);
    class RequestClass {}
    const request = { principal: ada, resource: resource(3), actions: ["view"] };
    const objects = [eve, ada, ada].map((principal) => Object.assign(new RequestClass(), { ...request, principal }));
    expect(pdp.checkMany(objects)).toEqual(objects.map((request) => pdp.check(request)));
    expect(() => pdp.checkMany([request, { ...request, scpe: "x" } as never])).toThrow(TypeError);
    expect(() => pdp.checkMany([null as never])).toThrow(TypeError);
  });
});
