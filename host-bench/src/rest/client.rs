//! A plain client of HTTP/1.1 that keeps its connections.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::measure::{float, single};

/// A call, and the length of its right answer.
pub(super) struct Call {
    bytes: Vec<u8>,
    length: usize,
}

impl Call {
    pub(super) fn post(path: &str, body: &Json) -> Self {
        let body = body.to_string();
        let bytes = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        Self { bytes: bytes.into_bytes(), length: 0 }
    }

    /// Makes the call once, compares its decisions, and notes the length of the answer.
    pub(super) fn learn(&mut self, server: SocketAddr, expected: &[bool]) -> Result<(), String> {
        let mut connection = Connection::open(server)?;
        let body = connection.call(&self.bytes)?;
        self.length = body.len();
        let answer: Json = serde_json::from_slice(body).map_err(|error| error.to_string())?;
        let found = decisions(&answer, expected.len());
        if found == expected { Ok(()) } else { Err(format!("{found:?} instead of {expected:?}")) }
    }
}

/// Returns the decisions of an answer of CheckResources or of an evaluation.
fn decisions(answer: &Json, count: usize) -> Vec<bool> {
    if let Some(decision) = answer.get("decision").and_then(Json::as_bool) {
        return vec![decision];
    }
    let results = answer.get("results").and_then(Json::as_array).into_iter().flatten();
    let results: Vec<&Json> = results.collect();
    let actions = count.checked_div(results.len()).unwrap_or(0);
    let of_result = |result: &&Json| -> Vec<bool> {
        // In the order in which they are asked: `view` before the others, which their names have too but for it.
        let names = ["view", "list", "edit", "delete", "share"];
        let effects = names.iter().filter_map(|name| result.get("actions")?.get(name)?.as_str());
        effects.map(|effect| effect == "EFFECT_ALLOW").take(actions.max(1)).collect()
    };
    results.iter().flat_map(of_result).collect()
}

/// Makes calls over so many connections for a time. Returns the time of each call in nanoseconds, and the calls
/// of a second.
pub(super) fn closed_loop(
    server: SocketAddr,
    calls: &[Call],
    connections: usize,
    time: Duration,
) -> Result<(Vec<f32>, f64), String> {
    let start = Instant::now();
    let of_one = |first: usize| -> Result<Vec<f32>, String> {
        let mut connection = Connection::open(server)?;
        let mut samples = Vec::new();
        for call in calls.iter().cycle().skip(first % calls.len().max(1)) {
            if start.elapsed() >= time {
                break;
            }
            let one = Instant::now();
            let length = connection.call(&call.bytes)?.len();
            samples.push(single(one.elapsed().as_secs_f64() * 1e9));
            if length != call.length {
                return Err(format!("an answer of {length} bytes instead of {}", call.length));
            }
        }
        Ok(samples)
    };
    let samples = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..connections).map(|at| scope.spawn(move || of_one(at * 7))).collect();
        let joined = threads
            .into_iter()
            .map(|thread| thread.join().map_err(|_| "a thread has panicked".to_owned())?);
        joined.collect::<Result<Vec<_>, String>>()
    })?;
    let samples = samples.concat();
    let rate = float(samples.len()) / start.elapsed().as_secs_f64();
    Ok((samples, rate))
}

/// A connection with a buffer for answers.
struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    fn open(server: SocketAddr) -> Result<Self, String> {
        let stream = TcpStream::connect(server).map_err(|error| error.to_string())?;
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(|error| error.to_string())?;
        Ok(Self { stream, buffer: vec![0; MAX_ANSWER] })
    }

    /// Sends a call, and returns the body of its answer.
    fn call(&mut self, bytes: &[u8]) -> Result<&[u8], String> {
        self.stream.write_all(bytes).map_err(|error| error.to_string())?;
        let (mut filled, mut end) = (0, None);
        loop {
            let free = self.buffer.get_mut(filled..).filter(|free| !free.is_empty());
            let free = free.ok_or("an answer is too long")?;
            let read = self.stream.read(free).map_err(|error| error.to_string())?;
            if read == 0 {
                return Err("the server has closed a connection".to_owned());
            }
            filled += read;
            let answer = self.buffer.get(..filled).unwrap_or_default();
            end = end.map_or_else(|| head(answer), |end| Ok(Some(end)))?;
            if let Some((body, whole)) = end
                && filled >= whole
            {
                return self.buffer.get(body..whole).ok_or_else(|| "no body".to_owned());
            }
        }
    }
}

/// Returns the places of the body and of its end, once the head is there.
fn head(answer: &[u8]) -> Result<Option<(usize, usize)>, String> {
    let Some(end) = answer.windows(4).position(|four| four == b"\r\n\r\n") else { return Ok(None) };
    let head = String::from_utf8_lossy(answer.get(..end).unwrap_or_default());
    if !head.starts_with("HTTP/1.1 200") {
        return Err(head.lines().next().unwrap_or_default().to_owned());
    }
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    let length = length.ok_or("an answer has no length")?;
    Ok(Some((end + 4, end.saturating_add(4).saturating_add(length))))
}

const MAX_ANSWER: usize = 1 << 18;
const PATIENCE: Duration = Duration::from_secs(10);
