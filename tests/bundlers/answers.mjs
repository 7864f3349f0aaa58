// The questions of every app to the PDP. The answers are compared with those of the package in Node.

import { hash } from "wardgate";

/** Opens and returns all answers; `open` makes the PDP of the app, and `createPool` its workers. */
export async function answers(open, createPool) {
  const pdp = await open();
  const ada = { id: "ada", roles: ["user"] };
  const resources = ["ada", "bo", "ada", "cy"].map((owner, at) => ({ kind: "album", id: `a${at}`, attr: { owner } }));
  const [resource] = resources;
  const all = [
    pdp.header.revision,
    pdp.isAllowed({ principal: ada, action: "edit", resource }),
    pdp.filter({ principal: ada, action: "edit", resources: Array.from({ length: 100 }, () => resources).flat() }).length,
    new TextDecoder().decode(pdp.decisionBytes({ principal: ada, actions: ["view", "edit", "delete"], resource })),
    pdp.explain({ principal: { id: "bo", roles: [] }, action: "edit", resource }),
    Array.from(hash(new Uint8Array(1000))),
    await shared(await createPool(), { principal: ada, action: "edit" }),
  ];
  pdp.dispose();
  return JSON.stringify(all);
}

/** Returns the answer of a pool to a batch that takes long: of each album the fast path is unsure. */
async function shared(pool, question) {
  const attr = (at) => new Map([["owner", at % 3 === 0 ? "ada" : "bo"]]);
  const resources = Array.from({ length: 2000 }, (_, at) => ({ kind: "album", id: `a${at}`, attr: attr(at) }));
  // Each reading of the clock adds a second, so that the batch takes long on every machine.
  let time = 0;
  performance.now = () => (time += 1000);
  const found = await pool.filter({ ...question, resources });
  pool.close();
  return found.length;
}

/** The bundle is signed for the year 2024. */
export const now = Date.UTC(2024, 4, 6, 12);
