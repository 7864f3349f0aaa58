//! What a change changes: who may more, and who may less.
//!
//! Two tables are compared target by target: a kind, a version and a scope, with the principals that have
//! policies of their own. Targets with the same rules are equal at once. In others each action is
//! decided for every class of roles: the rules that can apply are the same, or the diagrams of both walks
//! are, or a request is found that the engine decides differently with the two tables. If there is
//! none of these, the answer is unknown. The walk is that of `wardgate_engine::decide`: what a role gives
//! is an allow, an end of the search, or nothing, and the first allow or end counts. So tables that
//! give every class of roles the same decide every principal the same.

mod decided;
mod groups;
mod question;
mod requests;
mod rows;
mod schemas;
mod side;
mod steps;
mod target;
mod walk;
mod witness;

pub use decided::{Decided, RulePlace};
pub use groups::{Group, UnknownGroup};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::request::Request;
use wardgate_engine::table::PolicyTable;

/// The direction of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    /// Something that was denied is allowed.
    More,
    /// Something that was allowed is denied.
    Less,
}

/// The result of a comparison.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// The differences, each shown by a request: new access first, then by kind, version, scope, action
    /// and roles.
    pub differences: Vec<Difference>,
    /// What could be neither proved equal nor shown to differ, in the same order.
    pub unknown: Vec<Unknown>,
    /// What was compared.
    pub counts: Counts,
}

/// The numbers of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Kinds, versions and scopes of either table, and principals with policies of their own.
    pub targets: usize,
    /// Targets whose rules are the same.
    pub same_targets: usize,
    /// Questions about the other targets: an action for a class of roles.
    pub questions: usize,
    /// Questions for which the same rules count.
    pub same_rules: usize,
    /// Questions that are equal for all classes of values.
    pub proved: usize,
}

/// The access that a difference or an unknown is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Access {
    /// The kind of the resource; `None` for kinds that no policy names.
    pub kind: Option<String>,
    /// The version of the policies; empty for requests that name none, if the tables take different ones.
    pub version: String,
    /// The scope of the resource.
    pub scope: String,
    /// The action; `None` for actions that no rule names.
    pub action: Option<String>,
    /// The principal whose own policies count, if it is about these.
    pub principal: Option<String>,
    /// The roles for each of which it holds, sorted; `None` among them stands for roles that no rule about the
    /// action names. If there are none, it holds for every role.
    pub roles: Vec<Option<String>>,
}

/// A difference, with a request that shows it.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The direction.
    pub change: Change,
    /// What it is about.
    pub place: Access,
    /// The request: both tables decided it.
    pub witness: Witness,
}

/// A request that two tables decide differently.
#[derive(Clone, Debug)]
pub struct Witness {
    /// The request, with one action.
    pub request: Request,
    /// The time of the decisions.
    pub now: Timestamp,
    /// The decision of the old table.
    pub old: Decided,
    /// The decision of the new table.
    pub new: Decided,
}

/// A place about which nothing is claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// What it is about.
    pub place: Access,
    /// The reason.
    pub why: Why,
    /// The change that may be, if only one is open.
    pub may: Option<Change>,
}

/// The reason why an answer is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Why {
    /// A difference is possible, and no request that shows it was found.
    NoWitness,
    /// The conditions have too many terms or cases.
    TooLarge,
    /// The bound of the whole comparison was reached.
    Bound,
    /// The schemas differ, and requests that do not fit them are denied.
    Schema,
    /// The conditions ask about topics, and a request may ask about many topics at once.
    Topics,
}

impl Why {
    /// Returns the reason in a few words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::NoWitness => "no request found that shows a difference",
            Self::TooLarge => "conditions with too many cases",
            Self::Bound => "the comparison reached its bound",
            Self::Schema => "schemas that reject requests differ",
            Self::Topics => "conditions about sets of topics",
        }
    }
}

/// Compares two tables.
///
/// The answer is the same every time. Expiry and rate limits are not compared, and a request that reaches
/// the limit of steps is not considered. `now` is the time at which witnesses are decided.
#[must_use]
pub fn compare(old: &PolicyTable, new: &PolicyTable, now: Timestamp) -> Comparison {
    target::Comparer::new(old, new, now).run()
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod verdicts;
