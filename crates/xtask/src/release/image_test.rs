//! The image as a container runs it: its layers as the root, which cannot be written, and no rights.
//!
//! Mount name space and change of root are those of the kernel, so that the test needs no runtime of containers. It needs the
//! rights of an administrator, by `sudo` where this program has none.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::report::{self, ensure};
use crate::shell::{self, Outcome, command};

/// Unpacks the layers, starts the server as the image does, and asks for one decision.
pub(super) fn decides(layers: &[PathBuf]) -> Outcome {
    let root = report::empty_folder("image-root")?;
    for layer in layers {
        shell::captured(command("tar").arg("-xf").arg(layer).arg("-C").arg(&root))?;
    }
    let port = free_port()?;
    let configuration = format!(
        "[policies]\ndirectory = \"policies\"\n\n[http]\nlisten = [\"127.0.0.1:{port}\"]\n\n\
         [auth]\nanonymous-queries = true\n"
    );
    shell::write(&root.join("etc/wardgate/wardgate.toml"), configuration)?;
    shell::write(&root.join("etc/wardgate/policies/document.yaml"), POLICY)?;
    let mut server = Server::start(&root)?;
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let answer = server.wait_until_ready(address).and_then(|()| {
        is_closed(server.process.id())?;
        healthy(&root, port)?;
        ask(address)
    });
    drop(server);
    let answer = answer?;
    ensure(answer.contains("\"view\":\"EFFECT_ALLOW\""), format!("it answered `{answer}`"))?;
    ensure(answer.contains("\"edit\":\"EFFECT_DENY\""), format!("it answered `{answer}`"))
}

/// The server in the image; it ends with this value.
struct Server {
    process: Child,
}

impl Server {
    fn start(root: &Path) -> Outcome<Self> {
        let serve = ["serve", "--config", "/etc/wardgate/wardgate.toml"];
        let started = within(root, &serve).stdin(Stdio::null()).spawn();
        Ok(Self { process: started.map_err(|error| format!("cannot start the image: {error}"))? })
    }

    fn wait_until_ready(&mut self, address: SocketAddr) -> Outcome {
        let start = Instant::now();
        while start.elapsed() < LONGEST_START {
            if let Ok(Some(status)) = self.process.try_wait() {
                return Err(format!("the server in the image ended ({status})"));
            }
            let answer = exchange(
                address,
                "GET /readyz HTTP/1.1\r\nHost: wardgate\r\nConnection: close\r\n\r\n",
            );
            if answer.is_ok_and(|answer| answer.starts_with("HTTP/1.1 200")) {
                return Ok(());
            }
            std::thread::sleep(BETWEEN_LOOKS);
        }
        Err("the server in the image was not ready in time".into())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Each wrapper replaced itself by the next program, so the process is the server.
        self.process.kill().and_then(|()| self.process.wait()).ok();
    }
}

/// Returns a command that runs the image's own with `words`: in a name space of mounts of its own, where the
/// root is read-only, as the user of the image, who can gain no right.
fn within(root: &Path, words: &[&str]) -> Command {
    let script = "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\" && root=$1 && shift && \
                  exec setpriv --no-new-privs chroot --userspec=65532:65532 --groups=65532 \"$root\" \
                  /usr/local/bin/wardgate \"$@\"";
    let is_root = shell::captured(command("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    let mut run = command(if is_root { "unshare" } else { "sudo" });
    if !is_root {
        run.args(["-n", "unshare"]);
    }
    run.args(["--mount", "sh", "-c", script, "sh"]).arg(root).args(words);
    run
}

/// Checks what the kernel says of the server: its user, and that it has and can gain no right.
fn is_closed(process: u32) -> Outcome {
    let status = shell::read(Path::new(&format!("/proc/{process}/status")))?;
    let has = |line: &str| {
        status.lines().any(|found| found.split_whitespace().collect::<Vec<_>>().join(" ") == line)
    };
    for line in ["Uid: 65532 65532 65532 65532", "CapEff: 0000000000000000", "NoNewPrivs: 1"] {
        ensure(has(line), format!("/proc/{process}/status does not say `{line}`"))?;
    }
    let mounts = shell::read(Path::new(&format!("/proc/{process}/mountinfo")))?;
    let is_read_only = |line: &str| {
        let mut fields = line.split_whitespace().skip(4);
        fields.next() == Some("/")
            && fields.next().is_some_and(|it| it.split(',').any(|it| it == "ro"))
    };
    ensure(mounts.lines().any(is_read_only), "the root of the image can be written")
}

/// Runs the check of health in the image.
fn healthy(root: &Path, port: u16) -> Outcome {
    let url = format!("http://127.0.0.1:{port}/readyz");
    shell::captured(&mut within(root, &["healthcheck", "--url", &url])).map(drop)
}

fn ask(address: SocketAddr) -> Outcome<String> {
    let head = "POST /api/check/resources HTTP/1.1\r\nHost: wardgate\r\nConnection: close\r\n\
                Content-Type: application/json\r\n";
    exchange(address, &format!("{head}Content-Length: {}\r\n\r\n{QUESTION}", QUESTION.len()))
}

/// Sends a request and returns the whole answer.
fn exchange(address: SocketAddr, request: &str) -> Outcome<String> {
    let answer = || -> std::io::Result<String> {
        let mut stream = TcpStream::connect_timeout(&address, LONGEST_ANSWER)?;
        stream.set_read_timeout(Some(LONGEST_ANSWER))?;
        stream.write_all(request.as_bytes())?;
        let mut text = String::new();
        stream.take(MAX_ANSWER).read_to_string(&mut text)?;
        Ok(text)
    };
    answer().map_err(|error| format!("the server in the image does not answer: {error}"))
}

fn free_port() -> Outcome<u16> {
    let free = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr());
    free.map(|address| address.port()).map_err(|error| format!("no port is free: {error}"))
}

const LONGEST_START: Duration = Duration::from_secs(20);
const LONGEST_ANSWER: Duration = Duration::from_secs(5);
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);
const MAX_ANSWER: u64 = 1 << 20;

const POLICY: &str = "\
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: document
  version: default
  rules:
    - actions: [view]
      roles: [member]
      effect: EFFECT_ALLOW
";

const QUESTION: &str = r#"{"principal":{"id":"sam","roles":["member"]},"resources":[{"actions":["view","edit"],"resource":{"kind":"document","id":"d1"}}]}"#;
