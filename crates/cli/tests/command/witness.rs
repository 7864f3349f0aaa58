//! `wardgate log witness`, as a process.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use wardgate_decision_log::checkpoint::LogKey;
use wardgate_decision_log::note::Note;
use wardgate_decision_log::witness::{AddCheckpoint, cosigned};

use crate::folder::Folder;
use crate::log;

/// A witness that runs until it is dropped.
struct Running {
    child: Child,
    address: String,
    lines: Vec<String>,
}

impl Running {
    fn start(folder: &Folder, rest: &str) -> Self {
        let arguments = format!(
            "log witness --key w.key --state state --log-key log.vkey --listen 127.0.0.1:0{rest}"
        );
        let mut command = folder.command(&arguments.split_whitespace().collect::<Vec<_>>());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        let lines: Vec<String> = out.lines().map(Result::unwrap).take(2).collect();
        let address = lines[0].rsplit("http://").next().unwrap().to_owned();
        Self { child, address, lines }
    }

    /// Adds a checkpoint, and returns the answer.
    fn add(&self, request: &AddCheckpoint) -> (String, String) {
        let body = request.to_string();
        let head = "POST /add-checkpoint HTTP/1.1\r\nHost: w\r\nConnection: close\r\n";
        let request = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.lines().next().unwrap().to_owned(), body.to_owned())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn a_witness_cosigns_a_log_that_goes_on_and_remembers_it() {
    let folder = Folder::new();
    log::write(folder.path());
    let keys = "log keys --origin w.example/2 -o new.key --public w.vkey";
    assert_eq!(folder.run(keys).code, 0);
    std::fs::rename(folder.path().join("new.key"), folder.path().join("w.key")).unwrap();
    let key = String::from_utf8(folder.read("w.vkey")).unwrap();
    let key = LogKey::read(key.trim_end()).unwrap();
    let request = |file: &str, old, proof| AddCheckpoint {
        old,
        proof,
        note: Note::read(&folder.read(file)).unwrap(),
    };
    let first = request("first", 0, Vec::new());

    let witness = Running::start(&folder, " --new");
    assert!(witness.lines[0].starts_with("witness `w.example/2` at http://127.0.0.1:"));
    assert_eq!(witness.lines[1], "  log `log.example/a`: 0 frames were cosigned");
    let (status, body) = witness.add(&first);
    assert_eq!(status, "HTTP/1.1 200 OK");
    let answer = cosigned(&first.note.text, body.as_bytes()).unwrap();
    assert_eq!(key.open_note(&answer).unwrap().checkpoint.head.size, 1);
    // A second process would cosign another past.
    let second = "log witness --key w.key --state state --log-key log.vkey --listen 127.0.0.1:0";
    folder.run(second).complains(1, "another witness uses `state`");
    // It may be killed at any time.
    drop(witness);
    let witness = Running::start(&folder, "");
    assert_eq!(witness.lines[1], "  log `log.example/a`: 1 frames were cosigned");
    let conflict = ("HTTP/1.1 409 Conflict".to_owned(), "1\n".to_owned());
    assert_eq!(witness.add(&first), conflict);
    let wrong = request("log/checkpoint", 1, vec![[0; 32]]);
    assert_eq!(witness.add(&wrong).0, "HTTP/1.1 422 Unprocessable Entity");
    // The log has two frames, so the digest of the second one is the proof.
    let tile = folder.read("log/tile/0/000.p/2");
    let right = request("log/checkpoint", 1, vec![tile[32..64].try_into().unwrap()]);
    assert_eq!(witness.add(&right).0, "HTTP/1.1 200 OK");
}

#[cfg(unix)]
#[test]
fn a_witness_ends_at_sigterm() {
    let folder = Folder::new();
    log::write(folder.path());
    let mut witness = Running::start(&folder, " --new");
    let id = witness.child.id().to_string();
    assert!(Command::new("kill").arg(&id).status().unwrap().success());
    assert_eq!(witness.child.wait().unwrap().code(), Some(0));
}

#[cfg(unix)]
#[test]
fn a_server_is_witnessed_by_another_process() {
    let folder = Folder::with_photos();
    for (origin, name) in [("log.example/a", "log"), ("w.example/2", "w")] {
        let keys = format!("log keys --origin {origin} -o {name}.key --public {name}.vkey");
        assert_eq!(folder.run(&keys).code, 0);
    }
    let witness = Running::start(&folder, " --new");
    let key = String::from_utf8(folder.read("w.vkey")).unwrap();
    let policy = format!("witness b {} http://{}\nquorum b\n", key.trim_end(), witness.address);
    folder.write("witnesses", policy);
    folder.write("serve.toml", SERVE);
    let checked = folder.run("serve --config serve.toml --check-config");
    assert_eq!((checked.code, checked.err.as_str()), (0, ""));
    serve(&folder);
    let verify = "log verify decisions --trust log.vkey --witnesses witnesses";
    let verified = folder.run(verify);
    assert_eq!(verified.code, 0, "{}", verified.err);
    assert!(verified.out.contains(" frames have witnesses: `b` 20"), "{}", verified.out);
    // Who has the disk begins the log anew, with the same key.
    std::fs::remove_dir_all(folder.path().join("decisions")).unwrap();
    serve(&folder);
    let sentence = "the checkpoint of the decision log: there is no `checkpoint.witnessed`: no witness has cosigned one yet";
    folder.run(verify).complains(1, sentence);
}

/// Runs the server until it answers, and stops it.
#[cfg(unix)]
fn serve(folder: &Folder) {
    let mut command = folder.command(&["serve", "--config", "serve.toml"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("HTTP at "), "{line}");
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[cfg(unix)]
const SERVE: &str = r#"
[server]
log = "error"
[policies]
directory = "policies"
[http]
listen = "127.0.0.1:0"
[auth]
anonymous-queries = true
[decision-log]
folder = "decisions"
key-file = "log.key"
[decision-log.witness]
policy = "witnesses"
"#;
