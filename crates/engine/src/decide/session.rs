//! One request being decided: its names as ids of the table, and the values that conditions can
//! read.

use alloc::borrow::Cow;
use alloc::rc::Rc;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use super::memo::{Memo, View};
#[cfg(feature = "observe")]
use super::reads::Reads;
use super::record::Record;
use super::roles::Effective;
use super::scopes::Search;
use super::verdict::Verdict;
use super::visited::{Lineages, VisitedScope, VisitedScopes};
use crate::budget::Budget;
use crate::cel::pool::{DEPENDS_ON_ROLES, Root};
use crate::cel::{self, Activation, Error, Pool, Timestamp, Value, spend};
use crate::decision::EvaluationError;
use crate::limits::{MAX_REQUEST_STEPS, MAX_STEPS};
use crate::names::{policy_key, sanitized, trimmed_scope};
use crate::request::Request;
use crate::table::layout::Key;
use crate::table::{Block, Evaluation, Name, PolicyTable, Section, list};
use crate::text::is_same;

/// The reason why a condition has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// An expression failed and the table is strict.
    Condition,
    /// A limit was reached.
    Limit,
    /// The condition is true for a part of the topics that the request asks about.
    Partly,
}

/// The state of deciding one request.
pub(crate) struct Session<'a> {
    pub(crate) table: &'a PolicyTable,
    pub(crate) pool: &'a Pool<'a>,
    pub(crate) request: &'a Request,
    pub(crate) resource_search: Search<'a>,
    /// The record of the decision; `None` if only the effect is wanted.
    pub(crate) record: Option<RefCell<Record<'a>>>,
    /// True if the record wants every rule, candidate or not.
    pub(crate) is_traced: bool,
    now: Timestamp,
    /// True if an expression has read the time.
    pub(crate) depends_on_time: Cell<bool>,
    principal_search: Search<'a>,
    pub(crate) visited_scopes: VisitedScopes<'a>,
    pub(crate) lineages: Lineages<'a>,
    /// The answer about policies of the resource, and the steps that it takes each time.
    resource_exists: Cell<Option<(bool, u32)>>,
    pub(crate) resource_version: Name<'a>,
    principal_version: Name<'a>,
    pub(crate) kind: Kind<'a>,
    principal: Option<u32>,
    /// The steps that are left for the whole request.
    steps: Cell<u32>,
    memo: RefCell<Memo<'a>>,
    /// Variable sets that were evaluated to note their errors, and the scope of each.
    touched: RefCell<Vec<(u32, Option<u32>, bool)>>,
    /// Scopes whose derived roles were computed, with the string id of the scope.
    effective: RefCell<Vec<(u32, Rc<Effective<'a>>)>>,
    /// The scope of resource policies that the walk is in, and its policy.
    pub(crate) current: Cell<Option<(u32, Block<'a>)>>,
    /// The denial of the first rule of the walk that denies a part of the topics.
    pub(super) partly_denied: Cell<Option<Verdict<'a>>>,
    /// True if a rule of the scope allows a part of the topics.
    pub(super) partly_allowed: Cell<bool>,
    /// True if an expression of the rule may have failed for some topic.
    pub(super) may_have_failed: Cell<bool>,
    /// True while conditions of derived roles are evaluated.
    in_derived_roles: Cell<bool>,
    /// The error of the condition of a limit, while one is evaluated.
    #[cfg(feature = "ratelimit")]
    pub(super) of_limit: Cell<Option<(u32, Error<'a>)>>,
    /// Where reads are noted, if they are.
    #[cfg(feature = "observe")]
    reads: Option<&'a Reads>,
    #[cfg(feature = "observe")]
    pub(crate) observer: Option<&'a dyn super::observe::Observer>,
    /// The topics that the decision is about, if the host describes them.
    #[cfg(feature = "observe")]
    pub(crate) topics: Option<&'a dyn cel::Topics>,
    /// True if another topic or resource might have led to an allow.
    #[cfg(feature = "observe")]
    pub(crate) has_doubt: Cell<bool>,
}

/// The kind of the resource, in the form under which policies are found.
pub(crate) struct Kind<'a> {
    text: Cow<'a, str>,
    pub(crate) id: Option<u32>,
}

impl<'a> Session<'a> {
    pub(crate) fn new(
        table: &'a PolicyTable,
        pool: &'a Pool<'a>,
        (request, now): (&'a Request, Timestamp),
        record: Option<Record<'a>>,
        budget: &Budget,
    ) -> Self {
        let (principal, resource) = (&request.principal, &request.resource);
        let version = |name: &'a str| if name.is_empty() { table.default_version() } else { name };
        let [resource_version, principal_version] =
            names(table, [&resource.policy_version, &principal.policy_version].map(|v| version(v)));
        let [resource_scope, principal_scope] =
            names(table, [&resource.scope, &principal.scope].map(|scope| trimmed_scope(scope)));
        let kind = sanitized(&resource.kind);
        let kind = Kind { id: table.string_id(&kind), text: kind };
        let resource_search = Search::new(table, Key::ResourceScope, resource_scope);
        let policies = [kind.id, resource_version.id];
        let granted = budget.left().min(MAX_REQUEST_STEPS);
        Self {
            table,
            pool,
            request,
            now,
            depends_on_time: Cell::new(false),
            is_traced: record.as_ref().is_some_and(|record| record.trace.is_some()),
            record: record.map(RefCell::new),
            visited_scopes: VisitedScopes::new(table, resource_search, policies),
            resource_search,
            lineages: Lineages::default(),
            resource_exists: Cell::new(None),
            principal_search: Search::new(table, Key::PrincipalScope, principal_scope),
            resource_version,
            principal_version,
            kind,
            principal: table.string_id(&principal.id),
            steps: Cell::new(granted.saturating_sub(steps_of_names(request))),
            memo: RefCell::new(Memo::new()),
            touched: RefCell::default(),
            effective: RefCell::default(),
            current: Cell::new(None),
            partly_denied: Cell::new(None),
            partly_allowed: Cell::new(false),
            may_have_failed: Cell::new(false),
            in_derived_roles: Cell::new(false),
            #[cfg(feature = "ratelimit")]
            of_limit: Cell::new(None),
            #[cfg(feature = "observe")]
            reads: None,
            #[cfg(feature = "observe")]
            observer: None,
            #[cfg(feature = "observe")]
            topics: None,
            #[cfg(feature = "observe")]
            has_doubt: Cell::new(false),
        }
    }

    /// Does nothing in a module that decides about no sets of topics.
    #[cfg(not(feature = "observe"))]
    pub(crate) const fn doubt(&self) {}

    /// Notes in `reads` what is read of the resource.
    #[cfg(feature = "observe")]
    pub(crate) fn noting(self, reads: &'a Reads) -> Self {
        Self { reads: Some(reads), ..self }
    }

    /// Notes that all attributes of the resource are read.
    pub(crate) fn note_all(&self) {
        #[cfg(feature = "observe")]
        self.reads.iter().for_each(|reads| reads.note_all());
    }

    #[cfg(feature = "observe")]
    fn note_slot(&self, id: u32) {
        self.reads.iter().for_each(|reads| reads.note(id, self.pool));
    }

    /// Returns what `decide` answers about one action, or false if the policies have expired or a schema rejects
    /// the request, and takes the steps from `budget`.
    pub(crate) fn answer(
        &self,
        action: &'a str,
        budget: &Budget,
        decide: impl FnOnce(&Self, &'a str) -> bool,
    ) -> bool {
        let is_denied = self.table.is_expired(self.now) || self.validate(&[action]).rejects;
        let is_allowed = !is_denied && decide(self, action);
        self.settle(budget);
        is_allowed
    }

    /// Takes the steps that the session has used from `budget`.
    pub(crate) fn settle(&self, budget: &Budget) {
        let granted = budget.left().min(MAX_REQUEST_STEPS);
        budget.take(granted.saturating_sub(self.steps.get()));
    }

    /// Returns the steps that are left for the whole request.
    pub(crate) fn left(&self) -> u32 {
        self.steps.get()
    }

    /// Takes the record.
    pub(crate) fn take_record(&self) -> Record<'a> {
        self.record.as_ref().map(RefCell::take).unwrap_or_default()
    }

    pub(crate) fn kind_name(&self) -> Name<'_> {
        Name { text: &self.kind.text, id: self.kind.id }
    }

    pub(crate) fn principal_scopes(&self) -> impl Iterator<Item = u32> + use<'a> {
        self.principal_search.visited()
    }

    /// Returns the scopes of resource and role policies that the walk visits, most specific first.
    pub(crate) fn visited_scopes(&self) -> impl Iterator<Item = VisitedScope<'a>> {
        (0..).map_while(|index| self.visited_scopes.at(self.table, index))
    }

    /// Returns true if any principal has a policy of the requested version in the visited scopes.
    pub(crate) fn principal_policies_exist(&self) -> bool {
        let version = self.principal_version.id;
        let has_policy = |scope| self.table.find(Key::PrincipalVersion, [version?, scope, 0]);
        self.principal_scopes().any(|scope| has_policy(scope).is_some())
    }

    /// Returns true if a resource policy, or a role policy that names the kind, exists in the
    /// visited scopes. Charges the same each time; if the steps do not suffice, the walk reaches
    /// the limit.
    pub(crate) fn resource_policies_exist(&self) -> bool {
        if let Some((exist, steps)) = self.resource_exists.get() {
            return self.charge_steps(steps).is_err() || exist;
        }
        let before = self.steps.get();
        let exist = self
            .visited_scopes()
            .any(|visit| visit.rules.is_some() || self.role_policies_name_the_kind(visit.roles));
        self.resource_exists.set(Some((exist, before.saturating_sub(self.steps.get()))));
        exist
    }

    fn role_policies_name_the_kind(&self, block: Option<Block<'a>>) -> bool {
        let Some(block) = block else { return false };
        let steps = block.glob_steps(0, 0, self.kind_name().text.len());
        if self.charge(steps).is_err() {
            return true;
        }
        let mut candidates = block.candidates();
        block.narrow_resources(&mut candidates, self.kind_name());
        !candidates.is_empty()
    }

    /// Returns the block of the principal policy. It is found by the version of the resource, as in
    /// Cerbos.
    pub(crate) fn principal_block(&self, scope: u32) -> Option<Block<'a>> {
        let key = [self.principal?, self.resource_version.id?, scope];
        self.table.find(Key::Principal, key).map(|offset| Block::new(self.table, offset))
    }

    /// Evaluates a set of variables, so that the errors among them are noted.
    pub(crate) fn touch_variables(&self, set: Option<u32>) {
        let Some(set) = set.filter(|_| self.record.is_some()) else { return };
        let position =
            (set, self.current.get().map(|(scope, _)| scope), self.is_in_derived_roles());
        if self.touched.borrow().contains(&position) {
            return;
        }
        self.touched.borrow_mut().push(position);
        for variable in list(self.table.section(Section::VariableSets), set) {
            let Some((program, _)) = self.pool.variable(*variable) else { continue };
            match self.evaluate(program) {
                Value::Error(error) if !error.is_partly() => self.note_error(program, &error),
                _ => {}
            }
        }
    }

    pub(crate) fn note_error(&self, program: u32, error: &Error<'a>) {
        if let Some(record) = &self.record {
            let (expression, message) = (self.source(program).to_string(), error.to_string());
            // A table without explanations charges the same.
            let source = self.pool.program(program).map_or(0, |program| program.source);
            let length = self.table.explanation_len(source).saturating_add(message.len());
            // A spent budget is noticed at the next condition.
            let _ = self.charge_text(length);
            record.borrow_mut().error(EvaluationError { expression, message });
        }
    }

    /// Takes `count` steps from those that are left for the request.
    pub(crate) fn charge(&self, count: usize) -> Result<(), Failure> {
        self.charge_steps(u32::try_from(count).unwrap_or(u32::MAX))
    }

    pub(crate) fn charge_steps(&self, count: u32) -> Result<(), Failure> {
        spend(&self.steps, count).map_err(|_| Failure::Limit)
    }

    /// Pays for reading `bytes` bytes of text.
    pub(crate) fn charge_text(&self, bytes: usize) -> Result<(), Failure> {
        self.charge(1 + bytes / 16)
    }

    /// Returns the source text of `program`; it is empty in a table without explanations.
    pub(crate) fn source(&self, program: u32) -> &'a str {
        self.table.source(program)
    }

    /// Evaluates `program`, at most once for each view of the request that it can have. Without
    /// that, variables that name others twice would take time exponential in their depth.
    pub(crate) fn evaluate(&self, program: u32) -> Value<'a> {
        let key = (program, self.view(program));
        if let Some(value) = self.memo.borrow().get(key) {
            return value;
        }
        let value = self.limited(|steps| cel::eval(self.pool, program, self, steps));
        self.memo.borrow_mut().put(key, &value);
        value
    }

    /// Runs `work` with as many steps as one program may take, and pays for those that it took. The
    /// variables that it read have paid for themselves.
    pub(crate) fn limited<T>(&self, work: impl FnOnce(&Cell<u32>) -> T) -> T {
        let allowed = self.steps.get().min(MAX_STEPS);
        let steps = Cell::new(allowed);
        let done = work(&steps);
        let taken = allowed.saturating_sub(steps.get());
        self.steps.set(self.steps.get().saturating_sub(taken));
        done
    }

    /// Runs `work`, which is not part of the decision and takes no steps from it.
    #[cfg(feature = "observe")]
    pub(crate) fn aside<T>(&self, work: impl FnOnce() -> T) -> T {
        let left = self.steps.get();
        let done = work();
        self.steps.set(left);
        done
    }

    /// Returns the view of `program`: the effective derived roles, if it reads them, and whether
    /// variables that failed are null.
    fn view(&self, program: u32) -> View {
        let flags = self.pool.program(program).map_or(0, |program| program.flags);
        let reads_roles = flags & DEPENDS_ON_ROLES != 0;
        if self.is_in_derived_roles() {
            let is_plain = !reads_roles && self.table.evaluation() == Evaluation::Strict;
            return if is_plain { View::Plain } else { View::DerivedRole };
        }
        match self.current.get().filter(|_| reads_roles) {
            Some((scope, _)) => View::Scope(scope),
            None => View::Plain,
        }
    }

    /// Returns true if a variable that failed is `null`: in lenient tables in a condition of a
    /// derived role, as in Cerbos. In rules it is undefined.
    fn reads_failures_as_null(&self) -> bool {
        self.is_in_derived_roles() && self.table.evaluation() == Evaluation::Lenient
    }

    pub(crate) fn is_in_derived_roles(&self) -> bool {
        self.in_derived_roles.get()
    }

    pub(crate) fn enter_derived_roles(&self) -> bool {
        self.in_derived_roles.replace(true)
    }

    pub(crate) fn leave_derived_roles(&self, outer: bool) {
        self.in_derived_roles.set(outer);
    }

    /// Returns the derived roles of the policy at the walk's position. Conditions of principal
    /// policies and of derived roles themselves have none.
    pub(crate) fn current_effective_roles(&self) -> Rc<Effective<'a>> {
        let Some((scope, block)) = self.current.get().filter(|_| !self.in_derived_roles.get())
        else {
            return Rc::default();
        };
        let known = self.effective.borrow().iter().find(|entry| entry.0 == scope).cloned();
        if let Some((_, roles)) = known {
            return roles;
        }
        let roles = Rc::new(self.effective_roles(block));
        self.effective.borrow_mut().push((scope, Rc::clone(&roles)));
        if let Some(record) = &self.record {
            record.borrow_mut().derived_roles(&roles.names);
        }
        roles
    }

    /// Returns the key of the most specific resource policy that the walk could visit.
    pub(crate) fn resource_policy_key(&self) -> String {
        policy_key(
            "resource",
            &self.kind.text,
            self.resource_version.text,
            self.visited_scopes.first().map_or("", |visit| visit.text),
        )
    }

    /// Returns the string id of that key of the principal's policy; `None` if the principal has
    /// none there.
    pub(crate) fn principal_policy_id(&self) -> Option<u32> {
        let is_same_version = self.principal_version == self.resource_version;
        let scope = self.principal_scopes().next().filter(|_| is_same_version)?;
        self.principal_block(scope).map(|block| block.policy_id())
    }

    /// Returns the key of the most specific principal policy that the walk could visit.
    pub(crate) fn principal_policy_key(&self) -> String {
        let id = &self.request.principal.id;
        policy_key(
            "principal",
            id,
            self.principal_version.text,
            self.principal_scopes().next().map_or("", |scope| self.table.string(scope)),
        )
    }
}

impl<'a> Activation<'a> for Session<'a> {
    #[cfg(feature = "observe")]
    fn slot(&self, id: u32) -> Option<cel::Answer<'a>> {
        self.note_slot(id);
        self.unknown(id).map(|unknown| Ok(unknown.value()))
    }

    #[cfg(feature = "observe")]
    fn has_slot(&self, id: u32) -> Option<Result<bool, Error<'a>>> {
        self.note_slot(id);
        self.unknown(id).map(super::topics::Unknown::exists)
    }

    fn root(&self, root: Root, name: &'a str) -> Value<'a> {
        match root {
            Root::EffectiveDerivedRoles => self.current_effective_roles().value(),
            Root::Runtime => self.current_effective_roles().runtime(),
            Root::PrincipalScope => Value::string(self.principal_search.scope.text),
            Root::ResourceScope => Value::string(self.resource_search.scope.text),
            Root::Free => Value::Error(Error::NoSuchAttribute(name)),
            _ => cel::request_root(self.request, root),
        }
    }

    fn variable(&self, id: u32) -> Value<'a> {
        let Some((program, name)) = self.pool.variable(id) else {
            return Value::Error(Error::Malformed);
        };
        match self.evaluate(program) {
            Value::Error(error) if error.is_incomplete() || error.is_partly() => {
                Value::Error(error)
            }
            Value::Error(_) if self.reads_failures_as_null() => Value::Null,
            Value::Error(_) => Value::Error(Error::UndefinedField(name)),
            value => value,
        }
    }

    fn now(&self) -> Timestamp {
        self.depends_on_time.set(true);
        self.now
    }

    #[cfg(feature = "observe")]
    fn topics(&self) -> Option<&dyn cel::Topics> {
        self.topics
    }
}

/// Looks two names up; the second only if it differs, because principal and resource mostly have
/// the same.
fn names<'a>(table: &PolicyTable, [first, second]: [&'a str; 2]) -> [Name<'a>; 2] {
    let name = table.name(first);
    [name, if is_same(first, second) { name } else { table.name(second) }]
}

/// Returns the steps that looking up the names of a request takes. Names of less than 256 bytes are
/// part of any decision; of longer ones a byte of a kind, each of which may have to be replaced,
/// takes 15 ns (2026-11-23, 2 cores, AMD EPYC).
fn steps_of_names(request: &Request) -> u32 {
    let (principal, resource) = (&request.principal, &request.resource);
    let lengths =
        [&resource.kind, &resource.scope, &principal.scope, &principal.id].map(String::len);
    if lengths.iter().all(|length| *length < 256) {
        return 0;
    }
    let bytes = lengths.iter().fold(0_usize, |bytes, length| bytes.saturating_add(*length));
    u32::try_from(bytes / 3).unwrap_or(u32::MAX)
}
