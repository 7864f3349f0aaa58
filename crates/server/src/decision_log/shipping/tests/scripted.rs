//! A store of objects that replaces nothing, and gives scripted answers where it is told to.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

/// A store that listens, for as long as the process lives.
pub(super) struct Scripted {
    pub(super) address: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    objects: BTreeMap<String, Vec<u8>>,
    requests: Vec<Request>,
    /// The number of PUTs so far, and the one that has another answer.
    puts: usize,
    script: Option<(usize, Answer)>,
    gets: Option<Answer>,
    replaces: bool,
}

/// An answer that is not the usual one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// A status line behind the version, perhaps with headers.
    Status(&'static str),
    /// The connection is closed.
    Close,
    /// The object is stored, and the connection is closed.
    TakeAndClose,
    /// Nothing, until the client has gone.
    Never,
}

/// A request.
pub(super) struct Request {
    pub(super) method: String,
    path: String,
    /// In small letters.
    head: String,
}

impl Request {
    pub(super) fn has(&self, line: &str) -> bool {
        self.head.lines().any(|found| found == line)
    }
}

impl Scripted {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming() {
                // A client that goes while it is answered is no failure of this one.
                let _ = serve(&stream.unwrap(), &shared);
            }
        });
        Self { address, state }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub(super) fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        self.state().objects.clone()
    }

    /// Returns the requests since the last call.
    pub(super) fn requests(&self) -> Vec<Request> {
        std::mem::take(&mut self.state().requests)
    }

    pub(super) fn put(&self, path: &str, bytes: Vec<u8>) {
        self.state().objects.insert(path.to_owned(), bytes);
    }

    /// Answers the PUT with this number, counted from 0, otherwise.
    pub(super) fn answer_put(&self, number: usize, answer: Answer) {
        self.state().script = Some((number, answer));
    }

    /// Answers each GET otherwise.
    pub(super) fn answer_gets(&self, answer: Answer) {
        self.state().gets = Some(answer);
    }

    /// Replaces objects from now on.
    pub(super) fn replaces(&self) {
        self.state().replaces = true;
    }
}

fn serve(stream: &TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let lines = reader.by_ref().lines().map_while(Result::ok);
    let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let mut words = head.first().into_iter().flat_map(|line| line.split(' ')).map(str::to_owned);
    let (Some(method), Some(path)) = (words.next(), words.next()) else { return Ok(()) };
    let head = head.join("\n").to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    reader.read_exact(&mut body)?;
    let request = Request { method, path, head };
    let (answer, found) = answer(&mut state.lock().unwrap(), request, body);
    let mut stream = stream;
    match answer {
        Answer::Status(status) => {
            let length = found.len();
            write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n")?;
            stream.write_all(&found)
        }
        Answer::Close | Answer::TakeAndClose => Ok(()),
        Answer::Never => reader.read_to_end(&mut Vec::new()).map(|_| ()),
    }
}

/// Does what a request asks for, and returns the answer with its body.
fn answer(state: &mut State, request: Request, body: Vec<u8>) -> (Answer, Vec<u8>) {
    let Request { method, path, .. } = &request;
    let (path, is_put) = (path.clone(), method == "PUT");
    state.requests.push(request);
    if !is_put {
        return match (state.gets, state.objects.get(&path)) {
            (Some(answer), _) => (answer, Vec::new()),
            (None, Some(object)) => (Answer::Status("200 OK"), object.clone()),
            (None, None) => (Answer::Status("404 Not Found"), b"no such object".to_vec()),
        };
    }
    let number = state.puts;
    state.puts += 1;
    let scripted = state.script.filter(|(at, _)| *at == number).map(|(_, answer)| answer);
    if scripted.is_some_and(|answer| answer != Answer::TakeAndClose) {
        return (scripted.unwrap(), Vec::new());
    }
    if state.objects.contains_key(&path) && !state.replaces {
        return (Answer::Status("412 Precondition Failed"), Vec::new());
    }
    state.objects.insert(path, body);
    (scripted.unwrap_or(Answer::Status("201 Created")), Vec::new())
}
