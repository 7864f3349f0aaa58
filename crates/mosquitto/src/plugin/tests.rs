use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use base64ct::{Base64UrlUnpadded, Encoding};
use ring::hmac;
use wardgate_bundle::Level::MlDsa44 as Level44;
use wardgate_bundle::{KeyId, Label, pack_as, sign};
use wardgate_compiler::{Options as CompileOptions, compile_files};
use wardgate_crypto::ml_dsa::SigningKey;
use wardgate_native::Timestamp;

use super::*;
use crate::request::Message;

/// A plugin whose files are in a folder of their own.
struct Bench {
    folder: PathBuf,
    plugin: Plugin,
    now: Timestamp,
    looks: Instant,
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Bench {
    fn new(name: &str, rules: &str, has_tokens: bool) -> Self {
        let folder = std::env::temp_dir().join(format!("wardgate-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("bundle"), bundle(rules, &Label::default())).unwrap();
        fs::write(folder.join("keys"), keys("a")).unwrap();
        let plugin = Plugin::open(&options(&folder, has_tokens), &at(NOW)).unwrap();
        Self { folder, plugin, now: at(NOW), looks: Instant::now() }
    }

    fn connect(&mut self, client: &Client<'_>, password: Option<&str>) -> Answer {
        self.plugin.authenticate(client, password, &self.now)
    }

    fn allows(&mut self, client: &Client<'_>, access: Access<'_>) -> bool {
        self.plugin.allows(client, &access, &self.now)
    }

    /// Replaces a file, and looks until the plugin may have read it.
    fn replace(&mut self, file: &str, content: &[u8]) {
        // Another file in its place, as a program that replaces it would do.
        fs::write(self.folder.join("new"), content).unwrap();
        fs::rename(self.folder.join("new"), self.folder.join(file)).unwrap();
        self.look();
        self.look();
    }

    fn look(&mut self) {
        self.looks += Duration::from_secs(1);
        self.plugin.tick(self.looks, &self.now);
    }

    fn lines(&mut self) -> String {
        let lines = self.plugin.take_lines();
        let lines: Vec<_> = lines.into_iter().map(|line| line.text).collect();
        lines.join("\n").replace(&self.folder.display().to_string(), "")
    }
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

fn bundle(rules: &str, label: &Label) -> Vec<u8> {
    let policy = |kind: &str, rules: &str| {
        let text = format!(
            "apiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  version: default\n  resource: \"mqtt:{kind}\"\n  rules:\n{rules}"
        );
        (format!("{kind}.yaml"), text.into_bytes())
    };
    let files = [policy("client", CONNECT), policy("topic", rules)];
    let compiled = compile_files(&files, &CompileOptions::default()).unwrap();
    pack_as(&compiled.parts, label).unwrap()
}

fn keys(id: &str) -> String {
    let key = Base64UrlUnpadded::encode_string(SECRET);
    format!(r#"{{"keys":[{{"kty":"oct","kid":"{id}","alg":"HS256","k":"{key}"}}]}}"#)
}

/// Returns a token for the broker that ends an hour after [`NOW`], with more members.
fn token(subject: &str, more: &str) -> String {
    let end = NOW + 3600;
    signed(&format!(r#"{{"iss":"issuer","aud":"broker","sub":"{subject}","exp":{end}{more}}}"#))
}

fn signed(claims: &str) -> String {
    let encoded = |text: &str| Base64UrlUnpadded::encode_string(text.as_bytes());
    let text = format!("{}.{}", encoded(r#"{"alg":"HS256","kid":"a"}"#), encoded(claims));
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, SECRET), text.as_bytes());
    format!("{text}.{}", Base64UrlUnpadded::encode_string(tag.as_ref()))
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::new(seconds, 0).unwrap()
}

fn client<'c>(id: &'c str, name: Option<&'c str>) -> Client<'c> {
    Client { id, name, address: Some("::1"), level: 4, keep_alive: 60, clean_start: true }
}

fn publish(topic: &str) -> Access<'_> {
    Access::Publish(Message { topic, ..Message::default() })
}

fn receive(topic: &str) -> Access<'_> {
    Access::Receive(Message { topic, ..Message::default() })
}

fn accepted(name: &str) -> Answer {
    Answer::Accept(name.to_owned())
}

const NOW: i64 = 1_790_000_000;
const SECRET: &[u8] = b"a secret of this test only, long enough";

/// Everybody may connect, but not under the id `banned`.
const CONNECT: &str = "
    - { actions: [connect], effect: EFFECT_ALLOW, roles: ['*'] }
    - { actions: [connect], effect: EFFECT_DENY, roles: ['*'], condition: { match: { expr: R.id == 'banned' } } }
";

const RULES: &str = "
    - actions: [publish, subscribe, receive, unsubscribe]
      effect: EFFECT_ALLOW
      roles: [client]
      condition: { match: { expr: 'R.attr.topic.matchesTopic([\"news/#\", \"shared/+\"])' } }
    - actions: [publish]
      effect: EFFECT_ALLOW
      roles: [client]
      condition: { match: { expr: 'R.attr.topic.matchesTopic(\"devices/{}/#\", [P.attr.clientId])' } }
    - { actions: [publish], effect: EFFECT_ALLOW, roles: [admin] }
    - actions: [receive]
      effect: EFFECT_ALLOW
      roles: [anonymous]
      condition: { match: { expr: 'R.attr.topic.matchesTopic(\"public/#\")' } }
    - actions: [publish]
      effect: EFFECT_ALLOW
      roles: [partner]
      condition: { match: { expr: 'R.attr.topic.matchesTopic(request.auxData.jwt.topics)' } }
";

const NEWS_NO_MORE: &str = "
    - actions: [publish, subscribe, receive, unsubscribe]
      effect: EFFECT_ALLOW
      roles: [client]
      condition: { match: { expr: 'R.attr.topic.matchesTopic(\"shared/+\")' } }
";

#[test]
fn a_name_that_mosquitto_verifies_is_deferred_and_decided() {
    let mut bench = Bench::new("deferred", RULES, false);
    let ada = client("one", Some("ada"));
    assert_eq!(bench.connect(&ada, Some("secret")), Answer::Defer);
    assert_eq!(bench.connect(&client("banned", Some("ada")), Some("secret")), Answer::Refuse);
    assert_eq!(bench.connect(&client("one", None), None), Answer::Defer);
    assert!(bench.allows(&ada, publish("news/a")));
    assert!(bench.allows(&ada, receive("news/a")));
    assert!(!bench.allows(&ada, publish("public/a")));
    assert!(!bench.allows(&client("one", None), publish("news/a")));
    assert!(bench.allows(&client("one", None), receive("public/a")));
    assert!(bench.lines().contains("the client `banned` is refused: the policies do not allow it"));
}

#[test]
fn subscriptions_are_decided_as_a_whole() {
    let mut bench = Bench::new("filters", RULES, false);
    let mut check = |filter: &str, expected: bool| {
        let ada = client("one", Some("ada"));
        assert_eq!(bench.allows(&ada, Access::Subscribe(filter, 0)), expected, "{filter}");
        assert_eq!(bench.allows(&ada, Access::Unsubscribe(filter)), expected, "{filter}");
    };
    check("news/#", true);
    check("news/+/today", true);
    check("shared/+", true);
    check("$share/group/news/#", true);
    check("$share/group/#", false);
    check("$share/g/$share/h/news/#", false);
    check("#", false);
    check("+/a", false);
    check("shared/#", false);
    check("$SYS/#", false);
    check("news/#/a", false);
}

#[test]
fn client_ids_with_wildcards_widen_nothing() {
    let mut bench = Bench::new("wildcards", RULES, false);
    assert!(bench.allows(&client("one", Some("ada")), publish("devices/one/x")));
    assert!(!bench.allows(&client("two", Some("ada")), publish("devices/one/x")));
    for id in ["#", "+", "one/#", "+/x", ""] {
        assert!(!bench.allows(&client(id, Some("ada")), publish("devices/one/x")), "{id}");
        assert!(!bench.allows(&client(id, Some("ada")), publish(&format!("devices/{id}/x"))));
    }
}

#[test]
fn a_withdrawn_right_ends_deliveries_of_a_subscription() {
    let mut bench = Bench::new("withdrawn", RULES, false);
    let ada = client("one", Some("ada"));
    assert!(bench.allows(&ada, Access::Subscribe("news/#", 0)));
    assert!(bench.allows(&ada, receive("news/a")));
    bench.lines();
    bench.replace("bundle", &bundle(NEWS_NO_MORE, &Label::default()));
    assert!(!bench.allows(&ada, receive("news/a")));
    assert!(bench.allows(&ada, receive("shared/a")));
    assert!(bench.lines().ends_with("is in use, revision 0, signatures are not verified"));
}

#[test]
fn the_last_good_bundle_stays() {
    let mut bench = Bench::new("good", RULES, false);
    let ada = client("one", Some("ada"));
    bench.lines();
    for content in [&b"nonsense"[..], &bundle(NEWS_NO_MORE, &Label::default())[..99], b""] {
        bench.replace("bundle", content);
        assert!(bench.allows(&ada, receive("news/a")));
        let lines = bench.lines();
        assert!(lines.starts_with("wardgate: the bundle `/bundle` is refused: "), "{lines}");
        assert!(lines.ends_with("; the last one stays in use"), "{lines}");
        bench.look();
        assert_eq!(bench.lines(), "");
    }
    fs::remove_file(bench.folder.join("bundle")).unwrap();
    bench.look();
    bench.look();
    assert!(bench.lines().starts_with("wardgate: cannot read `/bundle`: "));
    bench.plugin.reload(&at(NOW));
    assert!(bench.lines().starts_with("wardgate: cannot read `/bundle`: "));
    assert!(bench.allows(&ada, receive("news/a")));
}

#[test]
fn a_bundle_that_is_too_early_is_opened_in_its_time() {
    let mut bench = Bench::new("early", RULES, false);
    let ada = client("one", Some("ada"));
    let begin = u64::try_from(NOW).unwrap() + 10;
    let label = Label { not_before: Some(begin), expires: Some(begin + 5), ..Label::default() };
    bench.lines();
    bench.replace("bundle", &bundle(NEWS_NO_MORE, &label));
    assert!(bench.lines().contains("is refused: the bundle is valid from "));
    assert!(bench.allows(&ada, receive("news/a")));
    bench.now = at(NOW + 10);
    bench.look();
    assert!(bench.lines().contains("is in use"));
    assert!(!bench.allows(&ada, receive("news/a")));
    assert!(bench.allows(&ada, receive("shared/a")));
    bench.now = at(NOW + 15);
    bench.look();
    assert_eq!(bench.lines(), "wardgate: the bundle `/bundle` has expired: everything is denied");
    bench.look();
    assert_eq!(bench.lines(), "");
    assert!(!bench.allows(&ada, receive("shared/a")));
}

#[test]
fn only_trusted_keys_bring_policies_and_older_ones_never_return() {
    let folder = std::env::temp_dir().join(format!("wardgate-signed-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let [ann, eve] = [1, 2].map(|seed| SigningKey::from_seed(Level44, &[seed; 32]));
    let public = Base64UrlUnpadded::encode_string(&ann.public_key());
    let jwk = format!(r#"{{"kty":"AKP","alg":"ML-DSA-44","kid":"ann","pub":"{public}"}}"#);
    fs::write(folder.join("ann"), jwk).unwrap();
    let by = |signer: &SigningKey, rules: &str, revision: u64| {
        let label = Label { revision, ..Label::default() };
        sign(&bundle(rules, &label), &KeyId::new(b"ann").unwrap(), signer, None).unwrap()
    };
    let file = |name: &str| folder.join(name).display().to_string();
    let (path, keys) = (file("bundle"), file("ann"));
    let options = || {
        let pairs = [("bundle", path.as_str()), ("trust", keys.as_str()), ("min_revision", "5")];
        Options::read(pairs.into_iter()).unwrap()
    };
    for content in [bundle(RULES, &Label::default()), by(&eve, RULES, 9), by(&ann, RULES, 4)] {
        fs::write(&path, content).unwrap();
        assert!(Plugin::open(&options(), &at(NOW)).is_err());
    }
    fs::write(&path, by(&ann, RULES, 7)).unwrap();
    let plugin = Plugin::open(&options(), &at(NOW)).unwrap();
    let mut bench = Bench { folder, plugin, now: at(NOW), looks: Instant::now() };
    let ada = client("one", Some("ada"));
    assert!(bench.lines().ends_with("is in use, revision 7"));
    let unsigned = bundle(NEWS_NO_MORE, &Label { revision: 9, ..Label::default() });
    for content in [unsigned, by(&eve, NEWS_NO_MORE, 9), by(&ann, NEWS_NO_MORE, 6)] {
        bench.replace("bundle", &content);
        assert!(bench.lines().ends_with("; the last one stays in use"));
        assert!(bench.allows(&ada, receive("news/a")));
    }
    bench.replace("bundle", &by(&ann, NEWS_NO_MORE, 8));
    assert!(bench.lines().ends_with("is in use, revision 8"));
    assert!(!bench.allows(&ada, receive("news/a")));
}

#[test]
fn files_are_looked_at_once_a_second() {
    let mut bench = Bench::new("pace", RULES, false);
    bench.look();
    bench.lines();
    fs::write(bench.folder.join("bundle"), "nonsense").unwrap();
    for _ in 0..1000 {
        bench.plugin.tick(bench.looks, &at(NOW));
    }
    assert_eq!(bench.lines(), "");
    bench.look();
    bench.look();
    assert!(!bench.lines().is_empty());
}

#[test]
fn a_token_proves_its_subject_and_nothing_else_does() {
    let mut bench = Bench::new("tokens", RULES, true);
    let claimed = client("one", Some("root"));
    assert_eq!(bench.connect(&claimed, Some(&token("ada", ""))), accepted("ada"));
    assert_eq!(bench.connect(&client("one", None), Some(&token("ada", ""))), accepted("ada"));
    assert_eq!(bench.connect(&client("one", None), None), Answer::Defer);
    let mut refused = |client: Client<'_>, password: Option<&str>, why: &str| {
        bench.lines();
        assert_eq!(bench.connect(&client, password), Answer::Refuse, "{why}");
        let (lines, id) = (bench.lines(), client.id);
        assert_eq!(lines, format!("wardgate: the client `{id}` is refused: {why}"));
    };
    refused(claimed, None, "it has no token as its password");
    refused(
        claimed,
        Some("secret"),
        "its password is refused as a token: it is not a signed token",
    );
    refused(claimed, Some(""), "its password is refused as a token: it is not a signed token");
    refused(claimed, Some(&"a".repeat(9000)), "its token is too long");
    let other =
        "its token is of another issuer or for another audience, never expires, or has no subject";
    refused(claimed, Some(&signed(r#"{"iss":"issuer","aud":"broker","sub":"ada"}"#)), other);
    let end = NOW + 1;
    for claims in [
        format!(r#"{{"iss":"other","aud":"broker","sub":"ada","exp":{end}}}"#),
        format!(r#"{{"iss":"issuer","aud":"other","sub":"ada","exp":{end}}}"#),
        format!(r#"{{"iss":"issuer","aud":"broker","exp":{end}}}"#),
        format!(r#"{{"iss":"issuer","aud":"broker","sub":"","exp":{end}}}"#),
        format!(r#"{{"iss":"issuer","aud":"broker","sub":"a\u0000b","exp":{end}}}"#),
    ] {
        refused(claimed, Some(&signed(&claims)), other);
    }
    let gone = format!(r#"{{"iss":"issuer","aud":"broker","sub":"ada","exp":{NOW}}}"#);
    refused(claimed, Some(&signed(&gone)), "its password is refused as a token: it has expired");
    let ada = token("ada", "");
    refused(client("banned", None), Some(&ada), "the policies do not allow it");
}

#[test]
fn decisions_are_about_the_principal_of_the_token() {
    let mut bench = Bench::new("principal", RULES, true);
    let more = r#","roles":["admin"]"#;
    assert_eq!(bench.connect(&client("one", None), Some(&token("ada", more))), accepted("ada"));
    let more = r#","roles":["client","partner"],"topics":["own/+"]"#;
    assert_eq!(bench.connect(&client("two", None), Some(&token("bob", more))), accepted("bob"));
    assert!(bench.allows(&client("one", Some("ada")), publish("anything")));
    assert!(!bench.allows(&client("two", Some("bob")), publish("anything")));
    assert!(bench.allows(&client("two", Some("bob")), publish("own/a")));
    assert!(!bench.allows(&client("two", Some("bob")), publish("own/a/b")));
    assert!(bench.allows(&client("two", Some("bob")), publish("devices/two/x")));
    // Names and ids that did not come with a token.
    assert!(!bench.allows(&client("two", Some("ada")), publish("anything")));
    assert!(!bench.allows(&client("one", Some("bob")), publish("news/a")));
    assert!(!bench.allows(&client("one", None), publish("anything")));
    assert!(bench.allows(&client("one", None), receive("public/a")));
}

#[test]
fn rights_end_with_the_token() {
    let mut bench = Bench::new("end", RULES, true);
    let ada = client("one", Some("ada"));
    assert_eq!(bench.connect(&ada, Some(&token("ada", ""))), accepted("ada"));
    bench.now = at(NOW + 3599);
    assert!(bench.allows(&ada, receive("news/a")));
    bench.now = at(NOW + 3600);
    assert!(!bench.allows(&ada, receive("news/a")));
    assert!(!bench.allows(&ada, Access::Unsubscribe("news/a")));
}

#[test]
fn a_later_token_replaces_an_earlier_one() {
    let mut bench = Bench::new("later", RULES, true);
    let ada = client("one", Some("ada"));
    let more = r#","roles":["admin"]"#;
    assert_eq!(bench.connect(&ada, Some(&token("ada", more))), accepted("ada"));
    assert_eq!(bench.connect(&ada, Some("wrong")), Answer::Refuse);
    assert!(bench.allows(&ada, publish("anything")));
    assert_eq!(bench.connect(&ada, Some(&token("ada", ""))), accepted("ada"));
    assert!(!bench.allows(&ada, publish("anything")));
}

#[test]
fn keys_are_exchanged_and_wrong_ones_change_nothing() {
    let mut bench = Bench::new("keys", RULES, true);
    let ada = client("one", None);
    bench.lines();
    bench.replace("keys", b"nonsense");
    assert!(bench.lines().ends_with("; the last keys stay in use"));
    assert_eq!(bench.connect(&ada, Some(&token("ada", ""))), accepted("ada"));
    bench.replace("keys", keys("b").as_bytes());
    assert_eq!(bench.lines(), "wardgate: 1 keys of `/keys` are in use");
    assert_eq!(bench.connect(&ada, Some(&token("ada", ""))), Answer::Refuse);
    bench.replace("keys", keys("a").as_bytes());
    bench.plugin.reload(&at(NOW));
    assert_eq!(bench.connect(&ada, Some(&token("ada", ""))), accepted("ada"));
}

#[test]
fn a_plugin_without_good_files_does_not_open() {
    let folder = std::env::temp_dir().join(format!("wardgate-none-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let refused = |has_tokens: bool| {
        let why = Plugin::open(&options(&folder, has_tokens), &at(NOW)).map(drop).unwrap_err();
        why.replace(&folder.display().to_string(), "")
    };
    assert!(refused(false).starts_with("cannot read `/bundle`: "));
    fs::write(folder.join("bundle"), "nonsense").unwrap();
    assert_eq!(refused(false), "the bundle `/bundle` is refused: these bytes are not a bundle");
    fs::write(folder.join("bundle"), bundle(RULES, &Label::default())).unwrap();
    assert!(refused(true).starts_with("cannot read `/keys`: "));
    fs::write(folder.join("keys"), "[]").unwrap();
    assert_eq!(refused(true), "the keys `/keys` are refused: it is not a JSON Web Key");
    fs::remove_dir_all(&folder).unwrap();
}
