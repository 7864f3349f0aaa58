import type { Pdp, Principal } from "wardgate";

interface Session {
  readonly userId: string;
  readonly groups: readonly string[];
  readonly profile: Profile;
}

interface Profile {
  readonly department: string;
}

function principalOf({ userId, groups, profile }: Session): Principal {
  return { id: userId, roles: groups, attr: profile };
}

export function decide(pdp: Pdp): boolean {
  const principal = principalOf({ userId: "ada", groups: ["user"], profile: { department: "art" } });
  return pdp.isAllowed({ principal, action: "view", resource: { kind: "album", id: "a1" } });
}
