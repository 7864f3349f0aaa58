//! The certain restrictions of a schema on an attribute.
//!
//! Only keywords that always restrict are read: `properties`, `type`, `enum` and `const`. Others
//! can only restrict further, or they leave attributes open, and then nothing is reported.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::reads::Value;
use wardgate_compiler::policy::model::SchemaRef;
use wardgate_compiler::schema::{Load, SchemaFile, Target, field, text};
use wardgate_compiler::yaml::{Kind, Node};

/// The files of schemas that were read.
pub(super) struct Shapes<'a> {
    load: &'a Load<'a>,
    files: RefCell<BTreeMap<String, Option<Rc<SchemaFile>>>>,
}

/// A place in a schema.
#[derive(Clone)]
pub(super) struct Shape {
    file: Rc<SchemaFile>,
    target: Target,
}

impl<'a> Shapes<'a> {
    pub(super) fn new(load: &'a Load<'a>) -> Self {
        Self { load, files: RefCell::default() }
    }

    /// Returns the schema that a policy names. The compiler reports its errors, not the linter.
    pub(super) fn of(&self, named: &SchemaRef) -> Option<Shape> {
        self.at(Target::of_policy(&named.reference).ok()?)
    }

    fn at(&self, target: Target) -> Option<Shape> {
        let mut files = self.files.borrow_mut();
        let load = || (self.load)(&target.file).ok().map(Rc::new);
        let file = files.entry(target.file.clone()).or_insert_with(load).clone()?;
        self.resolved(Shape { file, target }, &mut files)
    }

    /// Follows references until there is none.
    fn resolved(
        &self,
        mut shape: Shape,
        files: &mut BTreeMap<String, Option<Rc<SchemaFile>>>,
    ) -> Option<Shape> {
        for _ in 0..MAX_REFERENCES {
            let Some(reference) = shape.node().and_then(|node| field(node, "$ref")).and_then(text)
            else {
                return Some(shape);
            };
            let found = shape.target.follow(&shape.file, reference).ok()?;
            let load = || (self.load)(found.file()).ok().map(Rc::new);
            let file = files.entry(found.file().to_owned()).or_insert_with(load).clone()?;
            let target = found.find(&file).ok()?;
            shape = Shape { file, target };
        }
        None
    }

    /// Returns the schema of the value under `keys`, unless an object on the way does not list the
    /// next one.
    pub(super) fn inside(&self, shape: &Shape, keys: &[String]) -> Result<Shape, NotListed> {
        let mut here = shape.clone();
        for key in keys {
            match here.property(key)? {
                Property::Listed(target) => match self.at(target) {
                    Some(next) => here = next,
                    None => return Ok(here.nothing()),
                },
                Property::Open => return Ok(here.nothing()),
            }
        }
        Ok(here)
    }
}

/// An object's schema lists its properties without this one.
#[derive(Clone, Copy, Debug)]
pub(super) struct NotListed {
    /// True if it refuses those that it does not list.
    pub(super) is_refused: bool,
}

/// The restriction of an object's schema on a property.
enum Property {
    Listed(Target),
    /// It may be anything.
    Open,
}

impl Shape {
    fn node(&self) -> Option<&Node> {
        self.target.find(&self.file.root)
    }

    /// Returns the properties that an object must have.
    pub(super) fn required(&self) -> Vec<&str> {
        let names = self.node().and_then(|node| field(node, "required"));
        match names.map(|names| &names.kind) {
            Some(Kind::Seq(names)) => names.iter().filter_map(text).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns a shape without a restriction.
    fn nothing(&self) -> Self {
        Self { file: Rc::clone(&self.file), target: self.target.below(&["\u{0}"]) }
    }

    fn property(&self, key: &str) -> Result<Property, NotListed> {
        let Some(node) = self.node() else { return Ok(Property::Open) };
        let Some(properties) = field(node, "properties") else { return Ok(Property::Open) };
        if field(properties, key).is_some() {
            return Ok(Property::Listed(self.target.below(&["properties", key])));
        }
        let closed = |keyword| field(node, keyword).map(|node| node.kind == Kind::Bool(false));
        let is_closed = closed("additionalProperties") == Some(true);
        let others_apply = LEAVE_OPEN.iter().any(|keyword| field(node, keyword).is_some());
        if is_closed && field(node, "patternProperties").is_none() {
            return Err(NotListed { is_refused: true });
        }
        if others_apply || closed("additionalProperties").is_some() {
            return Ok(Property::Open);
        }
        match closed("unevaluatedProperties") {
            Some(true) => Err(NotListed { is_refused: true }),
            Some(false) => Ok(Property::Open),
            None => Err(NotListed { is_refused: false }),
        }
    }

    /// Returns the expected values, if the schema excludes `value`.
    pub(super) fn excludes(&self, value: &Value) -> Option<String> {
        let node = self.node()?;
        let types = field(node, "type").map(names).unwrap_or_default();
        let fits = |name: &&str| {
            *name == value.type_name() || (*name == "integer" && value.type_name() == "number")
        };
        if !types.is_empty() && !types.iter().any(fits) {
            return Some(format!("a value of type `{}`", types.join("` or `")));
        }
        let listed: Vec<&Node> = match (field(node, "const"), field(node, "enum")) {
            (Some(only), _) => vec![only],
            (None, Some(Node { kind: Kind::Seq(items), .. })) => items.iter().collect(),
            _ => return None,
        };
        if listed.iter().any(|node| is_value(node, value)) {
            return None;
        }
        let listed: Vec<String> =
            listed.iter().take(MAX_SHOWN).filter_map(|node| shown(node)).collect();
        match listed.as_slice() {
            [only] => Some(only.clone()),
            all => Some(format!("one of {}", all.join(", "))),
        }
    }
}

fn names(node: &Node) -> Vec<&str> {
    match &node.kind {
        Kind::String(name, _) => vec![name],
        Kind::Seq(items) => items.iter().filter_map(text).collect(),
        _ => Vec::new(),
    }
}

/// Returns true if a value may be equal.
fn is_value(node: &Node, value: &Value) -> bool {
    match (&node.kind, value) {
        (Kind::Bool(known), Value::Bool(value)) => known == value,
        (Kind::String(known, _), Value::Text(value)) => known.as_ref() == value,
        (Kind::Integer(known), Value::Number(value)) => {
            i32::try_from(*known).map_or(true, |known| f64::from(known) == *value)
        }
        (Kind::Float(known), Value::Number(value)) => known == value,
        _ => false,
    }
}

fn shown(node: &Node) -> Option<String> {
    Some(match &node.kind {
        Kind::Null => "`null`".to_owned(),
        Kind::Bool(value) => format!("`{value}`"),
        Kind::Integer(value) => format!("`{value}`"),
        Kind::Float(value) => format!("`{value}`"),
        Kind::String(text, _) => format!("`\"{text}\"`"),
        _ => return None,
    })
}

/// Keywords by which a schema allows properties elsewhere.
const LEAVE_OPEN: [&str; 12] = [
    "allOf",
    "anyOf",
    "oneOf",
    "if",
    "then",
    "else",
    "not",
    "dependentSchemas",
    "dependencies",
    "patternProperties",
    "propertyNames",
    "$dynamicRef",
];

/// Of references that lead to each other.
const MAX_REFERENCES: usize = 32;

/// Values of an `enum` that a message lists.
const MAX_SHOWN: usize = 8;
