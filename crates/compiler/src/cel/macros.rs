//! Calls in, macro nodes out.
//!
//! A macro is known by its name, whether it has a receiver, and the number of its arguments; any
//! other call stays a call. A macro whose arguments have the wrong shape is an error at once.

use super::ast::{CelError, Comprehension, Element, Expr, ExprKind, Literal, Loop, block_slot};
use super::parser::qualified_name;

/// Returns the macro node that a call stands for, or the call itself.
pub(super) fn expand(
    target: Option<Expr>,
    name: String,
    args: Vec<Expr>,
) -> Result<ExprKind, CelError> {
    let Some(target) = target else {
        return match (name.as_str(), args.as_slice()) {
            ("has", [arg]) => has(arg),
            _ => Ok(call(None, name, args)),
        };
    };
    match namespace(&target) {
        Some("cel") if is_cel_macro(&name, args.len()) => cel(&name, args),
        Some("math") if name == "greatest" || name == "least" => math(&target, &name, args),
        _ => match Shape::of(&name, args.len()) {
            Some(shape) => shape.build(target, args),
            None if args.len() == 2 && matches!(name.as_str(), "optMap" | "optFlatMap") => {
                opt_map(target, &name, args)
            }
            None => Ok(call(Some(target), name, args)),
        },
    }
}

fn call(target: Option<Expr>, function: String, args: Vec<Expr>) -> ExprKind {
    ExprKind::Call { target: target.map(Box::new), function, args }
}

fn namespace(target: &Expr) -> Option<&str> {
    match &target.kind {
        ExprKind::Ident(name) => Some(name),
        _ => None,
    }
}

fn has(arg: &Expr) -> Result<ExprKind, CelError> {
    match &arg.kind {
        ExprKind::Select { operand, field, optional: false } => {
            Ok(ExprKind::Has { operand: operand.clone(), field: field.clone() })
        }
        _ => Err(CelError::new("invalid argument to has() macro", arg.span)),
    }
}

/// What the arguments of a macro over a range are: names first, then expressions.
struct Shape {
    kind: Loop,
    names: usize,
    has_filter: bool,
    /// What is said of a first argument that is no name.
    not_a_name: &'static str,
}

impl Shape {
    fn of(name: &str, args: usize) -> Option<Self> {
        let (kind, names, has_filter) = match (name, args) {
            ("all", 2 | 3) => (Loop::All, args - 1, false),
            ("exists", 2 | 3) => (Loop::Exists, args - 1, false),
            ("exists_one" | "existsOne", 2 | 3) => (Loop::ExistsOne, args - 1, false),
            ("map", 2 | 3) => (Loop::List, 1, args == 3),
            ("filter", 2) => (Loop::Filter, 1, false),
            ("sortBy", 2) => (Loop::SortBy, 1, false),
            ("transformList", 3 | 4) => (Loop::List, 2, args == 4),
            ("transformMap", 3 | 4) => (Loop::Map, 2, args == 4),
            ("transformMapEntry", 3 | 4) => (Loop::MapEntry, 2, args == 4),
            _ => return None,
        };
        let not_a_name = match name {
            "map" | "filter" => "argument is not an identifier",
            _ => "argument must be a simple name",
        };
        Some(Self { kind, names, has_filter, not_a_name })
    }

    fn build(self, range: Expr, args: Vec<Expr>) -> Result<ExprKind, CelError> {
        if self.kind == Loop::SortBy && !may_be_sorted(&range) {
            return Err(CelError::new(UNSORTABLE, range.span));
        }
        let mut args = args.into_iter();
        let names = args.by_ref().take(self.names).map(|arg| simple_name(&arg, self.not_a_name));
        let names = names.collect::<Result<Vec<_>, _>>()?;
        if let [first, second] = names.as_slice()
            && first == second
        {
            return Err(CelError::new(format!("duplicate variable name: {first}"), range.span));
        }
        let filter = if self.has_filter { args.next() } else { None };
        let body = args.next().ok_or_else(|| CelError::new("missing argument", range.span))?;
        let node = Comprehension { kind: self.kind, range, names, filter, body };
        Ok(ExprKind::Comprehension(Box::new(node)))
    }
}

fn may_be_sorted(range: &Expr) -> bool {
    !matches!(range.kind, ExprKind::Literal(_) | ExprKind::Map(_) | ExprKind::Message { .. })
}

fn opt_map(target: Expr, name: &str, args: Vec<Expr>) -> Result<ExprKind, CelError> {
    let message = format!("{name}() variable name must be a simple identifier");
    let [variable, body] = exactly(args, target.span)?;
    Ok(ExprKind::OptMap {
        target: Box::new(target),
        name: simple_name(&variable, &message)?,
        body: Box::new(body),
        flat: name == "optFlatMap",
    })
}

fn is_cel_macro(name: &str, args: usize) -> bool {
    matches!((name, args), ("bind", 3) | ("block" | "iterVar" | "accuVar", 2) | ("index", 1))
}

fn cel(name: &str, args: Vec<Expr>) -> Result<ExprKind, CelError> {
    let span = args.first().map(|arg| arg.span).unwrap_or_default();
    match name {
        "bind" => {
            let [variable, value, body] = exactly(args, span)?;
            let message = "cel.bind() variable names must be simple identifiers";
            let name = simple_name(&variable, message)?;
            Ok(ExprKind::Bind { name, value: Box::new(value), body: Box::new(body) })
        }
        "block" => {
            let [slots, body] = exactly(args, span)?;
            let slots = plain_list(slots)?;
            Ok(ExprKind::Block { slots, body: Box::new(body) })
        }
        "index" => {
            let [index] = exactly(args, span)?;
            Ok(ExprKind::Ident(block_slot(position(&index)?)))
        }
        _ => {
            let [depth, unique] = exactly(args, span)?;
            let (depth, unique) = (position(&depth)?, position(&unique)?);
            Ok(ExprKind::Ident(format!("@{name}:{depth}:{unique}")))
        }
    }
}

fn plain_list(slots: Expr) -> Result<Vec<Expr>, CelError> {
    let span = slots.span;
    let wrong = || CelError::new("cel.block requires the first arg to be a list literal", span);
    let ExprKind::List(elements) = slots.kind else { return Err(wrong()) };
    let plain = |element: Element| (!element.optional).then_some(element.value).ok_or_else(wrong);
    elements.into_iter().map(plain).collect()
}

fn position(arg: &Expr) -> Result<usize, CelError> {
    match &arg.kind {
        ExprKind::Literal(Literal::Int(value)) => usize::try_from(*value).ok(),
        _ => None,
    }
    .ok_or_else(|| CelError::new("argument must be a non-negative int literal", arg.span))
}

/// `math.greatest` and `math.least` take any number of numbers; more than two become a list.
fn math(target: &Expr, name: &str, args: Vec<Expr>) -> Result<ExprKind, CelError> {
    let span = target.span;
    for arg in &args {
        check_math_argument(arg, name, args.len() == 1)?;
    }
    let function = if name == "greatest" { "math.@max" } else { "math.@min" };
    let args = match args.len() {
        0 => {
            return Err(CelError::new(
                format!("math.{name}() requires at least one argument"),
                span,
            ));
        }
        1 | 2 => args,
        _ => {
            let elements = args.into_iter().map(|value| Element { value, optional: false });
            vec![Expr::new(ExprKind::List(elements.collect()), span)]
        }
    };
    Ok(call(None, function.to_owned(), args))
}

fn check_math_argument(arg: &Expr, name: &str, single: bool) -> Result<(), CelError> {
    let number = |expr: &Expr| match &expr.kind {
        ExprKind::Literal(literal) => {
            matches!(literal, Literal::Int(_) | Literal::Uint(_) | Literal::Double(_))
        }
        ExprKind::List(_) | ExprKind::Map(_) | ExprKind::Message { .. } => false,
        _ => true,
    };
    let valid = match &arg.kind {
        ExprKind::List(elements) if single => {
            !elements.is_empty() && elements.iter().all(|element| number(&element.value))
        }
        _ => number(arg),
    };
    if valid {
        return Ok(());
    }
    let problem = if single {
        "invalid single argument value"
    } else {
        "simple literal arguments must be numeric"
    };
    Err(CelError::new(format!("math.{name}() {problem}"), arg.span))
}

fn simple_name(arg: &Expr, otherwise: &str) -> Result<String, CelError> {
    qualified_name(arg)
        .filter(|name| !name.contains('.'))
        .ok_or_else(|| CelError::new(otherwise, arg.span))
}

fn exactly<const N: usize>(args: Vec<Expr>, span: super::Span) -> Result<[Expr; N], CelError> {
    args.try_into().map_err(|_| CelError::new("wrong number of arguments", span))
}

const UNSORTABLE: &str =
    "sortBy can only be applied to a list, identifier, comprehension, call or select expression";
