//! A server with rules of SPOCP, and a client of its protocol.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};

use crate::folder::Folder;

pub(super) const TOKEN: &str = "0123456789abcdef";

pub(super) const POLICIES: &str = r#"
[policies]
directory = "policies"
watch-seconds = 0
[http]
listen = "127.0.0.1:0"
"#;

pub(super) const RULES: &str = r#"
[spocp]
listen = "127.0.0.1:0"
rules = "rules"
changes = "changes"
admin-tokens = "admins"
"#;

/// A configuration for anonymous queries, with changes by administrators without TLS.
pub(super) const OPEN: &str = r#"
anonymous-queries = true
auth-without-tls = true
max-connections = 100
"#;

/// A server that is killed at the end of the test.
pub(super) struct Running {
    pub(super) child: Child,
    pub(super) address: SocketAddr,
}

impl Running {
    pub(super) fn start(folder: &Folder) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_wardgate"))
            .args(["serve", "--config"])
            .arg(folder.path().join("wardgate.toml"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut addresses = lines.map_while(Result::ok).filter_map(|line| {
            line.strip_prefix("SPOCP at ").map(|address| address.parse().unwrap())
        });
        let address = addresses.next().unwrap();
        Self { child, address }
    }

    pub(super) fn client(&self) -> Client {
        Client::connect(self.address)
    }

    pub(super) fn administrator(&self) -> Client {
        let mut client = self.client();
        client.say(&message(&[b"AUTH", b"SASL:PLAIN", format!("\0eva\0{TOKEN}").as_bytes()]));
        assert_eq!(client.reply().unwrap(), "200 Ok");
        client
    }

    pub(super) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

pub(super) struct Client {
    pub(super) writer: TcpStream,
    pub(super) reader: BufReader<TcpStream>,
}

impl Client {
    pub(super) fn connect(address: SocketAddr) -> Self {
        let writer = TcpStream::connect(address).unwrap();
        let reader = BufReader::new(writer.try_clone().unwrap());
        Self { writer, reader }
    }

    pub(super) fn say(&mut self, bytes: &[u8]) {
        self.writer.write_all(bytes).unwrap();
    }

    /// Returns the values of the next reply, with blanks between them; `None` if the connection has
    /// ended.
    pub(super) fn reply(&mut self) -> Option<String> {
        let body = self.value()?;
        let (mut rest, mut values) = (body.as_slice(), Vec::new());
        while !rest.is_empty() {
            let colon = rest.iter().position(|byte| *byte == b':').unwrap();
            let length: usize = std::str::from_utf8(&rest[..colon]).unwrap().parse().unwrap();
            values.push(String::from_utf8_lossy(&rest[colon + 1..colon + 1 + length]).into_owned());
            rest = &rest[colon + 1 + length..];
        }
        Some(values.join(" "))
    }

    pub(super) fn value(&mut self) -> Option<Vec<u8>> {
        let mut length = Vec::new();
        self.reader.read_until(b':', &mut length).ok()?;
        let digits = length.strip_suffix(b":")?;
        let length: usize = std::str::from_utf8(digits).unwrap().parse().unwrap();
        let mut body = vec![0; length];
        self.reader.read_exact(&mut body).ok()?;
        Some(body)
    }

    pub(super) fn send(&mut self, values: &[&[u8]]) -> String {
        self.say(&message(values));
        self.reply().unwrap()
    }

    /// The texts of all rules, sorted.
    pub(super) fn list(&mut self) -> Vec<String> {
        self.say(&message(&[b"LIST"]));
        let mut rules = Vec::new();
        loop {
            let line = self.reply().unwrap();
            match line.strip_prefix("201 / ") {
                Some(line) => rules.push(line[33..].to_owned()),
                None => break assert_eq!(line, "200 Ok"),
            }
        }
        rules.sort();
        rules
    }
}

pub(super) fn message(values: &[&[u8]]) -> Vec<u8> {
    let mut body = Vec::new();
    for value in values {
        write!(body, "{}:", value.len()).unwrap();
        body.extend_from_slice(value);
    }
    [format!("{}:", body.len()).as_bytes(), &body].concat()
}

pub(super) fn folder() -> Folder {
    folder_with(&[POLICIES, RULES, OPEN])
}

pub(super) fn folder_with(config: &[&str]) -> Folder {
    let folder = Folder::with_photos();
    folder.write("wardgate.toml", config.concat());
    folder.write("admins", format!("eva:{TOKEN}\n"));
    folder.write(
        "rules/base.spoc",
        "\u{feff}# what everybody may\r\n(4:base3:one)\r\n(base two)\r\n",
    );
    folder
}
