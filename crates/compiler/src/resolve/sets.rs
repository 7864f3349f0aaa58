//! The sets of derived roles, variables and constants that policies import.

use std::collections::{HashMap, HashSet};

use wardgate_engine::attr::Attr;

use crate::expression::ExprSource;
use crate::policy::model::{Body, DerivedRolesBody, Export, Named, Policy};
use crate::policy::name::{EXPORT_CONSTANTS, EXPORT_VARIABLES, set_key};

/// The sets that policies import, by key.
pub(super) struct Sets<'r> {
    pub(super) roles: HashMap<String, (&'r DerivedRolesBody, &'r Policy)>,
    variables: HashMap<String, &'r Export<ExprSource>>,
    constants: HashMap<String, &'r Export<Attr>>,
    /// Sets that could not be read in full: their missing definitions are not reported.
    unsound: HashSet<String>,
}

impl<'r> Sets<'r> {
    pub(super) fn new(policies: impl Iterator<Item = &'r Policy> + Clone) -> Self {
        let (mut roles, mut variables, mut constants) =
            (HashMap::new(), HashMap::new(), HashMap::new());
        for policy in policies.clone() {
            match &policy.body {
                Body::DerivedRoles(body) => {
                    roles.insert(policy.key(), (body, policy));
                }
                Body::ExportVariables(set) => {
                    variables.insert(policy.key(), set);
                }
                Body::ExportConstants(set) => {
                    constants.insert(policy.key(), set);
                }
                Body::Resource(_) | Body::Principal(_) | Body::Role(_) | Body::Limit(_) => {}
            }
        }
        let unsound = policies.filter(|policy| !policy.sound).map(Policy::key).collect();
        Self { roles, variables, constants, unsound }
    }

    /// Returns true if one of the imported sets could not be read in full.
    pub(super) fn any_unsound(&self, kind: &str, imports: &[Named]) -> bool {
        imports.iter().any(|import| self.unsound.contains(&set_key(kind, &import.name)))
    }

    pub(super) fn variables(&self, name: &str) -> Option<&'r Export<ExprSource>> {
        self.variables.get(&set_key(EXPORT_VARIABLES, name)).copied()
    }

    pub(super) fn constants(&self, name: &str) -> Option<&'r Export<Attr>> {
        self.constants.get(&set_key(EXPORT_CONSTANTS, name)).copied()
    }
}
