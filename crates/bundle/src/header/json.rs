//! Headers as JSON, for hosts that show them.

use alloc::string::{String, ToString};
use core::fmt::Write;

use wardgate_engine::table::Evaluation;
use wardgate_engine::wire::Json;

use super::Header;
use crate::key_id::KeyId;

impl Header {
    /// Returns the header and the keys that signed it as JSON: `{"name", "revision", "created",
    /// "notBefore"?, "expires"?, "evaluation", "content", "signers"}`.
    #[must_use]
    pub fn json(&self, signers: &[KeyId]) -> String {
        let label = &self.label;
        let mut json = Json::default();
        json.open('{');
        json.field("name", &label.name);
        let dates = [("notBefore", label.not_before), ("expires", label.expires)];
        let numbers = [("revision", Some(label.revision)), ("created", Some(label.created))];
        for (name, value) in numbers.into_iter().chain(dates) {
            if let Some(value) = value {
                json.key(name);
                json.number(exact(value));
            }
        }
        let evaluation = match self.evaluation {
            Evaluation::Strict => "strict",
            Evaluation::Lenient => "lenient",
        };
        json.field("evaluation", evaluation);
        json.field("content", &hexadecimal(&self.content));
        json.key("signers");
        json.open('[');
        signers.iter().for_each(|key| json.string(&key.to_string()));
        json.close(']');
        json.close('}');
        json.finish()
    }
}

#[expect(clippy::as_conversions, reason = "the numbers of a header are below 2^53")]
fn exact(number: u64) -> f64 {
    number as f64
}

/// Writes bytes as hexadecimal digits.
#[must_use]
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
