//! A server in this process, and a client that sends exact bytes.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use wardgate_bundle::Label;
use wardgate_compiler::{Options, compile_files};
use wardgate_server::{Config, Lookup, Origin, Server, ServerError, Shared, Source, SourceError};
use wardgate_spocp::{Normal, RuleSet};

/// A server that runs until it is dropped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    /// The address of SPOCP, if it is spoken.
    pub(crate) spocp: Option<SocketAddr>,
    /// The address of MQTT, if it is spoken.
    pub(crate) mqtt: Option<SocketAddr>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) bundle: Arc<Mutex<Vec<u8>>>,
    pub(crate) folder: PathBuf,
    thread: Option<JoinHandle<Result<(), ServerError>>>,
}

impl Running {
    /// Starts one with this policy. `config` comes after the sections `server` and `policies`.
    pub(crate) fn start(policy: &str, config: &str) -> Self {
        Self::of(compiled(policy), config)
    }

    /// Starts one with this bundle.
    pub(crate) fn of(bundle: Vec<u8>, config: &str) -> Self {
        let bundle = Arc::new(Mutex::new(bundle));
        let (config, origin, folder) = parts(&bundle, config);
        Self::with((config, origin, folder), bundle)
    }

    /// Starts a server whose folder has these files.
    pub(crate) fn with_files(policy: &str, config: &str, files: &[(&str, &str)]) -> Self {
        let bundle = Arc::new(Mutex::new(compiled(policy)));
        let folder = folder();
        for (name, content) in files {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        Self::with(parts_in(folder, &bundle, config), bundle)
    }

    /// Starts one without policies; `rules` are in `rules.spoc`.
    pub(crate) fn without_policies(rules: &[&str], config: &str) -> Self {
        let folder = folder();
        fs::write(folder.join("rules.spoc"), rules.join("\n")).unwrap();
        let text = format!("[server]\nthreads = 2\nlog = \"error\"\n{config}");
        let config = Config::parse(&text, &folder).unwrap();
        let origin = Origin::default();
        Self::with((config, origin, folder), Arc::default())
    }

    fn with(
        (config, origin, folder): (Config, Origin, PathBuf),
        bundle: Arc<Mutex<Vec<u8>>>,
    ) -> Self {
        let server = Server::bind(config, origin).unwrap();
        let (address, shared) = (server.http_addresses()[0], server.shared());
        let spocp = server.spocp_addresses().first().copied();
        let mqtt = server.mqtt_addresses().first().copied();
        let thread = Some(thread::spawn(move || server.run()));
        Self { address, spocp, mqtt, shared, bundle, folder, thread }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// Sends bytes and reads all that comes back, until the server closes.
    pub(crate) fn exchange(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        // The server may have closed already, and then its answer counts.
        let _ = stream.write_all(bytes);
        rest(&mut stream)
    }

    /// Asks with a body, and returns status and body.
    pub(crate) fn post(&self, path: &str, headers: &str, body: &str) -> (u16, String) {
        let length = body.len();
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n{body}"
        );
        answer(&self.exchange(request.as_bytes()))
    }

    pub(crate) fn get(&self, path: &str, headers: &str) -> (u16, String) {
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{headers}\r\n");
        answer(&self.exchange(request.as_bytes()))
    }
}

impl Running {
    /// Stops it, and keeps its folder.
    pub(crate) fn stop(&mut self) {
        self.shared.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Returns an error if no server with this configuration could be made.
pub(crate) fn checked(config: &str) -> Result<(), String> {
    let bundle = Arc::new(Mutex::new(compiled(POLICY)));
    let (config, origin, folder) = parts(&bundle, config);
    let checked = Server::check(config, origin).map_err(|error| error.to_string());
    fs::remove_dir_all(folder).unwrap();
    checked
}

/// The configuration of a server, and the folder of its files.
fn parts(bundle: &Arc<Mutex<Vec<u8>>>, config: &str) -> (Config, Origin, PathBuf) {
    parts_in(folder(), bundle, config)
}

fn parts_in(
    folder: PathBuf,
    bundle: &Arc<Mutex<Vec<u8>>>,
    config: &str,
) -> (Config, Origin, PathBuf) {
    let text = format!(
        "[server]\nthreads = 2\nlog = \"error\"\n[policies]\nbundle = \"none\"\ntrust = \"unsigned\"\nwatch-seconds = 0\n{config}"
    );
    let config = Config::parse(&text, &folder).unwrap();
    let source: Box<dyn Source> = Box::new(SharedBundle(Arc::clone(bundle)));
    let index = config.authzen.index.clone();
    let origin = Origin { source: Some(source), directory: index, ..Origin::default() };
    (config, origin, folder)
}

/// A folder with the tokens of callers.
fn folder() -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("wardgate-server-{}-{number}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("asker"), format!("{ASKER}\n")).unwrap();
    fs::write(folder.join("keeper"), KEEPER).unwrap();
    fs::write(folder.join("keepers"), format!("keeper:{KEEPER}\n")).unwrap();
    folder
}

/// The header with a token.
pub(crate) fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}\r\n")
}

/// Status and body of an answer.
pub(crate) fn answer(text: &str) -> (u16, String) {
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

/// Reads until the server closes.
pub(crate) fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8(bytes).unwrap()
}

/// Compiles policies, between which a line `---` stands.
pub(crate) fn compiled(policies: &str) -> Vec<u8> {
    let policies = policies.split("\n---\n").enumerate();
    let file = |(number, text): (usize, &str)| (format!("{number}.yaml"), text.into());
    let files: Vec<(String, Vec<u8>)> = policies.map(file).collect();
    wardgate_bundle::pack(&compile_files(&files, &Options::default()).unwrap().parts)
}

/// The same policy, with rules of SPOCP beside it.
pub(crate) fn with_rules(policy: &str, rules: &[&str]) -> Vec<u8> {
    let mut set = RuleSet::new();
    for rule in rules {
        set.insert(&Normal::from_advanced(rule.as_bytes()).unwrap()).unwrap();
    }
    let files = [("policy.yaml".to_owned(), policy.as_bytes().to_vec())];
    let parts = compile_files(&files, &Options::default()).unwrap().parts;
    wardgate_bundle::pack_with_rules(&parts, &set, &Label::default()).unwrap()
}

struct SharedBundle(Arc<Mutex<Vec<u8>>>);

impl Source for SharedBundle {
    fn look(&mut self, _: bool) -> Result<Lookup, SourceError> {
        Ok(Lookup::Bundle(self.0.lock().unwrap().clone()))
    }

    fn name(&self) -> String {
        "the bundle".to_owned()
    }
}

pub(crate) const ASKER: &str = "token-of-somebody-who-asks";
pub(crate) const KEEPER: &str = "token-of-an-administrator";

pub(crate) const OPEN: &str =
    "[http]\nlisten = \"127.0.0.1:0\"\n[auth]\nanonymous-queries = true\n";

/// A call about an album that Ada may view.
pub(crate) const CALL: &str = r#"{"principal":{"id":"ada","roles":["user"]},"resources":[{"actions":["view"],"resource":{"kind":"album","id":"a"}}]}"#;

pub(crate) const POLICY: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: album
  rules:
    - { actions: [view], effect: EFFECT_ALLOW, roles: [user], output: { when: { ruleActivated: '"seen by " + P.id' } } }
    - { actions: [edit], effect: EFFECT_ALLOW, roles: [user], condition: { match: { expr: R.attr.owner == P.id } } }
"#;
