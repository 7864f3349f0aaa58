//! Questions of AuthZEN as S-expressions, for rules of SPOCP.
//!
//! The same question always gives the same expression, and each of its parts has its place: what a PEP says of a
//! resource cannot stand where rules look for the action. Properties stand in the order of their names, byte by byte,
//! unless a [`Shape`] says which ones there are and in which order.
//!
//! ```text
//! (TYPE (id ID)(action NAME (name value)...)(subject (type TYPE)(id ID)(name value)...)
//!       (properties (name value)...)(context (name value)...))
//! ```

use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_engine::wire::attr_json;

use super::read::bad;
use super::{AuthzenError, Directory, Evaluation, joined};

/// Which properties an expression has, and in which order. Those that are not named are left out, and one that is named and not
/// there has no value. `None` is all of them in the order of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Those of the subject.
    pub subject: Option<Vec<String>>,
    /// Those of the action.
    pub action: Option<Vec<String>>,
    /// Those of the resource.
    pub resource: Option<Vec<String>>,
    /// The members of the context.
    pub context: Option<Vec<String>>,
}

impl Evaluation {
    /// Returns the canonical form of the S-expression that this question means. What the directory knows stands in for
    /// properties that the question does not name.
    ///
    /// # Errors
    /// Something has no name, or one that no list can begin with.
    pub fn expression(
        &self,
        directory: &dyn Directory,
        shape: &Shape,
    ) -> Result<Vec<u8>, AuthzenError> {
        let Self { subject, action, resource, context } = self;
        let known = directory.subject(&subject.kind, &subject.id);
        let of_subject = joined(known, subject.properties.as_ref());
        let known = directory.resource(&resource.kind, &resource.id);
        let of_resource = joined(known, resource.properties.as_ref());
        let mut out = Writer::default();
        out.list(&resource.kind, |out| {
            out.pair("id", &resource.id)?;
            out.list("action", |out| {
                out.atom(&action.name);
                out.members(&action.properties, shape.action.as_deref())
            })?;
            out.list("subject", |out| {
                out.pair("type", &subject.kind)?;
                out.pair("id", &subject.id)?;
                out.members(&of_subject, shape.subject.as_deref())
            })?;
            out.list("properties", |out| out.members(&of_resource, shape.resource.as_deref()))?;
            out.list("context", |out| out.members(context, shape.context.as_deref()))
        })?;
        Ok(out.0)
    }
}

/// Writes the canonical form.
#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn list(
        &mut self,
        tag: &str,
        write: impl FnOnce(&mut Self) -> Result<(), AuthzenError>,
    ) -> Result<(), AuthzenError> {
        // A list that begins with `*` stands for others.
        if tag.is_empty() || tag == "*" {
            return Err(bad(format!("`{tag}` is no name that an S-expression can have")));
        }
        self.0.push(b'(');
        self.atom(tag);
        write(self)?;
        self.0.push(b')');
        Ok(())
    }

    fn pair(&mut self, tag: &str, text: &str) -> Result<(), AuthzenError> {
        self.list(tag, |out| {
            out.atom(text);
            Ok(())
        })
    }

    /// Writes an atom; one that is empty is none.
    fn atom(&mut self, text: &str) {
        if !text.is_empty() {
            self.0.extend_from_slice(format!("{}:{text}", text.len()).as_bytes());
        }
    }

    fn members(&mut self, map: &AttrMap, names: Option<&[String]>) -> Result<(), AuthzenError> {
        match names {
            None => map.entries().iter().try_for_each(|(name, value)| self.member(name, value)),
            Some(names) => names.iter().try_for_each(|name| match map.get(name) {
                Some(value) => self.member(name, value),
                None => self.list(name, |_| Ok(())),
            }),
        }
    }

    /// Writes a member. The depth is bounded by that of what was read.
    fn member(&mut self, name: &str, value: &Attr) -> Result<(), AuthzenError> {
        self.list(name, |out| match value {
            Attr::Map(map) => out.members(map, None),
            Attr::List(items) => {
                items.iter().for_each(|item| out.item(item));
                Ok(())
            }
            Attr::String(text) => {
                out.atom(text);
                Ok(())
            }
            other => {
                out.atom(&attr_json(other));
                Ok(())
            }
        })
    }

    /// Writes an element of a list, of which each has its place: text as it is, and JSON where there is no atom for it.
    fn item(&mut self, item: &Attr) {
        match item {
            Attr::String(text) if !text.is_empty() => self.atom(text),
            other => self.atom(&attr_json(other)),
        }
    }
}
