//! The evaluation alone: frames that are filled already.
//!
//! As many words are stored for each decision as the largest fast path of the workload has slots,
//! so that this row does what the row in Node does.

use std::hint::black_box;

use wardgate_engine::cel::Timestamp;
use wardgate_engine::request::Request;
use wardgate_engine::table::PolicyTable;
use wardgate_fastpath::{Answer, Frame};
use wardgate_tests::fill::{self, Roles};

use crate::measure::{Row, Side};
use crate::workload::Workload;

/// The frame of each request.
pub(crate) struct Frames {
    filled: Vec<Filled>,
}

/// A fast path, the roles in its terms, and the words of its slots.
#[derive(Clone, Copy)]
struct Filled {
    fast_path: u32,
    roles: u32,
    words: [u32; SLOTS],
}

impl Frames {
    /// Fills the frames.
    pub(crate) fn new(table: &PolicyTable, requests: &[Request]) -> Result<Self, String> {
        let filled = |request| fill(table, request).ok_or("a request that no frame holds");
        Ok(Self { filled: requests.iter().map(filled).collect::<Result<_, _>>()? })
    }

    /// Returns the row.
    pub(crate) fn row<'a>(&'a self, workload: &'a Workload, table: &'a PolicyTable) -> Row<'a> {
        let expected = &workload.expected;
        Row::of_pass("filled frame", Side::Ours, expected.len(), move |range| {
            let mut frame = Frame::new();
            let (filled, expected) = (self.filled.get(range.clone()), expected.get(range));
            let all = filled.unwrap_or_default().iter().zip(expected.unwrap_or_default());
            let wrong = |(filled, expected): &(&Filled, &bool)| {
                for (slot, word) in filled.words.into_iter().enumerate() {
                    frame.set(slot, word);
                }
                let answer = table.decide(filled.fast_path, filled.roles, &frame);
                (answer == Answer::Allow) != **expected
            };
            all.filter(wrong).count()
        })
    }

    /// Returns the row that only stores the words.
    pub(crate) fn floor(&self) -> Row<'_> {
        Row::of_pass("words alone", Side::Floor, self.filled.len(), |range| {
            let mut frame = Frame::new();
            let wrong = |filled: &&Filled| {
                for (slot, word) in filled.words.into_iter().enumerate() {
                    frame.set(slot, word);
                }
                black_box(&frame).word(0) != filled.words[0]
            };
            self.filled.get(range).unwrap_or_default().iter().filter(wrong).count()
        })
    }
}

fn fill(table: &PolicyTable, request: &Request) -> Option<Filled> {
    let list = table.fast_path_list(&request.resource.kind, "", "")?;
    let id = table.fast_path_of_action(list, request.actions.first()?)?;
    let fast_path = table.fast_path(id)?;
    let filled = fill::fill(table, &fast_path, request, Timestamp::default())?;
    let Roles::Mask(roles) = fill::roles(table, &fast_path, &request.principal.roles)? else {
        return None;
    };
    let words = filled.frame.words.first_chunk().copied()?;
    (fast_path.slots().count() <= SLOTS).then_some(Filled { fast_path: id, roles, words })
}

const SLOTS: usize = 3;
