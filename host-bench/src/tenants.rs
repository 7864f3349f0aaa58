//! Many tenants with policies of their own: as scopes of one bundle, and with a bundle each.
//!
//! Every tenant has the same 20 kinds, and three of them its own way. Requests are of tenants by Zipf's law
//! with exponent 1.0. Before anything is timed all answers are those of the rules by hand.

mod over_http;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use wardgate_bundle::{Trust, pack};
use wardgate_compiler::{Options, compile_files};
use wardgate_native::Pdp;

use crate::arguments::Arguments;
use crate::asked::{Questions, opened};
use crate::http::resident;
use crate::measure::{self, Figure, Side, float, single};
use crate::report::{NATIVE, Section, duration};
use crate::results::digest;
use crate::workload::{Random, lines};

/// The name of the sections in `--only`.
pub(crate) const NAME: &str = "tenants";

type Files = Vec<(String, Vec<u8>)>;

/// Measures each number of tenants, and one over HTTP.
pub(crate) fn sections(root: &Path, arguments: &Arguments) -> Result<Vec<Section>, String> {
    let sizes = COUNTS.iter().filter(|count| !arguments.quick || **count < LARGE);
    let sections = sizes.map(|tenants| section(*tenants, arguments));
    let mut sections = sections.collect::<Result<Vec<_>, _>>()?;
    sections.extend(over_http::section(root, arguments)?);
    Ok(sections)
}

fn section(tenants: usize, arguments: &Arguments) -> Result<Section, String> {
    let start = Instant::now();
    let bundle = compiled(&scopes(tenants))?;
    let pdp = opened(&bundle)?;
    let questions = questions(tenants, true)?;
    let mut figures = measure::rows(&questions.0.rows(&pdp), arguments.bounds())?;
    let (of_reloads, late) = under_reloads(&questions.0, &pdp, &bundle, arguments.quick)?;
    figures.extend(of_reloads);
    let apart = apart(tenants, arguments, &mut figures)?;
    let title = format!("{tenants} tenants, 20 kinds, three overrides each: {apart}");
    let mut section = Section::new(format!("{NAME}-{tenants}"), title, NOTE);
    section.decisions = Some(digest(&questions.0.expected));
    section.parameters = parameters(tenants);
    section.details = late;
    eprintln!("{}: {:.1} s", section.name, start.elapsed().as_secs_f64());
    Ok(section.with(NATIVE, figures))
}

/// Returns the digests of all decisions: name and parameters of each section.
#[cfg(test)]
pub(crate) fn all_decisions() -> impl Iterator<Item = (String, Json, String)> {
    COUNTS.iter().map(|tenants| {
        let questions = questions(*tenants, true).expect("the requests are sound").0;
        (format!("{NAME}-{tenants}"), parameters(*tenants), digest(&questions.expected))
    })
}

fn parameters(tenants: usize) -> Json {
    json!({ "tenants": tenants, "kinds": KINDS, "overrides": OVERRIDES })
}

/// Measures a bundle for each tenant, and tells the size of one and its memory.
fn apart(
    tenants: usize,
    arguments: &Arguments,
    figures: &mut Vec<Figure>,
) -> Result<String, String> {
    // Tenants with the same overrides have equal policies, each in a table of its own.
    let variants = tenants.min(VARIANTS);
    let bundles: Vec<Vec<u8>> =
        (0..variants).map(|variant| compiled(&own(variant))).collect::<Result<_, _>>()?;
    let memory_now = || resident(std::process::id()).unwrap_or(0);
    let before = memory_now();
    let pdps: Vec<Pdp> = (0..tenants)
        .map(|tenant| opened(bundles.get(tenant % variants).map_or(&[], Vec::as_slice)))
        .collect::<Result<_, _>>()?;
    let memory = memory_now().saturating_sub(before) / tenants;
    let (questions, of_tenants) = questions(tenants, false)?;
    let inputs: Vec<(usize, usize)> = of_tenants.into_iter().enumerate().collect();
    let cases = measure::Cases { inputs, expected: questions.expected.as_slice() };
    let row = cases.row("Wardgate is_allowed, a bundle each", Side::Ours, |(at, tenant)| {
        pdps.get(*tenant).is_some_and(|pdp| questions.is_allowed(pdp, *at))
    });
    figures.extend(measure::rows(&[row], arguments.bounds())?);
    let bytes = bundles.iter().map(Vec::len).max().unwrap_or(0);
    Ok(format!("a bundle of its own has {bytes} bytes and takes {memory} KiB of memory"))
}

/// Measures single decisions while the policies are replaced each second, and without that, in turn. The text tells how
/// many answers are late in both.
fn under_reloads(
    questions: &Questions,
    pdp: &Pdp,
    bundle: &[u8],
    quick: bool,
) -> Result<(Vec<Figure>, String), String> {
    let time = Duration::from_secs(if quick { 1 } else { 2 });
    let (mut quiet, mut replaced, mut reloads) = (Vec::new(), Vec::new(), 0);
    for _ in 0..TURNS {
        quiet.push(single_decisions(questions, pdp, time)?);
        let is_over = AtomicBool::new(false);
        let (samples, more) = std::thread::scope(|scope| {
            let reloads = scope.spawn(|| reload_each_second(pdp, bundle, &is_over));
            let samples = single_decisions(questions, pdp, time);
            is_over.store(true, Ordering::Relaxed);
            let reloads = reloads.join().map_err(|_| "a thread has panicked".to_owned());
            Ok::<_, String>((samples?, reloads??))
        })?;
        replaced.push(samples);
        reloads += more;
    }
    let name = "Wardgate is_allowed, a clock beside each";
    let with = format!("{name}, {reloads} reloads meanwhile");
    let figures = vec![
        Figure::of_runs(name.to_owned(), Side::Ours, quiet),
        Figure::of_runs(with, Side::Ours, replaced),
    ];
    let text = late(&figures);
    Ok((figures, text))
}

/// Opens the policies again each second. Returns how often.
fn reload_each_second(pdp: &Pdp, bundle: &[u8], is_over: &AtomicBool) -> Result<u32, String> {
    let (mut next, mut reloads) = (Instant::now(), 0);
    while !is_over.load(Ordering::Relaxed) {
        if Instant::now() >= next {
            pdp.reload(bundle, Trust::Unsigned).map_err(|error| error.to_string())?;
            reloads += 1;
            next += Duration::from_secs(1);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(reloads)
}

/// Tells how many answers took more than twice the 99th percentile without reloads, and the longest of each row.
fn late(figures: &[Figure]) -> String {
    let bound = 2.0 * figures.first().and_then(Figure::p99).unwrap_or(f64::NAN);
    let mut text = format!(
        "\nAnswers later than {}, twice the 99th percentile without reloads:\n\n\
         | | of a million | longest |\n|---|--:|--:|\n",
        duration(bound)
    );
    for figure in figures {
        let samples = || figure.runs.iter().flatten().map(|sample| f64::from(*sample));
        let late = samples().filter(|sample| *sample > bound).count();
        let share = float(late) / float(samples().count()) * 1e6;
        let longest = duration(samples().fold(0.0, f64::max));
        text += &format!("| {} | {share:.0} | {longest} |\n", figure.name);
    }
    text
}

fn single_decisions(questions: &Questions, pdp: &Pdp, time: Duration) -> Result<Vec<f32>, String> {
    let (mut samples, start) = (Vec::new(), Instant::now());
    while start.elapsed() < time && samples.len() < MAX_SAMPLES {
        for (at, expected) in questions.expected.iter().enumerate() {
            let one = Instant::now();
            let allowed = questions.is_allowed(pdp, at);
            samples.push(single(one.elapsed().as_secs_f64() * 1e9));
            if allowed != *expected {
                return Err(format!("{NAME}: a wrong answer to request {at}"));
            }
        }
    }
    Ok(samples)
}

/// Returns requests with the answers by hand, and the tenant of each. With scopes, the tenant is the scope
/// of its resources.
fn questions(tenants: usize, has_scopes: bool) -> Result<(Questions, Vec<usize>), String> {
    let (mut random, zipf) = (Random::of_part(3), Zipf::new(tenants));
    let (mut questions, mut of_tenants) = (Questions::default(), Vec::new());
    for _ in 0..REQUESTS {
        let tenant = zipf.draw(&mut random);
        let (kind, user) = (random.below(KINDS), random.below(USERS));
        let owner = if random.one_in(2) { user } else { random.below(USERS) };
        let (level, action) = (random.below(10), random.pick(ACTIONS));
        let is_overridden = overrides(tenant).contains(&kind);
        let allowed = match action {
            "view" => !is_overridden || level >= needed(tenant),
            _ => owner == user,
        };
        let scope = if has_scopes { format!("t{tenant}") } else { String::new() };
        let question = json!({
            "principal": { "id": format!("user_{user}"), "roles": ["user"], "attr": { "level": level } },
            "action": action,
            "resource": {
                "kind": format!("kind_{kind}"),
                "id": "r1",
                "scope": scope,
                "attr": { "owner": format!("user_{owner}") },
            },
        });
        questions.add(&question, allowed)?;
        of_tenants.push(tenant);
    }
    Ok((questions, of_tenants))
}

/// Returns the kinds that a tenant has its own way.
fn overrides(tenant: usize) -> [usize; OVERRIDES] {
    let first = tenant % VARIANTS;
    [first % KINDS, (first + 7) % KINDS, (first + 13) % KINDS]
}

/// Returns the level that a tenant wants for the kinds it has its own way.
fn needed(tenant: usize) -> usize {
    1 + tenant % VARIANTS % 8
}

fn scopes(tenants: usize) -> Files {
    let mut files: Files = (0..KINDS).map(|kind| file(kind, "", BASE)).collect();
    for tenant in 0..tenants {
        let text = OWN.replace("LEVEL", &needed(tenant).to_string());
        let scope = format!("t{tenant}");
        files.extend(overrides(tenant).map(|kind| file(kind, &scope, &text)));
    }
    files
}

/// Returns the policies of one tenant alone: a scope stands for nothing here, so overridden kinds have both
/// policies in one.
fn own(tenant: usize) -> Files {
    let overridden = overrides(tenant);
    let denied = OWN.replace("LEVEL", &needed(tenant).to_string());
    let text = |kind: usize| {
        let more = if overridden.contains(&kind) { denied.as_str() } else { "" };
        file(kind, "", &format!("{BASE}{more}"))
    };
    (0..KINDS).map(text).collect()
}

fn file(kind: usize, scope: &str, rules: &str) -> (String, Vec<u8>) {
    let of_scope = if scope.is_empty() { String::new() } else { format!("  scope: {scope}\n") };
    let text = format!(
        "apiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  resource: kind_{kind}\n  version: default\n{of_scope}  rules:\n{rules}"
    );
    (format!("kind_{kind}_{scope}.yaml"), text.into_bytes())
}

fn compiled(files: &Files) -> Result<Vec<u8>, String> {
    let compiled = compile_files(files, &Options::default());
    Ok(pack(&compiled.map_err(|errors| lines(errors.iter().take(5)))?.parts))
}

/// Numbers of which the first is drawn twice as often as the second, and so on.
struct Zipf(Vec<f64>);

impl Zipf {
    fn new(count: usize) -> Self {
        let mut sum = 0.0;
        let weights = (1..=count).map(|rank| {
            sum += 1.0 / measure::float(rank);
            sum
        });
        Self(weights.collect())
    }

    fn draw(&self, random: &mut Random) -> usize {
        let share = measure::float(random.below(RESOLUTION)) / measure::float(RESOLUTION);
        let wanted = share * self.0.last().copied().unwrap_or(1.0);
        self.0.partition_point(|sum| *sum <= wanted).min(self.0.len().saturating_sub(1))
    }
}

const NOTE: &str = "Scopes of one bundle, but for the row that names a bundle each. Rows with a clock beside each decision have the \
    time of every single one; a reload opens the bundle of all tenants in a second thread.";

const COUNTS: &[usize] = &[1, 100, 1_000, LARGE];
const LARGE: usize = 10_000;
const KINDS: usize = 20;
const OVERRIDES: usize = 3;
const USERS: usize = 200;
const REQUESTS: usize = 2000;
/// Turns without and with reloads.
const TURNS: usize = 3;
/// Ways of having three kinds one's own way.
const VARIANTS: usize = 97;
const RESOLUTION: usize = 1 << 24;
const MAX_SAMPLES: usize = 4_000_000;
const ACTIONS: &[&str] = &["view", "edit"];

const BASE: &str = "    - { actions: [view], roles: [user], effect: EFFECT_ALLOW }
    - { actions: [edit], roles: [user], effect: EFFECT_ALLOW, condition: { match: { expr: R.attr.owner == P.id } } }
";
const OWN: &str = "    - { actions: [view], roles: [user], effect: EFFECT_DENY, condition: { match: { expr: P.attr.level < LEVEL } } }
";

#[cfg(test)]
mod tests {
    use super::{Zipf, questions};
    use crate::workload::Random;

    #[test]
    fn the_first_of_many_is_drawn_most() {
        let (zipf, mut random) = (Zipf::new(100), Random::of_part(9));
        let mut counts = [0_u32; 100];
        for _ in 0..50_000 {
            counts[zipf.draw(&mut random)] += 1;
        }
        // 1 / (1 + 1/2 + ... + 1/100) is 0.1928, and the second has half of it.
        assert!((9_300..10_000).contains(&counts[0]), "{}", counts[0]);
        assert!((4_500..5_200).contains(&counts[1]), "{}", counts[1]);
    }

    #[test]
    fn neither_answer_is_rare() {
        let expected = questions(100, true).unwrap().0.expected;
        let allowed = expected.iter().filter(|allowed| **allowed).count();
        assert!((600..1700).contains(&allowed), "{allowed} of 2000 are allowed");
    }
}
