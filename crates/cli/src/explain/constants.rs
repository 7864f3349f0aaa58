//! The values of constants and globals, which a compiled expression no longer knows by their names.
//!
//! Only the sources know them: an explanation from a bundle leaves them out.

use std::collections::{BTreeMap, HashMap};

use wardgate_compiler::Options;
use wardgate_compiler::cel::{parse, references};
use wardgate_compiler::repository::Repository;
use wardgate_compiler::resolve::resolve;
use wardgate_engine::attr::Attr;
use wardgate_engine::decide::observe::{Finding, Read, Sight};

use super::gather::Met;

/// Constants by the policies whose expressions can name them, and globals.
#[derive(Default)]
pub(crate) struct Constants {
    policies: HashMap<String, Values>,
    /// By policy and derived role, for the conditions of the latter.
    roles: HashMap<(String, String), Values>,
    globals: Values,
}

type Values = BTreeMap<String, Attr>;

impl Constants {
    /// Finds those of policies that have compiled under `options`.
    pub(crate) fn of(policies: &Repository, options: Options) -> Self {
        let (resolved, _) = resolve(policies);
        let mut constants = Self { globals: options.globals, ..Self::default() };
        for policy in resolved.resource {
            for (name, role) in policy.derived_roles {
                constants.roles.insert((policy.head.key.clone(), name), role.constants);
            }
            constants.policies.insert(policy.head.key, policy.head.constants);
        }
        let principal = resolved.principal.into_iter().map(|policy| policy.head);
        let heads = principal.chain(resolved.role.into_iter().map(|policy| policy.head));
        constants.policies.extend(heads.map(|head| (head.key, head.constants)));
        constants
    }

    /// Adds the constants and globals that the expressions of a rule name.
    pub(crate) fn add_to(&self, met: &mut Met) {
        let none = Values::new();
        if let Some(condition) = &mut met.condition {
            self.add(condition, self.policies.get(&met.policy).unwrap_or(&none));
        }
        if let (Some(condition), Some(role)) = (&mut met.role_condition, &met.derived_role) {
            let key = (met.policy.clone(), role.clone());
            self.add(condition, self.roles.get(&key).unwrap_or(&none));
        }
    }

    fn add(&self, finding: &mut Finding, constants: &Values) {
        match finding {
            Finding::Junction { parts, .. } => {
                parts.iter_mut().for_each(|part| self.add(part, constants));
            }
            Finding::Expression { text, reads, .. } => {
                let definitions = reads.iter().filter_map(|read| read.definition.clone());
                for text in std::iter::once(text.clone()).chain(definitions).collect::<Vec<_>>() {
                    let Ok(expression) = parse(&text) else { continue };
                    let names = references(&expression);
                    let constants = names.constants.iter().map(|name| read("C", name, constants));
                    let globals = names.globals.iter().map(|name| read("G", name, &self.globals));
                    for read in constants.chain(globals) {
                        if !reads.contains(&read) {
                            reads.push(read);
                        }
                    }
                }
            }
        }
    }
}

fn read(of: &str, name: &str, values: &Values) -> Read {
    let sight = values.get(name).map_or(Sight::Missing, |value| Sight::Value(value.clone()));
    Read { name: format!("{of}.{name}"), sight, definition: None }
}
