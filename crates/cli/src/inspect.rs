//! `wardgate inspect`: shows the content of a table.

use std::collections::BTreeSet;

use wardgate_bundle::{Header, Opened, describe};
use wardgate_engine::cel::Timestamp;
use wardgate_engine::table::{Inspection, PolicyRecord, PolicyTable};

use crate::arguments::{Inspect, Opening};
use crate::clock;
use crate::failure::{Result, Status};
use crate::opening::{Terms, claimed_signers};
use crate::output::{Output, Tone, shown};
use crate::policies::{self, Source};
use crate::{answer, label};

pub(crate) fn run(inspect: &Inspect, out: &mut Output) -> Result<Status> {
    let Inspect { policies: path, options, opening, .. } = inspect;
    let source = Source { path, options, opening };
    let bytes = policies::bundle(source)?;
    let terms = Terms::read(opening, time(opening, &bytes))?;
    let opened =
        terms.open_with_limits(&bytes).map_err(|error| policies::refused(path, &bytes, &error))?;
    let signatures = Signatures::of(&bytes, &opened);
    let Opened { table, header, .. } = &opened;
    let report = Report { table, header, signatures, bytes: bytes.len(), found: table.inspect() };
    if inspect.json {
        out.line(answer::line(&report.json()))?;
    } else {
        report.print(out)?;
    }
    Ok(Status::Done)
}

/// Returns the time at which the dates of a bundle are checked. Without trusted keys the bundle is
/// shown and not used, so that one of another time can be shown too.
fn time(opening: &Opening, bytes: &[u8]) -> Timestamp {
    let begins = describe(bytes).map(|about| about.header.label.not_before.unwrap_or(0));
    let begins = begins.ok().filter(|_| opening.trust.is_empty());
    let begins = begins.and_then(|begins| Timestamp::new(i64::try_from(begins).ok()?, 0));
    begins.unwrap_or_else(clock::now)
}

/// The signers of a bundle: unverified claims, unless keys were given.
struct Signatures {
    claimed: Vec<String>,
    verified: Vec<String>,
}

impl Signatures {
    fn of(bytes: &[u8], opened: &Opened) -> Self {
        Self {
            claimed: claimed_signers(bytes),
            verified: opened.signers.iter().map(ToString::to_string).collect(),
        }
    }

    fn words(&self) -> String {
        match (self.claimed.as_slice(), self.verified.as_slice()) {
            ([], _) => "no key".to_owned(),
            (claimed, []) => format!("{}, not verified", claimed.join(", ")),
            (_, verified) => verified.join(", "),
        }
    }
}

struct Report<'t> {
    table: &'t PolicyTable,
    header: &'t Header,
    signatures: Signatures,
    bytes: usize,
    found: Inspection<'t>,
}

impl Report<'_> {
    fn evaluation(&self) -> &'static str {
        label::evaluation(self.table.evaluation())
    }

    fn scope_search(&self) -> &'static str {
        if self.table.lenient_scope_search() { "lenient" } else { "strict" }
    }

    fn json(&self) -> serde_json::Value {
        let found = &self.found;
        let policy = |policy: &PolicyRecord<'_>| {
            serde_json::json!({
                "key": policy.key, "kind": policy.kind, "name": policy.name,
                "version": policy.version, "scope": policy.scope,
                "file": policy.file, "rules": policy.rules,
            })
        };
        let section =
            |(name, bytes): &(&str, usize)| serde_json::json!({ "name": name, "bytes": bytes });
        serde_json::json!({
            "bytes": self.bytes,
            "stripped": self.table.is_stripped(),
            "header": label::json(self.header),
            "signers": self.signatures.claimed,
            "verified": self.signatures.verified,
            "evaluation": self.evaluation(),
            "scopeSearch": self.scope_search(),
            "defaultVersion": self.table.default_version(),
            "schemaEnforcement": self.table.schema_enforcement(),
            "policies": found.policies.iter().map(policy).collect::<Vec<_>>(),
            "kinds": found.kinds,
            "actions": found.actions,
            "roles": found.roles,
            "derivedRoles": found.derived_roles,
            "scopes": found.scopes,
            "versions": found.versions,
            "slots": found.slots,
            "expressions": found.expressions,
            "variables": found.variables,
            "sections": found.sections.iter().map(section).collect::<Vec<_>>(),
        })
    }

    fn print(&self, out: &mut Output) -> Result<()> {
        let found = &self.found;
        field(out, "bytes", &self.bytes.to_string())?;
        for (name, value) in label::fields(self.header) {
            field(out, name, &value)?;
        }
        field(out, "signed by", &self.signatures.words())?;
        if self.table.is_stripped() {
            field(out, "explanations", "left out")?;
        }
        field(out, "evaluation", self.evaluation())?;
        field(out, "scope search", self.scope_search())?;
        field(out, "default version", self.table.default_version())?;
        field(out, "schemas", self.table.schema_enforcement())?;
        field(out, "kinds", &joined(&found.kinds))?;
        field(out, "actions", &joined(&found.actions))?;
        field(out, "roles", &joined(&found.roles))?;
        field(out, "derived roles", &joined(&found.derived_roles))?;
        field(out, "scopes", &joined(&found.scopes))?;
        field(out, "versions", &joined(&found.versions))?;
        field(out, "expressions", &found.expressions.to_string())?;
        field(out, "variables", &found.variables.to_string())?;
        self.print_policies(out)?;
        heading(out, "slots: what conditions read")?;
        for slot in &found.slots {
            out.line(format_args!("  {}", shown(slot)))?;
        }
        heading(out, "sections of the opened table, in bytes")?;
        for (name, bytes) in &found.sections {
            out.line(format_args!("  {name:19} {bytes:8}"))?;
        }
        Ok(())
    }

    fn print_policies(&self, out: &mut Output) -> Result<()> {
        let policies = &self.found.policies;
        heading(out, "policies that decide, and how many rules each has")?;
        let widest = policies.iter().map(|policy| policy.key.chars().count()).max().unwrap_or(0);
        for policy in policies {
            let key = shown(policy.key);
            let file = shown(policy.file);
            out.line(format_args!("  {key:widest$}  {:5}  {file}", policy.rules))?;
        }
        Ok(())
    }
}

pub(crate) fn field(out: &mut Output, name: &str, value: &str) -> Result<()> {
    let name = format!("{name:16}");
    out.line(format_args!("{}{}", out.paint(Tone::Title, &name), shown(value)))
}

fn heading(out: &mut Output, text: &str) -> Result<()> {
    out.line(out.paint(Tone::Title, text))
}

fn joined(names: &BTreeSet<&str>) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    let shown =
        |name: &&str| if name.is_empty() { "(root)".to_owned() } else { (*name).to_owned() };
    names.iter().map(shown).collect::<Vec<_>>().join(", ")
}
