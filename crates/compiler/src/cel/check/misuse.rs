//! Errors of an operator or a function that does not take the types of its arguments.
//!
//! The call is shown as the author wrote it, with types in the place of values, beside the forms
//! that exist.

use super::super::ast::{CelError, Span};
use super::super::env::Env;
use super::super::types::{Type, join};

/// Makes the error of a call of `name` with types that no overload takes.
pub(super) fn error(env: &Env, name: &str, member: bool, args: &[Type], span: Span) -> CelError {
    let (message, expected) = match operator(name) {
        Some(symbol) => {
            let expected = OPERATORS.iter().find(|(operator, _)| *operator == name);
            let message = format!("`{symbol}` does not work with these types");
            (message, expected.map(|(_, expected)| (*expected).to_owned()))
        }
        None => {
            let message = format!("`{}` is called with the wrong types", shown(name));
            (message, forms(env, name))
        }
    };
    let error = CelError::new(message, span).found(format!("`{}`", applied(name, member, args)));
    CelError { expected, ..error }
}

/// Returns how an operator looks in the text; nothing if `name` is a function.
fn operator(name: &str) -> Option<&str> {
    Some(match name {
        "_?_:_" => "? :",
        "_[_]" => "[]",
        "_[?_]" => "[?]",
        "@in" => "in",
        _ => {
            return name
                .contains('_')
                .then(|| name.trim_matches('_'))
                .filter(|symbol| is_sign(symbol));
        }
    })
}

fn is_sign(symbol: &str) -> bool {
    !symbol.chars().any(|c| c.is_ascii_alphanumeric() || c == '@')
}

/// Lists the forms of a function, if they are few.
fn forms(env: &Env, name: &str) -> Option<String> {
    let mut forms: Vec<String> = Vec::new();
    for signature in env.signatures(name) {
        let form = format!("`{}`", applied(name, signature.member, &signature.params));
        if !forms.contains(&form) {
            forms.push(form);
        }
    }
    (1..=MOST_FORMS).contains(&forms.len()).then(|| forms.join(" or "))
}

fn applied(name: &str, member: bool, args: &[Type]) -> String {
    match (operator(name), args) {
        (Some("? :"), [condition, then, otherwise]) => {
            format!("{condition} ? {then} : {otherwise}")
        }
        (Some("[]"), [value, index]) => format!("{value}[{index}]"),
        (Some("[?]"), [value, index]) => format!("{value}[?{index}]"),
        (Some(symbol), [left, right]) => format!("{left} {symbol} {right}"),
        (Some(symbol), [operand]) => format!("{symbol}{operand}"),
        (_, [target, args @ ..]) if member => format!("{target}.{}({})", shown(name), join(args)),
        _ => format!("{}({})", shown(name), join(args)),
    }
}

/// Returns the author's name for the function that a macro calls.
fn shown(name: &str) -> &str {
    match name {
        "@sortByAssociatedKeys" => "sortBy",
        "math.@max" => "math.greatest",
        "math.@min" => "math.least",
        _ => name,
    }
}

const OPERATORS: [(&str, &str); 8] = [
    ("_==_", "two values of one type"),
    ("_!=_", "two values of one type"),
    ("!_", "a boolean"),
    ("-_", "an int or a double"),
    ("@in", "a value, and a list or map of such"),
    ("_?_:_", "a boolean before `?`, and two values of one type"),
    ("_[_]", "a list and a number, or a map and a key"),
    ("_[?_]", "a list and a number, or a map and a key"),
];

/// The largest number of forms in a message; a longer list does not help the author.
const MOST_FORMS: usize = 4;
