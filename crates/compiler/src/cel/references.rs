//! Which parts of a policy an expression reads, before anything is resolved.

use std::collections::BTreeSet;

use super::ast::{Expr, ExprKind, Literal};

/// The reads of an expression besides the request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct References {
    /// Every `x` of `V.x` and `variables.x`.
    pub variables: BTreeSet<String>,
    /// Every `x` of `C.x` and `constants.x`.
    pub constants: BTreeSet<String>,
    /// Every `x` of `G.x` and `globals.x`.
    pub globals: BTreeSet<String>,
    /// True if it mentions `runtime`.
    pub reads_derived_roles: bool,
    /// True if it calls `now()` or `timeSince()`.
    pub reads_clock: bool,
    /// True if it reads `context` or `action` of `request.auxData.jwts`: the context of an AuthZEN request
    /// and the properties of its action, which no signature covers.
    pub reads_unsigned_claims: bool,
}

/// Returns the reads of `expr`. Names that a macro declares hide those of the policy.
#[must_use]
pub fn references(expr: &Expr) -> References {
    let mut found = References::default();
    found.visit(expr, &mut Vec::new());
    found
}

impl References {
    fn visit<'e>(&mut self, expr: &'e Expr, hidden: &mut Vec<&'e str>) {
        match &expr.kind {
            ExprKind::Ident(name) | ExprKind::Global(name) => {
                self.reads_derived_roles |=
                    name == "runtime" && !hidden.contains(&"runtime") || name == ".runtime";
            }
            ExprKind::Select { operand, field, .. } | ExprKind::Has { operand, field } => {
                if let ExprKind::Ident(name) | ExprKind::Global(name) = &operand.kind
                    && !hidden.contains(&name.as_str())
                {
                    self.member(name, field);
                }
                self.claims(operand, field, hidden);
            }
            ExprKind::Index { operand, index, .. } => {
                if let ExprKind::Literal(Literal::String(name)) = &index.kind {
                    self.claims(operand, name, hidden);
                }
            }
            ExprKind::Call { function, .. } => {
                self.reads_clock |=
                    matches!(function.as_str(), "now" | ".now" | "timeSince" | ".timeSince");
            }
            _ => {}
        }
        let depth = hidden.len();
        if let ExprKind::Comprehension(node) = &expr.kind {
            self.visit(&node.range, hidden);
            hidden.extend(expr.kind.declared());
            node.filter.iter().chain([&node.body]).for_each(|part| self.visit(part, hidden));
        } else if let ExprKind::Bind { value: outer, body, .. }
        | ExprKind::OptMap { target: outer, body, .. } = &expr.kind
        {
            self.visit(outer, hidden);
            hidden.extend(expr.kind.declared());
            self.visit(body, hidden);
        } else {
            expr.kind.children().into_iter().for_each(|child| self.visit(child, hidden));
        }
        hidden.truncate(depth);
    }

    /// Notes that `name` of `operand` is read, if `operand` is `request.auxData.jwts`.
    fn claims(&mut self, operand: &Expr, name: &str, hidden: &[&str]) {
        self.reads_unsigned_claims |= matches!(name, "context" | "action")
            && !hidden.contains(&"request")
            && member_of(operand, &["jwts"])
                .and_then(|aux_data| member_of(aux_data, &["auxData", "aux_data"]))
                .is_some_and(|root| {
                    matches!(&root.kind, ExprKind::Ident(name) | ExprKind::Global(name)
                        if name.trim_start_matches('.') == "request")
                });
    }

    fn member(&mut self, base: &str, field: &str) {
        let names = match base.trim_start_matches('.') {
            "V" | "variables" => &mut self.variables,
            "C" | "constants" => &mut self.constants,
            "G" | "globals" => &mut self.globals,
            _ => return,
        };
        names.insert(field.to_owned());
    }
}

/// Returns the value of which `expr` is a member with one of these names.
fn member_of<'e>(expr: &'e Expr, names: &[&str]) -> Option<&'e Expr> {
    match &expr.kind {
        ExprKind::Select { operand, field, .. } if names.contains(&field.as_str()) => Some(operand),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cel::parse;

    #[test]
    fn references_are_what_no_macro_hides() {
        let check = |source: &str, expected: [&[&str]; 3], derived_roles: bool, clock: bool| {
            let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            let [variables, constants, globals] = expected.map(set);
            let expected = References {
                variables,
                constants,
                globals,
                reads_derived_roles: derived_roles,
                reads_clock: clock,
                reads_unsigned_claims: false,
            };
            assert_eq!(references(&parse(source).unwrap()), expected, "{source}");
        };
        check("V.a + variables.b.c", [&["a", "b"], &[], &[]], false, false);
        check("has(C.a) && constants.b in G.c", [&[], &["a", "b"], &["c"]], false, false);
        check("V.l.exists(V, V.x == G.y)", [&["l"], &[], &["y"]], false, false);
        check("'a' in runtime.effectiveDerivedRoles", [&[], &[], &[]], true, false);
        check("P.attr.t.timeSince() > now()", [&[], &[], &[]], false, true);
        check("cel.bind(V, V.a, V.b)", [&["a"], &[], &[]], false, false);
    }

    #[test]
    fn claims_without_a_signature_are_those_of_authzen() {
        let check = |source: &str, expected: bool| {
            assert_eq!(
                references(&parse(source).unwrap()).reads_unsigned_claims,
                expected,
                "{source}"
            );
        };
        check("request.auxData.jwts.context.claims.ip", true);
        check("request.aux_data.jwts['action'].claims.rows", true);
        check("has(request.auxData.jwts.context)", true);
        check("request.auxData.jwts.?context.claims.?ip.orValue('')", true);
        check("[1].exists(r, request.auxData.jwts[?'context'].hasValue())", true);
        check("request.auxData.jwts.session.claims.context", false);
        check("request.auxData.jwt.context", false);
        check("P.attr.auxData.jwts.context", false);
        check("[P.attr].exists(request, request.auxData.jwts.context)", false);
    }
}
