//! Programs about topics, answered without running them.
//!
//! A fast path with more tests than slots has programs instead. Where the topic is the text of a
//! topic name, a program that is `matchesTopic` of it, alone or before a `&&`, is answered here, and
//! an [`Index`] leaves out the rules whose patterns do not match. In any other case the programs run.

use std::collections::BTreeMap;

use wardgate_engine::cel::Timestamp;
use wardgate_engine::fastpath::Contents;
use wardgate_engine::fastpath::topics::{MAX_WORD_BYTES, TopicProgram, topic_program};
use wardgate_engine::limits::MAX_FAST_PATH_STEPS;
use wardgate_engine::table::PolicyTable;
use wardgate_fastpath::{Answer, FastPath, Programs, Slots, Truth};
use wardgate_mqtt::{Limits, Name, OwnedFilter};

use crate::fast::decide::Roles;
use crate::fast::input::SlotValue;
use crate::fast::path::{Slot, SlotRoot};
use crate::fast::topic::filled_matches;
use crate::fast::topic::index::{Asked, Index};
use crate::field::Field;

/// The programs of a fast path about the topic of the resource.
#[derive(Debug)]
pub(crate) struct Topics {
    /// The slot of the topic.
    slot: usize,
    /// The programs by their numbers, sorted.
    programs: Box<[(u32, Program)]>,
    index: Index,
    /// The most steps that the general path takes for all programs, but for reading the topic.
    steps: usize,
    /// The number of times that they read the topic.
    reads: usize,
    /// True if no other program may run.
    is_complete: bool,
}

/// A program that is false where the topic matches no pattern.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) patterns: Box<[OwnedFilter]>,
    /// The slots of the words of the one pattern; none if the patterns are constant.
    pub(super) words: Box<[usize]>,
    /// True if it is true where a pattern matches.
    is_whole: bool,
}

/// A topic that the programs are asked about.
#[derive(Clone, Copy)]
pub(crate) struct Topic<'t, 'n> {
    topics: &'t Topics,
    name: Name<'n>,
    /// The most steps that the general path takes for the programs.
    steps: u32,
}

impl Topics {
    /// Reads the programs of a fast path; `None` if none is about the topic. `room` is the number of
    /// patterns that indexes may still have.
    pub(crate) fn new(
        table: &PolicyTable,
        fast_path: &FastPath<'_>,
        slots: &[Slot],
        room: &mut usize,
    ) -> Option<Self> {
        let slot = slots.iter().position(is_topic)?;
        let pool = table.pool();
        let offsets: Vec<Option<u32>> =
            fast_path.slots().map(|slot| slot.test.is_none().then_some(slot.slot)).collect();
        let place = |offset: &u32| offsets.iter().position(|known| known == &Some(*offset));
        let of = |program| topic_program(&pool, program).filter(|it| place(&it.slot) == Some(slot));
        let mut found: BTreeMap<u32, Option<TopicProgram<'_>>> = BTreeMap::new();
        let (mut steps, mut reads, mut is_complete) = (0_usize, 0_usize, true);
        for program in fast_path.lists().flatten().flat_map(|entry| fast_path.programs(entry)) {
            match found.entry(program).or_insert_with(|| of(program)) {
                Some(program) => {
                    steps = steps.saturating_add(program.steps);
                    reads = reads.saturating_add(program.reads);
                    is_complete &= program.is_whole;
                }
                None => is_complete = false,
            }
        }
        let unpacked = |(number, program): (u32, Option<TopicProgram<'_>>)| {
            Some((number, Program::unpack(&program?, place)?))
        };
        let programs: Box<[_]> = found.into_iter().filter_map(unpacked).collect();
        let mut topics =
            Self { slot, programs, index: Index::default(), steps, reads, is_complete };
        topics.index = Index::new(fast_path, &|program| topics.find(program), room);
        (!topics.programs.is_empty()).then_some(topics)
    }

    /// Returns the topic of a question, whose slots `read` reads; `None` if the programs have to run.
    #[inline]
    pub(crate) fn asked<'n>(&self, read: impl Fn(usize) -> SlotValue<'n>) -> Option<Topic<'_, 'n>> {
        let SlotValue::Field(Field::Text(text)) = read(self.slot) else { return None };
        let name = Name::within(text, &Limits::WIDEST).ok()?;
        // So no answer is one where the general path would reach its limit.
        let steps = self.reads.saturating_mul(1 + text.len() / 16).saturating_add(self.steps);
        let steps = u32::try_from(steps).ok().filter(|steps| *steps <= MAX_FAST_PATH_STEPS)?;
        Some(Topic { topics: self, name, steps })
    }

    /// Returns true if no program runs for a text that is a topic name.
    pub(crate) const fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Returns true if it does not try every rule.
    #[cfg(test)]
    pub(super) fn is_indexed(&self) -> bool {
        !self.index.is_empty()
    }

    fn find(&self, program: u32) -> Option<&Program> {
        let found = self.programs.binary_search_by_key(&program, |(number, _)| *number);
        found.ok().and_then(|position| self.programs.get(position)).map(|(_, program)| program)
    }
}

impl Topic<'_, '_> {
    /// Returns the most steps that the general path takes for all programs.
    pub(crate) const fn steps(&self) -> u32 {
        self.steps
    }

    /// Decides by the fast path of the programs.
    pub(crate) fn decide<'r>(
        self,
        (table, fast_path): (&PolicyTable, u32),
        roles: &Roles,
        (frame, contents): (&impl Slots, &dyn Contents),
        read: &dyn Fn(usize) -> SlotValue<'r>,
        now: Timestamp,
    ) -> Answer {
        let selection = Asked::new(&self.topics.index, self.name);
        let left = MAX_FAST_PATH_STEPS.saturating_sub(self.steps);
        table.decide_by(fast_path, (frame, contents), (now, left), |fast_path, programs| {
            let programs = &Answered { topic: self, read, contents, programs };
            match roles {
                Roles::Mask(mask) => fast_path.decide_selected(*mask, &selection, frame, programs),
                Roles::Classes(classes, count) => {
                    let classes = classes.get(..*count).unwrap_or(&[]);
                    fast_path.decide_classes_selected(classes, &selection, frame, programs)
                }
            }
        })
    }
}

/// Programs, of which those about the topic do not run.
struct Answered<'d, 'r> {
    topic: Topic<'d, 'd>,
    read: &'d dyn Fn(usize) -> SlotValue<'r>,
    contents: &'d dyn Contents,
    programs: &'d dyn Programs,
}

impl Programs for Answered<'_, '_> {
    fn run(&self, program: u32) -> Option<Truth> {
        let Topic { topics, name, .. } = self.topic;
        let known = topics.find(program);
        if let Some(truth) = known.and_then(|program| program.truth(name, self.read)) {
            let steps = 1 + u32::try_from(name.text().len() / 16).unwrap_or(u32::MAX);
            return self.contents.pays(steps).then_some(truth);
        }
        self.programs.run(program)
    }
}

impl Program {
    fn unpack(program: &TopicProgram<'_>, place: impl Fn(&u32) -> Option<usize>) -> Option<Self> {
        let words: Option<Box<[usize]>> = program.words.iter().map(place).collect();
        Some(Self {
            patterns: program.patterns.iter().copied().map(OwnedFilter::from).collect(),
            words: words?,
            is_whole: program.is_whole,
        })
    }

    /// Returns the result for a topic; `None` if the program has to run for it.
    fn truth<'r>(&self, name: Name<'_>, read: &dyn Fn(usize) -> SlotValue<'r>) -> Option<Truth> {
        let is_matched = if self.words.is_empty() {
            self.patterns.iter().any(|pattern| pattern.filter().matches(name))
        } else {
            self.is_filled_match(name, read)?
        };
        match (is_matched, self.is_whole) {
            (false, _) => Some(Truth::False),
            (true, true) => Some(Truth::True),
            (true, false) => None,
        }
    }

    fn is_filled_match<'r>(
        &self,
        name: Name<'_>,
        read: &dyn Fn(usize) -> SlotValue<'r>,
    ) -> Option<bool> {
        let mut words = self.words.iter().map(|slot| match read(*slot) {
            SlotValue::Field(Field::Text(word)) if word.len() <= MAX_WORD_BYTES => Some(word),
            _ => None,
        });
        filled_matches(self.patterns.first()?.filter(), || words.next().flatten(), name)
    }
}

fn is_topic(slot: &Slot) -> bool {
    let is_topic = |path: &[Box<str>]| matches!(path, [name] if &**name == "topic");
    slot.root == SlotRoot::ResourceAttr && slot.test.is_none() && is_topic(&slot.path)
}
