//! Decisions of rules of SPOCP that are recorded, over its own protocol and over AuthZEN.

use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;

use wardgate_decision_log::record::{Body, Effect, Evidence, Identity, Record};
use wardgate_decision_log::signer::LogSigner;
use wardgate_server::decision_log::{LogReader, verify};

use crate::decision_log::key;
use crate::log_searches;
use crate::reload::block_on;
use crate::running::{KEEPER, POLICY, Running, rest};

const CONFIG: &str = "[http]\nlisten = \"127.0.0.1:0\"\n[auth]\nanonymous-queries = true\n\
    [spocp]\nlisten = \"127.0.0.1:0\"\nanonymous-queries = true\nauth-without-tls = true\n\
    admin-tokens = \"keepers\"\nrules = \"rules.spoc\"\n[authzen.rules]\n\
    [decision-log]\nfolder = \"log\"\nkey-file = \"log.key\"\non-full = \"deny\"\n\
    principal = \"clear\"\nresource = \"clear\"\n";

const RULES: &str = "(album (id a)(action edit)(subject (type user)(id ada)))\n(album (id z))\n";

const ALLOWED: &str = "9:3:2002:Ok";
const DENIED: &str = "13:3:2026:Denied";
const FAILED: &str = "24:3:50016:Operations error";

fn start(keep: &str) -> Running {
    let key = LogSigner::text("log.example/a", &[7; 32]).unwrap();
    let config = format!("{CONFIG}keep = \"{keep}\"\n");
    Running::with_files(POLICY, &config, &[("log.key", &key), ("rules.spoc", RULES)])
}

/// Says these commands of SPOCP at once, and returns the replies.
fn say(server: &Running, commands: &[&[&str]]) -> String {
    let value = |text: &str| format!("{}:{text}", text.len());
    let message =
        |values: &&[&str]| value(&values.iter().map(|text| value(text)).collect::<String>());
    let said: String = commands.iter().chain([&&["LOGOUT"][..]]).map(message).collect();
    let mut stream = TcpStream::connect(server.spocp.unwrap()).unwrap();
    stream.write_all(said.as_bytes()).unwrap();
    rest(&mut stream)
}

fn evaluation(subject: &str) -> String {
    let subject = format!(r#"{{"type":"user","id":"{subject}"}}"#);
    format!(
        r#"{{"subject":{subject},"action":{{"name":"edit"}},"resource":{{"type":"album","id":"a"}}}}"#
    )
}

/// A decision by rules: principal, kind, action, resource, and whether it is allowed.
type Recorded = (String, String, String, String, bool);

/// Returns the decisions, the digest of the rules of each, and how many rules came into force.
fn recorded(folder: &Path) -> (Vec<Recorded>, Vec<[u8; 32]>, usize) {
    let mut reader = LogReader::open(folder).unwrap();
    let (mut targets, mut found) = (Vec::new(), Vec::new());
    let (mut rules, mut roots) = (Vec::new(), Vec::new());
    let text = |id: &Identity| match id {
        Identity::Clear(text) => text.as_str().to_owned(),
        other => panic!("{other:?}"),
    };
    while let Some(stored) = reader.next_frame().unwrap() {
        for bytes in stored.frame().unwrap().records {
            match Record::read(bytes).unwrap().body {
                Body::Policies(policies) if policies.name.as_str() == "spocp rules" => {
                    rules.push((policies.number, policies.root));
                }
                Body::Target(target) => targets.push(target),
                Body::Decision(decision) => {
                    let by = rules.iter().find(|(number, _)| *number == decision.policies);
                    roots.push(by.unwrap().1);
                    assert_eq!((decision.evidence, decision.outcomes.len()), (Evidence::None, 1));
                    let outcome = &decision.outcomes[0];
                    let target = targets.iter().rfind(|one| one.number == outcome.target).unwrap();
                    found.push((
                        text(&decision.principal),
                        target.kind.as_str().to_owned(),
                        target.action.as_str().to_owned(),
                        text(&decision.resource),
                        outcome.effect == Effect::Allowed,
                    ));
                }
                _ => {}
            }
        }
    }
    (found, roots, rules.len())
}

fn check(server: &mut Running, expected: &[(&str, &str, &str, &str, bool)]) {
    let log = server.folder.join("log");
    server.stop();
    let found = recorded(&log).0;
    let found: Vec<_> = found
        .iter()
        .map(|(principal, kind, action, resource, is_allowed)| {
            (&**principal, &**kind, &**action, &**resource, *is_allowed)
        })
        .collect();
    assert_eq!(found, expected);
    let verified = verify(&log, &key(), None, None).unwrap();
    let count = u64::try_from(expected.len()).unwrap();
    assert_eq!((verified.decisions, verified.lost, verified.unsealed), (count, 0, 0));
}

#[test]
fn queries_are_recorded_before_their_answers_leave() {
    for keep in ["system", "disk"] {
        let mut server = start(keep);
        let token = format!("\0keeper\0{KEEPER}");
        let replies = say(
            &server,
            &[
                &["QUERY", "(5:album(2:id1:z))"],
                &["QUERY", "(5:album(2:id1:y))"],
                &["QUERY", "(5:album"],
                &["AUTH", "SASL:PLAIN", &token],
                &["QUERY", "3:abc"],
            ],
        );
        let expected = [ALLOWED, DENIED, "20:3:40012:Syntax error", ALLOWED, DENIED];
        assert_eq!(replies, format!("{}10:3:2033:Bye", expected.concat()));
        check(
            &mut server,
            &[
                ("", "album", "query", "(5:album(2:id1:z))", true),
                ("", "album", "query", "(5:album(2:id1:y))", false),
                ("keeper", "", "query", "3:abc", false),
            ],
        );
    }
}

#[test]
fn evaluations_by_rules_are_recorded() {
    let mut server = start("system");
    let post = |path: &str, body: &str| server.post(&format!("/access/v1/{path}"), "", body);
    assert_eq!(post("evaluation", &evaluation("ada")).1, r#"{"decision":true}"#);
    let both = format!(r#"{{"evaluations":[{},{}]}}"#, evaluation("bo"), evaluation("ada"));
    assert_eq!(
        post("evaluations", &both).1,
        r#"{"evaluations":[{"decision":false},{"decision":true}]}"#
    );
    let text = |id: &str| {
        let length = id.len();
        format!(
            "(5:album(2:id1:a)(6:action4:edit)(7:subject(4:type4:user)(2:id{length}:{id}))(10:properties)(7:context))"
        )
    };
    let (ada, bo) = (text("ada"), text("bo"));
    check(
        &mut server,
        &[
            ("ada", "album", "edit", &ada, true),
            ("bo", "album", "edit", &bo, false),
            ("ada", "album", "edit", &ada, true),
        ],
    );
}

#[test]
fn searches_by_rules_are_recorded() {
    let mut server = start("system");
    let search = |kind: &str, body: &str| {
        let (status, text) = server.post(&format!("/access/v1/search/{kind}"), "", body);
        assert_eq!(status, 200, "{text}");
        text
    };
    let found = search(
        "subject",
        r#"{"subject":{"type":"user"},"action":{"name":"edit"},"resource":{"type":"album","id":"a"},
        "candidates":[{"id":"ada"},{"id":"bo"}]}"#,
    );
    assert!(found.contains("ada") && !found.contains("bo"), "{found}");
    // Without candidates, those that rules name.
    search(
        "resource",
        r#"{"subject":{"type":"user","id":"ada"},"action":{"name":"edit"},"resource":{"type":"album"}}"#,
    );
    search(
        "action",
        r#"{"subject":{"type":"user","id":"ada"},"resource":{"type":"album","id":"a"},
        "candidates":[{"name":"edit"},{"name":"view"}]}"#,
    );
    let log = server.folder.join("log");
    server.stop();
    let lines = [
        "album///edit: 1 of 2",
        "album///edit: 2 of 2",
        "ada album///edit a: true",
        "ada album///view a: false",
    ];
    assert_eq!(log_searches::recorded(&log), lines);
    let verified = verify(&log, &key(), None, None).unwrap();
    assert_eq!((verified.lost, verified.unsealed), (0, 0));
    let mut reader = LogReader::open(&log).unwrap();
    let (mut rules, mut by) = (None, Vec::new());
    while let Some(stored) = reader.next_frame().unwrap() {
        for bytes in stored.frame().unwrap().records {
            match Record::read(bytes).unwrap().body {
                Body::Policies(one) if one.name.as_str() == "spocp rules" => {
                    rules = Some(one.number);
                }
                Body::Search(one) => by.push(Some(one.policies)),
                Body::Decision(one) => by.push(Some(one.policies)),
                _ => {}
            }
        }
    }
    assert_eq!(by, [rules; 3]);
}

#[test]
fn nothing_is_answered_by_rules_without_a_record() {
    let server = start("system");
    let ask = |subject: &str| server.post("/access/v1/evaluation", "", &evaluation(subject));
    let query: &[&str] = &["QUERY", "(5:album(2:id1:z))"];
    assert_eq!(ask("ada").0, 200);
    // Another process could have the log now, so nothing is recorded.
    fs::remove_file(server.folder.join("log/.lock")).unwrap();
    let is_failing = (0..10_000).any(|_| ask("ada").0 == 503);
    assert!(is_failing);
    let malformed: &[&str] = &["QUERY", "("];
    let replies = say(&server, &[query, malformed, query]);
    assert_eq!(replies, format!("{FAILED}20:3:40012:Syntax error{FAILED}10:3:2033:Bye"));
    let (status, text) = ask("ada");
    assert_eq!((status, text.contains("log-full")), (503, true), "{text}");
    assert_eq!(server.get("/readyz", "").0, 503);
}

#[test]
fn rules_that_are_read_anew_have_another_number_and_digest() {
    let mut server = start("system");
    let query: &[&str] = &["QUERY", "(5:album(2:id1:z))"];
    assert!(say(&server, &[query]).starts_with(ALLOWED));
    fs::write(server.folder.join("rules.spoc"), "(photo)\n").unwrap();
    block_on(server.shared.reload()).unwrap();
    assert!(say(&server, &[query]).starts_with(DENIED));
    server.stop();
    let (found, roots, count) = recorded(&server.folder.join("log"));
    assert_eq!((found[0].4, found[1].4), (true, false));
    assert_eq!((count, roots.len()), (2, 2));
    assert_ne!(roots[0], roots[1]);
}
