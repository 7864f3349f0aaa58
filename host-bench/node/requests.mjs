// The origin of the objects of the requests.

/** Returns a function that makes the requests of `job` anew; `undefined` if the same objects serve every pass. */
export function renewal(job) {
  if (job.objects === "kept") return undefined;
  const requests = job.requests;
  const text = JSON.stringify(requests);
  const make = job.objects === "parsed" ? () => JSON.parse(text) : () => requests.map(rebuilt);
  return () => {
    job.requests = make();
  };
}

function rebuilt({ principal, action, resource }) {
  const { owner, public: isPublic, locked } = resource.attr;
  const own = { department: fresh(principal.attr.department) };
  return {
    principal: { id: fresh(principal.id), roles: principal.roles.map(fresh), attr: own },
    action: fresh(action),
    resource: {
      kind: fresh(resource.kind),
      id: fresh(resource.id),
      attr: { owner: fresh(owner), public: isPublic, locked },
    },
  };
}

/** Returns a string like one from a network: neither shared nor joined from parts. */
function fresh(text) {
  return Buffer.from(text, "latin1").toString("latin1");
}
