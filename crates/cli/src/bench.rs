//! `wardgate bench`: measures how quickly requests are decided, natively and in WebAssembly.
//!
//! Nothing is timed before the hosts agree on every answer. Conditions see one moment from the first
//! decision to the last, so that no host can differ for being asked later.

mod clock;
mod figures;
mod histogram;
mod machine;
mod native;
mod node;
mod report;
mod samples;
mod units;
mod workload;

use wardgate_engine::cel::Timestamp;

use crate::arguments::{Bench, Hosts};
use crate::failure::{Failure, Status};
use crate::output::{Output, progress};
use crate::{check, policies};
use node::Job;
use report::Report;
use workload::{Question, Workload};

pub(crate) fn run(bench: &Bench, out: &mut Output) -> Result<Status, Failure> {
    if bench.host == Hosts::Native && bench.package.is_some() {
        return Err(Failure::usage("`--package` is for measuring in Node: add `--host node`"));
    }
    let bundle = policies::bundle(&bench.policies, &bench.options)?;
    let table = policies::open(&bench.policies, &bundle)?;
    let (workload, status) = Workload::read(&bench.requests)?;
    let questions = workload.questions();
    let now = to_the_millisecond(bench.now.unwrap_or_else(check::clock));
    let decide = |question: &Question<'_>| table.is_allowed(question.request, question.action, now);
    let expected: Vec<bool> = questions.iter().map(decide).collect();
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

/// JavaScript tells the time in milliseconds; every host is given the same.
fn to_the_millisecond(time: Timestamp) -> Timestamp {
    let nanos = time.nanos() - time.nanos() % 1_000_000;
    Timestamp::new(time.seconds(), nanos).unwrap_or(time)
}
