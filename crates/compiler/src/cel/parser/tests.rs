use super::*;

/// Writes a tree with every pair of brackets.
fn show(expr: &Expr) -> String {
    let all = |items: Vec<&Expr>| items.into_iter().map(show).collect::<Vec<_>>().join(", ");
    match &expr.kind {
        ExprKind::Literal(Literal::Int(value)) => value.to_string(),
        ExprKind::Literal(literal) => format!("{literal:?}"),
        ExprKind::Ident(name) => name.clone(),
        ExprKind::Select { operand, field, optional } => {
            format!("{}{}{field}", show(operand), if *optional { ".?" } else { "." })
        }
        ExprKind::Has { operand, field } => format!("has({}.{field})", show(operand)),
        ExprKind::Index { operand, index, optional } => {
            format!("{}[{}{}]", show(operand), if *optional { "?" } else { "" }, show(index))
        }
        ExprKind::Unary(op, operand) => format!("{}({})", op.name(), show(operand)),
        ExprKind::Binary(op, left, right) => {
            format!("({} {} {})", show(left), op.text(), show(right))
        }
        ExprKind::Conditional(a, b, c) => format!("({} ? {} : {})", show(a), show(b), show(c)),
        ExprKind::Call { target: Some(target), function, args } => {
            format!("{}.{function}({})", show(target), all(args.iter().collect()))
        }
        ExprKind::Call { function, args, .. } => {
            format!("{function}({})", all(args.iter().collect()))
        }
        ExprKind::Comprehension(node) => {
            format!("{:?}({:?}: {})", node.kind, node.names, all(node.children_for_tests()))
        }
        ExprKind::Message { name, .. } => format!("{name}{{}}"),
        other => format!("<{}>", all(other.children())),
    }
}

impl crate::cel::ast::Comprehension {
    fn children_for_tests(&self) -> Vec<&Expr> {
        [&self.range].into_iter().chain(self.filter.as_ref()).chain([&self.body]).collect()
    }
}

fn check(source: &str, expected: &str) {
    let parsed = match parse(source) {
        Ok(expr) => show(&expr),
        Err(errors) => errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
    };
    assert!(parsed.starts_with(expected), "{source}\n  got {parsed}\n want {expected}");
}

#[test]
fn operators_bind_as_the_grammar_says() {
    check("1 + 2 * 3 - 4", "((1 + (2 * 3)) - 4)");
    check("a || b && c == d in e", "(a || (b && ((c == d) in e)))");
    check("a ? b : c ? d : e", "(a ? b : (c ? d : e))");
    check("!!a == !b", "(a == !_(b))");
    check("-1 - -x", "(-1 - -_(x))");
    check("a || b || c || d", "((a || b) || (c || d))");
    check("-9223372036854775808", "-9223372036854775808");
}

#[test]
fn members_follow_their_operand() {
    check(".a.b[c].d(e).?f[?g]", ".a.b[c].d(e).?f[?g]");
    check("a.`b-c`", "a.b-c");
    check("a.b.C{d: 1, `e-f`: 2,}", "a.b.C{}");
    check("a.for.package", "a.for.package");
    check("[1, ?a,].map(x, x)", "List([\"x\"]: <1, a>, x)");
}

#[test]
fn literals_keep_their_value() {
    check("0x1F", "31");
    check("18446744073709551615u", "Uint(18446744073709551615)");
    check(".5e1 // five", "Double(5.0)");
    check("r'a\\n'", "String(\"a\\\\n\")");
    check("'''a\n'b'''", "String(\"a\\n'b\")");
    check("bR\"\"\"x\"\"\"", "Bytes([120])");
}

#[test]
fn macros_become_nodes() {
    check("has(a.b)", "has(a.b)");
    check("l.all(x, x > 0)", "All([\"x\"]: l, (x > 0))");
    check("l.map(x, p, x)", "List([\"x\"]: l, p, x)");
    check("l.transformMap(k, v, v)", "Map([\"k\", \"v\"]: l, v)");
    check("cel.bind(a, 1, a)", "<1, a>");
    check("math.greatest(1, 2, 3)", "math.@max(<1, 2, 3>)");
    check("l.all(x)", "l.all(x)");
}

#[test]
fn errors_of_sources_have_positions() {
    check("a ^^ true", "`^` is not allowed in an expression");
    check("a = b", "`=` is not allowed in an expression: expected `==`");
    check(
        "1 +",
        "the expression is not well formed: expected a value, found the end of the expression",
    );
    check("(a", "the expression is not well formed: expected `)`, found the end of the expression");
    check("a and b", "the expression is not well formed: expected `&&`, found `and`");
    check("as + import", "`as` is a reserved word; `import` is a reserved word");
    check("9223372036854775808", "this is too large for `int`: expected -9223372036854775808");
    check("has(a)", "`has` needs a field of a value");
    check("l.all(a.b, true)", "`all` needs the name of its variable first");
    check("'a\nb'", "the text has no closing quote");
    check("math.least()", "`math.least` has no arguments");
}

#[test]
fn depth_is_limited_before_the_stack_is() {
    let deep =
        |open: &str, close: &str, n: usize| format!("{}1{}", open.repeat(n), close.repeat(n));
    check(&deep("(", ")", 200), "1");
    for source in [deep("(", ")", 100_000 / 2 - 1), deep("[", "]", 300), deep("1 + (", ")", 5_000)]
    {
        check(&source, "the expression nests too deeply");
    }
    check(&format!("a{}", ".b".repeat(300)), "the expression nests too deeply");
    check(&format!("{}1", "1 + ".repeat(300)), "the expression nests too deeply");
    assert!(parse(&format!("a{}", " || a".repeat(10_000))).is_ok());
    check(&" ".repeat(100_001), "the expression is too long");
}
