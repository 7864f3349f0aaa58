//! What earlier records of a log define for later ones.

use std::collections::HashMap;

use wardgate_decision_log::record::{Body, Decision, Outcome, Policies, Target};

/// The policies and targets that the log has defined so far.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// By the numbers of their policies and their own.
    targets: HashMap<(u32, u32), Target>,
    policies: HashMap<u32, Policies>,
}

impl Names {
    /// Learns what a record defines.
    pub fn learn(&mut self, body: &Body) {
        match body {
            Body::Target(target) => {
                self.targets.insert((target.policies, target.number), target.clone());
            }
            Body::Policies(policies) => {
                self.policies.insert(policies.number, policies.clone());
            }
            _ => {}
        }
    }

    /// Returns the target of an outcome, if it is defined.
    #[must_use]
    pub fn target(&self, decision: &Decision, outcome: &Outcome) -> Option<&Target> {
        self.targets.get(&(decision.policies, outcome.target))
    }

    /// Returns the policies of a decision, if they are defined.
    #[must_use]
    pub fn policies(&self, decision: &Decision) -> Option<&Policies> {
        self.policies.get(&decision.policies)
    }
}
