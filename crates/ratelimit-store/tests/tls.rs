//! The store on a server with TLS.

#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that cannot go on fails")]

#[path = "redis/server.rs"]
#[allow(dead_code, reason = "other tests use more of it")]
mod server;

use core::time::Duration;
use std::fs;
use std::path::Path;
use std::process::Command;

use wardgate_ratelimit::{Algorithm, Window};
use wardgate_ratelimit_store::{
    Away, ConnectError, Demand, Demands, Failure, Key, Limit, NoRoots, Options, Redis, Roots,
    Store, Terms,
};

use server::{Server, free_port};

#[tokio::test]
async fn a_server_is_trusted_by_the_authority_that_was_given() {
    let Some(probe) = Server::start("a_server_is_trusted_by_the_authority_that_was_given") else {
        return;
    };
    drop(probe);
    let folder = std::env::temp_dir().join(format!("wardgate-tls-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    if !certificate(&folder) {
        println!("skipped, the program openssl is not installed");
        return;
    }
    let [cert, key] = ["cert.pem", "key.pem"].map(|name| folder.join(name));
    let (port, [cert, key]) =
        (free_port().to_string(), [&cert, &key].map(|it| it.to_str().unwrap()));
    let options = ["--tls-port", &port, "--tls-cert-file", cert, "--tls-key-file", key];
    let clients = ["--tls-auth-clients", "no", "--tls-ca-cert-file", cert];
    let _server = Server::start_with(free_port(), &[&options[..], &clients].concat());
    let roots = Roots::of_pem(&fs::read(cert).unwrap()).unwrap();
    let store = |host: &str, roots: &Roots| {
        let options = Options { deadline: Duration::from_secs(60), ..Options::default() };
        Redis::with_roots(&format!("rediss://{host}:{port}"), roots, options).unwrap()
    };
    let trusting = store("localhost", &roots);
    for remaining in [4, 3] {
        assert_eq!(trusting.charge(&five()).await.unwrap()[0].remaining, remaining);
    }
    // The certificate is for another name, or of an authority that is unknown.
    assert_eq!(store("127.0.0.1", &roots).charge(&five()).await, Err(Away::Lost));
    let other = folder.join("other");
    fs::create_dir_all(&other).unwrap();
    assert!(certificate(&other));
    let others = Roots::of_pem(&fs::read(other.join("cert.pem")).unwrap()).unwrap();
    assert_eq!(store("localhost", &others).charge(&five()).await, Err(Away::Lost));
    fs::remove_dir_all(&folder).unwrap();
}

#[tokio::test]
async fn authorities_and_addresses_are_checked() {
    let empty = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    for pem in ["", "no pem", empty] {
        assert_eq!(Roots::of_pem(pem.as_bytes()).unwrap_err(), NoRoots, "{pem}");
    }
    // Machines without authorities say so.
    if let Ok(roots) = Roots::of_the_system() {
        let plain = Redis::with_roots("redis://localhost", &roots, Options::default());
        assert_eq!(plain.unwrap_err(), ConnectError::Address);
        assert!(Redis::new("rediss://localhost", Options::default()).is_ok());
    } else {
        let found = Redis::new("rediss://localhost", Options::default()).unwrap_err();
        assert_eq!(found, ConnectError::Roots);
    }
}

/// Makes a certificate of its own authority for `localhost`. Returns false without openssl.
fn certificate(folder: &Path) -> bool {
    let words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
        -addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE -keyout key.pem -out cert.pem";
    let mut command = Command::new("openssl");
    let made = command.args(words.split_whitespace()).current_dir(folder).output();
    made.is_ok_and(|output| output.status.success())
}

fn five() -> Demands {
    let terms = Terms::new(Algorithm::Gcra { burst: None }, 5, Window::DAY).unwrap();
    let limit = Limit::new("a", Failure::Deny).unwrap();
    Demands::new([Demand { limit, key: Key::new([b"sam".as_slice()]), terms, cost: 1 }]).unwrap()
}
