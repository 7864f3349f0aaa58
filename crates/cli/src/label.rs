//! The header of a bundle, as it is given on the command line and shown.

use serde_json::{Value as Json, json};
use wardgate_bundle::limits::{MAX_NAME_BYTES, MAX_NUMBER};
use wardgate_bundle::{Header, Label, hexadecimal};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::table::Evaluation;

use crate::arguments::LabelOptions;
use crate::failure::{Failure, Result};
use crate::{answer, clock};

/// Returns `label` with the command-line values applied.
pub(crate) fn changed(label: Label, given: &LabelOptions) -> Result<Label> {
    let date = |name, time: Option<Timestamp>| time.map(|time| seconds(name, time)).transpose();
    Ok(Label {
        name: given.name.clone().unwrap_or(label.name),
        revision: given.revision.unwrap_or(label.revision),
        created: date("--created", given.created)?.unwrap_or(label.created),
        not_before: date("--not-before", given.not_before)?.or(label.not_before),
        expires: date("--expires", given.expires)?.or(label.expires),
    })
}

/// Returns the label with the time of the clock if it has no creation time.
pub(crate) fn dated(label: Label) -> Label {
    let now = u64::try_from(clock::now().seconds()).unwrap_or(0);
    Label { created: if label.created == 0 { now } else { label.created }, ..label }
}

/// Returns the name of a mode of evaluation, as options have it.
pub(crate) const fn evaluation(evaluation: Evaluation) -> &'static str {
    match evaluation {
        Evaluation::Strict => "strict",
        Evaluation::Lenient => "lenient",
    }
}

/// Returns the time in seconds since 1970.
pub(crate) fn seconds(option: &str, time: Timestamp) -> Result<u64> {
    u64::try_from(time.seconds())
        .map_err(|_| Failure::usage(format!("`{option}` must not be before 1970")))
}

/// Returns the fields of a header with their names.
pub(crate) fn fields(header: &Header) -> Vec<(&'static str, String)> {
    let Label { name, revision, created, not_before, expires } = &header.label;
    let creation =
        |seconds: &u64| if *seconds == 0 { "not given".to_owned() } else { time(*seconds) };
    let mut fields = vec![
        ("name", if name.is_empty() { "none".to_owned() } else { name.clone() }),
        ("revision", revision.to_string()),
        ("created", creation(created)),
    ];
    fields.extend(not_before.map(|from| ("not before", time(from))));
    fields.extend(expires.map(|end| ("expires", time(end))));
    fields.push(("content", hexadecimal(&header.content)));
    fields
}

/// Returns a header as JSON.
pub(crate) fn json(header: &Header) -> Json {
    let Label { name, revision, created, not_before, expires } = &header.label;
    answer::present(json!({
        "name": name,
        "revision": revision,
        "created": time(*created),
        "notBefore": not_before.map(time),
        "expires": expires.map(time),
        "content": hexadecimal(&header.content),
    }))
}

/// Returns seconds since 1970 as a time, or as they are if they lie beyond the year 9999.
pub(crate) fn time(seconds: u64) -> String {
    let time = i64::try_from(seconds).ok().and_then(|seconds| Timestamp::new(seconds, 0));
    time.map_or_else(|| format!("{seconds} seconds after 1970"), |time| time.to_string())
}

/// Refuses a label that no bundle can have, with the option that is to blame.
pub(crate) fn check(label: &Label) -> Result<()> {
    let Label { name, revision, not_before, expires, .. } = label;
    if name.len() > MAX_NAME_BYTES || name.chars().any(char::is_control) {
        let message =
            format!("`--name` must have at most {MAX_NAME_BYTES} bytes and no control characters");
        return Err(Failure::usage(message));
    }
    if *revision > MAX_NUMBER {
        return Err(Failure::usage(format!("`--revision` must be at most {MAX_NUMBER}")));
    }
    match expires {
        Some(end) if *end <= not_before.unwrap_or(0) => {
            Err(Failure::usage("`--expires` must be later than `--not-before`"))
        }
        _ => Ok(()),
    }
}
