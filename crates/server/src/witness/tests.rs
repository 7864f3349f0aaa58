use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, JoinHandle};

use tokio::sync::oneshot;
use wardgate_decision_log::merkle::{self, Digest, Frontier, Head, Subtrees};
use wardgate_decision_log::note::Note;
use wardgate_decision_log::witness::{AddCheckpoint, cosigned};

use super::states::hash;
use super::*;

const LOG: &str = "log.example/a";
const WITNESS: &str = "w.example/1";

/// A log of so many leaves, each with a mark.
struct Log {
    tree: Frontier,
    complete: Vec<(u32, u64, Digest)>,
}

impl Log {
    fn new(leaves: u64, mark: u8) -> Self {
        let (mut tree, mut complete) = (Frontier::default(), Vec::new());
        for leaf in 0..leaves {
            let entry = [leaf.to_be_bytes().as_slice(), &[mark]].concat();
            tree.append(merkle::leaf(&entry), |level, digest| {
                complete.push((level, leaf >> level, digest));
            });
        }
        Self { tree, complete }
    }

    fn head(&self) -> Head {
        self.tree.head()
    }

    fn request(&self, old: u64) -> AddCheckpoint {
        let proof = merkle::consistency(old, self.tree.size(), self).unwrap();
        AddCheckpoint { old, proof, note: signer(LOG, 1).sign(self.head(), 5, &[0; 32]).unwrap() }
    }
}

impl Subtrees for Log {
    fn subtree(&self, level: u32, index: u64) -> Option<Digest> {
        let found = self.complete.iter().find(|one| (one.0, one.1) == (level, index));
        found.map(|one| one.2)
    }
}

fn signer(name: &str, seed: u8) -> LogSigner {
    LogSigner::new(name, &[seed; 32]).unwrap()
}

fn key(signer: &LogSigner) -> LogKey {
    LogKey::read(&signer.verifier().to_string()).unwrap()
}

/// A folder that goes with the test.
struct Temporary(PathBuf);

impl Temporary {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("wardgate-witness-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::remove_dir_all(&path).unwrap_or_default();
        Self(path)
    }

    fn file(&self, kind: &str) -> PathBuf {
        self.0.join(format!("{}.{kind}", hash(LOG)))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap_or_default();
    }
}

fn settings(folder: &Path, is_new: bool) -> WitnessSettings {
    WitnessSettings {
        folder: folder.to_owned(),
        is_new,
        signer: signer(WITNESS, 2),
        logs: vec![key(&signer(LOG, 1))],
        listen: "127.0.0.1:0".to_owned(),
    }
}

/// A witness that runs until it is dropped.
struct Running {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<Result<(), ServerError>>>,
}

impl Running {
    fn start(folder: &Temporary, is_new: bool) -> Self {
        let witness = Witness::bind(settings(&folder.0, is_new)).unwrap();
        let address = witness.address().unwrap();
        let (stop, stopped) = oneshot::channel();
        let run = || witness.run(async { drop(stopped.await) });
        Self { address, stop: Some(stop), thread: Some(thread::spawn(run)) }
    }

    /// Sends a request, and returns the whole answer.
    fn exchange(&self, head: &str, body: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let head = format!(
            "{head} HTTP/1.1\r\nHost: w\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        // It may have answered before it has read all.
        let _ = stream.write_all(&[head.as_bytes(), body].concat());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8(answer).unwrap()
    }

    /// Adds a checkpoint, and returns status and body.
    fn add(&self, request: &AddCheckpoint) -> (u16, String) {
        let answer = self.exchange("POST /add-checkpoint", request.to_string().as_bytes());
        parts(&answer)
    }
}

fn parts(answer: &str) -> (u16, String) {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head[9..12].parse().unwrap(), body.to_owned())
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.stop.take());
        self.thread.take().unwrap().join().unwrap().unwrap();
    }
}

#[test]
fn a_log_that_goes_on_is_cosigned() {
    let folder = Temporary::new();
    let witness = Running::start(&folder, true);
    for (old, new) in [(0, 5), (5, 13), (13, 13)] {
        let log = Log::new(new, 0);
        let request = log.request(old);
        let (status, body) = witness.add(&request);
        assert_eq!(status, 200, "{body}");
        let answer = cosigned(&request.note.text, body.as_bytes()).unwrap();
        let opened = key(&signer(WITNESS, 2)).open_note(&answer).unwrap();
        assert_eq!(opened.checkpoint.head, log.head());
        assert!(opened.seconds > 1_700_000_000);
        // Readers find the same in the folder and over HTTP.
        let path = format!("GET /{}/checkpoint", hash(LOG));
        let (status, note) = parts(&witness.exchange(&path, b""));
        assert_eq!((status, &note), (200, &fs::read_to_string(folder.file("checkpoint")).unwrap()));
        let note = Note::read(note.as_bytes()).unwrap();
        assert_eq!(key(&signer(LOG, 1)).open_note(&note).unwrap().checkpoint.head, log.head());
        assert_eq!(key(&signer(WITNESS, 2)).open_note(&note).unwrap(), opened);
    }
}

#[test]
fn another_past_is_refused_and_a_fork_is_kept() {
    let folder = Temporary::new();
    let witness = Running::start(&folder, true);
    assert_eq!(witness.add(&Log::new(5, 0).request(0)).0, 200);
    // Set back, and gone on otherwise.
    let (status, body) = witness.add(&Log::new(3, 0).request(3));
    assert_eq!((status, body.as_str()), (409, "5\n"));
    assert_eq!(witness.add(&Log::new(13, 1).request(5)).0, 422);
    assert!(!folder.file("fork").exists());
    let fork = Log::new(5, 1).request(5);
    assert_eq!(witness.add(&fork).0, 422);
    assert_eq!(fs::read_to_string(folder.file("fork")).unwrap(), fork.note.to_string());
    // What was cosigned stays.
    assert_eq!(witness.add(&Log::new(6, 0).request(5)).0, 200);
}

#[test]
fn refusals_have_the_answers_of_the_specification() {
    let folder = Temporary::new();
    let witness = Running::start(&folder, true);
    let good = Log::new(5, 0).request(0);
    let conflict = AddCheckpoint { old: 5, ..good.clone() };
    let answer = witness.exchange("POST /add-checkpoint", conflict.to_string().as_bytes());
    assert!(answer.starts_with("HTTP/1.1 409 ") && answer.ends_with("\r\n\r\n0\n"), "{answer}");
    assert!(answer.to_lowercase().contains("content-type: text/x.tlog.size\r\n"), "{answer}");
    let larger = AddCheckpoint { old: 6, ..good.clone() };
    assert_eq!(witness.add(&larger).0, 400);
    let foreign = signer("log.example/b", 1).sign(Log::new(5, 0).head(), 5, &[0; 32]).unwrap();
    assert_eq!(witness.add(&AddCheckpoint { note: foreign, ..good.clone() }).0, 404);
    let unsigned = signer(LOG, 3).sign(Log::new(5, 0).head(), 5, &[0; 32]).unwrap();
    assert_eq!(witness.add(&AddCheckpoint { note: unsigned, ..good.clone() }).0, 403);
    let mut forged = good.clone();
    forged.note.signatures[0].bytes[9] ^= 1;
    assert_eq!(witness.add(&forged).0, 403);
    let status = |head: &str, body: &[u8]| parts(&witness.exchange(head, body)).0;
    assert_eq!(status("POST /add-checkpoint", b"old 0\n"), 400);
    assert_eq!(status("POST /add-checkpoint", &vec![b'a'; 300 << 10]), 400);
    assert_eq!(status("GET /add-checkpoint", b""), 405);
    assert_eq!(status("POST /sign-subtree", b""), 404);
    assert_eq!(status(&format!("GET /{}/checkpoint", hash(LOG)), b""), 404);
    assert!(!folder.file("checkpoint").exists());
    assert_eq!(witness.add(&good).0, 200);
}

#[test]
fn signatures_of_others_are_neither_kept_nor_trusted() {
    let folder = Temporary::new();
    let witness = Running::start(&folder, true);
    let mut request = Log::new(5, 0).request(0);
    let mut other = request.note.signatures[0].clone();
    other.name = "w.example/2".to_owned();
    request.note.signatures.push(other);
    assert_eq!(witness.add(&request).0, 200);
    let kept = Note::read(&fs::read(folder.file("checkpoint")).unwrap()).unwrap();
    let names: Vec<_> = kept.signatures.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, [LOG, WITNESS]);
}

#[test]
fn nothing_is_forgotten_by_a_restart() {
    let folder = Temporary::new();
    let first = Running::start(&folder, true);
    assert_eq!(first.add(&Log::new(5, 0).request(0)).0, 200);
    drop(first);
    let second = Running::start(&folder, false);
    assert_eq!(second.add(&Log::new(3, 1).request(0)), (409, "5\n".to_owned()));
    assert_eq!(second.add(&Log::new(7, 1).request(5)).0, 422);
    assert_eq!(second.add(&Log::new(7, 0).request(5)).0, 200);
}

#[test]
fn what_cannot_be_kept_is_not_cosigned() {
    let folder = Temporary::new();
    let witness = Running::start(&folder, true);
    let request = Log::new(5, 0).request(0);
    let blocked = folder.file("checkpoint.new");
    fs::create_dir(&blocked).unwrap();
    assert_eq!(witness.add(&request).0, 500);
    fs::remove_dir(&blocked).unwrap();
    assert_eq!(witness.add(&request).0, 200);
    // Another witness may have taken the folder.
    fs::remove_file(folder.0.join(".lock")).unwrap();
    let next = Log::new(6, 0).request(5);
    assert_eq!(witness.add(&next).0, 500);
    let kept = key(&signer(WITNESS, 2)).open(&fs::read(folder.file("checkpoint")).unwrap());
    assert_eq!(kept.unwrap().checkpoint.head.size, 5);
}

#[test]
fn the_time_of_cosignatures_does_not_go_back() {
    let folder = Temporary::new();
    let open = |is_new| {
        let WitnessSettings { folder, signer, logs, .. } = settings(&folder.0, is_new);
        States::open(folder, is_new, signer, logs).unwrap()
    };
    let time = |states: &mut States, old, new, now| {
        let cosignature = states.add(&Log::new(new, 0).request(old), now).unwrap();
        u64::from_be_bytes(cosignature.bytes[..8].try_into().unwrap())
    };
    let mut states = open(true);
    assert_eq!(time(&mut states, 0, 2, 0), 1);
    assert_eq!(time(&mut states, 2, 3, 9), 9);
    drop(states);
    assert_eq!(time(&mut open(false), 3, 4, 7), 9);
}

#[test]
fn a_folder_is_of_one_witness_and_one_process() {
    let folder = Temporary::new();
    let refused = |settings: WitnessSettings, expected: &str| {
        let error = Witness::bind(settings).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    refused(settings(&folder.0, false), "has no state of a witness: `--new` makes it");
    assert!(!folder.0.exists());
    let witness = Witness::bind(settings(&folder.0, true)).unwrap();
    assert_eq!(witness.cosigned(LOG), None);
    refused(settings(&folder.0, false), "another witness uses");
    drop(witness);
    refused(settings(&folder.0, true), "has the state of a witness already");
    let other = WitnessSettings { signer: signer(WITNESS, 3), ..settings(&folder.0, false) };
    refused(other, "the state of a witness with another key");
    let own = WitnessSettings { signer: signer(LOG, 2), ..settings(&folder.0, false) };
    refused(own, "a log that witnesses itself proves nothing");
    refused(WitnessSettings { logs: Vec::new(), ..settings(&folder.0, false) }, "1 to 1024 logs");
    let long = key(&signer(&"a".repeat(80), 1));
    Witness::bind(WitnessSettings { logs: vec![long], ..settings(&folder.0, false) }).unwrap();
}

#[test]
fn a_changed_state_is_found() {
    let folder = Temporary::new();
    let running = Running::start(&folder, true);
    assert_eq!(running.add(&Log::new(5, 0).request(0)).0, 200);
    drop(running);
    let path = folder.file("checkpoint");
    let kept = fs::read_to_string(&path).unwrap();
    let refused = |content: &str| {
        fs::write(&path, content).unwrap();
        let error = Witness::bind(settings(&folder.0, false)).unwrap_err().to_string();
        assert!(error.contains("is damaged"), "{error}");
    };
    refused("");
    refused(&kept.replace("\n5\n", "\n4\n"));
    refused(&Log::new(3, 0).request(0).note.to_string());
    fs::write(&path, &kept).unwrap();
    assert_eq!(Witness::bind(settings(&folder.0, false)).unwrap().cosigned(LOG), Some(5));
}
