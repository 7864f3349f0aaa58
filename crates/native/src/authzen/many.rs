//! Several evaluations in one request.

use wardgate_engine::attr::{Attr, AttrMap};

use super::read::{Place, bad, kind_of};
use super::{AuthzenError, Evaluation};

/// Several questions, or one where no list of them was sent. A question that cannot be read is its error.
#[derive(Clone, Debug, PartialEq)]
pub enum Evaluations {
    /// There was no list, or an empty one.
    One(Evaluation),
    /// There was.
    Many {
        /// How far the questions are pursued.
        semantic: Semantic,
        /// The questions in their order.
        items: Vec<Result<Evaluation, AuthzenError>>,
        /// The circumstances of those that name none of their own.
        context: AttrMap,
    },
}

/// How far several questions are pursued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Semantic {
    /// To the end.
    #[default]
    ExecuteAll,
    /// To the first that is denied.
    DenyOnFirstDeny,
    /// To the first that is permitted.
    PermitOnFirstPermit,
}

impl Evaluations {
    pub(super) fn read(root: &Place<'_>) -> Result<Self, AuthzenError> {
        let items = root.list("evaluations")?.unwrap_or(&[]);
        let semantic = semantic(root)?;
        if items.len() > MAX_EVALUATIONS {
            let found = items.len();
            let message =
                format!("`evaluations` must have at most {MAX_EVALUATIONS} items, found {found}");
            return Err(bad(message));
        }
        if items.is_empty() {
            return Evaluation::read(root).map(Self::One);
        }
        for name in DEFAULTS {
            root.given(name)?;
        }
        let context = root.object("context")?.clone();
        let items = items.iter().map(|item| one(item, root)).collect();
        Ok(Self::Many { semantic, items, context })
    }
}

impl Semantic {
    /// Whether the questions end with one that was answered so.
    #[must_use]
    pub const fn ends(self, is_allowed: bool) -> bool {
        match self {
            Self::ExecuteAll => false,
            Self::DenyOnFirstDeny => !is_allowed,
            Self::PermitOnFirstPermit => is_allowed,
        }
    }
}

/// Reads an item; what it leaves out is taken from the request, each member as a whole.
fn one(item: &Attr, root: &Place<'_>) -> Result<Evaluation, AuthzenError> {
    let Attr::Map(item) = item else {
        return Err(bad(format!("an evaluation must be an object, found {}", kind_of(item))));
    };
    let own = Place { path: "", map: item };
    let member = |name: &'static str| {
        let value = own.member(name).or_else(|| root.member(name))?;
        Some((Box::from(name), value.clone()))
    };
    let whole: AttrMap = DEFAULTS.into_iter().filter_map(member).collect();
    Evaluation::read(&Place { path: "", map: &whole })
}

fn semantic(root: &Place<'_>) -> Result<Semantic, AuthzenError> {
    let options = root.object("options")?;
    let options = Place { path: "options", map: options };
    let Some(given) = options.member("evaluations_semantic") else {
        return Ok(Semantic::default());
    };
    let is_meant = |(name, _): &&(&str, Semantic)| *given == Attr::String((*name).into());
    let known = SEMANTICS.iter().find(is_meant).map(|(_, semantic)| *semantic);
    known.ok_or_else(|| {
        let names: Vec<&str> = SEMANTICS.iter().map(|(name, _)| *name).collect();
        bad(format!("`options.evaluations_semantic` must be one of {}", names.join(", ")))
    })
}

/// The most questions of one request.
const MAX_EVALUATIONS: usize = 1000;
const DEFAULTS: [&str; 4] = ["subject", "action", "resource", "context"];
const SEMANTICS: [(&str, Semantic); 3] = [
    ("execute_all", Semantic::ExecuteAll),
    ("deny_on_first_deny", Semantic::DenyOnFirstDeny),
    ("permit_on_first_permit", Semantic::PermitOnFirstPermit),
];
