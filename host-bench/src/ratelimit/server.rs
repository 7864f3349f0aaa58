//! The redis-server of the system.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use crate::program;

/// A server on loopback that writes no file; it ends when this is dropped.
pub(super) struct Server {
    child: Child,
    port: u16,
    /// Such as `Redis server v=7.0.15`.
    pub(super) version: String,
}

impl Server {
    /// Starts a server. Returns None if redis-server is not installed.
    pub(super) fn start() -> Result<Option<Self>, String> {
        let version = program::text_of(PROGRAM, &["--version"]);
        let Some(version) = version.split(" sha").next().filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        let port = TcpListener::bind("127.0.0.1:0").and_then(|one| one.local_addr());
        let port = port.map_err(|error| error.to_string())?.port();
        let mut command = Command::new(PROGRAM);
        command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""]);
        command.args(["--appendonly", "no"]).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("{PROGRAM}: {error}"))?;
        let lines = child.stdout.take().map(BufReader::new).into_iter().flat_map(BufRead::lines);
        let mut lines = lines.map_while(Result::ok);
        let is_ready = lines.any(|line| line.contains("Ready to accept connections"));
        // Its later lines are read, so that it never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        let server = Self { child, port, version: version.to_owned() };
        if is_ready { Ok(Some(server)) } else { Err(format!("{PROGRAM} does not start")) }
    }

    pub(super) fn address(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const PROGRAM: &str = "redis-server";
