//! A server that publishes keys over TLS with scripted answers; and tokens of those keys.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use base64ct::{Base64UrlUnpadded, Encoding};
use ring::signature::{Ed25519KeyPair, KeyPair};
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

/// Starts a server that gives one answer after the other, each on a connection of its own, and
/// returns the requests. An empty answer is given when the client has gone. Returns its URL, too.
pub(crate) fn publishing(answers: Vec<Vec<u8>>) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://localhost:{}/keys", listener.local_addr().unwrap().port());
    let config = Arc::new(config());
    let requests = thread::spawn(move || {
        let answer = |answer: Vec<u8>| {
            let (stream, _) = listener.accept().unwrap();
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut reader = BufReader::new(StreamOwned::new(connection, stream));
            let mut lines = reader.by_ref().lines();
            // A client that does not trust the certificate sends nothing.
            let head: Vec<String> =
                lines.by_ref().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
            if answer.is_empty() {
                let _ = reader.read_to_end(&mut Vec::new());
            }
            // A client that does not read the whole answer may have gone.
            let _ = reader.get_mut().write_all(&answer);
            reader.get_mut().conn.send_close_notify();
            let _ = reader.get_mut().flush();
            head.join("\n").to_ascii_lowercase()
        };
        answers.into_iter().map(answer).collect()
    });
    (url, requests)
}

/// A certificate, or its key, for tests.
pub(crate) fn pem(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/tls").join(name)
}

fn config() -> ServerConfig {
    let certificate = CertificateDer::from_pem_file(pem("server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(pem("server.key")).unwrap();
    ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap()
}

pub(crate) fn response(head: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!("HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    [head.as_bytes(), body].concat()
}

/// The set of the keys that are made of these numbers and named by them.
pub(crate) fn set(seeds: &[u8]) -> Vec<u8> {
    let key = |seed: &u8| {
        let x = Base64UrlUnpadded::encode_string(pair(*seed).public_key().as_ref());
        format!(r#"{{"kty":"OKP","crv":"Ed25519","kid":"{seed}","alg":"EdDSA","x":"{x}"}}"#)
    };
    let keys: Vec<String> = seeds.iter().map(key).collect();
    format!(r#"{{"keys":[{}]}}"#, keys.join(",")).into_bytes()
}

/// A token of a key for callers of tests, for a long time.
pub(crate) fn token(seed: u8) -> String {
    let claims = r#"{"iss":"https://issuer.example","aud":"pdp","sub":"ada","exp":4102444800}"#;
    token_of(seed, claims)
}

/// A token of a key with these claims.
pub(crate) fn token_of(seed: u8, claims: &str) -> String {
    let header = format!(r#"{{"alg":"EdDSA","kid":"{seed}"}}"#);
    let [header, claims] =
        [header.as_str(), claims].map(|part| Base64UrlUnpadded::encode_string(part.as_bytes()));
    let signed = format!("{header}.{claims}");
    let signature = pair(seed).sign(signed.as_bytes());
    format!("{signed}.{}", Base64UrlUnpadded::encode_string(signature.as_ref()))
}

fn pair(seed: u8) -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap()
}
