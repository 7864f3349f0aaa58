// The policy of every page: who may edit an album is what the tests change.

/** Returns the policy: these roles may edit albums, and the owner may delete them. */
export function album(...roles) {
  return `apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: album
  version: default
  rules:
    - { actions: [edit], roles: [${roles.join(", ")}], effect: EFFECT_ALLOW }
    - actions: [delete]
      roles: [user]
      effect: EFFECT_ALLOW
      condition: { match: { expr: R.attr.owner == P.id } }
`;
}
