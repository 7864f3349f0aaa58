//! Mistakes that only a directory can have: names, permissions, entries that are no files.

use std::fs;
use std::path::PathBuf;

use wardgate_compiler::diagnostics::Diagnostic;
use wardgate_compiler::{Enforcement, Options, compile_dir};
use wardgate_tests::diagnostics::{WITH_SCHEMA, report};

/// A folder that is removed when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("wardgate-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, content: &str) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn diagnostics(&self) -> Vec<Diagnostic> {
        let options = Options { schema_enforcement: Enforcement::Reject, ..Options::default() };
        compile_dir(&self.0, &options).err().unwrap_or_default()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that stays behind is no failure of the test.
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(super) fn all() -> Vec<Diagnostic> {
    cases().into_iter().flat_map(|(_, diagnostics, _)| diagnostics).collect()
}

/// Returns the mistakes, the diagnostics, and the expected texts.
fn cases() -> Vec<(&'static str, Vec<Diagnostic>, &'static str)> {
    let mut cases = Vec::new();
    let folder = Folder::new("no-file");
    fs::create_dir_all(folder.0.join("_schemas/album.json")).unwrap();
    folder.write("album.yaml", WITH_SCHEMA);
    folder.write("docs/_schemas/x.json", "{}");
    cases.push((
        "a schema is a directory, and schemas stand in the wrong place",
        folder.diagnostics(),
        "_schemas/album.json: error[unreadable]: cannot be read: this is not a file
album.yaml:7:7: error[invalid-schema]: schema `cerbos:///album.json` cannot be used
  at $.resourcePolicy.schemas.resourceSchema.ref
   |
 7 |       ref: cerbos:///album.json
   |       ^
docs/_schemas: error[unreadable]: a directory `_schemas` must be at the root
",
    ));
    #[cfg(unix)]
    cases.extend(unix());
    cases
}

#[cfg(unix)]
fn unix() -> Vec<(&'static str, Vec<Diagnostic>, &'static str)> {
    use std::os::unix::ffi::OsStrExt;

    let folder = Folder::new("unix");
    std::os::unix::fs::symlink("nowhere.yaml", folder.0.join("gone.yaml")).unwrap();
    let name = std::ffi::OsStr::from_bytes(b"\xff.yaml");
    folder.write("names/x.txt", "");
    fs::write(folder.0.join("names").join(name), "").unwrap();
    vec![(
        "a link leads nowhere, and a name is not UTF-8",
        folder.diagnostics(),
        "gone.yaml: error[unreadable]: cannot be read: no such file or directory
names: error[unreadable]: cannot be read: the name of a file is not UTF-8
",
    )]
}

#[test]
fn entries_that_are_no_policy_files_are_reported() {
    for (what, diagnostics, expected) in cases() {
        assert_eq!(report(&diagnostics), expected, "{what}");
    }
}
