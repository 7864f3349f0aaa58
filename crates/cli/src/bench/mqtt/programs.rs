//! The servers that are measured: this program and mosquitto, each as a process of its own.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A server that runs; it ends when this is dropped.
pub(crate) struct Program {
    child: Child,
    address: SocketAddr,
}

/// The program mosquitto.
#[derive(Clone, Debug)]
pub(crate) struct Mosquitto {
    path: PathBuf,
    /// Such as `mosquitto 2.0.11`.
    pub(crate) name: String,
}

/// A temporary folder.
pub(crate) struct Folder(PathBuf);

impl Mosquitto {
    /// Finds the program; `None` if none was named and the system has none.
    ///
    /// # Errors
    /// The named program is not mosquitto.
    pub(crate) fn find(named: Option<&Path>) -> Result<Option<Self>, String> {
        if let Some(path) = named {
            let found = Self::at(path);
            return found
                .map(Some)
                .ok_or_else(|| format!("`{}` is not the program mosquitto", path.display()));
        }
        Ok(USUAL.iter().find_map(|path| Self::at(Path::new(path))))
    }

    fn at(path: &Path) -> Option<Self> {
        let output = Command::new(path).arg("-h").output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        let version = text.lines().next()?.strip_prefix("mosquitto version ")?;
        Some(Self { path: path.into(), name: format!("mosquitto {}", version.trim()) })
    }

    /// Starts it with queues that are bounded by memory alone, without a log and without delay for
    /// small packets.
    pub(crate) fn start(&self, folder: &Folder) -> Result<Program, String> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        let address = listener.and_then(|it| it.local_addr()).map_err(|error| error.to_string())?;
        let path = folder.0.join(format!("mosquitto-{}.conf", address.port()));
        let config = format!("listener {} 127.0.0.1\n{MOSQUITTO}", address.port());
        fs::write(&path, config).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut command = Command::new(&self.path);
        command.arg("-c").arg(&path).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().map_err(|error| format!("{}: {error}", self.name))?;
        let program = Program { child, address };
        program.wait().map_err(|error| format!("{}: {error}", self.name))?;
        Ok(program)
    }
}

impl Program {
    /// Starts this program as a broker, or as a gate before one.
    pub(crate) fn wardgate(
        folder: &Folder,
        clients: u32,
        upstream: Option<SocketAddr>,
    ) -> Result<Self, String> {
        let gate = upstream
            .map_or_else(String::new, |address| format!("[mqtt.gate]\nupstream = \"{address}\"\n"));
        let name = if upstream.is_some() { "gate.toml" } else { "broker.toml" };
        let path = folder.0.join(name);
        let config = format!("{CONFIG}max-clients = {}\n{gate}", clients.saturating_add(100));
        fs::write(&path, config).map_err(|error| format!("{}: {error}", path.display()))?;
        let this = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut command = Command::new(this);
        command.arg("serve").arg("--config").arg(&path);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        let lines = child.stdout.take().map(BufReader::new).into_iter().flat_map(BufRead::lines);
        let address = lines
            .map_while(Result::ok)
            .find_map(|line| line.strip_prefix("MQTT at ")?.trim().parse().ok());
        let none = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let program = Self { child, address: address.unwrap_or(none) };
        match address {
            Some(_) => program.wait().map(|()| program),
            None => Err("this program does not serve".to_owned()),
        }
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns its resident memory in bytes, where the system tells it.
    pub(crate) fn resident(&self) -> Option<u64> {
        self.bytes("VmRSS:")
    }

    /// Returns the most resident memory that it ever had.
    pub(crate) fn peak(&self) -> Option<u64> {
        self.bytes("VmHWM:")
    }

    /// Returns its resident memory once it no longer changes, or after a few seconds.
    pub(crate) fn settled(&self) -> Option<u64> {
        let mut last = self.resident();
        for _ in 0..SETTLING {
            thread::sleep(Duration::from_millis(300));
            let now = self.resident();
            if now == last {
                break;
            }
            last = now;
        }
        last
    }

    fn bytes(&self, name: &str) -> Option<u64> {
        let text = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        kibibytes.checked_mul(1024)
    }

    /// Waits until it accepts connections.
    fn wait(&self) -> Result<(), String> {
        let begin = Instant::now();
        loop {
            match TcpStream::connect(self.address) {
                Ok(_) => return Ok(()),
                Err(error) if begin.elapsed() > START => return Err(error.to_string()),
                Err(_) => thread::sleep(Duration::from_millis(10)),
            }
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Folder {
    /// Makes it, with policies that allow everything.
    pub(crate) fn new() -> std::io::Result<Self> {
        let path = std::env::temp_dir().join(format!("wardgate-mqtt-{}", std::process::id()));
        fs::create_dir(&path)?;
        let folder = Self(path);
        fs::create_dir(folder.0.join("policies"))?;
        for (kind, actions) in [("client", "connect"), ("topic", "publish, subscribe, receive")] {
            let policy = POLICY.replace("KIND", kind).replace("ACTIONS", actions);
            fs::write(folder.0.join(format!("policies/{kind}.yaml")), policy)?;
        }
        Ok(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that cannot be removed is left to the cleaner of temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Where systems have mosquitto.
const USUAL: [&str; 3] = ["mosquitto", "/usr/sbin/mosquitto", "/usr/local/sbin/mosquitto"];

/// The longest wait for a server.
const START: Duration = Duration::from_secs(10);

/// How often memory is read until it no longer changes.
const SETTLING: u32 = 20;

const MOSQUITTO: &str =
    "allow_anonymous true\nmax_queued_messages 0\nset_tcp_nodelay true\nlog_dest none\n";

const CONFIG: &str = r#"
[server]
log = "error"
[policies]
directory = "policies"
watch-seconds = 0
[http]
listen = "127.0.0.1:0"
[mqtt]
listen = "127.0.0.1:0"
anonymous = true
"#;

const POLICY: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: "mqtt:KIND"
  rules:
    - { actions: [ACTIONS], effect: EFFECT_ALLOW, roles: ["*"] }
"#;
