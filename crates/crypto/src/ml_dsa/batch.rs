//! Batches: eight signatures side by side, and with the feature `threads` on every core.

use wardgate_simd::lanes::dispatch;

use super::signature::Signature;
use super::verify::{Job, SIDE_BY_SIDE, Several, Signed};
use super::{Question, prefix};

/// Verifies every question that has a slot in `accepted`; the slots hold `false` before.
pub(super) fn answer(questions: &[Question<'_>], accepted: &mut [bool]) {
    #[cfg(all(feature = "threads", not(target_arch = "wasm32")))]
    threads::answer(questions, accepted);
    #[cfg(not(all(feature = "threads", not(target_arch = "wasm32"))))]
    answer_here(questions, accepted);
}

/// Verifies in this thread.
fn answer_here(questions: &[Question<'_>], accepted: &mut [bool]) {
    let few = questions.chunks(SIDE_BY_SIDE).zip(accepted.chunks_mut(SIDE_BY_SIDE));
    few.for_each(|(questions, accepted)| answer_few(questions, accepted));
}

/// Verifies one group side by side. A malformed question leaves its lanes empty.
fn answer_few(questions: &[Question<'_>], accepted: &mut [bool]) {
    let mut prefixes = [None; SIDE_BY_SIDE];
    let mut jobs = [None; SIDE_BY_SIDE];
    for (position, question) in prefixes.iter_mut().zip(questions) {
        *position = prefix(question.context);
    }
    for ((position, question), prefix) in jobs.iter_mut().zip(questions).zip(&prefixes) {
        *position = prefix.as_ref().and_then(|prefix| ask(question, prefix));
    }
    let jobs = jobs.get(..questions.len()).unwrap_or_default();
    dispatch(Several { jobs, answers: accepted });
}

fn ask<'a>(question: &Question<'a>, prefix: &'a [u8; 2]) -> Option<Job<'a>> {
    let Question { key, message, context, signature } = *question;
    let signature = Signature::decode(key.level(), signature)?;
    Some(Job { key, signed: Signed::Message([prefix, context, message]), signature })
}

#[cfg(all(feature = "threads", not(target_arch = "wasm32")))]
mod threads {
    use super::{Question, SIDE_BY_SIDE, answer_here};

    /// Splits the batch into halves recursively, of whole groups, so that an idle core can steal
    /// work.
    pub(super) fn answer(questions: &[Question<'_>], accepted: &mut [bool]) {
        let half = questions.len().div_ceil(2).next_multiple_of(SIDE_BY_SIDE);
        if half >= questions.len().min(accepted.len()) {
            return answer_here(questions, accepted);
        }
        let (questions, others) = questions.split_at(half);
        let (accepted, other_accepted) = accepted.split_at_mut(half);
        rayon_core::join(|| answer(questions, accepted), || answer(others, other_accepted));
    }
}
