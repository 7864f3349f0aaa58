//! Scripts of this program in a Node process, where they call the npm package.
//!
//! A script gets its work on standard input and answers on standard output, so that no file is
//! written. A failure names the script, and the option that avoids Node.

use std::io::ErrorKind;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::request::Request;

use crate::failure::{self, Failure, Result};
use crate::output::InOneLine;

/// A script, and how people speak of it.
pub(crate) struct Script {
    pub(crate) text: &'static str,
    /// The task of the script, as the words after `cannot`.
    pub(crate) does: &'static str,
    /// The same task without Node.
    pub(crate) instead: &'static str,
}

impl Script {
    /// Starts Node, in the folder of the package if one is given.
    pub(crate) fn start(&self, package: Option<&Path>) -> Result<Child> {
        let mut node = Command::new("node");
        node.args(["--expose-gc", "--input-type=module", "--eval", self.text]);
        node.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(folder) = package {
            let about = std::fs::metadata(folder).map_err(|e| Failure::reading(folder, &e))?;
            if !about.is_dir() {
                let shown = folder.in_one_line();
                return Err(Failure::usage(format!(
                    "`{shown}` is not a folder of the npm package"
                )));
            }
            // A package knows itself by its name.
            node.current_dir(folder);
        }
        node.spawn().map_err(|error| match error.kind() {
            ErrorKind::NotFound => {
                let instead = self.instead;
                self.failure(&format!(
                    "there is no `node` on the path: install Node 20 or newer, or {instead}"
                ))
            }
            _ => self.failure(&failure::reason(&error)),
        })
    }

    pub(crate) fn failure(&self, why: &str) -> Failure {
        Failure::system(self.unable(why))
    }

    pub(crate) fn unable(&self, why: &str) -> String {
        format!("cannot {} in Node: {why}", self.does)
    }
}

/// Returns the error message of Node within its last output.
pub(crate) fn last_words(text: &str) -> Option<&str> {
    let error = text.lines().find(|line| line.contains("Error") || line.starts_with("node:"));
    error.map(str::trim)
}

/// Returns a request as the package takes it, with the list of its actions.
pub(crate) fn question(request: &Request) -> Attr {
    let Request { principal, resource, aux_data, .. } = request;
    let principal = object([
        ("id", text(&principal.id)),
        ("roles", list(&principal.roles)),
        ("attr", map(&principal.attr)),
        ("policyVersion", text(&principal.policy_version)),
        ("scope", text(&principal.scope)),
    ]);
    let resource = object([
        ("kind", text(&resource.kind)),
        ("id", text(&resource.id)),
        ("attr", map(&resource.attr)),
        ("policyVersion", text(&resource.policy_version)),
        ("scope", text(&resource.scope)),
    ]);
    let data = object([("jwt", map(&aux_data.jwt)), ("jwts", map(&aux_data.jwts))]);
    object([
        ("principal", Some(principal)),
        ("resource", Some(resource)),
        ("auxData", Some(data).filter(|data| *data != Attr::Map(AttrMap::new()))),
        ("actions", list(&request.actions)),
    ])
}

/// Makes an object of the members that are there.
fn object<const N: usize>(members: [(&str, Option<Attr>); N]) -> Attr {
    let there = members.into_iter().filter_map(|(name, value)| Some((name.into(), value?)));
    Attr::Map(there.collect())
}

fn text(text: &str) -> Option<Attr> {
    (!text.is_empty()).then(|| Attr::String(text.into()))
}

fn list(names: &[String]) -> Option<Attr> {
    Some(Attr::List(names.iter().map(|name| Attr::String(name.as_str().into())).collect()))
}

fn map(map: &AttrMap) -> Option<Attr> {
    (!map.entries().is_empty()).then(|| Attr::Map(map.clone()))
}

/// Returns a time in milliseconds, as JavaScript has it.
pub(crate) fn milliseconds(time: Timestamp) -> i64 {
    time.seconds() * 1000 + i64::from(time.nanos() / 1_000_000)
}

#[cfg(test)]
mod tests {
    use wardgate_engine::attr::{Attr, AttrMap};
    use wardgate_engine::request::{AuxData, Principal, Request, Resource};
    use wardgate_engine::wire;

    use super::question;

    fn check(request: &Request, expected: &str) {
        assert_eq!(wire::attr_json(&question(request)), expected);
    }

    #[test]
    fn absent_values_are_left_out() {
        let mut request = Request {
            principal: Principal {
                id: "ann".into(),
                roles: vec!["member".into()],
                ..Principal::default()
            },
            resource: Resource { kind: "photo".into(), id: "p1".into(), ..Resource::default() },
            actions: vec!["view".into(), "edit".into()],
            ..Request::default()
        };
        let (principal, resource) =
            (r#""id":"ann","roles":["member"]"#, r#""id":"p1","kind":"photo""#);
        let entry = r#"{"actions":["view","edit"]"#;
        check(
            &request,
            &format!(r#"{entry},"principal":{{{principal}}},"resource":{{{resource}}}}}"#),
        );
        let claims: AttrMap = [("age".into(), Attr::Number(-0.0))].into_iter().collect();
        request.aux_data = AuxData { jwt: claims, ..AuxData::default() };
        request.resource.scope = "acme".into();
        check(
            &request,
            &format!(
                r#"{entry},"auxData":{{"jwt":{{"age":-0}}}},"principal":{{{principal}}},"resource":{{{resource},"scope":"acme"}}}}"#
            ),
        );
    }
}
