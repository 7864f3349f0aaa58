//! Evaluates CEL by walking the tree: the part of the language that the generator writes.
//!
//! Everything else fails, which the comparison shows at once.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use wardgate_compiler::cel::Expr;
use wardgate_compiler::cel::ast::{BinaryOp, Comprehension, ExprKind, Literal, Loop, UnaryOp};
use wardgate_engine::attr::Attr;
use wardgate_engine::cel::Timestamp;
use wardgate_engine::request::Request;

use super::calls;
use super::value::{Failed, Value};

type Answer = Result<Value, Failed>;

/// The names that an expression can use.
pub(super) struct Surroundings<'s> {
    pub(super) request: &'s Request,
    pub(super) now: Timestamp,
    pub(super) globals: &'s BTreeMap<String, Attr>,
    pub(super) constants: &'s BTreeMap<String, Attr>,
    pub(super) variables: &'s BTreeMap<String, Value>,
    pub(super) roles: &'s Result<Vec<String>, Failed>,
}

pub(super) fn evaluate(tree: &Expr, surroundings: &Surroundings<'_>) -> Answer {
    Evaluator { surroundings, local: Vec::new() }.value(tree)
}

pub(super) struct Evaluator<'s> {
    pub(super) surroundings: &'s Surroundings<'s>,
    /// The names that macros declare, innermost last.
    local: Vec<(String, Value)>,
}

impl Evaluator<'_> {
    pub(super) fn value(&mut self, tree: &Expr) -> Answer {
        match &tree.kind {
            ExprKind::Literal(literal) => Self::literal(literal),
            ExprKind::Ident(name) => self.name(name),
            ExprKind::Select { operand, field, optional } => {
                let found = |value: &Value| match value {
                    Value::Map(_) | Value::Message(_) | Value::Optional(_) => {
                        field_of(value, field)
                    }
                    // No optional field either: the specification has none of a number.
                    _ => Err(Failed),
                };
                reach(&self.value(operand)?, *optional, found)
            }
            ExprKind::Has { operand, field } => {
                let operand = self.value(operand)?;
                let is_message = matches!(operand, Value::Message(_));
                let found = field_of(&operand, field)?;
                Ok(Value::Bool(found.is_some_and(|value| !is_message || !value.is_empty())))
            }
            ExprKind::Index { operand, index, optional } => {
                let (operand, index) = (self.value(operand)?, self.value(index)?);
                reach(&operand, *optional, |value| element_of(value, &index))
            }
            ExprKind::Unary(UnaryOp::Not, operand) => {
                Ok(Value::Bool(!self.value(operand)?.bool()?))
            }
            ExprKind::Unary(UnaryOp::Neg, operand) => calls::negate(self.value(operand)?),
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right),
            ExprKind::Conditional(condition, then, otherwise) => {
                let holds = self.value(condition)?.bool()?;
                self.value(if holds { then } else { otherwise })
            }
            ExprKind::Call { target, function, args } => {
                let target = target.iter().map(AsRef::as_ref);
                let args = target.chain(args).map(|arg| self.value(arg));
                let args = args.collect::<Result<Vec<_>, _>>()?;
                calls::call(function, &args, self.surroundings.now)
            }
            ExprKind::List(elements) => {
                let values = elements.iter().map(|element| self.value(&element.value));
                Ok(Value::List(values.collect::<Result<_, _>>()?))
            }
            ExprKind::Map(entries) => {
                let entries = entries.iter().map(|entry| {
                    let Value::Text(key) = self.value(&entry.key)? else { return Err(Failed) };
                    Ok((key, self.value(&entry.value)?))
                });
                Ok(Value::Map(entries.collect::<Result<_, _>>()?))
            }
            ExprKind::Comprehension(node) => self.comprehension(node),
            _ => Err(Failed),
        }
    }

    fn literal(literal: &Literal) -> Answer {
        Ok(match literal {
            Literal::Null => Value::Null,
            Literal::Bool(value) => Value::Bool(*value),
            Literal::Int(value) => Value::Int(*value),
            Literal::Double(value) => Value::Double(*value),
            Literal::String(text) => Value::text(text),
            Literal::Uint(_) | Literal::Bytes(_) => return Err(Failed),
        })
    }

    fn name(&self, name: &str) -> Answer {
        if let Some((_, value)) = self.local.iter().rev().find(|(local, _)| local == name) {
            return Ok(value.clone());
        }
        let Surroundings { request, constants, variables, globals, roles, .. } = self.surroundings;
        match name {
            "request" => Ok(message([
                ("principal", principal(request)),
                ("resource", resource(request)),
                ("auxData", message([("jwt", Value::attributes(&request.aux_data.jwt))])),
            ])),
            "P" => Ok(principal(request)),
            "R" => Ok(resource(request)),
            "V" | "variables" => Ok(Value::Map((*variables).clone())),
            "C" | "constants" => Ok(named(constants)),
            "G" | "globals" => Ok(named(globals)),
            "runtime" => {
                let roles = roles.as_ref().map_err(|failed| *failed)?;
                Ok(map([("effectiveDerivedRoles", Value::texts(roles))]))
            }
            _ => Err(Failed),
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Answer {
        let (left, right) = (self.value(left), self.value(right));
        if let BinaryOp::And | BinaryOp::Or = op {
            return logic(op == BinaryOp::Or, vec![left, right]);
        }
        let (left, right) = (left?, right?);
        let ordered = |fits: fn(Ordering) -> bool| {
            let has_order = !left.is_nan() && !right.is_nan();
            Ok(Value::Bool(has_order && fits(left.order(&right)?)))
        };
        match op {
            BinaryOp::Eq => Ok(Value::Bool(left.equals(&right))),
            BinaryOp::Ne => Ok(Value::Bool(!left.equals(&right))),
            BinaryOp::Lt => ordered(Ordering::is_lt),
            BinaryOp::Le => ordered(Ordering::is_le),
            BinaryOp::Gt => ordered(Ordering::is_gt),
            BinaryOp::Ge => ordered(Ordering::is_ge),
            BinaryOp::In => contains(&left, &right),
            _ => calls::arithmetic(op, &left, &right),
        }
    }

    fn comprehension(&mut self, node: &Comprehension) -> Answer {
        let range = match self.value(&node.range)? {
            Value::List(items) => items,
            Value::Map(map) => map.into_keys().map(Value::Text).collect(),
            _ => return Err(Failed),
        };
        let [name] = node.names.as_slice() else { return Err(Failed) };
        let mut elements = Vec::new();
        for item in range {
            self.local.push((name.clone(), item.clone()));
            let filter = node.filter.as_ref().map(|filter| self.value(filter));
            let wanted = filter.map_or(Ok(true), |value| value?.bool());
            let body = match wanted {
                Ok(true) => Some(self.value(&node.body)),
                Ok(false) => None,
                Err(failed) => Some(Err(failed)),
            };
            self.local.pop();
            elements.extend(body.map(|body| (item, body)));
        }
        collect(node.kind, elements)
    }
}

/// Makes the result of a macro from its elements and the values of the body.
fn collect(kind: Loop, elements: Vec<(Value, Answer)>) -> Answer {
    let bodies = elements.iter().map(|(_, body)| body.clone());
    match kind {
        Loop::All => logic(false, bodies.collect()),
        Loop::Exists => logic(true, bodies.collect()),
        Loop::ExistsOne => {
            let found = bodies.map(|body| body?.bool()).collect::<Result<Vec<_>, _>>()?;
            Ok(Value::Bool(found.into_iter().filter(|found| *found).count() == 1))
        }
        Loop::List => Ok(Value::List(bodies.collect::<Result<_, _>>()?)),
        Loop::Filter => {
            let mut items = Vec::new();
            for (item, body) in elements {
                items.extend(body?.bool()?.then_some(item));
            }
            Ok(Value::List(items))
        }
        Loop::Map | Loop::MapEntry | Loop::SortBy => Err(Failed),
    }
}

/// Evaluates `||`, which is true if one operand is, and `&&`, which is false if one is, for any
/// other operands.
fn logic(or: bool, operands: Vec<Answer>) -> Answer {
    let decides = |one: &Answer| matches!(one, Ok(Value::Bool(value)) if *value == or);
    if operands.iter().any(decides) {
        return Ok(Value::Bool(or));
    }
    for operand in operands {
        operand?.bool()?;
    }
    Ok(Value::Bool(!or))
}

/// Returns the field, `None` if the value has none of that name. Lists have no fields.
fn field_of(value: &Value, field: &str) -> Result<Option<Value>, Failed> {
    match value {
        Value::Map(map) | Value::Message(map) => Ok(map.get(field).cloned()),
        Value::List(_) => Err(Failed),
        _ => Ok(None),
    }
}

fn element_of(value: &Value, index: &Value) -> Result<Option<Value>, Failed> {
    match (value, index) {
        (Value::Map(map) | Value::Message(map), Value::Text(key)) => Ok(map.get(key).cloned()),
        (Value::List(items), Value::Int(_) | Value::Double(_)) => {
            let whole = calls::call("int", std::slice::from_ref(index), Timestamp::default())?;
            let Value::Int(at) = whole else { return Err(Failed) };
            if !whole.equals(index) {
                return Err(Failed);
            }
            Ok(usize::try_from(at).ok().and_then(|at| items.get(at)).cloned())
        }
        (Value::List(_), _) => Err(Failed),
        // No key of an attribute is a number, but an expression may use one.
        _ => Ok(None),
    }
}

/// Takes a part of a value. A missing part is a failure, unless the access has a `?` or the value
/// is optional itself.
fn reach(
    of: &Value,
    optional: bool,
    part: impl Fn(&Value) -> Result<Option<Value>, Failed>,
) -> Answer {
    match of {
        Value::Optional(None) => Ok(Value::Optional(None)),
        Value::Optional(Some(inner)) => Ok(Value::Optional(part(inner)?.map(Box::new))),
        _ if optional => Ok(Value::Optional(part(of)?.map(Box::new))),
        _ => part(of)?.ok_or(Failed),
    }
}

fn contains(item: &Value, range: &Value) -> Answer {
    match range {
        Value::List(items) => Ok(Value::Bool(items.iter().any(|other| item.equals(other)))),
        Value::Map(map) => {
            Ok(Value::Bool(matches!(item, Value::Text(key) if map.contains_key(key))))
        }
        _ => Err(Failed),
    }
}

fn principal(request: &Request) -> Value {
    let principal = &request.principal;
    message([
        ("id", Value::text(&principal.id)),
        ("roles", Value::texts(&principal.roles)),
        ("attr", Value::attributes(&principal.attr)),
        ("policyVersion", Value::text(&principal.policy_version)),
        ("scope", Value::text(&principal.scope)),
    ])
}

fn resource(request: &Request) -> Value {
    let resource = &request.resource;
    message([
        ("kind", Value::text(&resource.kind)),
        ("id", Value::text(&resource.id)),
        ("attr", Value::attributes(&resource.attr)),
        ("policyVersion", Value::text(&resource.policy_version)),
        ("scope", Value::text(&resource.scope)),
    ])
}

/// Returns a part of a request: of its fields only those are set that are not empty.
fn message<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Message(entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Map(entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn named(values: &BTreeMap<String, Attr>) -> Value {
    Value::Map(values.iter().map(|(name, value)| (name.clone(), Value::from(value))).collect())
}
