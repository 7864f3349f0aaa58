//! The writer's side of [`wardgate_engine::cel::Pool`]: interns strings, constants, slots and
//! programs.
//!
//! Deterministic: ids are given in the order of the first request, never in the order of a hash
//! map.

use std::collections::HashMap;

use wardgate_engine::cel::Pool;
use wardgate_engine::cel::pool::{ConstTag, PROGRAM_WORDS, Root, VARIABLE_WORDS};

use crate::words::index;

/// Grows the sections that programs refer to.
#[derive(Clone, Debug, Default)]
pub struct PoolBuilder {
    strings: Texts,
    blob: Vec<u8>,
    constants: Vec<u32>,
    slots: Vec<u32>,
    programs: Vec<u32>,
    code: Vec<u32>,
    variables: Vec<u32>,
    explanations: Texts,
    constant_ids: HashMap<Vec<u32>, u32>,
    slot_ids: HashMap<Vec<u32>, u32>,
    program_ids: HashMap<Program, u32>,
    variable_ids: HashMap<(u32, u32), u32>,
}

/// Texts one after the other, each once, with the offset of each and of the end.
#[derive(Clone, Debug)]
struct Texts {
    text: String,
    offsets: Vec<u32>,
    ids: HashMap<String, u32>,
}

/// One lowered expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Program {
    /// The instructions.
    pub code: Vec<u32>,
    /// The number of registers they use.
    pub registers: u32,
    /// The text that the author wrote, for messages.
    pub source: String,
    /// See [`wardgate_engine::cel::pool::DEPENDS_ON_ROLES`].
    pub flags: u32,
}

impl PoolBuilder {
    /// Returns the id of `text`.
    pub fn string(&mut self, text: &str) -> u32 {
        self.strings.put(text)
    }

    /// Returns the id of an explanation, a text on which no decision depends.
    pub fn explanation(&mut self, text: &str) -> u32 {
        self.explanations.put(text)
    }

    /// Returns all explanations, one after the other.
    #[must_use]
    pub fn explanations(&self) -> &str {
        &self.explanations.text
    }

    /// Returns the id of the constant made of `tag` and the words that follow it.
    pub fn constant(&mut self, tag: ConstTag, rest: &[u32]) -> u32 {
        let mut words = vec![tag.code()];
        words.extend_from_slice(rest);
        intern(&mut self.constant_ids, &mut self.constants, words)
    }

    /// Returns the id of the byte-string constant `bytes`.
    pub fn bytes(&mut self, bytes: &[u8]) -> u32 {
        let at = match find(&self.blob, bytes) {
            Some(at) => at,
            None => {
                self.blob.extend_from_slice(bytes);
                self.blob.len() - bytes.len()
            }
        };
        self.constant(ConstTag::Bytes, &[index(at), index(bytes.len())])
    }

    /// Returns the id of the slot that starts at `root` and follows `path`.
    pub fn slot(&mut self, root: Root, path: &[&str]) -> u32 {
        let mut words = vec![root.code(), index(path.len())];
        words.extend(path.iter().map(|segment| self.string(segment)).collect::<Vec<_>>());
        intern(&mut self.slot_ids, &mut self.slots, words)
    }

    /// Returns the id of `program`; equal programs share one.
    pub fn program(&mut self, program: Program) -> u32 {
        if let Some(id) = self.program_ids.get(&program) {
            return *id;
        }
        let id = index(self.programs.len() / PROGRAM_WORDS);
        let source = self.explanation(&program.source);
        let start = index(self.code.len());
        self.code.extend_from_slice(&program.code);
        self.programs.extend([
            start,
            index(program.code.len()),
            program.registers,
            source,
            program.flags,
        ]);
        self.program_ids.insert(program, id);
        id
    }

    /// Returns the id of the variable `name` that `program` computes.
    pub fn variable(&mut self, name: &str, program: u32) -> u32 {
        let key = (program, self.string(name));
        if let Some(id) = self.variable_ids.get(&key) {
            return *id;
        }
        let id = index(self.variables.len() / VARIABLE_WORDS);
        self.variables.extend([key.0, key.1]);
        self.variable_ids.insert(key, id);
        id
    }

    /// Returns the sections as the evaluator reads them.
    #[must_use]
    pub fn view(&self) -> Pool<'_> {
        Pool {
            text: &self.strings.text,
            blob: &self.blob,
            strings: &self.strings.offsets,
            constants: &self.constants,
            slots: &self.slots,
            programs: &self.programs,
            code: &self.code,
            variables: &self.variables,
            explanations: &self.explanations.offsets,
        }
    }
}

impl Default for Texts {
    fn default() -> Self {
        Self { text: String::new(), offsets: vec![0], ids: HashMap::new() }
    }
}

impl Texts {
    fn put(&mut self, text: &str) -> u32 {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let id = index(self.offsets.len() - 1);
        self.text.push_str(text);
        self.offsets.push(index(self.text.len()));
        self.ids.insert(text.to_owned(), id);
        id
    }
}

fn intern(ids: &mut HashMap<Vec<u32>, u32>, section: &mut Vec<u32>, words: Vec<u32>) -> u32 {
    *ids.entry(words).or_insert_with_key(|words| {
        let id = index(section.len());
        section.extend_from_slice(words);
        id
    })
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    if needle.is_empty() {
        return Some(0);
    }
    haystack.windows(needle.len()).position(|window| window == needle)
}
