//! One opened bundle: a table, its fast paths, and the questions that it answers.

use std::sync::Arc;

use serde_json::Value;
use wardgate_engine::budget::Budget;
use wardgate_engine::decide::Explanation;
#[cfg(feature = "grants")]
use wardgate_engine::decide::Sourced;
#[cfg(feature = "replay")]
use wardgate_engine::decide::{Attribute, Owner};
use wardgate_engine::decision::Decision;
use wardgate_engine::names::sanitized;
use wardgate_engine::request::Request;
use wardgate_engine::table::PolicyTable;

use crate::clock::Clock;
use crate::error::RequestError;
use crate::fast::cache::Cache;
use crate::fast::decide::decide;
use crate::fast::index::Index;
use crate::fast::input::{FastInput, ToRequest};
use crate::fast::json;
#[cfg(feature = "replay")]
use crate::fast::path::{Slot, SlotRoot};
use crate::fast::request::RequestInput;
#[cfg(feature = "replay")]
use crate::fast::{decide::select, index::Way};
use crate::field::Lookup;
use crate::names::Names;
#[cfg(feature = "ratelimit")]
use crate::plain_limits::PlainLimits;
use crate::question::Question;
use crate::value::{self, ValueInput};

/// An immutable set of policies. Its answers do not change: a reload makes another one.
#[derive(Debug)]
pub struct Policies {
    table: PolicyTable,
    index: Index,
    #[cfg(feature = "ratelimit")]
    plain_limits: PlainLimits,
    /// The kinds whose answer may hold more than effects; `None` means all of them.
    pub(crate) kinds_with_outputs: Option<Names<()>>,
    /// The number of the bundle in the PDP, counted from 0.
    serial: u64,
}

impl Policies {
    /// Returns the policies of a table that the host opened itself, for instance to use the header
    /// too. They have no cache. Of a table with rate limits the methods here answer what the policies
    /// alone say; a host then asks `check_uncharged` (feature `ratelimit`), and charges.
    #[must_use]
    pub fn of(table: PolicyTable) -> Self {
        Self::new(table, 0, 0)
    }

    /// Returns the policies of a table, with a cache of at least `entries` answers.
    pub(crate) fn new(table: PolicyTable, serial: u64, entries: usize) -> Self {
        let cache = Cache::new(entries).map(Arc::new);
        let index = Index::new(&table, cache.as_ref());
        let kinds_with_outputs = kinds_with_outputs(&table);
        Self {
            #[cfg(feature = "ratelimit")]
            plain_limits: PlainLimits::new(&table),
            table,
            index,
            kinds_with_outputs,
            serial,
        }
    }

    /// Returns the policy table.
    #[must_use]
    pub const fn table(&self) -> &PolicyTable {
        &self.table
    }

    /// Returns true if the principal of `request` may perform `action`; the list of actions of the
    /// request is not read.
    #[inline]
    #[must_use]
    pub fn is_allowed(&self, request: &Request, action: &str, clock: impl Clock) -> bool {
        self.try_fast(&RequestInput { request, action }, &clock)
            .unwrap_or_else(|| self.table.is_allowed(request, action, clock.now()))
    }

    /// Returns true if the principal of a question may perform its action; attributes are found by
    /// their names. A question with too many attributes, or with attributes that nest too deep, is
    /// denied.
    #[inline]
    #[must_use]
    pub fn is_allowed_fields<S: AsRef<str>, P: Lookup + ?Sized, R: Lookup + ?Sized>(
        &self,
        question: &Question<'_, S, P, R>,
        clock: impl Clock,
    ) -> bool {
        self.try_fast(question, &clock).unwrap_or_else(|| self.decide_general(question, clock))
    }

    /// Decides a request that is a JSON value: `{"principal": .., "action": .., "resource": ..}`.
    /// Attributes that no rule reads are not checked.
    ///
    /// # Errors
    /// The value is not a request.
    #[inline]
    pub fn is_allowed_value(
        &self,
        request: &Value,
        clock: impl Clock,
    ) -> Result<bool, RequestError> {
        let short = ValueInput::read(request).and_then(|input| self.try_fast(&input, &clock));
        short.map_or_else(|| self.general(&value::request(request)?, clock), Ok)
    }

    /// Decides a request that is JSON text: `{"principal": .., "action": .., "resource": ..}`.
    /// Attributes that no rule reads become no values, but all of the text must be JSON, in which
    /// no object has a name twice.
    ///
    /// # Errors
    /// The text is not JSON, has a member twice, or is not a request.
    #[inline]
    pub fn is_allowed_json(&self, request: &[u8], clock: impl Clock) -> Result<bool, RequestError> {
        let short = json::with_input(request, |input| self.try_fast(input, &clock))?;
        short.map_or_else(|| self.general(&json::request(request)?, clock), Ok)
    }

    /// Decides every action of `request`, and returns the decision with its reasons and outputs.
    #[must_use]
    pub fn check(&self, request: &Request, clock: impl Clock) -> Decision {
        self.table.check(request, clock.now())
    }

    /// Returns the topics of MQTT that the principal of `request` may use for `action`, such as
    /// `publish`, as lists of filters. Scope and version of the resource count, and its attributes
    /// are those of every message or subscription; kind, id and `topic` are not read.
    ///
    /// What the lists allow, the policies allow, whatever other attributes the resource has.
    #[cfg(feature = "grants")]
    #[must_use]
    pub fn grants(
        &self,
        request: &Request,
        action: &str,
        clock: impl Clock,
    ) -> crate::mqtt::Grants {
        self.grants_within(request, action, clock, &Budget::default())
    }

    /// Lists like [`Policies::grants`], and takes the steps from `budget`. What they do not suffice for is
    /// not in the lists.
    #[cfg(feature = "grants")]
    #[must_use]
    pub fn grants_within(
        &self,
        request: &Request,
        action: &str,
        clock: impl Clock,
        budget: &Budget,
    ) -> crate::mqtt::Grants {
        crate::mqtt::of(&self.table, (request, action), clock.now(), budget)
    }

    /// Decides like [`Policies::is_allowed`], and takes the steps from `budget`. If they do not
    /// suffice, the action is denied.
    ///
    /// Programs of fast paths count no steps across decisions, so a fast path decides here only if
    /// none runs: it has none, or those of many rules about topics are answered in another way.
    #[must_use]
    pub fn is_allowed_within(
        &self,
        request: &Request,
        action: &str,
        clock: impl Clock,
        budget: &Budget,
    ) -> bool {
        let input = RequestInput { request, action };
        let fast_path = self
            .index
            .fast_path(&self.table, input.target())
            // The fast path of a principal with policies of its own may have programs.
            .filter(|_| !self.index.has_own_policies(input.principal()));
        if let Some(steps) = fast_path.and_then(|fast_path| fast_path.steps(&input, budget.left()))
            && let Some(is_allowed) = self.try_fast(&input, &clock)
        {
            return budget.take(steps) && is_allowed;
        }
        self.table.is_allowed_within(request, action, clock.now(), budget)
    }

    /// Decides like [`Policies::is_allowed_within`], and tells whether the answer depends on no
    /// attribute of the resource but one: see [`PolicyTable::is_allowed_by_attribute`].
    #[cfg(feature = "grants")]
    #[must_use]
    pub fn is_allowed_by_attribute(
        &self,
        request: &Request,
        of: (&str, &str),
        clock: impl Clock,
        budget: &Budget,
    ) -> Sourced {
        self.table.is_allowed_by_attribute(request, of, clock.now(), budget)
    }

    /// Returns true if the action may be allowed for some of the MQTT topics that the request asks
    /// about, and takes the steps from `budget`: see
    /// [`PolicyTable::is_allowed_in_part_within`].
    #[cfg(feature = "grants")]
    #[must_use]
    pub fn is_allowed_in_part_within(
        &self,
        request: &Request,
        action: &str,
        clock: impl Clock,
        budget: &Budget,
    ) -> bool {
        self.table.is_allowed_in_part_within(request, action, clock.now(), budget)
    }

    /// Decides like [`Policies::check`], and takes the steps from `budget`. Actions for which they
    /// do not suffice are denied.
    #[must_use]
    pub fn check_within(&self, request: &Request, clock: impl Clock, budget: &Budget) -> Decision {
        self.table.check_within(request, clock.now(), budget)
    }

    /// Decides like [`Policies::explain`], and takes the steps from `budget`.
    #[must_use]
    pub fn explain_within(
        &self,
        request: &Request,
        clock: impl Clock,
        budget: &Budget,
    ) -> Explanation {
        self.table.explain_within(request, clock.now(), budget)
    }

    /// Decides like [`Policies::check`], and returns every rule that was considered as well.
    #[must_use]
    pub fn explain(&self, request: &Request, clock: impl Clock) -> Explanation {
        self.table.explain(request, clock.now())
    }

    pub(crate) const fn serial(&self) -> u64 {
        self.serial
    }

    pub(crate) const fn index(&self) -> &Index {
        &self.index
    }

    #[cfg(feature = "ratelimit")]
    pub(crate) const fn plain_limits(&self) -> &PlainLimits {
        &self.plain_limits
    }

    /// Decides by a fast path; `None` if there is none or it is unsure.
    #[inline]
    pub(crate) fn try_fast(&self, input: &impl FastInput, clock: &impl Clock) -> Option<bool> {
        if self.has_expired(clock) {
            return None;
        }
        decide(&self.table, &self.index, input, clock)
    }

    /// Returns the attributes that the fast path of a question reads, sorted; `None` if it has none.
    #[cfg(feature = "replay")]
    pub(crate) fn attributes_of_fast_path(
        &self,
        input: &impl FastInput,
    ) -> Option<Vec<Attribute<'_>>> {
        let slots = match select(&self.table, &self.index, input) {
            Way::FastPath(fast_path) => &*fast_path.slots,
            Way::Denied => &[],
            Way::General => return None,
        };
        let mut attributes: Vec<_> = slots.iter().filter_map(attribute).collect();
        attributes.sort_unstable();
        attributes.dedup();
        Some(attributes)
    }

    /// Returns true if the bundle has expired and everything is denied: no fast path may decide
    /// then. The clock is read only if the bundle can expire.
    #[inline]
    pub(crate) fn has_expired(&self, clock: &impl Clock) -> bool {
        self.table.expires().is_some() && self.table.is_expired(clock.now())
    }

    /// Decides by a fast path; `None` if there is none, if it is unsure, or if the answer about the
    /// kind may hold more than effects.
    pub(crate) fn try_fast_effects(
        &self,
        kinds_with_outputs: &Names<()>,
        input: &impl FastInput,
        clock: &impl Clock,
    ) -> Option<bool> {
        // Limits are reported with the answer, and may deny.
        #[cfg(feature = "ratelimit")]
        if self.table.may_limit(input.target().kind) {
            return None;
        }
        self.try_fast_before_limits(kinds_with_outputs, input, clock)
    }

    /// Returns true if the answer about a kind holds effects and nothing more, and no limit may deny.
    #[cfg(feature = "decision-log")]
    pub(crate) fn has_effects_only(&self, kinds_with_outputs: &Names<()>, kind: &str) -> bool {
        #[cfg(feature = "ratelimit")]
        if self.table.may_limit(kind) {
            return false;
        }
        is_silent(kinds_with_outputs, kind)
    }

    /// Decides like [`Policies::try_fast_effects`], whatever limits the action meets.
    pub(crate) fn try_fast_before_limits(
        &self,
        kinds_with_outputs: &Names<()>,
        input: &impl FastInput,
        clock: &impl Clock,
    ) -> Option<bool> {
        if !is_silent(kinds_with_outputs, input.target().kind) {
            return None;
        }
        self.try_fast(input, clock)
    }

    /// Decides a question by the general path.
    #[cold]
    #[inline(never)]
    pub(crate) fn decide_general(&self, input: &impl ToRequest, clock: impl Clock) -> bool {
        let is_allowed =
            |request: Request| self.table.is_allowed(&request, input.target().action, clock.now());
        input.request().is_some_and(is_allowed)
    }

    fn general(&self, request: &Request, clock: impl Clock) -> Result<bool, RequestError> {
        let is_allowed = |action: &String| self.table.is_allowed(request, action, clock.now());
        Ok(request.actions.first().is_some_and(is_allowed))
    }
}

/// Returns the attribute that a slot begins with.
#[cfg(feature = "replay")]
fn attribute(slot: &Slot) -> Option<Attribute<'_>> {
    let owner = match slot.root {
        SlotRoot::PrincipalAttr => Owner::Principal,
        SlotRoot::ResourceAttr => Owner::Resource,
        SlotRoot::Claims => Owner::Claims,
        SlotRoot::Tokens => Owner::Tokens,
        _ => return None,
    };
    slot.path.first().map(|name| Attribute { owner, name })
}

/// Returns true if the answer about a kind holds effects and nothing more.
fn is_silent(kinds_with_outputs: &Names<()>, kind: &str) -> bool {
    kinds_with_outputs.is_empty() || kinds_with_outputs.get(&sanitized(kind)).is_none()
}

/// Returns the kinds whose rules have outputs or whose attributes have schemas.
fn kinds_with_outputs(table: &PolicyTable) -> Option<Names<()>> {
    Some(table.kinds_with_outputs()?.into_iter().map(|kind| (kind, ())).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use wardgate_bundle::{Conditions, Trust, open, pack};
    use wardgate_compiler::{Options, compile_files};
    use wardgate_engine::cel::Timestamp;

    use super::Policies;
    use crate::fast::json;
    use crate::fast::request::RequestInput;
    use crate::question::{PrincipalRef, Question, ResourceRef};
    use crate::value::{self, ValueInput};

    /// Returns the answer of the fast path in each form.
    fn try_fast(action: &str, attributes: &Value) -> [Option<bool>; 4] {
        let files = [("album.yaml".to_owned(), POLICY.as_bytes().to_vec())];
        let compiled = compile_files(&files, &Options::default()).unwrap();
        let table =
            open(&pack(&compiled.parts), Trust::Unsigned, &Conditions::default()).unwrap().table;
        let (policies, now) = (Policies::new(table, 0, 0), Timestamp::default());
        let document = json!({
            "principal": { "id": "ada", "roles": ["member"] },
            "action": action,
            "resource": { "kind": "album", "id": "a", "attr": attributes },
        });
        let request = value::request(&document).unwrap();
        let input = ValueInput::read(&document).unwrap();
        let question = Question {
            principal: PrincipalRef::new("ada", &["member"], &()),
            action,
            resource: ResourceRef::new("album", "a", attributes.as_object().unwrap()),
        };
        let text = document.to_string();
        [
            policies.try_fast(&RequestInput { request: &request, action }, &now),
            policies.try_fast(&input, &now),
            policies.try_fast(&question, &now),
            json::with_input(text.as_bytes(), |input| policies.try_fast(input, &now)).unwrap(),
        ]
    }

    #[test]
    fn usual_requests_are_decided_without_the_general_path() {
        let check = |action: &str, attributes: Value, expected: bool| {
            assert_eq!(try_fast(action, &attributes), [Some(expected); 4], "{action}");
        };
        check("view", json!({ "public": true, "unread": [{ "a": "\n" }] }), true);
        check("view", json!({ "public": "yes" }), false);
        check("view", json!({}), false);
        check("edit", json!({ "owner": "ada", "place": { "team": "red" } }), true);
        check("edit", json!({ "owner": "ada", "place": "red" }), false);
        check("rate", json!({ "stars": 3.5 }), true);
        check("rate", json!({ "stars": -1 }), false);
        check("tag", json!({ "tags": ["a", "shared"], "name": "x" }), true);
        check("tag", json!({ "tags": [], "name": "holiday" }), true);
        check("tag", json!({ "tags": [], "name": "work" }), false);
        let topic = |topic: &str| json!({ "topic": topic, "place": "red" });
        check("hear", topic("news/today"), true);
        check("hear", topic("places/red/door"), true);
        check("hear", topic("places/blue/door"), false);
        check("unknown", json!({}), false);
    }

    #[test]
    fn a_value_that_a_fast_path_cannot_read_is_unsure_only_if_an_entry_needs_it() {
        assert_eq!(try_fast("view", &json!({ "public": [true] })), [None; 4]);
        let of_members = json!({ "owner": "ada", "place": { "team": ["red"] } });
        assert_eq!(try_fast("edit", &of_members), [None; 4]);
        assert_eq!(try_fast("move", &json!({ "place": { "team": ["red"] } })), [Some(true); 4]);
        let escaped = try_fast("edit", &json!({ "owner": "a\nb", "place": { "team": "red" } }));
        assert_eq!(escaped, [Some(false), Some(false), Some(false), None]);
    }

    const POLICY: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: album
  rules:
    - { actions: [view], effect: EFFECT_ALLOW, roles: ["*"], condition: { match: { expr: R.attr.public == true } } }
    - actions: [edit]
      effect: EFFECT_ALLOW
      roles: [member]
      condition: { match: { expr: R.attr.owner == P.id && R.attr.place.team == "red" } }
    - { actions: [rate], effect: EFFECT_ALLOW, roles: [member], condition: { match: { expr: R.attr.stars > 3.0 } } }
    - actions: [move]
      effect: EFFECT_ALLOW
      roles: [member]
      condition: { match: { expr: P.id.startsWith("a") } }
    - actions: [move]
      effect: EFFECT_ALLOW
      roles: [mover]
      condition: { match: { expr: R.attr.place.team == "red" && R.attr.stars > 3.0 } }
    - actions: [hear]
      effect: EFFECT_ALLOW
      roles: [member]
      condition:
        match:
          expr: R.attr.topic.matchesTopic("places/{}/+", [R.attr.place]) || R.attr.topic.matchesTopic(["news/#", "all"])
    - actions: [tag]
      effect: EFFECT_ALLOW
      roles: [member]
      condition: { match: { expr: '"shared" in R.attr.tags || R.attr.name.startsWith("holiday")' } }
"#;
}
