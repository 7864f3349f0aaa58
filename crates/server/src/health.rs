//! The health of a server, asked for over HTTP: for containers, whose images have no other client.

use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::address::Address;
use crate::config::Remote;
use crate::limits::MAX_HEALTH_BYTES;
use crate::net::client::fetch::Fetcher;

/// Asks a URL once, and returns if it answers 200 within a time. `https` needs the roots of its
/// certificate.
///
/// # Errors
/// It does not, in words for the operator.
pub fn check(url: String, roots: Option<PathBuf>, within: Duration) -> Result<(), String> {
    match (Address::read(&url)?.is_tls(), &roots) {
        (true, None) => return Err("a URL with `https` needs the roots of its certificate".into()),
        (false, Some(_)) => return Err("roots of a certificate are for a URL with `https`".into()),
        _ => {}
    }
    let remote = Remote { url, ca: roots, token: None };
    let (sender, answer) = mpsc::channel();
    // A thread of its own, because a search for the address of a name cannot be ended from here.
    let ask = move || {
        let answer = Fetcher::new(&remote, MAX_HEALTH_BYTES, within)
            .and_then(|mut fetcher| fetcher.fetch(true).map(drop));
        // The asker may have given up.
        let _ = sender.send(answer);
    };
    thread::Builder::new().spawn(ask).map_err(|error| error.to_string())?;
    let late = || Err(format!("no answer within {} seconds", within.as_secs()));
    answer.recv_timeout(within).unwrap_or_else(|_| late())
}
