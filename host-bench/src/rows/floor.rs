//! The floors: the rules by hand, on the requests that the engine takes.

use std::net::Ipv4Addr;

use regex::Regex;
use wardgate_engine::attr::Attr;
use wardgate_engine::request::Request;

use crate::measure::{Row, Side};
use crate::request::{action, has_flag, has_role, owns, text};
use crate::workload::{RuleSet, Workload};

/// Returns the row of the hand-written rules.
pub(crate) fn row<'a>(workload: &'a Workload, requests: &'a [Request]) -> Result<Row<'a>, String> {
    let (cases, kinds, actions) =
        (workload.cases(requests), workload.kinds.len(), workload.actions);
    // Each form has a closure of its own, so that the compiler sees the rules in the loop.
    Ok(match workload.rules {
        RuleSet::FiveRules => cases.row(NAME, FLOOR, move |one| five_rules(kinds, one)),
        RuleSet::SingleKind => cases.row(NAME, FLOOR, move |one| single_kind(actions, one)),
        RuleSet::Conditions => {
            let patterns = Patterns::new()?;
            cases.row(NAME, FLOOR, move |one| conditions(&patterns, one))
        }
        RuleSet::Classic => cases.row(NAME, FLOOR, move |one| classic(kinds, one)),
    })
}

/// Returns the answers of the hand-written rules.
pub(crate) fn answers(
    rules: RuleSet,
    (kinds, actions): (usize, usize),
    requests: &[Request],
) -> Result<Vec<bool>, String> {
    let patterns = Patterns::new()?;
    let allows = |request: &Request| match rules {
        RuleSet::FiveRules => five_rules(kinds, request),
        RuleSet::SingleKind => single_kind(actions, request),
        RuleSet::Conditions => conditions(&patterns, request),
        RuleSet::Classic => classic(kinds, request),
    };
    Ok(requests.iter().map(allows).collect())
}

fn five_rules(kinds: usize, request: &Request) -> bool {
    match action(request) {
        _ if numbered(&request.resource.kind, "kind_").is_none_or(|kind| kind >= kinds) => false,
        "view" => has_role(request, "viewer") || has_flag(request, "public"),
        "list" => has_role(request, "viewer"),
        "edit" => has_role(request, "editor") && !has_flag(request, "locked"),
        "delete" => owns(request) && !has_flag(request, "locked"),
        "share" => owns(request),
        _ => false,
    }
}

fn single_kind(actions: usize, request: &Request) -> bool {
    let known = numbered(action(request), "action_").is_some_and(|action| action < actions);
    known
        && !has_flag(request, "locked")
        && (has_role(request, "viewer")
            || has_flag(request, "public")
            || owns(request)
            || has_role(request, "admin"))
}

fn conditions(patterns: &Patterns, request: &Request) -> bool {
    let path = || text(request.resource.attr.get("path"));
    let mail = || text(request.resource.attr.get("mail"));
    let address = text(request.principal.attr.get("address"));
    let inside = |network: [u8; 4], bits: u32| in_range(address, Ipv4Addr::from(network), bits);
    let teams = list(request.resource.attr.get("teams"));
    match action(request) {
        "read" => patterns.path.is_match(path()),
        "mail" => patterns.mail.is_match(mail()) && !inside([10, 20, 30, 0], 24),
        "connect" => inside([10, 20, 0, 0], 16) || inside([192, 168, 0, 0], 24),
        "join" => {
            let own = list(request.principal.attr.get("teams"));
            teams.iter().any(|team| own.contains(team))
        }
        "deploy" => {
            inside([10, 20, 0, 0], 16)
                && patterns.path.is_match(path())
                && teams.iter().all(|team| TEAMS.contains(&text(Some(team))))
        }
        _ => false,
    }
}

fn classic(kinds: usize, request: &Request) -> bool {
    let known = numbered(&request.resource.kind, "leave_request_").is_some_and(|kind| kind < kinds);
    let geography = text(request.resource.attr.get("geography"));
    let own = |name: &str| text(request.principal.attr.get(name));
    let manages = has_role(request, "manager")
        && own("geography") == geography
        && own("managed_geographies") == geography;
    let owner = has_role(request, "employee") && owns(request);
    let here = || in_range(own("ip_address"), Ipv4Addr::new(10, 20, 0, 0), 16);
    let location = || if here() { "GB" } else { "" };
    let allowed = match action(request) {
        "create" => owner,
        "view:public" => has_role(request, "employee") || manages,
        "view:private" => owner || manages,
        "approve" => manages && text(request.resource.attr.get("status")) == "PENDING_APPROVAL",
        "delete" => {
            let in_uk = request.resource.scope == "acme.hr.uk";
            (manages || (in_uk && owner)) && geography == location()
        }
        _ => false,
    };
    known && (allowed || has_role(request, "admin"))
}

/// The regular expressions, compiled once.
struct Patterns {
    path: Regex,
    mail: Regex,
}

impl Patterns {
    fn new() -> Result<Self, String> {
        let compiled = |pattern| Regex::new(pattern).map_err(|error| error.to_string());
        Ok(Self {
            path: compiled(r"^/srv/[a-z]+/v[0-9]+/.*\.json$")?,
            mail: compiled(r"^[a-z][a-z0-9-]{2,30}@(example|sample)\.(com|org)$")?,
        })
    }
}

/// Reads the number of a name instead of looking the name up in a set, which would cost more than
/// the rules.
fn numbered(name: &str, prefix: &str) -> Option<usize> {
    name.strip_prefix(prefix)?.parse().ok()
}

fn list(attr: Option<&Attr>) -> &[Attr] {
    match attr {
        Some(Attr::List(items)) => items,
        _ => &[],
    }
}

fn in_range(address: &str, network: Ipv4Addr, bits: u32) -> bool {
    let shift = 32 - bits;
    address
        .parse::<Ipv4Addr>()
        .is_ok_and(|address| address.to_bits() >> shift == network.to_bits() >> shift)
}

const NAME: &str = "hand-written";
const FLOOR: Side = Side::Floor;
const TEAMS: &[&str] = &["team_0", "team_1", "team_2", "team_3", "team_4", "team_5"];
