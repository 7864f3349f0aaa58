//! From the keywords of one schema to the words of one node.
//!
//! The keywords are read by subject, as the drafts order them: each subject has a file, and passes
//! over unknown keywords. A keyword that no subject knows has no meaning.

mod arrays;
mod logic;
mod objects;
mod read;
mod scalars;
mod values;

use wardgate_engine::cel::pool::ConstTag;
use wardgate_engine::schema::Keyword;

use super::reference::Target;
use super::{Fault, SchemaFile, SchemaWriter, body, field, text};
use crate::pool::PoolBuilder;
use crate::words::index;
use crate::yaml::{Entry, Kind, Node};
use read::{list, word, wrong};

/// Reads one schema.
pub(super) struct Reader<'r, 'a> {
    pub(super) writer: &'r mut SchemaWriter<'a>,
    pub(super) pool: &'r mut PoolBuilder,
    pub(super) file: &'r SchemaFile,
    pub(super) target: &'r Target,
    pub(super) faults: Vec<Fault>,
}

/// One keyword of a schema, as it is written.
#[derive(Clone, Copy)]
struct KeywordEntry<'n> {
    draft: u32,
    schema: &'n Node,
    name: &'n str,
    value: &'n Node,
}

type Clauses = Vec<(Keyword, Vec<u32>)>;
type Answer<T> = Result<T, Fault>;

impl Reader<'_, '_> {
    /// Returns the words of the node.
    pub(super) fn schema(&mut self) -> Vec<u32> {
        let file = self.file;
        let Some(node) = self.target.find(&file.root) else {
            let message = format!("the reference `#{}` has no target", self.target.pointer);
            self.faults.push(Fault::new(file.root.position, message));
            return body(Vec::new());
        };
        match &node.kind {
            Kind::Bool(true) => body(Vec::new()),
            Kind::Bool(false) => body(vec![(Keyword::Never, Vec::new())]),
            Kind::Map(entries) => {
                self.unambiguous(node);
                body(self.keywords(node, entries))
            }
            _ => {
                let fault = wrong(node, "an object, `true` or `false`");
                self.faults.push(Fault { message: "this is not a schema".to_owned(), ..fault });
                body(Vec::new())
            }
        }
    }

    fn keywords(&mut self, node: &Node, entries: &[Entry]) -> Clauses {
        let draft = self.draft();
        let lone_reference = draft < 2019 && field(node, "$ref").is_some();
        let mut clauses = Vec::new();
        for entry in entries {
            let name = text(&entry.key).unwrap_or_default();
            if lone_reference && name != "$ref" {
                continue;
            }
            match self.clauses(&KeywordEntry { draft, schema: node, name, value: &entry.value }) {
                Ok(more) => clauses.extend(more),
                Err(fault) if fault.message.is_empty() => {
                    let message = format!("`{name}` has a wrong value");
                    self.faults.push(Fault { message, ..fault });
                }
                Err(fault) => self.faults.push(fault),
            }
        }
        clauses
    }

    /// Reports a URL or an anchor that two schemas of the file have.
    fn unambiguous(&mut self, node: &Node) {
        let file = self.file;
        let twice = file.resources(&self.target.file).twice.as_ref();
        if let Some(name) = twice.filter(|_| self.target.pointer.is_empty()) {
            let message = format!("two schemas have the name `{name}`");
            self.faults.push(Fault::new(node.position, message));
        }
    }

    fn draft(&mut self) -> u32 {
        let found = self.file.draft();
        let name = field(&self.file.root, "$schema").filter(|_| self.target.pointer.is_empty());
        if let Some(name) = name.filter(|_| found.is_none()) {
            let fault = wrong(
                name,
                "a draft from 4 to 2020-12, such as `https://json-schema.org/draft/2020-12/schema`",
            );
            self.faults.push(Fault {
                message: "this draft of JSON Schema is unknown".to_owned(),
                ..fault
            });
        }
        found.unwrap_or(2020)
    }

    /// Returns the clauses of a keyword; none if it has no meaning, or has it through another
    /// keyword.
    fn clauses(&mut self, keyword: &KeywordEntry<'_>) -> Answer<Clauses> {
        let subjects = [
            Self::of_values,
            Self::of_objects,
            Self::of_arrays,
            Self::of_texts,
            Self::of_numbers,
            Self::of_logic,
            Self::of_references,
        ];
        for subject in subjects {
            if let Some(clauses) = subject(self, keyword)? {
                return Ok(clauses);
            }
        }
        Ok(Vec::new())
    }

    fn schema_list(&mut self, keyword: &str, value: &Node) -> Answer<Vec<u32>> {
        let count = list(value)?.len();
        Ok((0..count).map(|at| self.child(&[keyword, &at.to_string()])).collect())
    }

    fn words(&mut self, value: &Node) -> Answer<Vec<u32>> {
        list(value)?.iter().map(|item| Ok(self.pool.string(word(item)?))).collect()
    }

    fn pattern(&mut self, value: &Node) -> Answer<u32> {
        let pattern = word(value)?;
        let regex = crate::regex::compile(pattern).map_err(|error| {
            let message = format!("this is not a regular expression: {}", error.kind.text());
            let found = pattern.get(error.quoted).filter(|part| !part.is_empty());
            let found = found.map(|part| format!("`{part}`"));
            Fault { found, ..Fault::new(value.position, message) }
        })?;
        let mut words = vec![self.pool.string(pattern), index(regex.words().len())];
        words.extend_from_slice(regex.words());
        Ok(self.pool.constant(ConstTag::Regex, &words))
    }

    fn child(&mut self, segments: &[&str]) -> u32 {
        self.writer.node(self.target.below(segments))
    }
}

/// Returns the one clause of a keyword.
fn one(keyword: Keyword, words: Vec<u32>) -> Answer<Option<Clauses>> {
    Ok(Some(vec![(keyword, words)]))
}

/// The addresses of the drafts. Another schema of schemas may have another meaning.
const DRAFTS: [(&str, u32); 6] = [
    ("json-schema.org/draft-04/schema", 4),
    ("json-schema.org/draft-06/schema", 6),
    ("json-schema.org/draft-07/schema", 7),
    ("json-schema.org/draft/2019-09/schema", 2019),
    ("json-schema.org/draft/2020-12/schema", 2020),
    ("json-schema.org/schema", 2020),
];

/// Returns the draft with this URL.
pub(super) fn draft_named(url: &str) -> Option<u32> {
    let url = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let url = url.strip_suffix('#').unwrap_or(url);
    DRAFTS.iter().find(|(known, _)| url == *known).map(|(_, draft)| *draft)
}
