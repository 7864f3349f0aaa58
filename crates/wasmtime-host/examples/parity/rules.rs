//! The module of SPOCP in wasmtime, by its plain calls: the same module that the package runs.

use wasmtime::{Engine, Instance, Memory, Module, Result, Store, bail};

/// The module, compiled once.
pub(crate) struct Rules {
    module: Module,
}

impl Rules {
    pub(crate) fn compile(code: &[u8]) -> Result<Self> {
        Ok(Self { module: Module::new(&Engine::default(), code)? })
    }

    /// Answers queries to packed rules, as `answer` in `tests/src/rules.rs` does.
    pub(crate) fn answers(&self, packed: &[u8], queries: &[Vec<u8>]) -> Result<Vec<Vec<u8>>> {
        let mut instance = RuleInstance::start(&self.module)?;
        let length = instance.put(packed)?;
        if instance.call("open", length)? < 0 {
            return Ok(vec![b"malformed-rules".to_vec()]);
        }
        queries.iter().map(|query| instance.answer(query)).collect()
    }
}

/// An instance with the rules of one bundle.
struct RuleInstance {
    store: Store<()>,
    instance: Instance,
    memory: Memory,
}

impl RuleInstance {
    fn start(module: &Module) -> Result<Self> {
        let mut store = Store::new(module.engine(), ());
        let instance = Instance::new(&mut store, module, &[])?;
        let Some(memory) = instance.get_memory(&mut store, "memory") else { bail!("no memory") };
        Ok(Self { store, instance, memory })
    }

    fn answer(&mut self, query: &[u8]) -> Result<Vec<u8>> {
        let length = self.put(query)?;
        let is_allowed = self.call("allows", length)?;
        if is_allowed < 0 {
            let offset = self.call0("wrongAt")?;
            let length = self.call0("wrong")?;
            let why = self.read(length)?;
            return Ok([format!("malformed-query {offset} ").into_bytes(), why].concat());
        }
        let first = self.numbers("first", length)?.first().map(ToString::to_string);
        let numbers = self.numbers("matches", length)?;
        let all: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        let first = first.unwrap_or_else(|| "-".to_owned());
        let mut answer = format!("{} {first} {}", is_allowed == 1, all.join(",")).into_bytes();
        for number in numbers {
            for form in ["advanced", "canonical"] {
                let length = self.call(form, number)?;
                answer.push(b' ');
                answer.extend(self.read(length)?);
            }
        }
        Ok(answer)
    }

    fn numbers(&mut self, call: &str, length: u32) -> Result<Vec<u32>> {
        let length = self.call(call, length)?;
        let bytes = self.read(length)?;
        Ok(bytes.as_chunks().0.iter().map(|number| u32::from_le_bytes(*number)).collect())
    }

    /// Writes bytes into the room, and returns their length.
    fn put(&mut self, bytes: &[u8]) -> Result<u32> {
        let length = u32::try_from(bytes.len())?;
        let room = usize::try_from(self.call("room", length)?.cast_unsigned())?;
        self.memory.write(&mut self.store, room, bytes)?;
        Ok(length)
    }

    /// Reads an answer of this length.
    fn read(&mut self, length: i32) -> Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(length)?];
        let address = usize::try_from(self.call0("answer")?.cast_unsigned())?;
        self.memory.read(&self.store, address, &mut bytes)?;
        Ok(bytes)
    }

    fn call(&mut self, name: &str, given: u32) -> Result<i32> {
        let call = self.instance.get_typed_func::<u32, i32>(&mut self.store, name)?;
        call.call(&mut self.store, given)
    }

    fn call0(&mut self, name: &str) -> Result<i32> {
        let call = self.instance.get_typed_func::<(), i32>(&mut self.store, name)?;
        call.call(&mut self.store, ())
    }
}
