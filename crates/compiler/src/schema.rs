//! JSON Schemas in, the table's own words out (see [`wardgate_engine::schema`]).
//!
//! Drafts 4 to 2020-12, as Cerbos reads them: keywords that no draft has are passed over, and a
//! format always counts. A meaningful keyword without support is an error, because to ignore it
//! would let attributes through that it refuses. References reach this file and other files of
//! `_schemas`, and nothing else: a schema is never fetched.

mod keywords;
mod missing;
mod reference;
mod resource;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;

use wardgate_engine::schema::Keyword;

use crate::diagnostics::{Code, Diagnostic};
use crate::policy::model::SchemaRef;
use crate::pool::PoolBuilder;
use crate::source::{Location, Position, SourceFile};
use crate::words::index;
use crate::yaml::{Kind, Node};
use keywords::{Reader, draft_named};
pub use missing::missing_schemas;
pub use reference::Target;
use resource::Resources;

/// One file of `_schemas`.
#[derive(Debug)]
pub struct SchemaFile {
    /// The text, for messages.
    pub source: Arc<SourceFile>,
    /// The tree of the file.
    pub root: Node,
    resources: OnceCell<Resources>,
}

impl SchemaFile {
    /// Takes a file that was read.
    #[must_use]
    pub const fn new(source: Arc<SourceFile>, root: Node) -> Self {
        Self { source, root, resources: OnceCell::new() }
    }

    /// Returns the draft of the file; `None` if it names an unknown one.
    fn draft(&self) -> Option<u32> {
        field(&self.root, "$schema").map_or(Some(2020), |name| draft_named(text(name)?))
    }

    /// Returns the resources in the file; `path` is its path in `_schemas`.
    fn resources(&self, path: &str) -> &Resources {
        let find = || Resources::of(path, &self.root, self.draft().unwrap_or(2020));
        self.resources.get_or_init(find)
    }
}

/// The cause of an unavailable file of `_schemas`.
#[derive(Debug)]
pub enum Unavailable {
    /// There is no such file.
    Missing,
    /// It is not well formed.
    Broken(Vec<Diagnostic>),
}

/// A loader of schema files: takes a path inside `_schemas` and returns the file.
pub type Load<'a> = dyn Fn(&str) -> Result<SchemaFile, Unavailable> + 'a;

/// Writes the schemas that policies name, each node once.
pub struct SchemaWriter<'a> {
    load: &'a Load<'a>,
    files: BTreeMap<String, Rc<SchemaFile>>,
    ids: BTreeMap<Target, u32>,
    /// Schemas that policies name and that lead to an error that is already reported.
    broken: BTreeSet<Target>,
    queue: VecDeque<Target>,
    bodies: Vec<Vec<u32>>,
    /// Names of dynamic references, whose target depends on the way to them, with the location of
    /// the first of each.
    dynamic: Vec<(String, Location)>,
}

/// An error at one position of a schema.
#[derive(Debug)]
pub struct Fault {
    at: Position,
    message: String,
    found: Option<String>,
    expected: Option<String>,
}

impl Fault {
    fn new(at: Position, message: impl Into<String>) -> Self {
        Self { at, message: message.into(), found: None, expected: None }
    }

    /// Adds the found and the expected value.
    fn because(self, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { found: Some(found.into()), expected: Some(expected.into()), ..self }
    }
}

impl<'a> SchemaWriter<'a> {
    /// Makes a writer without schemas.
    #[must_use]
    pub fn new(load: &'a Load<'a>) -> Self {
        Self {
            load,
            files: BTreeMap::new(),
            ids: BTreeMap::new(),
            broken: BTreeSet::new(),
            queue: VecDeque::new(),
            bodies: Vec::new(),
            dynamic: Vec::new(),
        }
    }

    /// Returns the node of the schema that a policy names.
    ///
    /// # Errors
    /// Everything that is wrong with the schema and with those it refers to.
    pub fn add(
        &mut self,
        pool: &mut PoolBuilder,
        wanted: &SchemaRef,
    ) -> Result<u32, Vec<Diagnostic>> {
        let fail = |fault: Fault| {
            let error = Diagnostic::error(Code::InvalidSchema, &wanted.location, fault.message);
            vec![error.with(fault.found, fault.expected)]
        };
        let target = Target::of_policy(&wanted.reference).map_err(fail)?;
        let unusable = || {
            fail(Fault::new(
                Position::START,
                format!("schema `{}` cannot be used", wanted.reference),
            ))
        };
        if self.broken.contains(&target) {
            return Err(unusable());
        }
        let known = self.bodies.len();
        let id = self.node(target.clone());
        let mut errors = Vec::new();
        if matches!(self.file(&target.file), Err(Unavailable::Missing)) {
            self.queue.clear();
            self.forget(known);
            return Err(fail(missing(&target.file)));
        }
        while let Some(next) = self.queue.pop_front() {
            errors.extend(self.write(pool, &next));
        }
        if errors.is_empty() {
            errors.extend(self.undecided());
        }
        if errors.is_empty() {
            return Ok(id);
        }
        self.forget(known);
        self.broken.insert(target);
        errors.extend(unusable());
        Err(errors)
    }

    /// Reports dynamic references with more than one possible target, each name once. With a single
    /// target, the way to the reference makes no difference, and it is an ordinary reference.
    fn undecided(&mut self) -> Vec<Diagnostic> {
        let declared = |name: &str| {
            let of = |(path, file): (&String, &Rc<SchemaFile>)| {
                file.resources(path).dynamic.iter().filter(|other| *other == name).count()
            };
            self.files.iter().map(of).sum::<usize>()
        };
        let mut found = Vec::new();
        self.dynamic.retain(|(name, location)| {
            let is_one = declared(name) <= 1;
            if !is_one {
                found.push(ambiguous(name, location));
            }
            is_one
        });
        found
    }

    /// Removes the nodes from `first` on: another schema that leads to them is as wrong as this
    /// one.
    fn forget(&mut self, first: usize) {
        self.bodies.truncate(first);
        self.ids.retain(|_, id| *id < index(first));
    }

    /// Returns the finished section.
    #[must_use]
    pub fn finish(self) -> Vec<u32> {
        let mut offset = self.bodies.len();
        let mut words = Vec::new();
        for body in &self.bodies {
            words.push(index(offset));
            offset = offset.saturating_add(body.len());
        }
        words.extend(self.bodies.into_iter().flatten());
        words
    }

    fn node(&mut self, target: Target) -> u32 {
        if let Some(id) = self.ids.get(&target) {
            return *id;
        }
        let id = index(self.bodies.len());
        self.bodies.push(Vec::new());
        self.ids.insert(target.clone(), id);
        self.queue.push_back(target);
        id
    }

    fn write(&mut self, pool: &mut PoolBuilder, target: &Target) -> Vec<Diagnostic> {
        let file = match self.file(&target.file) {
            Ok(file) => file,
            Err(Unavailable::Broken(errors)) => return errors,
            Err(Unavailable::Missing) => {
                let message = missing(&target.file).message;
                return vec![Diagnostic::in_file(Code::InvalidSchema, &target.file, message)];
            }
        };
        let mut reader = Reader { writer: self, pool, file: &file, target, faults: Vec::new() };
        let body = reader.schema();
        let faults = reader.faults;
        if let Some(location) =
            self.ids.get(target).and_then(|id| self.bodies.get_mut(usize::try_from(*id).ok()?))
        {
            *location = body;
        }
        faults.into_iter().map(|fault| diagnostic(&file, target, fault)).collect()
    }

    fn file(&mut self, path: &str) -> Result<Rc<SchemaFile>, Unavailable> {
        if let Some(file) = self.files.get(path) {
            return Ok(Rc::clone(file));
        }
        let file = Rc::new((self.load)(path)?);
        self.files.insert(path.to_owned(), Rc::clone(&file));
        Ok(file)
    }
}

fn ambiguous(name: &str, location: &Location) -> Diagnostic {
    let (keyword, name) = match name {
        "" => ("$recursiveAnchor", "true"),
        name => ("$dynamicAnchor", name),
    };
    let message = format!(
        "more than one schema has `{keyword}: {name}`, and a reference to it is not supported"
    );
    Diagnostic::error(Code::InvalidSchema, location, message)
}

fn missing(file: &str) -> Fault {
    Fault::new(Position::START, format!("schema `{file}` does not exist in `_schemas`"))
}

/// Returns the words of a node whose keywords are `clauses`.
fn body(mut clauses: Vec<(Keyword, Vec<u32>)>) -> Vec<u32> {
    wardgate_engine::order::sort_by(&mut clauses, |a, b| a.0.cmp(&b.0));
    let mut words = vec![index(clauses.len())];
    for (keyword, rest) in clauses {
        words.extend([keyword.code(), index(rest.len())]);
        words.extend(rest);
    }
    words
}

fn location(file: &SchemaFile, target: &Target, position: Position) -> Location {
    let path = format!("#{}", target.pointer);
    Location { file: Arc::clone(&file.source), position, path: path.into() }
}

fn diagnostic(file: &SchemaFile, target: &Target, fault: Fault) -> Diagnostic {
    let location = location(file, target, fault.at);
    Diagnostic::error(Code::InvalidSchema, &location, fault.message)
        .with(fault.found, fault.expected)
}

/// Returns the value under `key` of a map.
pub fn field<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    let Kind::Map(entries) = &node.kind else { return None };
    entries.iter().find(|entry| text(&entry.key) == Some(key)).map(|entry| &entry.value)
}

/// Returns the text of a string node.
pub fn text(node: &Node) -> Option<&str> {
    match &node.kind {
        Kind::String(text, _) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
