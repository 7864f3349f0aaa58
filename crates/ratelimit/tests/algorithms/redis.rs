//! A Redis that ends with the test, and its replies.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// A server on loopback that writes no file, and a connection to it.
pub(crate) struct Redis {
    child: Child,
    stream: BufReader<TcpStream>,
}

/// A reply, of the kinds that tests meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Integer(i64),
    Text(Option<String>),
    Error(String),
    List(Vec<Reply>),
}

/// Returns the program, or says which test does nothing without it.
fn program(test: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path);
    let found =
        folders.find_map(|folder| Some(folder.join("redis-server")).filter(|p| p.is_file()));
    if found.is_none() {
        let is_required = std::env::var_os("WARDGATE_REQUIRE_REDIS").is_some();
        assert!(!is_required, "redis-server is not installed");
        println!("{test}: skipped, redis-server is not installed");
    }
    found
}

impl Redis {
    /// Starts a server. Returns None if redis-server is not installed.
    pub(crate) fn start(test: &str) -> Option<Self> {
        let program = program(test)?;
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let port_text = port.to_string();
        let mut child = Command::new(program)
            .args(["--port", &port_text, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let is_ready = lines.any(|line| line.unwrap().contains("Ready to accept connections"));
        assert!(is_ready, "redis-server ended");
        // Whatever it says later is read, so that it never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_nodelay(true).unwrap();
        Some(Self { child, stream: BufReader::new(stream) })
    }

    /// Sends a command and returns its reply.
    pub(crate) fn call(&mut self, words: &[&str]) -> Reply {
        let mut command = format!("*{}\r\n", words.len());
        for word in words {
            command += &format!("${}\r\n{word}\r\n", word.len());
        }
        self.stream.get_mut().write_all(command.as_bytes()).unwrap();
        self.reply()
    }

    fn reply(&mut self) -> Reply {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        let (kind, rest) = line.trim_end().split_at(1);
        match kind {
            "+" => Reply::Text(Some(rest.to_owned())),
            "-" => Reply::Error(rest.to_owned()),
            ":" => Reply::Integer(rest.parse().unwrap()),
            "$" => Reply::Text(self.text(rest.parse().unwrap())),
            "*" => Reply::List((0..rest.parse().unwrap()).map(|_| self.reply()).collect()),
            other => panic!("{other}"),
        }
    }

    fn text(&mut self, length: i64) -> Option<String> {
        let mut bytes = vec![0; usize::try_from(length).ok()? + 2];
        self.stream.read_exact(&mut bytes).unwrap();
        bytes.truncate(bytes.len() - 2);
        Some(String::from_utf8(bytes).unwrap())
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
