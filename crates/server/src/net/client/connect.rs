//! Streams to other servers, with TLS where their URL has `https`.

use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::address::Address;
use crate::files::reason;
use crate::limits::CONNECT;
use crate::net::tls;

/// Bytes in and out, encrypted or not.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

impl Address {
    /// Reads the roots of the server's certificate; returns `None` without `https`. `key` is their
    /// key in the configuration.
    ///
    /// # Errors
    /// They are missing or cannot be used, or the URL needs none; in words for the operator.
    pub(crate) fn tls(
        &self,
        roots: Option<&Path>,
        key: &str,
    ) -> Result<Option<TlsConnector>, String> {
        match (roots, self.is_tls()) {
            (Some(roots), true) => tls::connector(roots).map(Some),
            (None, false) => Ok(None),
            (None, true) => Err(format!("`{key}` is missing, the roots of the server")),
            (Some(_), false) => Err(format!("`{key}` is for a URL with `https`")),
        }
    }

    /// Connects, with TLS where roots are given.
    ///
    /// # Errors
    /// The server does not answer, or proves another identity; in words for the operator.
    pub(crate) async fn connect(
        &self,
        tls: Option<&TlsConnector>,
    ) -> Result<Box<dyn Stream>, String> {
        let host = self.host();
        let connecting = timeout(CONNECT, TcpStream::connect((host, self.port()))).await;
        let stream = connecting.map_err(|_| late(CONNECT))?.map_err(|error| reason(&error))?;
        let Some(tls) = tls else { return Ok(Box::new(stream)) };
        let name = ServerName::try_from(host.to_owned()).map_err(|error| error.to_string())?;
        let stream = tls.connect(name, stream).await.map_err(|error| reason(&error))?;
        Ok(Box::new(stream))
    }
}

/// The header `User-Agent` of this server.
pub(crate) const AGENT: &str = concat!("wardgate/", env!("CARGO_PKG_VERSION"));

/// Says that another server took too long.
pub(crate) fn late(after: Duration) -> String {
    format!("the server did not answer within {} seconds", after.as_secs())
}
