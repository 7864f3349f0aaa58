//! Rate limits: a kind of policy of our own, which Cerbos refuses by the name of its field.

use wardgate_engine::limits::MAX_LIMIT_KEYS;
use wardgate_engine::table::limit::{Charged, Consistency, Failure, Mode};
use wardgate_ratelimit::{Algorithm, Rule, Window};

use super::Reader;
use super::reader::{Object, Value};
use crate::diagnostics::{Code, Diagnostic};
use crate::expression::ExprSource;
use crate::limits::MAX_LIMIT_NAME_BYTES;
use crate::nearest::one_of;
use crate::policy::model::{Definition, LimitBody};
use crate::policy::name::Shape;
use crate::yaml::Kind;

impl Reader<'_> {
    /// Reads a limit. Without a quota or a window it is none.
    pub(super) fn limit(
        &mut self,
        value: &Value<'_>,
        top_level: Vec<Definition<ExprSource>>,
    ) -> Option<LimitBody> {
        let object = self.object(value, FIELDS)?;
        let name = self.required_name(&object, "name", Shape::Identifier);
        if name.len() > MAX_LIMIT_NAME_BYTES {
            let message = format!("a limit has a name of at most {MAX_LIMIT_NAME_BYTES} bytes");
            self.at_field(&object, "name", message);
        }
        let key = self.limit_key(&object);
        let algorithm = self.algorithm(&object);
        let window = self.window(&object, algorithm);
        let quota = self.required_expression(&object, "quota");
        Some(LimitBody {
            name,
            resource: self.required_name(&object, "resource", Shape::Any),
            actions: self.required_names(&object, "actions"),
            condition: self.condition(&object),
            key,
            cost: object.get("cost").and_then(|value| self.expression(value)),
            charged: Charged::from_code(self.choice(&object, "charge", CHARGED))?,
            consistency: Consistency::from_code(self.choice(
                &object,
                "consistency",
                CONSISTENCIES,
            ))?,
            failure: Failure::from_code(self.choice(&object, "failure", FAILURES))?,
            mode: Mode::from_code(self.choice(&object, "mode", MODES))?,
            variables: self.variables(&object, top_level),
            constants: self.definitions(&object, "constants", Self::attr),
            quota: quota?,
            window: window?,
            algorithm,
        })
    }

    fn limit_key(&mut self, object: &Object<'_>) -> Vec<ExprSource> {
        let Some(value) = object.get("key") else {
            let message = "`key` is required; `[]` is one key for all requests";
            self.missing(&object.missing("key"), message);
            return Vec::new();
        };
        let items = self.list(value).unwrap_or_default();
        if items.len() > MAX_LIMIT_KEYS {
            let message = format!("a key has at most {MAX_LIMIT_KEYS} parts");
            self.invalid(&value.location, message);
        }
        items.iter().filter_map(|item| self.expression(item)).collect()
    }

    fn algorithm(&mut self, object: &Object<'_>) -> Algorithm {
        let algorithm = match self.choice(object, "algorithm", ALGORITHMS) {
            1 => Algorithm::Fixed,
            2 => Algorithm::Sliding,
            _ => Algorithm::Gcra { burst: None },
        };
        let Some(burst) = object.get("burst") else { return algorithm };
        let tokens = match burst.node.kind {
            Kind::Integer(tokens) => u64::try_from(tokens).ok(),
            _ => return self.mismatch(burst, "a whole number").unwrap_or(algorithm),
        };
        if !matches!(algorithm, Algorithm::Gcra { .. }) {
            let message = "only the algorithm `gcra` has a burst";
            self.invalid(&burst.location, message);
        }
        if tokens.is_none_or(|tokens| tokens == 0) {
            self.invalid(&burst.location, "a burst is at least 1");
        }
        Algorithm::Gcra { burst: tokens }
    }

    /// Reads the window, which has to suit the algorithm.
    fn window(&mut self, object: &Object<'_>, algorithm: Algorithm) -> Option<Window> {
        let Some(value) = object.get("window") else {
            self.missing(&object.missing("window"), "`window` is required");
            return None;
        };
        let window = match &value.node.kind {
            Kind::String(text, _) => window(text),
            _ => return self.mismatch(value, DURATION),
        };
        let Some(window) = window else {
            let error =
                Diagnostic::error(Code::Validation, &value.location, "this is not a window");
            self.errors.push(error.expected(DURATION));
            return None;
        };
        let algorithm = match algorithm {
            Algorithm::Gcra { .. } => Algorithm::Gcra { burst: None },
            other => other,
        };
        if let Err(error) = Rule::new(algorithm, 1, window) {
            self.invalid(&value.location, error.to_string());
        }
        Some(window)
    }

    fn required_expression(&mut self, object: &Object<'_>, field: &str) -> Option<ExprSource> {
        let Some(value) = object.get(field) else {
            self.missing(&object.missing(field), format!("`{field}` is required"));
            return None;
        };
        self.expression(value)
    }

    /// Reads one of some words, and returns its number; that of the first if the field is absent.
    fn choice(&mut self, object: &Object<'_>, field: &str, words: &[&'static str]) -> u32 {
        let Some(value) = object.get(field) else { return 0 };
        let expected = one_of(words.iter().copied());
        let Kind::String(text, _) = &value.node.kind else {
            return self.mismatch(value, &expected).unwrap_or_default();
        };
        let mut numbers = (0..).zip(words);
        if let Some((number, _)) = numbers.find(|(_, word)| **word == text.as_ref()) {
            return number;
        }
        let error = Diagnostic::error(Code::Validation, &value.location, "unknown word");
        self.errors.push(error.found(format!("`{text}`")).expected(expected));
        0
    }

    fn at_field(&mut self, object: &Object<'_>, field: &str, message: String) {
        if let Some(value) = object.get(field) {
            self.invalid(&value.location, message);
        }
    }
}

/// Reads `month`, or whole numbers with a unit each, such as `1h30m`.
fn window(text: &str) -> Option<Window> {
    if text == "month" {
        return Some(Window::Month);
    }
    let (mut micros, mut rest) = (0_u64, text);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let (number, after) = rest.split_at_checked(digits)?;
        let (unit, length) = UNITS.iter().find(|(unit, _)| {
            let next = after.strip_prefix(*unit);
            next.is_some_and(|next| !next.starts_with(|c: char| c.is_ascii_alphabetic()))
        })?;
        micros = micros.checked_add(number.parse::<u64>().ok()?.checked_mul(*length)?)?;
        rest = after.get(unit.len()..)?;
    }
    (!text.is_empty()).then_some(Window::Micros(micros))
}

/// The words of each choice, in the order of the codes of its meanings.
const ALGORITHMS: &[&str] = &["gcra", "fixed", "sliding"];
const CHARGED: &[&str] = &["allowed", "always"];
const CONSISTENCIES: &[&str] = &["exact", "leased", "local"];
const FAILURES: &[&str] = &["local", "deny", "allow"];
const MODES: &[&str] = &["enforce", "shadow"];

/// The units of a window in microseconds.
const UNITS: [(&str, u64); 6] = [
    ("us", 1),
    ("ms", 1_000),
    ("s", 1_000_000),
    ("m", 60_000_000),
    ("h", 3_600_000_000),
    ("d", 86_400_000_000),
];

const DURATION: &str = "a duration such as `60s`, `1h30m` or `1d`, or `month`";

const FIELDS: &[&str] = &[
    "name",
    "resource",
    "actions",
    "condition",
    "key",
    "cost",
    "quota",
    "window",
    "burst",
    "algorithm",
    "charge",
    "consistency",
    "failure",
    "mode",
    "variables",
    "constants",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_has_the_code_of_its_meaning() {
        let names = |all: &[&str], debug: Vec<String>| {
            assert_eq!(debug.join(" ").to_lowercase(), all.join(" "))
        };
        names(CHARGED, Charged::ALL.map(|one| format!("{one:?}")).to_vec());
        names(CONSISTENCIES, Consistency::ALL.map(|one| format!("{one:?}")).to_vec());
        names(FAILURES, Failure::ALL.map(|one| format!("{one:?}")).to_vec());
        names(MODES, Mode::ALL.map(|one| format!("{one:?}")).to_vec());
    }

    #[test]
    fn windows_are_sums_of_units() {
        let check = |text: &str, expected: Option<u64>| {
            assert_eq!(window(text), expected.map(Window::Micros), "{text}");
        };
        check("60s", Some(60_000_000));
        check("1h30m", Some(5_400_000_000));
        check("250ms", Some(250_000));
        check("7us", Some(7));
        check("1d", Some(86_400_000_000));
        check("0s", Some(0));
        for wrong in ["", "60", "s", "1.5s", "-1s", "1 s", "1sec", "1w", "99999999999999999999s"] {
            check(wrong, None);
        }
        assert_eq!(window("month"), Some(Window::Month));
    }
}
