//! The rules of a block in names and conditions that both tables share.

use std::rc::Rc;

use wardgate_engine::decision::Effect;
use wardgate_engine::glob;
use wardgate_engine::table::layout::{block, head};
use wardgate_engine::table::{Block, PolicyTable, Section, Values, at, word};

use crate::logic::terms::{Terms, TextId};

/// The rules of one block.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) rules: Vec<Row>,
    /// The roles that have policies, in a block of role policies.
    pub(super) role_policies: Vec<TextId>,
    /// The derived roles that the policy imports.
    pub(super) derived_roles: Vec<Derived>,
}

/// One rule.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) says: Says,
    pub(super) actions: Named,
    pub(super) roles: Named,
    pub(super) kinds: Named,
    /// The offsets of the conditions: of the derived role, and of the rule.
    pub(super) conditions: [Option<u32>; 2],
}

/// The effect of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Says {
    Allow,
    Deny,
    /// It only emits outputs, and may fail.
    Nothing,
}

/// The names and patterns of a rule in one dimension.
#[derive(Clone, Debug, Default)]
pub(super) struct Named {
    pub(super) all: bool,
    pub(super) texts: Vec<TextId>,
    pub(super) patterns: Vec<TextId>,
}

/// A derived role: its name, its parent roles, and the offset of its condition.
#[derive(Debug)]
pub(super) struct Derived {
    pub(super) name: TextId,
    pub(super) parents: Vec<TextId>,
    pub(super) condition: Option<u32>,
}

/// Whether a rule names something.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Match {
    Never,
    Always,
    /// If one of these patterns matches a name that is left open.
    Any(Rc<[TextId]>),
}

/// A name: one that policies know, or any other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum NameOrOther {
    Name(TextId),
    Other,
}

impl Rows {
    pub(super) fn read(table: &PolicyTable, terms: &mut Terms, offset: u32) -> Self {
        let found = Block::new(table, offset);
        let mut rules: Vec<Row> = (0..found.rule_count())
            .map(|number| {
                let rule = found.rule(number);
                Row {
                    says: match rule.effect() {
                        Some(Effect::Allow) => Says::Allow,
                        Some(Effect::Deny) => Says::Deny,
                        None => Says::Nothing,
                    },
                    actions: Named::default(),
                    roles: Named::default(),
                    kinds: Named::default(),
                    conditions: [rule.role_condition(), rule.condition()],
                }
            })
            .collect();
        let dimensions: [(usize, Dimension); 3] = [
            (block::ACTIONS, |row| &mut row.actions),
            (block::ROLES, |row| &mut row.roles),
            (block::RESOURCES, |row| &mut row.kinds),
        ];
        for (dimension, of) in dimensions {
            name(table, terms, found.values(dimension), &mut rules, of);
        }
        let role_policies = found.role_policies().map(|id| terms.text(table.string(id))).collect();
        Self { rules, role_policies, derived_roles: Vec::new() }
    }

    /// Reads the derived roles of a resource policy. In a block of role policies their records are others.
    pub(super) fn with_derived_roles(
        mut self,
        table: &PolicyTable,
        terms: &mut Terms,
        offset: u32,
    ) -> Self {
        self.role_policies.clear();
        for role in Block::new(table, offset).derived_roles() {
            let parents = role.parent_roles().iter().map(|id| terms.text(table.string(*id)));
            let parents = parents.collect();
            let name = terms.text(role.name());
            self.derived_roles.push(Derived { name, parents, condition: role.condition() });
        }
        self
    }
}

/// One dimension of a rule.
type Dimension = fn(&mut Row) -> &mut Named;

/// Returns the part of a block that policies with equal rules share.
pub(super) fn shared(table: &PolicyTable, offset: u32) -> u32 {
    word(table.section(Section::Blocks), at(offset).saturating_add(head::BLOCK))
}

fn name(
    table: &PolicyTable,
    terms: &mut Terms,
    values: Option<Values<'_>>,
    rules: &mut [Row],
    of: Dimension,
) {
    let Some(values) = values else {
        rules.iter_mut().for_each(|row| of(row).all = true);
        return;
    };
    let mut each = |id: u32, set: wardgate_engine::table::RuleSet<'_>, is_pattern: bool| {
        let text = table.string(id);
        let (is_all, text) = (is_pattern && matches!(text, "*" | "**"), terms.text(text));
        for number in numbers(set) {
            let Some(named) = rules.get_mut(number).map(of) else { continue };
            match (is_all, is_pattern) {
                (true, _) => named.all = true,
                (_, true) => named.patterns.push(text),
                (_, false) => named.texts.push(text),
            }
        }
    };
    values.exact().for_each(|(id, set)| each(id, set, false));
    values.globs().for_each(|(id, set)| each(id, set, true));
}

fn numbers(set: wardgate_engine::table::RuleSet<'_>) -> impl Iterator<Item = usize> {
    set.words().flat_map(|(number, bits)| {
        (0..32).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| number * 32 + bit)
    })
}

impl Named {
    /// Says whether the rule names one of these.
    pub(super) fn matches(&self, terms: &Terms, asked: &[NameOrOther]) -> Match {
        if self.all {
            return Match::Always;
        }
        let mut open = false;
        for one in asked {
            let NameOrOther::Name(text) = one else {
                open = true;
                continue;
            };
            let fits = |pattern: &TextId| glob::matches(terms.name(*pattern), terms.name(*text));
            if self.texts.contains(text) || self.patterns.iter().any(fits) {
                return Match::Always;
            }
        }
        match open && !self.patterns.is_empty() {
            true => Match::Any(self.sorted_patterns().into()),
            false => Match::Never,
        }
    }

    fn sorted_patterns(&self) -> Vec<TextId> {
        let mut patterns = self.patterns.clone();
        patterns.sort_unstable();
        patterns.dedup();
        patterns
    }

    /// Appends what a rule that is the same has in this dimension.
    pub(super) fn describe(&self, words: &mut Vec<u64>) {
        words.push(u64::from(self.all));
        for list in [&self.texts, &self.patterns] {
            let mut list = list.clone();
            list.sort_unstable();
            list.dedup();
            words.push(u64::try_from(list.len()).unwrap_or(u64::MAX));
            words.extend(list.into_iter().map(u64::from));
        }
    }
}
