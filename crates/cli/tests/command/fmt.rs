//! `wardgate fmt`.

use crate::folder::Folder;

const LOOSE: &str = "a:\n    b:   c   # why\n";
const TIGHT: &str = "a:\n  b: c # why\n";

#[test]
fn directories_are_formatted_tests_and_fixtures_too() {
    let folder = Folder::new();
    let names = ["p/a.yaml", "p/a_test.yml", "p/testdata/b.YAML"];
    let others = ["p/.hidden.yaml", "p/.git/c.yaml", "p/_schemas/d.yaml", "p/e.txt", "p/f.json"];
    names.iter().chain(&others).for_each(|name| folder.write(name, LOOSE));
    folder.write("p/g.yaml", TIGHT);
    folder.run("fmt p").says(0, "p/a.yaml\np/a_test.yml\np/testdata/b.YAML\n");
    names.iter().for_each(|name| assert_eq!(folder.read(name), TIGHT.as_bytes(), "{name}"));
    others.iter().for_each(|name| assert_eq!(folder.read(name), LOOSE.as_bytes(), "{name}"));
    folder.run("fmt p").says(0, "");
    folder.run("fmt p --check").says(0, "");
}

#[test]
fn a_check_lists_files_and_changes_none() {
    let folder = Folder::new();
    folder.write("a.yaml", LOOSE);
    folder.write("b.yaml", TIGHT);
    folder.run("fmt a.yaml b.yaml --check").says(8, "a.yaml\n");
    assert_eq!(folder.read("a.yaml"), LOOSE.as_bytes());
    assert_eq!(folder.names(), ["a.yaml", "b.yaml"]);
}

#[test]
fn a_difference_is_shown_and_nothing_is_changed() {
    let folder = Folder::new();
    folder.write("a.yaml", LOOSE);
    let diff =
        "--- a/a.yaml\n+++ b/a.yaml\n@@ -1,2 +1,2 @@\n a:\n-    b:   c   # why\n+  b: c # why\n";
    folder.run("fmt . --diff").ends_with_code(0);
    folder.run("fmt a.yaml --diff").says(0, diff);
    folder.run("fmt a.yaml --diff --check").says(8, diff);
    assert_eq!(folder.read("a.yaml"), LOOSE.as_bytes());
}

#[test]
fn standard_input_goes_to_standard_output() {
    let folder = Folder::new();
    folder.run_with(&["fmt", "--stdin"], LOOSE).says(0, TIGHT);
    folder.run_with(&["fmt", "--stdin"], "").says(0, "");
    folder.run_with(&["fmt", "--stdin", "--check"], LOOSE).says(8, "");
    folder.run_with(&["fmt", "--stdin", "--check"], TIGHT).says(0, "");
    let ran = folder.run_with(&["fmt", "--stdin"], "a: [");
    assert!(ran.code == 1 && ran.out.is_empty() && ran.err.contains("standard input:"), "{ran:?}");
}

#[test]
fn a_broken_file_stays_and_the_others_are_formatted() {
    let folder = Folder::new();
    folder.write("a.yaml", "a: [b\n");
    folder.write("b.yaml", LOOSE);
    let ran = folder.run("fmt a.yaml nowhere.yaml b.yaml");
    assert_eq!((ran.code, ran.out.as_str()), (1, "b.yaml\n"));
    assert!(ran.err.contains("a.yaml:2:1"), "{}", ran.err);
    assert!(ran.err.contains("cannot read `nowhere.yaml`"), "{}", ran.err);
    assert_eq!(folder.read("a.yaml"), b"a: [b\n");
    folder
        .run("fmt nowhere.yaml")
        .complains(4, "cannot read `nowhere.yaml`: no such file or directory");
    folder.run("fmt").ends_with_code(2);
    folder.run("fmt --stdin a.yaml").ends_with_code(2);
}

#[test]
fn a_file_that_no_layout_surely_keeps_stays() {
    let folder = Folder::new();
    folder.write("a.yaml", "|2\n  a\n");
    let ran = folder.run("fmt a.yaml");
    let sentence = "`a.yaml` is left unformatted: no layout of it is sure to preserve its meaning";
    ran.complains(0, sentence);
    assert_eq!(folder.read("a.yaml"), b"|2\n  a\n");
}

#[cfg(unix)]
#[test]
fn irregular_files_are_reported_and_the_others_are_formatted() {
    let folder = Folder::new();
    folder.write("p/b.yaml", LOOSE);
    let socket = std::os::unix::net::UnixListener::bind(folder.path().join("p/a.yaml")).unwrap();
    let ran = folder.run("fmt p");
    let shown = "wardgate: cannot read `p/a.yaml`: this is not a file\n";
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (4, "p/b.yaml\n", shown));
    assert_eq!(folder.read("p/b.yaml"), TIGHT.as_bytes());
    folder.run("fmt p --check").complains(4, "cannot read `p/a.yaml`: this is not a file");
    drop(socket);
}

#[cfg(unix)]
#[test]
fn links_of_a_directory_are_not_followed_and_a_named_one_stays_a_link() {
    let folder = Folder::new();
    folder.write("out.yaml", LOOSE);
    folder.write("p/a.yaml", TIGHT);
    let link = folder.path().join("p/b.yaml");
    std::os::unix::fs::symlink("../out.yaml", &link).unwrap();
    folder.run("fmt p").complains(4, "cannot read `p/b.yaml`: a link leads out of the directory");
    assert_eq!(folder.read("out.yaml"), LOOSE.as_bytes());
    folder.run("fmt p/b.yaml").says(0, "p/b.yaml\n");
    assert_eq!(folder.read("out.yaml"), TIGHT.as_bytes());
    assert!(std::fs::symlink_metadata(link).unwrap().is_symlink());
}
