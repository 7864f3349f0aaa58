//! Reports about the content of a table, for people: policies, names, slots and sizes.
//!
//! Read-only and no part of any decision. Every list is sorted, so that equal tables give equal
//! reports.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use super::layout::{
    DERIVED_ROLE_WORDS, FLAG_SCHEMA_REJECT, FLAG_SCHEMA_WARN, INDEX_WORDS, Key, POLICY_WORDS,
    PolicyKind, ROLE_POLICY_WORDS, Section, block, head,
};
use super::{Block, PolicyTable, Values, at, list, word};
use crate::cel::pool::{PROGRAM_WORDS, Root, VARIABLE_WORDS};

/// The content of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspection<'a> {
    /// The policies, sorted by key.
    pub policies: Vec<PolicyRecord<'a>>,
    /// Kinds of resource that have policies of their own.
    pub kinds: BTreeSet<&'a str>,
    /// Actions that rules name; globs included.
    pub actions: BTreeSet<&'a str>,
    /// Roles that rules, derived roles and role policies name.
    pub roles: BTreeSet<&'a str>,
    /// Derived roles that resource policies use.
    pub derived_roles: BTreeSet<&'a str>,
    /// Scopes in which policies exist; the root is empty.
    pub scopes: BTreeSet<&'a str>,
    /// Versions of policies.
    pub versions: BTreeSet<&'a str>,
    /// Paths into the request that some expression reads, such as `request.resource.attr.owner`.
    pub slots: BTreeSet<String>,
    /// The number of distinct expressions.
    pub expressions: usize,
    /// The number of variables.
    pub variables: usize,
    /// Names of the sections and their sizes in bytes, in the order of the table.
    pub sections: Vec<(&'static str, usize)>,
}

/// One policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PolicyRecord<'a> {
    /// Its key, such as `resource.document.vdefault/acme`.
    pub key: &'a str,
    /// The kind of policy: `resource`, `principal` or `role`.
    pub kind: &'static str,
    /// The kind of resource, principal or role that it is about.
    pub name: &'a str,
    /// Its version.
    pub version: &'a str,
    /// Its scope.
    pub scope: &'a str,
    /// Its source file.
    pub file: &'a str,
    /// The number of its rules.
    pub rules: u32,
}

impl PolicyTable {
    /// Returns the content of the whole table.
    #[must_use]
    pub fn inspect(&self) -> Inspection<'_> {
        let mut found = Inspection {
            policies: self.policies().collect(),
            slots: self.slots(),
            expressions: self.section(Section::Programs).len() / PROGRAM_WORDS,
            variables: self.section(Section::Variables).len() / VARIABLE_WORDS,
            sections: self.sizes(),
            ..Inspection::default()
        };
        found.policies.sort_unstable();
        for policy in &found.policies {
            found.scopes.insert(policy.scope);
            found.versions.insert(policy.version);
            match policy.kind {
                RESOURCE => found.kinds.insert(policy.name),
                ROLE => found.roles.insert(policy.name),
                _ => false,
            };
        }
        for entry in self.entries() {
            self.add_names(*entry, &mut found);
        }
        found
    }

    /// Returns the treatment of attributes that do not fit their schema: `none`, `warn` or
    /// `reject`.
    #[must_use]
    pub fn schema_enforcement(&self) -> &'static str {
        match self.header().flags {
            flags if flags & FLAG_SCHEMA_REJECT != 0 => "reject",
            flags if flags & FLAG_SCHEMA_WARN != 0 => "warn",
            _ => "none",
        }
    }

    /// Returns the kinds about which decisions may hold more than effects: those whose resource
    /// policies have rules with outputs, or schemas whose violations are only reported: where schemas
    /// reject, no fast path decides a request that violates one. Returns `None` if policies of
    /// principals or roles have rules with outputs, because those may be about any kind.
    #[must_use]
    pub fn kinds_with_outputs(&self) -> Option<Vec<&str>> {
        let warns = self.header().flags & FLAG_SCHEMA_WARN != 0;
        let mut kinds = Vec::new();
        for [key, kind, .., value] in self.entries().iter().copied() {
            let is = |wanted: Key| key == wanted.code();
            if warns && is(Key::Schema) {
                kinds.push(self.string(kind));
            }
            let is_block = is(Key::Resource) || is(Key::Principal) || is(Key::Roles);
            if !is_block || !Block::new(self, value).has_outputs() {
                continue;
            }
            if !is(Key::Resource) {
                return None;
            }
            kinds.push(self.string(kind));
        }
        kinds.sort_unstable();
        kinds.dedup();
        Some(kinds)
    }

    fn policies(&self) -> impl Iterator<Item = PolicyRecord<'_>> {
        let records = self.section(Section::Policies).chunks_exact(POLICY_WORDS);
        records.map(|record| PolicyRecord {
            kind: match PolicyKind::from_code(word(record, 0)) {
                Some(PolicyKind::Principal) => PRINCIPAL,
                Some(PolicyKind::Role) => ROLE,
                _ => RESOURCE,
            },
            key: self.string(word(record, 1)),
            file: self.explanation(word(record, 2)),
            rules: word(record, 3),
            name: self.string(word(record, 4)),
            version: self.string(word(record, 5)),
            scope: self.string(word(record, 6)),
        })
    }

    /// Collects the names behind one entry of the index.
    fn add_names<'a>(
        &'a self,
        [key, _, role, _, value]: [u32; INDEX_WORDS],
        found: &mut Inspection<'a>,
    ) {
        let is = |wanted: Key| key == wanted.code();
        let blocks = self.section(Section::Blocks);
        if is(Key::ParentRoles) {
            found.roles.insert(self.string(role));
            found.roles.extend(list(blocks, value).iter().map(|id| self.string(*id)));
        }
        if !(is(Key::Resource) || is(Key::Principal) || is(Key::Roles)) {
            return;
        }
        let head = blocks.get(at(value)..).unwrap_or(&[]);
        let words = blocks.get(at(word(head, head::BLOCK))..).unwrap_or(&[]);
        found.actions.extend(self.names(words, block::ACTIONS));
        found.roles.extend(self.names(words, block::ROLES));
        if is(Key::Roles) {
            found.roles.extend(records(words, ROLE_POLICY_WORDS).map(|r| self.string(word(r, 0))));
        } else {
            for record in records(words, DERIVED_ROLE_WORDS) {
                found.derived_roles.insert(self.string(word(record, 0)));
                let parents = list(blocks, word(record, 3)).iter();
                found.roles.extend(parents.map(|id| self.string(*id)));
            }
        }
    }

    /// Returns the values of a dimension of a block.
    fn names<'a>(
        &'a self,
        words: &'a [u32],
        dimension: usize,
    ) -> impl Iterator<Item = &'a str> + use<'a> {
        let values = Values::read(words, dimension);
        let all = values.into_iter().flat_map(|values| values.exact().chain(values.globs()));
        all.map(|(id, _)| self.string(id))
    }

    fn slots(&self) -> BTreeSet<String> {
        let words = self.section(Section::Slots);
        let mut paths = BTreeSet::new();
        let mut offset = 0;
        while offset < words.len() {
            let end = (offset + 2).saturating_add(at(word(words, offset + 1)));
            let root = Root::from_code(word(words, offset)).unwrap_or(Root::Free);
            let segments = words.get(offset + 2..end).unwrap_or(&[]);
            paths.insert(path_name(root, segments.iter().map(|segment| self.string(*segment))));
            offset = end;
        }
        paths
    }

    fn sizes(&self) -> Vec<(&'static str, usize)> {
        let sections =
            Section::ALL.map(|section| (section.name(), 4 * self.section(section).len()));
        let parts = self.parts();
        let rest = [
            ("text", parts.text.len()),
            ("blob", parts.blob.len()),
            ("explanations", parts.explanations.len()),
        ];
        sections.into_iter().chain(rest).collect()
    }
}

impl Section {
    /// Returns its name for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Strings => "strings",
            Self::Constants => "constants",
            Self::Slots => "slots",
            Self::Programs => "programs",
            Self::Code => "code",
            Self::Variables => "variables",
            Self::Conditions => "conditions",
            Self::VariableSets => "variable sets",
            Self::Index => "index",
            Self::Blocks => "blocks",
            Self::Schemas => "schemas",
            Self::Policies => "policies",
            Self::FastPaths => "plans",
            Self::Explanations => "explanation offsets",
        }
    }
}

/// Returns the records of derived roles or role policies of a block.
fn records(words: &[u32], size: usize) -> impl Iterator<Item = &[u32]> {
    let offset = at(word(words, block::DERIVED_ROLES));
    let list = words.get(offset..).filter(|_| offset != 0).unwrap_or(&[]);
    list.get(1..).unwrap_or(&[]).chunks_exact(size).take(at(word(list, 0)))
}

/// Returns the text of a path into the request, such as `request.resource.attr.owner`.
pub(crate) fn path_name<'s>(root: Root, segments: impl Iterator<Item = &'s str>) -> String {
    let mut path = String::from(root_name(root));
    segments.for_each(|segment| push_segment(&mut path, segment));
    path
}

/// Writes `.name`, or `["any text"]` for a name that is not an identifier.
fn push_segment(path: &mut String, segment: &str) {
    let is_name = segment.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && segment.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_name {
        path.push('[');
        path.push_str(&alloc::format!("{segment:?}"));
        return path.push(']');
    }
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(segment);
}

/// Returns the text of a root in an expression.
const fn root_name(root: Root) -> &'static str {
    match root {
        Root::PrincipalId => "request.principal.id",
        Root::PrincipalRoles => "request.principal.roles",
        Root::PrincipalAttr => "request.principal.attr",
        Root::PrincipalPolicyVersion => "request.principal.policyVersion",
        Root::PrincipalScope => "request.principal.scope",
        Root::ResourceKind => "request.resource.kind",
        Root::ResourceId => "request.resource.id",
        Root::ResourceAttr => "request.resource.attr",
        Root::ResourcePolicyVersion => "request.resource.policyVersion",
        Root::ResourceScope => "request.resource.scope",
        Root::AuxDataJwt => "request.auxData.jwt",
        Root::AuxDataJwts => "request.auxData.jwts",
        Root::EffectiveDerivedRoles => "runtime.effectiveDerivedRoles",
        Root::Request => "request",
        Root::Principal => "request.principal",
        Root::Resource => "request.resource",
        Root::AuxData => "request.auxData",
        Root::Runtime => "runtime",
        Root::Free => "",
    }
}

const RESOURCE: &str = "resource";
const PRINCIPAL: &str = "principal";
const ROLE: &str = "role";

#[cfg(test)]
mod tests {
    use super::push_segment;
    use alloc::string::String;

    #[test]
    fn names_that_are_not_identifiers_are_quoted() {
        let check = |segment: &str, expected: &str| {
            let mut path = String::from("R.attr");
            push_segment(&mut path, segment);
            assert_eq!(path, expected);
        };
        check("owner", "R.attr.owner");
        check("_x1", "R.attr._x1");
        check("", "R.attr[\"\"]");
        check("1x", "R.attr[\"1x\"]");
        check("a \"b\"", "R.attr[\"a \\\"b\\\"\"]");
    }
}
