//! A temporary folder, and the command run in it.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value as Json;

/// A folder that is removed at the end of the test.
pub(crate) struct Folder(PathBuf);

/// The outcome of a command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name =
            format!("wardgate-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// A folder with `policies/photo.yaml`.
    pub(crate) fn with_photos() -> Self {
        let folder = Self::new();
        folder.write("policies/photo.yaml", PHOTO);
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.0.join(name)).unwrap()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs the command with these arguments, separated by spaces.
    pub(crate) fn run(&self, arguments: &str) -> Ran {
        self.run_with(&arguments.split_whitespace().collect::<Vec<_>>(), "")
    }

    /// Runs the command and hands it `input`.
    pub(crate) fn run_with(&self, arguments: &[&str], input: &str) -> Ran {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut pipe = child.stdin.take().unwrap();
        let input = input.to_owned();
        // The command may end before it has read everything.
        let writer = std::thread::spawn(move || drop(pipe.write_all(input.as_bytes())));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        Ran {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = match other_command() {
            Some(_) => Command::new(node()),
            None => Command::new(env!("CARGO_BIN_EXE_wardgate")),
        };
        command.args(other_command());
        command.args(arguments).current_dir(&self.0);
        command
    }
}

/// Returns the script of another command to test, that of the npm package: `WARDGATE_COMMAND`.
pub(crate) fn other_command() -> Option<OsString> {
    std::env::var_os("WARDGATE_COMMAND")
}

/// Returns the path of Node, also for commands that have another `PATH`.
fn node() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let candidates = std::env::split_paths(&path).map(|folder| folder.join("node"));
    candidates.into_iter().find(|candidate| candidate.is_file()).unwrap()
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that stays behind is no failure of the test.
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Ran {
    #[track_caller]
    pub(crate) fn ends_with_code(&self, code: i32) -> &Self {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }

    /// Checks that the output is one sentence on standard error. Behind it may stand the command
    /// that explains it, which the transcripts compare.
    #[track_caller]
    pub(crate) fn complains(&self, code: i32, sentence: &str) {
        let (said, page) = self.err.split_once("; see `wardgate help ").unwrap_or((&self.err, ""));
        let end = if page.is_empty() { "\n" } else { "" };
        let found = (self.code, self.out.as_str(), said.to_owned());
        assert_eq!(found, (code, "", format!("wardgate: {sentence}{end}")));
    }

    /// Checks that the output has each of these parts.
    #[track_caller]
    pub(crate) fn shows(&self, code: i32, parts: &[&str]) {
        self.ends_with_code(code);
        for part in parts {
            assert!(self.out.contains(part), "{part} in {}", self.out);
        }
    }

    /// Returns the output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Json {
        serde_json::from_str(&self.out).unwrap()
    }

    #[track_caller]
    pub(crate) fn says(&self, code: i32, out: &str) {
        assert_eq!(*self, Self { code, out: out.to_owned(), err: String::new() });
    }
}

pub(crate) const PHOTO: &str = r#"apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: photo
  version: default
  rules:
    - name: members-look
      actions: [view]
      roles: [member]
      effect: EFFECT_ALLOW
    - name: owners-edit
      actions: [edit]
      roles: [member]
      effect: EFFECT_ALLOW
      condition:
        match: { expr: R.attr.owner == P.id }
      output:
        when: { ruleActivated: '"edited by " + P.id' }
"#;

/// A request of Sam to view a photo of Ann and to edit it.
pub(crate) const SAM: &str = r#"{"requestId": "r1", "principal": {"id": "sam", "roles": ["member"]},
 "resources": [{"actions": ["view", "edit", "sell"],
   "resource": {"kind": "photo", "id": "p1", "attr": {"owner": "ann"}}}]}
"#;

/// A request of Ann to edit a photo of hers, on one line and without the list of resources.
pub(crate) const ANN: &str = r#"{"principal":{"id":"ann","roles":["member"]},"actions":["edit"],"resource":{"kind":"photo","id":"p1","attr":{"owner":"ann"}}}"#;
