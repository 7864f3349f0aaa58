//! The gate of MQTT over real sockets: the test is client and broker.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::notation::packet;
use crate::publisher::{pem, set, token_of};
use crate::reload::block_on;
use crate::running::{ASKER, KEEPER, OPEN, Running, bearer, compiled};

/// A server whose broker is the test.
pub(crate) struct Gated {
    server: Running,
    broker: TcpListener,
}

/// One end of a connection.
pub(crate) struct End<S>(pub(crate) S);

impl Gated {
    /// Starts one. `config` comes within `[mqtt.gate]`.
    pub(crate) fn start(policy: &str, mqtt: &str, gate: &str) -> Self {
        let broker = TcpListener::bind("127.0.0.1:0").unwrap();
        let upstream = broker.local_addr().unwrap();
        let config = format!(
            "{OPEN}[[auth.tokens]]\nname = \"asker\"\nfile = \"asker\"\n\
             [[auth.tokens]]\nname = \"keeper\"\nfile = \"keeper\"\nadmin = true\n\
             [auth.jwt]\nkeys = \"keys\"\nissuer = \"https://issuer.example\"\naudience = \"pdp\"\n\
             [mqtt]\nlisten = \"127.0.0.1:0\"\n{mqtt}\n[mqtt.gate]\nupstream = \"{upstream}\"\n{gate}\n"
        );
        let keys = String::from_utf8(set(&[1])).unwrap();
        let server = Running::with_files(policy, &config, &[("keys", &keys)]);
        Self { server, broker }
    }

    fn address(&self) -> SocketAddr {
        self.server.mqtt.unwrap()
    }

    fn connect(&self) -> End<TcpStream> {
        End::of(TcpStream::connect(self.address()).unwrap())
    }

    /// Connects a client of 5.0 with this token, and returns it with its broker.
    pub(crate) fn client(&self, token: &str) -> (End<TcpStream>, End<TcpStream>) {
        let mut client = self.connect();
        client.send(&format!("10: 'MQTT' 05 C2 003C 00 'c1' 'ada' '{token}'"));
        let mut broker = self.accept();
        broker.expect("10: 'MQTT' 05 82 003C 05 27 00041000 'c1' 'ada'");
        broker.send("20: 00 00 00");
        client.expect("20: 00 00 08 21 0040 27 00040000");
        (client, broker)
    }

    fn accept(&self) -> End<TcpStream> {
        End::of(self.broker.accept().unwrap().0)
    }

    pub(crate) fn reload(&self, policy: &str) {
        self.server.bundle.lock().unwrap().clone_from(&compiled(policy));
        block_on(self.server.shared.reload()).unwrap();
    }

    fn metrics(&self) -> String {
        self.server.get("/metrics", "").1
    }
}

impl End<TcpStream> {
    pub(crate) fn of(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(60))).unwrap();
        Self(stream)
    }
}

impl<S: Read + Write> End<S> {
    pub(crate) fn send(&mut self, text: &str) {
        self.0.write_all(&packet(text)).unwrap();
        self.0.flush().unwrap();
    }

    /// Reads as many bytes as a packet has, which must be that packet.
    pub(crate) fn expect(&mut self, text: &str) {
        let expected = packet(text);
        let mut found = vec![0; expected.len()];
        self.0.read_exact(&mut found).unwrap_or_else(|error| panic!("{error}, not {text}"));
        assert_eq!(found, expected, "{text}");
    }

    /// Reads the end.
    pub(crate) fn ends(&mut self) {
        let mut rest = Vec::new();
        match self.0.read_to_end(&mut rest) {
            Ok(_) => assert_eq!(rest, b""),
            Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
        }
    }
}

/// A policy about clients, whose conditions are given, and about topics.
pub(crate) fn policy(connect: &str, topics: &[(&str, &str)]) -> String {
    let rules: String = topics
        .iter()
        .map(|(actions, condition)| {
            format!(
                "    - {{ actions: [{actions}], effect: EFFECT_ALLOW, roles: ['*'], condition: {{ match: {{ expr: '{condition}' }} }} }}\n"
            )
        })
        .collect();
    format!(
        "apiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  version: default\n  resource: 'mqtt:client'\n  rules:\n    - {{ actions: [connect], effect: EFFECT_ALLOW, roles: ['*'], condition: {{ match: {{ expr: '{connect}' }} }} }}\n---\napiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  version: default\n  resource: 'mqtt:topic'\n  rules: {}{rules}",
        if topics.is_empty() { "[]" } else { "\n" }
    )
}

/// Clients publish to `a/b`, with few bytes, and subscribe to `a/#`.
pub(crate) fn usual() -> String {
    policy(
        "true",
        &[
            ("publish", "R.attr.topic.matchesTopic(\"a/b\") && R.attr.size < 10"),
            ("subscribe, unsubscribe", "R.attr.topic.matchesTopic(\"a/#\")"),
            ("receive", "R.attr.topic.matchesTopic(\"a/b\")"),
            ("will", "R.attr.topic.matchesTopic(\"a/will\")"),
        ],
    )
}

#[test]
fn policies_decide_on_every_packet() {
    let gated = Gated::start(&usual(), "", "");
    let (mut client, mut broker) = gated.client(ASKER);
    client.send("32: 'a/b' 0001 00 01");
    broker.expect("32: 'a/b' 0001 00 01");
    broker.send("40: 0001");
    client.expect("40: 0001");
    client.send("32: 'a/c' 0002 00 01");
    client.expect("40: 0002 87");
    client.send("32: 'a/b' 0002 00 0102030405060708090A");
    client.expect("40: 0002 87");
    client.send("82: 0003 00 'b/+' 00 'a/#' 01 '$share/g/a/#' 00");
    broker.expect("82: 0003 00 'a/#' 01 '$share/g/a/#' 00");
    broker.send("90: 0003 00 01 00");
    client.expect("90: 0003 00 87 01 00");
    broker.send("30: 'a/x' 00 01");
    client.expect("30: 'a/x' 00 01");
    client.send("A2: 0004 00 'a/#' 'b'");
    broker.expect("A2: 0004 00 'a/#'");
    broker.send("B0: 0004 00 00");
    client.expect("B0: 0004 00 00 87");
    client.send("E0:");
    broker.expect("E0:");
    broker.ends();
    client.ends();
    let metrics = gated.metrics();
    for line in
        ["wardgate_mqtt_accepted_total 1\n", "wardgate_decisions_total{effect=\"deny\"} 4\n"]
    {
        assert!(metrics.contains(line), "{line}{metrics}");
    }
}

#[test]
fn the_policy_of_the_document_decides_as_it_says() {
    const DOCUMENT: &str = include_str!("../../../../docs/MQTT.md");
    let (_, rest) = DOCUMENT.split_once("A policy for clients that publish").unwrap();
    let (_, rest) = rest.split_once("\n\n").unwrap();
    let lines = rest.lines().take_while(|line| line.is_empty() || line.starts_with("    "));
    let topics: String =
        lines.map(|line| format!("{}\n", line.get(4..).unwrap_or_default())).collect();
    let clients = policy("true", &[]);
    let (clients, _) = clients.split_once("---").unwrap();
    let gated = Gated::start(&format!("{clients}---\n{topics}"), "", "");
    let (mut client, mut broker) = gated.client(ASKER);
    client.send("32: 'sensors/asker' 0001 00 01");
    broker.expect("32: 'sensors/asker' 0001 00 01");
    for denied in ["33: 'sensors/asker'", "32: 'sensors/keeper'", "32: 'sensors/asker/x'"] {
        client.send(&format!("{denied} 0002 00 01"));
        client.expect("40: 0002 87");
    }
    client.send("34: 'sensors/asker' 0003 00 01");
    client.expect("50: 0003 87");
    client.send("82: 0004 00 'news/+' 00 '#' 00 'sensors/asker' 00");
    broker.expect("82: 0004 00 'news/+' 00");
    broker.send("90: 0004 00 00");
    client.expect("90: 0004 00 00 87 87");
}

#[test]
fn a_client_may_connect_publish_and_leave_in_one_breath() {
    let gated = Gated::start(&usual(), "anonymous = true", "");
    let packets = ["10: 'MQTT' 04 02 003C 'c1'", "30: 'a/b' 01", "30: 'b' 01", "E0:"];
    let mut client = gated.connect();
    client.0.write_all(&packets.map(packet).concat()).unwrap();
    let mut broker = gated.accept();
    [0, 1, 3].into_iter().for_each(|allowed| broker.expect(packets[allowed]));
    broker.ends();
    client.ends();
}

#[test]
fn clients_of_3_are_served_too() {
    let gated = Gated::start(&usual(), "", "denied = \"drop\"\npass-password = true");
    let mut client = gated.connect();
    let connect = format!("10: 'MQTT' 04 C2 003C 'c1' 'ada' '{ASKER}'");
    client.send(&connect);
    let mut broker = gated.accept();
    broker.expect(&connect);
    broker.send("20: 00 00");
    client.expect("20: 00 00");
    client.send("34: 'b' 0007 01");
    client.expect("50: 0007");
    client.send("62: 0007");
    client.expect("70: 0007");
    client.send("C0:");
    broker.expect("C0:");
    broker.send("D0:");
    client.expect("D0:");
    // Without `drop`, such a message closes.
    let gated = Gated::start(&usual(), "anonymous = true", "");
    let mut client = gated.connect();
    client.send("10: 'MQTT' 04 02 003C 'c1'");
    let mut broker = gated.accept();
    broker.expect("10: 'MQTT' 04 02 003C 'c1'");
    broker.send("20: 00 00");
    client.expect("20: 00 00");
    client.send("32: 'b' 0007 01");
    client.ends();
    broker.ends();
}

#[test]
fn who_proves_nothing_is_refused() {
    let gated = Gated::start(&usual(), "", "");
    for (connect, connack) in [
        ("10: 'MQTT' 05 02 003C 00 'c1'", "20: 00 86 00"),
        ("10: 'MQTT' 04 02 003C 'c1'", "20: 00 04"),
        // A user name is a claim.
        ("10: 'MQTT' 05 82 003C 00 'c1' 'asker'", "20: 00 86 00"),
        ("10: 'MQTT' 05 C2 003C 00 'c1' 'asker' 'token-of-somebody-who-askt'", "20: 00 86 00"),
        ("10: 'MQTT' 04 C2 003C 'c1' 'asker' 'FF'", "20: 00 04"),
    ] {
        let mut client = gated.connect();
        client.send(connect);
        client.expect(connack);
        client.ends();
    }
}

#[test]
fn the_name_is_that_of_the_token_and_the_client_id_is_a_claim() {
    let connect = "P.id == \"asker\" && R.id == \"c1\" && P.attr.clientId == R.id && P.attr.address == \"127.0.0.1\" && \"client\" in P.roles";
    let gated = Gated::start(&policy(connect, &[]), "", "");
    drop(gated.client(ASKER));
    let mut client = gated.connect();
    client.send(&format!("10: 'MQTT' 05 C2 003C 00 'c1' 'asker' '{KEEPER}'"));
    client.expect("20: 00 87 00");
    client.ends();
    let gated = Gated::start(&policy("P.id == \"anonymous\"", &[]), "anonymous = true", "");
    let mut client = gated.connect();
    client.send("10: 'MQTT' 04 82 003C 'c1' 'asker'");
    let mut broker = gated.accept();
    broker.expect("10: 'MQTT' 04 82 003C 'c1' 'asker'");
    // A wrong proof does not make a client anonymous.
    let mut client = gated.connect();
    client.send("10: 'MQTT' 04 C2 003C 'c1' 'asker' 'wrong'");
    client.expect("20: 00 04");
}

#[test]
fn claims_of_tokens_are_read_and_their_end_ends_the_connection() {
    let topics = [(
        "subscribe",
        "R.attr.topic.matchesTopic(request.auxData.jwt.topic) && \"reader\" in P.roles",
    )];
    let gated = Gated::start(&policy("P.id == \"ada\"", &topics), "", "");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let claims = |end: u64| {
        format!(
            r#"{{"iss":"https://issuer.example","aud":"pdp","sub":"ada","roles":["reader"],"topic":"a/#","exp":{end}}}"#
        )
    };
    let (mut client, mut broker) = gated.client(&token_of(1, &claims(now + 2)));
    client.send("82: 0001 00 'a/#' 00 'b/#' 00");
    broker.expect("82: 0001 00 'a/#' 00");
    broker.send("90: 0001 00 00");
    client.expect("90: 0001 00 00 87");
    client.expect("E0: 87");
    client.ends();
    broker.ends();
    let mut client = gated.connect();
    client
        .send(&format!("10: 'MQTT' 05 C2 003C 00 'c1' 'ada' '{}'", token_of(1, &claims(now - 1))));
    client.expect("20: 00 86 00");
    assert!(gated.metrics().contains("wardgate_mqtt_ended_total{cause=\"withdrawn\"} 1\n"));
}

#[test]
fn rights_are_withdrawn_by_a_reload() {
    let gated = Gated::start(&usual(), "", "");
    let (mut client, mut broker) = gated.client(ASKER);
    client.send("82: 0001 00 'a/#' 00");
    broker.expect("82: 0001 00 'a/#' 00");
    broker.send("90: 0001 00 00");
    client.expect("90: 0001 00 00");
    // The same rights, and then none.
    gated.reload(&usual().replace("size < 10", "size < 20"));
    client.send("C0:");
    broker.expect("C0:");
    gated.reload(&policy("true", &[]));
    client.expect("E0: 87");
    client.ends();
    broker.ends();
}

#[test]
fn a_client_that_may_no_longer_connect_is_closed() {
    let gated = Gated::start(&policy("true", &[]), "", "");
    let (mut client, mut broker) = gated.client(ASKER);
    let (mut other, mut others_broker) = gated.client(KEEPER);
    gated.reload(&policy("P.id == \"keeper\"", &[]));
    client.expect("E0: 87");
    client.ends();
    broker.ends();
    other.send("C0:");
    others_broker.expect("C0:");
}

#[test]
fn a_will_that_is_no_longer_allowed_is_taken_back() {
    let gated = Gated::start(&usual(), "anonymous = true", "");
    let connect = "10: 'MQTT' 04 06 003C 'c1' 'a/will' 'bye'";
    let mut client = gated.connect();
    client.send(connect);
    let mut broker = gated.accept();
    broker.expect(connect);
    broker.send("20: 00 00");
    client.expect("20: 00 00");
    gated.reload(&policy("true", &[]));
    broker.expect("E0:");
    broker.ends();
    client.ends();
    let mut client = gated.connect();
    client.send(connect);
    client.expect("20: 00 05");
}

#[test]
fn deliveries_are_judged_where_that_is_configured() {
    let gated = Gated::start(&usual(), "", "deliver = \"each\"");
    let (mut client, mut broker) = gated.client(ASKER);
    broker.send("32: 'a/x' 0001 00 01");
    broker.expect("40: 0001 87");
    broker.send("32: 'a/b' 0002 00 01");
    client.expect("32: 'a/b' 0002 00 01");
}

#[test]
fn a_broker_that_is_away_is_told() {
    let Gated { server, broker } = Gated::start(&usual(), "anonymous = true", "");
    drop(broker);
    for (connect, connack) in [
        ("10: 'MQTT' 05 02 003C 00 'c1'", "20: 00 88 00"),
        ("10: 'MQTT' 04 02 003C 'c1'", "20: 00 03"),
    ] {
        let mut client = End::of(TcpStream::connect(server.mqtt.unwrap()).unwrap());
        client.send(connect);
        client.expect(connack);
        client.ends();
    }
}

#[test]
fn a_broker_that_leaves_takes_its_client_along() {
    let gated = Gated::start(&usual(), "", "");
    let (mut client, broker) = gated.client(ASKER);
    drop(broker);
    client.ends();
    let (mut client, mut broker) = gated.client(ASKER);
    broker.send("E0: 8E");
    client.expect("E0: 8E");
    client.ends();
}

#[test]
fn malformed_packets_close_with_their_code() {
    let gated = Gated::start(&usual(), "", "");
    let (mut client, mut broker) = gated.client(ASKER);
    client.send("30: 'b/+' 00");
    client.expect("E0: 90");
    client.ends();
    broker.ends();
    let mut client = gated.connect();
    client.send("30: 'a/b' 00");
    client.ends();
    assert!(gated.metrics().contains("wardgate_mqtt_ended_total{cause=\"fault\"} 2\n"));
}

#[test]
fn a_client_that_says_nothing_is_closed() {
    let gated = Gated::start(&usual(), "connect-seconds = 1", "");
    let mut silent = gated.connect();
    let mut half = gated.connect();
    half.0.write_all(b"\x10\x0d\x00\x04").unwrap();
    silent.ends();
    half.ends();
}

#[test]
fn places_are_bounded_and_given_back() {
    let gated = Gated::start(&usual(), "max-clients = 1", "");
    let (mut client, mut broker) = gated.client(ASKER);
    for (connect, connack) in [
        ("10: 'MQTT' 05 C2 003C 00 'c2' 'x'", "20: 00 89 00"),
        ("10: 'MQTT' 04 C2 003C 'c2' 'x'", "20: 00 03"),
    ] {
        let mut other = gated.connect();
        other.send(&format!("{connect} '{ASKER}'"));
        other.expect(connack);
        other.ends();
    }
    client.send("E0:");
    broker.expect("E0:");
    broker.ends();
    client.ends();
    drop((client, broker));
    // The place is free once the connection is gone, which its client may notice earlier.
    while !gated.metrics().contains("wardgate_mqtt_clients 0\n") {}
    drop(gated.client(ASKER));
}

#[test]
fn strangers_push_out_no_client() {
    let gated = Gated::start(&usual(), "", "");
    let (mut client, mut broker) = gated.client(ASKER);
    let crowd: Vec<_> = (0..1100).map(|_| gated.connect()).collect();
    client.send("C0:");
    broker.expect("C0:");
    broker.send("D0:");
    client.expect("D0:");
    drop(crowd);
}

#[test]
fn a_client_that_does_not_read_slows_its_broker_down_and_is_closed() {
    let gated = Gated::start(&usual(), "write-seconds = 1", "");
    let (client, mut broker) = gated.client(ASKER);
    let (mut other, mut others_broker) = gated.client(KEEPER);
    let message = packet(&format!("30: 'a/b' 00 {}", "00".repeat(60_000)));
    // More than any buffer of the system takes.
    let mut sent = 0_usize;
    while broker.0.write_all(&message).is_ok() && sent < 1 << 30 {
        sent += message.len();
    }
    assert!(sent < 1 << 30, "{sent}");
    other.send("C0:");
    others_broker.expect("C0:");
    while !gated.metrics().contains("wardgate_mqtt_ended_total{cause=\"slow\"} 1\n") {}
    drop(client);
}

#[test]
fn a_server_that_stops_says_so() {
    let gated = Gated::start(&usual(), "", "");
    let (mut client, mut broker) = gated.client(ASKER);
    gated.server.shared.stop();
    client.expect("E0: 8B");
    client.ends();
    broker.ends();
}

#[test]
fn certificates_are_proofs_and_tokens_may_cross_tls() {
    let tls = format!(
        "[mqtt.tls]\ncertificate = \"{}\"\nkey = \"{}\"\nclient-ca = \"{}\"",
        pem("server.pem").display(),
        pem("server.key").display(),
        pem("ca.pem").display()
    );
    let connect = "P.id == \"asker\" || P.id == \"certificate\" && P.attr.certificate != \"\"";
    let gated = Gated::start(&policy(connect, &[("publish", "true")]), &tls, "");
    let mut client = encrypted(gated.address(), true);
    client.send("10: 'MQTT' 04 02 003C 'c1'");
    let mut broker = gated.accept();
    broker.expect("10: 'MQTT' 04 02 003C 'c1'");
    broker.send("20: 00 00");
    client.expect("20: 00 00");
    client.send("30: 'a' 01");
    broker.expect("30: 'a' 01");
    let mut client = encrypted(gated.address(), false);
    client.send("10: 'MQTT' 04 02 003C 'c1'");
    client.expect("20: 00 04");
    let mut client = encrypted(gated.address(), false);
    client.send(&format!("10: 'MQTT' 04 C2 003C 'c1' 'x' '{ASKER}'"));
    gated.accept().expect("10: 'MQTT' 04 82 003C 'c1' 'x'");
}

pub(crate) fn encrypted(
    address: SocketAddr,
    shows_certificate: bool,
) -> End<StreamOwned<ClientConnection, TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(pem("ca.pem")).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let config = if shows_certificate {
        let certificate = CertificateDer::from_pem_file(pem("somebody.pem")).unwrap();
        let key = PrivateKeyDer::from_pem_file(pem("somebody.key")).unwrap();
        config.with_client_auth_cert(vec![certificate], key).unwrap()
    } else {
        config.with_no_client_auth()
    };
    let name = ServerName::try_from("localhost").unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    End(StreamOwned::new(connection, stream))
}

#[test]
fn administrators_of_http_are_nothing_special_here() {
    let gated = Gated::start(&policy("P.id == \"asker\"", &[]), "", "");
    assert_eq!(gated.server.get("/metrics", &bearer(KEEPER)).0, 200);
    let mut client = gated.connect();
    client.send(&format!("10: 'MQTT' 04 C2 003C 'c1' 'x' '{KEEPER}'"));
    client.expect("20: 00 05");
}
