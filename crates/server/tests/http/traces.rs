//! Traces: the spans of requests at a collector.

use std::io::Write;
use std::net::TcpStream;

use serde_json::Value;

use super::collector::{Collector, TAKEN, attribute};
use super::publisher::{pem, publishing, response};
use super::running::{KEEPER, POLICY, Running, rest};

const CALL: &str = r#"{"principal":{"id":"secret-ada","roles":["user"],"attr":{"a":"secret-b"}},"resources":[{"actions":["view","edit"],"resource":{"kind":"album","id":"secret-c"}},{"actions":["view"],"resource":{"kind":"album","id":"d"}}]}"#;

/// Runs requests at a server with traces, and returns the spans that the collector has at the end.
fn spans_of(more: &str, act: impl FnOnce(&Running)) -> Vec<Value> {
    let collector = Collector::saying(&[TAKEN]);
    let endpoint = collector.endpoint();
    let running = Running::start(
        POLICY,
        &format!(
            "[http]\nlisten = \"127.0.0.1:0\"\n[auth]\nanonymous-queries = true\n[[auth.tokens]]\nname = \"keeper\"\nfile = \"keeper\"\nadmin = true\n[traces]\nendpoint = \"{endpoint}\"\ninterval-seconds = 3600\n{more}"
        ),
    );
    act(&running);
    drop(running);
    collector.spans()
}

fn named<'s>(spans: &'s [Value], name: &str) -> &'s Value {
    spans.iter().find(|span| span["name"] == name).unwrap_or_else(|| panic!("{name}: {spans:?}"))
}

fn text<'s>(span: &'s Value, name: &str) -> &'s str {
    span[name].as_str().unwrap_or_default()
}

const PARENT: &str = "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n";

#[test]
fn a_request_is_a_span_in_the_trace_of_its_caller() {
    let headers = format!("{PARENT}tracestate: a=1\r\n");
    let spans = spans_of("", |server| {
        let (status, _) = server.post("/api/check/resources?secret=e", &headers, CALL);
        assert_eq!(status, 200);
    });
    let request = named(&spans, "POST /api/check/resources");
    let decision = named(&spans, "decide");
    for span in &spans {
        assert_eq!(text(span, "traceId"), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(text(span, "traceState"), "a=1");
        let time = |name| text(span, name).parse::<u64>().unwrap();
        assert!(time("startTimeUnixNano") <= time("endTimeUnixNano"));
        assert!(!span.to_string().contains("secret"), "{span}");
    }
    assert_eq!((spans.len(), &request["kind"], &decision["kind"]), (2, &2.into(), &1.into()));
    assert_eq!(text(request, "parentSpanId"), "00f067aa0ba902b7");
    assert_eq!(text(decision, "parentSpanId"), text(request, "spanId"));
    assert_eq!((&request["flags"], &decision["flags"]), (&769.into(), &257.into()));
    for time in ["startTimeUnixNano", "endTimeUnixNano"] {
        let times = (text(request, time), text(decision, time));
        let is_within = if time.starts_with('s') { times.0 <= times.1 } else { times.0 >= times.1 };
        assert!(is_within, "{time}: {times:?}");
    }
    for (span, name, expected) in [
        (request, "http.request.method", "POST"),
        (request, "http.route", "/api/check/resources"),
        (request, "http.response.status_code", "200"),
        (request, "url.path", "/api/check/resources"),
        (request, "url.scheme", "http"),
        (decision, "wardgate.policies.serial", "0"),
        (decision, "wardgate.resources", "2"),
        (decision, "wardgate.actions", "3"),
        (decision, "wardgate.allowed", "2"),
        (decision, "wardgate.denied", "1"),
    ] {
        assert_eq!(attribute(span, name).as_deref(), Some(expected), "{name}");
    }
}

#[test]
fn every_way_to_decide_is_counted() {
    let count = |path: &str, body: &str| {
        let spans = spans_of("", |server| assert_eq!(server.post(path, "", body).0, 200));
        let of = |name| attribute(named(&spans, "decide"), name).unwrap();
        ["wardgate.resources", "wardgate.allowed", "wardgate.denied"].map(of).join(" ")
    };
    let subject = r#""subject":{"type":"user","id":"ada","properties":{"roles":["user"]}}"#;
    let view = r#""action":{"name":"view"}"#;
    let evaluation = format!(r#"{{{subject},{view},"resource":{{"type":"album","id":"a"}}}}"#);
    assert_eq!(count("/access/v1/evaluation", &evaluation), "1 1 0");
    let spans_of = evaluation.replacen('{', r#"{"context":{"cerbos.includeMeta":true},"#, 1);
    assert_eq!(count("/access/v1/evaluation", &spans_of), "1 1 0");
    let several = format!(
        r#"{{{subject},{view},"evaluations":[{{"resource":{{"type":"album","id":"a"}}}},{{"resource":{{"type":"none","id":"a"}}}}]}}"#
    );
    assert_eq!(count("/access/v1/evaluations", &several), "2 1 1");
    let whole = CALL.replacen('{', r#"{"includeMeta":true,"#, 1);
    assert_eq!(count("/api/check/resources", &whole), "2 2 1");
    let set = r#"{"actions":["view","edit"],"principal":{"id":"ada","roles":["user"]},"resource":{"kind":"album","instances":{"a":{},"b":{}}}}"#;
    assert_eq!(count("/api/check", set), "2 2 2");
}

#[test]
fn the_origin_of_a_trace_decides_its_sampling() {
    let unsampled = PARENT.replace("-01\r\n", "-00\r\n");
    let count = |ratio: &str, headers: &str| {
        let more = format!("sample-ratio = {ratio}\n");
        spans_of(&more, |server| assert_eq!(server.get("/healthz", headers).0, 200)).len()
    };
    assert_eq!(count("1", ""), 1);
    assert_eq!(count("0", ""), 0);
    assert_eq!(count("0.0", PARENT), 1);
    assert_eq!(count("1.0", &unsampled), 0);
    assert_eq!(count("1.0", "traceparent: 00-nonsense-01\r\n"), 1);
}

#[test]
fn failures_have_their_status_and_their_code() {
    let spans = spans_of("", |server| {
        assert_eq!(server.post("/access/v1/evaluation", "", "{}").0, 400);
        assert_eq!(server.get(&format!("/nowhere/{}", "x".repeat(5000)), "").0, 404);
        let unusual = b"BREW / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        assert!(server.exchange(unusual).starts_with("HTTP/1.1 404"));
    });
    assert_eq!(attribute(named(&spans, "decide"), "error.type").as_deref(), Some("bad-request"));
    let request = named(&spans, "POST /access/v1/evaluation");
    assert_eq!(attribute(request, "http.response.status_code").as_deref(), Some("400"));
    let lost = named(&spans, "GET");
    assert_eq!(attribute(lost, "http.route"), None);
    assert_eq!(attribute(lost, "url.path").unwrap().len(), 256);
    let unusual = named(&spans, "HTTP");
    assert_eq!(attribute(unusual, "http.request.method").as_deref(), Some("_OTHER"));
    assert_eq!(attribute(unusual, "http.request.method_original").as_deref(), Some("BREW"));
    assert!(spans.iter().all(|span| span.get("status").is_none()), "{spans:?}");
}

#[test]
fn a_reload_is_a_span_within_its_request() {
    let headers = format!("{PARENT}Authorization: Bearer {KEEPER}\r\n");
    let spans = spans_of("", |server| {
        assert_eq!(server.post("/admin/reload", &headers, "").0, 200);
        server.bundle.lock().unwrap().clear();
        assert_eq!(server.post("/admin/reload", &headers, "").0, 409);
    });
    let reloads: Vec<&Value> = spans.iter().filter(|span| span["name"] == "reload").collect();
    let requests: Vec<&Value> =
        spans.iter().filter(|span| span["name"] == "POST /admin/reload").collect();
    assert_eq!((reloads.len(), requests.len()), (2, 2));
    for (reload, request) in reloads.iter().zip(&requests) {
        assert_eq!(text(reload, "parentSpanId"), text(request, "spanId"));
        assert_eq!(attribute(reload, "wardgate.reload.asked").as_deref(), Some("true"));
    }
    assert_eq!(reloads[0].get("status"), None);
    assert_eq!(reloads[1]["status"]["code"], 2);
    assert_eq!(attribute(reloads[1], "error.type").as_deref(), Some("not-reloaded"));
}

#[test]
fn changes_of_rules_have_spans_with_their_code() {
    let spocp = "[spocp]\nlisten = \"127.0.0.1:0\"\nchanges = \"changes\"\nadmin-tokens = \"keepers\"\nauth-without-tls = true\nanonymous-queries = true\n";
    let spans = spans_of(spocp, |server| {
        let token = format!("\0keeper\0{KEEPER}");
        let commands: [&[&str]; 10] = [
            &["AUTH", "SASL:PLAIN", &token],
            &["ADD", "(1:a)"],
            &["ADD", "(1:a)"],
            &["QUERY", "(1:a)"],
            &["LIST"],
            &["BEGIN"],
            &["DELETE", "00000000000000000000000000000000"],
            &["COMMIT"],
            &["RELOAD"],
            &["LOGOUT"],
        ];
        let value = |text: &str| format!("{}:{text}", text.len());
        let message =
            |values: &&[&str]| value(&values.iter().map(|text| value(text)).collect::<String>());
        let declared: String = commands.iter().map(message).collect();
        let mut stream = TcpStream::connect(server.spocp.unwrap()).unwrap();
        stream.write_all(declared.as_bytes()).unwrap();
        assert!(rest(&mut stream).ends_with("10:3:2033:Bye"));
    });
    let code = |span: &Value| attribute(span, "wardgate.spocp.code").unwrap_or_default();
    let spans_of = |span: &Value| format!("{} {}", text(span, "name"), code(span));
    let found: Vec<String> = spans.iter().map(spans_of).collect();
    let expected = [
        "SPOCP ADD 200",
        "SPOCP ADD 407",
        "SPOCP LIST 200",
        "SPOCP COMMIT 503",
        "reload ",
        "SPOCP RELOAD 200",
    ];
    assert_eq!(found, expected);
    assert_eq!(text(&spans[4], "parentSpanId"), text(&spans[5], "spanId"));
    assert_eq!(attribute(&spans[3], "wardgate.spocp.changes").as_deref(), Some("1"));
}

#[test]
fn the_collector_gets_the_name_of_the_server() {
    let collector = Collector::saying(&[TAKEN]);
    let folder = std::env::temp_dir().join(format!("wardgate-traces-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("headers");
    std::fs::write(&file, "# for the collector\n\nAuthorization: Basic abc:def\r\nX-Tenant:7\n")
        .unwrap();
    let config = format!(
        "{}[traces]\nendpoint = \"http://{}\"\nheaders = \"{}\"\nservice-name = \"gate\"\n",
        super::running::OPEN,
        collector.address,
        file.display()
    );
    let running = Running::start(POLICY, &config);
    assert_eq!(running.get("/healthz", "").0, 200);
    drop(running);
    std::fs::remove_dir_all(folder).unwrap();
    let received = collector.next();
    assert!(received.head.starts_with("post /v1/traces http/1.1\n"), "{}", received.head);
    for line in ["content-type: application/json", "authorization: basic abc:def", "x-tenant: 7"] {
        assert!(received.head.lines().any(|found| found == line), "{line}: {}", received.head);
    }
    let resource = &received.body["resourceSpans"][0]["resource"];
    assert_eq!(attribute(resource, "service.name").as_deref(), Some("gate"));
}

#[test]
fn spans_go_only_to_a_server_of_the_right_root() {
    let received = |root: &str| {
        let (url, requests) = publishing(vec![response("200 OK", b"{}")]);
        let root = pem(root);
        let config = format!(
            "{}[traces]\nendpoint = \"{url}\"\nendpoint-ca = \"{}\"\n",
            super::running::OPEN,
            root.display()
        );
        let running = Running::start(POLICY, &config);
        assert_eq!(running.get("/healthz", "").0, 200);
        drop(running);
        requests.join().unwrap().join("")
    };
    assert!(received("ca.pem").starts_with("post /keys http/1.1\nhost: localhost:"));
    assert_eq!(received("somebody.pem"), "");
}

#[test]
fn a_server_whose_collector_is_gone_answers_and_counts() {
    let collector = Collector::saying(&[""]);
    let config = format!(
        "{}[traces]\nendpoint = \"{}\"\nmax-queue = 4\nmax-batch = 4\ntimeout-seconds = 1\n",
        super::running::OPEN,
        collector.endpoint()
    );
    let running = Running::start(POLICY, &config);
    for _ in 0..10 {
        assert_eq!(running.post("/api/check/resources", "", CALL).0, 200);
    }
    let (_, metrics) = running.get("/metrics", "");
    let line = metrics.lines().find_map(|line| {
        line.strip_prefix("wardgate_trace_spans_total{outcome=\"dropped\"} ")?.parse::<u64>().ok()
    });
    assert!(line.is_some_and(|dropped| dropped >= 16), "{metrics}");
}
