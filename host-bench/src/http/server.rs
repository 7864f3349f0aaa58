//! Servers on loopback with the same policies.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::files;

/// A server that ends when this is dropped.
pub(crate) struct Server {
    child: Child,
    address: SocketAddr,
}

impl Server {
    /// Starts our server with a bundle.
    pub(crate) fn wardgate(program: &Path, folder: &Path, bundle: &[u8]) -> Result<Self, String> {
        let address = free()?;
        let path = folder.join("policies.wgb");
        files::save(&path, bundle)?;
        let path = path.canonicalize().map_err(|error| files::cannot(&path, &error))?;
        let config = folder.join("wardgate.toml");
        files::save(
            &config,
            format!(
                "[policies]\nbundle = \"{}\"\ntrust = \"unsigned\"\n[http]\nlisten = \"{address}\"\n[auth]\nanonymous-queries = true\n",
                path.display()
            ),
        )?;
        let mut command = Command::new(program);
        command.arg("serve").arg("--config").arg(config);
        Self::start(command, address)
    }

    /// Starts Cerbos on the folder of the policies, without telemetry and without its log of requests.
    pub(crate) fn cerbos(program: &Path, folder: &Path) -> Result<Self, String> {
        let (address, grpc) = (free()?, free()?);
        let policies = folder.join("policies");
        let policies = policies.canonicalize().map_err(|error| files::cannot(&policies, &error))?;
        let config = folder.join("cerbos.yaml");
        let text = format!(
            "server:\n  httpListenAddr: \"{address}\"\n  grpcListenAddr: \"{grpc}\"\ntelemetry:\n  disabled: true\nstorage:\n  driver: disk\n  disk:\n    directory: {}\n",
            policies.display()
        );
        files::save(&config, text)?;
        let mut command = Command::new(program);
        command
            .arg("server")
            .arg(format!("--config={}", config.display()))
            .arg("--log-level=error");
        Self::start(command, address)
    }

    /// Starts OPA on a folder of modules in Rego.
    pub(crate) fn opa(program: &Path, modules: &Path) -> Result<Self, String> {
        let address = free()?;
        let mut command = Command::new(program);
        command.args(["run", "--server", "--skip-version-check", "--log-level", "error", "--addr"]);
        command.arg(address.to_string()).arg(modules);
        Self::start(command, address)
    }

    /// Returns the number of its process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Starts a program, and waits until it listens.
    pub(crate) fn start(mut command: Command, address: SocketAddr) -> Result<Self, String> {
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().map_err(|error| format!("{command:?}: {error}"))?;
        let mut server = Self { child, address };
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if TcpStream::connect(address).is_ok() {
                return Ok(server);
            }
            if let Ok(Some(status)) = server.child.try_wait() {
                return Err(format!("{command:?} ended: {status}"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Err(format!("{command:?} does not listen"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns an address on which nothing listens.
pub(crate) fn free() -> Result<SocketAddr, String> {
    let address = TcpListener::bind("127.0.0.1:0").and_then(|one| one.local_addr());
    address.map_err(|error| error.to_string())
}

const PATIENCE: Duration = Duration::from_secs(20);
