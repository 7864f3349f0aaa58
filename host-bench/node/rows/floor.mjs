// The floors: the rules by hand, as a programmer without policies would write them.

/** Returns the row of the rules by hand. */
export function floor(job) {
  const rules = { "five-rules": fiveRules, "single-kind": singleKind, conditions, classic };
  const allows = rules[job.rules](job);
  const run = (from, to) => {
    const { requests, expected } = job;
    let wrong = 0;
    for (let i = from; i < to; i++) if (allows(requests[i]) !== expected[i]) wrong++;
    return wrong;
  };
  return [{ name: "hand-written", side: "floor", run }];
}

function fiveRules(job) {
  const kinds = new Set(job.kinds);
  return ({ principal, action, resource }) => {
    if (!kinds.has(resource.kind)) return false;
    const { attr } = resource;
    switch (action) {
      case "view":
        return principal.roles.includes("viewer") || attr.public === true;
      case "list":
        return principal.roles.includes("viewer");
      case "edit":
        return principal.roles.includes("editor") && attr.locked !== true;
      case "delete":
        return attr.owner === principal.id && attr.locked !== true;
      case "share":
        return attr.owner === principal.id;
      default:
        return false;
    }
  };
}

function singleKind(job) {
  const { actions } = job;
  const known = new Set(Array.from({ length: actions }, (_, number) => `action_${number}`));
  return ({ principal, action, resource }) => {
    if (!known.has(action)) return false;
    const { attr } = resource;
    if (attr.locked === true) return false;
    if (principal.roles.includes("viewer") || attr.public === true) return true;
    return attr.owner === principal.id || principal.roles.includes("admin");
  };
}

function conditions() {
  const path = /^\/srv\/[a-z]+\/v[0-9]+\/.*\.json$/;
  const name = /^[a-z][a-z0-9-]{2,30}@(example|sample)\.(com|org)$/;
  return ({ principal, action, resource }) => {
    const { attr } = resource;
    const inside = inRange(principal.attr.address, "10.20.0.0", 16);
    switch (action) {
      case "read":
        return path.test(attr.path);
      case "mail":
        return name.test(attr.mail) && !inRange(principal.attr.address, "10.20.30.0", 24);
      case "connect":
        return inside || inRange(principal.attr.address, "192.168.0.0", 24);
      case "join":
        return attr.teams.some((team) => principal.attr.teams.includes(team));
      case "deploy":
        return inside && path.test(attr.path) && attr.teams.every((team) => ALLOWED.includes(team));
      default:
        return false;
    }
  };
}

function classic(job) {
  const kinds = new Set(job.kinds);
  return ({ principal, action, resource }) => {
    if (!kinds.has(resource.kind)) return false;
    if (principal.roles.includes("admin")) return true;
    const { attr } = resource;
    const { geography } = principal.attr;
    const employee = principal.roles.includes("employee");
    const manages =
      principal.roles.includes("manager") &&
      attr.geography === geography &&
      attr.geography === principal.attr.managed_geographies;
    const owner = employee && attr.owner === principal.id;
    switch (action) {
      case "create":
        return owner;
      case "view:public":
        return employee || manages;
      case "view:private":
        return owner || manages;
      case "approve":
        return manages && attr.status === "PENDING_APPROVAL";
      case "delete": {
        if (!manages && !(owner && resource.scope === "acme.hr.uk")) return false;
        return attr.geography === (inRange(principal.attr.ip_address, "10.20.0.0", 16) ? "GB" : "");
      }
      default:
        return false;
    }
  };
}

function inRange(address, network, bits) {
  return numberOf(address) >>> (32 - bits) === numberOf(network) >>> (32 - bits);
}

function numberOf(address) {
  const parts = address.split(".");
  return ((parts[0] << 24) | (parts[1] << 16) | (parts[2] << 8) | parts[3]) >>> 0;
}

const ALLOWED = ["team_0", "team_1", "team_2", "team_3", "team_4", "team_5"];
