//! Stands in for the plans of the engine until a table carries them: there are none.

use wardgate_engine::table::PolicyTable;
use wardgate_plan::{PlanList, Plans};

pub(crate) trait TablePlans {
    fn plans(&self) -> Plans<'_>;
    fn plan_list(&self, kind: &str, version: &str, scope: &str) -> Option<PlanList<'_>>;
    fn principals(&self) -> impl Iterator<Item = &str>;
}

impl TablePlans for PolicyTable {
    fn plans(&self) -> Plans<'_> {
        Plans::new(&[])
    }

    fn plan_list(&self, _: &str, _: &str, _: &str) -> Option<PlanList<'_>> {
        None
    }

    fn principals(&self) -> impl Iterator<Item = &str> {
        [].into_iter()
    }
}
