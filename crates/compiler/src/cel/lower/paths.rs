//! Reads of an expression from outside itself: the request, variables, constants and globals.
//!
//! `P.attr.a`, `request.principal.attr.a` and `P.attr["a"]` are one slot. A constant or global that
//! does not exist is an error when it is evaluated, as for variables.

use wardgate_engine::attr::Attr;
use wardgate_engine::cel::pool::{ConstTag, Root};
use wardgate_engine::cel::{Function, Op};

use super::super::ast::{Expr, ExprKind, Literal};
use super::{Lowerer, constants};

/// The root of a path on the request, and the keys that follow it.
type Path<'e> = (Root, Vec<&'e str>);

/// The meaning of a field of `V`, `C` or `G`.
pub(super) enum Member<'s> {
    Variable(u32),
    Constant(&'s Attr),
    Missing,
}

impl<'s> Lowerer<'s, '_, '_> {
    /// Writes `expr` if it reads from outside in one step, and returns true if it did.
    pub(super) fn write_path(&mut self, expr: &Expr, to: u8) -> bool {
        if let ExprKind::Global(name) = &expr.kind
            && !self.is_cerbos
        {
            let slot = self.pool.slot(Root::Free, &[name.as_str()]);
            self.code.op_word(Op::Slot, [to, 0, 0], slot);
            return true;
        }
        if !self.is_cerbos {
            return false;
        }
        match &expr.kind {
            ExprKind::Select { operand, field, optional } => {
                if let Some(member) = self.member(operand, field) {
                    self.write_member(&member, field, *optional, to);
                    return true;
                }
            }
            ExprKind::Has { operand, field } => return self.write_has(operand, field, to),
            _ => {}
        }
        let Some((root, keys)) = path(expr) else { return false };
        self.note(root);
        let slot = self.pool.slot(root, &keys);
        self.code.op_word(Op::Slot, [to, 0, 0], slot);
        true
    }

    /// Returns the meaning of `operand.field` if `operand` is `V`, `C` or `G`.
    pub(super) fn member(&self, operand: &Expr, field: &str) -> Option<Member<'s>> {
        let ExprKind::Global(base) = &operand.kind else { return None };
        if !self.is_cerbos {
            return None;
        }
        let constant = |found: Option<&'s Attr>| found.map_or(Member::Missing, Member::Constant);
        match base.as_str() {
            "V" | "variables" => Some(
                self.scope.variables.get(field).map_or(Member::Missing, |id| Member::Variable(*id)),
            ),
            "C" | "constants" => Some(constant(self.scope.constants.get(field))),
            "G" | "globals" => Some(constant(self.scope.globals.get(field))),
            _ => None,
        }
    }

    fn write_member(&mut self, member: &Member<'_>, field: &str, optional: bool, to: u8) {
        match member {
            Member::Variable(id) if optional => self.write_optional_variable(*id, to),
            Member::Variable(id) => {
                self.note_variable(*id);
                self.code.op_word(Op::Variable, [to, 0, 0], *id);
            }
            Member::Constant(attr) => {
                let mut constant = constants::attr(attr, self.pool);
                if optional {
                    constant = self.pool.constant(ConstTag::Some, &[constant]);
                }
                self.code.op_word(Op::Const, [to, 0, 0], constant);
            }
            Member::Missing if optional => {
                let constant = self.pool.constant(ConstTag::None, &[]);
                self.code.op_word(Op::Const, [to, 0, 0], constant);
            }
            Member::Missing => {
                let name = self.pool.string(field);
                self.code.op_word(Op::Undefined, [to, 0, 0], name);
            }
        }
    }

    fn write_optional_variable(&mut self, id: u32, to: u8) {
        self.note_variable(id);
        self.code.op_word(Op::HasVariable, [to, 0, 0], id);
        let (missing, failed) = self.code.branch(to, to);
        self.code.op_word(Op::Variable, [to, 0, 0], id);
        self.code.op(Op::OptionalOf, to, to, 0);
        let end = self.code.jump(Op::Jump, [0, 0, 0]);
        self.code.land(missing);
        self.code.op_word(Op::Call, [to, 0, 0], Function::OptionalNone.id());
        self.code.land(end);
        self.code.land(failed);
    }

    fn write_has(&mut self, operand: &Expr, field: &str, to: u8) -> bool {
        match self.member(operand, field) {
            Some(Member::Variable(id)) => {
                self.note_variable(id);
                self.code.op_word(Op::HasVariable, [to, 0, 0], id);
                return true;
            }
            Some(member) => {
                let found = matches!(member, Member::Constant(_));
                let constant = constants::literal(&Literal::Bool(found), self.pool);
                self.code.op_word(Op::Const, [to, 0, 0], constant);
                return true;
            }
            None => {}
        }
        let Some((root, mut keys)) = path(operand) else { return false };
        if is_message(root) {
            // Fields of a message always exist; the message decides which of them count as present.
            return false;
        }
        self.note(root);
        keys.push(field);
        let slot = self.pool.slot(root, &keys);
        self.code.op_word(Op::HasSlot, [to, 0, 0], slot);
        true
    }

    fn note(&mut self, root: Root) {
        if matches!(root, Root::EffectiveDerivedRoles | Root::Runtime) {
            self.depends_on_roles();
        }
    }

    fn note_variable(&mut self, id: u32) {
        let pool = self.pool.view();
        let program = pool.variable(id).and_then(|(program, _)| pool.program(program));
        self.flags |= program.map_or(0, |program| program.flags);
    }
}

const fn is_message(root: Root) -> bool {
    matches!(root, Root::Request | Root::Principal | Root::Resource | Root::AuxData | Root::Runtime)
}

/// Returns the path on the request that an expression spells.
fn path(expr: &Expr) -> Option<Path<'_>> {
    match &expr.kind {
        ExprKind::Global(base) => Some((base_root(base)?, Vec::new())),
        ExprKind::Select { operand, field, optional: false } => {
            let (root, mut keys) = path(operand)?;
            if is_message(root) {
                return Some((field_root(root, field)?, keys));
            }
            keys.push(field);
            Some((root, keys))
        }
        ExprKind::Index { operand, index, optional: false } => {
            let ExprKind::Literal(Literal::String(key)) = &index.kind else { return None };
            let (root, mut keys) = path(operand)?;
            if is_message(root) {
                return None;
            }
            keys.push(key);
            Some((root, keys))
        }
        _ => None,
    }
}

fn base_root(name: &str) -> Option<Root> {
    match name {
        "request" => Some(Root::Request),
        "P" => Some(Root::Principal),
        "R" => Some(Root::Resource),
        "runtime" => Some(Root::Runtime),
        _ => None,
    }
}

fn field_root(message: Root, field: &str) -> Option<Root> {
    Some(match (message, field) {
        (Root::Request, "principal") => Root::Principal,
        (Root::Request, "resource") => Root::Resource,
        (Root::Request, "aux_data" | "auxData") => Root::AuxData,
        (Root::Principal, "id") => Root::PrincipalId,
        (Root::Principal, "roles") => Root::PrincipalRoles,
        (Root::Principal, "attr") => Root::PrincipalAttr,
        (Root::Principal, "policy_version" | "policyVersion") => Root::PrincipalPolicyVersion,
        (Root::Principal, "scope") => Root::PrincipalScope,
        (Root::Resource, "kind") => Root::ResourceKind,
        (Root::Resource, "id") => Root::ResourceId,
        (Root::Resource, "attr") => Root::ResourceAttr,
        (Root::Resource, "policy_version" | "policyVersion") => Root::ResourcePolicyVersion,
        (Root::Resource, "scope") => Root::ResourceScope,
        (Root::AuxData, "jwt") => Root::AuxDataJwt,
        (Root::AuxData, "jwts") => Root::AuxDataJwts,
        (Root::Runtime, "effective_derived_roles" | "effectiveDerivedRoles") => {
            Root::EffectiveDerivedRoles
        }
        _ => return None,
    })
}
