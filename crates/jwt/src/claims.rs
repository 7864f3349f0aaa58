//! Claims: the caller that they name, and their form in conditions.
//!
//! The form is that of Cerbos: the audience is a list, and times are text as in RFC 3339.

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::cel::Timestamp;

/// The issuer and the audience that tokens of callers must name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient {
    /// The value of `iss`.
    pub issuer: String,
    /// The value of `aud`, or one of its values.
    pub audience: String,
}

impl Recipient {
    /// Returns the subject of verified claims. Returns None if another issuer wrote them, if they
    /// are for another audience, or if they never expire: a token without an end would be one for
    /// ever.
    #[must_use]
    pub fn subject<'c>(&self, claims: &'c AttrMap) -> Option<&'c str> {
        claims.get("exp")?;
        let is_issuer = text(claims, "iss") == Some(self.issuer.as_str());
        let is_meant = match claims.get("aud") {
            Some(Attr::String(audience)) => **audience == *self.audience,
            Some(Attr::List(all)) => all.contains(&Attr::String(self.audience.as_str().into())),
            _ => false,
        };
        text(claims, "sub").filter(|_| is_issuer && is_meant)
    }
}

/// Returns a member that is text.
#[must_use]
pub fn text<'a>(map: &'a AttrMap, name: &str) -> Option<&'a str> {
    match map.get(name) {
        Some(Attr::String(text)) => Some(text),
        _ => None,
    }
}

/// Returns the claim `roles`: a list of texts that is not empty.
#[must_use]
pub fn roles(claims: &AttrMap) -> Option<Vec<String>> {
    let Some(Attr::List(roles)) = claims.get("roles") else { return None };
    let role = |role: &Attr| match role {
        Attr::String(role) => Some(role.to_string()),
        _ => None,
    };
    let roles: Vec<_> = roles.iter().map(role).collect::<Option<_>>()?;
    Some(roles).filter(|roles| !roles.is_empty())
}

/// Returns claims as conditions see them.
#[must_use]
pub fn as_conditions_see(claims: &AttrMap) -> AttrMap {
    let entries = claims.entries().iter();
    entries.map(|(name, value)| (name.clone(), shown(name, value))).collect()
}

/// Returns a claim as conditions see it.
fn shown(name: &str, value: &Attr) -> Attr {
    match (name, value) {
        ("aud", Attr::String(_)) => Attr::List(vec![value.clone()]),
        ("exp" | "nbf" | "iat", Attr::Number(seconds)) => time(*seconds).unwrap_or(value.clone()),
        _ => value.clone(),
    }
}

#[expect(
    clippy::as_conversions,
    reason = "a number beyond the years of a time is none, whatever it becomes"
)]
fn time(seconds: f64) -> Option<Attr> {
    let time = Timestamp::new(seconds.trunc() as i64, 0)?;
    Some(Attr::String(time.to_string().into()))
}

#[cfg(test)]
mod tests {
    use wardgate_native::protocol::documents;

    use super::*;

    fn claims(json: &str) -> AttrMap {
        match documents::attribute(json.as_bytes()).unwrap() {
            Attr::Map(claims) => claims,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_caller_has_issuer_audience_and_an_end() {
        let recipient = Recipient { issuer: "i".to_owned(), audience: "a".to_owned() };
        let check = |json: &str, expected: Option<&str>| {
            assert_eq!(recipient.subject(&claims(json)), expected, "{json}");
        };
        check(r#"{"iss":"i","aud":"a","sub":"ada","exp":1}"#, Some("ada"));
        check(r#"{"iss":"i","aud":["b","a"],"sub":"ada","exp":1}"#, Some("ada"));
        check(r#"{"iss":"i","aud":"a","sub":"ada"}"#, None);
        check(r#"{"iss":"j","aud":"a","sub":"ada","exp":1}"#, None);
        check(r#"{"iss":"i","aud":["b"],"sub":"ada","exp":1}"#, None);
        check(r#"{"iss":"i","aud":{"a":1},"sub":"ada","exp":1}"#, None);
        check(r#"{"iss":"i","aud":"a","sub":7,"exp":1}"#, None);
        check(r#"{"iss":"i","aud":"a","exp":1}"#, None);
    }

    #[test]
    fn roles_are_a_list_of_texts() {
        let check = |json: &str, expected: Option<&[&str]>| {
            let found = roles(&claims(json));
            assert_eq!(found, expected.map(|all| all.iter().map(ToString::to_string).collect()));
        };
        check(r#"{"roles":["a","b"]}"#, Some(&["a", "b"]));
        for other in [r#"{"roles":[]}"#, r#"{"roles":"a"}"#, r#"{"roles":["a",1]}"#, "{}"] {
            check(other, None);
        }
    }
}
