//! `wardgate explain`.

use serde_json::Value as Json;

use crate::folder::{ANN, Folder, SAM};

#[test]
fn people_read_what_decided_and_what_was_considered() {
    let folder = Folder::with_photos();
    folder.write("sam.json", SAM);
    folder.run("explain policies --request sam.json").says(
        0,
        "[r1] photo p1, asked by sam as member\n\
         \x20 allow  view: resource.photo.vdefault#members-look, photo.yaml:6\n\
         \x20     resource.photo.vdefault#members-look (allow), role member: applied\n\
         \x20       photo.yaml:6\n\
         \x20     resource.photo.vdefault, about other actions: owners-edit\n\
         \x20 deny   edit: no rule applied\n\
         \x20     resource.photo.vdefault#owners-edit (allow), role member: its condition is not met\n\
         \x20       photo.yaml:10\n\
         \x20       R.attr.owner == P.id  ->  false\n\
         \x20     resource.photo.vdefault, about other actions: members-look\n\
         \x20 deny   sell: no rule applied\n\
         \x20     resource.photo.vdefault, about other actions: members-look, owners-edit\n",
    );
}

#[test]
fn programs_read_the_decision_and_its_steps() {
    let folder = Folder::with_photos();
    let ran = folder.run_with(&["explain", "policies", "-r", "-", "--json"], ANN);
    let json: Json = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(json["decision"]["actions"]["edit"]["effect"], "allow");
    let steps = json["steps"].as_array().unwrap();
    let outcomes: Vec<_> = steps.iter().map(|step| step["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["other-action", "applied"]);
    assert_eq!(ran.code, 0);
}

#[test]
fn what_derived_roles_come_from_is_no_part_of_a_rule() {
    let folder = Folder::new();
    folder.write(
        "policies/roles.yaml",
        "apiVersion: api.cerbos.dev/v1\nderivedRoles:\n  name: roles\n  definitions:\n    \
         - name: owner\n      parentRoles: [member]\n      \
         condition: { match: { expr: R.attr.owner == P.id } }\n",
    );
    folder.write(
        "policies/photo.yaml",
        "apiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  resource: photo\n  version: default\n  \
         importDerivedRoles: [roles]\n  rules:\n    \
         - { name: look, actions: [view], roles: [member], effect: EFFECT_ALLOW }\n    \
         - { name: own, actions: [edit], derivedRoles: [owner], effect: EFFECT_ALLOW }\n",
    );
    let ran = folder.run_with(&["explain", "policies", "-r", "-"], ANN);
    ran.says(
        0,
        "photo p1, asked by ann as member\n\
         \x20 derived roles: owner\n\
         \x20 allow  edit: resource.photo.vdefault#own, photo.yaml:8\n\
         \x20     resource.photo.vdefault#own (allow), role member, derived role owner: applied\n\
         \x20       photo.yaml:8\n\
         \x20       R.attr.owner == P.id  ->  true\n\
         \x20     resource.photo.vdefault, about other actions: look\n",
    );
}

#[test]
fn a_kind_without_policies_is_said_to_have_none() {
    let folder = Folder::with_photos();
    let request = ANN.replace("photo", "song");
    let ran = folder.run_with(&["explain", "policies", "-r", "-"], &request);
    ran.says(
        0,
        "song p1, asked by ann as member\n\
         \x20 deny   edit: there is no policy for this request\n\
         \x20     no rule was considered\n",
    );
}
