//! A server on this machine, and just enough of HTTP for requests to it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::Value as Json;
use wardgate_server::{
    Bodies, Config, Lookup, Origin, Server, ServerError, Shared, Source, SourceError,
};

/// A server that runs until it is dropped.
pub struct Running {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Result<(), ServerError>>>,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The body.
    pub body: String,
}

impl Running {
    /// Starts a server with this bundle; `more` is the configuration beside address and policies.
    ///
    /// # Errors
    /// If the server does not start.
    pub fn start(bundle: Vec<u8>, more: &str, folder: &Path) -> Result<Self, String> {
        let (config, origin) = set_up(bundle, more, folder)?;
        let server = Server::bind(config, origin).map_err(|error| error.to_string())?;
        let address = *server.http_addresses().first().ok_or("nobody listens")?;
        let shared = server.shared();
        let thread = thread::spawn(move || server.run());
        Ok(Self { address, shared, thread: Some(thread) })
    }

    /// Posts a body of JSON and returns the answer.
    ///
    /// # Errors
    /// If there is no answer.
    pub fn post(&self, path: &str, body: &Json) -> Result<Answer, String> {
        let body = body.to_string();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.address,
            body.len()
        );
        let exchange = || {
            let mut stream = TcpStream::connect(self.address)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.write_all(head.as_bytes())?;
            stream.write_all(body.as_bytes())?;
            let mut text = String::new();
            stream.read_to_string(&mut text)?;
            Ok::<_, std::io::Error>(text)
        };
        Answer::read(&exchange().map_err(|error| error.to_string())?)
    }
}

impl Answer {
    fn read(text: &str) -> Result<Self, String> {
        let (head, body) = text.split_once("\r\n\r\n").ok_or("an answer without a head")?;
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or("an answer without a status")?;
        Ok(Self { status, body: body.to_owned() })
    }

    /// Returns the body as JSON.
    ///
    /// # Errors
    /// If the body is no JSON.
    pub fn json(&self) -> Result<Json, String> {
        serde_json::from_str(&self.body).map_err(|error| format!("{error}: {}", self.body))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.shared.stop();
        if let Some(thread) = self.thread.take() {
            // The thread has reported its failure where it occurred.
            let _ = thread.join();
        }
    }
}

/// Returns the endpoints of such a server, without its sockets.
///
/// # Errors
/// If the configuration is refused.
pub fn bodies(bundle: Vec<u8>, more: &str, folder: &Path) -> Result<Bodies, String> {
    let (config, origin) = set_up(bundle, more, folder)?;
    Bodies::new(config, origin).map_err(|error| error.to_string())
}

fn set_up(bundle: Vec<u8>, more: &str, folder: &Path) -> Result<(Config, Origin), String> {
    let text = format!(
        "[server]\nthreads = 1\nlog = \"error\"\n[policies]\nbundle = \"in-memory\"\ntrust = \"unsigned\"\nwatch-seconds = 0\n{more}"
    );
    let config = Config::parse(&text, folder).map_err(|error| error.to_string())?;
    let origin = Origin {
        source: Some(Box::new(Bytes(bundle))),
        directory: config.authzen.index.clone(),
        ..Origin::default()
    };
    Ok((config, origin))
}

struct Bytes(Vec<u8>);

impl Source for Bytes {
    fn look(&mut self, _: bool) -> Result<Lookup, SourceError> {
        Ok(Lookup::Bundle(self.0.clone()))
    }

    fn name(&self) -> String {
        "the bundle".to_owned()
    }
}

const PATIENCE: Duration = Duration::from_secs(60);
