//! Questions of AuthZEN as S-expressions, for rules of SPOCP.
//!
//! The same question always gives the same expression, and each of its parts has a fixed position:
//! a property of a resource cannot appear where rules expect the action. Properties are in the
//! order of their names, byte by byte, unless a [`Shape`] lists them in another order.
//!
//! ```text
//! (TYPE (id ID)(action NAME (name value)...)(subject (type TYPE)(id ID)(name value)...)
//!       (properties (name value)...)(context (name value)...))
//! ```

use wardgate_engine::attr::Attr;
use wardgate_engine::wire::attr_json;

use super::convert::Properties;
use super::read::bad;
use super::{AuthzenError, Directory, Evaluation, Result};

/// The properties of an expression, in order. Properties that are not listed are left out, and a
/// listed one that is missing has no value. `None` means all of them in the order of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// The properties of the subject.
    pub subject: Option<Vec<String>>,
    /// The properties of the action.
    pub action: Option<Vec<String>>,
    /// The properties of the resource.
    pub resource: Option<Vec<String>>,
    /// The members of the context.
    pub context: Option<Vec<String>>,
}

impl Evaluation {
    /// Returns the canonical form of the S-expression that this question means. The directory
    /// supplies the properties that the question does not name.
    ///
    /// The bytes that are written are taken from `left`, the number of bytes that the expressions
    /// of one request may have together; if it does not suffice, `left` becomes 0.
    ///
    /// # Errors
    /// A name is empty or cannot begin a list, or `left` does not suffice.
    pub fn expression(
        &self,
        directory: &dyn Directory,
        shape: &Shape,
        left: &mut usize,
    ) -> Result<Vec<u8>, AuthzenError> {
        let Self { subject, action, resource, context } = self;
        let known = directory.subject(&subject.kind, &subject.id);
        let of_subject = Properties::new("subject.properties", subject, known);
        let known = directory.resource(&resource.kind, &resource.id);
        let of_resource = Properties::new("resource.properties", resource, known);
        let mut out = Writer { text: Vec::new(), left };
        out.list(&resource.kind, |out| {
            out.pair("id", &resource.id)?;
            out.list("action", |out| {
                out.atom(&action.name)?;
                out.members(&Properties::of(&action.properties), shape.action.as_deref())
            })?;
            out.list("subject", |out| {
                out.pair("type", &subject.kind)?;
                out.pair("id", &subject.id)?;
                out.members(&of_subject, shape.subject.as_deref())
            })?;
            out.list("properties", |out| out.members(&of_resource, shape.resource.as_deref()))?;
            out.list("context", |out| {
                out.members(&Properties::of(context), shape.context.as_deref())
            })
        })?;
        Ok(out.text)
    }
}

/// Writes the canonical form, up to the bytes that are left.
struct Writer<'l> {
    text: Vec<u8>,
    left: &'l mut usize,
}

impl Writer<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        let Some(left) = self.left.checked_sub(bytes.len()) else {
            *self.left = 0;
            return Err(bad("the S-expressions of the request would be too long".to_owned()));
        };
        *self.left = left;
        self.text.extend_from_slice(bytes);
        Ok(())
    }

    fn list(&mut self, tag: &str, write: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        // A list that begins with `*` is a star form.
        if tag.is_empty() || tag == "*" {
            return Err(bad(format!("`{tag}` is not a name that an S-expression can have")));
        }
        self.put(b"(")?;
        self.atom(tag)?;
        write(self)?;
        self.put(b")")
    }

    fn pair(&mut self, tag: &str, text: &str) -> Result<()> {
        self.list(tag, |out| out.atom(text))
    }

    /// Writes an atom; an empty text is not an atom.
    fn atom(&mut self, text: &str) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.put(format!("{}:", text.len()).as_bytes())?;
        self.put(text.as_bytes())
    }

    fn members(&mut self, properties: &Properties<'_>, names: Option<&[String]>) -> Result<()> {
        match names {
            None => properties.entries().try_for_each(|(name, value)| self.member(name, value)),
            Some(names) => names.iter().try_for_each(|name| match properties.get(name) {
                Some(value) => self.member(name, value),
                None => self.list(name, |_| Ok(())),
            }),
        }
    }

    /// Writes a member. The reader of requests bounds the depth.
    fn member(&mut self, name: &str, value: &Attr) -> Result<()> {
        self.list(name, |out| match value {
            Attr::Map(map) => out.members(&Properties::of(map), None),
            Attr::List(items) => items.iter().try_for_each(|item| out.item(item)),
            Attr::String(text) => out.atom(text),
            other => out.atom(&attr_json(other)),
        })
    }

    /// Writes an element of a list, whose elements keep their positions: text as it is, and JSON
    /// for values without an atom.
    fn item(&mut self, item: &Attr) -> Result<()> {
        match item {
            Attr::String(text) if !text.is_empty() => self.atom(text),
            other => self.atom(&attr_json(other)),
        }
    }
}
