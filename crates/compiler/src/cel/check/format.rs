//! Literal texts of `format`, checked against the types of their values.
//!
//! An error of cel-go is an error here. A computed text or list is not checked: the machine
//! evaluates it, and ignores values that are left over.

use super::super::ast::{CelError, Element, Expr, ExprKind, Literal, Span};
use super::super::types::{Type, Unifier};

/// A call of `format` with a literal text and a literal list.
pub(super) struct Call {
    text: String,
    at: Span,
    values: Vec<(Type, Span)>,
}

impl Call {
    /// Returns the literal text and the value types of `target.format(args)`, whose list has
    /// elements of these `types`.
    pub(super) fn of(target: &Expr, args: &[Expr], types: &[Type]) -> Option<Self> {
        let ExprKind::Literal(Literal::String(text)) = &target.kind else { return None };
        let [Expr { kind: ExprKind::List(elements), .. }] = args else { return None };
        let spans = elements.iter().map(|Element { value, .. }| value.span);
        let values = types.iter().cloned().zip(spans).collect();
        Some(Self { text: text.clone(), at: target.span, values })
    }

    /// Returns the first error of the format, if there is one.
    pub(super) fn fault(&self, types: &mut Unifier) -> Option<CelError> {
        let mut values = self.values.iter();
        let mut clauses = 0_usize;
        let mut rest = self.text.as_str();
        while let Some((_, clause)) = rest.split_once('%') {
            if let Some(after) = clause.strip_prefix('%') {
                rest = after;
                continue;
            }
            let Some((letter, after)) = letter(clause) else { return Some(self.no_clause(clause)) };
            clauses = clauses.saturating_add(1);
            if let Some((found, span)) = values.next() {
                let found = types.substitute(found, true);
                if !prints(letter, &found) {
                    let error =
                        CelError::new(format!("`%{letter}` cannot format this value"), *span);
                    return Some(error.found(format!("`{found}`")).expected(printed(letter)));
                }
            }
            rest = after;
        }
        (clauses != self.values.len()).then(|| self.miscounted(clauses))
    }

    fn no_clause(&self, clause: &str) -> CelError {
        let end = clause.find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(clause.len());
        let letter = clause.get(end..).and_then(|rest| rest.chars().next());
        let found = clause.chars().take(end).chain(letter).collect::<String>();
        let error = CelError::new("this is not a clause of `format`", self.at);
        error.found(format!("`%{found}`")).expected(CLAUSES)
    }

    fn miscounted(&self, clauses: usize) -> CelError {
        let error = CelError::new("`format` needs a value for each clause", self.at);
        error.found(self.values.len().to_string()).expected(clauses.to_string())
    }
}

/// Reads the rest of a clause after its `%`: its letter, and the text after the letter.
fn letter(clause: &str) -> Option<(char, &str)> {
    let rest = match clause.strip_prefix('.') {
        Some(digits) => {
            let rest = digits.trim_start_matches(|c: char| c.is_ascii_digit());
            let precision = digits.strip_suffix(rest)?.parse::<usize>().ok()?;
            (precision <= MAX_PRECISION).then_some(rest)?
        }
        None => clause,
    };
    let letter = rest.chars().next().filter(|letter| LETTERS.contains(*letter))?;
    Some((letter, rest.strip_prefix(letter)?))
}

/// Returns true if a value of this type can be printed by a clause.
fn prints(letter: char, value: &Type) -> bool {
    let value = if let Type::Wrapper(inner) = value { inner } else { value };
    match (letter, value) {
        (_, Type::Dyn | Type::Error | Type::Int | Type::Uint) => true,
        ('s', Type::Message(_) | Type::Opaque(..)) => false,
        ('s', _) | ('d' | 'f' | 'e', Type::Double) | ('b', Type::Bool) => true,
        ('x' | 'X', Type::String | Type::Bytes) => true,
        _ => false,
    }
}

const fn printed(letter: char) -> &'static str {
    match letter {
        's' => "a value with a text",
        'd' | 'f' | 'e' => "a number",
        'b' => "a whole number or a boolean",
        'o' => "a whole number",
        _ => "a whole number, a string or bytes",
    }
}

const LETTERS: &str = "sdfebxXo";
const CLAUSES: &str =
    "`%%`, or `%` with one of the letters `sdfebxXo`, perhaps after a precision of at most `.100`";

/// The largest precision that the machine takes.
const MAX_PRECISION: usize = 100;
