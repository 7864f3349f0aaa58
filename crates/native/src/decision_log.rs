//! Recording decisions: a ring of memory for each thread that decides, and a reader that empties it.
//!
//! **Recording takes no lock, no allocation and no system call, and never makes a decision fail.** An entry for which
//! the ring has no room is not written; the reader is told how many are missing, and the thread that
//! decides is told too, so that it can deny what it could not record.
//!
//! ```text
//! Recorder with a RingWriter (one for each thread)  ->  RingReader  ->  Assembler  ->  records of `wardgate-decision-log`
//! ```
//!
//! # Examples
//! ```
//! use wardgate_native::decision_log::{Drained, Effect, Entry, ring};
//!
//! let (mut writer, mut reader) = ring(1 << 20);
//! let entry = Entry { principal: "ada", kind: "album", resource: "a1", ..Entry::default() };
//! assert!(writer.write(&entry, &[("view", Effect::Allowed)]));
//! let Some(Drained::Entry(_, read)) = reader.next() else { panic!() };
//! assert_eq!((read.entry, read.actions().next()), (entry, Some(("view", Effect::Allowed))));
//! ```

mod assembler;
mod batch;
mod entry;
mod evidence;
mod known;
mod notes;
mod part;
mod recorder;
mod replay;
mod ring;

pub use assembler::{Assembler, EvidenceForm, Form, Forms, LOG_STREAM, Redaction, Sink};
pub use batch::{Batch, Items};
pub use entry::{Entry, EntryRead, Evidence, SearchCounts};
pub use evidence::{canonical_request, request_evidence};
pub use known::{RecordedDecision, known_request, replay_with};
pub use notes::CallNotes;
pub use recorder::{Recorder, Recording, whole_micros};
pub use replay::{moment, replay, request};
pub use ring::{Drained, RingReader, RingWriter, ring};
pub use wardgate_decision_log::record::Effect;
