//! Programs about topics, answered without running them.
//!
//! A fast path with more tests than slots has programs instead. Where the topic is the text of a
//! topic name, a program that is `matchesTopic` of it, alone or before a `&&`, is answered here, and
//! an [`Index`] leaves out the rules whose patterns do not match. In any other case the programs run.

use std::cell::Cell;
use std::collections::BTreeMap;

use wardgate_engine::cel::Timestamp;
use wardgate_engine::fastpath::Contents;
use wardgate_engine::fastpath::topics::{TopicProgram, topic_program};
use wardgate_engine::limits::{MAX_FAST_PATH_STEPS, MAX_TOPIC_WORD_BYTES};
use wardgate_engine::table::PolicyTable;
use wardgate_fastpath::{Answer, FastPath, NoPrograms, Programs, SlotRecord, Slots, Truth};
use wardgate_mqtt::{Level, Limits, Name, OwnedFilter};

use crate::fast::decide::Roles;
use crate::fast::input::SlotValue;
use crate::fast::path::{Slot, SlotRoot};
use crate::fast::topic::filled_matches;
use crate::fast::topic::index::{Asked, Index};
use crate::field::Field;

/// The programs of a fast path about the topic of the resource.
#[derive(Debug, Default)]
pub(crate) struct Topics {
    /// The slot of the topic.
    slot: usize,
    programs: Box<[Program]>,
    /// The programs by hashes of their numbers, the next free bucket on; [`NONE`] in a free one. Half
    /// of the buckets are free, and their number is a power of two.
    buckets: Box<[(u32, u32)]>,
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
    pub(super) number: u32,
    /// True if it is true where a pattern matches.
    pub(super) is_whole: bool,
    pub(super) patterns: Box<[OwnedFilter]>,
    /// The words of the one pattern; none if the patterns are constant.
    pub(super) words: Box<[Word]>,
    /// The bytes before the first word or wildcard of a pattern with words.
    head: Box<str>,
}

/// A word that a pattern is filled with: its slot, and the number of its level.
#[derive(Debug)]
pub(super) struct Word {
    slot: usize,
    level: usize,
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
        let offset = |slot: SlotRecord<'_>| slot.test.is_none().then_some(slot.slot);
        let offsets: Vec<Option<u32>> = fast_path.slots().map(offset).collect();
        let place = |offset: &u32| offsets.iter().position(|known| known == &Some(*offset));
        let of = |program| topic_program(&pool, program).filter(|it| place(&it.slot) == Some(slot));
        let mut found: BTreeMap<u32, Option<TopicProgram<'_>>> = BTreeMap::new();
        let mut all = Self { slot, is_complete: true, ..Self::default() };
        for program in fast_path.lists().flatten().flat_map(|entry| fast_path.programs(entry)) {
            all.count(found.entry(program).or_insert_with(|| of(program)).as_ref());
        }
        let unpacked = |(number, program): (u32, Option<TopicProgram<'_>>)| {
            Program::unpack(number, &program?, place)
        };
        all.programs = found.into_iter().filter_map(unpacked).collect();
        all.buckets = buckets(&all.programs);
        all.index = Index::new(fast_path, &|program| all.find(program), room);
        (!all.programs.is_empty()).then_some(all)
    }

    /// Counts a program that an entry runs; `None` if it is none about the topic.
    fn count(&mut self, program: Option<&TopicProgram<'_>>) {
        self.is_complete &= program.is_some_and(|program| program.is_whole);
        if let Some(program) = program {
            self.steps = self.steps.saturating_add(program.steps);
            self.reads = self.reads.saturating_add(program.reads);
        }
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

    #[inline]
    fn find(&self, program: u32) -> Option<&Program> {
        let mask = self.buckets.len().wrapping_sub(1);
        for probe in 0..self.buckets.len() {
            match self.buckets.get(hash(program).wrapping_add(probe) & mask)? {
                (_, NONE) => return None,
                (number, at) if *number == program => return self.programs.get(place(*at)),
                _ => {}
            }
        }
        None
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
        let matched = Matched::default();
        let selection = Asked::new(&self.topics.index, self.name, &matched);
        let decide = |fast_path: FastPath<'_>, programs: &dyn Programs| {
            let programs = &Answered { topic: self, matched: &matched, read, contents, programs };
            match roles {
                Roles::Mask(mask) => fast_path.decide_selected(*mask, &selection, frame, programs),
                Roles::Classes(classes, count) => {
                    let classes = classes.get(..*count).unwrap_or(&[]);
                    fast_path.decide_classes_selected(classes, &selection, frame, programs)
                }
            }
        };
        // Most decisions run no program, and making what runs them takes a tenth of the time.
        let without = table.fast_path(fast_path).map(|fast_path| decide(fast_path, &NoPrograms));
        if let Some(answer) = without.filter(|answer| *answer != Answer::Unsure) {
            return answer;
        }
        let left = MAX_FAST_PATH_STEPS.saturating_sub(self.steps);
        table.decide_by(fast_path, (frame, contents), (now, left), decide)
    }
}

/// Programs, of which those about the topic do not run.
struct Answered<'d, 'r> {
    topic: Topic<'d, 'd>,
    matched: &'d Matched,
    read: &'d dyn Fn(usize) -> SlotValue<'r>,
    contents: &'d dyn Contents,
    programs: &'d dyn Programs,
}

impl Programs for Answered<'_, '_> {
    fn run(&self, program: u32) -> Option<Truth> {
        let Topic { topics, name, .. } = self.topic;
        let truth = || topics.find(program)?.truth(name, self.read);
        let known = if self.matched.has(program) { Some(Truth::True) } else { truth() };
        let Some(truth) = known else { return self.programs.run(program) };
        let steps = 1 + u32::try_from(name.text().len() / 16).unwrap_or(u32::MAX);
        self.contents.pays(steps).then_some(truth)
    }
}

/// Some of the programs that an index has found to be true.
#[derive(Default)]
pub(super) struct Matched {
    programs: [Cell<u32>; MATCHED],
    count: Cell<usize>,
}

impl Matched {
    pub(super) fn add(&self, program: u32) {
        if let Some(free) = self.programs.get(self.count.get()) {
            free.set(program);
            self.count.set(self.count.get() + 1);
        }
    }

    fn has(&self, program: u32) -> bool {
        self.programs.iter().take(self.count.get()).any(|known| known.get() == program)
    }
}

impl Program {
    fn unpack(
        number: u32,
        program: &TopicProgram<'_>,
        place: impl Fn(&u32) -> Option<usize>,
    ) -> Option<Self> {
        let levels = program.patterns.iter().flat_map(|pattern| pattern.levels()).enumerate();
        let holes = levels.filter(|(_, level)| *level == Level::Word("{}"));
        let word =
            |(slot, (level, _)): (&u32, (usize, _))| Some(Word { slot: place(slot)?, level });
        let words: Option<Box<[Word]>> = program.words.iter().zip(holes).map(word).collect();
        let pattern = program.patterns.first().map_or("", |pattern| pattern.text());
        let mut levels = pattern.split_inclusive('/');
        let is_plain = |level: &&str| !matches!(level.trim_end_matches('/'), "{}" | "+" | "#");
        let head: usize = levels.by_ref().take_while(is_plain).map(str::len).sum();
        Some(Self {
            number,
            is_whole: program.is_whole,
            patterns: program.patterns.iter().copied().map(OwnedFilter::from).collect(),
            words: words?,
            head: pattern.get(..head)?.into(),
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
        let word = |word: &Word| match read(word.slot) {
            SlotValue::Field(Field::Text(text)) if text.len() <= MAX_TOPIC_WORD_BYTES => {
                Level::may_fill(text, word.level).then_some(text)
            }
            _ => None,
        };
        if !name.text().starts_with(&*self.head) {
            // The words of a pattern that does not match may still be none.
            return self.words.iter().all(|it| word(it).is_some()).then_some(false);
        }
        let mut words = self.words.iter().map(word);
        filled_matches(self.patterns.first()?.filter(), || words.next().flatten(), name)
    }
}

fn is_topic(slot: &Slot) -> bool {
    let is_topic = |path: &[Box<str>]| matches!(path, [name] if &**name == "topic");
    slot.root == SlotRoot::ResourceAttr && slot.test.is_none() && is_topic(&slot.path)
}

fn buckets(programs: &[Program]) -> Box<[(u32, u32)]> {
    let mut buckets = vec![(0, NONE); programs.len().saturating_mul(2).next_power_of_two()];
    let mask = buckets.len().wrapping_sub(1);
    for (at, program) in (0..).zip(programs) {
        let mut free = hash(program.number) & mask;
        while let Some(bucket) = buckets.get_mut(free) {
            if bucket.1 == NONE {
                *bucket = (program.number, at);
                break;
            }
            free = free.wrapping_add(1) & mask;
        }
    }
    buckets.into()
}

/// Returns the hash of a number. Numbers are those of the policies, so no request can make it slow.
fn hash(program: u32) -> usize {
    place(program.wrapping_mul(0x9E37_79B1) >> 7)
}

fn place(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The number of no program.
const NONE: u32 = u32::MAX;

/// The number of true programs that are not looked at again.
const MATCHED: usize = 4;

#[cfg(test)]
mod tests {
    use wardgate_bundle::{Conditions, Trust, open, pack};
    use wardgate_compiler::{Options, compile_files};
    use wardgate_engine::cel::pool::PROGRAM_WORDS;
    use wardgate_engine::fastpath::topics::topic_program;

    /// Returns the number of patterns and of words of an expression, and if it is whole.
    fn form(expression: &str) -> Option<(usize, usize, bool)> {
        let text =
            POLICY.replace("EXPRESSION", expression).replace("T(", "R.attr.topic.matchesTopic(");
        let files = [("topics.yaml".to_owned(), text.into_bytes())];
        let bundle = pack(&compile_files(&files, &Options::default()).unwrap().parts);
        let table = open(&bundle, Trust::Unsigned, &Conditions::default()).unwrap().table;
        let pool = table.pool();
        let programs = u32::try_from(pool.programs.len() / PROGRAM_WORDS).unwrap();
        assert_eq!(programs, 1, "{expression}");
        topic_program(&pool, 0).map(|it| (it.patterns.len(), it.words.len(), it.is_whole))
    }

    #[test]
    fn what_can_be_anything_but_false_has_no_patterns() {
        let check =
            |expression: &str, expected| assert_eq!(form(expression), expected, "{expression}");
        check(r#"T("a/+")"#, Some((1, 0, true)));
        check(r#"T(["a/+", "b", "c/#"])"#, Some((3, 0, true)));
        check(r#"T("a/{}/#", [P.attr.id])"#, Some((1, 1, true)));
        check(r#"T("a") && R.attr.qos < 2"#, Some((1, 0, false)));
        check(r#"R.attr.qos < 2 && T("a")"#, Some((1, 0, false)));
        check(r#"T("a") && P.id.lowerAscii() == "b""#, Some((1, 0, false)));
        check(r#"T("a") && P.attr.list.exists(it, it == "b")"#, Some((1, 0, false)));
        check(r#"T("a") || T(["b", "c"])"#, Some((3, 0, false)));
        check(r#"(T("a") || T("b")) && (R.attr.qos == 1 || has(P.attr.x))"#, Some((2, 0, false)));
        check(
            r#"(R.attr.qos == 1 || has(P.attr.x)) && T("a") && P.id == "b""#,
            Some((1, 0, false)),
        );
        check(r#"!T("a")"#, None);
        check(r#"T("a") || R.attr.qos < 2"#, None);
        check(r#"R.attr.qos < 2 || T("a")"#, None);
        check(r#"T("a") == true"#, None);
        check(r#"R.attr.qos > 1 ? T("a") : T("b")"#, None);
        check(r#"T("a/{}", [P.attr.id]) && R.attr.qos < 2"#, None);
        check(r#"T(P.attr.patterns)"#, None);
        check(r#"T("a") || R.attr.other.matchesTopic("b")"#, None);
        // These may take all steps before the topic is compared.
        check(r#"P.id.lowerAscii() == "b" && T("a")"#, None);
        check(r#"P.attr.list.exists(it, it == "b") && T("a")"#, None);
        check(r#"P.attr.a == P.attr.b && T("a")"#, None);
        check(r#"P.id in P.attr.list && T("a")"#, None);
    }

    const POLICY: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: "mqtt:topic"
  version: default
  rules:
    - { actions: [publish], effect: EFFECT_ALLOW, roles: ["*"], condition: { match: { expr: 'EXPRESSION' } } }
"#;
}
