use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use wardgate_decision_log::checkpoint::Checkpoint;
use wardgate_decision_log::record::ShortText;
use wardgate_decision_log::signer::LogSigner;
use wardgate_decision_log::witness::AddCheckpoint;

use super::super::tests::{Temporary, add_frames, key, open, seal, signer};
use super::super::{LogError, LogWriter, Verified, accept_loss, verify};
use super::*;
use crate::server::ServerError;
use crate::witness::{Witness, WitnessSettings};

/// The longest time of an answer.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The same of a witness that is to be late.
const SHORT: Duration = Duration::from_millis(50);

fn witness(seed: u8) -> LogSigner {
    LogSigner::new(&format!("w.example/{seed}"), &[seed; 32]).unwrap()
}

/// A witness that runs until it is dropped.
struct Running {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<Result<(), ServerError>>>,
    folder: Temporary,
}

impl Running {
    fn start(seed: u8) -> Self {
        let folder = Temporary::new();
        let witness = Witness::bind(WitnessSettings {
            folder: folder.0.clone(),
            is_new: true,
            signer: witness(seed),
            logs: vec![key()],
            listen: "127.0.0.1:0".to_owned(),
        });
        let witness = witness.unwrap();
        let (address, (stop, stopped)) = (witness.address().unwrap(), oneshot::channel());
        let thread = Some(thread::spawn(|| witness.run(async { drop(stopped.await) })));
        Self { address, stop: Some(stop), thread, folder }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.stop.take());
        self.thread.take().unwrap().join().unwrap().unwrap();
    }
}

/// A log with a worker, whose witnesses are named by their seeds and addresses.
struct Setting {
    folder: Temporary,
    writer: LogWriter,
    worker: Worker,
    counts: Arc<Counts>,
    policy: PathBuf,
    runtime: Runtime,
}

impl Setting {
    /// `quorum` is a part of a line of a group, such as `any`.
    fn new(witnesses: &[(u8, SocketAddr)], quorum: &str) -> Self {
        let folder = Temporary::new();
        let (writer, _) = open(&folder.0, 1 << 20).unwrap();
        let mut text = String::new();
        for (seed, address) in witnesses {
            let key = witness(*seed).verifier();
            text.push_str(&format!("witness w{seed} {key} http://{address}\n"));
        }
        let names: Vec<String> = witnesses.iter().map(|(seed, _)| format!("w{seed}")).collect();
        text.push_str(&format!("group all {quorum} {}\nquorum all\n", names.join(" ")));
        let policy = folder.0.join("policy");
        fs::write(&policy, text).unwrap();
        let (worker, counts) = worker(&folder.0, &policy);
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        Self { folder, writer, worker, counts, policy, runtime }
    }

    /// Goes on with the log by so many frames, and asks about it.
    fn grow(&mut self, frames: u64) {
        add_frames(&mut self.writer, frames);
        seal(&mut self.writer);
        self.round();
    }

    /// Waits only shortly for a witness.
    fn hurry(&mut self, name: &str) {
        let witness = self.worker.witnesses.iter_mut().find(|witness| witness.name == name);
        witness.unwrap().timeout = SHORT;
    }

    fn round(&mut self) {
        self.runtime.block_on(self.worker.round());
    }

    fn verified(&self) -> Result<Verified, LogError> {
        let policy = WitnessPolicy::read(&fs::read(&self.policy).unwrap()).unwrap();
        verify(&self.folder.0, &key(), None, Some(&policy))
    }

    /// Returns the frames that have witnesses, and the names of these.
    fn witnessed(&self) -> (u64, Vec<String>) {
        let witnessed = self.verified().unwrap().witnessed.unwrap();
        (witnessed.frames, witnessed.by.into_iter().map(|(name, _)| name).collect())
    }

    fn metrics(&self) -> String {
        let mut text = String::new();
        self.counts.write(&mut text);
        text
    }

    fn has_failed(&self, reason: &str, times: u64) -> bool {
        let line = format!("decision_log_witness_failures_total{{reason=\"{reason}\"}} {times}\n");
        self.metrics().contains(&line)
    }
}

fn worker(folder: &Path, policy: &Path) -> (Worker, Arc<Counts>) {
    let config = Witnesses { policy: policy.to_owned(), ca: None, timeout: TIMEOUT };
    let policy = read_policy(&config, &signer().verifier()).unwrap();
    let mut witnesses = Vec::new();
    for one in policy.witnesses() {
        witnesses.extend(LogWitness::new(one, &config).unwrap());
    }
    let counts = Arc::new(Counts::default());
    let files = (folder, key());
    let mut worker =
        Worker::new(files, Duration::from_secs(1), (policy, witnesses), Arc::clone(&counts));
    worker.begin();
    (worker, counts)
}

/// A witness that says what a function makes of each request; nothing, if it returns `None`. It closes the connection after
/// an empty answer, and where the answer says so.
fn scripted(
    answer: impl Fn(&AddCheckpoint) -> Option<String> + Send + 'static,
) -> (SocketAddr, mpsc::Receiver<AddCheckpoint>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, requests) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            let mut reader = BufReader::new(&stream);
            while let Some(request) = read(&mut reader) {
                // The receiver may be gone.
                let _ = sender.send(request.clone());
                let Some(answer) = answer(&request) else {
                    // Until the other side has had enough.
                    let _ = reader.read_to_end(&mut Vec::new());
                    break;
                };
                // The receiver may be gone.
                let _ = (&stream).write_all(answer.as_bytes());
                if answer.is_empty() || answer.contains("Connection: close") {
                    break;
                }
            }
        }
    });
    (address, requests)
}

fn read(reader: &mut BufReader<&TcpStream>) -> Option<AddCheckpoint> {
    let lines = reader.by_ref().lines().map_while(Result::ok);
    let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    assert!(head.is_empty() || head[0] == "POST /add-checkpoint HTTP/1.1", "{head:?}");
    let length = head.iter().find_map(|line| {
        line.to_ascii_lowercase().strip_prefix("content-length: ").map(str::to_owned)
    })?;
    let mut body = vec![0; length.parse().unwrap()];
    reader.read_exact(&mut body).ok()?;
    Some(AddCheckpoint::read(&body).unwrap())
}

fn says(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// Returns the answer of a witness that signs anything.
fn cosigns(seed: u8, request: &AddCheckpoint, seconds: u64) -> String {
    let checkpoint = Checkpoint::read(&request.note.text).unwrap();
    let line = witness(seed).cosign(&checkpoint, seconds, &[0; 32]).unwrap();
    says("200 OK", &format!("{line}\n"))
}

#[test]
fn a_checkpoint_stays_once_enough_witnesses_have_cosigned_it() {
    let (first, second) = (Running::start(1), Running::start(2));
    let mut log = Setting::new(&[(1, first.address), (2, second.address)], "all");
    assert!(log.verified().is_err());
    log.round();
    for frames in [3, 10, 260] {
        log.grow(frames);
        let all = log.writer.frames();
        assert_eq!(log.witnessed(), (all, vec!["w1".to_owned(), "w2".to_owned()]));
        let line = format!("\nwardgate_decision_log_witnessed_frames {all}\n");
        assert!(log.metrics().contains(&line), "{}", log.metrics());
    }
    assert!(log.metrics().contains("_witnessed_timestamp_seconds 1790000000\n"));
    assert!(log.metrics().contains("_witnesses_failing 0\n"));
    // Another server goes on with the log: it does not know yet what the witnesses have seen.
    (log.worker, log.counts) = worker(&log.folder.0, &log.policy);
    assert!(log.metrics().contains("_witnessed_frames 273\n"));
    log.grow(1);
    assert_eq!(log.witnessed().0, 274);
    // One of them is gone, and the file stays as it is.
    drop(second);
    log.grow(1);
    assert_eq!(log.witnessed().0, 274);
    assert!(log.has_failed("unreachable", 1) && log.metrics().contains("_witnesses_failing 1\n"));
    assert!(first.folder.files().len() > 2);
}

#[test]
fn a_log_that_was_set_back_is_refused_and_nothing_else_happens() {
    let running = Running::start(1);
    let mut log = Setting::new(&[(1, running.address)], "all");
    log.grow(3);
    let copy = Temporary::new();
    copied(&log.folder.0, &copy.0);
    log.grow(5);
    assert_eq!(log.witnessed().0, 8);
    let witnessed = fs::read(log.folder.0.join("checkpoint.witnessed")).unwrap();
    // The machine is set back to the copy, and the server goes on.
    let back = |frames| {
        let folder = Temporary::new();
        copied(&copy.0, &folder.0);
        let (mut writer, _) = open(&folder.0, 1 << 20).unwrap();
        for number in 0..frames {
            writer.write(1_000_000 + number).unwrap();
        }
        seal(&mut writer);
        let (mut worker, counts) = worker(&folder.0, &log.policy);
        log.runtime.block_on(worker.round());
        let mut text = String::new();
        counts.write(&mut text);
        let policy = WitnessPolicy::read(&fs::read(&log.policy).unwrap()).unwrap();
        let found = verify(&folder.0, &key(), None, Some(&policy)).unwrap().witnessed.unwrap();
        assert_eq!(found.frames, 3);
        // Who has the witnessed checkpoint finds the fork.
        fs::write(folder.0.join("checkpoint.witnessed"), &witnessed).unwrap();
        (text, verify(&folder.0, &key(), None, Some(&policy)).unwrap_err())
    };
    let (text, error) = back(2);
    assert!(text.contains("{reason=\"ahead\"} 1\n"), "{text}");
    assert_eq!(error.code(), "log-truncated");
    let (text, error) = back(9);
    assert!(text.contains("{reason=\"inconsistent\"} 1\n"), "{text}");
    assert_eq!(error.code(), "log-checkpoint");
    assert!(error.to_string().contains("the witnessed checkpoint is about another log"));
}

#[test]
fn a_log_that_was_set_back_behind_its_witnesses_does_not_start() {
    let running = Running::start(1);
    let mut log = Setting::new(&[(1, running.address)], "all");
    log.grow(300);
    let copy = Temporary::new();
    copied(&log.folder.0, &copy.0);
    log.grow(300);
    assert_eq!(log.witnessed().0, 600);
    add_frames(&mut log.writer, 100);
    seal(&mut log.writer);
    let Setting { folder, writer, .. } = log;
    drop(writer);
    let starts = |folder: &Temporary| open(&folder.0, 1 << 20).map(|_| ());
    let fails = |folder: &Temporary| starts(folder).unwrap_err();
    starts(&folder).unwrap();
    // A full tile that is missing or damaged is only for readers.
    for tile in ["tile/0/000", "tile/0/001"] {
        fs::write(folder.0.join(tile), "other digests").unwrap();
        starts(&folder).unwrap();
        fs::remove_file(folder.0.join(tile)).unwrap();
        starts(&folder).unwrap();
    }

    // All files are those of before, but the witnessed checkpoint.
    let witnessed = folder.0.join("checkpoint.witnessed");
    fs::copy(&witnessed, copy.0.join("checkpoint.witnessed")).unwrap();
    assert_eq!(fails(&copy).code(), "log-truncated");
    let reason = ShortText::new("restored").unwrap();
    let error = accept_loss(&copy.0, signer(), reason.clone()).unwrap_err();
    assert!(error.to_string().contains("its tiles are missing too"), "{error}");
    // Whoever has the key signs another log of more frames.
    fs::remove_file(copy.0.join("checkpoint.witnessed")).unwrap();
    let (mut writer, _) = open(&copy.0, 1 << 20).unwrap();
    (0..400).for_each(|number| writer.write(1_000_000 + number).unwrap());
    seal(&mut writer);
    drop(writer);
    fs::copy(&witnessed, copy.0.join("checkpoint.witnessed")).unwrap();
    let error = fails(&copy);
    assert_eq!(error.code(), "log-checkpoint");
    assert!(error.to_string().contains("the witnessed checkpoint is about another log"), "{error}");
    // The tiles of the log that was witnessed prove nothing about this one.
    for tile in ["tile/0/000", "tile/0/001"] {
        fs::copy(folder.0.join(tile), copy.0.join(tile)).unwrap_or_default();
    }
    assert_eq!(fails(&copy).code(), "log-checkpoint");
    fs::write(copy.0.join("checkpoint.witnessed"), "no note").unwrap();
    assert_eq!(fails(&copy).code(), "log-checkpoint");
}

#[test]
fn a_loss_behind_the_newest_checkpoint_is_accepted_as_far_as_witnesses_saw() {
    let running = Running::start(1);
    let mut log = Setting::new(&[(1, running.address)], "all");
    log.grow(5);
    let before = fs::read(log.folder.0.join("checkpoint")).unwrap();
    let segment = log.folder.last_segment();
    let bytes = fs::read(&segment).unwrap();
    log.grow(5);
    let Setting { folder, writer, .. } = log;
    drop(writer);
    fs::write(folder.0.join("checkpoint"), before).unwrap();
    fs::write(&segment, bytes).unwrap();
    assert_eq!(open(&folder.0, 1 << 20).unwrap_err().code(), "log-truncated");
    let reason = ShortText::new("restored").unwrap();
    let loss = accept_loss(&folder.0, signer(), reason).unwrap();
    assert_eq!((loss.frames, loss.found), (10, 5));
    open(&folder.0, 1 << 20).unwrap();
    verify(&folder.0, &key(), None, None).unwrap();
}

fn copied(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let copy = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copied(&path, &copy),
            false => assert!(fs::copy(&path, &copy).is_ok()),
        }
    }
}

/// Asks one scripted witness, and checks that nothing was kept, and why.
fn refused(reason: &str, answer: impl Fn(&AddCheckpoint) -> Option<String> + Send + 'static) {
    let (address, _requests) = scripted(answer);
    let mut log = Setting::new(&[(1, address)], "all");
    if reason == "late" {
        log.hurry("w1");
    }
    log.grow(3);
    assert!(log.has_failed(reason, 1), "{reason}: {}", log.metrics());
    assert!(log.verified().is_err(), "{reason}");
    assert!(!log.folder.0.join("checkpoint.witnessed").exists(), "{reason}");
}

#[test]
fn a_witness_that_does_not_cosign_changes_nothing() {
    refused("refused", |_| Some(says("403 Forbidden", "")));
    refused("refused", |_| Some(says("404 Not Found", "no log\n")));
    refused("refused", |_| Some(says("400 Bad Request", "")));
    refused("inconsistent", |_| Some(says("422 Unprocessable Entity", "")));
    refused("failing", |_| Some(says("500 Internal Server Error", "")));
    refused("failing", |_| Some(says("302 Found\r\nLocation: /", "")));
    refused("unreachable", |_| Some(String::new()));
    refused("unreachable", |_| Some("none of HTTP\r\n\r\n".to_owned()));
    refused("unreachable", |_| {
        Some("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 9\r\n\r\n1".to_owned())
    });
    refused("unreachable", |_| Some(says("200 OK", &"a".repeat(70_000))));
    refused("late", |_| None);
    // The sizes that a liar can tell.
    refused("ahead", |_| Some(says("409 Conflict", "4\n")));
    refused("refused", |_| Some(says("409 Conflict", "2\n")));
    refused("refused", |_| Some(says("409 Conflict", "two\n")));
}

#[test]
fn a_cosignature_that_is_not_right_is_refused() {
    refused("signature", |_| Some(says("200 OK", "")));
    refused("signature", |_| Some(says("200 OK", "3\n")));
    // Of another witness, with another key of the name, without a time, and of another checkpoint.
    refused("signature", |request| Some(cosigns(2, request, 5)));
    refused("signature", |request| {
        let checkpoint = Checkpoint::read(&request.note.text).unwrap();
        let other = LogSigner::new("w.example/1", &[2; 32]).unwrap();
        let line = other.cosign(&checkpoint, 5, &[0; 32]).unwrap();
        Some(says("200 OK", &format!("{line}\n")))
    });
    refused("signature", |request| Some(cosigns(1, request, 0)));
    refused("signature", |request| {
        let mut other = request.clone();
        other.note.text = other.note.text.replace("\n3\n", "\n4\n");
        Some(cosigns(1, &other, 5))
    });
}

#[test]
fn a_conflict_tells_the_size_to_prove_from() {
    let (address, requests) = scripted(|request| match request.old {
        0 => Some(says("409 Conflict", "2\n")),
        _ => Some(cosigns(1, request, 5)),
    });
    let mut log = Setting::new(&[(1, address)], "all");
    log.grow(5);
    assert_eq!(log.witnessed().0, 5);
    log.grow(2);
    assert_eq!(log.witnessed().0, 7);
    let sizes: Vec<(u64, bool)> =
        requests.try_iter().map(|one| (one.old, one.proof.is_empty())).collect();
    assert_eq!(sizes, [(0, true), (2, false), (5, false)]);
}

#[test]
fn a_late_witness_delays_no_other_one() {
    let running = Running::start(1);
    let (silent, _requests) = scripted(|_| None);
    let mut log = Setting::new(&[(1, running.address), (2, silent)], "any");
    log.hurry("w2");
    for frames in 1..=3 {
        log.grow(1);
        assert_eq!(log.witnessed(), (frames, vec!["w1".to_owned()]));
    }
    assert!(!log.has_failed("late", 0), "{}", log.metrics());
}

#[test]
fn signatures_of_others_are_not_kept() {
    let (address, _requests) = scripted(|request| {
        let checkpoint = Checkpoint::read(&request.note.text).unwrap();
        let own = witness(1).cosign(&checkpoint, 5, &[0; 32]).unwrap();
        let mut other = own.clone();
        other.name = "log.example/a".to_owned();
        Some(says("200 OK", &format!("{other}\n{own}\n")))
    });
    let mut log = Setting::new(&[(1, address)], "all");
    log.grow(1);
    let note = fs::read_to_string(log.folder.0.join("checkpoint.witnessed")).unwrap();
    let names = note.lines().filter_map(|line| line.strip_prefix("— "));
    let names: Vec<&str> = names.filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(names, ["log.example/a", "w.example/1"]);
    assert_eq!(log.witnessed().0, 1);
}

#[test]
fn a_connection_that_was_closed_is_made_again() {
    let (address, _requests) = scripted(|request| {
        let answer = cosigns(1, request, 5);
        Some(answer.replacen("\r\n", "\r\nConnection: close\r\n", 1))
    });
    let mut log = Setting::new(&[(1, address)], "all");
    for frames in 1..=3 {
        log.grow(1);
        assert_eq!(log.witnessed().0, frames);
    }
}

#[test]
fn a_policy_that_cannot_be_satisfied_is_refused() {
    let folder = Temporary::new();
    fs::create_dir_all(&folder.0).unwrap();
    let path = folder.0.join("policy");
    let [a, b] = [1, 2].map(|seed| witness(seed).verifier());
    let check = |text: &str, expected: &str| {
        fs::write(&path, text).unwrap();
        let config = Witnesses { policy: path.clone(), ca: None, timeout: TIMEOUT };
        let error = read_policy(&config, &signer().verifier()).unwrap_err();
        assert!(error.ends_with(expected), "{error}");
    };
    check("", "line 1: expected a line `quorum NAME` or `quorum none`");
    check("quorum none\n", "the witnesses that have a URL are not enough");
    check(&format!("witness a {a}\nquorum a\n"), "the witnesses that have a URL are not enough");
    let both = format!("witness a {a} http://a.example\nwitness b {b}\n");
    check(
        &format!("{both}group g all a b\nquorum g\n"),
        "the witnesses that have a URL are not enough",
    );
    check(&format!("log {a}\n{both}quorum a\n"), "it is about other logs than this one");
    fs::write(&path, format!("{both}quorum a\n")).unwrap();
    let config = Witnesses { policy: path.clone(), ca: None, timeout: TIMEOUT };
    let policy = read_policy(&config, &signer().verifier()).unwrap();
    assert!(LogWitness::new(&policy.witnesses()[1], &config).unwrap().is_none());
    let wrong = |url: &str, expected: &str| {
        let mut one = policy.witnesses()[0].clone();
        one.url = Some(url.to_owned());
        let error = LogWitness::new(&one, &config).unwrap_err();
        assert!(error.starts_with("witness `a`: ") && error.contains(expected), "{error}");
    };
    wrong("a.example", "expected a URL");
    wrong("http://a.example/w?key=1", "expected a URL without a query");
    wrong("https://a.example", "`ca` is missing");
}
