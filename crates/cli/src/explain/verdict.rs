//! The answer to the first question, for one action.

use wardgate_engine::decide::Outcome;
use wardgate_engine::decision::{ActionDecision, Effect, Reason};
use wardgate_engine::request::Request;
use wardgate_engine::table::PolicyTable;

use super::gather::Met;
use super::limit::Shown;
use super::need::{Expression, Need, expressions, needs};

/// The reason for the decision on an action.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub(crate) answer: Answer,
    /// The rule that decided.
    pub(crate) rule: Option<Rule>,
    /// The rules that could allow the action, and their unmet needs.
    pub(crate) could: Vec<(Rule, Vec<Need>)>,
    /// The existing names near the missing one.
    pub(crate) hint: Option<String>,
    /// The rate limits that the action meets.
    pub(crate) limits: Vec<Shown>,
}

/// The kinds of answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// A rule allows it.
    Allowed,
    /// A rule denies it.
    Forbidden,
    /// A rule that narrows would let it pass, if its condition were met.
    Narrowed,
    /// A role policy, with this key, does not list it.
    NotListed(String),
    /// No rule allows it.
    NotPermitted,
    /// There are no policies for it.
    NoPolicy,
    /// A condition could not be evaluated.
    Failed,
    /// A limit was reached.
    LimitReached,
    /// The attributes do not fit the schema.
    SchemaViolation,
    /// The policies have expired.
    Expired,
}

/// A rule, as it is shown.
#[derive(Debug)]
pub(crate) struct Rule {
    /// `policy#rule`.
    pub(crate) source: String,
    pub(crate) location: (String, u32),
    pub(crate) scope: String,
    pub(crate) derived_role: Option<String>,
    /// The expressions of its conditions, that of its derived role first.
    pub(crate) expressions: Vec<Expression>,
}

impl Verdict {
    /// Finds the answer among the rules that name the action.
    pub(crate) fn new(action: &ActionDecision, met: &[Met], is_lenient: bool) -> Self {
        let deciding = deciding(action, met);
        let answer = answer(action, deciding);
        let rule = deciding.map(Rule::new);
        let could = match answer {
            Answer::NotPermitted => could(met, is_lenient),
            Answer::Narrowed | Answer::Failed => {
                deciding.map(|met| (Rule::new(met), needs(met, is_lenient))).into_iter().collect()
            }
            _ => Vec::new(),
        };
        Self { answer, rule, could, hint: None, limits: Vec::new() }
    }

    /// Adds the hint where there is no policy.
    pub(crate) fn with_hint(mut self, table: &PolicyTable, request: &Request) -> Self {
        if self.answer == Answer::NoPolicy {
            self.hint = Some(hint(table, request));
        }
        self
    }
}

impl Rule {
    fn new(met: &Met) -> Self {
        let conditions = met.role_condition.iter().chain(&met.condition);
        Self {
            source: met.source(),
            location: (met.file.clone(), met.line),
            scope: met.scope.clone(),
            derived_role: met.derived_role.clone(),
            expressions: conditions.flat_map(expressions).collect(),
        }
    }

    pub(crate) fn location(&self) -> String {
        super::place(&self.location.0, self.location.1)
    }
}

fn answer(action: &ActionDecision, deciding: Option<&Met>) -> Answer {
    match (&action.reason, action.effect) {
        (Reason::Rule(_), Effect::Allow) => Answer::Allowed,
        (Reason::Rule(_), Effect::Deny) if deciding.is_some_and(|met| met.is_opposite) => {
            Answer::Narrowed
        }
        (Reason::Rule(_), Effect::Deny) => Answer::Forbidden,
        (Reason::NotInRolePolicy, _) => Answer::NotListed(action.policy.clone()),
        (Reason::NoRuleApplied, _) => Answer::NotPermitted,
        (Reason::NoPolicy, _) => Answer::NoPolicy,
        (Reason::ConditionError(_), _) => Answer::Failed,
        (Reason::LimitReached(_) | Reason::RequestLimitReached, _) => Answer::LimitReached,
        // The engine decides before limits are charged.
        (Reason::Limited(_) | Reason::LimitError(_) | Reason::StoreAway(_), _) => {
            Answer::LimitReached
        }
        (Reason::SchemaViolation, _) => Answer::SchemaViolation,
        (Reason::Expired, _) => Answer::Expired,
    }
}

/// Returns the rule that the decision names. Of several with one name it is the one that applied or
/// failed, which stand first.
fn deciding<'m>(action: &ActionDecision, met: &'m [Met]) -> Option<&'m Met> {
    let (Reason::Rule(source) | Reason::ConditionError(source) | Reason::LimitReached(source)) =
        &action.reason
    else {
        return None;
    };
    let of_rule = |met: &&Met| met.source() == *source;
    let decided = |met: &&Met| {
        matches!(
            (&action.reason, &met.outcome),
            (Reason::Rule(_), Outcome::Applied | Outcome::PartlyMet)
        ) || matches!((&action.reason, &met.outcome), (Reason::ConditionError(_), Outcome::Failed))
    };
    met.iter().filter(of_rule).find(decided).or_else(|| met.iter().find(of_rule))
}

fn could(met: &[Met], is_lenient: bool) -> Vec<(Rule, Vec<Need>)> {
    let allows = |met: &&Met| met.effect == Some(Effect::Allow) && !met.is_from_role_policy;
    met.iter().filter(allows).map(|met| (Rule::new(met), needs(met, is_lenient))).collect()
}

/// Says which policies about the kind there are.
fn hint(table: &PolicyTable, request: &Request) -> String {
    let resource = &request.resource;
    let inspection = table.inspect();
    let of_kind: Vec<_> = inspection
        .policies
        .iter()
        .filter(|policy| policy.kind == "resource" && policy.name == resource.kind)
        .map(|policy| policy.key)
        .collect();
    if !of_kind.is_empty() {
        let version = match resource.policy_version.as_str() {
            "" => table.default_version(),
            version => version,
        };
        let scope = match resource.scope.as_str() {
            "" => "no scope".to_owned(),
            scope => format!("scope {scope}"),
        };
        let names = listed(&of_kind);
        return format!("the request is for version {version}, {scope}; there are {names}");
    }
    let kinds: Vec<_> = inspection.kinds.into_iter().collect();
    match kinds.is_empty() {
        true => "there are no policies about resources".to_owned(),
        false => format!("there are policies for {}", listed(&kinds)),
    }
}

/// Lists the first few names, and the number of the others.
fn listed(names: &[&str]) -> String {
    match names.split_at_checked(MOST_NAMES) {
        None | Some((_, [])) => names.join(", "),
        Some((first, more)) => format!("{} and {} more", first.join(", "), more.len()),
    }
}

/// The largest number of names in a hint.
const MOST_NAMES: usize = 8;
