//! Expressions on their own: compiled, evaluated, and written down again.
//!
//! This is the only file of these tests that knows how the compiler's stages and the evaluator fit
//! together, so the suites deal with texts and data alone.

use std::cell::Cell;
use std::collections::BTreeMap;

use wardgate_compiler::cel::{self, CelError, Env, Scope, Signature, Standalone, Type};
use wardgate_compiler::pool::PoolBuilder;
use wardgate_engine::cel::pool::Root;
use wardgate_engine::cel::value::{Map, OwnedMap};
use wardgate_engine::cel::{Activation, Error, Timestamp, Value, eval, request_root};
use wardgate_engine::limits::MAX_STEPS;
use wardgate_engine::request::Request;

use crate::datum::Datum;

/// An expression with everything that its meaning depends on.
#[derive(Clone, Debug)]
pub struct Expression {
    /// The source text.
    pub text: String,
    /// The container in which names are looked up first.
    pub container: String,
    /// True if types must agree before it is evaluated.
    pub checked: bool,
    /// The declarations of names.
    pub declarations: Vec<Declaration>,
    /// The values of variables.
    pub bindings: Vec<(String, Datum)>,
}

/// The declaration of a name.
#[derive(Clone, Debug)]
pub enum Declaration {
    /// A variable.
    Variable(String, Type),
    /// A function.
    Function(String, Vec<Signature>),
}

impl Expression {
    /// Returns the value.
    ///
    /// # Errors
    /// If the compiler or the evaluator refuses it; the text is the message.
    pub fn evaluate(&self) -> Result<Datum, String> {
        let compiled = Standalone::compile(&self.text, &self.env()).map_err(described)?;
        let bindings = self.bindings.iter().map(|(name, datum)| (name.clone(), value(datum)));
        let bindings: Vec<_> = bindings.collect();
        compiled.eval(&bindings, Timestamp::default(), |value| written(&value))
    }

    /// Returns the type that the checker deduces.
    ///
    /// # Errors
    /// If the compiler refuses it; the text is the message.
    pub fn deduced_type(&self) -> Result<Type, String> {
        let expr = cel::parse(&self.text).map_err(described)?;
        cel::check(&expr, &self.env()).map(|checked| checked.result).map_err(described)
    }

    fn env(&self) -> Env {
        let mut variables = Vec::new();
        let mut functions = Vec::new();
        for declaration in &self.declarations {
            match declaration {
                Declaration::Variable(name, of) => variables.push((name.clone(), of.clone())),
                Declaration::Function(name, signatures) => {
                    functions.push((name, signatures.clone()))
                }
            }
        }
        let env = Env::custom(&self.container, variables);
        let env = functions
            .into_iter()
            .fold(env, |env, (name, signatures)| env.with_function(name, signatures));
        if self.checked { env } else { env.without_checks() }
    }
}

/// Evaluates `text` as an expression of a policy, at `now`.
///
/// # Errors
/// If the compiler or the evaluator refuses it; the text is the message.
pub fn in_policy(text: &str, request: &Request, now: Timestamp) -> Result<Datum, String> {
    run(text, request, now, written)?
}

/// Returns true if `text` holds as a condition of a policy: an error, or anything but `true`, does
/// not.
///
/// # Errors
/// If the compiler refuses it; the text is the message.
pub fn holds(text: &str, request: &Request, now: Timestamp) -> Result<bool, String> {
    run(text, request, now, |value| matches!(value, Value::Bool(true)))
}

fn run<T>(
    text: &str,
    request: &Request,
    now: Timestamp,
    read: impl FnOnce(&Value<'_>) -> T,
) -> Result<T, String> {
    let mut builder = PoolBuilder::default();
    let program = program(text, &mut builder).map_err(described)?;
    let pool = builder.view();
    let activation = Condition { request, now };
    Ok(read(&eval(&pool, program, &activation, &Cell::new(MAX_STEPS))))
}

fn program(text: &str, pool: &mut PoolBuilder) -> Result<u32, Vec<CelError>> {
    let checked = cel::check(&cel::parse(text)?, &Env::cerbos())?.with_source(text);
    let (values, variables) = (BTreeMap::new(), BTreeMap::new());
    let scope = Scope { constants: &values, globals: &values, variables: &variables };
    cel::lower(&checked, &scope, pool)
}

fn described(errors: Vec<CelError>) -> String {
    let messages: Vec<_> = errors.iter().map(ToString::to_string).collect();
    format!("compile: {}", messages.join("; "))
}

/// The surroundings of a condition: a request, without variables.
struct Condition<'a> {
    request: &'a Request,
    now: Timestamp,
}

impl<'a> Activation<'a> for Condition<'a> {
    fn root(&self, root: Root, _name: &'a str) -> Value<'a> {
        request_root(self.request, root)
    }

    fn variable(&self, _id: u32) -> Value<'a> {
        Value::Error(Error::Malformed)
    }

    fn now(&self) -> Timestamp {
        self.now
    }
}

/// Returns the value that a datum describes.
fn value(datum: &Datum) -> Value<'_> {
    match datum {
        Datum::Null => Value::Null,
        Datum::Bool(value) => Value::Bool(*value),
        Datum::Int(value) => Value::Int(*value),
        Datum::Uint(value) => Value::Uint(*value),
        Datum::Double(value) => Value::Double(*value),
        Datum::String(text) => Value::string(text.as_str()),
        Datum::Bytes(bytes) => Value::Bytes(bytes.as_slice().into()),
        Datum::List(items) => Value::list(items.iter().map(value).collect()),
        Datum::Map(entries) => {
            let mut map = OwnedMap::default();
            for (key, of) in entries {
                map.insert(value(key), value(of));
            }
            Value::Map(Map::Owned(map.into()))
        }
        Datum::Type(name) => Value::Type(name),
        Datum::Other(_) => Value::Error(Error::Malformed),
    }
}

/// Returns the datum that describes a value.
fn written(value: &Value<'_>) -> Result<Datum, String> {
    Ok(match value {
        Value::Error(error) => return Err(format!("evaluation: {error}")),
        Value::Null => Datum::Null,
        Value::Bool(value) => Datum::Bool(*value),
        Value::Int(value) => Datum::Int(*value),
        Value::Uint(value) => Datum::Uint(*value),
        Value::Double(value) => Datum::Double(*value),
        Value::String(text) => Datum::String(text.to_string()),
        Value::Bytes(bytes) => Datum::Bytes(bytes.to_vec()),
        Value::List(list) => {
            Datum::List(list.iter().map(|item| written(&item)).collect::<Result<_, _>>()?)
        }
        Value::Map(map) => Datum::Map(
            map.iter()
                .map(|(key, of)| Ok((written(&key)?, written(&of)?)))
                .collect::<Result<_, String>>()?,
        ),
        Value::Type(name) => Datum::Type((*name).to_owned()),
        other => Datum::Other(format!("{} {other:?}", other.type_name())),
    })
}
