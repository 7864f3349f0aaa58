//! An instance of the plain module: the host's side of `docs/ABI.md`.

use serde_json::Value;
use wardgate_fastpath::layout::FRAME_WORDS;
use wardgate_fastpath::word;
use wardgate_native::Timestamp;
use wasmtime::{InstancePre, Memory, Store, TypedFunc, WasmParams, WasmResults};

use crate::error::HostError;
use crate::instance::TextQuestion;
use crate::terms::{Moment, Terms};
use crate::values::Value as SlotValue;

/// An instance of the plain module.
pub(crate) struct ModuleInstance {
    store: Store<()>,
    memory: Memory,
    calls: Calls,
    /// The number of ticks that one call may see.
    ticks: u64,
    /// The memory for questions.
    block: Block,
    /// The address of the frame.
    frame: usize,
    handle: i32,
}

/// Memory of the module that belongs to the host.
#[derive(Clone, Copy, Default)]
struct Block {
    address: i32,
    capacity: usize,
}

/// The frame in the memory of the module.
pub(crate) struct Frame<'a> {
    words: &'a mut [[u8; 4]],
    numbers: &'a mut [[u8; 8]],
}

/// A call with a question as text: handle, address, length, seconds, nanoseconds.
type Question = TypedFunc<(i32, i32, i32, i64, i32), i32>;

struct Calls {
    alloc: TypedFunc<i32, i32>,
    free: TypedFunc<i32, i32>,
    answer: TypedFunc<(), i32>,
    answer_length: TypedFunc<(), i32>,
    open: TypedFunc<(i32, i32, i32, i32, i64, i64), i32>,
    reload: TypedFunc<(i32, i32, i32, i64, i64), i32>,
    header: TypedFunc<i32, i32>,
    is_allowed: Question,
    check: Question,
    explain: Question,
    filter: Question,
    evaluate: Question,
    fast_path_list: TypedFunc<(i32, i32, i32, i32, i32), i32>,
    fast_path: TypedFunc<(i32, i32), i32>,
    principals: TypedFunc<i32, i32>,
    decide: TypedFunc<(i32, i32, i32), i32>,
    decide_at: TypedFunc<(i32, i32, i32, i64), i32>,
}

impl ModuleInstance {
    pub(crate) fn new(
        mut store: Store<()>,
        pre: &InstancePre<()>,
        ticks: u64,
    ) -> Result<Self, HostError> {
        let instance = pre.instantiate(&mut store).map_err(|error| HostError::busy(&error))?;
        let memory = instance.get_memory(&mut store, "memory").ok_or_else(|| HostError::Code {
            message: "the module exports no memory".to_owned(),
        })?;
        let version: TypedFunc<(), i32> = found(&instance, &mut store, "wardgate_version")?;
        let frame: TypedFunc<(), i32> = found(&instance, &mut store, "wardgate_frame")?;
        let calls = Calls::find(&instance, &mut store)?;
        let (block, handle) = (Block::default(), NOTHING);
        let mut this = Self { store, memory, calls, ticks, block, frame: 0, handle };
        let spoken = this.call(&version, ())?;
        if spoken != VERSION {
            return Err(HostError::Version { found: spoken, expected: VERSION });
        }
        this.frame = position(this.call(&frame, ())?)?;
        Ok(this)
    }

    pub(crate) fn open(
        &mut self,
        bundle: &[u8],
        terms: &Terms,
        moment: Moment,
    ) -> Result<(), HostError> {
        let terms = terms.bytes().ok_or_else(|| HostError::Refused {
            code: "invalid-terms".to_owned(),
            message: "the terms are malformed".to_owned(),
        })?;
        let both = [bundle, terms.as_slice()].concat();
        let (address, _) = self.write(&both)?;
        let [bundle, terms] = [bundle.len(), terms.len()].map(i32::try_from);
        let (bundle, terms) =
            (bundle.map_err(|_| HostError::Confused)?, terms.map_err(|_| HostError::Confused)?);
        let (now, revision) = numbers(moment);
        let open = self.calls.open.clone();
        let behind = address.wrapping_add(bundle);
        self.handle = self.count(&open, (address, bundle, behind, terms, now, revision))?;
        self.shrink()
    }

    pub(crate) fn reload(&mut self, bundle: &[u8], moment: Moment) -> Result<(), HostError> {
        let (address, length) = self.write(bundle)?;
        let (now, revision) = numbers(moment);
        let reload = self.calls.reload.clone();
        let outcome = self.count(&reload, (self.handle, address, length, now, revision));
        self.shrink()?;
        outcome.map(drop)
    }

    pub(crate) fn revision(&mut self) -> Result<u64, HostError> {
        self.header()?.get("revision").and_then(Value::as_u64).ok_or(HostError::Confused)
    }

    /// Returns true if the open bundle has a date on which it expires.
    pub(crate) fn can_expire(&mut self) -> Result<bool, HostError> {
        Ok(self.header()?.get("expires").is_some_and(|expires| !expires.is_null()))
    }

    fn header(&mut self) -> Result<Value, HostError> {
        let header = self.calls.header.clone();
        let length = self.count(&header, self.handle)?;
        self.json(length)
    }

    pub(crate) fn is_allowed(&mut self, json: &[u8], now: Timestamp) -> Result<bool, HostError> {
        let call = self.calls.is_allowed.clone();
        match self.question(&call, json, now)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(HostError::Confused),
        }
    }

    pub(crate) fn ask(
        &mut self,
        question: TextQuestion,
        json: &[u8],
        now: Timestamp,
    ) -> Result<Vec<u8>, HostError> {
        let call = match question {
            TextQuestion::Check => &self.calls.check,
            TextQuestion::Explain => &self.calls.explain,
            TextQuestion::Evaluate => &self.calls.evaluate,
        };
        let call = call.clone();
        let length = self.question(&call, json, now)?;
        self.answer(length)
    }

    pub(crate) fn filter(&mut self, json: &[u8], now: Timestamp) -> Result<Vec<u32>, HostError> {
        let call = self.calls.filter.clone();
        let length = self.question(&call, json, now)?;
        let answer = self.answer(length)?;
        let (positions, rest) = answer.as_chunks();
        if !rest.is_empty() {
            return Err(HostError::Confused);
        }
        Ok(positions.iter().map(|position| u32::from_le_bytes(*position)).collect())
    }

    /// Returns the fast paths of a kind, version and scope; `null` if it has none.
    pub(crate) fn fast_path_list(&mut self, names: [&str; 3]) -> Result<Value, HostError> {
        let (address, _) = self.write(names.concat().as_bytes())?;
        let lengths = names.map(|name| i32::try_from(name.len()).unwrap_or(i32::MAX));
        let [kind, version, scope] = lengths;
        let call = self.calls.fast_path_list.clone();
        let length = self.count(&call, (self.handle, address, kind, version, scope))?;
        self.json(length)
    }

    /// Returns a fast path; `null` if it does not exist.
    pub(crate) fn fast_path(&mut self, fast_path: u32) -> Result<Value, HostError> {
        let call = self.calls.fast_path.clone();
        let length = self.count(&call, (self.handle, fast_path.cast_signed()))?;
        self.json(length)
    }

    /// Returns the principals with principal policies.
    pub(crate) fn principals(&mut self) -> Result<Value, HostError> {
        let call = self.calls.principals.clone();
        let length = self.count(&call, self.handle)?;
        self.json(length)
    }

    /// Fills the frame by `fill`, and decides on it by a fast path for roles with these masks.
    /// Returns `None` if the question must be sent as text, or `fill` returns `None`.
    #[inline]
    pub(crate) fn decide(
        &mut self,
        fast_path: u64,
        roles: u32,
        seconds: Option<i64>,
        fill: impl FnOnce(&mut Frame<'_>) -> Option<()>,
    ) -> Result<Option<bool>, HostError> {
        let memory = self.memory.data_mut(&mut self.store);
        let frame = memory.get_mut(self.frame..).and_then(<[u8]>::first_chunk_mut);
        if fill(&mut Frame::of(frame.ok_or(HostError::Confused)?)).is_none() {
            return Ok(None);
        }
        self.store.set_epoch_deadline(self.ticks);
        let fast_path = u32::try_from(fast_path).map_err(|_| HostError::Confused)?;
        let (handle, fast_path, roles) =
            (self.handle, fast_path.cast_signed(), roles.cast_signed());
        let answer = match seconds {
            None => self.calls.decide.call(&mut self.store, (handle, fast_path, roles)),
            Some(at) => self.calls.decide_at.call(&mut self.store, (handle, fast_path, roles, at)),
        };
        match answer {
            Ok(0) => Ok(Some(false)),
            Ok(1) => Ok(Some(true)),
            Ok(2) => Ok(None),
            Ok(_) => Err(HostError::Confused),
            Err(error) => Err(HostError::trapped(&error)),
        }
    }

    #[inline]
    fn question(&mut self, call: &Question, json: &[u8], now: Timestamp) -> Result<i32, HostError> {
        let (address, length) = self.write(json)?;
        let (seconds, nanos) = (now.seconds(), now.nanos().cast_signed());
        self.count(call, (self.handle, address, length, seconds, nanos))
    }

    /// Makes a call whose result is an error if it is below zero.
    #[inline]
    fn count<P: WasmParams>(
        &mut self,
        call: &TypedFunc<P, i32>,
        parameters: P,
    ) -> Result<i32, HostError> {
        let number = self.call(call, parameters)?;
        if number < 0 { Err(self.refusal()) } else { Ok(number) }
    }

    #[inline]
    fn call<P: WasmParams, R: WasmResults>(
        &mut self,
        call: &TypedFunc<P, R>,
        parameters: P,
    ) -> Result<R, HostError> {
        self.store.set_epoch_deadline(self.ticks);
        call.call(&mut self.store, parameters).map_err(|error| HostError::trapped(&error))
    }

    #[cold]
    fn refusal(&mut self) -> HostError {
        let length = self.calls.answer_length.clone();
        let text = self.call(&length, ()).and_then(|length| self.json(length));
        let refusal = text.unwrap_or(Value::Null);
        let member = |name| refusal.get(name).and_then(Value::as_str).map(str::to_owned);
        match (member("code"), member("message")) {
            (Some(code), Some(message)) => HostError::Refused { code, message },
            _ => HostError::Confused,
        }
    }

    /// Copies bytes into the memory for questions.
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> Result<(i32, i32), HostError> {
        if bytes.len() > self.block.capacity {
            self.make_room(bytes.len())?;
        }
        let length = i32::try_from(bytes.len()).map_err(|_| HostError::Confused)?;
        let start = position(self.block.address)?;
        let memory = self.memory.data_mut(&mut self.store);
        let block = memory.get_mut(start..).and_then(|memory| memory.get_mut(..bytes.len()));
        block.ok_or(HostError::Confused)?.copy_from_slice(bytes);
        Ok((self.block.address, length))
    }

    #[cold]
    fn make_room(&mut self, bytes: usize) -> Result<(), HostError> {
        self.give_back()?;
        let capacity = bytes.max(LEAST_CAPACITY);
        let question = i32::try_from(capacity).map_err(|_| too_large(bytes))?;
        let alloc = self.calls.alloc.clone();
        let address = self.call(&alloc, question)?;
        if address == 0 {
            return Err(too_large(bytes));
        }
        self.block = Block { address, capacity };
        Ok(())
    }

    /// Frees memory that a bundle took: no question is as long.
    fn shrink(&mut self) -> Result<(), HostError> {
        if self.block.capacity > MAX_CAPACITY { self.give_back() } else { Ok(()) }
    }

    fn give_back(&mut self) -> Result<(), HostError> {
        let Block { address, capacity } = std::mem::take(&mut self.block);
        if capacity == 0 {
            return Ok(());
        }
        let free = self.calls.free.clone();
        self.count(&free, address).map(drop)
    }

    fn json(&mut self, length: i32) -> Result<Value, HostError> {
        let answer = self.answer(length)?;
        if answer.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&answer).map_err(|_| HostError::Confused)
    }

    /// Copies the answer, which has this length.
    fn answer(&mut self, length: i32) -> Result<Vec<u8>, HostError> {
        let answer = self.calls.answer.clone();
        let (start, length) = (position(self.call(&answer, ())?)?, position(length)?);
        let memory = self.memory.data(&self.store).get(start..);
        let answer = memory.and_then(|memory| memory.get(..length));
        answer.map(<[u8]>::to_vec).ok_or(HostError::Confused)
    }
}

impl<'a> Frame<'a> {
    #[inline]
    const fn of(bytes: &'a mut [u8; FRAME_BYTES]) -> Self {
        let (words, numbers) = bytes.split_at_mut(FRAME_WORDS * 4);
        Self { words: words.as_chunks_mut().0, numbers: numbers.as_chunks_mut().0 }
    }

    /// Writes the value of a slot. A slot that no fast path can have is ignored.
    #[inline]
    pub(crate) fn put(&mut self, slot: usize, value: SlotValue) {
        let word = match value {
            SlotValue::Missing => word::MISSING,
            SlotValue::Broken => word::BROKEN,
            SlotValue::Null => word::NULL,
            SlotValue::Bool(false) => word::FALSE,
            SlotValue::Bool(true) => word::TRUE,
            SlotValue::Text(word) => word,
            SlotValue::Number(number) => {
                if let Some(position) = self.numbers.get_mut(slot) {
                    *position = number.to_le_bytes();
                }
                word::NUMBER
            }
        };
        if let Some(position) = self.words.get_mut(slot) {
            *position = word.to_le_bytes();
        }
    }
}

impl Calls {
    fn find(instance: &wasmtime::Instance, store: &mut Store<()>) -> Result<Self, HostError> {
        Ok(Self {
            alloc: found(instance, store, "wardgate_alloc")?,
            free: found(instance, store, "wardgate_free")?,
            answer: found(instance, store, "wardgate_answer")?,
            answer_length: found(instance, store, "wardgate_answer_length")?,
            open: found(instance, store, "wardgate_open")?,
            reload: found(instance, store, "wardgate_reload")?,
            header: found(instance, store, "wardgate_header")?,
            is_allowed: found(instance, store, "wardgate_is_allowed")?,
            check: found(instance, store, "wardgate_check")?,
            explain: found(instance, store, "wardgate_explain")?,
            filter: found(instance, store, "wardgate_filter")?,
            evaluate: found(instance, store, "wardgate_evaluate")?,
            fast_path_list: found(instance, store, "wardgate_plan_list")?,
            fast_path: found(instance, store, "wardgate_plan")?,
            principals: found(instance, store, "wardgate_principals")?,
            decide: found(instance, store, "wardgate_decide")?,
            decide_at: found(instance, store, "wardgate_decide_at")?,
        })
    }
}

fn found<P: WasmParams, R: WasmResults>(
    instance: &wasmtime::Instance,
    store: &mut Store<()>,
    name: &str,
) -> Result<TypedFunc<P, R>, HostError> {
    instance.get_typed_func(store, name).map_err(|error| HostError::code(&error))
}

/// Converts an address or a length, which is unsigned.
fn position(number: i32) -> Result<usize, HostError> {
    usize::try_from(number.cast_unsigned()).map_err(|_| HostError::Confused)
}

/// Converts a moment for the module: a time below zero means none.
fn numbers(moment: Moment) -> (i64, i64) {
    let now = moment.now.map_or(-1, |now| i64::try_from(now).unwrap_or(i64::MAX));
    (now, i64::try_from(moment.min_revision).unwrap_or(i64::MAX))
}

fn too_large(bytes: usize) -> HostError {
    HostError::Refused {
        code: "too-large".to_owned(),
        message: format!("the instance has no room for {bytes} bytes"),
    }
}

/// The bytes of a frame: its words, then its numbers.
const FRAME_BYTES: usize = FRAME_WORDS * (4 + 8);

/// The version of the plain calls that this host uses.
const VERSION: i32 = 1;

/// The handle before a bundle is open.
const NOTHING: i32 = -1;

/// The least memory for questions in bytes: it fits most of them, so they never allocate.
const LEAST_CAPACITY: usize = 4096;

/// The most memory that stays allocated between questions, in bytes.
const MAX_CAPACITY: usize = 1 << 20;
