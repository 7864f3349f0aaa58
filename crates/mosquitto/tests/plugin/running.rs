//! A mosquitto with the plugin, and its clients.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use base64ct::{Base64UrlUnpadded, Encoding};
use ring::hmac;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use wardgate_bundle::pack;
use wardgate_compiler::{Options, compile_files};

use crate::notation::{packet, plain};

/// A mosquitto that ends with the test.
pub(crate) struct Broker {
    child: Child,
    folder: Folder,
    /// The ports of the listeners, of which the second may be unused.
    ports: [u16; 2],
}

/// A folder that is removed with the test.
pub(crate) struct Folder(pub(crate) PathBuf);

/// A client, or what pretends to be one.
pub(crate) struct End<S = TcpStream>(S);

/// Returns the program, or says which test does nothing without it.
pub(crate) fn mosquitto(test: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
    let folders = std::env::split_paths(&path).chain(system);
    let found = folders.map(|folder| folder.join("mosquitto")).find(|file| file.is_file());
    if found.is_none() {
        let is_required = std::env::var_os("WARDGATE_REQUIRE_MOSQUITTO").is_some();
        assert!(!is_required, "mosquitto is not installed");
        println!("{test}: skipped, mosquitto is not installed");
    }
    found
}

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("wardgate-mosquitto-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Puts a file in the place of another at once.
    pub(crate) fn replace(&self, name: &str, content: &[u8]) {
        fs::write(self.file("new"), content).unwrap();
        fs::rename(self.file("new"), self.file(name)).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Broker {
    /// Starts mosquitto with a plugin that has these rules and trusts the bundle. `more` are lines of
    /// its configuration. Returns None if mosquitto is not installed.
    pub(crate) fn start(test: &str, rules: &str, more: &str) -> Option<Self> {
        let program = mosquitto(test)?;
        let folder = Folder::new();
        fs::write(folder.file("bundle"), bundle(rules)).unwrap();
        fs::write(folder.file("keys"), keys()).unwrap();
        for user in ["ada", "bob"] {
            add_user(&folder.file("users"), user);
        }
        let (child, ports) = run(&program, &folder, more);
        let mut broker = Self { child, folder, ports };
        broker.wait_until("the port is open", |broker| {
            assert_eq!(broker.child.try_wait().unwrap(), None, "{}", broker.log());
            // All ports are open before the first message of a client is read.
            TcpStream::connect(("127.0.0.1", broker.ports[0])).is_ok()
        });
        Some(broker)
    }

    /// Puts other rules into the bundle, and waits until the plugin has them.
    pub(crate) fn change(&mut self, rules: &str) {
        self.replace("bundle", &bundle(rules));
        self.wait_for_line("is in use");
    }

    /// Puts another file in the place of one, and forgets the log.
    pub(crate) fn replace(&mut self, name: &str, content: &[u8]) {
        fs::write(self.folder.file("log"), b"").unwrap();
        self.folder.replace(name, content);
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    }

    pub(crate) fn wait_for_line(&mut self, text: &str) {
        self.wait_until(text, |broker| broker.log().contains(text));
    }

    pub(crate) fn log(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.folder.file("log")).unwrap()).into_owned()
    }

    pub(crate) fn connect(&self) -> End {
        End(self.stream(0))
    }

    /// Connects to the second listener.
    pub(crate) fn connect_second(&self) -> End {
        End(self.stream(1))
    }

    /// Connects to the second listener by TLS, with the certificate of `somebody`.
    pub(crate) fn connect_by_certificate(&self) -> End<StreamOwned<ClientConnection, TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(tls().join("ca.pem")).unwrap()).unwrap();
        let certificate = CertificateDer::from_pem_file(tls().join("somebody.pem")).unwrap();
        let key = PrivateKeyDer::from_pem_file(tls().join("somebody.key")).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_client_auth_cert(vec![certificate], key)
            .unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let connection = ClientConnection::new(Arc::new(config), name).unwrap();
        End(StreamOwned::new(connection, self.stream(1)))
    }

    fn stream(&self, listener: usize) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.ports[listener])).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(BOUND)).unwrap();
        stream.set_write_timeout(Some(BOUND)).unwrap();
        stream
    }

    /// Connects a client of 3.1.1 with a user name and a password, which is accepted.
    pub(crate) fn client(&self, id: &str, user: &str, password: &str) -> End {
        let mut client = self.connect();
        client.send(&format!("10: 'MQTT' 04 C2 003C '{id}' '{user}' '{password}'"));
        client.expect("20: 00 00");
        client
    }

    fn wait_until(&mut self, what: &str, mut is_there: impl FnMut(&mut Self) -> bool) {
        let begin = Instant::now();
        while !is_there(self) {
            assert!(begin.elapsed() < BOUND, "{what}: {}", self.log());
            std::thread::sleep(PAUSE);
        }
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl<S: Read + Write> End<S> {
    pub(crate) fn send(&mut self, text: &str) {
        self.0.write_all(&packet(text)).unwrap();
    }

    pub(crate) fn expect(&mut self, text: &str) {
        let expected = packet(text);
        let mut found = vec![0; expected.len()];
        self.0.read_exact(&mut found).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(found, expected, "{text}");
    }

    /// Reads packets up to one with this first byte and these bytes in it.
    pub(crate) fn expect_within(&mut self, first: u8, text: &str) {
        let within = plain(text);
        for _ in 0..100 {
            let (found, body) = self.read();
            if found == first && body.windows(within.len()).any(|bytes| bytes == within) {
                return;
            }
        }
        panic!("{text} did not come");
    }

    fn read(&mut self) -> (u8, Vec<u8>) {
        let mut byte = || {
            let mut byte = [0];
            self.0.read_exact(&mut byte).unwrap();
            byte[0]
        };
        let (first, mut length, mut shift) = (byte(), 0, 0);
        loop {
            let next = byte();
            length |= usize::from(next & 127) << shift;
            shift += 7;
            if next < 128 {
                break;
            }
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).unwrap();
        (first, body)
    }

    /// Checks that the broker closes the connection.
    pub(crate) fn ends(&mut self) {
        match self.0.read(&mut [0]) {
            Ok(0) => {}
            Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
            other => panic!("expected the end, found {other:?}"),
        }
    }
}

/// Starts mosquitto at a free port, with the plugin and more lines of its configuration. In these,
/// `FOLDER`, `PLUGIN`, `TLS` and `SECOND` stand for folders, the plugin, and another free port; those before `---`
/// come before the listener.
pub(crate) fn run(program: &Path, folder: &Folder, more: &str) -> (Child, [u16; 2]) {
    let sockets = [0; 2].map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
    let ports = sockets.map(|socket| socket.local_addr().unwrap().port());
    let (before, after) = more.split_once("---\n").unwrap_or(("", more));
    let config = format!(
        "user root\nlog_dest stderr\nlog_type all\n{before}listener {} 127.0.0.1\nplugin PLUGIN\n{after}\n",
        ports[0],
    );
    let config = config
        .replace("FOLDER", &folder.0.display().to_string())
        .replace("PLUGIN", &plugin().display().to_string())
        .replace("TLS", &tls().display().to_string())
        .replace("SECOND", &ports[1].to_string());
    fs::write(folder.file("conf"), config).unwrap();
    // Lines are added at the end, so that a test can empty the file.
    let log = File::options().append(true).create(true).open(folder.file("log")).unwrap();
    let mut command = Command::new(program);
    command.arg("-c").arg(folder.file("conf")).stdin(Stdio::null()).stdout(Stdio::null());
    (command.stderr(log).spawn().unwrap(), ports)
}

/// The folder of certificates for tests.
fn tls() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/tls")
}

/// Waits for the end of a mosquitto, and ends one that goes on.
pub(crate) fn ended(child: &mut Child) -> ExitStatus {
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if begin.elapsed() > BOUND {
            child.kill().unwrap();
        }
        std::thread::sleep(PAUSE);
    }
}

/// The library of this package, which cargo builds beside its tests.
fn plugin() -> PathBuf {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let file = folder.join(format!("{DLL_PREFIX}wardgate_mosquitto{DLL_SUFFIX}"));
    assert!(file.is_file(), "{}", file.display());
    file
}

fn add_user(file: &Path, user: &str) {
    let mut command = Command::new("mosquitto_passwd");
    if !file.exists() {
        command.arg("-c");
    }
    let status = command.arg("-b").arg(file).args([user, "secret"]).status();
    assert!(status.unwrap().success());
}

/// Compiles rules about topics. Clients may connect, but not under the id `banned`.
pub(crate) fn bundle(rules: &str) -> Vec<u8> {
    let policy = |kind: &str, rules: &str| {
        let head = "apiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  version: default";
        let text = format!("{head}\n  resource: \"mqtt:{kind}\"\n  rules:\n{rules}");
        (format!("{kind}.yaml"), text.into_bytes())
    };
    let files = [policy("client", CONNECT), policy("topic", rules)];
    pack(&compile_files(&files, &Options::default()).unwrap().parts)
}

/// Returns a rule of allowed actions and an expression.
pub(crate) fn rule(actions: &str, roles: &str, expression: &str) -> String {
    format!(
        "    - {{ actions: [{actions}], effect: EFFECT_ALLOW, roles: [{roles}], condition: {{ match: {{ expr: '{expression}' }} }} }}\n"
    )
}

fn keys() -> String {
    let key = Base64UrlUnpadded::encode_string(SECRET);
    format!(r#"{{"keys":[{{"kty":"oct","kid":"a","alg":"HS256","k":"{key}"}}]}}"#)
}

/// Returns a token that ends so many seconds from now, with more members.
pub(crate) fn token(subject: &str, seconds: u64, more: &str) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let end = now + seconds;
    let claims =
        format!(r#"{{"iss":"issuer","aud":"broker","sub":"{subject}","exp":{end}{more}}}"#);
    let encoded = |text: &str| Base64UrlUnpadded::encode_string(text.as_bytes());
    let text = format!("{}.{}", encoded(r#"{"alg":"HS256","kid":"a"}"#), encoded(&claims));
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, SECRET), text.as_bytes());
    format!("{text}.{}", Base64UrlUnpadded::encode_string(tag.as_ref()))
}

/// Options of a plugin whose clients have passwords of mosquitto's.
pub(crate) const PASSWORDS: &str = "plugin_opt_bundle FOLDER/bundle\nplugin_opt_trust unsigned\n\
    password_file FOLDER/users\n";

/// Options of a plugin whose clients have tokens.
pub(crate) const TOKENS: &str = "plugin_opt_bundle FOLDER/bundle\nplugin_opt_trust unsigned\n\
    plugin_opt_keys FOLDER/keys\nplugin_opt_issuer issuer\nplugin_opt_audience broker\n";

const CONNECT: &str = "
    - { actions: [connect], effect: EFFECT_ALLOW, roles: ['*'] }
    - { actions: [connect], effect: EFFECT_DENY, roles: ['*'], condition: { match: { expr: R.id == 'banned' } } }
";

const SECRET: &[u8] = b"a secret of this test only, long enough";

/// The pause between two looks.
const PAUSE: Duration = Duration::from_millis(10);

/// The longest wait for anything.
const BOUND: Duration = Duration::from_secs(60);
