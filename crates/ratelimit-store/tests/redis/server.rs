//! A redis-server of the system that ends with the test.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;

/// A server on loopback that writes no file.
pub(crate) struct Server {
    child: Child,
    port: u16,
}

impl Server {
    /// Starts a server. Returns None if redis-server is not installed, and says so.
    pub(crate) fn start(test: &str) -> Option<Self> {
        program(test)?;
        Some(Self::start_at(free_port()))
    }

    /// Starts a server at a port. Only after [`Server::start`] of the same test.
    pub(crate) fn start_at(port: u16) -> Self {
        Self::start_with(port, &[])
    }

    /// Starts a server at a port with further options.
    pub(crate) fn start_with(port: u16, options: &[&str]) -> Self {
        let mut child = Command::new(program("").unwrap())
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""])
            .args(["--appendonly", "no", "--maxclients", "1000"])
            .args(options)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let is_ready = lines.any(|line| line.unwrap().contains("Ready to accept connections"));
        assert!(is_ready, "redis-server ended");
        // Whatever it says later is read, so that it never waits for a reader.
        thread::spawn(move || lines.for_each(drop));
        Self { child, port }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn address(&self) -> String {
        address(self.port)
    }

    /// Ends the server at once, as a crash does.
    pub(crate) fn kill(mut self) -> u16 {
        self.end();
        self.port
    }

    /// Stops the process without its knowledge: connections stay, and nobody answers.
    pub(crate) fn pause(&self) {
        self.signal("-STOP");
    }

    pub(crate) fn resume(&self) {
        self.signal("-CONT");
    }

    /// Sends a command over a connection of its own and returns the reply.
    pub(crate) async fn command(&self, words: &[&str]) -> redis::Value {
        let client = redis::Client::open(self.address()).unwrap();
        let mut connection = client.get_multiplexed_async_connection().await.unwrap();
        let mut cmd = redis::cmd(words[0]);
        for word in &words[1..] {
            cmd.arg(*word);
        }
        cmd.query_async(&mut connection).await.unwrap()
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let status = Command::new("kill").args([name, &pid]).status().unwrap();
        assert!(status.success());
    }

    fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

pub(crate) fn address(port: u16) -> String {
    format!("redis://127.0.0.1:{port}")
}

/// Returns a port that was free a moment ago.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Returns the program, or says which test does nothing without it.
fn program(test: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let name = OsStr::new("redis-server");
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|p| p.is_file());
    if found.is_none() {
        let is_required = std::env::var_os("WARDGATE_REQUIRE_REDIS").is_some();
        assert!(!is_required, "redis-server is not installed");
        println!("{test}: skipped, redis-server is not installed");
    }
    found
}
