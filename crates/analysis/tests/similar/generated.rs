//! Generated policies, and edits of them: other words with the same meaning, and one part changed.

use fastrand::Rng;
use serde_json::{Value as Json, json};
use wardgate_analysis::similar::Part;

/// A policy of a kind of resource.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) kind: String,
    pub(crate) scope: String,
    pub(crate) variables: Json,
    pub(crate) rules: Vec<Rule>,
}

/// A rule of it.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) actions: Vec<String>,
    pub(crate) roles: Vec<String>,
    pub(crate) effect: &'static str,
    /// Operands of `&&`.
    pub(crate) condition: Vec<String>,
}

impl Document {
    pub(crate) fn key(&self) -> String {
        let scope = if self.scope.is_empty() { String::new() } else { format!("/{}", self.scope) };
        format!("resource.{}.vdefault{scope}", self.kind)
    }

    pub(crate) fn file(&self) -> String {
        format!("{}{}.json", self.kind, self.scope)
    }
}

/// Returns the file of a policy.
pub(crate) fn text(document: &Document) -> (String, Vec<u8>) {
    let rule = |rule: &Rule| {
        let mut written = json!({
            "actions": rule.actions,
            "roles": rule.roles,
            "effect": rule.effect,
        });
        if !rule.condition.is_empty() {
            let operands: Vec<String> =
                rule.condition.iter().map(|operand| format!("({operand})")).collect();
            written["condition"] = json!({ "match": { "expr": operands.join(" && ") } });
        }
        written
    };
    let policy = json!({
        "apiVersion": "api.cerbos.dev/v1",
        "resourcePolicy": {
            "resource": document.kind,
            "scope": document.scope,
            "version": "default",
            "variables": { "local": document.variables },
            "rules": document.rules.iter().map(rule).collect::<Vec<_>>(),
        },
    });
    (document.file(), policy.to_string().into_bytes())
}

/// Returns as many policies with a few rules each.
pub(crate) fn policies(many: usize, rng: &mut Rng) -> Vec<Document> {
    let document = |at: usize| {
        let kind = format!("{}_{at}", pick(rng, &["album", "invoice", "ticket", "report"]));
        let rules = (0..rng.usize(3..8)).map(|_| rule(rng)).collect();
        let scope = String::new();
        Document { kind, scope, variables: json!({ "is_owner": OWNER }), rules }
    };
    (0..many).map(document).collect()
}

const OWNER: &str = "R.attr.owner == P.id";

fn rule(rng: &mut Rng) -> Rule {
    let actions = some(rng, &["view", "edit", "delete", "share", "approve", "export:pdf"]);
    let roles = some(rng, &["user", "admin", "editor", "auditor", "guest", "manager"]);
    // No two comparisons differ in constants only: which of them was edited would be open.
    let mut condition: Vec<String> = (0..rng.usize(0..4)).map(|_| atom(rng)).collect();
    let shape = |operand: &String| {
        let end = operand.find(|c: char| c.is_ascii_digit() || c == '"' || c == '[');
        operand[..end.unwrap_or(operand.len())].replace(" in ", " == ")
    };
    condition.sort_by_key(shape);
    condition.dedup_by_key(|operand| shape(operand));
    let effect = if rng.u8(..5) == 0 { "EFFECT_DENY" } else { "EFFECT_ALLOW" };
    Rule { actions, roles, effect, condition }
}

fn atom(rng: &mut Rng) -> String {
    let attribute = format!("R.attr.{}", pick(rng, &ATTRIBUTES));
    let text = pick(rng, &["red", "draft", "eu", "open", "low", "legal"]);
    match rng.u8(..9) {
        0 => OWNER.to_owned(),
        1 => "V.is_owner".to_owned(),
        2 => format!("{attribute} == \"{text}{}\"", rng.u8(..30)),
        3 => format!("{attribute} in [\"{text}\", \"{}\"]", pick(rng, &["blue", "us", "high"])),
        4 => format!("{attribute} > {}", rng.u8(1..200)),
        5 => format!("\"{text}\" in P.attr.teams"),
        6 => format!("{attribute} == P.attr.{}", pick(rng, &ATTRIBUTES)),
        7 => format!("!(R.attr.locked || {attribute} == \"{text}\")"),
        _ => format!("R.attr.members.exists(m, m.id == P.id && m.level >= {})", rng.u8(1..9)),
    }
}

const ATTRIBUTES: [&str; 8] =
    ["state", "region", "size", "level", "team", "department", "amount", "risk"];

fn some(rng: &mut Rng, all: &[&str]) -> Vec<String> {
    let mut chosen: Vec<String> = (0..rng.usize(1..3)).map(|_| pick(rng, all).to_owned()).collect();
    chosen.sort();
    chosen.dedup();
    chosen
}

fn pick<'t>(rng: &mut Rng, texts: &[&'t str]) -> &'t str {
    texts[rng.usize(..texts.len())]
}

/// Returns the policy for another kind, in other words with the same meaning.
pub(crate) fn respelled(document: &Document, rng: &mut Rng) -> Document {
    let mut copy = document.clone();
    copy.kind.push_str("_copy");
    copy.variables = json!({ "mine": "request.principal.id == R.attr.owner", "own": "V.mine" });
    for rule in &mut copy.rules {
        rng.shuffle(&mut rule.actions);
        rng.shuffle(&mut rule.roles);
        rng.shuffle(&mut rule.condition);
        for operand in &mut rule.condition {
            *operand = operand_in_other_words(operand, rng);
        }
        // De Morgan: `a && b` is `!(!a || !b)`.
        if rule.condition.len() > 1 && rng.bool() {
            let negated: Vec<String> =
                rule.condition.iter().map(|operand| format!("!({operand})")).collect();
            rule.condition = vec![format!("!({})", negated.join(" || "))];
        }
    }
    copy
}

fn operand_in_other_words(operand: &str, rng: &mut Rng) -> String {
    if operand == OWNER || operand == "V.is_owner" {
        return pick(
            rng,
            &[OWNER, "V.own", "variables.mine", "P.id == request.resource.attr.owner"],
        )
        .to_owned();
    }
    let operand = match rng.u8(..4) {
        0 => operand.replace("R.attr.", "request.resource.attr."),
        1 => operand.replace('"', "'"),
        2 => operand.replace("(m, m.id == P.id && m.level", "(x, x.id == P.id && x.level"),
        _ => operand.replace("P.id", "request.principal.id").replace(" == ", "=="),
    };
    match operand.split_once(" > ") {
        Some((value, number)) if rng.bool() => format!("{number} < {value}"),
        _ => operand,
    }
}

/// Returns the policy with one part of one of its rules changed, and the number of the rule;
/// nothing if none has the part. Edits of rules are of a kind of their own.
pub(crate) fn edited(document: &Document, part: Part, rng: &mut Rng) -> Option<(Document, usize)> {
    let mut copy = document.clone();
    let with_conditions = |(at, rule): (usize, &Rule)| (!rule.condition.is_empty()).then_some(at);
    let rules: Vec<usize> = copy.rules.iter().enumerate().filter_map(with_conditions).collect();
    if rules.is_empty() {
        return None;
    }
    let which = rules[rng.usize(..rules.len())];
    let rule = &mut copy.rules[which];
    match part {
        Part::Roles => rule.roles.push("visitor".to_owned()),
        Part::Actions => rule.actions.push("archive".to_owned()),
        Part::Kind => copy.kind.push_str("_two"),
        Part::Scope => copy.scope = "acme".to_owned(),
        _ => {
            let digits = |operand: &String| operand.contains(|c: char| c.is_ascii_digit());
            let operand = rule.condition.iter_mut().find(|operand| digits(operand))?;
            let at = operand.rfind(|c: char| c.is_ascii_digit())?;
            operand.insert(at, '7');
        }
    }
    Some((copy, which))
}
