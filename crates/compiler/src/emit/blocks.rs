//! Rule blocks: rows, and the bit sets by which the engine narrows them.

use std::collections::BTreeMap;

use wardgate_engine::table::layout::{
    BLOCK_WORDS, EFFECT_ALLOW, EFFECT_DENY, EFFECT_NONE, FROM_ROLE_POLICY, HEAD_WORDS, NEGATED,
    RULE_WORDS, block, head, rule,
};

use super::assemble::{Assembly, Kind, counted};
use crate::policy::model::Effect;
use crate::resolve::model::Head;
use crate::words::index;

/// One rule as the engine considers it: references are offsets and ids.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    /// Its effect; `None` for a rule that only emits outputs.
    pub(super) effect: Option<Effect>,
    pub(super) name: u32,
    pub(super) line: u32,
    pub(super) condition: Option<u32>,
    pub(super) variables: Option<u32>,
    pub(super) role_condition: Option<u32>,
    pub(super) role_variables: Option<u32>,
    pub(super) derived_role: Option<u32>,
    pub(super) output_activated: Option<u32>,
    pub(super) output_not_met: Option<u32>,
    /// The number of the role policy that holds the rule.
    pub(super) role_policy: Option<u32>,
    pub(super) negated: bool,
}

/// The rules of one policy, or of all role policies of one version and scope.
pub(super) struct Block {
    policy: String,
    file: String,
    rows: Vec<Row>,
    actions: Dimension,
    roles: Dimension,
    resources: Dimension,
    derived_roles: Vec<DerivedRole>,
    role_policies: Vec<RolePolicy>,
}

struct RolePolicy {
    role: String,
    key: String,
    file: String,
}

struct DerivedRole {
    name: String,
    condition: Option<u32>,
    variables: Option<u32>,
    parent_roles: Vec<String>,
}

/// Which rows name which value. `None`: the block does not narrow by it.
type Dimension = Option<BTreeMap<String, Vec<usize>>>;

impl Block {
    /// Returns a block without rules; one of role policies has an empty key and file.
    pub(super) fn new(policy: &str, file: &str) -> Self {
        Self {
            policy: policy.to_owned(),
            file: file.to_owned(),
            rows: Vec::new(),
            actions: None,
            roles: None,
            resources: None,
            derived_roles: Vec::new(),
            role_policies: Vec::new(),
        }
    }

    /// Adds a row that applies to these actions, roles and resources; `None` means any.
    pub(super) fn row(
        &mut self,
        row: Row,
        actions: Option<&[String]>,
        roles: Option<&[String]>,
        resource: Option<&String>,
    ) {
        let at = self.rows.len();
        self.rows.push(row);
        note(&mut self.actions, at, actions);
        note(&mut self.roles, at, roles);
        note(&mut self.resources, at, resource.map(std::slice::from_ref));
    }

    pub(super) fn derived_role(
        &mut self,
        name: &str,
        condition: Option<u32>,
        variables: Option<u32>,
        parent_roles: &[String],
    ) {
        let parent_roles = parent_roles.to_vec();
        let name = name.to_owned();
        self.derived_roles.push(DerivedRole { name, condition, variables, parent_roles });
    }

    /// Adds a role policy, and returns its number in the block.
    pub(super) fn role_policy(&mut self, head: &Head) -> u32 {
        let (role, key) = (head.name.clone(), head.key.clone());
        let file = head.location.file.path.to_string();
        self.role_policies.push(RolePolicy { role, key, file });
        index(self.role_policies.len() - 1)
    }

    /// Writes the block into the table and returns the offset of its head.
    pub(super) fn put(self, assembly: &mut Assembly) -> u32 {
        let kind = if self.role_policies.is_empty() { Kind::Rules } else { Kind::RoleRules };
        let mut words = vec![0; HEAD_WORDS];
        set(&mut words, head::POLICY, assembly.pool.string(&self.policy));
        set(&mut words, head::FILE, assembly.pool.explanation(&self.file));
        let lines = counted(self.rows.iter().map(|row| row.line));
        set(&mut words, head::LINES, assembly.shared(Kind::Lines, lines));
        let block = self.write(assembly);
        set(&mut words, head::BLOCK, assembly.shared(kind, block));
        assembly.push(&words)
    }

    /// Writes the part that policies with equal rules share: header, dimensions, records, rules.
    fn write(self, assembly: &mut Assembly) -> Vec<u32> {
        let mut words = vec![0; BLOCK_WORDS];
        set(&mut words, block::RULES, index(self.rows.len()));
        for (field, dimension) in [
            (block::ACTIONS, &self.actions),
            (block::ROLES, &self.roles),
            (block::RESOURCES, &self.resources),
        ] {
            if let Some(values) = dimension {
                let content = write_dimension(values, assembly);
                append(&mut words, field, &content);
            }
        }
        if !self.derived_roles.is_empty() || !self.role_policies.is_empty() {
            let records = self.records(assembly);
            append(&mut words, block::DERIVED_ROLES, &records);
        }
        let rows: Vec<u32> = self.rows.iter().flat_map(Row::words).collect();
        append(&mut words, block::RULE_RECORDS, &rows);
        words
    }

    fn records(&self, assembly: &mut Assembly) -> Vec<u32> {
        let count = self.derived_roles.len() + self.role_policies.len();
        let mut words = vec![index(count)];
        for role in &self.derived_roles {
            let parents = assembly.names(role.parent_roles.iter().map(String::as_str));
            let name = assembly.pool.string(&role.name);
            words.extend([name, optional(role.condition), optional(role.variables), parents]);
        }
        for RolePolicy { role, key, file } in &self.role_policies {
            let file = assembly.pool.explanation(file);
            words.extend([assembly.pool.string(role), assembly.pool.string(key), file]);
        }
        words
    }
}

impl Row {
    fn words(&self) -> [u32; RULE_WORDS] {
        let mut words = [0; RULE_WORDS];
        words[rule::EFFECT] = match self.effect {
            None => EFFECT_NONE,
            Some(Effect::Allow) => EFFECT_ALLOW,
            Some(Effect::Deny) => EFFECT_DENY,
        };
        words[rule::NAME] = self.name;
        words[rule::CONDITION] = optional(self.condition);
        words[rule::ROLE_CONDITION] = optional(self.role_condition);
        words[rule::VARIABLES] = optional(self.variables);
        words[rule::ROLE_VARIABLES] = optional(self.role_variables);
        words[rule::OUTPUT_ACTIVATED] = optional(self.output_activated);
        words[rule::OUTPUT_NOT_MET] = optional(self.output_not_met);
        words[rule::DERIVED_ROLE] = optional(self.derived_role);
        words[rule::FLAGS] = self.flags();
        words[rule::ROLE_POLICY] = optional(self.role_policy);
        words
    }

    fn flags(&self) -> u32 {
        let role_policy = if self.role_policy.is_some() { FROM_ROLE_POLICY } else { 0 };
        let negated = if self.negated { NEGATED } else { 0 };
        role_policy | negated
    }
}

fn note(dimension: &mut Dimension, row: usize, values: Option<&[String]>) {
    let Some(values) = values else { return };
    let dimension = dimension.get_or_insert_default();
    for value in values {
        dimension.entry(value.clone()).or_default().push(row);
    }
}

/// Returns true if a value is a pattern. Only `*` makes one, as in Cerbos.
fn is_glob(value: &str) -> bool {
    value.contains('*')
}

fn write_dimension(values: &BTreeMap<String, Vec<usize>>, assembly: &mut Assembly) -> Vec<u32> {
    let mut exact: Vec<(u32, Vec<[u32; 2]>)> = Vec::new();
    let mut globs = Vec::new();
    for (value, rows) in values {
        let entry = (assembly.pool.string(value), bit_set(rows));
        if is_glob(value) { globs.push(entry) } else { exact.push(entry) }
    }
    wardgate_engine::order::sort_by(&mut exact, |a, b| a.0.cmp(&b.0));
    let mut words = vec![index(exact.len()), index(globs.len()), 0];
    let mut pairs: Vec<[u32; 2]> = Vec::new();
    for (id, mut own) in exact.into_iter().chain(globs) {
        words.extend([id, index(pairs.len()), index(own.len())]);
        pairs.append(&mut own);
    }
    set(&mut words, 2, index(pairs.len()));
    words.extend(pairs.into_iter().flatten());
    words
}

/// Returns the words of a set of rows that are not zero, each behind its number. Rows ascend.
fn bit_set(rows: &[usize]) -> Vec<[u32; 2]> {
    let mut pairs: Vec<[u32; 2]> = Vec::new();
    for row in rows {
        let (number, bit) = (index(row / 32), 1 << (row % 32));
        match pairs.last_mut() {
            Some([last, bits]) if *last == number => *bits |= bit,
            _ => pairs.push([number, bit]),
        }
    }
    pairs
}

fn append(words: &mut Vec<u32>, field: usize, content: &[u32]) {
    let at = index(words.len());
    set(words, field, at);
    words.extend_from_slice(content);
}

fn set(words: &mut [u32], at: usize, value: u32) {
    if let Some(word) = words.get_mut(at) {
        *word = value;
    }
}

fn optional(reference: Option<u32>) -> u32 {
    reference.map_or(0, |reference| reference + 1)
}
