//! An instance of the plain module: the host's side of `docs/ABI.md`.

use serde_json::Value;
use wardgate_fastpath::layout::FRAME_WORDS;
use wardgate_fastpath::word;
use wardgate_native::decision_log::Evidence;
use wardgate_native::{Target, Timestamp};
use wasmtime::{InstancePre, Memory, Store, TypedFunc, WasmParams};

use crate::calls::{Calls, TextQuestion};
use crate::error::{HostError, Result};
use crate::recorded;
use crate::terms::{Moment, Terms};
use crate::values::Value as SlotValue;

/// An instance of the plain module.
pub(crate) struct ModuleInstance {
    store: Store<()>,
    memory: Memory,
    exports: Exports,
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

/// A function of the module.
type Call<P> = TypedFunc<P, i32>;

/// A call with a question as text: handle, address, length, seconds, nanoseconds.
type Question = Call<(i32, i32, i32, i64, i32)>;

/// Declares the functions of the module: a row holds the field, its type, and the exported name.
macro_rules! exports {
    ($($field:ident: $call:ty = $name:literal;)*) => {
        /// The functions of the module that this host calls.
        struct Exports {
            $($field: $call,)*
        }

        impl Exports {
            fn find(
                instance: &wasmtime::Instance,
                store: &mut Store<()>,
            ) -> Result<Self> {
                let missing = |error| HostError::code(&error);
                Ok(Self {
                    $($field: instance.get_typed_func(&mut *store, $name).map_err(missing)?,)*
                })
            }
        }
    };
}

exports! {
    version: Call<()> = "wardgate_version";
    frame: Call<()> = "wardgate_frame";
    alloc: Call<i32> = "wardgate_alloc";
    free: Call<i32> = "wardgate_free";
    answer: Call<()> = "wardgate_answer";
    answer_length: Call<()> = "wardgate_answer_length";
    open: Call<(i32, i32, i32, i32, i64, i64)> = "wardgate_open";
    reload: Call<(i32, i32, i32, i64, i64)> = "wardgate_reload";
    header: Call<i32> = "wardgate_header";
    is_allowed: Question = "wardgate_is_allowed";
    check: Question = "wardgate_check";
    explain: Question = "wardgate_explain";
    filter: Question = "wardgate_filter";
    evaluate: Question = "wardgate_evaluate";
    replay: Call<(i32, i32, i32, i64)> = "wardgate_replay";
    fast_path_list: Call<(i32, i32, i32, i32, i32)> = "wardgate_plan_list";
    fast_path: Call<(i32, i32)> = "wardgate_plan";
    principals: Call<i32> = "wardgate_principals";
    decide: Call<(i32, i32, i32)> = "wardgate_decide";
    decide_at: Call<(i32, i32, i32, i64)> = "wardgate_decide_at";
}

impl ModuleInstance {
    pub(crate) fn new(mut store: Store<()>, pre: &InstancePre<()>, ticks: u64) -> Result<Self> {
        let instance = pre.instantiate(&mut store).map_err(|error| HostError::busy(&error))?;
        let memory = instance.get_memory(&mut store, "memory").ok_or_else(|| HostError::Code {
            message: "the module exports no memory".to_owned(),
        })?;
        let exports = Exports::find(&instance, &mut store)?;
        let (block, handle) = (Block::default(), NOTHING);
        let mut this = Self { store, memory, exports, ticks, block, frame: 0, handle };
        let spoken = this.call(|exports| &exports.version, ())?;
        if spoken != VERSION {
            return Err(HostError::Version { found: spoken, expected: VERSION });
        }
        this.frame = position(this.call(|exports| &exports.frame, ())?)?;
        Ok(this)
    }

    fn header(&mut self) -> Result<Value> {
        self.json(|exports| &exports.header, self.handle)
    }

    /// Returns the fast paths of a kind, version and scope; `null` if it has none.
    pub(crate) fn fast_path_list(&mut self, names: [&str; 3]) -> Result<Value> {
        let (address, _) = self.write(names.concat().as_bytes())?;
        let lengths = names.map(|name| i32::try_from(name.len()).unwrap_or(i32::MAX));
        let [kind, version, scope] = lengths;
        let parameters = (self.handle, address, kind, version, scope);
        self.json(|exports| &exports.fast_path_list, parameters)
    }

    /// Returns a fast path; `null` if it does not exist.
    pub(crate) fn fast_path(&mut self, fast_path: u32) -> Result<Value> {
        self.json(|exports| &exports.fast_path, (self.handle, fast_path.cast_signed()))
    }

    /// Returns the principals with principal policies.
    pub(crate) fn principals(&mut self) -> Result<Value> {
        self.json(|exports| &exports.principals, self.handle)
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
    ) -> Result<Option<bool>> {
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
            None => self.exports.decide.call(&mut self.store, (handle, fast_path, roles)),
            Some(at) => {
                self.exports.decide_at.call(&mut self.store, (handle, fast_path, roles, at))
            }
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
    fn question(
        &mut self,
        call: fn(&Exports) -> &Question,
        json: &[u8],
        now: Timestamp,
    ) -> Result<i32> {
        let (address, length) = self.write(json)?;
        let (seconds, nanos) = (now.seconds(), now.nanos().cast_signed());
        self.count(call, (self.handle, address, length, seconds, nanos))
    }

    /// Makes a call whose result is an error if it is below zero.
    #[inline]
    fn count<P: WasmParams>(
        &mut self,
        call: fn(&Exports) -> &Call<P>,
        parameters: P,
    ) -> Result<i32> {
        let number = self.call(call, parameters)?;
        if number < 0 { Err(self.refusal()) } else { Ok(number) }
    }

    #[inline]
    fn call<P: WasmParams>(
        &mut self,
        call: fn(&Exports) -> &Call<P>,
        parameters: P,
    ) -> Result<i32> {
        self.store.set_epoch_deadline(self.ticks);
        let answer = call(&self.exports).call(&mut self.store, parameters);
        answer.map_err(|error| HostError::trapped(&error))
    }

    #[cold]
    fn refusal(&mut self) -> HostError {
        let length = self.call(|exports| &exports.answer_length, ());
        let text = length.and_then(|length| self.parsed(length));
        let refusal = text.unwrap_or(Value::Null);
        let member = |name| refusal.get(name).and_then(Value::as_str).map(str::to_owned);
        match (member("code"), member("message")) {
            (Some(code), Some(message)) => HostError::Refused { code, message },
            _ => HostError::Confused,
        }
    }

    /// Copies bytes into the memory for questions.
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> Result<(i32, i32)> {
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
    fn make_room(&mut self, bytes: usize) -> Result<()> {
        self.give_back()?;
        let capacity = bytes.max(LEAST_CAPACITY);
        let question = i32::try_from(capacity).map_err(|_| too_large(bytes))?;
        let address = self.call(|exports| &exports.alloc, question)?;
        if address == 0 {
            return Err(too_large(bytes));
        }
        self.block = Block { address, capacity };
        Ok(())
    }

    /// Frees memory that a bundle took: no question is as long.
    fn shrink(&mut self) -> Result<()> {
        if self.block.capacity > MAX_CAPACITY { self.give_back() } else { Ok(()) }
    }

    fn give_back(&mut self) -> Result<()> {
        let Block { address, capacity } = std::mem::take(&mut self.block);
        if capacity == 0 {
            return Ok(());
        }
        self.count(|exports| &exports.free, address).map(drop)
    }

    /// Makes a call that answers with JSON.
    fn json<P: WasmParams>(
        &mut self,
        call: fn(&Exports) -> &Call<P>,
        parameters: P,
    ) -> Result<Value> {
        let length = self.count(call, parameters)?;
        self.parsed(length)
    }

    /// Parses the answer, which has this length.
    fn parsed(&mut self, length: i32) -> Result<Value> {
        let answer = self.answer(length)?;
        if answer.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&answer).map_err(|_| HostError::Confused)
    }

    /// Copies the answer, which has this length.
    fn answer(&mut self, length: i32) -> Result<Vec<u8>> {
        let start = position(self.call(|exports| &exports.answer, ())?)?;
        let length = position(length)?;
        let memory = self.memory.data(&self.store).get(start..);
        let answer = memory.and_then(|memory| memory.get(..length));
        answer.map(<[u8]>::to_vec).ok_or(HostError::Confused)
    }
}

impl Calls for ModuleInstance {
    fn open(&mut self, bundle: &[u8], terms: &Terms, moment: Moment) -> Result<()> {
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
        let behind = address.wrapping_add(bundle);
        self.handle =
            self.count(|exports| &exports.open, (address, bundle, behind, terms, now, revision))?;
        self.shrink()
    }

    fn reload(&mut self, bundle: &[u8], moment: Moment) -> Result<()> {
        let (address, length) = self.write(bundle)?;
        let (now, revision) = numbers(moment);
        let outcome =
            self.count(|exports| &exports.reload, (self.handle, address, length, now, revision));
        self.shrink()?;
        outcome.map(drop)
    }

    fn revision(&mut self) -> Result<u64> {
        self.header()?.get("revision").and_then(Value::as_u64).ok_or(HostError::Confused)
    }

    fn can_expire(&mut self) -> Result<bool> {
        Ok(self.header()?.get("expires").is_some_and(|expires| !expires.is_null()))
    }

    fn is_allowed(&mut self, json: &[u8], now: Timestamp) -> Result<bool> {
        match self.question(|exports| &exports.is_allowed, json, now)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(HostError::Confused),
        }
    }

    fn ask(&mut self, question: TextQuestion, json: &[u8], now: Timestamp) -> Result<Vec<u8>> {
        let call: fn(&Exports) -> &Question = match question {
            TextQuestion::Check => |exports| &exports.check,
            TextQuestion::Explain => |exports| &exports.explain,
            TextQuestion::Evaluate => |exports| &exports.evaluate,
        };
        let length = self.question(call, json, now)?;
        self.answer(length)
    }

    fn filter(&mut self, json: &[u8], now: Timestamp) -> Result<Vec<u32>> {
        let length = self.question(|exports| &exports.filter, json, now)?;
        let answer = self.answer(length)?;
        let (positions, rest) = answer.as_chunks();
        if !rest.is_empty() {
            return Err(HostError::Confused);
        }
        Ok(positions.iter().map(|position| u32::from_le_bytes(*position)).collect())
    }

    fn replay(
        &mut self,
        targets: &[Target<'_>],
        evidence: Evidence<'_>,
        micros: i64,
    ) -> Result<Vec<Option<bool>>> {
        let Some(decision) = recorded::bytes(targets, evidence) else {
            return Ok(vec![None; targets.len()]);
        };
        let (address, length) = self.write(&decision)?;
        let parameters = (self.handle, address, length, micros);
        let length = self.count(|exports| &exports.replay, parameters)?;
        let answers = recorded::answers(&self.answer(length)?).ok_or(HostError::Confused)?;
        if answers.len() == targets.len() { Ok(answers) } else { Err(HostError::Confused) }
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

/// Converts an address or a length, which is unsigned.
fn position(number: i32) -> Result<usize> {
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
