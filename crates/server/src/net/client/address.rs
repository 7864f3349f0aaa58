//! Where another server is, and a stream to it.

use std::net::IpAddr;
use std::path::Path;
use std::time::Duration;

use hyper::Uri;
use hyper::http::uri::{Authority, Scheme};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::files::reason;
use crate::limits::CONNECT;
use crate::net::tls;

/// A URL that names a host.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    uri: Uri,
    authority: Authority,
    is_tls: bool,
}

/// Bytes in and out, encrypted or not.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

impl Address {
    /// Reads a URL with `http` or `https`.
    ///
    /// # Errors
    /// It is none, or says who asks; in words for the operator.
    pub(crate) fn read(url: &str) -> Result<Self, String> {
        let wrong = || format!("expected a URL such as `https://example.com/file`, found `{url}`");
        let uri: Uri = url.parse().map_err(|_| wrong())?;
        let is_tls = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => true,
            Some(scheme) if *scheme == Scheme::HTTP => false,
            _ => return Err(wrong()),
        };
        let authority = uri.authority().cloned().ok_or_else(wrong)?;
        if authority.as_str().contains('@') || authority.host().is_empty() {
            return Err(wrong());
        }
        Ok(Self { uri, authority, is_tls })
    }

    /// Reads the roots that its certificate must lead to; nothing without `https`. `key` is what the configuration calls
    /// them.
    ///
    /// # Errors
    /// They are missing or cannot be used, or nobody would ask for them; in words for the operator.
    pub(crate) fn tls(
        &self,
        roots: Option<&Path>,
        key: &str,
    ) -> Result<Option<TlsConnector>, String> {
        match (roots, self.is_tls) {
            (Some(roots), true) => tls::connector(roots).map(Some),
            (None, false) => Ok(None),
            (None, true) => Err(format!("`{key}` is missing, the roots of the server")),
            (Some(_), false) => Err(format!("`{key}` is for a URL with `https`")),
        }
    }

    /// Whether what is sent there is encrypted.
    pub(crate) const fn is_tls(&self) -> bool {
        self.is_tls
    }

    /// Whether nobody else on the network sees what is sent there.
    pub(crate) fn is_loopback(&self) -> bool {
        is_loopback(self.authority.host())
    }

    /// What is asked for there: the path with its query.
    pub(crate) fn path(&self) -> &str {
        self.uri.path_and_query().map_or("/", |path| path.as_str())
    }

    /// The host as the header of that name has it, with the port.
    pub(crate) fn host_header(&self) -> &str {
        self.authority.as_str()
    }

    /// Connects, and agrees on TLS where roots are given.
    ///
    /// # Errors
    /// Nobody answers there, or somebody else; in words for the operator.
    pub(crate) async fn connect(
        &self,
        tls: Option<&TlsConnector>,
    ) -> Result<Box<dyn Stream>, String> {
        let port = self.authority.port_u16().unwrap_or(if self.is_tls { 443 } else { 80 });
        let host = self.host();
        let connecting = timeout(CONNECT, TcpStream::connect((host, port))).await;
        let stream = connecting.map_err(|_| late(CONNECT))?.map_err(|error| reason(&error))?;
        let Some(tls) = tls else { return Ok(Box::new(stream)) };
        let name = ServerName::try_from(host.to_owned()).map_err(|error| error.to_string())?;
        let stream = tls.connect(name, stream).await.map_err(|error| reason(&error))?;
        Ok(Box::new(stream))
    }

    fn host(&self) -> &str {
        bare(self.authority.host())
    }
}

/// Whether a host, as a URL names it, is this machine whoever asks.
pub(crate) fn is_loopback(host: &str) -> bool {
    let address: Result<IpAddr, _> = bare(host).parse();
    address.map_or(host == "localhost", |address| address.is_loopback())
}

/// A host without the brackets that addresses of IPv6 have in a URL.
fn bare(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}

/// What this server calls itself when it asks others.
pub(crate) const AGENT: &str = concat!("wardgate/", env!("CARGO_PKG_VERSION"));

/// Says that another server took too long.
pub(crate) fn late(after: Duration) -> String {
    format!("the server did not answer within {} seconds", after.as_secs())
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn loopback_is_this_machine_and_nothing_else() {
        let check = |url: &str, expected| {
            assert_eq!(Address::read(url).unwrap().is_loopback(), expected, "{url}");
        };
        check("http://127.0.0.1:4318/v1/traces", true);
        check("http://127.9.9.9", true);
        check("http://[::1]:4318", true);
        check("http://localhost:4318", true);
        check("http://localhost.example.com", false);
        check("http://127.0.0.1.example.com", false);
        check("http://10.0.0.1", false);
        check("http://[::2]", false);
    }
}
