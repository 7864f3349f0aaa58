//! `wardgate bench`: measures how quickly requests are decided, natively and in WebAssembly.
//!
//! Compares the answers of every host with those of the general path before it times any. Conditions
//! see one moment from the first decision to the last, so that no host can differ by its time.

mod chart;
mod clock;
mod figures;
mod histogram;
mod machine;
mod mqtt;
mod native;
mod node;
mod protocols;
mod ratelimit;
mod report;
mod samples;
mod units;
mod workload;

use wardgate_engine::cel::Timestamp;
use wardgate_native::Pdp;

use crate::arguments::{Bench, BenchWhat, Hosts};
use crate::failure::{Failure, Result, Status};
use crate::opening::Terms;
use crate::output::{Output, progress};
use crate::policies::{self, Source};
use node::Job;
use report::Report;
use workload::{Question, Workload, answer};

pub(crate) fn run(bench: &Bench, out: &mut Output) -> Result<Status> {
    if bench.host == Hosts::Native && bench.package.is_some() {
        return Err(Failure::usage("`--package` is for measuring in Node: add `--host node`"));
    }
    match &bench.what {
        Some(BenchWhat::Protocols(protocols)) => return protocols::run(protocols, out),
        Some(BenchWhat::Mqtt(mqtt)) => return mqtt::run(mqtt, out),
        Some(BenchWhat::RateLimit(limits)) => return ratelimit::run(limits, out),
        None => {}
    }
    let Bench { policies: Some(path), requests: Some(requests), options, opening, .. } = bench
    else {
        return Err(Failure::usage("`wardgate bench` needs policies and `--requests`"));
    };
    let now = to_the_millisecond(bench.now.unwrap_or_else(crate::clock::now));
    let terms = Terms::read(opening, now)?;
    let bundle = policies::bundle(Source { path, options, opening })?;
    let pdp = Pdp::open_under(&bundle, terms.trust(), terms.conditions(), 0)
        .map_err(|error| policies::refused(path, &bundle, &error))?;
    let (workload, status) = Workload::read(requests)?;
    let questions = workload.questions();
    let decide = |question: &Question<'_>| pdp.is_allowed(question.request, question.action, now);
    let expected = general_answers(&pdp, &questions, now);
    compare(&questions, &expected, decide)?;
    // Node goes first: it compares its answers with these before it times any.
    let mut hosts = Vec::new();
    if bench.host != Hosts::Native {
        progress("measuring in Node ...");
        let job = Job { bundle: &bundle, workload: &workload, expected: &expected, now };
        let measured = node::measure(&job, bench);
        progress("");
        hosts.push(measured?);
    }
    if bench.host != Hosts::Node {
        progress("measuring natively ...");
        hosts.insert(0, native::measure(&questions, decide, bench.seconds));
        progress("");
    }
    let report = Report::new(&workload, &expected, hosts);
    if bench.json {
        out.line(report.json())?;
    } else {
        report.print(out)?;
    }
    Ok(status)
}

/// Decides without any short way.
fn general_answers(pdp: &Pdp, questions: &[Question<'_>], now: Timestamp) -> Vec<bool> {
    let policies = pdp.snapshot();
    let table = policies.table();
    questions.iter().map(|it| table.is_allowed(it.request, it.action, now)).collect()
}

/// Makes sure that the short way leads to the same answers.
fn compare(
    questions: &[Question<'_>],
    expected: &[bool],
    decide: impl Fn(&Question<'_>) -> bool,
) -> Result<()> {
    for (question, expected) in questions.iter().zip(expected) {
        let found = decide(question);
        if found != *expected {
            return Err(question.answered_differently(
                &format!("the general path {}", answer(*expected)),
                &format!("the native host {}", answer(found)),
            ));
        }
    }
    Ok(())
}

/// Rounds a time to milliseconds, as JavaScript has them; every host is given the same.
fn to_the_millisecond(time: Timestamp) -> Timestamp {
    let nanos = time.nanos() - time.nanos() % 1_000_000;
    Timestamp::new(time.seconds(), nanos).unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use wardgate_engine::request::Request;

    use super::{Failure, Question, Status, compare};

    #[test]
    fn a_short_way_that_leads_elsewhere_is_an_error() {
        let mut request = Request::default();
        request.principal.id = "sam".into();
        request.resource.kind = "photo".into();
        request.resource.id = "p1".into();
        let questions = ["view", "edit"].map(|action| Question { request: &request, action });
        let expected = [true, false];
        assert!(compare(&questions, &expected, |it| it.action == "view").is_ok());
        let Err(Failure::Message(status, message)) = compare(&questions, &expected, |_| true)
        else {
            unreachable!()
        };
        let expected = "`edit` of photo p1, requested by sam: the general path denies, \
                    the native host allows; no time was measured";
        assert_eq!((status, message.as_str()), (Status::Disagreement, expected));
    }
}
