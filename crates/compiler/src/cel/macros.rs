//! Calls in, macro nodes out.
//!
//! A macro is known by its name, by its receiver or the lack of one, and by the number of its
//! arguments; any other call stays a call. A macro whose arguments have the wrong shape is an error
//! at once.

use super::ast::{
    CelError, Comprehension, Element, Expr, ExprKind, Literal, Loop, block_slot, qualified_name,
};

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

/// Returns how a macro is called; nothing if `name` is none.
pub(super) fn form(name: &str) -> Option<&'static str> {
    Some(match name {
        "has" => "`has(value.field)`",
        "all" | "exists" | "exists_one" | "existsOne" => {
            "a name and a test, such as `.all(x, x > 1)`"
        }
        "map" => "a name and a value, such as `.map(x, x + 1)`",
        "filter" => "a name and a test, such as `.filter(x, x > 1)`",
        "sortBy" => "a name and a key, such as `.sortBy(x, x.age)`",
        "transformList" | "transformMap" | "transformMapEntry" => {
            "two names and a value, such as `.transformMap(k, v, v + 1)`"
        }
        "optMap" | "optFlatMap" => "a name and a value, such as `.optMap(x, x + 1)`",
        _ => return None,
    })
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
        _ => Err(CelError::new("`has` needs a field of a value", arg.span)
            .expected("a field, such as `has(R.attr.owner)`")),
    }
}

/// The arguments of a macro over a range: names first, then expressions.
struct Shape<'n> {
    name: &'n str,
    kind: Loop,
    names: usize,
    has_filter: bool,
}

impl<'n> Shape<'n> {
    fn of(name: &'n str, args: usize) -> Option<Self> {
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
        Some(Self { name, kind, names, has_filter })
    }

    fn build(self, range: Expr, args: Vec<Expr>) -> Result<ExprKind, CelError> {
        if self.kind == Loop::SortBy && !may_be_sorted(&range) {
            return Err(CelError::new("`sortBy` needs a list", range.span));
        }
        let mut args = args.into_iter();
        let names = args.by_ref().take(self.names).map(|arg| simple_name(&arg, self.name));
        let names = names.collect::<Result<Vec<_>, _>>()?;
        if let [first, second] = names.as_slice()
            && first == second
        {
            let message = format!("`{}` has two variables called `{first}`", self.name);
            return Err(CelError::new(message, range.span));
        }
        let filter = if self.has_filter { args.next() } else { None };
        let body = args.next().ok_or_else(|| CelError::new(WRONG_COUNT, range.span))?;
        let node = Comprehension { kind: self.kind, range, names, filter, body };
        Ok(ExprKind::Comprehension(Box::new(node)))
    }
}

fn may_be_sorted(range: &Expr) -> bool {
    !matches!(range.kind, ExprKind::Literal(_) | ExprKind::Map(_) | ExprKind::Message { .. })
}

fn opt_map(target: Expr, name: &str, args: Vec<Expr>) -> Result<ExprKind, CelError> {
    let [variable, body] = exactly(args, target.span)?;
    Ok(ExprKind::OptMap {
        target: Box::new(target),
        name: simple_name(&variable, name)?,
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
            let name = simple_name(&variable, "cel.bind")?;
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
    let wrong = || CelError::new("`cel.block` begins with a list of values", span);
    let ExprKind::List(elements) = slots.kind else { return Err(wrong()) };
    let plain = |element: Element| (!element.optional).then_some(element.value).ok_or_else(wrong);
    elements.into_iter().map(plain).collect()
}

fn position(arg: &Expr) -> Result<usize, CelError> {
    match &arg.kind {
        ExprKind::Literal(Literal::Int(value)) => usize::try_from(*value).ok(),
        _ => None,
    }
    .ok_or_else(|| CelError::new("this is not an index", arg.span).expected("a number from 0"))
}

/// Expands `math.greatest` and `math.least`, which take any number of numbers; more than two become
/// a list.
fn math(target: &Expr, name: &str, args: Vec<Expr>) -> Result<ExprKind, CelError> {
    let span = target.span;
    for arg in &args {
        check_math_argument(arg, name, args.len() == 1)?;
    }
    let function = if name == "greatest" { "math.@max" } else { "math.@min" };
    let args = match args.len() {
        0 => {
            let message = format!("`math.{name}` has no arguments");
            return Err(CelError::new(message, span).expected("at least one number"));
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
    let expected = if single { "a number, or a list of numbers" } else { "a number" };
    let message = format!("`math.{name}` compares only numbers");
    Err(CelError::new(message, arg.span).expected(expected))
}

fn simple_name(arg: &Expr, macro_name: &str) -> Result<String, CelError> {
    let name = qualified_name(arg).filter(|name| !name.contains('.'));
    name.ok_or_else(|| {
        let message = format!("`{macro_name}` needs the name of its variable first");
        CelError::new(message, arg.span).expected("a name without dots, such as `x`")
    })
}

fn exactly<const N: usize>(args: Vec<Expr>, span: super::Span) -> Result<[Expr; N], CelError> {
    args.try_into().map_err(|_| CelError::new(WRONG_COUNT, span))
}

/// An error that is never reported: a macro is known by the number of its arguments too.
const WRONG_COUNT: &str = "wrong number of arguments";
