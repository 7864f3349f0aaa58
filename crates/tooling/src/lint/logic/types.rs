//! Expressions whose type alone proves that they are never true.
//!
//! A condition that is no boolean does not hold, and that is no error, neither in compilation nor
//! in a decision. The types of most computed values are known, and those of no attribute.

use super::Logic;
use wardgate_compiler::cel::{self, Expr, Type};

impl Logic<'_> {
    /// Returns the type of an expression, if it is one that no boolean has.
    pub(in crate::lint) fn other_type(&self, expr: &Expr) -> Option<Type> {
        let found = cel::check(expr, &self.parsed.env).ok()?.result;
        let is_other = match found {
            Type::Null
            | Type::Int
            | Type::Uint
            | Type::Double
            | Type::String
            | Type::Bytes
            | Type::Timestamp
            | Type::Duration
            | Type::List(_)
            | Type::Map(..)
            | Type::Type(_)
            | Type::Message(_)
            | Type::Opaque(..) => true,
            Type::Dyn
            | Type::Error
            | Type::Bool
            | Type::Wrapper(_)
            | Type::Param(_)
            | Type::Var(_) => false,
        };
        is_other.then_some(found)
    }
}
