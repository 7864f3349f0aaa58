// What every app asks the PDP. The answers are compared with those of the package in Node.

import { hash } from "wardgate";

/** Opens and asks; `open` is how the app gets to a PDP. */
export async function answers(open) {
  const pdp = await open();
  const ada = { id: "ada", roles: ["user"] };
  const resources = ["ada", "bo", "ada", "cy"].map((owner, at) => ({ kind: "album", id: `a${at}`, attr: { owner } }));
  const [resource] = resources;
  const said = [
    pdp.header.revision,
    pdp.isAllowed({ principal: ada, action: "edit", resource }),
    pdp.filter({ principal: ada, action: "edit", resources: Array.from({ length: 100 }, () => resources).flat() }).length,
    new TextDecoder().decode(pdp.decisionBytes({ principal: ada, actions: ["view", "edit", "delete"], resource })),
    pdp.explain({ principal: { id: "bo", roles: [] }, action: "edit", resource }),
    Array.from(hash(new Uint8Array(1000))),
  ];
  pdp.dispose();
  return JSON.stringify(said);
}

/** The bundle is signed for the year 2024. */
export const now = Date.UTC(2024, 4, 6, 12);
