use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::time::Duration;

use wardgate_bundle::AfterExpiry;
use wardgate_mqtt::broker::Slow;
use wardgate_mqtt::gate::Deliver;

use wardgate_native::decision_log::EvidenceForm;
use wardgate_native::limited::Share;

use super::{
    Behind, Config, Filter, KeysAt, KeysUrl, Location, Remote, ShippingTarget, StatesIn, Subscribe,
};

fn parse(text: &str) -> Result<Config, String> {
    Config::parse(text, Path::new("/etc/wardgate")).map_err(|error| error.to_string())
}

fn refused(text: &str, expected: &str) {
    assert_eq!(parse(text).map(drop).unwrap_err(), expected, "{text}");
}

/// Checks refusals. A case has two lines: the configuration, whose lines end with `; ` and in which
/// `LEAST` and `RULES` stand for the constants of these names, and the message.
#[track_caller]
fn refuses(cases: &str) {
    let lines = cases.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines: Vec<&str> = lines.collect();
    let (pairs, []) = lines.as_chunks::<2>() else { panic!("a case has two lines: {cases}") };
    for [config, message] in pairs {
        let config = config.replace("LEAST", LEAST.trim_end()).replace("RULES", RULES.trim_end());
        refused(&format!("{}\n", config.replace("; ", "\n")), message);
    }
}

const LEAST: &str = "[policies]\nbundle = \"p.wgb\"\ntrust = \"unsigned\"\n";
const RULES: &str = "[spocp]\nrules = \"rules\"\nanonymous-queries = true\n";

#[test]
fn a_minimal_configuration_is_accepted() {
    let config = parse(LEAST).unwrap();
    assert_eq!(config.http.listen, ["127.0.0.1:3592"]);
    assert_eq!(
        config.policies.unwrap().location,
        Location::Bundle(PathBuf::from("/etc/wardgate/p.wgb"))
    );
    assert!(config.http.tls.is_none());
    assert!(parse(&format!("\u{feff}{}", LEAST.replace('\n', "\r\n"))).is_ok());
}

#[test]
fn a_decision_log_has_evidence_if_told() {
    let parse = |rest: &str| {
        let section = "[decision-log]\nfolder = \"log\"\nkey-file = \"log.key\"\n";
        parse(&format!("{LEAST}{section}{rest}")).map(|config| config.decision_log.unwrap())
    };
    let log = parse("").unwrap();
    assert_eq!((log.folder, log.evidence), ("/etc/wardgate/log".into(), EvidenceForm::Absent));
    for (name, form) in [
        ("absent", EvidenceForm::Absent),
        ("committed", EvidenceForm::Commitment),
        ("clear", EvidenceForm::Clear),
    ] {
        assert_eq!(parse(&format!("evidence = \"{name}\"\n")).unwrap().evidence, form);
    }
    let expected = "line 7: `decision-log.evidence` must be `absent`, `committed`, `clear`";
    assert_eq!(parse("evidence = \"pseudonym\"\n").unwrap_err(), expected);
}

#[test]
fn a_decision_log_records_spocp_and_mqtt() {
    let section = "[decision-log]\nfolder = \"log\"\nkey-file = \"log.key\"\n";
    let config = parse(&format!("{RULES}{section}")).unwrap();
    assert!(config.spocp.is_some() && config.decision_log.is_some());
    let mqtt = "[mqtt]\nanonymous = true\n";
    assert!(parse(&format!("{LEAST}{section}{mqtt}")).unwrap().mqtt.is_some());
}

#[test]
fn a_decision_log_is_shipped_to_one_place() {
    let parse = |rest: &str| {
        let section = "[decision-log]\nfolder = \"log\"\nkey-file = \"log.key\"\n";
        let parsed = parse(&format!("{LEAST}{section}[decision-log.ship]\n{rest}"));
        parsed.map(|config| config.decision_log.unwrap().shipping.unwrap())
    };
    let shipping = parse("folder = \"copies\"\n").unwrap();
    assert_eq!((shipping.checkpoint.as_secs(), shipping.values), (60, false));
    assert!(
        matches!(shipping.target, ShippingTarget::Folder(at) if at == Path::new("/etc/wardgate/copies"))
    );
    let shipping = parse("url = \"https://a/{name}\"\ntoken-environment = \"TOKEN\"\n").unwrap();
    assert!(matches!(shipping.target, ShippingTarget::Store(_)));
    for (rest, expected) in [
        ("", "must have one of `folder`, `url` and `url-file`"),
        ("folder = \"a\"\nurl = \"b\"\n", "must have one of `folder`, `url` and `url-file`"),
        ("url = \"a\"\nurl-file = \"b\"\n", "has both `url` and `url-file`"),
        (
            "url = \"a\"\ntoken-file = \"b\"\ntoken-environment = \"c\"\n",
            "has both `token-file` and `token-environment`",
        ),
        ("folder = \"a\"\ntimeout-seconds = 1\n", "has options of a store beside `folder`"),
    ] {
        assert_eq!(parse(rest).unwrap_err(), format!("`[decision-log.ship]` {expected}"));
    }
}

#[test]
fn a_log_that_is_shipped_has_segments_of_an_hour() {
    let section = "[decision-log]\nfolder = \"log\"\nkey-file = \"log.key\"\n";
    let parse = |rest: &str| {
        let parsed = parse(&format!("{LEAST}{section}{rest}"));
        parsed.map(|config| config.decision_log.unwrap())
    };
    let log = parse("").unwrap();
    assert_eq!((log.segment_time, log.reserve, log.also_ed25519), (None, 16 << 20, false));
    let ship = "[decision-log.ship]\nfolder = \"copies\"\n";
    let minutes = |rest: &str| parse(rest).unwrap().segment_time.unwrap().as_secs() / 60;
    assert_eq!(minutes(ship), 60);
    assert_eq!(minutes(&format!("segment-minutes = 5\n{ship}")), 5);
    assert_eq!(minutes("segment-minutes = 1440\n"), 1440);
    let log = parse("reserve-bytes = 0\nalso-ed25519 = true\n").unwrap();
    assert_eq!((log.reserve, log.also_ed25519), (0, true));
    assert!(parse("segment-minutes = 0\n").is_err());
    assert!(parse("reserve-bytes = 1073741825\n").is_err());
}

#[test]
fn a_filter_is_a_word_or_a_share() {
    let parse = |rest: &str| {
        let section = "[decision-log]\nfolder = \"log\"\nkey-file = \"log.key\"\n";
        let parsed = parse(&format!("{LEAST}{section}{rest}"));
        parsed.map(|config| config.decision_log.unwrap().filter)
    };
    assert_eq!(parse(""), Ok(Filter::All));
    assert_eq!(parse("filter = \"denied\"\n"), Ok(Filter::Denied));
    assert_eq!(parse("filter = { sample = 0.01 }\n"), Ok(Filter::Sample(0.01)));
    let check = |text: &str, expected: &str| assert_eq!(parse(text).unwrap_err(), expected);
    check("filter = {}\n", "`sample` is missing in `[decision-log.filter]`");
    check("filter = 1\n", "line 7: `decision-log.filter` must be text that is not empty");
    check(
        "filter = { sample = 2 }\n",
        "line 7: `decision-log.filter.sample` must be a number from 0 to 1",
    );
    check("filter = \"some\"\n", "line 7: `decision-log.filter` must be `all`, `denied`");
}

#[test]
fn records_of_a_decision_log_are_exported_in_bounded_batches() {
    let parse = |rest: &str| {
        let section = "[decision-log]\nfolder = \"log\"\nkey-file = \"log.key\"\n";
        let parsed = parse(&format!("{LEAST}{section}[decision-log.otlp]\n{rest}"));
        parsed.map(|config| config.decision_log.unwrap().export.unwrap())
    };
    let export = parse("endpoint = \"http://127.0.0.1:4318\"\n").unwrap();
    assert_eq!((export.batch, export.interval.as_secs()), (512, 5));
    assert_eq!(parse("").unwrap_err(), "`endpoint` is missing in `[decision-log.otlp]`");
    let expected = "line 9: `decision-log.otlp.max-batch` must be a whole number from 1 to 16384";
    assert_eq!(parse("endpoint = \"a\"\nmax-batch = 0\n").unwrap_err(), expected);
}

#[test]
fn a_decision_log_has_witnesses_if_told() {
    let parse = |rest: &str| {
        let section = "[decision-log]\nfolder = \"log\"\nkey-file = \"log.key\"\n";
        parse(&format!("{LEAST}{section}{rest}"))
            .map(|config| config.decision_log.unwrap().witnesses)
    };
    assert!(parse("").unwrap().is_none());
    let witnesses = parse("[decision-log.witness]\npolicy = \"witnesses\"\n").unwrap().unwrap();
    assert_eq!(witnesses.policy, PathBuf::from("/etc/wardgate/witnesses"));
    assert_eq!((witnesses.ca, witnesses.timeout.as_secs()), (None, 5));
    let missing = parse("[decision-log.witness]\n").unwrap_err();
    assert_eq!(missing, "`policy` is missing in `[decision-log.witness]`");
    let long = "[decision-log.witness]\npolicy = \"witnesses\"\ntimeout-seconds = 61\n";
    let expected =
        "line 9: `decision-log.witness.timeout-seconds` must be a whole number from 1 to 60";
    assert_eq!(parse(long).unwrap_err(), expected);
}

#[test]
fn unknown_keys_are_refused_with_a_guess() {
    refused(
        &format!("[http]\nlisen = \"a\"\n{LEAST}"),
        "line 2: unknown key `lisen` in `[http]`; did you mean `listen`?",
    );
    refused(&format!("[htpp]\n{LEAST}"), "line 1: unknown key `htpp`; did you mean `http`?");
    refused(&format!("{LEAST}colour = 1\n"), "line 4: unknown key `colour` in `[policies]`");
    refused(
        &format!("{LEAST}[http.tls]\ncertificate = \"a\"\nkey = \"b\"\ncleint-ca = \"c\"\n"),
        "line 7: unknown key `cleint-ca` in `[http.tls]`; did you mean `client-ca`?",
    );
}

#[test]
fn a_misspelt_key_is_reported_before_a_missing_one() {
    refuses(
        r#"
        LEAST; [[auth.tokens]]; name = "a"; fiel = "t"
            line 6: unknown key `fiel` in `[auth.tokens]`; did you mean `file`?
        LEAST; [[auth.tokens]]
            `file` is missing in `[auth.tokens]`
        [http]; lisen = "a"
            line 2: unknown key `lisen` in `[http]`; did you mean `listen`?
        LEAST; [auth.jwt]; key = "k"; issuer = "i"
            line 5: unknown key `key` in `[auth.jwt]`; did you mean `keys`?
        LEAST; [http.tls]; certifcate = "c"
            line 5: unknown key `certifcate` in `[http.tls]`; did you mean `certificate`?
        [policies]; bundel = "p"
            line 2: unknown key `bundel` in `[policies]`; did you mean `bundle`?
    "#,
    );
}

#[test]
fn wrong_values_are_named() {
    refused("", "`[policies]` or `[spocp]` is required: decisions come from one of them");
    refuses(
        r#"
        [policies]
            `[policies]` must have `bundle`, `url` or `directory`, and one of them only
        [policies]; bundle = 1
            line 2: `policies.bundle` must be text that is not empty
        [server]; threads = 0; LEAST
            line 2: `server.threads` must be a whole number from 1 to 1024
        [server]; awake-microseconds = 1001; LEAST
            line 2: `server.awake-microseconds` must be a whole number from 0 to 1000
        [server]; log = "loud"; LEAST
            line 2: `server.log` must be `error`, `warn`, `info`, `debug`
        http = 1; LEAST
            line 1: `http` must be a table
        LEAST; [http.tls]; key = "b"
            `certificate` is missing in `[http.tls]`
        LEAST; [http]; max-body-bytes = 99999999999999999999
            line 5: `http.max-body-bytes` must be a whole number from 1 to 1073741824
    "#,
    );
    assert!(parse("[policies").unwrap_err().starts_with("line 1: "));
}

#[test]
fn bundles_need_trusted_keys_or_unsigned() {
    let expected = "`bundle` in `[policies]` needs `trust`: the public keys of those who may sign it, or `\"unsigned\"`";
    for trust in ["", "trust = []\n"] {
        refused(&format!("[policies]\nbundle = \"p.wgb\"\n{trust}"), expected);
    }
    assert!(parse(LEAST).unwrap().policies.unwrap().is_unsigned);
    let policies = parse("[policies]\nbundle = \"p\"\ntrust = [\"a\", \"unsigned\"]\n")
        .unwrap()
        .policies
        .unwrap();
    assert!(!policies.is_unsigned);
    assert_eq!(policies.trust, ["/etc/wardgate/a", "/etc/wardgate/unsigned"].map(PathBuf::from));
    refuses(
        r#"
        [policies]; url = "https://a.example/p.wgb"; trust = "unsigned"
            `url` in `[policies]` needs `trust`: bundles from a URL must be signed by a trusted key
        [policies]; directory = "d"; trust = "unsigned"
            `trust` in `[policies]` is for a bundle, not for a `directory`
    "#,
    );
}

#[test]
fn options_without_effect_are_refused() {
    refuses(
        r#"
        [policies]; directory = "d"; trust = ["k"]
            `trust` in `[policies]` is for a bundle, not for a `directory`
        [policies]; url = "https://a.example/p.wgb"
            `url` in `[policies]` needs `trust`: bundles from a URL must be signed by a trusted key
        LEAST; url-token = "t"
            `url-ca` and `url-token` in `[policies]` need `url`
        LEAST; at-least = 2
            `at-least` and `require` in `[policies]` need `trust`, the keys to choose from
        LEAST; [http.tls]; certificate = "a"; key = "b"; require-client-certificate = true
            `require-client-certificate` needs `client-ca`, the roots of those certificates
    "#,
    );
}

#[test]
fn keys_of_tokens_are_in_one_place() {
    let jwt =
        |keys: &str| parse(&format!("{LEAST}[auth.jwt]\nissuer = \"i\"\naudience = \"a\"\n{keys}"));
    let url = "url = \"https://a.example/keys\"\nurl-ca = \"ca\"\n";
    let read = |keys: &str| jwt(keys).unwrap().auth.jwt.unwrap().keys;
    assert_eq!(read("keys = \"k\"\n"), KeysAt::File(PathBuf::from("/etc/wardgate/k")));
    let remote = Remote {
        url: "https://a.example/keys".to_owned(),
        ca: Some(PathBuf::from("/etc/wardgate/ca")),
        token: None,
    };
    let (refresh, keep) = (Duration::from_secs(300), Duration::from_secs(86_400));
    assert_eq!(read(url), KeysAt::Url(KeysUrl { remote: remote.clone(), refresh, keep }));
    let (refresh, keep) = (Duration::from_secs(10), Duration::from_secs(11));
    let soon = format!("{url}refresh-seconds = 10\nkeep-seconds = 11\n");
    assert_eq!(read(&soon), KeysAt::Url(KeysUrl { remote, refresh, keep }));
    let check = |keys: &str, expected: &str| {
        assert_eq!(jwt(keys).map(drop).unwrap_err(), expected, "{keys}");
    };
    let both = "`[auth.jwt]` must have `keys` or `url`, and one of them only";
    check("", both);
    check(&format!("keys = \"k\"\n{url}"), both);
    check(
        "keys = \"k\"\nurl-ca = \"ca\"\n",
        "`url-ca`, `refresh-seconds` and `keep-seconds` in `[auth.jwt]` need `url`",
    );
    check(
        &url.replace("https", "http"),
        "`url` in `[auth.jwt]` must begin with `https://`: without TLS an attacker on the network could replace the keys",
    );
    check(
        "url = \"https://a.example/keys\"\n",
        "`url` in `[auth.jwt]` needs `url-ca`, the roots of that server",
    );
    check(
        &format!("{url}keep-seconds = 299\n"),
        "`keep-seconds` in `[auth.jwt]` must not be less than `refresh-seconds`",
    );
    check(
        &format!("{url}refresh-seconds = 9\n"),
        "line 9: `auth.jwt.refresh-seconds` must be a whole number from 10 to 86400",
    );
    refused(
        &format!("{LEAST}[[aux-data.key-sets]]\nid = \"a\"\n"),
        "`[aux-data.key-sets]` must have `file` or `url`, and one of them only",
    );
}

#[test]
fn spocp_is_off_without_its_table() {
    assert!(parse(LEAST).unwrap().spocp.is_none());
    let spocp = parse(&format!("{LEAST}{RULES}")).unwrap().spocp.unwrap();
    assert_eq!(spocp.listen, ["127.0.0.1:4751"]);
    assert_eq!(spocp.rules, [PathBuf::from("/etc/wardgate/rules")]);
    assert!(spocp.changes.is_none());
}

#[test]
fn rules_alone_are_a_server() {
    let config = parse(RULES).unwrap();
    assert!(config.policies.is_none() && config.http.listen.is_empty());
    assert_eq!(config.watch(), Duration::ZERO);
    let config =
        parse(&format!("{RULES}[http]\n[auth]\n[authzen]\nindex = \"i\"\n[authzen.rules]\n"))
            .unwrap();
    assert_eq!(config.http.listen, ["127.0.0.1:3592"]);
    assert_eq!(config.watch(), Duration::from_secs(5));
    refuses(
        r#"
        [spocp]; anonymous-queries = true
            `[spocp]` without `[policies]` needs `rules` or `changes`
        RULES; [authzen.rules]
            `[authzen]` needs `[http]`, which is off by default without `[policies]`
        RULES; [http]; [authzen]; index = "i"
            `[authzen]` needs `[policies]` or `[authzen.rules]`, which decide its requests
        RULES; [http]; [aux-data]
            `[aux-data]` needs `[policies]`, whose conditions read tokens
        [polices]; bundle = "b"; RULES
            line 1: unknown key `polices`; did you mean `policies`?
    "#,
    );
}

#[test]
fn unusable_options_of_spocp_are_refused() {
    refuses(
        r#"
        LEAST; [spocp]
            no client may query: `[spocp]` must have `anonymous-queries`, `admin-tokens` or `client-ca`
        LEAST; [spocp]; admin-tokens = "t"
            `admin-tokens` in `[spocp]` needs `[spocp.tls]`, or `auth-without-tls = true`
        LEAST; [spocp]; admin-names = "a"; [spocp.tls]; certificate = "a"; key = "b"
            `admin-names` in `[spocp]` needs `client-ca` in `[spocp.tls]`
        LEAST; [spocp]; tls-from-start = true
            `tls-from-start` in `[spocp]` needs `[spocp.tls]`
        LEAST; [spocp]; anonymous-queries = true; sync-milliseconds = 100
            `sync-milliseconds` in `[spocp]` needs `changes`
        LEAST; [spocp]; max-message-bytes = 99999999
            line 5: `spocp.max-message-bytes` must be a whole number from 64 to 1114112
        LEAST; [spocp]; change = "c"
            line 5: unknown key `change` in `[spocp]`; did you mean `changes`?
    "#,
    );
}

#[test]
fn mqtt_is_off_without_its_table() {
    assert!(parse(LEAST).unwrap().mqtt.is_none());
    let least = "[mqtt]\nanonymous = true\n[mqtt.gate]\nupstream = \"127.0.0.1:1884\"\n";
    let mqtt = parse(&format!("{LEAST}{least}")).unwrap().mqtt.unwrap();
    assert_eq!(
        (mqtt.listen.as_slice(), mqtt.max_clients),
        (&["127.0.0.1:1883".to_owned()][..], 10_000)
    );
    assert!(!mqtt.auth_without_tls && mqtt.tls.is_none());
    assert!(matches!(mqtt.broker, Behind::Other { pass_password: false, .. }));
    let own = |rest: &str| {
        parse(&format!("{LEAST}[mqtt]\nanonymous = true\n{rest}")).unwrap().mqtt.unwrap().broker
    };
    for text in ["", "[mqtt.broker]\n"] {
        let usual = matches!(
            own(text),
            Behind::Own {
                slow: Slow::Close,
                retained_messages: 10_000,
                retained_bytes: 67_108_864,
                keep_alive: None,
            }
        );
        assert!(usual, "{text}");
    }
    let given = own(
        "[mqtt.broker]\nslow = \"drop\"\nretained-messages = 1\nretained-bytes = 2\nkeep-alive-seconds = 60\n",
    );
    let Behind::Own { slow: Slow::Drop, retained_messages: 1, retained_bytes: 2, keep_alive } =
        given
    else {
        panic!("{given:?}")
    };
    assert_eq!(keep_alive.map(NonZeroU16::get), Some(60));
}

#[test]
fn a_part_of_a_filter_needs_each_delivery_decided() {
    let mqtt = |broker: &str| {
        let text = format!("{LEAST}[mqtt]\nanonymous = true\n[mqtt.broker]\n{broker}\n");
        let mqtt = parse(&text).unwrap().mqtt.unwrap();
        (mqtt.subscribe, mqtt.deliver)
    };
    assert_eq!(mqtt(""), (Subscribe::Whole, Deliver::Subscribed));
    assert_eq!(mqtt("deliver = \"each\""), (Subscribe::Whole, Deliver::Each));
    assert_eq!(mqtt("subscribe = \"whole\""), (Subscribe::Whole, Deliver::Subscribed));
    assert_eq!(mqtt("subscribe = \"part\""), (Subscribe::Part, Deliver::Each));
    assert_eq!(mqtt("subscribe = \"part\"\ndeliver = \"each\""), (Subscribe::Part, Deliver::Each));
}

#[test]
fn websocket_is_off_unless_it_has_a_path() {
    let mqtt = |keys: &str| {
        parse(&format!("{LEAST}[mqtt]\nanonymous = true\n{keys}\n")).unwrap().mqtt.unwrap()
    };
    assert!(mqtt("").websocket.is_none());
    let given = mqtt("websocket = \"/mqtt\"");
    assert_eq!(given.listen, ["127.0.0.1:1883"]);
    let websocket = given.websocket.unwrap();
    assert_eq!((websocket.path.as_str(), websocket.origins), ("/mqtt", None));
    let given = mqtt(
        "listen = []\nwebsocket = \"/\"\norigins = [\"https://a.example:8443\", \"http://[::1]\"]",
    );
    assert!(given.listen.is_empty());
    assert_eq!(given.websocket.unwrap().origins.unwrap().len(), 2);
    // Without WebSocket there must be a listener.
    assert_eq!(mqtt("listen = []").listen, ["127.0.0.1:1883"]);
}

#[test]
fn unusable_options_of_mqtt_are_refused() {
    refuses(
        r#"
        LEAST; [mqtt]; anonymous = true; [mqtt.gate]; upstream = "a:1"; [mqtt.broker]
            `[mqtt.gate]` and `[mqtt.broker]` exclude each other
        LEAST; [mqtt]; anonymous = true; [mqtt.broker]; upstream = "a:1"
            line 7: unknown key `upstream` in `[mqtt.broker]`
        LEAST; [mqtt]; anonymous = true; [mqtt.broker]; slow = "wait"
            line 7: `mqtt.broker.slow` must be `close`, `drop`
        LEAST; [mqtt]; anonymous = true; [mqtt.gate]
            `upstream` is missing in `[mqtt.gate]`
        LEAST; [mqtt]; [mqtt.gate]; upstream = "a:1"
            no client may connect: `[mqtt]` must have `anonymous` or `client-ca`, or `[auth]` tokens
        RULES; [mqtt]; anonymous = true; [mqtt.gate]; upstream = "a:1"
            `[mqtt]` needs `[policies]`, which decide its requests
        LEAST; [mqtt]; anonymous = true; [mqtt.gate]; upstream = "a:1"; denied = "ignore"
            line 8: `mqtt.gate.denied` must be `close`, `drop`
        LEAST; [mqtt]; max-packet-bytes = 63; [mqtt.gate]; upstream = "a:1"
            line 5: `mqtt.max-packet-bytes` must be a whole number from 64 to 268435460
        LEAST; [mqtt]; anonymous = true; [mqtt.broker]; keep-alive-seconds = 0
            line 7: `mqtt.broker.keep-alive-seconds` must be a whole number from 1 to 65535
        LEAST; [mqtt]; anonymous = true; [mqtt.broker]; subscribe = "some"
            line 7: `mqtt.broker.subscribe` must be `whole`, `part`
        LEAST; [mqtt]; anonymous = true; [mqtt.gate]; upstream = "a:1"; subscribe = "part"; deliver = "subscribed"
            `subscribe = "part"` decides each message, so `deliver` must be `each` or absent
        LEAST; [mqtt]; anonymous = true; websocket = "mqtt"
            `mqtt.websocket` must be a path such as `/mqtt`, of letters, digits and `-._~/`
        LEAST; [mqtt]; anonymous = true; websocket = "/m?x"
            `mqtt.websocket` must be a path such as `/mqtt`, of letters, digits and `-._~/`
        LEAST; [mqtt]; anonymous = true; websocket = ""
            line 6: `mqtt.websocket` must be text that is not empty
        LEAST; [mqtt]; anonymous = true; origins = "https://a.example"
            `mqtt.origins` needs `mqtt.websocket`, the path of WebSocket
        LEAST; [mqtt]; anonymous = true; websocket = "/m"; origins = ["https://a.example", "b.example"]
            `mqtt.origins` must have origins such as `https://app.example.com`, and not `b.example`
        LEAST; [mqtt]; anonymous = true; websocket = "/m"; origins = "https://a.example/"
            `mqtt.origins` must have origins such as `https://app.example.com`, and not `https://a.example/`
        LEAST; [mqtt]; listn = "a:1"; [mqtt.gate]; upstream = "a:1"
            line 5: unknown key `listn` in `[mqtt]`; did you mean `listen`?
    "#,
    );
}

#[test]
fn policies_decide_after_their_expiry_only_if_configured() {
    let after =
        |rest: &str| parse(&format!("{LEAST}{rest}")).unwrap().policies.unwrap().after_expiry;
    assert_eq!(after(""), AfterExpiry::Deny);
    assert_eq!(after("after-expiry = \"deny\"\n"), AfterExpiry::Deny);
    assert_eq!(after("after-expiry = \"decide\"\n"), AfterExpiry::Decide);
    refused(
        "[policies]\ndirectory = \"d\"\nafter-expiry = \"deny\"\n",
        "`after-expiry` in `[policies]` is for a bundle, not for a `directory`",
    );
}

#[test]
fn traces_are_off_without_their_table() {
    assert!(parse(LEAST).unwrap().traces.is_none());
    let least = "[traces]\nendpoint = \"http://localhost:4318\"\n";
    let traces = parse(&format!("{LEAST}{least}headers = \"h\"\n")).unwrap().traces.unwrap();
    assert_eq!((traces.service.as_str(), traces.ratio), ("wardgate", 1.0));
    assert_eq!((traces.queue, traces.batch), (2048, 512));
    assert_eq!(traces.headers, Some(PathBuf::from("/etc/wardgate/h")));
    let check = |rest: &str, expected: &str| refused(&format!("{LEAST}{least}{rest}\n"), expected);
    check("max-queue = 511", "`max-batch` in `[traces]` must be at most `max-queue`");
    for ratio in ["1.1", "-0.1", "nan", "inf", "\"1\"", "0x1", "true"] {
        let ratio = format!("sample-ratio = {ratio}");
        check(&ratio, "line 6: `traces.sample-ratio` must be a number from 0 to 1");
    }
    check("ratio = 1", "line 6: unknown key `ratio` in `[traces]`");
    refused(&format!("{LEAST}[traces]\n"), "`endpoint` is missing in `[traces]`");
}

#[test]
fn the_url_of_the_server_is_one_that_callers_may_trust() {
    let with = |url: &str, listen: &str| {
        format!("{LEAST}[http]\nlisten = {listen}\n[authzen]\nurl = \"{url}\"\n")
    };
    let (loopback, elsewhere) = (r#"["127.0.0.1:1", "[::1]:1", "localhost:1"]"#, r#""0.0.0.0:1""#);
    let url = |text: &str| parse(text).unwrap().authzen.url.unwrap();
    assert_eq!(url(&with("https://pdp.example/tenant/", elsewhere)), "https://pdp.example/tenant");
    assert_eq!(url(&with("http://localhost:3592", loopback)), "http://localhost:3592");
    let plain = "`authzen.url` must begin with `https`: `http` is only for a server that listens at loopback addresses";
    refused(&with("http://localhost:3592", elsewhere), plain);
    refused(&with("http://localhost:3592", r#"["127.0.0.1:1", "0.0.0.0:1"]"#), plain);
    refused(&with("http://localhost:3592", "\"systemd\""), plain);
    let rest = "`authzen.url` must be a URL without query and fragment";
    refused(&with("https://pdp.example?a=1", elsewhere), rest);
    refused(&with("https://pdp.example/#a", elsewhere), rest);
    for wrong in ["pdp.example", "ftp://pdp.example", "https://me@pdp.example", "https://a b"] {
        let expected = format!(
            "`authzen.url`: expected a URL such as `https://example.com/file`, found `{wrong}`"
        );
        refused(&with(wrong, elsewhere), &expected);
    }
}

#[test]
fn limits_are_in_memory_or_in_redis() {
    let read =
        |text: &str| parse(&format!("{LEAST}[ratelimit]\n{text}\n")).unwrap().ratelimit.unwrap();
    assert!(parse(LEAST).unwrap().ratelimit.is_none());
    let least = read("");
    assert_eq!((least.store, least.keys, least.legacy_headers), (StatesIn::Memory, 100_000, false));
    let one = read("store = \"redis://10.0.0.5:6379/1\"\npassword-file = \"pw\"\nshare = 0.25");
    assert_eq!(one.store, StatesIn::Redis { address: "redis://10.0.0.5:6379/1".to_owned() });
    assert_eq!(one.password, Some(PathBuf::from("/etc/wardgate/pw")));
    assert_eq!(Some(one.share), Share::new(250));
    let cluster = read("store = [\"redis://a\", \"redis://b\"]\ncluster = true");
    assert!(matches!(cluster.store, StatesIn::Cluster { addresses } if addresses.len() == 2));
}

#[test]
fn wrong_limits_are_refused() {
    refuses(
        r#"
        RULES; [ratelimit]
        `[ratelimit]` needs `[policies]`, which have the limits
        LEAST; [ratelimit]; stor = "memory"
        line 5: unknown key `stor` in `[ratelimit]`; did you mean `store`?
        LEAST; [ratelimit]; store = "10.0.0.5:6379"
        `ratelimit.store` must be `memory`, or addresses like `redis://127.0.0.1:6379`, `rediss://redis.example:6380` or `unix:///run/redis.sock`
        LEAST; [ratelimit]; store = "redis://:secret@10.0.0.5"
        `ratelimit.store` must have no user and no password: they are `user` and `password-file`
        LEAST; [ratelimit]; store = "redis://10.0.0.5"; password = "secret"
        `password` in `[ratelimit]`: passwords are in files, give one with `password-file`
        LEAST; [ratelimit]; store = "rediss://:secret@10.0.0.5"
        `ratelimit.store` must have no user and no password: they are `user` and `password-file`
        LEAST; [ratelimit]; store = "redis://10.0.0.5"; ca-file = "ca.pem"
        `ratelimit.ca-file` is for TLS: `store` must be an address like `rediss://redis.example:6380`
        LEAST; [ratelimit]; ca-file = "ca.pem"
        `ca-file` in `[ratelimit]` is for Redis: `store` must be an address of it, such as `redis://127.0.0.1:6379`
        LEAST; [ratelimit]; store = ["redis://a", "redis://b"]
        `ratelimit.store` has several addresses, which are nodes of a cluster: say `cluster = true`
        LEAST; [ratelimit]; share = 0.5
        `share` in `[ratelimit]` is for Redis: `store` must be an address of it, such as `redis://127.0.0.1:6379`
        LEAST; [ratelimit]; store = "redis://a"; share = 0
        `ratelimit.share` must be a number from 0.001 to 1
        "#,
    );
}
