//! Spans in the JSON of the OpenTelemetry Protocol.
//!
//! It is the mapping of Protocol Buffers to JSON with the exceptions of OTLP 1: ids in hexadecimal
//! digits, enumerations as numbers. Numbers of 64 bits are text.

use wardgate_bundle::hexadecimal;
use wardgate_engine::wire::Json;
use wardgate_native::protocol::json::{document, list, member, object};

use super::span::{Attribute, Kind, Span, Value};

/// Writes a request for a collector, of one service.
pub(super) fn request(service: &str, spans: &[Span]) -> String {
    document(|json| {
        list_of_one(json, "resourceSpans", |json| {
            member(json, "resource", |json| attributes(json, &resource(service)));
            list_of_one(json, "scopeSpans", |json| {
                member(json, "scope", |json| {
                    json.field("name", "wardgate");
                    json.field("version", VERSION);
                });
                list(json, "spans", spans, span);
            });
        });
    })
}

/// Writes a request for a collector, of one service, with records of a log that are written already.
pub(crate) fn records(service: &str, records: &[String]) -> String {
    let resource = document(|json| attributes(json, &resource(service)));
    let records = records.join(",");
    format!(
        r#"{{"resourceLogs":[{{"resource":{resource},"scopeLogs":[{{"scope":{{"name":"wardgate","version":"{VERSION}"}},"logRecords":[{records}]}}]}}]}}"#
    )
}

fn list_of_one(json: &mut Json, name: &str, members: impl Fn(&mut Json)) {
    list(json, name, [members], object);
}

/// Writes the attributes of the server as a whole.
fn resource(service: &str) -> [Attribute; 5] {
    [
        ("service.name", Value::Text(service.to_owned().into())),
        ("service.version", Value::word(VERSION)),
        ("telemetry.sdk.name", Value::word("wardgate")),
        ("telemetry.sdk.language", Value::word("rust")),
        ("telemetry.sdk.version", Value::word(VERSION)),
    ]
}

fn span(json: &mut Json, span: &Span) {
    let context = &span.context;
    object(json, |json| {
        json.field("traceId", &hexadecimal(&context.trace));
        json.field("spanId", &hexadecimal(&context.span));
        if let Some(parent) = &context.parent {
            json.field("parentSpanId", &hexadecimal(parent));
        }
        if let Some(state) = &context.state {
            json.field("traceState", state);
        }
        json.key("flags");
        json.number(if context.is_remote { SAMPLED + KNOWN + REMOTE } else { SAMPLED + KNOWN });
        json.field("name", &span.name);
        json.key("kind");
        json.number(match span.kind {
            Kind::Internal => 1.0,
            Kind::Server => 2.0,
        });
        json.field("startTimeUnixNano", &span.begin.to_string());
        json.field("endTimeUnixNano", &span.end.to_string());
        attributes(json, &span.attributes);
        if span.has_failed {
            member(json, "status", |json| {
                json.key("code");
                json.number(ERROR);
            });
        }
    });
}

fn attributes(json: &mut Json, attributes: &[Attribute]) {
    list(json, "attributes", attributes, |json, (name, value)| {
        object(json, |json| {
            json.field("key", name);
            member(json, "value", |json| match value {
                Value::Text(text) => json.field("stringValue", text),
                // The protocol has signed numbers.
                Value::Number(number) => {
                    json.field("intValue", &i64::try_from(*number).unwrap_or(i64::MAX).to_string());
                }
                Value::Flag(flag) => {
                    json.key("boolValue");
                    json.boolean(*flag);
                }
            });
        });
    });
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The flag of W3C Trace Context for sampled spans, and the two flags for a parent that is known to
/// be local or remote.
const SAMPLED: f64 = 1.0;
const KNOWN: f64 = 256.0;
const REMOTE: f64 = 512.0;

/// `STATUS_CODE_ERROR`.
const ERROR: f64 = 2.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::traces::context::Context;

    #[test]
    fn a_span_is_written_as_the_protocol_has_it() {
        let context = Context {
            trace: [0xab; 16],
            span: [1; 8],
            parent: Some([2; 8]),
            is_remote: true,
            state: Some("a=1".into()),
        };
        let attributes = vec![
            ("text", Value::text("\"\u{e9}")),
            ("number", Value::Number(u64::MAX)),
            ("flag", Value::Flag(true)),
        ];
        let span = Span {
            context,
            name: "GET /".into(),
            kind: Kind::Server,
            begin: 1,
            end: 1_800_000_000_000_000_000,
            attributes,
            has_failed: true,
        };
        let text = request("here", &[span]);
        let expected = concat!(
            r#""spans":[{"traceId":"abababababababababababababababab","spanId":"0101010101010101","parentSpanId":"0202020202020202","#,
            r#""traceState":"a=1","flags":769,"name":"GET /","kind":2,"startTimeUnixNano":"1","endTimeUnixNano":"1800000000000000000","#,
            r#""attributes":[{"key":"text","value":{"stringValue":"\""#,
            "\u{e9}",
            r#""}},{"key":"number","value":{"intValue":"9223372036854775807"}},{"key":"flag","value":{"boolValue":true}}],"#,
            r#""status":{"code":2}}]}]}]}"#,
        );
        assert!(text.ends_with(expected), "{text}");
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        let resource = &read["resourceSpans"][0]["resource"]["attributes"][0];
        assert_eq!(resource["value"]["stringValue"], "here");
    }
}
