//! Expressions of which the type alone says that they are never true.
//!
//! A condition that is no boolean does not hold, and that is no error, neither when policies are compiled nor when
//! they are asked. What type a value has is known of most that are computed, and of no attribute.

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
