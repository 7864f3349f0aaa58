//! The actions of a kind, compared with those in the policies.

use wardgate_compiler::{Options, compile_files};
use wardgate_engine::table::PolicyTable;

#[test]
fn the_actions_of_a_kind_are_those_that_its_rules_name() {
    let table = table(&[ALBUM, ALBUM_ACME, ALBUM_V2, PHOTO, ADA, GUEST]).unwrap();
    let check = |kind, expected: &[&str]| {
        assert_eq!(table.actions(kind), expected, "{kind}");
    };
    check("album", &["archive", "audit", "burn", "share", "view"]);
    check("photo", &["burn", "crop", "look", "view"]);
    check("nothing", &["burn"]);
    check("", &["burn"]);
}

#[test]
fn rules_beyond_the_first_chunk_count_too() {
    let rules: String = (0..300)
        .map(|at| {
            format!("    - {{ actions: [do{at:03}], effect: EFFECT_ALLOW, roles: [user] }}\n")
        })
        .collect();
    let policy = format!(
        "apiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  version: default\n  resource: many\n  rules:\n{rules}"
    );
    let table = table(&[&policy]).unwrap();
    let actions = table.actions("many");
    let expected: Vec<String> = (0..300).map(|at| format!("do{at:03}")).collect();
    assert_eq!(actions, expected);
}

fn table(policies: &[&str]) -> Option<PolicyTable> {
    let files: Vec<_> = policies
        .iter()
        .enumerate()
        .map(|(at, text)| (format!("{at}.yaml"), (*text).to_owned().into_bytes()))
        .collect();
    PolicyTable::from_parts(compile_files(&files, &Options::default()).ok()?.parts).ok()
}

const ALBUM: &str = "
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: album
  rules:
    - { actions: [view, 'edit:*'], effect: EFFECT_ALLOW, roles: [user] }
";

/// Another scope of the same kind.
const ALBUM_ACME: &str = "
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  scope: acme
  resource: album
  rules:
    - { actions: [share], effect: EFFECT_DENY, roles: [user] }
";

/// Another version of the same kind.
const ALBUM_V2: &str = "
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: v2
  resource: album
  rules:
    - { actions: [archive], effect: EFFECT_ALLOW, roles: [user] }
";

const PHOTO: &str = "
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: photo
  rules:
    - { actions: [view, crop], effect: EFFECT_ALLOW, roles: [user] }
";

/// One resource by name, all of them by a pattern.
const ADA: &str = "
apiVersion: api.cerbos.dev/v1
principalPolicy:
  version: default
  principal: ada
  rules:
    - resource: album
      actions: [{ action: audit, effect: EFFECT_ALLOW }]
    - resource: '*'
      actions: [{ action: burn, effect: EFFECT_DENY }]
";

const GUEST: &str = "
apiVersion: api.cerbos.dev/v1
rolePolicy:
  role: guest
  rules:
    - { resource: photo, allowActions: [look] }
";
