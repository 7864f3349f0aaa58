// Every way in which the package can be asked, held to what the native build answers.
//
// A way that the package at hand does not have is left out, and so is missing from the counts.

/** Returns `{ differences, counts }` over all ways, for requests with lists of actions. */
export async function compare(pdp, requests, right) {
  const found = new Findings();
  const singles = requests.flatMap(({ actions, ...request }, at) =>
    actions.map((action, which) => ({ at, request: { ...request, action }, allowed: right.allowed[at][which] })),
  );
  for (const [way, ask] of Object.entries(SINGLE)) {
    const asked = ask(pdp);
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
  check: (pdp) => ({ action, ...request }) =>
    pdp.check({ ...request, actions: [action] }).actions[action].effect === "allow",
};

/** Ways to ask about many requests at once: each returns a function of them, or nothing. */
const MANY = {};

/** The principal and first action of one request on the resource of each. */
function filter(pdp, requests, of, allowed, found) {
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
