//! Where a server is, and who calls it.

use redis::{ConnectionAddr, ConnectionInfo, IntoConnectionInfo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;

#[cfg(feature = "tls")]
use tokio_rustls::rustls::pki_types::ServerName;

use super::ConnectError;
use super::connection::Commands;
#[cfg(feature = "tls")]
use super::roots::Roots;
use crate::store::Away;

/// A way to a server, with user, password and database.
#[derive(Clone)]
pub(super) struct Address {
    info: ConnectionInfo,
    /// The authorities that vouch for the server; None without TLS.
    #[cfg(feature = "tls")]
    roots: Option<Roots>,
}

/// A socket.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Sync + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Sync + Unpin> Stream for T {}

impl Address {
    /// Reads `redis://user:password@host:port/database` or `unix:path`; with the feature `tls` also
    /// `rediss://`, for which the authorities of the system vouch.
    pub(super) fn read(text: &str) -> Result<Self, ConnectError> {
        #[cfg(feature = "tls")]
        if text.starts_with(TLS) {
            let roots = Roots::of_the_system().map_err(|_| ConnectError::Roots)?;
            return Self::read_with(text, roots);
        }
        let info = text.into_connection_info().map_err(|_| ConnectError::Address)?;
        Ok(Self {
            info,
            #[cfg(feature = "tls")]
            roots: None,
        })
    }

    /// Reads an address with `rediss://`, for which these authorities vouch.
    #[cfg(feature = "tls")]
    pub(super) fn read_with(text: &str, roots: Roots) -> Result<Self, ConnectError> {
        let rest = text.strip_prefix(TLS).ok_or(ConnectError::Address)?;
        let plain = Self::read(&format!("redis://{rest}"))?;
        Ok(Self { roots: Some(roots), ..plain })
    }

    /// Returns the address of another node, with the same user, password and authorities.
    pub(super) fn of_node(&self, host: &str, port: u16) -> Self {
        let addr = ConnectionAddr::Tcp(host.to_owned(), port);
        let mut other = self.clone();
        other.info = other.info.set_addr(addr);
        other
    }

    /// Returns the host, if there is one.
    pub(super) fn host(&self) -> &str {
        match self.info.addr() {
            ConnectionAddr::Tcp(host, _) => host,
            _ => "",
        }
    }

    /// Connects. Whoever calls this bounds its time.
    pub(super) async fn connect(&self) -> Result<Box<dyn Stream>, Away> {
        match self.info.addr() {
            ConnectionAddr::Tcp(host, port) => {
                let stream = TcpStream::connect((host.as_str(), *port)).await;
                let stream = stream.map_err(|_| Away::Lost)?;
                // A check is one small write, which waits for nothing.
                stream.set_nodelay(true).map_err(|_| Away::Lost)?;
                #[cfg(feature = "tls")]
                if let Some(roots) = &self.roots {
                    let name = ServerName::try_from(host.clone()).map_err(|_| Away::Lost)?;
                    let stream = roots.connector().connect(name, stream).await;
                    return Ok(Box::new(stream.map_err(|_| Away::Lost)?));
                }
                Ok(Box::new(stream))
            }
            #[cfg(unix)]
            ConnectionAddr::Unix(path) => {
                let stream = UnixStream::connect(path).await;
                Ok(Box::new(stream.map_err(|_| Away::Lost)?))
            }
            _ => Err(Away::Lost),
        }
    }

    /// Returns the commands with which a connection begins.
    pub(super) fn greeting(&self) -> Commands {
        let settings = self.info.redis_settings();
        let mut commands = Commands::default();
        match (settings.username(), settings.password()) {
            (Some(user), Some(password)) => {
                commands.add(3);
                [b"AUTH", user.as_bytes(), password.as_bytes()]
                    .into_iter()
                    .for_each(|word| commands.word(word));
            }
            (None, Some(password)) => {
                commands.add(2);
                commands.word(b"AUTH");
                commands.word(password.as_bytes());
            }
            (_, None) => {}
        }
        if let Ok(database @ 1..) = u64::try_from(settings.db()) {
            commands.add(2);
            commands.word(b"SELECT");
            commands.number(database);
        }
        commands
    }
}

/// Shows nothing of it: it may hold a password.
impl core::fmt::Debug for Address {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Address")
    }
}

/// The beginning of addresses with TLS.
#[cfg(feature = "tls")]
const TLS: &str = "rediss://";
