//! Derived roles for conditions that stand in many policies, as edits that are proved to change no decision.
//!
//! Rules for the same roles under the same condition in several policies become rules for one derived role. A
//! condition that fails ends a search in another place then, and variables are others; whether that
//! matters is not guessed: the policies with the edits are compiled and compared with those before.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use wardgate_compiler::policy::model::{Body, Condition, Output, ResourceRule};
use wardgate_compiler::policy::name::{DERIVED_ROLES, set_key};
use wardgate_compiler::resolve::model::{DerivedRole, Resolved, ResourcePolicy};
use wardgate_tooling::edit::json_key;

use crate::index::{Index, RuleId};
use crate::limits::MIN_DERIVED_POLICIES;
use crate::normal::{Normal, Parsed, Scope};
use crate::proof::{Basis, Edit, Refusal, located};
use crate::written::{Change, Written, reads_as};

/// A derived role that would carry the condition of many rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Derivation {
    /// Its name.
    pub name: String,
    /// The set that defines it.
    pub set: String,
    /// The file of the set.
    pub file: String,
    /// True if the set defines it already.
    pub is_known: bool,
    /// The roles that gain it.
    pub parents: Vec<String>,
    /// The condition, in normal form.
    pub condition: String,
    /// The rules that it would carry, in order.
    pub rules: Vec<RuleId>,
    /// The number of their policies.
    pub policies: usize,
    /// The edits, or the reason why there are none.
    pub edits: Result<Vec<Edit>, Refusal>,
}

/// All derived roles that are proposed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Derivations {
    /// Those that are proved, or refused: those that carry most rules first.
    pub found: Vec<Derivation>,
    /// The number of those that could not be proved to change no decision.
    pub unproved: usize,
}

/// A rule with its policy.
#[derive(Clone, Copy)]
struct Member<'p> {
    policy: &'p ResourcePolicy,
    /// Its number in the policy.
    number: usize,
    id: RuleId,
}

/// The meaning of a derived role: its condition in normal form, and its parents, sorted.
type Meaning = (Rc<str>, Vec<String>);

/// Where a derived role is defined.
struct Home {
    name: String,
    set: String,
    file: String,
    is_known: bool,
}

impl Derivations {
    /// Returns the edits that are proved to change no decision, together.
    pub fn edits(&self) -> impl Iterator<Item = &Edit> {
        self.found.iter().filter_map(|found| found.edits.as_ref().ok()).flatten()
    }
}

/// Returns the derived roles that would carry the conditions of many rules. No file is edited twice: the edits
/// that `basis` has accepted come first.
pub fn derivations(index: &Index, resolved: &Resolved, basis: &mut Basis<'_>) -> Derivations {
    let parsed = Parsed::default();
    let mut drafts =
        Drafts { basis, names: BTreeSet::new(), busy: BTreeSet::new(), begun: BTreeSet::new() };
    drafts.names.extend(names_of_roles(drafts.basis));
    let known = known_roles(resolved, &parsed);
    let mut groups: Vec<(Meaning, Vec<Member<'_>>)> =
        groups(index, resolved, &parsed).into_iter().collect();
    groups.sort_by(|(_, a), (_, b)| {
        let first = |members: &[Member<'_>]| members.first().map(|member| member.id);
        b.len().cmp(&a.len()).then_with(|| first(a).cmp(&first(b)))
    });
    let mut found: Vec<Derivation> = Vec::new();
    for (meaning, members) in groups {
        found.extend(drafts.draft(&meaning, &members, known.get(&meaning).copied()));
    }
    prove(found, basis)
}

fn prove(mut found: Vec<Derivation>, basis: &mut Basis<'_>) -> Derivations {
    let edits = found.iter().filter_map(|one| one.edits.as_deref().ok());
    let edits: Vec<&[Edit]> = edits.collect();
    let mut proved = basis.prove(&edits).into_iter();
    let all = found.len();
    found.retain(|one| one.edits.is_err() || proved.next().unwrap_or(false));
    let unproved = all.saturating_sub(found.len());
    basis.accept(found.iter().filter_map(|one| one.edits.as_ref().ok()).flatten().cloned());
    Derivations { found, unproved }
}

/// Groups rules by what their derived role would mean.
fn groups<'p>(
    index: &Index,
    resolved: &'p Resolved,
    parsed: &Parsed,
) -> BTreeMap<Meaning, Vec<Member<'p>>> {
    let mut ids: HashMap<&str, Vec<RuleId>> = HashMap::new();
    for (rule, place) in index.all() {
        ids.entry(&place.policy).or_default().push(rule);
    }
    let mut groups: BTreeMap<Meaning, Vec<Member<'p>>> = BTreeMap::new();
    for policy in &resolved.resource {
        let of_policy = ids.get(policy.head.key.as_str()).cloned().unwrap_or_default();
        for (number, (rule, id)) in policy.rules.iter().zip(of_policy).enumerate() {
            if let Some(meaning) = meaning(index, id, rule) {
                groups.entry(meaning).or_default().push(Member { policy, number, id });
            }
        }
    }
    groups.retain(|(text, _), members| {
        members.first().is_some_and(|member| is_one_expression(member, text, parsed))
    });
    groups
}

/// Returns what a derived role in place of a rule's roles and condition would mean.
fn meaning(index: &Index, id: RuleId, rule: &ResourceRule) -> Option<Meaning> {
    let text = Rc::clone(&index.class_of(id)?.body.condition.text);
    // A text with an owner means something in its policy only.
    let is_general = !text.is_empty() && !text.contains('\u{1}');
    let has_roles = !rule.roles.is_empty() && rule.derived_roles.is_empty();
    let is_plain = is_general && has_roles && rule.output == Output::default();
    is_plain.then(|| (text, sorted(&rule.roles)))
}

/// Returns true if the normal form of a condition is the text of one expression that a derived role means the
/// same by.
fn is_one_expression(member: &Member<'_>, text: &str, parsed: &Parsed) -> bool {
    let head = &member.policy.head;
    let rule = member.policy.rules.get(member.number);
    let Some(condition) = rule.and_then(|rule| rule.condition.as_ref()) else { return false };
    let scope = Scope::new(parsed, &head.constants, &head.variables);
    if !matches!(Normal::of(condition, &scope), Normal::Is(_)) {
        return false;
    }
    let Some(expression) = expression_of(condition, text) else { return false };
    let (constants, variables) = (BTreeMap::new(), []);
    let alone = Scope::new(parsed, &constants, &variables).of_derived_role();
    matches!(Normal::of(&expression, &alone), Normal::Is(node) if node.text() == text)
}

/// Returns a condition of one expression with a text.
fn expression_of(like: &Condition, text: &str) -> Option<Condition> {
    let mut expression = (*like.expressions().first()?).clone();
    expression.text = text.into();
    Some(Condition::Expr(expression))
}

/// Returns the derived roles that policies name, by what they mean.
fn known_roles<'p>(resolved: &'p Resolved, parsed: &Parsed) -> BTreeMap<Meaning, &'p DerivedRole> {
    let mut known = BTreeMap::new();
    let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
    for role in resolved.resource.iter().flat_map(|policy| policy.derived_roles.values()) {
        if !seen.insert((&role.origin, &role.name)) {
            continue;
        }
        let Some(condition) = &role.condition else { continue };
        let scope = Scope::new(parsed, &role.constants, &role.variables).of_derived_role();
        let normal = Normal::of(condition, &scope);
        if !scope.is_own() {
            known.entry((normal.text().into(), sorted(&role.parent_roles))).or_insert(role);
        }
    }
    known
}

fn names_of_roles(basis: &Basis<'_>) -> impl Iterator<Item = String> {
    let sets = basis.repository.policies.iter().filter_map(|policy| match &policy.body {
        Body::DerivedRoles(set) => Some(set),
        _ => None,
    });
    let names = sets.flat_map(|set| set.definitions.iter().map(|role| role.name.clone()));
    names.collect::<Vec<_>>().into_iter()
}

/// Derived roles that are drafted one after the other.
struct Drafts<'d, 'b> {
    basis: &'d Basis<'b>,
    /// The names of derived roles that are taken.
    names: BTreeSet<String>,
    /// The files of policies that an earlier draft edits.
    busy: BTreeSet<String>,
    /// The files of sets that an earlier draft writes to.
    begun: BTreeSet<String>,
}

impl Drafts<'_, '_> {
    fn draft(
        &mut self,
        (condition, parents): &Meaning,
        members: &[Member<'_>],
        known: Option<&DerivedRole>,
    ) -> Option<Derivation> {
        let mut by_policy: BTreeMap<&str, Vec<Member<'_>>> = BTreeMap::new();
        for member in members {
            by_policy.entry(&member.policy.head.key).or_default().push(*member);
        }
        let least = if known.is_some() { 1 } else { MIN_DERIVED_POLICIES };
        if by_policy.len() < least {
            return None;
        }
        let home = self.home((condition, parents), &by_policy, known)?;
        let (mut edits, mut rules, mut refusals) = (Vec::new(), Vec::new(), BTreeSet::new());
        let mut edited = Vec::new();
        for of_policy in by_policy.values() {
            match self.policy_edits(of_policy, &home) {
                Ok(found) => {
                    edits.extend(found);
                    edited.push(of_policy);
                }
                Err(refusal) => drop(refusals.insert(refusal)),
            }
        }
        let is_enough = edited.len() >= least;
        let set_edit = self.set_edit(&home, condition, parents);
        let edits = match (is_enough, set_edit) {
            (true, Ok(edit)) => {
                edits.extend(edit);
                Ok(edits)
            }
            (true, Err(refusal)) => Err(refusal),
            (false, _) => Err(refusals.into_iter().next().unwrap_or(Refusal::Layout)),
        };
        let shown: Vec<&Vec<Member<'_>>> =
            if edits.is_ok() { edited } else { by_policy.values().collect() };
        rules.extend(shown.iter().flat_map(|members| members.iter().map(|member| member.id)));
        rules.sort_unstable();
        for edit in edits.iter().flatten().filter(|edit| edit.path != home.file) {
            self.busy.insert(edit.path.clone());
        }
        if edits.is_ok() {
            self.names.insert(home.name.clone());
            self.begun.insert(home.file.clone());
        }
        Some(Derivation {
            policies: shown.len(),
            name: home.name,
            set: home.set,
            file: home.file,
            is_known: home.is_known,
            parents: parents.clone(),
            condition: condition.to_string(),
            rules,
            edits,
        })
    }

    /// Returns the set that defines the role: the one that does, one that all policies import, or the common one.
    fn home(
        &self,
        (condition, parents): (&str, &[String]),
        by_policy: &BTreeMap<&str, Vec<Member<'_>>>,
        known: Option<&DerivedRole>,
    ) -> Option<Home> {
        let file = |set: &str| {
            let key = set_key(DERIVED_ROLES, set);
            let mut policies = self.basis.repository.policies.iter();
            policies
                .find(|policy| policy.key() == key)
                .map(|policy| policy.location.file.path.clone())
        };
        if let Some(known) = known {
            let set = known.origin.strip_prefix(&set_key(DERIVED_ROLES, ""))?.to_owned();
            let file = file(&set)?;
            return Some(Home { name: known.name.clone(), set, file, is_known: true });
        }
        let set = self.common_import(by_policy).unwrap_or_else(|| COMMON_SET.to_owned());
        let file = file(&set).unwrap_or_else(|| format!("{COMMON_SET}.yaml"));
        let name = self.name(condition, parents);
        Some(Home { name, set, file, is_known: false })
    }

    /// Returns the first set of derived roles that all policies import.
    fn common_import(&self, by_policy: &BTreeMap<&str, Vec<Member<'_>>>) -> Option<String> {
        let mut common: Option<BTreeSet<&str>> = None;
        for policy in &self.basis.repository.policies {
            let Body::Resource(body) = &policy.body else { continue };
            if by_policy.contains_key(policy.key().as_str()) {
                let own: BTreeSet<&str> =
                    body.import_derived_roles.iter().map(|set| set.name.as_str()).collect();
                common = Some(match common {
                    Some(common) => common.intersection(&own).copied().collect(),
                    None => own,
                });
            }
        }
        common?.first().map(|set| (*set).to_owned())
    }

    /// Returns a name that no derived role has: of the parents, and of the attributes that the condition reads.
    fn name(&self, condition: &str, parents: &[String]) -> String {
        let mut words: Vec<String> = Vec::new();
        for part in condition.split("attr.").skip(1) {
            let word = part.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
            words.extend(word.filter(|word| !word.is_empty()).map(str::to_owned));
        }
        words.dedup();
        words.truncate(MAX_WORDS);
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let parent = parents.first().map_or("", String::as_str);
        let parent: String = parent.chars().filter(|c| is_word(*c)).collect();
        let parent = if parent.is_empty() { "any" } else { &parent };
        let by = if words.is_empty() { "condition".to_owned() } else { words.join("_") };
        let name = format!("{parent}_by_{by}");
        let numbered = (2_u32..).map(|number| format!("{name}_{number}"));
        let mut names = std::iter::once(name.clone()).chain(numbered);
        names.find(|name| !self.names.contains(name)).unwrap_or(name)
    }

    fn policy_edits(&self, members: &[Member<'_>], home: &Home) -> Result<Vec<Edit>, Refusal> {
        let policy = members.first().ok_or(Refusal::Layout)?.policy;
        let file = &policy.head.location.file;
        if self.busy.contains(&file.path) || self.basis.is_edited(&file.path) {
            return Err(Refusal::Busy);
        }
        if file.text.contains("runtime") {
            return Err(Refusal::Runtime);
        }
        let written = Written::read(file, ["resourcePolicy", "rules"])?;
        let mut change = Change { import: Some(home.set.clone()), ..Change::default() };
        for member in members {
            change.edits.extend(written.carriage(member.number, &home.name)?);
            change.carried.push((member.number, home.name.clone()));
        }
        change.edits.extend(written.import(&home.set)?);
        let expected = written.expected(&[&change]).ok_or(Refusal::Layout)?;
        let new = wardgate_tooling::edit::apply(&file.text, &change.edits);
        match new.is_some_and(|new| reads_as(&file.path, &new, &expected)) {
            true => Ok(located(&file.path, change.edits)),
            false => Err(Refusal::Layout),
        }
    }

    /// Returns the edit that defines the role.
    fn set_edit(
        &self,
        home: &Home,
        condition: &str,
        parents: &[String],
    ) -> Result<Option<Edit>, Refusal> {
        if home.is_known {
            return Ok(None);
        }
        if self.basis.is_edited(&home.file) {
            return Err(Refusal::Busy);
        }
        let parents: Vec<String> = parents.iter().map(|role| json_key(role)).collect();
        let (parents, text) = (parents.join(", "), json_key(condition));
        let lines = [
            format!("- name: {}", home.name),
            format!("  parentRoles: [{parents}]"),
            "  condition:".to_owned(),
            "    match:".to_owned(),
            format!("      expr: {}", scalar(condition)),
        ];
        let json = format!(
            "{{\"name\": \"{}\", \"parentRoles\": [{parents}], \"condition\": {{\"match\": {{\"expr\": {text}}}}}}}",
            home.name
        );
        let path = home.file.clone();
        let Some(file) = self.basis.file(&path) else {
            let indented: String = lines.iter().map(|line| format!("    {line}\n")).collect();
            let head = match self.begun.contains(&path) {
                true => String::new(),
                false => format!(
                    "apiVersion: api.cerbos.dev/v1\nderivedRoles:\n  name: {}\n  definitions:\n",
                    home.set
                ),
            };
            return Ok(Some(Edit { path, range: 0..0, text: format!("{head}{indented}") }));
        };
        let written = Written::read(file, ["derivedRoles", "definitions"])?;
        let edit = written.appended(&lines, &json)?;
        Ok(located(&path, vec![edit]).pop())
    }
}

/// Writes an expression as a value of YAML.
fn scalar(text: &str) -> String {
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with(':')
        && !text.contains(|c: char| c.is_control());
    if is_plain { text.to_owned() } else { json_key(text) }
}

fn sorted(names: &[String]) -> Vec<String> {
    let mut names = names.to_vec();
    names.sort();
    names
}

/// The set that new derived roles go to if the policies import none in common.
const COMMON_SET: &str = "common_roles";

/// The attributes in the name of a derived role.
const MAX_WORDS: usize = 3;

#[cfg(test)]
mod tests;
