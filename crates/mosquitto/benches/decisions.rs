//! Answers of the plugin, without mosquitto.
//!
//! `cargo bench -p wardgate-mosquitto`. Each answer is checked before it is timed. Times are the
//! least of several rounds.

#![expect(
    clippy::unwrap_used,
    clippy::as_conversions,
    reason = "a measurement that cannot go on fails"
)]

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use base64ct::{Base64UrlUnpadded, Encoding};
use ring::hmac;
use wardgate_bundle::pack;
use wardgate_compiler::{Options as CompileOptions, compile_files};
use wardgate_mosquitto::{Access, Answer, Client, Message, Options, Plugin};
use wardgate_native::SystemClock;

fn main() {
    let folder = std::env::temp_dir().join(format!("wardgate-bench-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    println!("{:<44} {:>10}", "ns for each", "");
    for count in [10, 1000] {
        fs::write(folder.join("bundle"), bundle(count)).unwrap();
        rows(&folder, count);
    }
    fs::remove_dir_all(&folder).unwrap();
}

fn rows(folder: &Path, rules: usize) {
    let begin = Instant::now();
    let mut broker = Plugin::open(&options(folder, false), &SystemClock).unwrap();
    row(rules, "opening the bundle", begin.elapsed().as_nanos() as f64);
    decisions(&mut broker, rules, "user name");
    fs::write(folder.join("keys"), keys()).unwrap();
    let mut tokens = Plugin::open(&options(folder, true), &SystemClock).unwrap();
    let token = token();
    let mut connect =
        || assert_eq!(tokens.authenticate(&CLIENT, Some(&token), &SystemClock), accepted());
    connect();
    row(rules, "CONNECT with a token (HS256)", best(100, connect));
    decisions(&mut tokens, rules, "token");
    let start = Instant::now();
    row(rules, "TICK that looks at nothing", best(20_000, || broker.tick(start, &SystemClock)));
}

fn decisions(plugin: &mut Plugin, rules: usize, proof: &str) {
    let publish = |topic| Access::Publish(Message { topic, size: 64, ..Message::default() });
    let cases = [
        ("PUBLISH, allowed", publish("device/gear/state"), true),
        ("PUBLISH, denied", publish("unknown/topic/here"), false),
        ("SUBSCRIBE, allowed", Access::Subscribe("device/gear/+", 0), true),
    ];
    for (name, access, expected) in cases {
        let mut ask = || plugin.allows(&CLIENT, black_box(&access), &SystemClock);
        assert_eq!(ask(), expected, "{name}");
        let time = best(20_000, || assert_eq!(ask(), expected));
        row(rules, &format!("{name}, {proof}"), time);
    }
}

fn row(rules: usize, name: &str, time: f64) {
    println!("{:<44} {time:>10.0}", format!("{rules} rules: {name}"));
}

fn best(times: u32, mut run: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..20 {
        let start = Instant::now();
        (0..times).for_each(|_| run());
        best = best.min(start.elapsed().as_nanos() as f64 / f64::from(times));
    }
    best
}

fn options(folder: &Path, has_tokens: bool) -> Options {
    let file = |name: &str| folder.join(name).display().to_string();
    let (bundle, keys) = (file("bundle"), file("keys"));
    let mut pairs = vec![("bundle", bundle.as_str()), ("trust", "unsigned")];
    if has_tokens {
        pairs.extend([("keys", keys.as_str()), ("issuer", "issuer"), ("audience", "broker")]);
    }
    Options::read(pairs.into_iter()).unwrap()
}

/// Compiles so many rules for as many roles, of which the client has the last.
fn bundle(count: usize) -> Vec<u8> {
    let head = |kind: &str| {
        format!(
            "apiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  version: default\n  resource: \"mqtt:{kind}\"\n  rules:\n"
        )
    };
    let mut topic = head("topic");
    for number in 1..=count {
        let role = if number == count { "client".to_owned() } else { format!("role{number}") };
        topic.push_str(&format!(
            "    - {{ actions: [publish, subscribe], effect: EFFECT_ALLOW, roles: [{role}], condition: {{ match: {{ expr: 'R.attr.topic.matchesTopic(\"device/{{}}/#\", [P.attr.clientId])' }} }} }}\n"
        ));
    }
    let client =
        head("client") + "    - { actions: [connect], effect: EFFECT_ALLOW, roles: [client] }\n";
    let files = [("client.yaml".to_owned(), client), ("topic.yaml".to_owned(), topic)];
    let files = files.map(|(name, text)| (name, text.into_bytes()));
    pack(&compile_files(&files, &CompileOptions::default()).unwrap().parts)
}

fn keys() -> String {
    let key = Base64UrlUnpadded::encode_string(SECRET);
    format!(r#"{{"keys":[{{"kty":"oct","kid":"a","alg":"HS256","k":"{key}"}}]}}"#)
}

fn token() -> String {
    let end = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() + 3600;
    let claims = format!(r#"{{"iss":"issuer","aud":"broker","sub":"ada","exp":{end}}}"#);
    let encoded = |text: &str| Base64UrlUnpadded::encode_string(text.as_bytes());
    let text = format!("{}.{}", encoded(r#"{"alg":"HS256","kid":"a"}"#), encoded(&claims));
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, SECRET), text.as_bytes());
    format!("{text}.{}", Base64UrlUnpadded::encode_string(tag.as_ref()))
}

fn accepted() -> Answer {
    Answer::Accept("ada".to_owned())
}

const CLIENT: Client<'_> = Client {
    id: "gear",
    name: Some("ada"),
    address: Some("127.0.0.1"),
    level: 4,
    keep_alive: 60,
    clean_start: true,
};

const SECRET: &[u8] = b"a secret of this benchmark only, long enough";
