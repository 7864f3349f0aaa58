//! `wardgate inspect`.

use serde_json::json;

use crate::folder::Folder;

#[test]
fn people_read_names_and_sizes() {
    let folder = Folder::with_photos();
    let parts = [
        "evaluation      strict\n",
        "kinds           photo\n",
        "actions         edit, view\n",
        "roles           member\n",
        "derived roles   none\n",
        "scopes          (root)\n",
        "versions        default\n",
        "  resource.photo.vdefault      2  photo.yaml\n",
        "  request.resource.attr.owner\n",
        "  schemas                    0\n",
    ];
    folder.run("inspect policies").shows(0, &parts);
}

#[test]
fn programs_read_the_same() {
    let folder = Folder::with_photos();
    folder.run("compile policies -o p.wardgate").ends_with_code(0);
    let ran = folder.run("inspect p.wardgate --json");
    assert_eq!(ran, folder.run("inspect policies --json"));
    let json = ran.json();
    assert_eq!(json["bytes"], folder.read("p.wardgate").len());
    assert_eq!(json["slots"], json!(["request.principal.id", "request.resource.attr.owner"]));
    let policy = json!({
        "key": "resource.photo.vdefault", "kind": "resource", "name": "photo",
        "version": "default", "scope": "", "file": "photo.yaml", "rules": 2,
    });
    assert_eq!(json["policies"], json!([policy]));
    // Sizes are those of the opened table: a bundle is compressed.
    let sections = json["sections"].as_array().unwrap();
    let size = |name| sections.iter().find(|s| s["name"] == name).unwrap()["bytes"].clone();
    let texts = ["photo.yaml", "R.attr.owner == P.id", r#""edited by " + P.id"#];
    assert_eq!(size("explanations"), texts.concat().len());
}
