//! The macros that run over a list or a map: one loop each.
//!
//! Every loop has the same frame; the macros differ in how the result starts and what one round
//! does with it.

use wardgate_engine::cel::{Function, Op};

use super::super::ast::{Comprehension, Literal, Loop};
use super::code::Pending;
use super::{Lowered, Lowerer, constants};

impl Lowerer<'_, '_, '_> {
    pub(super) fn comprehension(&mut self, node: &Comprehension, to: u8) -> Lowered {
        match node.kind {
            Loop::SortBy => self.sort_by(node, to),
            Loop::ExistsOne => {
                self.run(node, to)?;
                let mark = self.code.mark();
                let one = self.one(node)?;
                self.code.op(Op::Eq, to, to, one);
                self.code.release(mark);
                Ok(())
            }
            _ => self.run(node, to),
        }
    }

    fn run(&mut self, node: &Comprehension, to: u8) -> Lowered {
        let range = self.operand(&node.range, to)?;
        self.run_over(node, range, to)
    }

    fn run_over(&mut self, node: &Comprehension, range: u8, to: u8) -> Lowered {
        let (mark, depth) = (self.code.mark(), self.locals.len());
        let cursor = self.register(node.range.span)?;
        self.register(node.range.span)?;
        let failed = self.code.jump(Op::Iterate, [cursor, range, to]);
        self.start(node.kind, to);
        let element = self.register(node.range.span)?;
        self.locals.extend(node.names.first().map(|name| (name.clone(), element)));
        let is_pair = node.names.len() == 2 || matches!(node.kind, Loop::Map | Loop::MapEntry);
        if is_pair {
            let value = self.register(node.range.span)?;
            self.locals.extend(node.names.get(1).map(|name| (name.clone(), value)));
        }
        let top = self.code.here();
        let end =
            self.code.jump(if is_pair { Op::NextPair } else { Op::Next }, [cursor, element, 0]);
        let mut ends = vec![failed, end];
        let rejected = match &node.filter {
            None => None,
            Some(filter) => {
                let spare = self.register(filter.span)?;
                let verdict = self.operand(filter, spare)?;
                let (rejected, failed) = self.code.branch(to, verdict);
                ends.push(failed);
                Some(rejected)
            }
        };
        self.round(node, element, to, &mut ends)?;
        if let Some(rejected) = rejected {
            self.code.land(rejected);
        }
        self.code.op_word(Op::Jump, [0, 0, 0], top);
        ends.into_iter().for_each(|end| self.code.land(end));
        self.locals.truncate(depth);
        self.code.release(mark);
        Ok(())
    }

    fn start(&mut self, kind: Loop, to: u8) {
        let literal = match kind {
            Loop::All => Literal::Bool(true),
            Loop::Exists => Literal::Bool(false),
            Loop::ExistsOne => Literal::Int(0),
            Loop::List | Loop::Filter | Loop::SortBy => return self.code.op(Op::List, to, 0, 0),
            Loop::Map | Loop::MapEntry => return self.code.op(Op::Map, to, 0, 0),
        };
        let constant = constants::literal(&literal, self.pool);
        self.code.op_word(Op::Const, [to, 0, 0], constant);
    }

    /// Writes the instructions for one element that passes the filter.
    fn round(
        &mut self,
        node: &Comprehension,
        element: u8,
        to: u8,
        ends: &mut Vec<Pending>,
    ) -> Lowered {
        let spare = self.register(node.body.span)?;
        let body = self.operand(&node.body, spare)?;
        match node.kind {
            Loop::All => {
                self.code.op(Op::And, to, to, body);
                ends.push(self.code.jump(Op::JumpIfFalse, [to, 0, 0]));
            }
            Loop::Exists => {
                self.code.op(Op::Or, to, to, body);
                ends.push(self.code.jump(Op::JumpIfTrue, [to, 0, 0]));
            }
            Loop::ExistsOne | Loop::Filter => {
                let (rejected, failed) = self.code.branch(to, body);
                ends.push(failed);
                if node.kind == Loop::Filter {
                    self.code.op(Op::ListPush, to, element, 0);
                } else {
                    let one = self.one(node)?;
                    self.code.op(Op::Add, to, to, one);
                }
                self.code.land(rejected);
            }
            Loop::List | Loop::SortBy => self.code.op(Op::ListPush, to, body, 0),
            Loop::Map => self.code.op(Op::MapPut, to, element, body),
            Loop::MapEntry => self.code.op(Op::MapMerge, to, body, 0),
        }
        Ok(())
    }

    fn one(&mut self, node: &Comprehension) -> Lowered<u8> {
        let register = self.register(node.body.span)?;
        let constant = constants::literal(&Literal::Int(1), self.pool);
        self.code.op_word(Op::Const, [register, 0, 0], constant);
        Ok(register)
    }

    /// Sorts the list by the list of its keys.
    fn sort_by(&mut self, node: &Comprehension, to: u8) -> Lowered {
        let mark = self.code.mark();
        let list = self.register(node.range.span)?;
        let keys = self.register(node.range.span)?;
        self.write(&node.range, list)?;
        self.run_over(node, list, keys)?;
        self.code.op_word(Op::Call, [to, list, 2], Function::SortByAssociatedKeys.id());
        self.code.release(mark);
        Ok(())
    }
}
