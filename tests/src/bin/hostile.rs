//! Sends hostile requests to a server and prints their cost: `hostile WARDGATE [COUNT [SEED]]`.
//! `hostile - NUMBER [SEED]` writes the body of one of them to standard output.
//!
//! `WARDGATE` is the command, built for release. Each request is sent after the answer to the one
//! before, and the CPU time that all threads of the server took meanwhile is read from the system;
//! a second client polls the health endpoint. Fails if a request takes more CPU, the server more
//! memory, or the health endpoint longer than the bounds below.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{env, fs};

use wardgate_tests::hostile::{Hostile, bundle, request};
use wardgate_tests::program::{self, exit};

/// The CPU time that one request may take, on the machine of the figures in
/// `host-bench/RESULTS.md`.
const MAX_CPU: Duration = Duration::from_millis(250);

/// The peak memory that the server may have, in KiB.
const MAX_MEMORY: u64 = 128 << 10;

/// The longest time of an answer of the health endpoint.
const MAX_HEALTH: Duration = Duration::from_millis(50);

/// The longest time of an answer; a request that takes longer counts as one that stopped the
/// server.
const PATIENCE: Duration = Duration::from_secs(120);

/// The entities of each type in the index.
const ENTITIES: usize = 2000;

fn main() -> ExitCode {
    exit("hostile", run())
}

fn run() -> Result<bool, String> {
    let mut arguments = env::args().skip(1);
    let wardgate = arguments.next().ok_or("expected the command `wardgate`, built for release")?;
    let number = |text: Option<String>, default: u64| {
        text.map_or(Ok(default), |text| program::number(&text))
    };
    let (count, seed) = (number(arguments.next(), 1000)?, number(arguments.next(), 17)?);
    if wardgate == "-" {
        let body = request(seed, count).body;
        return std::io::stdout()
            .write_all(&body)
            .map(|()| true)
            .map_err(|error| error.to_string());
    }
    let wardgate = fs::canonicalize(&wardgate).map_err(|error| format!("{wardgate}: {error}"))?;
    let server = Server::start(&wardgate)?;
    let health = Health::watch(server.address.clone());
    let mut worst: BTreeMap<(&str, &str), Cost> = BTreeMap::new();
    let mut is_within = true;
    let mut memory = server.memory()?;
    for number in 0..count {
        let hostile = request(seed, number);
        let cost = server.ask(&hostile)?;
        if cost.cpu > MAX_CPU {
            is_within = false;
            let Hostile { name, path, body } = &hostile;
            let (ms, length, status) = (cost.cpu.as_millis(), body.len(), cost.status);
            println!(
                "request {number}: {name} at {path}, {length} bytes: {ms} ms of CPU, {status}"
            );
        }
        memory = memory.max(cost.memory);
        let entry = worst.entry((hostile.path, hostile.name)).or_default();
        *entry = Cost {
            questions: entry.questions + 1,
            memory: entry.memory.max(cost.memory),
            ..if cost.cpu > entry.cpu { cost } else { *entry }
        };
    }
    println!(
        "\n{:<28} {:<26} {:>8} {:>10} {:>10} status",
        "path", "what", "requests", "worst CPU", "memory"
    );
    for ((path, name), cost) in &worst {
        let Cost { questions, cpu, memory, status } = cost;
        let (cpu, memory) = (cpu.as_millis(), memory >> 10);
        println!("{path:<28} {name:<26} {questions:>8} {cpu:>7} ms {memory:>6} MiB {status}");
    }
    let slowest = health.slowest()?;
    println!(
        "\nseed {seed}, {count} requests; memory at most {} MiB; health after at most {:.1} ms",
        memory >> 10,
        slowest.as_secs_f64() * 1e3
    );
    Ok(is_within && memory <= MAX_MEMORY && slowest <= MAX_HEALTH)
}

/// The cost of a request.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    questions: u32,
    cpu: Duration,
    /// The peak memory of the server during the request, in KiB.
    memory: u64,
    status: u16,
}

/// A server in a process of its own, which ends when this value is dropped.
struct Server {
    child: Child,
    address: String,
    folder: PathBuf,
}

impl Server {
    fn start(wardgate: &Path) -> Result<Self, String> {
        let folder = env::temp_dir().join(format!("wardgate-hostile-{}", std::process::id()));
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        fs::create_dir_all(folder.join("index")).map_err(failed)?;
        fs::write(folder.join("policies.wardgate"), bundle()?).map_err(failed)?;
        for (file, kind) in [("subject.user.json", "s"), ("resource.doc.json", "d")] {
            fs::write(folder.join("index").join(file), entities(kind)).map_err(failed)?;
        }
        fs::write(folder.join("wardgate.toml"), CONFIG).map_err(failed)?;
        let mut child = Command::new(wardgate)
            .args(["serve", "--config", "wardgate.toml"])
            .current_dir(&folder)
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", wardgate.display()))?;
        let lines = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
        let address = listening(lines).ok_or("the server says nowhere that it listens")?;
        Ok(Self { child, address, folder })
    }

    fn ask(&self, hostile: &Hostile) -> Result<Cost, String> {
        self.forget_memory()?;
        let before = self.cpu()?;
        let status = post(&self.address, hostile)
            .map_err(|error| format!("{} at {}: {error}", hostile.name, hostile.path))?;
        let cpu = self.cpu()?.saturating_sub(before);
        Ok(Cost { questions: 0, cpu, memory: self.memory()?, status })
    }

    /// Returns the CPU time of all threads.
    fn cpu(&self) -> Result<Duration, String> {
        let tasks = format!("/proc/{}/task", self.child.id());
        let tasks =
            fs::read_dir(&tasks).map_err(|error| format!("the server has ended: {error}"))?;
        let nanos = tasks.flatten().filter_map(|task| {
            let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
            text.split(' ').next()?.parse::<u64>().ok()
        });
        Ok(Duration::from_nanos(nanos.sum()))
    }

    /// Resets the peak memory that the system counts (proc(5), `clear_refs`).
    fn forget_memory(&self) -> Result<(), String> {
        fs::write(format!("/proc/{}/clear_refs", self.child.id()), "5")
            .map_err(|error| format!("the system does not count memory anew: {error}"))
    }

    /// Returns the peak memory since then, in KiB.
    fn memory(&self) -> Result<u64, String> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.map_err(|error| format!("the server has ended: {error}"))?;
        let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let most = most.and_then(|text| text.split_whitespace().next()?.parse().ok());
        most.ok_or_else(|| "the system does not tell of memory".to_owned())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A client that polls the health endpoint.
struct Health {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Result<Duration, String>>,
}

impl Health {
    fn watch(address: String) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&is_over);
        let thread = thread::spawn(move || {
            let mut slowest = Duration::ZERO;
            while !ends.load(Ordering::Relaxed) {
                slowest = slowest.max(healthy(&address)?);
                thread::sleep(Duration::from_millis(5));
            }
            Ok(slowest)
        });
        Self { is_over, thread }
    }

    fn slowest(self) -> Result<Duration, String> {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| "the second client ended".to_owned())?
    }
}

fn healthy(address: &str) -> Result<Duration, String> {
    let start = Instant::now();
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    let status =
        exchange(address, &[request.as_bytes()]).map_err(|error| format!("health: {error}"))?;
    if status == 200 { Ok(start.elapsed()) } else { Err(format!("health: status {status}")) }
}

fn post(address: &str, Hostile { path, body, .. }: &Hostile) -> std::io::Result<u16> {
    let length = body.len();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    exchange(address, &[head.as_bytes(), body])
}

/// Sends bytes, reads the whole answer and returns its status.
fn exchange(address: &str, parts: &[&[u8]]) -> std::io::Result<u16> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    // A server that has read enough may close; its answer then still counts.
    let _ = parts.iter().try_for_each(|part| stream.write_all(part));
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let status =
        answer.get(9..12).and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
    status.ok_or_else(|| std::io::Error::other("an answer without a status"))
}

/// Waits for the line with the address on which the server listens, and skips the others.
fn listening(mut lines: std::io::Lines<BufReader<std::process::ChildStdout>>) -> Option<String> {
    let found = lines.by_ref().flatten().find_map(|line| {
        let at = line.find("127.0.0.1:")?;
        let rest = line.get(at..)?;
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ':');
        Some(rest.get(..end.unwrap_or(rest.len()))?.to_owned())
    });
    thread::spawn(move || lines.for_each(drop));
    found
}

fn entities(kind: &str) -> String {
    let entity = |n: usize| {
        format!(
            "{{\"id\":\"{kind}{n}\",\"properties\":{{\"groups\":[\"g{n}\",\"g{}\"],\"roles\":[\"member\"]}}}}",
            n / 2
        )
    };
    format!("[{}]", (0..ENTITIES).map(entity).collect::<Vec<_>>().join(","))
}

const CONFIG: &str = r#"
[server]
threads = 2

[policies]
bundle = "policies.wardgate"
trust = "unsigned"

[http]
listen = ["127.0.0.1:0"]

[auth]
anonymous-queries = true

[authzen]
index = "index"
"#;
