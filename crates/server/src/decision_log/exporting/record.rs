//! A record of a decision log as a log record of OpenTelemetry: words as its body, and the fields of `wardgate log export` as
//! its attributes.

use serde_json::{Map, Value, json};
use wardgate_bundle::hexadecimal;
use wardgate_decision_log::record::{Body, Record};

use crate::decision_log::names::Names;
use crate::decision_log::record_json::exported_json;
use crate::decision_log::record_words::record_words;

/// Returns a record as JSON of the protocol. Returns `None` for the definition of a target, which is in each decision.
pub(super) fn written(origin: &str, number: u64, record: &Record, names: &Names) -> Option<String> {
    let Value::Object(fields) = exported_json(number, record, names)? else { return None };
    let kind = fields.get("kind").and_then(Value::as_str).unwrap_or_default();
    let (severity, severity_text) = match &record.body {
        Body::Lost(_) | Body::Loss(_) | Body::Clock(_) => (WARN, "WARN"),
        _ => (INFO, "INFO"),
    };
    let uid = json!({ "key": "log.record.uid", "value": text(&format!("{origin}/{number}")) });
    let named = |(name, value)| json!({ "key": format!("wardgate.{name}"), "value": any(value) });
    let mut written = json!({
        "timeUnixNano": nanos(&record.body).to_string(),
        "severityNumber": severity,
        "severityText": severity_text,
        "eventName": format!("wardgate.{kind}"),
        "body": text(&record_words(record, names)),
    });
    let attributes: Vec<Value> = [uid].into_iter().chain(fields.into_iter().map(named)).collect();
    if let Value::Object(members) = &mut written {
        members.insert("attributes".to_owned(), Value::Array(attributes));
        members.extend(trace(record));
    }
    Some(written.to_string())
}

/// Returns the trace of a decision, which has no span of its own.
fn trace(record: &Record) -> Option<(String, Value)> {
    let Body::Decision(decision) = &record.body else { return None };
    let trace = decision.trace.as_ref()?;
    Some(("traceId".to_owned(), hexadecimal(trace).into()))
}

/// Returns the time of a record in nanoseconds since 1970, 0 if it has none.
fn nanos(body: &Body) -> u64 {
    let micros = match body {
        Body::Decision(one) => one.micros,
        Body::Policies(one) => one.micros,
        Body::Target(_) => 0,
        Body::Lost(one) => one.micros,
        Body::Clock(one) => one.now,
        Body::Process(one) => one.micros,
        Body::Erasure(one) => one.micros,
        Body::Settings(one) => one.micros,
        Body::Search(one) => one.micros,
        Body::Loss(one) => one.micros,
    };
    u64::try_from(micros).unwrap_or(0).saturating_mul(1000)
}

/// Returns a value as the protocol has it.
fn any(value: Value) -> Value {
    match value {
        Value::Null => json!({}),
        Value::Bool(flag) => json!({ "boolValue": flag }),
        // Numbers of 64 bits are text. The protocol has signed ones.
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(number), _) => json!({ "intValue": number.to_string() }),
            (None, Some(number)) => json!({ "doubleValue": number }),
            (None, None) => text(&number.to_string()),
        },
        Value::String(text) => json!({ "stringValue": text }),
        Value::Array(values) => {
            json!({ "arrayValue": { "values": values.into_iter().map(any).collect::<Vec<_>>() } })
        }
        Value::Object(members) => json!({ "kvlistValue": { "values": list(members) } }),
    }
}

fn list(members: Map<String, Value>) -> Vec<Value> {
    members.into_iter().map(|(name, value)| json!({ "key": name, "value": any(value) })).collect()
}

fn text(text: &str) -> Value {
    json!({ "stringValue": text })
}

/// `SEVERITY_NUMBER_INFO` and `SEVERITY_NUMBER_WARN`.
const INFO: u8 = 9;
const WARN: u8 = 13;
