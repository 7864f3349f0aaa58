//! The tree that the stages share.
//!
//! Macros are nodes of their own ([`Comprehension`], [`ExprKind::Bind`] and so on), so that
//! lowering can choose instructions by the macro that the author wrote. A node knows its height,
//! which is how the depth limit is enforced before anything recurses over the tree.

use std::fmt;

use crate::message::sentence;

/// A range of bytes in the source of an expression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// Returns the smallest span that covers both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// Something wrong with an expression, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CelError {
    /// The error.
    pub message: String,
    /// Its span.
    pub span: Span,
    /// The text at the span.
    pub found: Option<String>,
    /// The text or the type that is expected there.
    pub expected: Option<String>,
}

impl CelError {
    /// Makes an error.
    pub fn new(message: impl Into<String>, span: Span) -> Self {
        Self { message: message.into(), span, found: None, expected: None }
    }

    /// Adds the text at the span.
    #[must_use]
    pub fn found(mut self, found: impl Into<String>) -> Self {
        self.found = Some(found.into());
        self
    }

    /// Adds the expected text or type.
    #[must_use]
    pub fn expected(mut self, expected: impl Into<String>) -> Self {
        self.expected = Some(expected.into());
        self
    }
}

impl fmt::Display for CelError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (found, expected) = (self.found.as_deref(), self.expected.as_deref());
        out.write_str(&sentence(&self.message, found, expected))
    }
}

impl std::error::Error for CelError {}

/// One node.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// The kind of the node, with its operands.
    pub kind: ExprKind,
    /// The span in the source.
    pub span: Span,
    height: u32,
}

impl Expr {
    /// Makes a node.
    #[must_use]
    pub fn new(kind: ExprKind, span: Span) -> Self {
        let height = kind.children().iter().map(|child| child.height).max().unwrap_or(0);
        Self { kind, span, height: height.saturating_add(1) }
    }

    /// Returns how many nodes the longest path below and including this one has.
    #[must_use]
    pub const fn height(&self) -> u32 {
        self.height
    }
}

/// The kinds of nodes.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A literal.
    Literal(Literal),
    /// A name as written, with its leading dot if it has one.
    Ident(String),
    /// A variable of the environment, fully qualified. Only the checker makes this.
    Global(String),
    /// A type as a value. Only the checker makes this.
    TypeName(String),
    /// `operand.field`, or `operand.?field`.
    Select {
        /// The value that has the field.
        operand: Box<Expr>,
        /// The name of the field.
        field: String,
        /// True if this is `.?`.
        optional: bool,
    },
    /// `has(operand.field)`.
    Has {
        /// The value that is searched for the field.
        operand: Box<Expr>,
        /// The name of the field.
        field: String,
    },
    /// `operand[index]`, or `operand[?index]`.
    Index {
        /// The list or map.
        operand: Box<Expr>,
        /// Key or position.
        index: Box<Expr>,
        /// True if this is `[?`.
        optional: bool,
    },
    /// An operator with one operand.
    Unary(UnaryOp, Box<Expr>),
    /// An operator with two operands.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `condition ? then : otherwise`.
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    /// A call of a function; its target, if any, may still be the namespace of its name.
    Call {
        /// The receiver.
        target: Option<Box<Expr>>,
        /// The name of the function.
        function: String,
        /// The arguments.
        args: Vec<Expr>,
    },
    /// `[a, ?b]`.
    List(Vec<Element>),
    /// `{a: b, ?c: d}`.
    Map(Vec<Entry>),
    /// `Name{field: value}`.
    Message {
        /// The name as written.
        name: String,
        /// The fields.
        fields: Vec<Field>,
    },
    /// A macro that runs over a list or a map.
    Comprehension(Box<Comprehension>),
    /// `cel.bind(name, value, body)`.
    Bind {
        /// The name that `body` may use.
        name: String,
        /// The bound expression.
        value: Box<Expr>,
        /// The result.
        body: Box<Expr>,
    },
    /// `target.optMap(name, body)` or `target.optFlatMap(name, body)`.
    OptMap {
        /// An optional.
        target: Box<Expr>,
        /// The name that `body` may use for its value.
        name: String,
        /// The result if there is a value.
        body: Box<Expr>,
        /// True if `body` is an optional itself.
        flat: bool,
    },
    /// `cel.block([slot, ...], body)`: each slot may refer to the ones before it.
    Block {
        /// Named [`block_slot`]`(0)`, [`block_slot`]`(1)` and so on.
        slots: Vec<Expr>,
        /// The result.
        body: Box<Expr>,
    },
}

impl ExprKind {
    /// Returns the names that the node declares for nodes below it.
    #[must_use]
    pub fn declared(&self) -> Vec<&str> {
        match self {
            Self::Comprehension(node) => node.names.iter().map(String::as_str).collect(),
            Self::Bind { name, .. } | Self::OptMap { name, .. } => vec![name],
            _ => Vec::new(),
        }
    }

    /// Returns the nodes directly below, in source order.
    #[must_use]
    pub fn children(&self) -> Vec<&Expr> {
        match self {
            Self::Literal(_) | Self::Ident(_) | Self::Global(_) | Self::TypeName(_) => Vec::new(),
            Self::Select { operand, .. } | Self::Has { operand, .. } => vec![operand],
            Self::Unary(_, operand) => vec![operand],
            Self::Index { operand, index, .. } => vec![operand, index],
            Self::Binary(_, left, right) => vec![left, right],
            Self::Conditional(condition, then, otherwise) => vec![condition, then, otherwise],
            Self::Call { target, args, .. } => {
                target.iter().map(AsRef::as_ref).chain(args).collect()
            }
            Self::List(elements) => elements.iter().map(|element| &element.value).collect(),
            Self::Map(entries) => {
                entries.iter().flat_map(|entry| [&entry.key, &entry.value]).collect()
            }
            Self::Message { fields, .. } => fields.iter().map(|field| &field.value).collect(),
            Self::Comprehension(node) => node.children(),
            Self::Bind { value, body, .. } => vec![value, body],
            Self::OptMap { target, body, .. } => vec![target, body],
            Self::Block { slots, body } => slots.iter().chain([body.as_ref()]).collect(),
        }
    }
}

/// A literal.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// `1`.
    Int(i64),
    /// `1u`.
    Uint(u64),
    /// `1.0`.
    Double(f64),
    /// `"text"`.
    String(String),
    /// `b"text"`.
    Bytes(Vec<u8>),
}

/// An element of a list literal.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    /// The expression of the element.
    pub value: Expr,
    /// True if it is marked with `?`.
    pub optional: bool,
}

/// An entry of a map literal.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its key.
    pub key: Expr,
    /// Its value.
    pub value: Expr,
    /// True if it is marked with `?`.
    pub optional: bool,
}

/// A field of a message literal.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Expr,
    /// True if it is marked with `?`.
    pub optional: bool,
    /// The span in the source.
    pub span: Span,
}

/// A macro that runs over a list or a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Comprehension {
    /// Which macro.
    pub kind: Loop,
    /// The list or map that the macro runs over.
    pub range: Expr,
    /// One name (the element, or of a map the key) or two (index or key, and value).
    pub names: Vec<String>,
    /// Which elements count; all if absent. Only of the macros that produce a list or a map.
    pub filter: Option<Expr>,
    /// The predicate, or the new value of each element.
    pub body: Expr,
}

impl Comprehension {
    fn children(&self) -> Vec<&Expr> {
        [&self.range].into_iter().chain(self.filter.as_ref()).chain([&self.body]).collect()
    }
}

/// The macros that run over a list or a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loop {
    /// `all`.
    All,
    /// `exists`.
    Exists,
    /// `exists_one`.
    ExistsOne,
    /// `map` and `transformList`: the body becomes an element of a list.
    List,
    /// `filter`: the body decides whether the element stays.
    Filter,
    /// `transformMap`: the body becomes the value under the same key.
    Map,
    /// `transformMapEntry`: the body is a map to merge into the result.
    MapEntry,
    /// `sortBy`: the body is the key of the comparison.
    SortBy,
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `!`.
    Not,
    /// `-`.
    Neg,
}

impl UnaryOp {
    /// Returns the name of the function behind the operator.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Not => "!_",
            Self::Neg => "-_",
        }
    }
}

macro_rules! binary_ops {
    ($($(#[$doc:meta])* $variant:ident = $text:literal, $precedence:literal;)*) => {
        /// Operators with two operands.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum BinaryOp { $($(#[$doc])* $variant,)* }

        impl BinaryOp {
            /// Returns the operator written like this.
            #[must_use]
            pub fn from_text(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)* _ => None }
            }

            /// Returns how the operator is written.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// Returns how tightly it binds; more is tighter.
            #[must_use]
            pub const fn precedence(self) -> u8 {
                match self { $(Self::$variant => $precedence,)* }
            }

            /// Returns the name of the function behind the operator.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    Self::In => "@in",
                    $(#[allow(unreachable_patterns)] Self::$variant => concat!("_", $text, "_"),)*
                }
            }
        }
    };
}

binary_ops! {
    /// `||`.
    Or = "||", 1;
    /// `&&`.
    And = "&&", 2;
    /// `==`.
    Eq = "==", 3;
    /// `!=`.
    Ne = "!=", 3;
    /// `<`.
    Lt = "<", 3;
    /// `<=`.
    Le = "<=", 3;
    /// `>`.
    Gt = ">", 3;
    /// `>=`.
    Ge = ">=", 3;
    /// `in`.
    In = "in", 3;
    /// `+`.
    Add = "+", 4;
    /// `-`.
    Sub = "-", 4;
    /// `*`.
    Mul = "*", 5;
    /// `/`.
    Div = "/", 5;
    /// `%`.
    Mod = "%", 5;
}

/// Returns the name of slot `index` of a `cel.block`. No author can write it.
#[must_use]
pub fn block_slot(index: usize) -> String {
    format!("@index{index}")
}

/// Returns the dotted name that an expression spells, if it spells one.
pub(super) fn qualified_name(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Ident(name) => Some(name.clone()),
        ExprKind::Select { operand, field, optional: false } => {
            Some(format!("{}.{field}", qualified_name(operand)?))
        }
        _ => None,
    }
}
