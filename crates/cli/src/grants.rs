//! `wardgate grants`: lists the topics of MQTT that principals may use.

use wardgate_engine::budget::Budget;
use wardgate_native::Policies;
use wardgate_native::mqtt::{ClientGrants, Grants as Lists, Target};
use wardgate_native::protocol::grants::{GrantsCall, of, translated};

use crate::arguments::Grants;
use crate::clock;
use crate::failure::{Failure, Result, Status};
use crate::output::{Output, Tone, complain, shown};
use crate::policies::{self, Source};
use crate::{request, requests};

pub(crate) fn run(grants: &Grants, out: &mut Output) -> Result<Status> {
    let Grants { policies: path, options, opening, .. } = grants;
    let now = grants.input.now.unwrap_or_else(clock::now);
    let policies = Policies::of(policies::table(Source { path, options, opening }, now)?);
    requests::each_of(&grants.input.requests, request::grants, |call| {
        let now = grants.input.now.unwrap_or_else(clock::now);
        let target = grants.form.map(|form| form.target()).or(call.target);
        let lists = call.lists(&policies, now, &Budget::default());
        match target {
            Some(target) => print_form(&lists, target, grants.input.json, out)?,
            None if grants.input.json => {
                let lists = lists.iter().map(|(action, lists)| ((*action).to_owned(), of(lists)));
                let lists: serde_json::Map<_, _> = lists.collect();
                out.line(serde_json::json!({ "grants": lists }))?;
            }
            None => print(&call, &lists, out)?,
        }
        out.flush()
    })
}

/// Prints the lists in the form of a broker, and complains of what is missing in them.
fn print_form(
    lists: &[(&str, Lists)],
    target: Target,
    is_json: bool,
    out: &mut Output,
) -> Result<()> {
    let [(publish, of_publish), (subscribe, of_subscribe)] = lists else {
        return Err(Failure::request(TWO_ACTIONS.to_owned()));
    };
    if (*publish, *subscribe) != ("publish", "subscribe") {
        return Err(Failure::request(TWO_ACTIONS.to_owned()));
    }
    let grants = ClientGrants { publish: of_publish.clone(), subscribe: of_subscribe.clone() };
    if is_json {
        return out.line(translated(&grants, target).map_err(Failure::request)?);
    }
    let translated =
        grants.translate(target).map_err(|error| Failure::request(error.to_string()))?;
    out.line(format_args!("{:#}", translated.lists))?;
    for (action, lists) in lists {
        for shortfall in &lists.shortfalls {
            complain(format_args!("{action}: {shortfall}"));
        }
    }
    translated.dropped.iter().for_each(complain);
    Ok(())
}

fn print(call: &GrantsCall, lists: &[(&str, Lists)], out: &mut Output) -> Result<()> {
    let principal = &call.request.principal;
    let title = format!("{} as {}", principal.id, principal.roles.join(", "));
    out.line(out.paint(Tone::Title, &shown(&title)))?;
    for (action, lists) in lists {
        let exact = if lists.is_exact() { "exact" } else { "not exact" };
        out.line(format_args!("  {}, {exact}", shown(action)))?;
        for filter in &lists.allow {
            out.line(format_args!("    {}  {}", out.paint(Tone::Allow, "allow"), shown(filter)))?;
        }
        if lists.internal {
            let allow = out.paint(Tone::Allow, "allow");
            out.line(format_args!("    {allow}  all topics that begin with `$`"))?;
        }
        for filter in &lists.deny {
            out.line(format_args!("    {}   {}", out.paint(Tone::Deny, "deny"), shown(filter)))?;
        }
        let nothing = lists.allow.is_empty() && !lists.internal;
        let notes = nothing.then(|| "nothing is allowed".to_owned());
        let notes = notes.into_iter().chain(lists.shortfalls.iter().map(ToString::to_string));
        for note in notes.chain(lists.reads_time.then(|| READS_TIME.to_owned())) {
            out.line(format_args!("    {}", out.paint(Tone::Aside, &note)))?;
        }
    }
    Ok(())
}

const TWO_ACTIONS: &str = "`--form` is for `publish` and `subscribe`: leave `actions` out";
const READS_TIME: &str = "conditions read the time: the lists are those of this moment";
