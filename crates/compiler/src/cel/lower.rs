//! Writes the instructions of a checked expression.
//!
//! Each macro becomes one loop that appends in place, so a program takes time linear in the size of
//! its input. A read of the request becomes a slot named by its whole path, in one spelling for all
//! spellings of authors, because equal programs are evaluated once. A subtree without variables is
//! evaluated here and becomes a constant, unless it fails: an error belongs to the decision that
//! evaluates it.

use std::cell::Cell;
use std::collections::BTreeMap;

use wardgate_engine::attr::Attr;
use wardgate_engine::cel::Op;
use wardgate_engine::cel::pool::{ConstTag, DEPENDS_ON_ROLES};
use wardgate_engine::limits::{MAX_REGISTERS, MAX_STEPS};

use super::ast::{BinaryOp, CelError, Element, Entry, Expr, ExprKind, Span, UnaryOp, block_slot};
use super::check::Checked;
use crate::pool::{PoolBuilder, Program};
use code::Code;

mod calls;
mod code;
mod constants;
mod fold;
mod loops;
mod paths;

/// The meaning of the names of a policy in one expression.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'a> {
    /// Values of `C.x`.
    pub constants: &'a BTreeMap<String, Attr>,
    /// Values of `G.x`.
    pub globals: &'a BTreeMap<String, Attr>,
    /// Ids of `V.x` in the pool.
    pub variables: &'a BTreeMap<String, u32>,
}

/// Writes the program of `checked` into `pool` and returns its id.
///
/// # Errors
///
/// The expression needs too many registers, or uses all variables as one value.
pub fn lower(
    checked: &Checked,
    scope: &Scope<'_>,
    pool: &mut PoolBuilder,
) -> Result<u32, Vec<CelError>> {
    let fold_budget = Cell::new(MAX_STEPS);
    Lowerer::new(checked.is_cerbos, *scope, pool, &fold_budget)
        .program(&checked.expr, &checked.source)
        .map_err(|error| vec![error])
}

/// The result of lowering a piece of an expression. A program reports at most one error of it.
type Lowered<T = ()> = Result<T, CelError>;

struct Lowerer<'s, 'p, 'f> {
    is_cerbos: bool,
    scope: Scope<'s>,
    pool: &'p mut PoolBuilder,
    code: Code,
    /// The names that macros declare and the registers that hold them, innermost last.
    locals: Vec<(String, u8)>,
    flags: u32,
    /// Steps that folding may still take; none while a constant is being computed.
    fold_budget: &'f Cell<u32>,
    folds: bool,
}

impl<'s, 'p, 'f> Lowerer<'s, 'p, 'f> {
    fn new(
        is_cerbos: bool,
        scope: Scope<'s>,
        pool: &'p mut PoolBuilder,
        fold_budget: &'f Cell<u32>,
    ) -> Self {
        let code = Code::default();
        Self {
            is_cerbos,
            scope,
            pool,
            code,
            locals: Vec::new(),
            flags: 0,
            fold_budget,
            folds: true,
        }
    }

    fn program(mut self, expr: &Expr, source: &str) -> Lowered<u32> {
        let result = self.register(expr.span)?;
        self.write(expr, result)?;
        self.code.op(Op::Return, result, 0, 0);
        let (code, registers) = self.code.finish();
        Ok(self.pool.program(Program {
            code,
            registers,
            source: source.to_owned(),
            flags: self.flags,
        }))
    }

    /// Writes instructions that leave the value of `expr` in register `to`. No local may live
    /// there.
    fn write(&mut self, expr: &Expr, to: u8) -> Lowered {
        if let Some(constant) = self.folded(expr) {
            self.code.op_word(Op::Const, [to, 0, 0], constant);
            return Ok(());
        }
        if self.write_path(expr, to) {
            return Ok(());
        }
        match &expr.kind {
            ExprKind::Literal(literal) => {
                let constant = constants::literal(literal, self.pool);
                self.code.op_word(Op::Const, [to, 0, 0], constant);
                Ok(())
            }
            ExprKind::TypeName(name) => {
                let name = self.pool.string(name);
                let constant = self.pool.constant(ConstTag::Type, &[name]);
                self.code.op_word(Op::Const, [to, 0, 0], constant);
                Ok(())
            }
            ExprKind::Ident(name) | ExprKind::Global(name) => self.ident(name, to, expr.span),
            ExprKind::Select { operand, field, optional } => {
                self.select(operand, field, *optional, to)
            }
            ExprKind::Has { operand, field } => self.has(operand, field, to),
            ExprKind::Index { operand, index, optional } => {
                self.two(if *optional { Op::OptIndex } else { Op::Index }, operand, index, to)
            }
            ExprKind::Unary(op, operand) => {
                let from = self.operand(operand, to)?;
                self.code.op(if *op == UnaryOp::Not { Op::Not } else { Op::Neg }, to, from, 0);
                Ok(())
            }
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, to),
            ExprKind::Conditional(condition, then, otherwise) => {
                self.conditional(condition, then, otherwise, to)
            }
            ExprKind::Call { target, function, args } => {
                self.call(target.as_deref(), function, args, to)
            }
            ExprKind::List(elements) => self.list(elements, to),
            ExprKind::Map(entries) => self.map(entries, to),
            ExprKind::Message { name, fields } => self.wrapper(name, fields, to),
            ExprKind::Comprehension(node) => self.comprehension(node, to),
            ExprKind::Bind { name, value, body } => {
                self.block(&[(name.clone(), value.as_ref())], body, to)
            }
            ExprKind::OptMap { target, name, body, flat } => {
                self.opt_map(target, name, body, *flat, to)
            }
            ExprKind::Block { slots, body } => {
                let named: Vec<_> =
                    slots.iter().enumerate().map(|(at, slot)| (block_slot(at), slot)).collect();
                self.block(&named, body, to)
            }
        }
    }

    fn ident(&mut self, name: &str, to: u8, span: Span) -> Lowered {
        match self.local(name) {
            Some(from) => {
                self.code.op(Op::Move, to, from, 0);
                Ok(())
            }
            None => Err(CelError::new(format!("`{name}` is not a value by itself"), span)),
        }
    }

    fn select(&mut self, operand: &Expr, field: &str, optional: bool, to: u8) -> Lowered {
        let from = self.operand(operand, to)?;
        let field = self.pool.string(field);
        let op = if optional { Op::OptSelect } else { Op::Select };
        self.code.op_word(op, [to, from, 0], field);
        Ok(())
    }

    fn has(&mut self, operand: &Expr, field: &str, to: u8) -> Lowered {
        let from = self.operand(operand, to)?;
        let field = self.pool.string(field);
        self.code.op_word(Op::Has, [to, from, 0], field);
        Ok(())
    }

    fn two(&mut self, op: Op, left: &Expr, right: &Expr, to: u8) -> Lowered {
        let mark = self.code.mark();
        let left = self.operand(left, to)?;
        let spare = self.register(right.span)?;
        let right = self.operand(right, spare)?;
        self.code.op(op, to, left, right);
        self.code.release(mark);
        Ok(())
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr, to: u8) -> Lowered {
        let (skip, join) = match op {
            BinaryOp::And => (Op::JumpIfFalse, Op::And),
            BinaryOp::Or => (Op::JumpIfTrue, Op::Or),
            _ => return self.two(calls::operator(op), left, right, to),
        };
        self.write(left, to)?;
        let end = self.code.jump(skip, [to, 0, 0]);
        let mark = self.code.mark();
        let spare = self.register(right.span)?;
        let right = self.operand(right, spare)?;
        self.code.op(join, to, to, right);
        self.code.release(mark);
        self.code.land(end);
        Ok(())
    }

    fn conditional(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr, to: u8) -> Lowered {
        let from = self.operand(condition, to)?;
        let (to_otherwise, failed) = self.code.branch(to, from);
        self.write(then, to)?;
        let end = self.code.jump(Op::Jump, [0, 0, 0]);
        self.code.land(to_otherwise);
        self.write(otherwise, to)?;
        self.code.land(end);
        self.code.land(failed);
        Ok(())
    }

    fn list(&mut self, elements: &[Element], to: u8) -> Lowered {
        self.code.op(Op::List, to, 0, 0);
        for element in elements {
            let mark = self.code.mark();
            let spare = self.register(element.value.span)?;
            let value = self.operand(&element.value, spare)?;
            let op = if element.optional { Op::ListPushOptional } else { Op::ListPush };
            self.code.op(op, to, value, 0);
            self.code.release(mark);
        }
        Ok(())
    }

    fn map(&mut self, entries: &[Entry], to: u8) -> Lowered {
        self.code.op(Op::Map, to, 0, 0);
        for entry in entries {
            let mark = self.code.mark();
            let spare = self.register(entry.key.span)?;
            let key = self.operand(&entry.key, spare)?;
            let spare = self.register(entry.value.span)?;
            let value = self.operand(&entry.value, spare)?;
            let op = if entry.optional { Op::MapPutOptional } else { Op::MapPut };
            self.code.op(op, to, key, value);
            self.code.release(mark);
        }
        Ok(())
    }

    /// Names values one after the other, each visible to the next ones and to `body`.
    fn block(&mut self, named: &[(String, &Expr)], body: &Expr, to: u8) -> Lowered {
        let (mark, depth) = (self.code.mark(), self.locals.len());
        for (name, value) in named {
            let register = self.register(value.span)?;
            self.write(value, register)?;
            self.locals.push((name.clone(), register));
        }
        self.write(body, to)?;
        self.locals.truncate(depth);
        self.code.release(mark);
        Ok(())
    }

    fn opt_map(&mut self, target: &Expr, name: &str, body: &Expr, flat: bool, to: u8) -> Lowered {
        let mark = self.code.mark();
        let from = self.operand(target, to)?;
        let value = self.register(target.span)?;
        let empty = self.code.jump(Op::OptionalUnwrap, [value, from, 0]);
        self.locals.push((name.to_owned(), value));
        self.write(body, to)?;
        self.locals.pop();
        if !flat {
            self.code.op(Op::OptionalOf, to, to, 0);
        }
        let end = self.code.jump(Op::Jump, [0, 0, 0]);
        self.code.land(empty);
        self.code.op(Op::Move, to, value, 0);
        self.code.land(end);
        self.code.release(mark);
        Ok(())
    }

    /// Returns a register that holds the value of `expr`: where it already is, or `spare`.
    fn operand(&mut self, expr: &Expr, spare: u8) -> Lowered<u8> {
        if let ExprKind::Ident(name) = &expr.kind
            && let Some(register) = self.local(name)
        {
            return Ok(register);
        }
        self.write(expr, spare)?;
        Ok(spare)
    }

    fn local(&self, name: &str) -> Option<u8> {
        self.locals.iter().rev().find(|(local, _)| local == name).map(|(_, register)| *register)
    }

    fn register(&mut self, span: Span) -> Lowered<u8> {
        self.code.register().ok_or_else(|| {
            CelError::new("the expression holds too many values at once", span)
                .expected(format!("at most {MAX_REGISTERS}"))
        })
    }

    fn depends_on_roles(&mut self) {
        self.flags |= DEPENDS_ON_ROLES;
    }
}

#[cfg(test)]
mod tests;
