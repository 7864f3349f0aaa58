//! MQTT over WebSocket, through the listener of HTTP.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use crate::mqtt::{End, encrypted, policy, usual};
use crate::notation::packet;
use crate::publisher::pem;
use crate::reload::block_on;
use crate::running::{ASKER, OPEN, Running, checked, compiled};

/// A client of WebSocket: it writes each piece as one frame, and reads the payload of binary frames.
pub(crate) struct Web<S> {
    stream: S,
    /// What was read and not taken.
    payload: Vec<u8>,
}

impl<S: Read + Write> Web<S> {
    /// Asks for WebSocket at `/mqtt`, and returns the client if the server agrees.
    fn over(mut stream: S) -> Self {
        stream.write_all(request("").as_bytes()).unwrap();
        let head = head(&mut stream);
        assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
        for line in [
            "sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
            "sec-websocket-protocol: mqtt",
            "upgrade: websocket",
        ] {
            assert!(head.contains(line), "{line} in {head}");
        }
        Self { stream, payload: Vec::new() }
    }

    /// Reads a frame of the server: its first byte, and the payload.
    fn frame(&mut self) -> io::Result<(u8, Vec<u8>)> {
        let mut start = [0; 2];
        self.stream.read_exact(&mut start)?;
        assert!(start[1] < 127, "masked, or longer than it need be");
        let mut len = usize::from(start[1]);
        if len == 126 {
            let mut bytes = [0; 2];
            self.stream.read_exact(&mut bytes)?;
            len = usize::from(u16::from_be_bytes(bytes));
            assert!(len > 125);
        }
        let mut payload = vec![0; len];
        self.stream.read_exact(&mut payload)?;
        Ok((start[0], payload))
    }

    /// Reads a close frame with this status code, and the end of the connection.
    fn closes(&mut self, status: u16) {
        let (first, payload) = self.frame().unwrap();
        assert_eq!((first, payload.as_slice()), (0x88, status.to_be_bytes().as_slice()));
        let mut rest = Vec::new();
        match self.stream.read_to_end(&mut rest) {
            Ok(_) => assert_eq!(rest, b""),
            Err(error) => assert_eq!(error.kind(), io::ErrorKind::ConnectionReset),
        }
    }
}

impl<S: Read + Write> Read for Web<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.payload.is_empty() {
            match self.frame() {
                Ok((0x82, payload)) => self.payload = payload,
                Ok((0x88, _)) => return Ok(0),
                Ok((first, _)) => panic!("a frame {first:02X}"),
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
                Err(error) => return Err(error),
            }
        }
        let count = buffer.len().min(self.payload.len());
        buffer[..count].copy_from_slice(&self.payload[..count]);
        self.payload.drain(..count);
        Ok(count)
    }
}

impl<S: Read + Write> Write for Web<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write_all(&frame(0x82, bytes))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// The request for WebSocket, with more headers.
fn request(headers: &str) -> String {
    format!(
        "GET /mqtt HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Protocol: mqtt\r\n{headers}\r\n"
    )
}

/// Reads the head of an answer.
fn head(stream: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        bytes.extend(byte);
    }
    String::from_utf8(bytes).unwrap()
}

/// Returns a frame of a client.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mask = [1, 2, 3, 4];
    let mut bytes = vec![first];
    match payload.len() {
        len @ 0..126 => bytes.push(0x80 | u8::try_from(len).unwrap()),
        len @ 126..65_536 => {
            bytes.push(0xFE);
            bytes.extend(u16::try_from(len).unwrap().to_be_bytes());
        }
        len => {
            bytes.push(0xFF);
            bytes.extend(u64::try_from(len).unwrap().to_be_bytes());
        }
    }
    bytes.extend(mask);
    bytes.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, key)| byte ^ key));
    bytes
}

/// A broker that speaks WebSocket.
struct Broker(Running);

impl Broker {
    fn start(mqtt: &str) -> Self {
        let config = format!(
            "{OPEN}[mqtt]\nlisten = \"127.0.0.1:0\"\nanonymous = true\nwebsocket = \"/mqtt\"\n{mqtt}\n"
        );
        Self(Running::start(&open(), &config))
    }

    fn stream(&self) -> TcpStream {
        connected(self.0.address)
    }

    fn open(&self) -> End<Web<TcpStream>> {
        End(Web::over(self.stream()))
    }

    fn client(&self, id: &str) -> End<Web<TcpStream>> {
        let mut client = self.open();
        client.send(&format!("10: 'MQTT' 04 02 003C '{id}'"));
        client.expect("20: 00 00");
        client
    }

    /// A client without WebSocket.
    fn plain(&self, id: &str) -> End<TcpStream> {
        let mut client = End::of(TcpStream::connect(self.0.mqtt.unwrap()).unwrap());
        client.send(&format!("10: 'MQTT' 04 02 003C '{id}'"));
        client.expect("20: 00 00");
        client
    }

    fn wait_for(&self, metric: &str) {
        while !self.0.get("/metrics", "").1.contains(metric) {}
    }
}

fn connected(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.set_write_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

fn open() -> String {
    let most = "R.attr.topic.matchesTopic([\"a/#\", \"w\"])";
    policy("true", &[("publish, subscribe, unsubscribe, receive, will", most)])
}

#[test]
fn clients_over_websocket_and_over_tcp_share_a_broker() {
    let broker = Broker::start("");
    let (mut ada, mut bob) = (broker.client("ada"), broker.plain("bob"));
    ada.send("82: 0001 'a/#' 00 'b' 00");
    ada.expect("90: 0001 00 80");
    bob.send("82: 0001 'a/#' 00");
    bob.expect("90: 0001 00");
    bob.send("32: 'a/b' 0002 2A");
    bob.expect("30: 'a/b' 2A");
    bob.expect("40: 0002");
    ada.expect("30: 'a/b' 2A");
    ada.send("30: 'a/c' 2B");
    ada.expect("30: 'a/c' 2B");
    bob.expect("30: 'a/c' 2B");
    // A message that is longer than a frame.
    let long = format!("30: 'a/b' {}", "17".repeat(200_000));
    ada.send(&long);
    ada.expect(&long);
    bob.expect(&long);
    ada.send("C0:");
    ada.expect("D0:");
    ada.send("E0:");
    ada.0.closes(1000);
}

#[test]
fn frames_and_packets_have_boundaries_of_their_own() {
    let broker = Broker::start("");
    let mut reader = broker.plain("reader");
    reader.send("82: 0001 'a/b' 00");
    reader.expect("90: 0001 00");
    let texts =
        ["10: 'MQTT' 04 02 003C 'p'", "32: 'a/b' 0001 00112233", "32: 'a/b' 0002 44", "C0:"];
    let all: Vec<u8> = texts.iter().flat_map(|text| packet(text)).collect();
    let whole = frame(0x82, &all);
    let bytes: Vec<u8> = all.iter().flat_map(|byte| frame(0x82, &[*byte])).collect();
    let last = all.len() - 1;
    let kind = |at: usize| (u8::from(at == 0) * 2) | (u8::from(at == last) * 0x80);
    let message: Vec<u8> = (0..all.len())
        .flat_map(|at| [frame(kind(at), &all[at..=at]), frame(0x89, b"ping")].concat())
        .collect();
    for (bytes, size) in
        [(&whole, usize::MAX), (&whole, 1), (&bytes, 7), (&bytes, 1), (&message, 3)]
    {
        let mut client = broker.open();
        for piece in bytes.chunks(size.min(bytes.len())) {
            client.0.stream.write_all(piece).unwrap();
        }
        let mut answers = Vec::new();
        while answers.len() < 14 {
            let (first, payload) = client.0.frame().unwrap();
            match first {
                0x82 => answers.extend(payload),
                _ => assert_eq!((first, payload.as_slice()), (0x8A, &b"ping"[..])),
            }
        }
        let expected = ["20: 00 00", "40: 0001", "40: 0002", "D0:"];
        assert_eq!(answers, expected.map(packet).concat());
        reader.expect("30: 'a/b' 00112233");
        reader.expect("30: 'a/b' 44");
    }
}

#[test]
fn what_comes_with_the_request_is_read() {
    let broker = Broker::start("");
    let mut stream = broker.stream();
    let connect = frame(0x82, &packet("10: 'MQTT' 04 02 003C 'c1'"));
    stream.write_all(&[request("").as_bytes(), &connect].concat()).unwrap();
    head(&mut stream);
    End(Web { stream, payload: Vec::new() }).expect("20: 00 00");
}

#[test]
fn a_later_request_of_a_connection_may_ask_for_websocket() {
    let broker = Broker::start("");
    let mut stream = broker.stream();
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n").unwrap();
    let length = head(&mut stream);
    let length = length.split("content-length: ").nth(1).unwrap().split("\r\n").next().unwrap();
    stream.read_exact(&mut vec![0; length.parse().unwrap()]).unwrap();
    let mut client = End(Web::over(stream));
    client.send("10: 'MQTT' 04 02 003C 'c1'");
    client.expect("20: 00 00");
}

#[test]
fn pings_are_answered_and_closes_end_the_connection() {
    let broker = Broker::start("");
    let mut reader = broker.plain("reader");
    reader.send("82: 0001 'w' 00");
    reader.expect("90: 0001 00");
    for (close, status) in [(&b"\x03\xE9"[..], Some(1001_u16)), (b"", None)] {
        let mut client = broker.open();
        client.send("10: 'MQTT' 04 06 003C 'c1' 'w' 'bye'");
        client.expect("20: 00 00");
        client.0.stream.write_all(&frame(0x89, b"are you there?")).unwrap();
        assert_eq!(client.0.frame().unwrap(), (0x8A, b"are you there?".to_vec()));
        client.0.stream.write_all(&frame(0x88, close)).unwrap();
        let expected = status.map_or(Vec::new(), |status| status.to_be_bytes().to_vec());
        assert_eq!(client.0.frame().unwrap(), (0x88, expected));
        client.ends();
        // A close of WebSocket is no DISCONNECT.
        reader.expect("30: 'w' 627965");
    }
}

#[test]
fn frames_that_break_rules_close_with_their_code() {
    let broker = Broker::start("");
    let mut other = broker.client("other");
    let packet = packet("C0:");
    let unmasked = [&[0x82, 0x02][..], &packet].concat();
    let too_long = [&[0x82, 0xFF][..], &300_000_u64.to_be_bytes()].concat();
    let cases: [(&str, Vec<u8>, u16); 12] = [
        ("text", frame(0x81, &packet), 1003),
        ("text in pieces", frame(0x01, &packet), 1003),
        ("no mask", unmasked, 1002),
        ("a reserved bit", frame(0xC2, &packet), 1002),
        ("an unknown opcode", frame(0x83, &packet), 1002),
        ("an unknown control frame", frame(0x8B, b""), 1002),
        ("a continuation of nothing", frame(0x80, &packet), 1002),
        ("a message in a message", [frame(0x02, &packet), frame(0x82, &packet)].concat(), 1002),
        ("a ping in pieces", frame(0x09, b""), 1002),
        ("a long ping", frame(0x89, &[0; 126]), 1002),
        ("a close without code", frame(0x88, &[3]), 1002),
        ("a frame beyond the bound", [too_long, vec![0; 4]].concat(), 1009),
    ];
    for (n, (name, bytes, status)) in cases.iter().enumerate() {
        let mut client = broker.client("c1");
        client.0.stream.write_all(bytes).unwrap();
        // What came before the fault is answered: the beginning of a message in pieces.
        if bytes.starts_with(&[0x02]) {
            client.expect("D0:");
        }
        client.0.closes(*status);
        broker.wait_for(&format!("wardgate_mqtt_ended_total{{cause=\"fault\"}} {}\n", n + 1));
        assert!(!name.is_empty());
    }
    // Before CONNECT, and in the middle of a packet.
    for (first, rest) in
        [(&[][..], frame(0x81, b"GET / HTTP/1.1")), (&[0x10, 0x0D], frame(0x81, b"x"))]
    {
        let mut client = broker.open();
        client.0.stream.write_all(&[frame(0x82, first), rest].concat()).unwrap();
        client.0.closes(1003);
    }
    other.send("C0:");
    other.expect("D0:");
}

#[test]
fn malformed_packets_close_as_they_do_over_tcp() {
    let broker = Broker::start("");
    let mut client = broker.open();
    client.send("10: 'MQTT' 05 02 003C 00 'c1'");
    client.expect("20: 00 00 0D 24 01 22 0010 21 0040 27 00040000");
    client.send("30: 'a/+' 00 2A");
    client.expect("E0: 90");
    client.0.closes(1000);
    // Its first bytes are no packet of MQTT.
    let mut client = broker.open();
    client.0.write_all(b"GET / HTTP/1.1").unwrap();
    client.0.closes(1000);
}

#[test]
fn requests_that_are_no_handshake_are_refused() {
    let broker = Broker::start("origins = [\"https://app.example.com\"]");
    let whole = request("");
    for (text, status) in [
        (whole.replace("Upgrade: websocket\r\n", ""), 426),
        (whole.replace("GET", "POST"), 405),
        (whole.replace("HTTP/1.1", "HTTP/1.0"), 400),
        (whole.replace("Version: 13", "Version: 12"), 426),
        (whole.replace("Protocol: mqtt", "Protocol: mqttv3.1"), 400),
        (whole.replace("Sec-WebSocket-Protocol: mqtt\r\n", ""), 400),
        (whole.replace("dGhlIHNhbXBsZSBub25jZQ==", "short"), 400),
        (whole.replace("Host: localhost\r\n", ""), 400),
        (whole.replace("/mqtt ", "/mqtt/ "), 404),
        (request("Origin: https://evil.example\r\n"), 403),
        (request("Origin: null\r\n"), 403),
        (request("Origin: https://app.example.com\r\n"), 101),
    ] {
        let mut stream = broker.stream();
        stream.write_all(text.as_bytes()).unwrap();
        let head = head(&mut stream);
        assert_eq!(head.split(' ').nth(1), Some(status.to_string().as_str()), "{text}");
    }
    // Without a list, pages of the host itself may connect.
    let broker = Broker::start("");
    for (origin, status) in [("http://localhost", "101"), ("http://localhost.evil.example", "403")]
    {
        let mut stream = broker.stream();
        stream.write_all(request(&format!("Origin: {origin}\r\n")).as_bytes()).unwrap();
        assert_eq!(head(&mut stream).split(' ').nth(1), Some(status), "{origin}");
    }
    // A server without the key has no such path.
    let server = Running::start(
        &open(),
        &format!("{OPEN}[mqtt]\nlisten = \"127.0.0.1:0\"\nanonymous = true\n"),
    );
    let mut stream = connected(server.address);
    stream.write_all(request("").as_bytes()).unwrap();
    assert!(head(&mut stream).starts_with("HTTP/1.1 404 "));
}

#[test]
fn the_path_belongs_to_websocket_alone() {
    let config = |path: &str| {
        format!("{OPEN}[mqtt]\nanonymous = true\nlisten = []\nwebsocket = \"{path}\"\n")
    };
    assert_eq!(checked(&config("/mqtt")), Ok(()));
    for taken in ["/metrics", "/api/check/resources", "/access/v1/evaluation"] {
        let expected =
            format!("`mqtt.websocket` must be a path of its own, `{taken}` is another endpoint");
        assert_eq!(checked(&config(taken)), Err(expected));
    }
}

#[test]
fn a_client_that_says_nothing_over_websocket_is_closed() {
    let broker = Broker::start("connect-seconds = 1");
    let (mut silent, mut half, mut pinging) = (broker.open(), broker.open(), broker.open());
    half.0.stream.write_all(&frame(0x82, b"\x10\x0d\x00\x04")[..8]).unwrap();
    pinging.0.stream.write_all(&frame(0x89, b"x")).unwrap();
    assert_eq!(pinging.0.frame().unwrap().0, 0x8A);
    for client in [&mut silent, &mut half, &mut pinging] {
        client.0.closes(1000);
    }
}

#[test]
fn clients_over_websocket_take_no_places_of_http() {
    let config = format!(
        "{OPEN}max-connections = 2\n[mqtt]\nlisten = []\nanonymous = true\nwebsocket = \"/mqtt\"\n"
    )
    .replace(
        "[auth]\nanonymous-queries = true\nmax-connections = 2\n",
        "max-connections = 2\n[auth]\nanonymous-queries = true\n",
    );
    let broker = Broker(Running::start(&open(), &config));
    let mut clients: Vec<_> = (0..20).map(|n| broker.client(&format!("c{n}"))).collect();
    for _ in 0..20 {
        assert_eq!(broker.0.get("/healthz", "").0, 200);
    }
    for client in &mut clients {
        client.send("C0:");
        client.expect("D0:");
    }
}

#[test]
fn strangers_over_websocket_push_out_no_client() {
    let broker = Broker::start("");
    let mut client = broker.client("c1");
    let crowd: Vec<_> = (0..1100).map(|_| broker.open()).collect();
    client.send("C0:");
    client.expect("D0:");
    drop(crowd);
}

#[test]
fn a_slow_reader_over_websocket_is_closed() {
    let broker = Broker::start("");
    let (mut slow, mut publisher) = (broker.client("slow"), broker.client("publisher"));
    slow.send("82: 0001 'a/b' 00");
    slow.expect("90: 0001 00");
    let message = packet(&format!("30: 'a/b' {}", "00".repeat(60_000)));
    let slow_ended = "wardgate_mqtt_ended_total{cause=\"slow\"} 1\n";
    for sent in 0.. {
        assert!(sent < 2_000);
        for _ in 0..10 {
            publisher.0.write_all(&message).unwrap();
        }
        if broker.0.get("/metrics", "").1.contains(slow_ended) {
            break;
        }
    }
    publisher.send("C0:");
    publisher.expect("D0:");
}

#[test]
fn a_server_that_stops_closes_websocket() {
    let broker = Broker::start("");
    let mut client = broker.open();
    client.send("10: 'MQTT' 05 02 003C 00 'c1'");
    client.expect("20: 00 00 0D 24 01 22 0010 21 0040 27 00040000");
    broker.0.shared.stop();
    client.expect("E0: 8B");
    client.0.closes(1000);
}

/// A gate that speaks WebSocket, and the broker behind it.
fn gate(policy: &str, config: &str) -> (Running, TcpListener) {
    let broker = TcpListener::bind("127.0.0.1:0").unwrap();
    let upstream = broker.local_addr().unwrap();
    let config = format!(
        "[http]\nlisten = \"127.0.0.1:0\"\n{config}\n[auth]\nanonymous-queries = true\n\
         [[auth.tokens]]\nname = \"asker\"\nfile = \"asker\"\n\
         [mqtt]\nlisten = []\nwebsocket = \"/mqtt\"\n[mqtt.gate]\nupstream = \"{upstream}\"\n"
    );
    (Running::start(policy, &config), broker)
}

#[test]
fn the_gate_is_reached_over_websocket() {
    let (server, broker) = gate(&usual(), "");
    let mut client = End(Web::over(connected(server.address)));
    client.send(&format!("10: 'MQTT' 05 C2 003C 00 'c1' 'ada' '{ASKER}'"));
    let mut broker = End::of(broker.accept().unwrap().0);
    broker.expect("10: 'MQTT' 05 82 003C 05 27 00041000 'c1' 'ada'");
    broker.send("20: 00 00 00");
    client.expect("20: 00 00 08 21 0040 27 00040000");
    client.send("34: 'a/b' 0001 00 01");
    broker.expect("34: 'a/b' 0001 00 01");
    client.send("32: 'a/c' 0002 00 01");
    client.expect("40: 0002 87");
    client.send("82: 0003 00 'b/+' 00 'a/#' 01");
    broker.expect("82: 0003 00 'a/#' 01");
    broker.send("90: 0003 00 01");
    client.expect("90: 0003 00 87 01");
    // Rights are withdrawn there, too.
    server.bundle.lock().unwrap().clone_from(&compiled(&policy("true", &[])));
    block_on(server.shared.reload()).unwrap();
    client.expect("E0: 87");
    client.0.closes(1000);
    broker.ends();
}

#[test]
fn certificates_of_https_are_proofs_over_websocket() {
    let tls = format!(
        "[http.tls]\ncertificate = \"{}\"\nkey = \"{}\"\nclient-ca = \"{}\"",
        pem("server.pem").display(),
        pem("server.key").display(),
        pem("ca.pem").display()
    );
    let connect =
        "P.id == \"certificate\" && P.attr.certificate != \"\" && P.attr.address == \"127.0.0.1\"";
    let (server, broker) = gate(&policy(connect, &[("publish", "true")]), &tls);
    let mut client = End(Web::over(encrypted(server.address, true).0));
    client.send("10: 'MQTT' 04 02 003C 'c1'");
    let mut broker = End::of(broker.accept().unwrap().0);
    broker.expect("10: 'MQTT' 04 02 003C 'c1'");
    broker.send("20: 00 00");
    client.expect("20: 00 00");
    client.send("30: 'a' 01");
    broker.expect("30: 'a' 01");
    let mut client = End(Web::over(encrypted(server.address, false).0));
    client.send("10: 'MQTT' 04 02 003C 'c1'");
    client.expect("20: 00 04");
}
