//! The code that decides, compiled once for the process.

use std::sync::Arc;

use wasmtime::component::{Component, Linker as ComponentLinker};
use wasmtime::{
    Config, Engine, InstanceAllocationStrategy, InstancePre, Linker, Module, OptLevel,
    PoolingAllocationConfig, Store,
};

use crate::component::{ComponentInstance, WardgatePre};
use crate::error::{HostError, Result};
use crate::instance::Instance;
use crate::limits::{Limits, MAX_CORES, MAX_INSTANCE_BYTES, MAX_TABLE_ELEMENTS, MAX_TABLES};
use crate::module::ModuleInstance;
use crate::ticker::Ticker;

/// The module or the component, compiled. Clones are cheap and share everything.
#[derive(Clone)]
pub struct Code {
    shared: Arc<Shared>,
}

struct Shared {
    engine: Engine,
    form: Form,
    limits: Limits,
    // The last field, so that the engine still exists while the thread ends.
    _ticker: Ticker,
}

/// The compiled code, with its imports resolved: it has none.
enum Form {
    Module(InstancePre<()>),
    Component(WardgatePre<()>),
}

impl Code {
    /// Compiles the module or the component, which is slow: once for a process is enough.
    ///
    /// The bytes are trusted to decide, not to behave: `limits` bound them, and they have no
    /// imports to call.
    ///
    /// # Errors
    /// The bytes are no such code, import something, or need more than `limits` grant.
    pub fn compile(code: &[u8], limits: Limits) -> Result<Self, HostError> {
        let engine = Engine::new(&config(&limits)).map_err(|error| HostError::code(&error))?;
        let form = Form::compile(&engine, code).map_err(|error| HostError::code(&error))?;
        let ticker = Ticker::start(&engine, limits.tick())?;
        Ok(Self { shared: Arc::new(Shared { engine, form, limits, _ticker: ticker }) })
    }

    /// Makes an instance without an open bundle.
    pub(crate) fn instance(&self) -> Result<Instance> {
        let Shared { engine, form, limits, .. } = &*self.shared;
        let mut store = Store::new(engine, ());
        store.set_epoch_deadline(limits.ticks());
        match form {
            Form::Module(pre) => {
                let instance = ModuleInstance::new(store, pre, limits.ticks())?;
                Ok(Instance::Module(Box::new(instance)))
            }
            Form::Component(pre) => {
                let instance = ComponentInstance::new(store, pre, limits.ticks())?;
                Ok(Instance::Component(Box::new(instance)))
            }
        }
    }
}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Code").field("limits", &self.shared.limits).finish_non_exhaustive()
    }
}

impl Form {
    fn compile(engine: &Engine, code: &[u8]) -> wasmtime::Result<Self> {
        // The fifth and sixth byte are the version, the next two distinguish a component from a
        // module.
        if code.get(6..8) == Some(&[1, 0]) {
            let component = Component::from_binary(engine, code)?;
            let pre = ComponentLinker::new(engine).instantiate_pre(&component)?;
            return WardgatePre::new(pre).map(Self::Component);
        }
        let module = Module::from_binary(engine, code)?;
        Linker::new(engine).instantiate_pre(&module).map(Self::Module)
    }
}

fn config(limits: &Limits) -> Config {
    let mut pool = PoolingAllocationConfig::new();
    // A component consists of several modules; only one of them has a memory.
    pool.total_core_instances(limits.instances.saturating_mul(MAX_CORES))
        .total_component_instances(limits.instances)
        .total_memories(limits.instances)
        .total_tables(limits.instances.saturating_mul(MAX_TABLES))
        .max_memories_per_module(1)
        .max_memories_per_component(1)
        .max_core_instances_per_component(MAX_CORES)
        .max_tables_per_module(MAX_TABLES)
        .max_tables_per_component(MAX_TABLES)
        .table_elements(MAX_TABLE_ELEMENTS)
        .max_core_instance_size(MAX_INSTANCE_BYTES)
        .max_component_instance_size(MAX_INSTANCE_BYTES)
        .max_memory_size(limits.memory);
    let mut config = Config::new();
    config
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool))
        .epoch_interruption(true)
        .cranelift_opt_level(OptLevel::Speed)
        .wasm_backtrace_max_frames(None);
    config
}
