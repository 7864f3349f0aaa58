//! The functions that a source text may call: their names, what the machine calls them, and the
//! combinations of types they accept.
//!
//! A signature is written `(argument, ...) result`, with a dot in front if the first argument is
//! the receiver. Single capital letters are type parameters.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::OnceLock;

use wardgate_engine::cel::Function;

use super::types::{OPTIONAL, Type};

mod table;

/// One combination of types that a function accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// True if the first parameter is the receiver.
    pub member: bool,
    /// The types of the arguments.
    pub params: Vec<Type>,
    /// The type of the result.
    pub result: Type,
}

impl Signature {
    /// Reads a signature; a type that is not known is opaque.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (member, text) = text.strip_prefix('.').map_or((false, text), |rest| (true, rest));
        let mut reader = Reader { rest: text };
        let params = reader.params()?;
        let result = reader.read_type()?;
        Some(Self { member, params, result })
    }

    /// Returns a call of the function `name` with these types, as documents write it:
    /// `string.split(string, int) -> list(string)`.
    #[must_use]
    pub fn call(&self, name: &str) -> String {
        let mut params = self.params.iter();
        let receiver = if self.member { params.next() } else { None };
        let mut text = receiver.map(|receiver| format!("{receiver}.")).unwrap_or_default();
        let params: Vec<String> = params.map(ToString::to_string).collect();
        // Writing to a string cannot fail.
        let _ = write!(text, "{name}({}) -> {}", params.join(", "), self.result);
        text
    }
}

/// Returns the functions that a policy may call, with the types that they accept. Operators and macros
/// are not among them; names with `@` are what macros become.
#[must_use]
pub fn functions() -> BTreeMap<&'static str, Vec<Signature>> {
    let mut all: BTreeMap<&'static str, Vec<Signature>> = BTreeMap::new();
    for (name, _, texts) in [table::STANDARD, table::EXTENSIONS, table::CERBOS].concat() {
        all.entry(name).or_default().extend(split(texts).filter_map(Signature::parse));
    }
    all
}

/// The functions of one library, by name.
#[derive(Debug, Default)]
pub(super) struct Library {
    signatures: HashMap<&'static str, Vec<Signature>>,
    functions: HashMap<(&'static str, bool), Function>,
}

impl Library {
    /// Returns the standard library and its extensions.
    pub(super) fn standard() -> &'static Self {
        static LIBRARY: OnceLock<Library> = OnceLock::new();
        LIBRARY
            .get_or_init(|| Self::new(&[table::OPERATORS], &[table::STANDARD, table::EXTENSIONS]))
    }

    /// Returns the library of Cerbos.
    pub(super) fn cerbos() -> &'static Self {
        static LIBRARY: OnceLock<Library> = OnceLock::new();
        LIBRARY.get_or_init(|| Self::new(&[table::CERBOS_OPERATORS], &[table::CERBOS]))
    }

    fn new(operators: &[table::Operators], functions: &[table::Functions]) -> Self {
        let mut library = Self::default();
        for (name, texts) in operators.iter().copied().flatten() {
            library.declare(name, texts);
        }
        for (name, function, texts) in functions.iter().copied().flatten() {
            library.declare(name, texts);
            for text in split(texts) {
                library.functions.insert((name, text.starts_with('.')), *function);
            }
        }
        library
    }

    fn declare(&mut self, name: &'static str, texts: &str) {
        let parsed = split(texts).filter_map(Signature::parse);
        self.signatures.entry(name).or_default().extend(parsed);
    }

    pub(super) fn signatures(&self, name: &str) -> &[Signature] {
        self.signatures.get(name).map_or(&[], Vec::as_slice)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.signatures.keys().copied()
    }

    pub(super) fn function(&self, name: &str, member: bool) -> Option<Function> {
        let (name, _) = self.signatures.get_key_value(name)?;
        self.functions.get(&(*name, member)).copied()
    }
}

/// Splits the signatures of a row.
fn split(texts: &str) -> impl Iterator<Item = &str> {
    texts.split("; ")
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn params(&mut self) -> Option<Vec<Type>> {
        self.rest = self.rest.strip_prefix('(')?;
        let mut params = Vec::new();
        loop {
            self.rest = self.rest.trim_start_matches([',', ' ']);
            if let Some(rest) = self.rest.strip_prefix(')') {
                self.rest = rest.trim_start();
                return Some(params);
            }
            params.push(self.read_type()?);
        }
    }

    fn read_type(&mut self) -> Option<Type> {
        let end = self.rest.find(['(', ')', ',']).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        let params = if rest.starts_with('(') { self.params()? } else { Vec::new() };
        Some(named(name, params))
    }
}

fn named(name: &str, params: Vec<Type>) -> Type {
    match (name, params.as_slice()) {
        ("dyn", _) => Type::Dyn,
        ("bool", _) => Type::Bool,
        ("int", _) => Type::Int,
        ("uint", _) => Type::Uint,
        ("double", _) => Type::Double,
        ("string", _) => Type::String,
        ("bytes", _) => Type::Bytes,
        ("timestamp", _) => Type::Timestamp,
        ("duration", _) => Type::Duration,
        ("list", [element]) => Type::list(element.clone()),
        ("map", [key, value]) => Type::map(key.clone(), value.clone()),
        ("type", [of]) => Type::type_of(of.clone()),
        ("optional", _) => Type::Opaque(OPTIONAL.to_owned(), params),
        _ if name.len() == 1 => Type::Param(name.to_owned()),
        _ => Type::Opaque(name.to_owned(), params),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_signature_can_be_read() {
        let operators = [table::OPERATORS, table::CERBOS_OPERATORS].concat();
        let functions = [table::STANDARD, table::EXTENSIONS, table::CERBOS].concat();
        let texts = operators
            .iter()
            .map(|(_, texts)| *texts)
            .chain(functions.iter().map(|(_, _, texts)| *texts));
        for text in texts.flat_map(split) {
            assert!(Signature::parse(text).is_some(), "{text}");
        }
    }

    #[test]
    fn a_signature_is_receiver_arguments_result() {
        let expected = Signature {
            member: true,
            params: vec![Type::list(Type::Param("T".to_owned())), Type::Int],
            result: Type::optional(Type::Param("T".to_owned())),
        };
        assert_eq!(Signature::parse(".(list(T), int) optional(T)"), Some(expected));
    }
}
