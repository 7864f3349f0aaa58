//! Expressions on their own: compiled, evaluated, and written down again.
//!
//! This is the only file of these tests that knows how the compiler's stages and the evaluator fit
//! together, so the suites speak of texts and data alone.

use std::cell::Cell;

use wardgate_compiler::cel::{self, Env, Signature, Type};
use wardgate_compiler::emit::pool::PoolBuilder;
use wardgate_engine::cel::pool::Root;
use wardgate_engine::cel::value::{Map, OwnedMap};
use wardgate_engine::cel::{Activation, Error, Timestamp, Value, eval, request_root};
use wardgate_engine::limits::MAX_STEPS;
use wardgate_engine::request::Request;

use crate::datum::Datum;

/// An expression with all that its meaning depends on.
#[derive(Clone, Debug)]
pub struct Expression {
    /// The source text.
    pub text: String,
    /// Where names are looked up first.
    pub container: String,
    /// Whether types must agree before it is evaluated.
    pub checked: bool,
    /// What names stand for.
    pub declarations: Vec<Declaration>,
    /// What variables hold.
    pub bindings: Vec<(String, Datum)>,
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub enum Declaration {
    /// A variable.
    Variable(String, Type),
    /// A function.
    Function(String, Vec<Signature>),
}

impl Expression {
    /// Returns the value, or why there is none.
    ///
    /// # Errors
    /// What the compiler or the evaluator says.
    pub fn evaluate(&self) -> Result<Datum, String> {
        let mut builder = PoolBuilder::default();
        let program = compile(&self.text, &self.env(), &mut builder)?;
        let pool = builder.view();
        let bindings = self.bindings.iter().map(|(name, datum)| (name.as_str(), value(datum)));
        let activation = Free { bindings: bindings.collect() };
        written(&eval(&pool, program, &activation, &Cell::new(MAX_STEPS)))
    }

    /// Returns the type that the checker finds.
    ///
    /// # Errors
    /// What the compiler says.
    pub fn deduced_type(&self) -> Result<Type, String> {
        check(&self.text, &self.env()).map(|checked| checked.result)
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

/// Evaluates `text` as a condition of a policy would, at `now`.
///
/// # Errors
/// What the compiler or the evaluator says.
pub fn in_policy(text: &str, request: &Request, now: Timestamp) -> Result<Datum, String> {
    let mut builder = PoolBuilder::default();
    let program = compile(text, &Env::cerbos(), &mut builder)?;
    let pool = builder.view();
    let activation = Condition { request, now };
    written(&eval(&pool, program, &activation, &Cell::new(MAX_STEPS)))
}

fn check(text: &str, env: &Env) -> Result<cel::Checked, String> {
    let describe = |stage: &str, errors: Vec<cel::CelError>| {
        let messages: Vec<_> = errors.iter().map(ToString::to_string).collect();
        format!("{stage}: {}", messages.join("; "))
    };
    let expr = cel::parse(text).map_err(|errors| describe("parse", errors))?;
    cel::check(&expr, env).map_err(|errors| describe("check", errors))
}

fn compile(text: &str, env: &Env, _pool: &mut PoolBuilder) -> Result<u32, String> {
    check(text, env)?;
    Err("lower: not there yet".to_owned())
}

/// The variables of an expression that stands on its own.
struct Free<'a> {
    bindings: Vec<(&'a str, Value<'a>)>,
}

impl<'a> Activation<'a> for Free<'a> {
    fn root(&self, root: Root, name: &'a str) -> Value<'a> {
        let bound = self.bindings.iter().find(|(bound, _)| root == Root::Free && *bound == name);
        bound.map_or(Value::Error(Error::NoSuchAttribute(name)), |(_, value)| value.clone())
    }

    fn variable(&self, _id: u32) -> Value<'a> {
        Value::Error(Error::Malformed)
    }

    fn now(&self) -> Timestamp {
        Timestamp::default()
    }
}

/// A request, without variables.
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

/// The value that a datum writes down.
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

/// Writes a value down.
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
