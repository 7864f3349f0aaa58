//! The certificates of authorities that vouch for servers.

use core::fmt;
use std::sync::Arc;

use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// The authorities that a store trusts, read once and shared by all connections.
#[derive(Clone)]
pub struct Roots(TlsConnector);

/// No certificate of an authority was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoots;

impl Roots {
    /// Reads the authorities that the system trusts. It reads files.
    ///
    /// # Errors
    /// There are none.
    pub fn of_the_system() -> Result<Self, NoRoots> {
        Self::of(rustls_native_certs::load_native_certs().certs)
    }

    /// Reads authorities from a text in PEM, such as the file of one's own.
    ///
    /// # Errors
    /// The text has none, or one that cannot be read.
    pub fn of_pem(pem: &[u8]) -> Result<Self, NoRoots> {
        let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
        let certificates = certificates.map_err(|_| NoRoots)?;
        let count = certificates.len();
        let mut roots = RootCertStore::empty();
        let (read, _) = roots.add_parsable_certificates(certificates);
        if read == count { Self::with(roots) } else { Err(NoRoots) }
    }

    /// Those of a system may have some that nobody can read any more.
    fn of(certificates: Vec<CertificateDer<'static>>) -> Result<Self, NoRoots> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(certificates);
        Self::with(roots)
    }

    fn with(roots: RootCertStore) -> Result<Self, NoRoots> {
        if roots.is_empty() {
            return Err(NoRoots);
        }
        let config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
        Ok(Self(TlsConnector::from(Arc::new(config))))
    }

    pub(super) const fn connector(&self) -> &TlsConnector {
        &self.0
    }
}

impl fmt::Debug for Roots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Roots")
    }
}

impl fmt::Display for NoRoots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected certificates of authorities in PEM, found none that can be used")
    }
}

impl core::error::Error for NoRoots {}
