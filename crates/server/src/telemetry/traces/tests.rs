//! The fate of spans for each behaviour of a collector.

use std::net::TcpListener;
use std::path::Path;

use super::{Kind, SpanFields, Tracer, Value};
use crate::Config;
use crate::telemetry::scripted::{Collector, TAKEN};

fn tracer(endpoint: &str, more: &str) -> Tracer {
    let text = format!(
        "[policies]\ndirectory = \"none\"\n[traces]\nendpoint = \"{endpoint}\"\ninterval-seconds = 3600\n{more}"
    );
    let config = Config::parse(&text, Path::new("")).unwrap();
    let tracer = Tracer::new(&config.traces.unwrap()).unwrap();
    tracer.start().unwrap();
    tracer
}

fn record(tracer: &Tracer, count: u64) {
    for number in 0..count {
        let attributes = vec![("number", Value::Number(number))];
        let name = "step".into();
        let fields = SpanFields { name, kind: Kind::Internal, attributes, has_failed: false };
        tracer.end(tracer.begin_trace().unwrap(), fields);
    }
}

/// Ends `count` spans, and expects the numbers of sent and dropped ones after the end.
fn check(tracer: &Tracer, count: u64, expected: (u64, u64)) {
    record(tracer, count);
    tracer.close();
    assert_eq!((tracer.counts().sent(), tracer.counts().lost()), expected);
}

#[test]
fn waiting_spans_are_sent_at_the_end_in_batches() {
    let collector = Collector::saying(&[TAKEN]);
    check(&tracer(&collector.endpoint(), "max-batch = 4\n"), 10, (10, 0));
    assert_eq!(collector.spans().len(), 10);
}

#[test]
fn a_full_batch_waits_for_nothing() {
    let collector = Collector::saying(&[TAKEN]);
    let tracer = tracer(&collector.endpoint(), "max-batch = 3\n");
    record(&tracer, 3);
    assert_eq!(collector.next().spans().len(), 3);
    record(&tracer, 3);
    assert_eq!(collector.next().spans().len(), 3);
}

#[test]
fn a_busy_collector_gets_the_spans_after_the_time_it_names() {
    for busy in ["429 Too Many Requests", "502 Bad Gateway", "503 Service Unavailable"] {
        let busy = format!("HTTP/1.1 {busy}\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n");
        let collector = Collector::saying(&[&busy, &busy, TAKEN]);
        let tracer = tracer(&collector.endpoint(), "max-batch = 2\n");
        record(&tracer, 2);
        let bodies = [(); 3].map(|()| collector.next().body);
        assert!(bodies[0] == bodies[1] && bodies[1] == bodies[2], "{busy}");
        check(&tracer, 0, (2, 0));
    }
}

#[test]
fn a_collector_that_stays_busy_loses_spans_and_delays_no_request() {
    let busy = "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 999999\r\nContent-Length: 0\r\n\r\n";
    let collector = Collector::saying(&[busy]);
    let tracer = tracer(&collector.endpoint(), "max-batch = 2\nmax-queue = 6\n");
    record(&tracer, 2);
    collector.next();
    // It wants to be left in peace, so that nothing leaves the queue.
    record(&tracer, 100);
    assert_eq!((tracer.counts().sent(), tracer.counts().lost()), (0, 96));
    check(&tracer, 0, (0, 102));
    // Two batches were sent for the first time, and the first one once more if its answer had come
    // before the end.
    assert!(matches!(collector.rest().len(), 2 | 3));
}

#[test]
fn spans_that_a_collector_refuses_are_not_sent_again() {
    for status in ["400 Bad Request", "401 Unauthorized", "404 Not Found", "302 Found", "500 Oh"] {
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
        let collector = Collector::saying(&[&answer]);
        check(&tracer(&collector.endpoint(), ""), 3, (0, 3));
        assert_eq!(collector.rest().len(), 1, "{status}");
    }
}

#[test]
fn spans_that_a_collector_refuses_in_part_are_counted() {
    let check = |body: &str, expected| {
        let length = body.len();
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}");
        check(&tracer(&Collector::saying(&[&answer]).endpoint(), ""), 5, expected);
    };
    check(r#"{"partialSuccess":{"rejectedSpans":"2","errorMessage":"no"}}"#, (3, 2));
    check(r#"{"partialSuccess":{"rejectedSpans":2}}"#, (3, 2));
    check(r#"{"partialSuccess":{"rejectedSpans":"99999999999"}}"#, (0, 5));
    check(r#"{"partialSuccess":{"rejectedSpans":-1}}"#, (5, 0));
    check(r#"{"partialSuccess":null}"#, (5, 0));
    check("", (5, 0));
    check("\u{0}\u{1}", (5, 0));
}

#[test]
fn a_collector_that_is_not_there_loses_spans() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    check(&tracer(&format!("http://{address}"), "max-queue = 4\nmax-batch = 4\n"), 20, (0, 20));
}

#[test]
fn a_collector_that_never_answers_delays_no_request() {
    let collector = Collector::saying(&[""]);
    let tracer =
        tracer(&collector.endpoint(), "max-queue = 4\nmax-batch = 4\ntimeout-seconds = 1\n");
    record(&tracer, 4);
    collector.next();
    record(&tracer, 20);
    check(&tracer, 0, (0, 24));
}

#[test]
fn an_answer_without_end_is_not_read_to_its_end() {
    let endless =
        format!("HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n{}", "x".repeat(1 << 20));
    check(&tracer(&Collector::saying(&[&endless]).endpoint(), ""), 2, (2, 0));
}

#[test]
fn an_unusable_collector_is_refused_at_the_start() {
    let refused = |rest: &str| {
        let text = format!("[policies]\ndirectory = \"none\"\n[traces]\n{rest}");
        let config = Config::parse(&text, Path::new("")).unwrap();
        Tracer::new(&config.traces.unwrap()).unwrap_err()
    };
    let check = |rest: &str, expected: &str| {
        assert_eq!(refused(rest), format!("`[traces]`: {expected}"), "{rest}");
    };
    check(
        "endpoint = \"http://10.0.0.1:4318\"\n",
        "spans would cross the network unencrypted: use `https`",
    );
    check(
        "endpoint = \"https://a.example\"\n",
        "`endpoint-ca` is missing, the roots of the server",
    );
    check(
        "endpoint = \"http://127.0.0.1\"\nendpoint-ca = \"a\"\n",
        "`endpoint-ca` is for a URL with `https`",
    );
    check("endpoint = \"a\"\n", "expected a URL such as `https://example.com/file`, found `a`");
    let refused = refused("endpoint = \"http://127.0.0.1\"\nheaders = \"/nowhere/at all\"\n");
    assert!(refused.starts_with("`[traces]`: cannot read `/nowhere/at all`: "), "{refused}");
}

#[test]
fn headers_are_read_line_by_line_and_never_shown() {
    let name = format!("wardgate-headers-{}", std::process::id());
    let file = std::env::temp_dir().join(name);
    let check = |text: &str, expected: &str| {
        std::fs::write(&file, text).unwrap();
        let text = format!(
            "[policies]\ndirectory = \"none\"\n[traces]\nendpoint = \"http://127.0.0.1\"\nheaders = \"{}\"\n",
            file.display()
        );
        let config = Config::parse(&text, Path::new("")).unwrap();
        let fields = Tracer::new(&config.traces.unwrap()).map(drop);
        let fields = fields.err().unwrap_or_default().replace(&*file.to_string_lossy(), "headers");
        assert_eq!(fields, expected);
    };
    check("", "");
    check("# nothing\r\n\r\nAuthorization: Bearer secret\r\nX:\n", "");
    let wrong = "`[traces]`: line 2 of `headers`: expected a name, `:` and a value";
    check("\nsecret", wrong);
    check("\n: secret", wrong);
    check("\nno name: secret", wrong);
    check("\nX: secret\u{1}", wrong);
    let own = "`[traces]`: line 1 of `headers`: `host` is set by the server itself";
    check("Host: secret", own);
    let many: String = (0..33).map(|number| format!("x-{number}: 1\n")).collect();
    check(&many, "`[traces]`: line 33 of `headers`: expected at most 32 headers");
    std::fs::remove_file(&file).unwrap();
}
