//! `wardgate inspect`: shows what a table holds.

use std::collections::BTreeSet;

use wardgate_engine::table::{Evaluation, Inspection, PolicyRecord, PolicyTable};

use crate::arguments::Inspect;
use crate::failure::{Failure, Status};
use crate::output::{Output, Tone, shown};
use crate::{answer, policies};

pub(crate) fn run(inspect: &Inspect, out: &mut Output) -> Result<Status, Failure> {
    let (table, bytes) = policies::table(&inspect.policies, &inspect.options)?;
    let report = Report { table: &table, bytes, found: table.inspect() };
    if inspect.json {
        out.line(answer::line(&report.json()))?;
    } else {
        report.print(out)?;
    }
    Ok(Status::Done)
}

struct Report<'t> {
    table: &'t PolicyTable,
    bytes: usize,
    found: Inspection<'t>,
}

impl Report<'_> {
    fn evaluation(&self) -> &'static str {
        match self.table.evaluation() {
            Evaluation::Strict => "strict",
            Evaluation::Lenient => "lenient",
        }
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

    fn print(&self, out: &mut Output) -> Result<(), Failure> {
        let found = &self.found;
        field(out, "bytes", &self.bytes.to_string())?;
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
        heading(out, "sections, in bytes")?;
        for (name, bytes) in &found.sections {
            out.line(format_args!("  {name:14} {bytes:8}"))?;
        }
        Ok(())
    }

    fn print_policies(&self, out: &mut Output) -> Result<(), Failure> {
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

fn field(out: &mut Output, name: &str, value: &str) -> Result<(), Failure> {
    let name = format!("{name:16}");
    out.line(format_args!("{}{}", out.paint(Tone::Title, &name), shown(value)))
}

fn heading(out: &mut Output, text: &str) -> Result<(), Failure> {
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
