//! The decisions of one connection that the log records.
//!
//! Answers wait in the order of their queries. Those whose records cannot be kept are replaced before anything leaves.

use std::cell::RefCell;
use std::ops::Range;

use wardgate_spocp::Normal;

use super::reply::Reply;
use crate::decision_log::Recorder;
use crate::decision_log::by_rules::RuleDecision;

/// The recorder, and the answers that have not left.
#[derive(Debug)]
pub struct Recorded<'r> {
    recorder: &'r Recorder,
    /// Where the answers stand among the replies.
    answers: RefCell<Vec<Range<usize>>>,
}

/// A query: the client that asked, its text and its meaning.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    /// The name that the client has proved; empty if it has proved none.
    pub(super) name: &'a str,
    /// The canonical text.
    pub(super) text: &'a [u8],
    pub(super) query: &'a Normal,
}

impl<'r> Recorded<'r> {
    pub(super) const fn new(recorder: &'r Recorder) -> Self {
        Self { recorder, answers: RefCell::new(Vec::new()) }
    }

    /// Records a decision, and writes its answer: 500 where there may be none without a record. The caller holds the lock of
    /// the rules that decided.
    pub(super) fn answer(&self, asked: Asked<'_>, is_allowed: bool, out: &mut Vec<u8>) {
        let Asked { name: principal, text, query } = asked;
        let rules = self.recorder.rules();
        let decision = RuleDecision { rules, principal, action: QUERY, text, query, is_allowed };
        if !decision.record(self.recorder) {
            return Reply::OperationsError.write(out);
        }
        let start = out.len();
        Reply::to_query(is_allowed).write(out);
        self.answers.borrow_mut().push(start..out.len());
    }

    /// Returns when the records of all answers are kept. Where they are not, the answers among the replies are replaced by 500.
    pub(super) async fn keep(&mut self, out: &mut Vec<u8>) {
        if self.answers.get_mut().is_empty() {
            return;
        }
        let is_kept = self.recorder.kept().await;
        let answers = self.answers.get_mut();
        if !is_kept {
            refuse(answers, out);
        }
        answers.clear();
        answers.shrink_to(IDLE_ANSWERS);
    }
}

/// Replaces answers, which stand in their order among other replies, by 500.
fn refuse(answers: &[Range<usize>], out: &mut Vec<u8>) {
    let (mut replies, mut from) = (Vec::new(), 0);
    for answer in answers {
        replies.extend_from_slice(out.get(from..answer.start).unwrap_or_default());
        Reply::OperationsError.write(&mut replies);
        from = answer.end;
    }
    replies.extend_from_slice(out.get(from..).unwrap_or_default());
    *out = replies;
}

/// The action of a query in a record.
const QUERY: &str = "query";

/// The answers for which a connection keeps room while it waits.
const IDLE_ANSWERS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_that_may_not_leave_are_replaced_and_other_replies_stay() {
        let (mut out, mut answers) = (Vec::new(), Vec::new());
        for (reply, is_answer) in [
            (Reply::SyntaxError, false),
            (Reply::Ok, true),
            (Reply::Denied, true),
            (Reply::Ok, false),
            (Reply::Ok, true),
            (Reply::Bye, false),
        ] {
            let start = out.len();
            reply.write(&mut out);
            if is_answer {
                answers.push(start..out.len());
            }
        }
        refuse(&answers, &mut out);
        let error = Reply::OperationsError;
        let expected = [Reply::SyntaxError, error, error, Reply::Ok, error, Reply::Bye];
        assert_eq!(out, expected.map(Reply::bytes).concat());
    }
}
