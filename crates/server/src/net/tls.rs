//! TLS, for every protocol that speaks it.

use std::path::Path;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::server::danger::ClientCertVerifier;
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::server::TlsStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::config::Tls;
use crate::files::secret;
use crate::limits::HANDSHAKE;

/// Reads certificate and key.
///
/// # Errors
/// They cannot be read, or do not belong together; in words for the operator.
pub(crate) fn acceptor(tls: &Tls) -> Result<TlsAcceptor, String> {
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let builder = match &tls.client_ca {
        None => builder.with_no_client_auth(),
        Some(roots) => {
            let roots = Arc::new(roots_of(roots)?);
            builder.with_client_cert_verifier(verifier(roots, provider, tls.require_client)?)
        }
    };
    let key = PrivateKeyDer::from_pem_slice(&secret(&tls.key)?)
        .map_err(|error| format!("`{}` holds no private key: {error}", tls.key.display()))?;
    let certificates = certificates(&tls.certificate)?;
    let config = builder.with_single_cert(certificates, key).map_err(|error| {
        format!("certificate and key of `{}` cannot be used: {error}", tls.certificate.display())
    })?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Reads the roots of other servers.
///
/// # Errors
/// They cannot be read, in words for the operator.
pub(crate) fn connector(roots: &Path) -> Result<TlsConnector, String> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let config = builder.with_root_certificates(roots_of(roots)?).with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

/// Returns a connection after its handshake, which the client has to make in time.
pub(crate) async fn encrypted(
    acceptor: &TlsAcceptor,
    stream: TcpStream,
) -> Option<TlsStream<TcpStream>> {
    match timeout(HANDSHAKE, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => return Some(stream),
        Ok(Err(error)) => tracing::debug!(%error, "no handshake"),
        Err(_) => tracing::debug!("a handshake took too long"),
    }
    None
}

fn verifier(
    roots: Arc<RootCertStore>,
    provider: Arc<tokio_rustls::rustls::crypto::CryptoProvider>,
    is_required: bool,
) -> Result<Arc<dyn ClientCertVerifier>, String> {
    let builder = WebPkiClientVerifier::builder_with_provider(roots, provider);
    let builder = if is_required { builder } else { builder.allow_unauthenticated() };
    builder.build().map_err(|error| format!("`client-ca` cannot be used: {error}"))
}

fn roots_of(path: &Path) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        roots
            .add(certificate)
            .map_err(|error| format!("`{}` holds no root: {error}", path.display()))?;
    }
    Ok(roots)
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let pem = secret(path)?;
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    match read {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        _ => Err(format!("`{}` holds no certificate as PEM", path.display())),
    }
}
