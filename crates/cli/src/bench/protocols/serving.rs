//! A server in this process, with a temporary folder.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use wardgate_server::{Config, Server, ServerError, Shared};

use super::homes::Homes;
use super::workload::Workload;
use crate::arguments::Protocols;
use crate::failure::{Failure, Result};

/// The server, and where it listens.
pub(crate) struct Serving {
    pub(crate) spocp: Option<SocketAddr>,
    pub(crate) http: Option<SocketAddr>,
    /// The threads of its clients.
    pub(crate) homes: Homes,
    shared: Arc<Shared>,
    thread: JoinHandle<Result<(), ServerError>>,
    _folder: Folder,
}

impl Serving {
    pub(crate) fn start(workload: &Workload, options: &Protocols) -> Result<Self> {
        let folder = Folder::new().map_err(failed)?;
        fill(&folder.0, workload, options).map_err(failed)?;
        let config = Config::parse(CONFIG, &folder.0).map_err(|error| failed(error.to_string()))?;
        let origin = crate::serve::origin(&config)?;
        let server = Server::bind(config, origin).map_err(|error| failed(error.to_string()))?;
        let spocp = server.spocp_addresses().first().copied().filter(|_| !options.skip_tcp);
        let http = server.http_addresses().first().copied().filter(|_| !options.skip_http);
        let homes = if options.apart { Homes::Apart } else { Homes::Shared(server.threads()) };
        let shared = server.shared();
        let thread = thread::spawn(move || server.run());
        Ok(Self { spocp, http, homes, shared, thread, _folder: folder })
    }

    pub(crate) fn stop(self) -> Result<()> {
        self.shared.stop();
        match self.thread.join() {
            Ok(ended) => ended.map_err(|error| failed(error.to_string())),
            Err(_) => Err(failed("the server ended early")),
        }
    }
}

fn fill(folder: &Path, workload: &Workload, options: &Protocols) -> std::io::Result<()> {
    fs::create_dir(folder.join("policies"))?;
    let mut rules = workload.rules.join(&b'\n');
    rules.push(b'\n');
    fs::write(folder.join("rules.spoc"), rules)?;
    for (kind, policy) in &workload.policies {
        // A server over HTTP must have policies; these are never used.
        if !options.skip_http || *kind == "account" {
            fs::write(folder.join(format!("policies/{kind}.yaml")), policy)?;
        }
    }
    Ok(())
}

fn failed(error: impl ToString) -> Failure {
    Failure::system(error.to_string())
}

struct Folder(PathBuf);

impl Folder {
    fn new() -> std::io::Result<Self> {
        let path = std::env::temp_dir().join(format!("wardgate-protocols-{}", std::process::id()));
        fs::create_dir(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that cannot be removed is left to the cleaner of temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

const CONFIG: &str = r#"
[server]
log = "error"
[policies]
directory = "policies"
watch-seconds = 0
[http]
listen = "127.0.0.1:0"
[auth]
anonymous-queries = true
[spocp]
listen = "127.0.0.1:0"
rules = "rules.spoc"
anonymous-queries = true
"#;
