// CASL: an ability for each principal, in the two forms that its users know.

import { AbilityBuilder, createMongoAbility, subject } from "@casl/ability";
import { versionOf } from "../versions.mjs";

/** An ability holds every rule for its principal: so many rules altogether fit into memory. */
const MOST_RULES = 400_000;

/** Returns the rows of CASL. */
export function casl(job) {
  const abilities = new Map();
  const most = Math.max(1, Math.floor(MOST_RULES / (job.kinds.length * 5)));
  const covers = coveredBy(job.requests, most);
  for (let i = 0; i < covers; i++) {
    const { principal } = job.requests[i];
    if (!abilities.has(principal.id)) abilities.set(principal.id, ability(job.kinds, principal));
  }
  const name = `CASL ${versionOf("@casl/ability")}`;
  const rows = [cached(job, abilities, `${name}, ability cached per user`, covers)];
  if (!job.fresh) rows.push(prebuilt(job, abilities, `${name}, ability and subject prebuilt`, covers));
  return rows;
}

/** Returns the number of the first requests that are about at most `most` principals. */
function coveredBy(requests, most) {
  const seen = new Set();
  const at = requests.findIndex(({ principal }) => seen.add(principal.id).size > most);
  return at < 0 ? requests.length : at;
}

/** `subject` marks the object that it is given, so each check hands it a copy of the caller's. */
function cached(job, abilities, name, covers) {
  const run = (from, to) => {
    const { requests, expected } = job;
    let wrong = 0;
    for (let i = from; i < to; i++) {
      const { principal, action, resource } = requests[i];
      const allowed = abilities.get(principal.id).can(action, subject(resource.kind, { ...resource.attr }));
      if (allowed !== expected[i]) wrong++;
    }
    return wrong;
  };
  const rebuild = () => ability(job.kinds, job.requests[0].principal);
  return { name, side: "rival", covers, run, reload: { what: "ability of one user", run: rebuild } };
}

function prebuilt(job, abilities, name, covers) {
  const { expected } = job;
  const questions = job.requests.slice(0, covers).map(({ principal, action, resource }) => ({
    ability: abilities.get(principal.id),
    action,
    resource: subject(resource.kind, { ...resource.attr }),
  }));
  const run = (from, to) => {
    let wrong = 0;
    for (let i = from; i < to; i++) {
      const { ability, action, resource } = questions[i];
      if (ability.can(action, resource) !== expected[i]) wrong++;
    }
    return wrong;
  };
  return { name, side: "rival", covers, run };
}

/** Returns the ability of a principal on resources of these kinds. */
export function ability(kinds, { id, roles }) {
  const { can, cannot, build } = new AbilityBuilder(createMongoAbility);
  for (const kind of kinds) {
    if (roles.includes("viewer")) can(["view", "list"], kind);
    can("view", kind, { public: true });
    if (roles.includes("editor")) can("edit", kind);
    can(["delete", "share"], kind, { owner: id });
    cannot(["edit", "delete"], kind, { locked: true });
  }
  return build();
}
