//! Calls: arguments in consecutive registers, and the few functions that are no call at all.

use wardgate_engine::cel::pool::ConstTag;
use wardgate_engine::cel::{Function, Op};

use super::super::ast::{BinaryOp, Expr, ExprKind, Field, Literal};
use super::super::env;
use super::{Lowered, Lowerer, constants};
use crate::regex;
use crate::zones::zone_words;

impl Lowerer<'_, '_, '_> {
    pub(super) fn call(
        &mut self,
        target: Option<&Expr>,
        name: &str,
        args: &[Expr],
        to: u8,
    ) -> Lowered {
        let Some(function) = env::function(name, target.is_some()) else {
            // Only an unchecked expression gets here; `size()` is "no such overload" as well.
            self.code.op_word(Op::Call, [to, 0, 0], Function::Size.id());
            return Ok(());
        };
        let args: Vec<_> = target.into_iter().chain(args).collect();
        match (function, args.as_slice()) {
            (Function::Dyn, [only]) => return self.write(only, to),
            (
                Function::Matches,
                [text, Expr { kind: ExprKind::Literal(Literal::String(pattern)), .. }],
            ) => {
                if let Some((function, part)) = regex::plain(pattern) {
                    return self.part(function, text, &part, to);
                }
            }
            _ => {}
        }
        let mark = self.code.mark();
        let mut first = None;
        for (at, arg) in args.iter().enumerate() {
            let register = self.register(arg.span)?;
            first = first.or(Some(register));
            self.argument(function, at, arg, register)?;
        }
        let count = u8::try_from(args.len()).unwrap_or(u8::MAX);
        self.code.op_word(Op::Call, [to, first.unwrap_or(0), count], function.id());
        self.code.release(mark);
        Ok(())
    }

    /// Writes a call that looks for a part in a text.
    fn part(&mut self, function: Function, text: &Expr, part: &str, to: u8) -> Lowered {
        let mark = self.code.mark();
        let first = self.register(text.span)?;
        self.write(text, first)?;
        let second = self.register(text.span)?;
        let part = constants::literal(&Literal::String(part.to_owned()), self.pool);
        self.code.op_word(Op::Const, [second, 0, 0], part);
        self.code.op_word(Op::Call, [to, first, 2], function.id());
        self.code.release(mark);
        Ok(())
    }

    /// Writes one argument; a literal pattern or time zone is compiled now rather than at each
    /// evaluation.
    fn argument(&mut self, function: Function, at: usize, arg: &Expr, to: u8) -> Lowered {
        let prepared = match &arg.kind {
            ExprKind::Literal(Literal::String(text)) if takes_pattern(function) && at == 1 => {
                self.pattern(text)
            }
            ExprKind::Literal(Literal::String(name)) if takes_zone(function) && at == 1 => {
                self.zone(name)
            }
            _ => None,
        };
        match prepared {
            Some(constant) => {
                self.code.op_word(Op::Const, [to, 0, 0], constant);
                Ok(())
            }
            None => self.write(arg, to),
        }
    }

    /// Returns the constant of a compiled pattern. A pattern that does not compile stays text: the
    /// error is the evaluation's.
    fn pattern(&mut self, text: &str) -> Option<u32> {
        let words = regex::compile(text).ok()?.into_words();
        self.named(ConstTag::Regex, text, words)
    }

    /// Returns the constant of a time zone. An offset, or a name that is unknown, stays text.
    fn zone(&mut self, name: &str) -> Option<u32> {
        let words = zone_words(name)?;
        self.named(ConstTag::Zone, name, words)
    }

    fn named(&mut self, tag: ConstTag, name: &str, words: Vec<u32>) -> Option<u32> {
        let name = self.pool.string(name);
        let length = u32::try_from(words.len()).ok()?;
        let rest: Vec<_> = [name, length].into_iter().chain(words).collect();
        Some(self.pool.constant(tag, &rest))
    }

    /// Writes the value of a protobuf wrapper: its wrapped value, or the default of its type.
    pub(super) fn wrapper(&mut self, name: &str, fields: &[Field], to: u8) -> Lowered {
        if let Some(field) = fields.last() {
            return self.write(&field.value, to);
        }
        let literal = constants::default_of(env::wrapper_named(name).as_ref());
        let constant = constants::literal(&literal, self.pool);
        self.code.op_word(Op::Const, [to, 0, 0], constant);
        Ok(())
    }
}

const fn takes_pattern(function: Function) -> bool {
    matches!(
        function,
        Function::Matches
            | Function::RegexExtract
            | Function::RegexExtractAll
            | Function::RegexReplace
    )
}

const fn takes_zone(function: Function) -> bool {
    matches!(
        function,
        Function::GetDate
            | Function::GetDayOfMonth
            | Function::GetDayOfWeek
            | Function::GetDayOfYear
            | Function::GetFullYear
            | Function::GetHours
            | Function::GetMilliseconds
            | Function::GetMinutes
            | Function::GetMonth
            | Function::GetSeconds
    )
}

/// Returns the instruction behind an operator; the logical ones need jumps as well.
pub(super) const fn operator(op: BinaryOp) -> Op {
    match op {
        BinaryOp::Or => Op::Or,
        BinaryOp::And => Op::And,
        BinaryOp::Eq => Op::Eq,
        BinaryOp::Ne => Op::Ne,
        BinaryOp::Lt => Op::Lt,
        BinaryOp::Le => Op::Le,
        BinaryOp::Gt => Op::Gt,
        BinaryOp::Ge => Op::Ge,
        BinaryOp::In => Op::In,
        BinaryOp::Add => Op::Add,
        BinaryOp::Sub => Op::Sub,
        BinaryOp::Mul => Op::Mul,
        BinaryOp::Div => Op::Div,
        BinaryOp::Mod => Op::Mod,
    }
}
