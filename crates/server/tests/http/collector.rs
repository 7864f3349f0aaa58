//! A collector of spans that gives scripted answers, and stores the requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// A collector that listens.
pub(crate) struct Collector {
    pub(crate) address: SocketAddr,
    received: Receiver<Received>,
}

/// A request.
pub(crate) struct Received {
    /// In small letters.
    pub(crate) head: String,
    pub(crate) body: Value,
}

impl Collector {
    /// Starts a collector that gives these answers, and the last of them ever after. An empty one
    /// is never given.
    pub(crate) fn saying(answers: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, received) = channel();
        let mut answers: Vec<String> = answers.iter().map(|answer| (*answer).to_owned()).collect();
        thread::spawn(move || {
            for stream in listener.incoming() {
                serve(&stream.unwrap(), &mut answers, &sender);
            }
        });
        Self { address, received }
    }

    pub(crate) fn endpoint(&self) -> String {
        format!("http://{}/v1/traces", self.address)
    }

    /// The next request, which is on its way.
    pub(crate) fn next(&self) -> Received {
        self.received.recv_timeout(Duration::from_secs(60)).unwrap()
    }

    /// Returns the next request.
    pub(crate) fn rest(&self) -> Vec<Received> {
        self.received.try_iter().collect()
    }

    /// The spans in it.
    pub(crate) fn spans(&self) -> Vec<Value> {
        self.rest().iter().flat_map(Received::spans).collect()
    }
}

impl Received {
    pub(crate) fn spans(&self) -> Vec<Value> {
        self.body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone()
    }
}

/// The value of an attribute, as text.
pub(crate) fn attribute(span: &Value, name: &str) -> Option<String> {
    let all = span["attributes"].as_array().unwrap();
    let found = all.iter().find(|one| one["key"] == name)?;
    let (_, value) = found["value"].as_object().unwrap().iter().next().unwrap();
    Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

fn serve(stream: &TcpStream, answers: &mut Vec<String>, sender: &Sender<Received>) {
    let mut reader = BufReader::new(stream);
    while let Some(received) = read(&mut reader) {
        let answer = answers[0].clone();
        if answers.len() > 1 {
            answers.remove(0);
        }
        // The receiver may be gone.
        let _ = sender.send(received);
        if answer.is_empty() {
            // Until the other side has had enough.
            let _ = reader.read_to_end(&mut Vec::new());
            return;
        }
        let mut stream = stream;
        if stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

fn read(reader: &mut BufReader<&TcpStream>) -> Option<Received> {
    let lines = reader.by_ref().lines().map_while(Result::ok);
    let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let head = head.join("\n").to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "))?;
    let mut body = vec![0; length.parse().unwrap()];
    reader.read_exact(&mut body).ok()?;
    Some(Received { head, body: serde_json::from_slice(&body).unwrap() })
}

pub(crate) const TAKEN: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
