//! The program `redis-server` of the system.

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::thread;

/// A server that writes no file and ends when this is dropped.
pub(super) struct Server {
    child: Child,
    port: u16,
}

impl Server {
    /// Starts it on this machine.
    ///
    /// # Errors
    /// It is not installed, or does not start.
    pub(super) fn start() -> Result<Self, String> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|one| one.local_addr());
        let port = port.map_err(|error| error.to_string())?.port();
        let mut command = Command::new(PROGRAM);
        command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""]);
        command.args(["--appendonly", "no"]).stdin(Stdio::null()).stdout(Stdio::piped());
        let child = command.stderr(Stdio::null()).spawn();
        let mut child = child.map_err(|_| {
            format!("the program `{PROGRAM}` is not installed: name a server with `--redis`")
        })?;
        let lines = child.stdout.take().map(BufReader::new).into_iter().flat_map(BufRead::lines);
        let mut lines = lines.map_while(Result::ok);
        let is_ready = lines.any(|line| line.contains("Ready to accept connections"));
        // Its later lines are read, so that it never waits for a reader.
        thread::spawn(move || lines.for_each(drop));
        let server = Self { child, port };
        if is_ready { Ok(server) } else { Err(format!("`{PROGRAM}` does not start")) }
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
