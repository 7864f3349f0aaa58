//! Witnesses of a decision log, beside a server that answers.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::thread::{self, JoinHandle};

use tokio::sync::oneshot;
use wardgate_decision_log::checkpoint::LogKey;
use wardgate_decision_log::signer::LogSigner;
use wardgate_decision_log::witness_policy::WitnessPolicy;
use wardgate_server::ServerError;
use wardgate_server::decision_log::{LogError, Verified, verify};
use wardgate_server::witness::{Witness, WitnessSettings};

use crate::decision_log::LIMIT;
use crate::running::{CALL, OPEN, POLICY, Running};

fn log() -> LogSigner {
    LogSigner::new("log.example/a", &[7; 32]).unwrap()
}

fn witness() -> LogSigner {
    LogSigner::new("w.example/1", &[8; 32]).unwrap()
}

fn key() -> LogKey {
    LogKey::read(&log().verifier().to_string()).unwrap()
}

/// A witness that runs until it is dropped.
struct RunningWitness {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<Result<(), ServerError>>>,
    /// The server whose folder has its state.
    _server: Running,
}

impl RunningWitness {
    fn start() -> Self {
        // Its folder goes with the test.
        let server = Running::start(POLICY, OPEN);
        let witness = Witness::bind(WitnessSettings {
            folder: server.folder.join("witness"),
            is_new: true,
            signer: witness(),
            logs: vec![key()],
            listen: "127.0.0.1:0".to_owned(),
        });
        let witness = witness.unwrap();
        let (address, (stop, stopped)) = (witness.address().unwrap(), oneshot::channel());
        let thread = Some(thread::spawn(|| witness.run(async { drop(stopped.await) })));
        Self { address, stop: Some(stop), thread, _server: server }
    }
}

impl Drop for RunningWitness {
    fn drop(&mut self) {
        drop(self.stop.take());
        self.thread.take().unwrap().join().unwrap().unwrap();
    }
}

/// Starts a server with one witness at an address.
fn start(address: SocketAddr) -> Running {
    let section = format!(
        "{OPEN}[ratelimit]\n[decision-log]\nfolder = \"log\"\nkey-file = \"log.key\"\n[decision-log.witness]\npolicy = \"policy\"\n"
    );
    let policy = format!("witness b {} http://{address}/\nquorum b\n", witness().verifier());
    let secret = LogSigner::text("log.example/a", &[7; 32]).unwrap();
    let files = [("log.key", secret.as_str()), ("policy", policy.as_str())];
    Running::with_files(&format!("{POLICY}{LIMIT}"), &section, &files)
}

fn verified(folder: &Path) -> Result<Verified, LogError> {
    let policy = WitnessPolicy::read(&fs::read(folder.join("policy")).unwrap()).unwrap();
    verify(&folder.join("log"), &key(), None, Some(&policy))
}

#[test]
fn the_whole_log_of_a_server_has_a_witness_when_it_has_stopped() {
    let witness = RunningWitness::start();
    let mut server = start(witness.address);
    for _ in 0..3 {
        assert_eq!(server.post("/api/check/resources", "", CALL).0, 200);
    }
    let metrics = server.get("/metrics", "").1;
    assert!(metrics.contains("\nwardgate_decision_log_witnesses_failing 0\n"), "{metrics}");
    server.stop();
    let found = verified(&server.folder).unwrap();
    let witnessed = found.witnessed.unwrap();
    assert_eq!((witnessed.frames, witnessed.by[0].0.as_str()), (found.frames, "b"));
    assert_eq!((found.decisions, found.unsealed), (3, 0));
}

#[test]
fn without_its_witness_a_server_answers_and_stops_as_ever() {
    // It accepts connections, and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut server = start(silent.local_addr().unwrap());
    for _ in 0..3 {
        assert_eq!(server.post("/api/check/resources", "", CALL).0, 200);
    }
    assert_eq!(server.get("/readyz", "").0, 200);
    let metrics = server.get("/metrics", "").1;
    assert!(metrics.contains("\nwardgate_decision_log_witnessed_frames 0\n"), "{metrics}");
    assert!(metrics.contains("witness_failures_total{reason=\"late\"} 0\n"), "{metrics}");
    server.stop();
    let error = verified(&server.folder).unwrap_err().to_string();
    assert!(error.contains("there is no `checkpoint.witnessed`"), "{error}");
    let alone = verify(&server.folder.join("log"), &key(), None, None).unwrap();
    assert_eq!((alone.decisions, alone.unsealed), (3, 0));
}
