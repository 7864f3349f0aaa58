//! One expression with a pool of its own, for tests and tools.
//!
//! It is compiled and evaluated exactly as a condition of a policy is; only where the values of its
//! variables come from differs.

use std::cell::Cell;
use std::collections::BTreeMap;

use wardgate_engine::attr::Attr;
use wardgate_engine::cel::pool::Root;
use wardgate_engine::cel::{Activation, Error, Timestamp, Value, eval, request_root};
use wardgate_engine::limits::MAX_STEPS;
use wardgate_engine::request::Request;

use super::ast::CelError;
use super::check::check;
use super::env::Env;
use super::lower::{Scope, lower};
use super::parser::parse;
use super::types::Type;
use crate::pool::PoolBuilder;

/// A compiled expression.
#[derive(Clone, Debug)]
pub struct Standalone {
    pool: PoolBuilder,
    program: u32,
    result: Type,
}

impl Standalone {
    /// Compiles `source`. In the environment of policies there are no constants and no variables.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it.
    pub fn compile(source: &str, env: &Env) -> Result<Self, Vec<CelError>> {
        Self::compile_with(source, env, &BTreeMap::new())
    }

    /// Compiles `source`, in which these globals have a value.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it.
    pub fn compile_with(
        source: &str,
        env: &Env,
        globals: &BTreeMap<String, Attr>,
    ) -> Result<Self, Vec<CelError>> {
        let checked = check(&parse(source)?, env)?.with_source(source);
        let (none, no_variables) = (BTreeMap::new(), BTreeMap::new());
        let scope = Scope { constants: &none, globals, variables: &no_variables };
        let mut pool = PoolBuilder::default();
        let program = lower(&checked, &scope, &mut pool)?;
        Ok(Self { pool, program, result: checked.result })
    }

    /// Returns the type of the result as the checker found it.
    #[must_use]
    pub const fn result(&self) -> &Type {
        &self.result
    }

    /// Evaluates the expression and hands the result to `read`.
    ///
    /// The result borrows from the constants of the expression, hence no return value: `read` takes
    /// from it the parts that outlive the call.
    pub fn eval<R>(
        &self,
        bindings: &[(String, Value<'_>)],
        now: Timestamp,
        read: impl FnOnce(Value<'_>) -> R,
    ) -> R {
        let pool = self.pool.view();
        let bindings = Bindings { values: bindings, now };
        read(eval(&pool, self.program, &bindings, &Cell::new(MAX_STEPS)))
    }
}

impl Standalone {
    /// Evaluates an expression of the environment of policies over a request, and hands the result
    /// to `read`. There are no derived roles.
    pub fn eval_over<R>(
        &self,
        request: &Request,
        now: Timestamp,
        read: impl FnOnce(Value<'_>) -> R,
    ) -> R {
        let pool = self.pool.view();
        read(eval(&pool, self.program, &OfRequest { request, now }, &Cell::new(MAX_STEPS)))
    }
}

/// A request alone.
struct OfRequest<'a> {
    request: &'a Request,
    now: Timestamp,
}

impl<'a> Activation<'a> for OfRequest<'a> {
    fn root(&self, root: Root, _: &'a str) -> Value<'a> {
        request_root(self.request, root)
    }

    fn variable(&self, _: u32) -> Value<'a> {
        Value::Error(Error::Malformed)
    }

    fn now(&self) -> Timestamp {
        self.now
    }
}

/// Free variables with values.
struct Bindings<'b, 'a> {
    values: &'b [(String, Value<'a>)],
    now: Timestamp,
}

impl<'a> Activation<'a> for Bindings<'_, 'a> {
    fn root(&self, root: Root, name: &'a str) -> Value<'a> {
        let found = self.values.iter().find(|(bound, _)| root == Root::Free && bound == name);
        found.map_or(Value::Error(Error::NoSuchAttribute(name)), |(_, value)| value.clone())
    }

    fn variable(&self, _: u32) -> Value<'a> {
        Value::Error(Error::Malformed)
    }

    fn now(&self) -> Timestamp {
        self.now
    }
}

/// The surroundings of an expression that reads nothing.
pub(super) struct NoBindings;

impl<'a> Activation<'a> for NoBindings {
    fn root(&self, _: Root, name: &'a str) -> Value<'a> {
        Value::Error(Error::NoSuchAttribute(name))
    }

    fn variable(&self, _: u32) -> Value<'a> {
        Value::Error(Error::Malformed)
    }

    fn now(&self) -> Timestamp {
        Timestamp::default()
    }
}
