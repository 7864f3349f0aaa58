//! Running scripts.

use fastrand::Rng;
use wardgate_mqtt::gate::{
    Deliver, Denied, Gate, Judge, Message, Password, Settings, Steps, Verdict,
};
use wardgate_mqtt::packet::{Connect, Reason, Subscription};
use wardgate_mqtt::{Filter, Name, overlap};

use super::notation::{packet, plain};

/// Runs a script in all its ways.
pub(crate) fn script(text: &str) {
    Run::new(text, Pieces::Lines).all();
    Run::new(text, Pieces::Bytes).all();
    for seed in 0..5 {
        Run::new(text, Pieces::Random(Rng::with_seed(seed))).all();
    }
    Run::new(text, Pieces::Rows).all();
}

/// Denies what shares a name with a filter of its list.
#[derive(Default)]
pub(crate) struct Rules {
    denied: Vec<(String, String)>,
    pub(crate) assigned: Vec<String>,
}

impl Rules {
    pub(crate) fn deny(&mut self, action: &str, filter: &str) {
        self.denied.push((action.to_owned(), filter.to_owned()));
    }

    fn allow(&mut self, action: &str, filter: &str) {
        self.denied.retain(|(a, f)| (a.as_str(), f.as_str()) != (action, filter));
    }

    fn denies(&self, action: &str, shares: impl Fn(Filter<'_>) -> bool) -> bool {
        let mut rules = self.denied.iter().filter(|(a, _)| a == action);
        rules.any(|(_, filter)| shares(Filter::new(filter).unwrap()))
    }

    fn name(&self, action: &str, name: Name<'_>) -> Verdict {
        verdict(self.denies(action, |filter| filter.matches(name)))
    }

    fn filter(&self, action: &str, asked: Filter<'_>) -> Verdict {
        verdict(self.denies(action, |filter| overlap(filter, asked)))
    }
}

fn verdict(is_denied: bool) -> Verdict {
    if is_denied { Verdict::Deny } else { Verdict::Allow }
}

impl Judge for Rules {
    fn connect(&mut self, connect: &Connect<'_>) -> Result<(), Reason> {
        let id = connect.client_id;
        if self.denied.iter().any(|(action, denied)| action == "connect" && denied == id) {
            return Err(Reason::NOT_AUTHORIZED);
        }
        if connect.password == Some(b"wrong") {
            return Err(Reason::BAD_USER_NAME_OR_PASSWORD);
        }
        Ok(())
    }

    fn stay(&mut self) -> Verdict {
        verdict(self.denied.iter().any(|(action, _)| action == "stay"))
    }

    fn assigned(&mut self, client_id: &str) {
        self.assigned.push(client_id.to_owned());
    }

    fn will(&mut self, will: &Message<'_>) -> Verdict {
        self.name("will", will.topic)
    }

    fn publish(&mut self, message: &Message<'_>) -> Verdict {
        let is_large = message.size > 9 && self.denied.iter().any(|(action, _)| action == "large");
        if is_large { Verdict::Deny } else { self.name("publish", message.topic) }
    }

    fn receive(&mut self, message: &Message<'_>) -> Verdict {
        self.name("receive", message.topic)
    }

    fn subscribe(&mut self, subscription: &Subscription<'_>) -> Verdict {
        self.filter("subscribe", subscription.filter)
    }

    fn unsubscribe(&mut self, filter: Filter<'_>) -> Verdict {
        self.filter("unsubscribe", filter)
    }
}

/// How the bytes of a script are fed.
enum Pieces {
    Lines,
    Bytes,
    Random(Rng),
    /// Lines of one side in a row, with nothing but packets out between them.
    Rows,
}

struct Run<'t> {
    lines: Vec<&'t str>,
    pieces: Pieces,
    rules: Rules,
    gate: Gate,
    found: Steps,
    expected: Steps,
    end: Option<String>,
    at: &'t str,
}

impl<'t> Run<'t> {
    fn new(text: &'t str, pieces: Pieces) -> Self {
        let mut settings = Settings::default();
        let mut lines = Vec::new();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            match line.strip_prefix("set ") {
                Some(rest) => set(&mut settings, rest),
                None => lines.push(line),
            }
        }
        Self {
            lines,
            pieces,
            rules: Rules::default(),
            gate: Gate::new(settings, 0),
            found: Steps::default(),
            expected: Steps::default(),
            end: None,
            at: "",
        }
    }

    fn all(mut self) {
        let lines = core::mem::take(&mut self.lines);
        let mut row: Option<(u8, Vec<u8>)> = None;
        for line in lines {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            match word {
                "c" | "s" | "c*" | "s*" | "c>" | "s<" => {
                    let bytes = if word.ends_with('*') { plain(rest) } else { packet(rest) };
                    let side = word.as_bytes()[0];
                    match &mut row {
                        Some((same, all)) if *same == side => all.extend(&bytes),
                        _ => {
                            self.feed_row(&mut row);
                            row = Some((side, bytes.clone()));
                        }
                    }
                    if !matches!(self.pieces, Pieces::Rows) {
                        self.feed_row(&mut row);
                    }
                    // What comes out is checked before the next event.
                    self.at = line;
                    match word {
                        "c>" => self.expected.to_server.extend(&bytes),
                        "s<" => self.expected.to_client.extend(&bytes),
                        _ => {}
                    }
                }
                ">" => self.expected.to_server.extend(packet(rest)),
                "<" => self.expected.to_client.extend(packet(rest)),
                "x" => self.end = Some(rest.to_owned()),
                _ => {
                    self.feed_row(&mut row);
                    self.check();
                    self.at = line;
                    self.event(word, rest);
                }
            }
        }
        self.feed_row(&mut row);
        self.check();
        let end = self.found.close.map(|close| format!("{:02x} {close}", close.reason.0));
        assert_eq!(end, self.end, "after {}", self.at);
    }

    /// Feeds what one side sends; in rows, its output is checked at the end of the row.
    fn feed_row(&mut self, row: &mut Option<(u8, Vec<u8>)>) {
        let Some((side, bytes)) = row.take() else { return };
        if !matches!(self.pieces, Pieces::Rows) {
            self.check();
        }
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let piece = match &mut self.pieces {
                Pieces::Lines | Pieces::Rows => rest.len(),
                Pieces::Bytes => 1,
                Pieces::Random(random) => random.usize(1..=rest.len()),
            };
            let (piece, after) = rest.split_at(piece);
            match side {
                b'c' => self.gate.from_client(piece, &mut self.rules, &mut self.found),
                _ => self.gate.from_server(piece, &mut self.rules, &mut self.found),
            }
            rest = after;
        }
    }

    fn event(&mut self, word: &str, rest: &'t str) {
        let (gate, rules, found) = (&mut self.gate, &mut self.rules, &mut self.found);
        match (word, rest) {
            ("deny", _) => {
                let (action, filter) = rest.split_once(' ').unwrap_or((rest, "#"));
                rules.deny(action, filter);
            }
            ("allow", _) => {
                let (action, filter) = rest.split_once(' ').unwrap_or((rest, "#"));
                rules.allow(action, filter);
            }
            ("connect4", _) => {
                gate.from_client(&packet("10: 'MQTT' 04 02 003C 'c'"), rules, found);
                gate.from_server(&packet("20: 00 00"), rules, found);
                *found = Steps::default();
            }
            ("connect5", _) => {
                // Each side has aliases up to 4.
                gate.from_client(&packet("10: 'MQTT' 05 02 003C 03 220004 'c'"), rules, found);
                gate.from_server(&packet("20: 00 00 03 220004"), rules, found);
                *found = Steps::default();
            }
            ("tick", millis) => gate.tick(millis.parse().unwrap(), found),
            ("reconsider", _) => gate.reconsider(rules, found),
            ("lost", "client") => gate.client_lost(rules, found),
            ("lost", "server") => gate.server_lost(found),
            ("close", code) => gate.close(Reason(u8::from_str_radix(code, 16).unwrap()), found),
            ("assigned", id) => assert_eq!(rules.assigned, [id]),
            _ => panic!("{word} {rest}"),
        }
    }

    fn check(&mut self) {
        assert_eq!(hex(&self.found.to_server), hex(&self.expected.to_server), "after {}", self.at);
        assert_eq!(hex(&self.found.to_client), hex(&self.expected.to_client), "after {}", self.at);
        let is_over = self.found.close.is_some();
        assert_eq!(is_over, self.end.is_some(), "after {}: {:?}", self.at, self.found.close);
    }
}

fn set(settings: &mut Settings, rest: &str) {
    let (name, value) = rest.split_once(' ').unwrap();
    let number = || value.parse::<u16>().unwrap();
    match (name, value) {
        ("denied", "drop") => settings.denied = Denied::Drop,
        ("deliver", "each") => settings.deliver = Deliver::Each,
        ("password", "remove") => settings.password = Password::Remove,
        ("packet", _) => settings.limits.packet_bytes = number().into(),
        ("aliases", _) => settings.limits.aliases = number(),
        ("receive-maximum", _) => settings.limits.receive_maximum = number(),
        ("subscriptions", _) => settings.limits.subscriptions = number(),
        _ => panic!("{rest}"),
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        text.push_str(&format!("{byte:02x} "));
    }
    text
}
