//! One instance of the code, in either form.

use crate::calls::Calls;
use crate::component::ComponentInstance;
use crate::module::ModuleInstance;

/// One instance of the code.
pub(crate) enum Instance {
    Module(Box<ModuleInstance>),
    Component(Box<ComponentInstance>),
}

impl Instance {
    /// Returns the calls that both forms answer.
    pub(crate) fn calls(&mut self) -> &mut dyn Calls {
        match self {
            Self::Module(instance) => &mut **instance,
            Self::Component(instance) => &mut **instance,
        }
    }
}
