//! `wardgate serve` with SPOCP over TCP: killed while rules are added, and used by hostile clients.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

mod harness;

use super::folder::Folder;
use harness::{Client, OPEN, POLICIES, RULES, Running, TOKEN, folder, folder_with, message};

/// The knowledge about a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// A request without an answer: both are right.
    Pending,
    There,
    Away,
}

/// A message of a client to the test: a rule, and the knowledge about it now.
type Report = (String, Known);

/// Adds `count` rules, and deletes every seventh again, many requests at a time, until the server
/// is gone.
fn change(mut client: Client, name: &str, count: usize, reports: &Sender<Report>) -> bool {
    let rules: Vec<String> = (0..count)
        .map(|number| {
            let text = format!("{name}-{number}");
            format!("(4:rule{}:{text}(6:action4:read)(7:subject(3:uid4:olav)))", text.len())
        })
        .collect();
    for some in rules.chunks(50) {
        let mut input = Vec::new();
        let mut expected = Vec::new();
        for (number, rule) in some.iter().enumerate() {
            reports.send((rule.clone(), Known::Pending)).unwrap();
            input.extend(message(&[b"ADD", rule.as_bytes()]));
            let leaves = number % 7 == 6;
            // Once its deletion is on the way, a rule may be gone before the reply.
            expected.push((rule, if leaves { Known::Pending } else { Known::There }));
            if leaves {
                let id = md5(rule.as_bytes());
                input.extend(message(&[b"DELETE", id.as_bytes()]));
                expected.push((rule, Known::Away));
            }
        }
        if client.writer.write_all(&input).is_err() {
            return false;
        }
        for (rule, known) in expected {
            let Some(reply) = client.reply() else { return false };
            assert_eq!(reply, "200 Ok", "{rule}");
            reports.send((rule.clone(), known)).unwrap();
        }
    }
    true
}

/// The id of a rule.
fn md5(text: &[u8]) -> String {
    wardgate_server::rules::Key::of_text(text).to_string()
}

#[test]
fn acknowledged_changes_survive_a_kill_at_any_moment_and_nothing_else_does() {
    const CLIENTS: usize = 4;
    const RULES: usize = 10_000;
    let folder = folder();
    let mut known: BTreeMap<String, Known> = BTreeMap::new();
    for rule in ["(4:base3:one)", "(4:base3:two)"] {
        known.insert(rule.to_owned(), Known::There);
    }
    let mut random = 42_u64;
    let mut added = 0;
    for round in 0.. {
        let mut server = Running::start(&folder);
        check(&server.administrator().list(), &mut known, round);
        if added >= RULES {
            break;
        }
        let (sender, reports) = channel();
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let (sender, connection) = (sender.clone(), server.administrator());
                let name = format!("{round}-{client}");
                thread::spawn(move || change(connection, &name, RULES / CLIENTS, &sender))
            })
            .collect();
        drop(sender);
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut left = random >> 33 & 0x7ff;
        for (rule, now) in reports {
            added += usize::from(now == Known::There);
            known.insert(rule, now);
            left = left.saturating_sub(1);
            if left == 0 {
                let _ = server.child.kill();
            }
        }
        for client in clients {
            client.join().unwrap();
        }
        server.child.wait().unwrap();
    }
    assert!(added >= RULES, "{added} rules");
}

/// Compares the rules of the server with the expected ones, and learns the rest.
fn check(listed: &[String], known: &mut BTreeMap<String, Known>, round: usize) {
    for (rule, now) in known.iter_mut() {
        let is_there = listed.binary_search(rule).is_ok();
        match now {
            Known::There => assert!(is_there, "round {round}: {rule} is lost"),
            Known::Away => assert!(!is_there, "round {round}: {rule} is back"),
            Known::Pending if is_there => *now = Known::There,
            Known::Pending => *now = Known::Away,
        }
    }
    for rule in listed {
        assert!(known.contains_key(rule), "round {round}: nobody asked for {rule}");
    }
}

#[test]
fn hostile_clients_do_not_keep_others_waiting() {
    let folder = folder();
    let server = Running::start(&folder);
    let query = message(&[b"QUERY", b"(4:base3:one)"]);
    // Far more half-open connections than there are slots, each in the middle of a length or a
    // message.
    let half_open: Vec<_> = (0..300)
        .map(|number| {
            let mut client = server.client();
            client.say([&b"9"[..], b"60000:5:QUERY", b""][number % 3]);
            client
        })
        .collect();
    for hostile in [
        &b"-1:"[..],
        b"-9223372036854775808:x",
        b"18446744073709551617:x",
        b"999999999:",
        b":",
        b"\0\0\0\0",
        b"GET / HTTP/1.1\r\n\r\n",
    ] {
        let mut client = server.client();
        client.say(hostile);
        let reply = client.reply().unwrap();
        assert!(reply == "409 Protocol error" || reply == "411 Size limit exceeded", "{reply}");
        assert_eq!(client.reply(), None);
    }
    let mut client = server.client();
    client.say(&query);
    assert_eq!(client.reply().unwrap(), "200 Ok");
    #[cfg(target_os = "linux")]
    {
        let open = std::fs::read_dir(format!("/proc/{}/fd", server.child.id())).unwrap().count();
        assert!(open < 200, "{open} files are open for 100 connections");
    }
    drop(half_open);
}

#[test]
fn a_reload_keeps_what_administrators_changed() {
    let folder = folder();
    let server = Running::start(&folder);
    let mut eva = server.administrator();
    assert_eq!(eva.send(&[b"ADD", b"(5:added)"]), "200 Ok");
    assert_eq!(eva.send(&[b"DELETE", md5(b"(4:base3:one)").as_bytes()]), "200 Ok");
    folder.write("rules/base.spoc", "(4:base3:one)\n(4:base5:three)\n");
    assert_eq!(eva.send(&[b"RELOAD"]), "200 Ok");
    assert_eq!(eva.list(), ["(4:base5:three)", "(5:added)"]);
    folder.write("rules/base.spoc", "(4:base3:one\n");
    assert_eq!(eva.send(&[b"RELOAD"]), "500 Operations error");
    assert_eq!(eva.list().len(), 2);
    let second = folder.run("serve --config wardgate.toml");
    assert_eq!(second.code, 1, "{}", second.err);
    assert!(
        second.err.contains("another process has the journal of changes open"),
        "{}",
        second.err
    );
}

#[test]
fn the_rules_of_a_bundle_are_base_rules_and_change_with_its_policies() {
    let folder = folder();
    folder.write("policies/pages.spoc", "(4:base3:two)\n(6:bundle)\n");
    let server = Running::start(&folder);
    let mut eva = server.administrator();
    assert_eq!(eva.list(), ["(4:base3:one)", "(4:base3:two)", "(6:bundle)"]);
    assert_eq!(eva.send(&[b"QUERY", b"(6:bundle1:x)"]), "200 Ok");
    assert_eq!(eva.send(&[b"DELETE", md5(b"(6:bundle)").as_bytes()]), "200 Ok");
    folder.write("policies/pages.spoc", "(6:bundle)\n(5:other)\n");
    assert_eq!(eva.send(&[b"RELOAD"]), "200 Ok");
    assert_eq!(eva.list(), ["(4:base3:one)", "(4:base3:two)", "(5:other)"]);
    // Neither policies nor rules are taken when one of them cannot be.
    folder.write("policies/pages.spoc", "(5:third)\n");
    folder.write("rules/base.spoc", "(4:base\n");
    assert_eq!(eva.send(&[b"RELOAD"]), "500 Operations error");
    assert_eq!(eva.send(&[b"QUERY", b"(5:third)"]), "202 Denied");
    folder.write("rules/base.spoc", "(4:base)\n");
    folder.write("policies/pages.spoc", "(5:third\n");
    assert_eq!(eva.send(&[b"RELOAD"]), "500 Operations error");
    assert_eq!(eva.list().len(), 3);
}

#[test]
fn rules_alone_are_a_server() {
    let folder = folder_with(&[RULES, OPEN]);
    let server = Running::start(&folder);
    let mut eva = server.administrator();
    assert_eq!(eva.send(&[b"QUERY", b"(4:base3:one)"]), "200 Ok");
    assert_eq!(eva.send(&[b"ADD", b"(5:added)"]), "200 Ok");
    folder.write("rules/base.spoc", "(4:base5:three)\n");
    assert_eq!(eva.send(&[b"RELOAD"]), "200 Ok");
    assert_eq!(eva.list(), ["(4:base5:three)", "(5:added)"]);
}

const TLS: &str = r#"
admin-names = "administrator.example"
[spocp.tls]
certificate = "server.pem"
key = "server.key"
client-ca = "ca.pem"
"#;

/// Begins to speak TLS on a connection that was plain, with the certificate of this name or none.
fn encrypt(stream: TcpStream, identity: Option<&str>) -> StreamOwned<ClientConnection, TcpStream> {
    let mut roots = RootCertStore::empty();
    let pem = |name: &str| format!("{}/tests/tls/{name}", env!("CARGO_MANIFEST_DIR"));
    let certificate = |name: &str| CertificateDer::from_pem_file(pem(name)).unwrap();
    roots.add(certificate("ca.pem")).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let config = match identity {
        None => builder.with_no_client_auth(),
        Some(identity) => {
            let key = PrivateKeyDer::from_pem_file(pem(&format!("{identity}.key"))).unwrap();
            builder
                .with_client_auth_cert(vec![certificate(&format!("{identity}.pem"))], key)
                .unwrap()
        }
    };
    let name = ServerName::try_from("localhost").unwrap();
    StreamOwned::new(ClientConnection::new(Arc::new(config), name).unwrap(), stream)
}

/// Says everything over TLS after `STARTTLS`, and returns all that comes back.
fn encrypted(server: &Running, identity: Option<&str>, input: &[u8]) -> String {
    let mut client = server.client();
    // Input behind `STARTTLS` before the handshake is not taken for encrypted.
    let injected = message(&[b"ADD", b"(8:injected)"]);
    client.say(&[message(&[b"STARTTLS"]), injected].concat());
    assert_eq!(client.reply().unwrap(), "200 Ok");
    let mut stream = encrypt(client.writer, identity);
    stream.write_all(input).unwrap();
    let mut replies = Vec::new();
    stream.read_to_end(&mut replies).unwrap();
    String::from_utf8(replies).unwrap()
}

#[test]
fn certificates_and_tokens_prove_administrators_over_tls() {
    let folder = folder_with(&[POLICIES, RULES, TLS]);
    for name in ["server.pem", "server.key", "ca.pem"] {
        let path = format!("{}/tests/tls/{name}", env!("CARGO_MANIFEST_DIR"));
        folder.write(name, std::fs::read(path).unwrap());
    }
    let server = Running::start(&folder);
    let token = message(&[b"AUTH", b"SASL:PLAIN", format!("\0eva\0{TOKEN}").as_bytes()]);
    let query = message(&[b"QUERY", b"(4:base3:one)"]);
    let logout = message(&[b"LOGOUT"]);

    let mut plain = server.client();
    assert_eq!(plain.send(&[b"QUERY", b"(4:base3:one)"]), "404 Access denied");
    assert_eq!(plain.send(&[b"CAPABILITY"]), "200 Ok");
    plain.say(&token);
    assert_eq!(plain.reply().unwrap(), "405 Argument error");
    assert_eq!(plain.reply(), None);

    let requests = [&query[..], &logout].concat();
    assert_eq!(encrypted(&server, None, &requests), "21:3:40413:Access denied10:3:2033:Bye");
    assert_eq!(
        encrypted(&server, Some("somebody"), &requests),
        "21:3:40413:Access denied10:3:2033:Bye"
    );
    assert_eq!(encrypted(&server, Some("administrator"), &requests), "9:3:2002:Ok10:3:2033:Bye");
    let again = [
        &message(&[b"STARTTLS"])[..],
        &token,
        &query,
        &message(&[b"QUERY", b"(8:injected)"]),
        &logout,
    ];
    let expected =
        "28:3:40120:Already in operation9:3:2002:Ok9:3:2002:Ok13:3:2026:Denied10:3:2033:Bye";
    assert_eq!(encrypted(&server, None, &again.concat()), expected);
}

#[test]
fn protocols_are_compared() {
    let folder = Folder::new();
    let ran = folder.run(
        "bench protocols --rules 50 --queries 200 --concurrent 2 --skip-http --chart chart.svg",
    );
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    for row in ["direct ", "TCP, 1 client ", "TCP, 2 clients ", "TCP, pipelined, 2 clients "] {
        assert!(ran.out.lines().any(|line| line.starts_with(row)), "{row} is missing: {}", ran.out);
    }
    assert!(!ran.out.contains("HTTP"), "{}", ran.out);
    assert!(ran.out.ends_with("the chart is in `chart.svg`\n"), "{}", ran.out);
    assert!(folder.read("chart.svg").starts_with(b"<svg"));
    assert_eq!(folder.names(), ["chart.svg"]);
    let apart = folder.run("bench protocols --rules 50 --queries 200 --concurrent 3 --apart");
    assert_eq!((apart.code, apart.err.as_str()), (0, ""), "{}", apart.out);
    for row in [
        "TCP, 3 clients ",
        "HTTP, 1 client ",
        "HTTP, 3 clients ",
        "clients have threads of their own",
    ] {
        assert!(
            apart.out.lines().any(|line| line.starts_with(row)),
            "{row} is missing: {}",
            apart.out
        );
    }
    assert_eq!(folder.run("bench protocols --rules 0").code, 2);
    assert_eq!(folder.run("bench").code, 2);
}
