//! The URL of another server, read and taken apart.

use std::net::IpAddr;

use hyper::Uri;
use hyper::http::uri::{Authority, Scheme};

/// A URL that names a host.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    uri: Uri,
    authority: Authority,
    is_tls: bool,
}

impl Address {
    /// Reads a URL with `http` or `https`.
    ///
    /// # Errors
    /// The text is no such URL, or it names a user. The message is for the operator.
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

    /// Returns true if the URL has the scheme `https`.
    pub(crate) const fn is_tls(&self) -> bool {
        self.is_tls
    }

    /// Returns true if the host is a loopback address, so that traffic stays on this machine.
    pub(crate) fn is_loopback(&self) -> bool {
        is_loopback(self.authority.host())
    }

    /// Returns the path of the URL with its query.
    pub(crate) fn path(&self) -> &str {
        self.uri.path_and_query().map_or("/", |path| path.as_str())
    }

    /// The host as the header of that name has it, with the port.
    pub(crate) fn host_header(&self) -> &str {
        self.authority.as_str()
    }

    /// Returns the host, without the brackets around an address of IPv6.
    pub(crate) fn host(&self) -> &str {
        bare(self.authority.host())
    }

    /// Returns the port, or the usual one of the scheme.
    pub(crate) fn port(&self) -> u16 {
        self.authority.port_u16().unwrap_or(if self.is_tls { 443 } else { 80 })
    }
}

/// Returns true if a host, written as in a URL, is a loopback address or `localhost`.
pub(crate) fn is_loopback(host: &str) -> bool {
    let address: Result<IpAddr, _> = bare(host).parse();
    address.map_or(host == "localhost", |address| address.is_loopback())
}

/// A host without the brackets that addresses of IPv6 have in a URL.
fn bare(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn only_addresses_of_this_machine_are_loopback() {
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
