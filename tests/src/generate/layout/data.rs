//! The content of a generated text: values of every kind, half of them in the shape of a policy.

use wardgate_compiler::yaml::{Kind, Node};

use super::choices::Choices;
use crate::items::items;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    /// The null value.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Integer(i128),
    /// Any other number.
    Float(f64),
    /// Text with its literal meaning.
    Text(String),
    /// Text that is an expression by its position in a policy.
    Expression(String),
    /// A list.
    List(Vec<Self>),
    /// A map.
    Map(Vec<(Self, Self)>),
    /// A value with an anchor of this number.
    Anchored(usize, Box<Self>),
    /// A second use of the value of that anchor.
    Alias(usize, Box<Self>),
}

impl Datum {
    /// Returns true if `node` has the same content; of an expression, white space and parentheses
    /// apart.
    #[must_use]
    pub fn agrees(&self, node: &Node) -> bool {
        match (self, &node.kind) {
            (Self::Anchored(_, datum) | Self::Alias(_, datum), _) => datum.agrees(node),
            (Self::Null, Kind::Null) => true,
            (Self::Bool(a), Kind::Bool(b)) => a == b,
            (Self::Integer(a), Kind::Integer(b)) => a == b,
            (Self::Float(a), Kind::Float(b)) => a.to_bits() == b.to_bits(),
            (Self::Text(a), Kind::String(b, _)) => a.as_str() == &**b,
            (Self::Expression(a), Kind::String(b, _)) => bare(a) == bare(b),
            (Self::List(a), Kind::Seq(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.agrees(b))
            }
            (Self::Map(a), Kind::Map(b)) => {
                let entry =
                    |((key, value), entry): (&(Self, Self), &wardgate_compiler::yaml::Entry)| {
                        key.agrees(&entry.key) && value.agrees(&entry.value)
                    };
                a.len() == b.len() && a.iter().zip(b).all(entry)
            }
            _ => false,
        }
    }

    pub(super) fn has_expressions(&self) -> bool {
        match self {
            Self::Expression(_) => true,
            Self::List(items) => items.iter().any(Self::has_expressions),
            Self::Map(entries) => entries.iter().any(|(_, value)| value.has_expressions()),
            Self::Anchored(_, datum) | Self::Alias(_, datum) => datum.has_expressions(),
            _ => false,
        }
    }
}

/// Returns an expression without the parts that a layout may change, and its comments, which may
/// change places with operators.
fn bare(text: &str) -> (String, Vec<&str>) {
    let is_significant = |c: &char| !c.is_whitespace() && !matches!(c, '(' | ')');
    let (mut code, mut comments) = (String::new(), Vec::new());
    for line in text.lines() {
        let (before, comment) = line.split_once("//").unwrap_or((line, ""));
        code.extend(before.chars().filter(is_significant));
        comments.extend(Some(comment.trim()).filter(|comment| !comment.is_empty()));
    }
    (code.replace(",]", "]").replace(",}", "}"), comments)
}

/// Returns the content of a document.
pub(super) fn document(choices: &mut Choices<'_>) -> Datum {
    let mut maker = Maker { choices, anchored: Vec::new() };
    match maker.choices.below(4) {
        0 => maker.map(DEPTH),
        1 => maker.list(DEPTH),
        _ => maker.policy(),
    }
}

struct Maker<'m, 'c> {
    choices: &'m mut Choices<'c>,
    /// The values with anchors so far.
    anchored: Vec<Datum>,
}

impl Maker<'_, '_> {
    fn value(&mut self, depth: usize) -> Datum {
        let kinds = if depth == 0 { 6 } else { 8 };
        match self.choices.below(kinds) {
            0..=2 => Datum::Text(self.text()),
            3 => Datum::Null,
            4 => match self.choices.below(4) {
                0 => Datum::Bool(true),
                1 => Datum::Bool(false),
                2 => Datum::Integer(-42),
                _ => Datum::Float(2.5),
            },
            5 => return self.again().unwrap_or(Datum::Null),
            6 => self.list(depth - 1),
            _ => self.map(depth - 1),
        }
        .anchored(self)
    }

    /// Returns an alias of an anchor, if there is one.
    fn again(&mut self) -> Option<Datum> {
        let number = self.choices.below(self.anchored.len());
        let datum = self.anchored.get(number)?.clone();
        Some(Datum::Alias(number, Box::new(datum)))
    }

    fn list(&mut self, depth: usize) -> Datum {
        let count = self.choices.below(4);
        Datum::List((0..count).map(|_| self.value(depth)).collect())
    }

    fn map(&mut self, depth: usize) -> Datum {
        let count = self.choices.below(4);
        Datum::Map((0..count).map(|number| (self.key(number, depth), self.value(depth))).collect())
    }

    /// Returns a key that differs from the keys of other numbers.
    fn key(&mut self, number: usize, depth: usize) -> Datum {
        if self.choices.chance(1) {
            let number = Datum::Integer(i128::try_from(number).unwrap_or_default());
            return match depth > 1 {
                true => Datum::Map(vec![(text("in"), Datum::Null), (number, Datum::Null)]),
                false => Datum::List(vec![number, Datum::Text(self.text())]),
            };
        }
        let word = self.choices.pick("a", KEYS);
        Datum::Text(format!("{word}{number}"))
    }

    fn text(&mut self) -> String {
        let words = items(WORDS);
        let mut text = String::new();
        for _ in 0..self.choices.below(6) {
            text.push_str(self.choices.pick("a", &words));
            text.push_str(self.choices.pick(" ", BETWEEN));
        }
        match self.choices.below(3) {
            0 => text.trim().to_owned(),
            1 => text.trim_start().to_owned(),
            _ => text,
        }
    }

    fn policy(&mut self) -> Datum {
        let mut fields = vec![field("apiVersion", text("api.cerbos.dev/v1"))];
        if self.choices.chance(3) {
            fields.push(field("metadata", self.map(2)));
        }
        let mut body = vec![field("resource", text("photo")), field("version", text("default"))];
        if self.choices.chance(3) {
            let count = self.choices.below(3);
            let local = (0..count).map(|n| (text(&format!("v{n}")), self.expression())).collect();
            let local = Datum::Map(local);
            body.push(field("variables", Datum::Map(vec![field("local", local)])));
        }
        let last = self.choices.below(2);
        let rules = (0..=last).map(|_| self.rule()).collect();
        body.push(field("rules", Datum::List(rules)));
        fields.push(field("resourcePolicy", Datum::Map(body)));
        if self.choices.chance(3) {
            fields.push(field("description", Datum::Text(self.text())));
        }
        Datum::Map(fields)
    }

    fn rule(&mut self) -> Datum {
        let actions = Datum::List(vec![text("view"), text("share:*")]);
        let mut fields = vec![
            field("actions", actions),
            field("effect", text("EFFECT_ALLOW")),
            field("roles", Datum::List(vec![text("*")])),
        ];
        if self.choices.chance(6) {
            let condition = Datum::Map(vec![field("match", self.part(2))]);
            fields.push(field("condition", condition));
        }
        if self.choices.chance(2) {
            let when = Datum::Map(vec![field("ruleActivated", self.expression())]);
            fields.push(field("output", Datum::Map(vec![field("when", when)])));
        }
        Datum::Map(fields)
    }

    fn part(&mut self, depth: usize) -> Datum {
        let of = |datum| Datum::Map(vec![field("of", datum)]);
        match self.choices.below(4) {
            kind @ (0 | 1) if depth > 0 => {
                let last = self.choices.below(2);
                let parts = (0..=last).map(|_| self.part(depth - 1)).collect();
                let name = if kind == 0 { "all" } else { "none" };
                Datum::Map(vec![field(name, of(Datum::List(parts)))])
            }
            _ => Datum::Map(vec![field("expr", self.expression())]),
        }
    }

    fn expression(&mut self) -> Datum {
        let mut text = self.choices.pick("a", EXPRESSIONS).to_owned();
        for _ in 0..self.choices.below(4) {
            let join = self.choices.pick(" && ", JOINS);
            text = format!("{text}{join}{}", self.choices.pick("a", EXPRESSIONS));
            if self.choices.chance(2) {
                text = format!("({text})");
            }
        }
        Datum::Expression(text).anchored(self)
    }
}

impl Datum {
    /// Gives the value an anchor, at times.
    fn anchored(self, maker: &mut Maker<'_, '_>) -> Self {
        if !maker.choices.chance(1) {
            return self;
        }
        maker.anchored.push(self.clone());
        Self::Anchored(maker.anchored.len() - 1, Box::new(self))
    }
}

fn field(name: &str, value: Datum) -> (Datum, Datum) {
    (text(name), value)
}

fn text(text: &str) -> Datum {
    Datum::Text(text.to_owned())
}

const DEPTH: usize = 3;

const KEYS: &[&str] =
    &["b c", "it's ", "x#", "ü", "y: z", "- ", "\"q\"", "[k]", "*", "? ", "a\nb", "#", "", " "];

const WORDS: &str = r#"
    word; b:c; x#y; # none; it's; "q"; \; ü; 日本; 😀; {b}; [c,d]; e: f; - g; ---; ? h; &i; *j; !k;
    %l; @m; `n`; |; >-; ...; :; ,; 1; true;
    a long one that goes on and on over more than the line
"#;

const BETWEEN: &[&str] = &["", "  ", "\n", "\n\n", "\n  ", "\t", " ", " ", " "];

const EXPRESSIONS: &[&str] = &[
    "a==b",
    "R.attr.owner==P.id",
    "(a)",
    "!(a||b)",
    "x in [1,2 ,3]",
    "{\"a\":1}.a==1",
    "{ 'a' : [] }",
    "a?b:c",
    "\"#x\" == y",
    "a.exists(e,e>1)",
    "'it''s'==a",
    "\"a\\\"b\" != c",
    "-1<x",
    "a\n==\nb",
    "a // why\n== b",
    "f( a , b )[0]",
    "has(a.b)",
    "true",
    "1",
    "\"a b\"  + 'c'",
    "((a)&&(b))",
    "R.attr.text.matches(r'^\\d+ #\\s$') == true",
    "a.b.c.d.e.f.g == \"quite a long text to make lines long\"",
];

const JOINS: &[&str] = &["&&", "||", " || ", "\n&& ", " &&\n  ", " ? 1 : ", "+"];
