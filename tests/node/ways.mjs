// Every way to a decision in the package, compared with the answers of the native build.
//
// The clock shows if the general path decided: it always reads the clock, a fast path only for rules that
// do. So the count of answers by fast paths is never too high.

/**
 * Returns `{ differences, counts }` over all ways, for requests with lists of actions. `accessed` is the
 * PDP with a module of accessors, if there is one.
 */
export function compare({ pdp, accessed, clock }, requests, right) {
  const found = new Findings(clock);
  const singles = requests.flatMap(({ actions, ...request }, at) =>
    actions.map((action, which) => ({ at, request: { ...request, action }, allowed: right.allowed[at][which] })),
  );
  // For slow ways, and for loops over other ways, some questions are enough.
  const some = singles.slice(0, SOME);
  for (const [ways, questions] of [[SINGLE, singles], [SLOW, some]]) {
    for (const [way, prepare] of Object.entries(ways)) {
      const ask = prepare(pdp, accessed);
      if (ask === undefined) continue;
      for (const { at, request, allowed } of questions) found.hold(way, at, request.action, () => ask(request), allowed);
    }
  }
  for (const [way, ask] of Object.entries(MANY)) {
    const requests = some.map(({ request }) => request);
    const allowed = some.map(({ allowed }) => allowed);
    found.holdAll(way, some, () => ask(pdp, requests), allowed);
  }
  for (const batch of right.batches) filter(pdp, requests, batch, found);
  return found;
}

/**
 * Returns the decision on a request as canonical JSON, which reads the whole request. If `check`, `checkMany` or
 * `explain` decides otherwise, returns what they decide.
 */
export function decisionBytes(pdp, request) {
  const bytes = pdp.decisionBytes(request);
  const expected = asText(JSON.parse(new TextDecoder().decode(bytes)));
  const many = pdp.checkMany([request, { ...request }, structuredClone(request)]);
  // Fast paths leave objects with another prototype to the general path.
  const general = Object.assign(Object.create({}), request);
  const other = [pdp.check(request), pdp.check(general), ...many, ...pdp.checkMany([general])].find((decision) => asText(decision) !== expected);
  return other === undefined && isExplained(pdp, request) ? bytes : new TextEncoder().encode(`otherwise: ${asText(other)}`);
}

/** Returns true if `explain` decides the first action as `check` does. */
function isExplained(pdp, { actions, ...request }) {
  if (actions.length === 0) return true;
  const [action] = actions;
  return asText(pdp.explain({ ...request, action }).decision) === asText(pdp.check({ ...request, actions: [action] }));
}

function asText(decision) {
  return decision === undefined ? "as explained" : JSON.stringify(decision);
}

/** Ways to decide one action: each returns a function of the request. */
const SINGLE = {
  isAllowed: (pdp) => (request) => pdp.isAllowed(request),
  // The first call prepares the later ones.
  "isAllowed again": (pdp) => (request) => pdp.isAllowed(request),
  accessors: (_, accessed) => accessed && ((request) => accessed.isAllowed(request)),
  for: (pdp) => {
    const known = remember(({ principal, auxData }) => pdp.for(principal, auxData));
    return (request) => known(request.principal, request).isAllowed(request.action, request.resource);
  },
  prepare: (pdp) => {
    const known = remember(({ resource, action }) => pdp.prepare({ kind: resource.kind, action }));
    return (request) => {
      const { principal, resource, action, auxData } = request;
      return known(JSON.stringify([resource.kind, action]), request).isAllowed(principal, resource, auxData);
    };
  },
  "for + prepare": (pdp) => ({ principal, auxData, action, resource }) =>
    pdp.for(principal, auxData).prepare({ kind: resource.kind, action }).isAllowed(resource),
  // One prepared kind for all, so that most resources are of another kind.
  "prepare for another": (pdp) => {
    const known = remember(({ action }) => pdp.prepare({ kind: "doc", action }));
    return (request) => known(request.action, request).isAllowed(request.principal, request.resource, request.auxData);
  },
};

/** Like `SINGLE`, but slow. */
const SLOW = {
  // Twenty resources of one kind are always decided in columns.
  "filter of twenty": (pdp) => ({ principal, action, resource, auxData }) => {
    const { length } = pdp.filter({ principal, action, resources: Array(20).fill(resource), auxData });
    return length === 20 || (length === 0 ? false : `${length} of 20`);
  },
  check: (pdp) => ({ action, ...request }) => effectOf(pdp.check({ ...request, actions: [action] }), action),
};

/** Ways to decide many requests at once. */
const MANY = {
  isAllowedMany: (pdp, requests) => pdp.isAllowedMany(requests),
  checkMany: (pdp, requests) =>
    pdp
      .checkMany(requests.map(({ action, ...request }) => ({ ...request, actions: [action] })))
      .map((decision, at) => effectOf(decision, requests[at].action)),
};

const SOME = 32;

/** Ways to filter resources. */
const FILTER = {
  filter: (pdp, { principal, auxData }, action, resources) => pdp.filter({ principal, action, resources, auxData }),
  "for filter": (pdp, { principal, auxData }, action, resources) =>
    pdp.for(principal, auxData).filter(action, resources),
  "for + prepare filter": (pdp, { principal, auxData }, action, resources) =>
    pdp.for(principal, auxData).prepare({ kind: "doc", action }).filter(resources),
  "prepare filter": (pdp, { principal, auxData }, action, resources) =>
    pdp.prepare({ kind: "doc", action }).filter(principal, resources, auxData),
};

/** Filters for the principal and first action of one request: the resource of each, by kind and in their order. */
function filter(pdp, requests, { of, allowed }, found) {
  const first = requests[of];
  const action = first.actions[0] ?? "";
  const rows = requests.map(({ resource }, at) => ({ at, resource, allowed: allowed[at], request: { action } }));
  // Runs of one kind are decided in columns.
  const sorted = rows.toSorted((a, b) => order(a.resource).localeCompare(order(b.resource)));
  for (const [number, [way, ask]] of Object.entries(FILTER).entries()) {
    const listed = number % 2 === 0 ? sorted : rows;
    const answers = () => {
      const found = new Set(ask(pdp, first, action, listed.map(({ resource }) => resource)));
      return listed.map(({ resource }) => found.has(resource));
    };
    found.holdAll(way, listed, answers, listed.map(({ allowed }) => allowed));
  }
}

function order({ kind, scope, policyVersion }) {
  return `${kind} ${scope ?? ""} ${policyVersion ?? ""}`;
}

function remember(make) {
  const known = new Map();
  return (key, request) => {
    if (!known.has(key)) known.set(key, make(request));
    return known.get(key);
  };
}

function effectOf(decision, action) {
  return decision.actions[action].effect === "allow";
}

class Findings {
  differences = [];
  counts = {};
  #clock;

  constructor(clock) {
    this.#clock = clock;
  }

  /** Compares one answer, which may be an exception. */
  hold(way, request, action, answer, allowed) {
    const found = this.#ask(way, 1, answer);
    if (found !== allowed) this.#differs(way, request, action, found, allowed);
  }

  /** Compares the answers to all questions. */
  holdAll(way, questions, answers, allowed) {
    const found = this.#ask(way, questions.length, answers);
    for (const [index, { at, request }] of questions.entries()) {
      if (found[index] !== allowed[index]) this.#differs(way, at, request.action, found[index] ?? found, allowed[index]);
    }
  }

  #ask(way, questions, answer) {
    const [count, known] = this.counts[way] ?? [0, 0];
    const before = this.#clock.reads;
    let found;
    try {
      found = answer();
    } catch (error) {
      found = String(error);
    }
    this.counts[way] = [count + questions, known + Math.max(0, questions - (this.#clock.reads - before))];
    return found;
  }

  #differs(way, request, action, found, allowed) {
    this.differences.push({ way, request, action, said: `answers ${found}, not ${allowed}` });
  }
}
