//! Sockets that the server listens at: its own, or those that the system manager opened.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};

use listenfd::ListenFd;
use socket2::SockRef;

use crate::files::reason;
use crate::limits::BACKLOG;

/// An address that cannot be listened at, in words for the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListenError(String);

/// Hands out sockets, each that was inherited once.
pub(crate) struct Sockets {
    inherited: ListenFd,
    next: usize,
}

impl Sockets {
    /// Takes over the sockets that the environment names for this process.
    pub(crate) fn from_environment() -> Self {
        Self { inherited: ListenFd::from_env(), next: 0 }
    }

    /// Opens every address of a protocol; the word `systemd` means the next inherited socket.
    pub(crate) fn open(&mut self, addresses: &[String]) -> Result<Vec<TcpListener>, ListenError> {
        addresses.iter().map(|address| self.one(address)).collect()
    }

    fn one(&mut self, address: &str) -> Result<TcpListener, ListenError> {
        let opened = match address {
            INHERITED => self.inherit(),
            address => bind(address),
        };
        let listener = opened.and_then(|listener| {
            listener.set_nonblocking(true)?;
            Ok(listener)
        });
        listener.map_err(|error| {
            ListenError(format!("cannot listen at `{address}`: {}", reason(&error)))
        })
    }

    fn inherit(&mut self) -> io::Result<TcpListener> {
        let listener = self.inherited.take_tcp_listener(self.next)?;
        self.next += 1;
        listener.ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::NotFound,
                "the system manager handed over no more sockets",
            )
        })
    }
}

impl fmt::Display for ListenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn bind(address: &str) -> io::Result<TcpListener> {
    let addresses: Vec<SocketAddr> = address.to_socket_addrs()?.collect();
    let listener = TcpListener::bind(addresses.as_slice())?;
    // The standard library lets 128 wait; a client beyond them must retry after a second.
    SockRef::from(&listener).listen(BACKLOG)?;
    Ok(listener)
}

/// Stands in the configuration for a socket that the system manager opened.
const INHERITED: &str = "systemd";

#[cfg(test)]
mod tests {
    use super::Sockets;
    use std::net::TcpStream;
    use std::time::Duration;

    #[test]
    fn a_crowd_may_wait_to_be_let_in() {
        let open = Sockets::from_environment().open(&["127.0.0.1:0".into()]).expect("it listens");
        let address = open[0].local_addr().expect("it has an address");
        // No connection is accepted, so one beyond the backlog ends with a timeout.
        let connect = |_| TcpStream::connect_timeout(&address, Duration::from_secs(10));
        let crowd = most_of_the_system().min(300);
        let waiting: Result<Vec<_>, _> = (0..crowd).map(connect).collect();
        assert_eq!(waiting.map(|waiting| waiting.len()).ok(), Some(crowd));
    }

    /// Returns the limit of the system, or the default of the standard library.
    fn most_of_the_system() -> usize {
        let text = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap_or_default();
        text.trim().parse().unwrap_or(128)
    }
}
