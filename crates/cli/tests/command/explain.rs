//! `wardgate explain`. Its output is data: `tests/explain`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::folder::{ANN, Folder, SAM};

#[test]
fn every_case_has_its_explanation() {
    for case in cases() {
        let folder = case.folder();
        let explain = format!("explain policies -r request.json --now {NOW} {}", case.arguments);
        folder.run(&explain).says(0, &case.expected("expected.txt").unwrap());
    }
}

#[test]
fn a_bundle_without_sources_is_explained_in_the_same_words() {
    for case in cases() {
        let folder = case.folder();
        folder.run(&format!("compile policies -o bundle {}", case.arguments)).ends_with_code(0);
        let ran = folder.run(&format!("explain bundle -r request.json --now {NOW}"));
        // A bundle has the values of constants, and not their names.
        let expected = case.expected("expected.bundle.txt");
        ran.says(0, &expected.or_else(|| case.expected("expected.txt")).unwrap());
    }
}

#[test]
fn programs_read_the_same_answers() {
    let mut compared = 0;
    for case in cases() {
        let Some(expected) = case.expected("expected.json") else { continue };
        let folder = case.folder();
        let explain = format!("explain policies -r request.json --json {}", case.arguments);
        let found = folder.run(&explain).json();
        let expected: Json = serde_json::from_str(&expected).unwrap();
        assert_eq!(found["answers"], expected, "{}", case.path.display());
        compared += 1;
    }
    assert!(compared > 0);
}

/// A folder of `tests/explain`: policies, a request, the expected output.
struct Case {
    path: PathBuf,
    /// Options of the compiler.
    arguments: String,
}

fn cases() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/explain");
    let folders = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = folders.filter(|path| path.is_dir()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    let arguments = |path: &Path| fs::read_to_string(path.join("arguments.txt"));
    let case = |path: PathBuf| Case { arguments: arguments(&path).unwrap_or_default(), path };
    paths.into_iter().map(case).collect()
}

impl Case {
    fn folder(&self) -> Folder {
        let folder = Folder::new();
        for entry in fs::read_dir(self.path.join("policies")).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            folder.write(&format!("policies/{name}"), fs::read(&path).unwrap());
        }
        folder.write("request.json", fs::read(self.path.join("request.json")).unwrap());
        folder
    }

    fn expected(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path.join(name)).ok()
    }
}

#[test]
fn the_rules_that_were_considered_are_listed_if_they_are_wanted() {
    let folder = Folder::with_photos();
    folder.write("sam.json", SAM);
    folder.run("explain policies --requests sam.json --steps").says(
        0,
        "[r1] photo p1, requested by sam as member\n\
         \x20 allow  view: allowed by resource.photo.vdefault#members-look (photo.yaml:6)\n\
         \x20     resource.photo.vdefault#members-look (allow), role member: applied\n\
         \x20       photo.yaml:6\n\
         \x20     resource.photo.vdefault, about other actions: owners-edit\n\
         \x20 deny   edit: not permitted, because no rule allows it\n\
         \x20     resource.photo.vdefault#owners-edit (photo.yaml:10) would allow it, if\n\
         \x20       R.attr.owner == P.id  ->  false\n\
         \x20           R.attr.owner = \"ann\", P.id = \"sam\"\n\
         \x20     resource.photo.vdefault#owners-edit (allow), role member: its condition is not met\n\
         \x20       photo.yaml:10\n\
         \x20       R.attr.owner == P.id  ->  false\n\
         \x20     resource.photo.vdefault, about other actions: members-look\n\
         \x20 deny   sell: not permitted, because no rule could allow it\n\
         \x20     resource.photo.vdefault, about other actions: members-look, owners-edit\n",
    );
}

#[test]
fn programs_read_the_decision_and_its_steps() {
    let folder = Folder::with_photos();
    let ran = folder.run_with(&["explain", "policies", "-r", "-", "--json"], ANN);
    let json = ran.json();
    assert_eq!(json["decision"]["actions"]["edit"]["effect"], "allow");
    let steps = json["steps"].as_array().unwrap();
    let outcomes: Vec<_> = steps.iter().map(|step| step["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["other-action", "applied"]);
    assert_eq!(ran.code, 0);
}

/// The time that conditions see.
const NOW: &str = "2024-05-06T07:08:09Z";
