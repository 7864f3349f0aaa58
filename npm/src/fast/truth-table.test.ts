// The truth table of a fast path equals the decisions of the module, and those of `check`.

import { describe, expect, it } from "vitest";

import { truthTableOf, NO_TABLE, type TableQuery } from "./truth-table.ts";
import { ALLOW, ALWAYS, DENY, frameAt, NO_FRAME, TEMPORARY, TRUE, UNSURE, type Frame } from "../wasm/frame.ts";
import { openAlbum } from "../testing.ts";

const never = (): number => UNSURE;

/** Returns a frame whose module is `decide`, a function of roles and words. */
function frame(decide: (roles: number, words: Uint32Array) => number): Frame {
  const calls = { decideValues: never, decideClasses: never, decideColumns: never, decideInOrder: never, verdict: never, grants: never };
  const made = frameAt(new ArrayBuffer(1024 + 65_536), 0, {
    ...calls,
    decide: (_, __, roles) => decide(roles, made.words),
  });
  made.words[ALWAYS] = TRUE;
  return made;
}

function query(of: Frame): TableQuery {
  return { frame: of, handle: 0, fastPath: 0 };
}

describe("the truth table of a fast path", () => {
  it("has the decisions of the module, for every mask and all words of each slot", () => {
    const seen = new Set<string>();
    const made = frame((roles, words) => {
      seen.add([roles, words[0], words[1]].join());
      return words[0] === words[1] ? ALLOW : DENY;
    });
    const answers = truthTableOf(query(made), [{ isText: false, isLone: false, isTruth: false }, { isText: false, isLone: false, isTruth: false }], 3);
    // For each of four masks: 4 words or a string, then 4 words, or one of the strings, or a new
    // one.
    expect(seen.size).toBe(4 * (4 * (4 + 1) + (4 + 2)));
    const key = (roles: number, first: number, second: number): number => (roles << 6) | (first << 3) | second;
    for (const roles of [0, 1, 2, 3]) {
      expect([answers[key(roles, 5, 5)], answers[key(roles, 5, 6)], answers[key(roles, 4, 4)]]).toEqual([ALLOW, DENY, ALLOW]);
    }
    expect(seen.has([1, TEMPORARY, TEMPORARY + 1].join())).toBe(true);
  });

  it("has only strings in slots of strings", () => {
    const answers = truthTableOf(query(frame(() => ALLOW)), [{ isText: true, isLone: false, isTruth: false }, { isText: true, isLone: false, isTruth: false }], 0);
    const decided = [...answers.keys()].filter((key) => answers[key] !== UNSURE);
    expect(decided).toEqual([(5 << 3) | 5, (5 << 3) | 6]);
  });

  it("has one string in slots that are compared with no other", () => {
    const slots = [{ isText: false, isLone: true, isTruth: false }, { isText: true, isLone: true, isTruth: false }, { isText: true, isLone: false, isTruth: false }];
    const answers = truthTableOf(query(frame(() => ALLOW)), slots, 0);
    const decided = [...answers.keys()].filter((key) => answers[key] !== UNSURE);
    expect(decided).toEqual([0, 2, 3, 4, 5].map((digit) => (digit << 6) | (5 << 3) | 5));
  });

  it("leaves out values that words do not determine, and masks that no roles have", () => {
    const answers = truthTableOf(query(frame(() => ALLOW)), [{ isText: false, isLone: false, isTruth: false }], 1);
    const decided = [...answers.keys()].filter((key) => answers[key] !== UNSURE);
    const digits = [0, 2, 3, 4, 5];
    expect(decided).toEqual([0, 1].flatMap((roles) => digits.map((digit) => (roles << 3) | digit)));
  });

  it("is not computed if it would be large, nor without a frame", () => {
    const made = frame(() => ALLOW);
    for (const [slots, masks] of [[4, 1], [1, 8], [1, -1]] as const) {
      const any = Array.from({ length: slots }, () => ({ isText: false, isLone: false, isTruth: false }));
      expect(truthTableOf(query(made), any, masks)).toBe(NO_TABLE);
    }
    expect(truthTableOf(query(NO_FRAME), [], 1)).toBe(NO_TABLE);
  });
});

it("every value of an attribute is decided as check decides it", async () => {
  const pdp = await openAlbum();
  const values = [undefined, null, true, false, 0, 1, "", "ada", "eve", "x".repeat(300), [], {}, ["ada"]];
  for (const roles of [[], ["user"], ["guest"], ["user", "guest"], ["nobody"]]) {
    for (const owner of values) {
      for (const action of ["view", "edit", "echo", "share", "burn"]) {
        const query = { principal: { id: "ada", roles }, resource: { kind: "album", id: "a1", attr: { owner } } };
        const { actions } = pdp.check({ ...query, actions: [action] });
        for (let time = 0; time < 3; time += 1) {
          expect(pdp.isAllowed({ ...query, action })).toBe(actions[action]?.effect === "allow");
        }
      }
    }
  }
});
