//! Attributes as JSON Schemas describe them.
//!
//! The types accept every value that a schema accepts. Keywords that TypeScript cannot express, such
//! as bounds of numbers, are passed over.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use wardgate_compiler::policy::model::SchemaRef;
use wardgate_compiler::resolve::model::Resolved;
use wardgate_compiler::schema::{Load, SchemaFile, Target, field, text};
use wardgate_compiler::yaml::{Kind, Node};

use super::shape::{Member, Members, Scalar, Shape};
use super::text::quoted;

/// What the schemas of policies describe.
#[derive(Default)]
pub(super) struct Described {
    resources: BTreeMap<String, Shape>,
    principal: Option<Shape>,
}

impl Described {
    /// Returns the attributes of a kind, which has those that are `used` too.
    pub(super) fn resource(&self, kind: &str, used: Shape) -> Shape {
        joined(self.resources.get(kind), used)
    }

    /// Returns the attributes of the principal.
    pub(super) fn principal(&self, used: Shape) -> Shape {
        joined(self.principal.as_ref(), used)
    }
}

/// Adds the members that a schema leaves open and that rules read.
fn joined(described: Option<&Shape>, used: Shape) -> Shape {
    let Some(shape) = described else { return used };
    let mut shape = shape.clone();
    if let (Some(members), Some(used)) = (&mut shape.members, used.members)
        && !members.is_closed
    {
        for (name, member) in used.named {
            members.named.entry(name).or_insert(member);
        }
    }
    shape
}

/// The files of schemas that were read.
pub(super) struct Schemas<'a> {
    load: &'a Load<'a>,
    files: RefCell<BTreeMap<String, Option<Rc<SchemaFile>>>>,
    /// The schemas that may still be read of one policy.
    fuel: Cell<usize>,
}

/// A schema in a file.
struct Place {
    file: Rc<SchemaFile>,
    target: Target,
}

impl<'a> Schemas<'a> {
    pub(super) fn new(load: &'a Load<'a>) -> Self {
        Self { load, files: RefCell::default(), fuel: Cell::new(0) }
    }

    /// Returns what the schemas describe that are in effect: those of policies of the root scope.
    pub(super) fn of(&self, resolved: &Resolved) -> Described {
        let mut found = Described::default();
        let mut principals = Vec::new();
        for policy in resolved.resource.iter().filter(|policy| policy.head.scope.is_empty()) {
            principals.push(self.shape(policy.schemas.principal.as_ref()));
            let resource = self.shape(policy.schemas.resource.as_ref());
            // Versions may differ: what one of them does not describe is open.
            match found.resources.get_mut(&policy.head.name) {
                Some(known) => known.add(&resource.unwrap_or_else(open)),
                None => {
                    let versions = resolved.resource.iter().filter(|other| {
                        other.head.scope.is_empty() && other.head.name == policy.head.name
                    });
                    if versions.filter(|other| other.schemas.resource.is_some()).count() > 0 {
                        found
                            .resources
                            .insert(policy.head.name.clone(), resource.unwrap_or_else(open));
                    }
                }
            }
        }
        if principals.iter().any(Option::is_some) {
            let all = principals.into_iter().map(|shape| shape.unwrap_or_else(open));
            found.principal = all.reduce(|mut all, shape| {
                all.add(&shape);
                all
            });
        }
        found
    }

    fn shape(&self, named: Option<&SchemaRef>) -> Option<Shape> {
        let named = named?;
        self.fuel.set(MAX_SCHEMAS);
        let mut shape = self.at(&Target::of_policy(&named.reference).ok()?, 0);
        shape.is_any = false;
        let members = shape.members.get_or_insert_with(Members::default);
        // Some actions are decided without the schema.
        if !named.ignore_when_actions.is_empty() {
            members.is_closed = false;
            members.named.values_mut().for_each(|member| member.is_required = false);
        }
        Some(Shape { members: shape.members, ..Shape::default() })
    }

    fn at(&self, target: &Target, depth: u32) -> Shape {
        let left = self.fuel.get();
        if left == 0 || depth > MAX_DEPTH {
            return Shape::any();
        }
        self.fuel.set(left.saturating_sub(1));
        let Some(file) = self.file(&target.file) else { return Shape::any() };
        let Some(node) = target.find(&file.root) else { return Shape::any() };
        let place = Place { file: Rc::clone(&file), target: target.clone() };
        if let Some(reference) = field(node, "$ref").and_then(text) {
            return self
                .follow(&place, reference)
                .map_or_else(Shape::any, |next| self.at(&next, depth.saturating_add(1)));
        }
        self.read(&place, node, depth.saturating_add(1))
    }

    fn follow(&self, place: &Place, reference: &str) -> Option<Target> {
        let found = place.target.follow(&place.file, reference).ok()?;
        let file = self.file(found.file())?;
        found.find(&file).ok()
    }

    fn file(&self, path: &str) -> Option<Rc<SchemaFile>> {
        let load = || (self.load)(path).ok().map(Rc::new);
        self.files.borrow_mut().entry(path.to_owned()).or_insert_with(load).clone()
    }

    fn read(&self, place: &Place, node: &Node, depth: u32) -> Shape {
        if let Some(listed) = values(node) {
            return listed;
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Kind::Seq(all)) = field(node, keyword).map(|all| &all.kind)
                && field(node, "properties").is_none()
                && field(node, "type").is_none()
            {
                let mut shape = Shape::default();
                for at in 0..all.len() {
                    shape.add(&self.at(&place.target.below(&[keyword, &at.to_string()]), depth));
                }
                return shape;
            }
        }
        let types = field(node, "type").map(words).unwrap_or_default();
        let has_properties = field(node, "properties").is_some();
        let mut shape = Shape::default();
        for name in &types {
            match *name {
                "string" if is_moment(node) => shape.scalars.insert(Scalar::Time),
                "string" => shape.scalars.insert(Scalar::Text),
                "number" | "integer" => shape.scalars.insert(Scalar::Number),
                "boolean" => shape.scalars.insert(Scalar::Bool),
                "null" => shape.scalars.insert(Scalar::Null),
                "array" => {
                    let element = self.element(place, node, depth);
                    shape.elements().add(&element);
                    true
                }
                "object" => {
                    shape.members = Some(self.members(place, node, depth));
                    true
                }
                _ => true,
            };
        }
        if types.is_empty() && (has_properties || field(node, "allOf").is_some()) {
            shape.members = Some(self.members(place, node, depth));
        }
        if shape.is_unknown() { Shape::any() } else { shape }
    }

    fn element(&self, place: &Place, node: &Node, depth: u32) -> Shape {
        match field(node, "items").map(|items| &items.kind) {
            Some(Kind::Map(_)) if field(node, "prefixItems").is_none() => {
                self.at(&place.target.below(&["items"]), depth)
            }
            _ => Shape::any(),
        }
    }

    fn members(&self, place: &Place, node: &Node, depth: u32) -> Members {
        let mut members = Members { is_closed: is_closed(node), ..Members::default() };
        if let Some(Kind::Map(entries)) = field(node, "properties").map(|all| &all.kind) {
            for key in entries.iter().filter_map(|entry| text(&entry.key)) {
                let shape = self.at(&place.target.below(&["properties", key]), depth);
                members.named.insert(key.to_owned(), Member { shape, is_required: false });
            }
        }
        if let Some(Kind::Seq(all)) = field(node, "allOf").map(|all| &all.kind) {
            for at in 0..all.len() {
                let part = self.at(&place.target.below(&["allOf", &at.to_string()]), depth);
                for (name, member) in part.members.into_iter().flat_map(|part| part.named) {
                    let known = members.named.entry(name).or_insert_with(|| member.clone());
                    known.is_required |= member.is_required;
                }
            }
        }
        for name in field(node, "required").map(words).unwrap_or_default() {
            let unknown = || Member { shape: Shape::any(), is_required: true };
            members.named.entry(name.to_owned()).or_insert_with(unknown).is_required = true;
        }
        members
    }
}

/// Returns attributes of which nothing is described.
fn open() -> Shape {
    Shape::object(Members::default())
}

fn is_closed(node: &Node) -> bool {
    let closed = |name| field(node, name).is_some_and(|node| node.kind == Kind::Bool(false));
    let has = |name: &&str| field(node, name).is_some();
    (closed("additionalProperties") || closed("unevaluatedProperties"))
        && !LEAVE_OPEN.iter().any(has)
}

fn is_moment(node: &Node) -> bool {
    field(node, "format")
        .and_then(text)
        .is_some_and(|format| matches!(format, "date-time" | "date"))
}

/// Returns the values that `const` or `enum` lists, if all can be written as types.
fn values(node: &Node) -> Option<Shape> {
    let listed: Vec<&Node> = match (field(node, "const"), field(node, "enum")) {
        (Some(only), _) => vec![only],
        (None, Some(Node { kind: Kind::Seq(items), .. })) => items.iter().collect(),
        _ => return None,
    };
    let mut shape = Shape::default();
    for value in listed {
        shape.scalars.insert(match &value.kind {
            Kind::Null => Scalar::Null,
            Kind::Bool(value) => Scalar::Literal(value.to_string()),
            Kind::Integer(_) | Kind::Float(_) => Scalar::Number,
            Kind::String(text, _) => Scalar::Literal(quoted(text)),
            _ => return Some(Shape::any()),
        });
    }
    Some(shape)
}

fn words(node: &Node) -> Vec<&str> {
    match &node.kind {
        Kind::String(name, _) => vec![name],
        Kind::Seq(items) => items.iter().filter_map(text).collect(),
        _ => Vec::new(),
    }
}

/// Keywords by which a schema allows members elsewhere.
const LEAVE_OPEN: [&str; 7] =
    ["patternProperties", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "$dynamicRef"];

/// Of schemas inside of each other, and of references.
const MAX_DEPTH: u32 = 24;

/// The schemas that one policy reads: one that refers to itself has no end.
const MAX_SCHEMAS: usize = 2000;
