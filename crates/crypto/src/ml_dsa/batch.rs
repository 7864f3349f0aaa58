//! Batches: eight signatures side by side, and with the feature `threads` on every core.

use wardgate_simd::lanes::dispatch;

use super::signature::Signature;
use super::verify::{Asked, SIDE_BY_SIDE, Several, Signed};
use super::{Question, prefix};

/// Answers every question that has a place for its answer; the places hold `false`.
pub(super) fn answer(questions: &[Question<'_>], accepted: &mut [bool]) {
    #[cfg(feature = "threads")]
    threads::answer(questions, accepted);
    #[cfg(not(feature = "threads"))]
    answer_here(questions, accepted);
}

/// Answers in this thread.
fn answer_here(questions: &[Question<'_>], accepted: &mut [bool]) {
    let few = questions.chunks(SIDE_BY_SIDE).zip(accepted.chunks_mut(SIDE_BY_SIDE));
    few.for_each(|(questions, accepted)| answer_few(questions, accepted));
}

/// Answers what fits side by side. A malformed question leaves its lanes empty.
fn answer_few(questions: &[Question<'_>], accepted: &mut [bool]) {
    let mut prefixes = [None; SIDE_BY_SIDE];
    let mut asked = [None; SIDE_BY_SIDE];
    for (place, question) in prefixes.iter_mut().zip(questions) {
        *place = prefix(question.context);
    }
    for ((place, question), prefix) in asked.iter_mut().zip(questions).zip(&prefixes) {
        *place = prefix.as_ref().and_then(|prefix| ask(question, prefix));
    }
    let asked = asked.get(..questions.len()).unwrap_or_default();
    dispatch(Several { asked, answers: accepted });
}

fn ask<'a>(question: &Question<'a>, prefix: &'a [u8; 2]) -> Option<Asked<'a>> {
    let Question { key, message, context, signature } = *question;
    let signature = Signature::decode(key.level(), signature)?;
    Some(Asked { key, signed: Signed::Message([prefix, context, message]), signature })
}

#[cfg(feature = "threads")]
mod threads {
    //! Every core answers its share. Threads are started for each batch: keeping them would save some ten
    //! microseconds, and would make a library own threads.

    use std::num::NonZero;
    use std::thread::{self, Builder};

    use super::{Question, SIDE_BY_SIDE, answer_here};

    pub(super) fn answer(questions: &[Question<'_>], accepted: &mut [bool]) {
        let share = share(questions.len());
        let alone = share >= questions.len();
        if alone || spread(questions, accepted, share).is_none() {
            answer_here(questions, accepted);
        }
    }

    /// Answers the first share here and the others in threads; `None` when the system has no more of them.
    fn spread(questions: &[Question<'_>], accepted: &mut [bool], share: usize) -> Option<()> {
        thread::scope(|scope| {
            let mut shares = questions.chunks(share).zip(accepted.chunks_mut(share));
            let own = shares.next();
            for (questions, accepted) in shares {
                let work = move || answer_here(questions, accepted);
                Builder::new().spawn_scoped(scope, work).ok()?;
            }
            let (questions, accepted) = own?;
            answer_here(questions, accepted);
            Some(())
        })
    }

    /// The questions of each thread: whole groups, and not so few that starting it takes longer.
    fn share(questions: usize) -> usize {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        questions.div_ceil(cores).next_multiple_of(SIDE_BY_SIDE).max(LEAST)
    }

    /// A thread starts in the time of a few verifications.
    const LEAST: usize = 16;
}
