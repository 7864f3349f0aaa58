// Every way in which the package can be asked, held to what the native build answers.
//
// A way that the package at hand does not have is left out, and so is missing from the counts.

/**
 * Returns `{ differences, counts }` over all ways, for requests with lists of actions. `fast` is the same
 * bundle opened with accessors, or nothing.
 */
export async function compare(pdp, requests, right, fast) {
  const found = new Findings();
  const singles = requests.flatMap(({ actions, ...request }, at) =>
    actions.map((action, which) => ({ at, request: { ...request, action }, allowed: right.allowed[at][which] })),
  );
  for (const [way, ask] of Object.entries(SINGLE)) {
    const asked = ask(pdp, fast);
    if (asked === undefined) continue;
    for (const { at, request, allowed } of singles) found.hold(way, at, request.action, () => asked(request), allowed);
  }
  for (const [way, ask] of Object.entries(MANY)) {
    const asked = ask(pdp);
    if (asked !== undefined) found.holdAll(way, singles, () => asked(singles.map(({ request }) => request)));
  }
  for (const { of, allowed } of right.batches) filter(pdp, requests, of, allowed, found);
  return found;
}

/** Ways to ask about one action: each returns a function of the request, or nothing. */
const SINGLE = {
  isAllowed: (pdp) => (request) => pdp.isAllowed(request),
  // The first time brings what is kept for later ones.
  "isAllowed again": (pdp) => (request) => pdp.isAllowed(request),
  accessors: (_, fast) => fast && ((request) => fast.isAllowed(request)),
  for: (pdp) => ({ principal, action, resource, auxData }) => pdp.for(principal, auxData).isAllowed(action, resource),
  "for and prepare": (pdp) => ({ principal, action, resource, auxData }) =>
    pdp.for(principal, auxData).prepare({ kind: resource.kind, action }).isAllowed(resource),
  prepare: (pdp) => ({ principal, action, resource, auxData }) =>
    pdp.prepare({ kind: resource.kind, action }).isAllowed(principal, resource, auxData),
  filter: (pdp) => ({ principal, action, resource, auxData }) =>
    pdp.filter({ principal, action, resources: [resource], auxData }).length === 1,
  "filter of twenty": (pdp) => ({ principal, action, resource, auxData }) => {
    const { length } = pdp.filter({ principal, action, resources: Array(20).fill(resource), auxData });
    return length === 20 || (length === 0 ? false : `${length} of 20`);
  },
  check: (pdp) => ({ action, ...request }) => allows(pdp.check({ ...request, actions: [action] })),
};

/** Ways to ask about many requests at once: each returns a function of them, or nothing. */
const MANY = {
  isAllowedMany: (pdp) => (requests) => pdp.isAllowedMany(requests),
  checkMany: (pdp) => (requests) =>
    pdp.checkMany(requests.map(({ action, ...request }) => ({ ...request, actions: [action] }))).map(allows),
};

function allows({ actions }) {
  return Object.values(actions)[0].effect === "allow";
}

/** The principal and first action of one request on the resource of each. */
function filter(pdp, requests, of, allowed, found) {
  const { principal, actions, auxData } = requests[of];
  if (actions.length === 0) return;
  const resources = requests.map(({ resource }) => ({ ...resource }));
  const kept = new Set(attempt(() => pdp.filter({ principal, action: actions[0], resources, auxData })));
  const singles = resources.map((_, at) => ({ at, request: { action: actions[0] }, allowed: allowed[at] }));
  found.holdAll("filter of all", singles, () => resources.map((resource) => kept.has(resource)));
}

class Findings {
  differences = [];
  counts = {};

  /** Compares one answer, which may be an exception. */
  hold(way, request, action, answer, allowed) {
    const said = attempt(answer);
    this.#count(way, 1, 1);
    if (said !== allowed) this.#differs(way, request, action, said, allowed);
  }

  /** Compares the answers to all singles. */
  holdAll(way, singles, answers) {
    const said = attempt(answers);
    this.#count(way, singles.length, singles.length);
    for (const [index, { at, request, allowed }] of singles.entries()) {
      if (said?.[index] !== allowed) this.#differs(way, at, request.action, said?.[index] ?? said, allowed);
    }
  }

  #count(way, asked, known) {
    const before = this.counts[way] ?? [0, 0];
    this.counts[way] = [before[0] + asked, before[1] + known];
  }

  #differs(way, request, action, said, allowed) {
    this.differences.push({ way, request, action, said: `answers ${String(said)}, not ${allowed}` });
  }
}

function attempt(answer) {
  try {
    return answer();
  } catch (error) {
    return String(error);
  }
}
