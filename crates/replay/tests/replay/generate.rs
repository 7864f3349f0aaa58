//! Logs of Cerbos at random, from seeds.

use std::fmt::Write as _;

use fastrand::Rng;
use wardgate_bundle::{Conditions, Trust, open, pack};
use wardgate_compiler::{Options, compile_files};
use wardgate_engine::cel::time::parse_timestamp;
use wardgate_engine::table::{Evaluation, PolicyTable};
use wardgate_native::Policies;
use wardgate_native::protocol::documents;

/// Compiles policies, one after the other in one text.
pub(crate) fn table(policies: &str, evaluation: Evaluation) -> PolicyTable {
    let documents = policies.split("\n---\n").enumerate();
    let file = |(number, text): (usize, &str)| (format!("{number}.yaml"), text.as_bytes().to_vec());
    let files: Vec<_> = documents.map(file).collect();
    let options = Options { evaluation, ..Options::default() };
    let compiled = compile_files(&files, &options).unwrap();
    open(&pack(&compiled.parts), Trust::Unsigned, &Conditions::default()).unwrap().table
}

/// A generator of entries whose effects are those of some policies.
pub(crate) struct Generator<'p> {
    pub(crate) rng: Rng,
    pub(crate) policies: &'p Policies,
    /// The share of entries that are unusual, in percent.
    pub(crate) odd: u32,
    /// The number of principals, and of resources.
    pub(crate) people: u32,
    pub(crate) things: u32,
    /// The seconds of the next entry.
    pub(crate) seconds: u32,
}

impl Generator<'_> {
    /// Writes one line.
    pub(crate) fn line(&mut self, out: &mut String) {
        if self.is_odd() && self.rng.u8(..4) == 0 {
            out.push_str(self.rng.choice(ODD_LINES).unwrap());
            out.push('\n');
            return;
        }
        self.seconds += self.rng.u32(0..2);
        let time = time(self.seconds);
        let call = self.rng.u64(..);
        let _ = write!(
            out,
            r#"{{"log.level":"info","log.logger":"cerbos.audit","log.kind":"decision","callId":"01HK{call:022X}","timestamp":"{time}","peer":{{"address":"10.2.{}.{}:5566","userAgent":"grpc-node-js/1.10.9"}},"checkResources":{{"#,
            call % 256,
            call % 200,
        );
        let count = if self.rng.u8(..10) == 0 { 2 } else { 1 };
        let inputs: Vec<Input> = (0..count).map(|_| self.input()).collect();
        let texts: Vec<&str> = inputs.iter().map(|input| input.text.as_str()).collect();
        let inputs_text = format!(r#""inputs":[{}]"#, texts.join(","));
        let outputs: Vec<String> = inputs.iter().map(|input| self.output(input, &time)).collect();
        let outputs_text = format!(r#""outputs":[{}]"#, outputs.join(","));
        let _ = match self.is_odd() {
            true if self.rng.bool() => write!(out, "{outputs_text} , {inputs_text}"),
            true => write!(out, "{inputs_text},\"error\":\"\""),
            false => write!(out, "{inputs_text},{outputs_text}"),
        };
        let kind = inputs.first().map_or("album", |input| input.kind);
        let _ = writeln!(
            out,
            r#"}},"auditTrail":{{"effectivePolicies":{{"resource.{kind}.vdefault":{{"attributes":{{"driver":"disk","source":"{kind}.yaml"}}}}}}}}}}"#,
        );
    }

    fn input(&mut self) -> Input {
        let kind = *self.rng.choice(KINDS).unwrap();
        let person = self.rng.u32(..self.people);
        let thing = self.rng.u32(..self.things);
        let principal = self.principal(person);
        let resource = self.resource(kind, thing);
        let mut actions: Vec<&str> = ACTIONS.to_vec();
        self.rng.shuffle(&mut actions);
        actions.truncate(if self.rng.u8(..4) == 0 { 2 } else { 1 });
        let list = format!("[\"{}\"]", actions.join("\",\""));
        let aux = match self.rng.u8(..5) {
            0 => format!(r#","auxData":{{"jwt":{{"aud":"app","level":{}}}}}"#, person % 4),
            _ => String::new(),
        };
        let question =
            format!(r#""principal":{principal},"resource":{resource},"actions":{list}{aux}"#);
        let text = format!(r#"{{"requestId":"r{}",{question}}}"#, self.rng.u32(..));
        Input {
            text,
            question: format!("{{{question}}}"),
            kind,
            id: format!("{kind}-{thing}"),
            actions,
        }
    }

    fn principal(&mut self, person: u32) -> String {
        // A person has the same roles and attributes in every entry, as most have in a log.
        let mut own = Rng::with_seed(u64::from(person));
        let roles = *own.choice(ROLES).unwrap();
        let id = if self.is_odd() { r"user\u002d".to_owned() } else { format!("user-{person}") };
        let team = own.choice(TEAMS).unwrap();
        let suspended = if own.u8(..20) == 0 { r#","suspended":true"# } else { "" };
        format!(
            r#"{{"id":"{id}","policyVersion":"default","roles":{roles},"attr":{{"team":"{team}","level":{},"region":{{"country":"{}","zone":{}}}{suspended}}}}}"#,
            own.u8(..10),
            own.choice(COUNTRIES).unwrap(),
            own.u8(..5),
        )
    }

    fn resource(&mut self, kind: &str, thing: u32) -> String {
        let mut own = Rng::with_seed(u64::from(thing) + 1_000_000_007);
        let owner = own.u32(..self.people);
        let scope = if own.u8(..8) == 0 { r#""scope":"acme","# } else { "" };
        let mut attributes = vec![
            format!(r#""owner":"user-{owner}""#),
            format!(r#""public":{}"#, own.u8(..4) == 0),
            format!(r#""team":"{}""#, own.choice(TEAMS).unwrap()),
            format!(r#""size":{}"#, own.u32(..5_000_000)),
            format!(r#""tags":["{}","{}"]"#, own.choice(TAGS).unwrap(), own.choice(TAGS).unwrap()),
            format!(r#""name":"The name of {kind} {thing}, which nobody reads""#),
            format!(r#""created":"{}""#, time(own.u32(..20_000))),
        ];
        if self.is_odd() {
            let at = self.rng.usize(..attributes.len());
            attributes.swap_remove(at);
            attributes.push(self.rng.choice(ODD_ATTRIBUTES).unwrap().to_string());
        }
        format!(
            r#"{{"kind":"{kind}","policyVersion":"default",{scope}"id":"{kind}-{thing}","attr":{{{}}}}}"#,
            attributes.join(","),
        )
    }

    /// Returns the output of an input: mostly what the policies say.
    fn output(&mut self, input: &Input, time: &str) -> String {
        let now = parse_timestamp(time).unwrap();
        let request = documents::check(input.question.as_bytes());
        let mut effects = Vec::new();
        for action in &input.actions {
            let is_allowed = request
                .as_ref()
                .is_ok_and(|request| self.policies.is_allowed(request, action, now));
            let is_flipped = self.is_odd() && self.rng.bool();
            let effect = if is_allowed != is_flipped { "EFFECT_ALLOW" } else { "EFFECT_DENY" };
            if !self.is_odd() {
                let kind = input.kind;
                effects.push(format!(
                    r#""{action}":{{"effect":"{effect}","policy":"resource.{kind}.vdefault"}}"#
                ));
            }
        }
        format!(r#"{{"resourceId":"{}","actions":{{{}}}}}"#, input.id, effects.join(","))
    }

    fn is_odd(&mut self) -> bool {
        self.rng.u32(..100) < self.odd
    }
}

struct Input {
    text: String,
    question: String,
    kind: &'static str,
    id: String,
    actions: Vec<&'static str>,
}

fn time(seconds: u32) -> String {
    let (day, rest) = (seconds / 86_400 % 28 + 1, seconds % 86_400);
    format!(
        "2026-10-{day:02}T{:02}:{:02}:{:02}.{:03}Z",
        rest / 3600,
        rest / 60 % 60,
        rest % 60,
        seconds % 997
    )
}

const KINDS: &[&str] = &["album", "document", "invoice", "unknown_kind"];
const ACTIONS: &[&str] = &["view", "edit", "delete", "share", "approve", "tag:add"];
const TEAMS: &[&str] = &["red", "green", "blue", "sales"];
const COUNTRIES: &[&str] = &["DE", "FR", "US", "JP"];
const TAGS: &[&str] = &["draft", "final", "secret", "shared", "old"];
const ROLES: &[&str] = &[
    r#"["user"]"#,
    r#"["user","editor"]"#,
    r#"["manager"]"#,
    r#"["user","guest","nobody_knows"]"#,
    r#"["admin"]"#,
    r#"["auditor","user"]"#,
];
const ODD_LINES: &[&str] = &[
    "",
    "no JSON",
    "{",
    r#"{"log.kind":"access","callId":"1","method":"/cerbos.svc.v1.CerbosService/CheckResources"}"#,
    r#"{"callId":"1","timestamp":"2026-10-01T00:00:00Z","planResources":{"input":{"action":"view"}}}"#,
    r#"{"callId":"1","timestamp":"2026-10-01T00:00:00Z","checkResources":{"inputs":[],"error":"overloaded"}}"#,
    r#"{"callId":"1","timestamp":"2026-10-01T00:00:00Z","oversized":true}"#,
    r#"{"timestamp":"yesterday","checkResources":{"inputs":[],"outputs":[]}}"#,
    r#"{"checkResources":{"inputs":[],"outputs":[]}}"#,
    r#"{"timestamp":"2026-10-01T00:00:00Z","checkResources":{"inputs":[{"actions":["view"]}],"outputs":[{"actions":{"view":{"effect":"EFFECT_ALLOW"}}}]}}"#,
    r#"{"message":{"timestamp":"2026-10-01T00:00:00Z","inputs":[],"outputs":[]}}"#,
    r#"{"a":1}"#,
    r#"[1e400]"#,
];
const ODD_ATTRIBUTES: &[&str] = &[
    r#""owner":"user-1","owner":"user-2""#,
    r#""size":1e400"#,
    r#""size":-0.0"#,
    r#""size":12345678901234567890"#,
    r#""own\u0065r":"user-3""#,
    r#""owner":"user\u002d3""#,
    r#""public":null"#,
    r#""public":"yes""#,
    r#""tags":[[["secret"]]]"#,
    r#""tags":{"secret":true,"secret":false}"#,
    r#""region":{"country":["DE"]}"#,
    r#""risk":3"#,
    r#""created":"never""#,
];

/// Policies before a change.
pub(crate) const OLD: &str = r#"apiVersion: api.cerbos.dev/v1
derivedRoles:
  name: common
  definitions:
    - name: owner
      parentRoles: [user]
      condition: { match: { expr: R.attr.owner == P.id } }
    - name: teammate
      parentRoles: [user, manager]
      condition: { match: { expr: R.attr.team == P.attr.team } }
---
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: album
  importDerivedRoles: [common]
  rules:
    - { actions: [view], effect: EFFECT_ALLOW, roles: ["*"], condition: { match: { expr: R.attr.public == true } } }
    - { actions: [view, edit, delete, "tag:*"], effect: EFFECT_ALLOW, derivedRoles: [owner] }
    - { actions: [view], effect: EFFECT_ALLOW, derivedRoles: [teammate], name: team }
    - { actions: [share], effect: EFFECT_ALLOW, roles: [editor], condition: { match: { expr: '"shared" in R.attr.tags' } } }
    - { actions: ["*"], effect: EFFECT_ALLOW, roles: [admin] }
    - { actions: ["*"], effect: EFFECT_DENY, roles: ["*"], condition: { match: { expr: has(P.attr.suspended) && P.attr.suspended == true } } }
---
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: document
  importDerivedRoles: [common]
  rules:
    - { actions: [view, edit], effect: EFFECT_ALLOW, derivedRoles: [owner, teammate] }
    - { actions: [approve], effect: EFFECT_ALLOW, roles: [manager], condition: { match: { all: { of: [ { expr: P.attr.level >= 5 }, { expr: R.attr.size < 1000000 } ] } } } }
    - { actions: [share], effect: EFFECT_ALLOW, roles: [user], condition: { match: { expr: 'P.attr.region.country in ["DE", "FR"]' } } }
    - { actions: [delete], effect: EFFECT_ALLOW, roles: [user], condition: { match: { expr: 'timestamp(R.attr.created) < now() && R.attr.owner == P.id' } } }
---
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: invoice
  rules:
    - { actions: [view], effect: EFFECT_ALLOW, roles: [auditor, manager] }
    - { actions: [approve], effect: EFFECT_ALLOW, roles: [manager], condition: { match: { expr: request.auxData.jwt.level >= 2 } } }
    - { actions: [edit], effect: EFFECT_ALLOW, roles: ["*"], condition: { match: { expr: 'R.attr.name.matches("^The name of invoice [0-9]*7,")' } } }
    - { actions: ["tag:add"], effect: EFFECT_ALLOW, roles: [user], condition: { match: { expr: 'R.attr.tags.exists(t, t == "draft" || t == P.attr.team)' } } }
---
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: album
  scope: acme
  rules:
    - { actions: [view], effect: EFFECT_DENY, roles: [guest] }
---
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: document
  scope: acme
---
apiVersion: api.cerbos.dev/v1
principalPolicy:
  principal: user-7
  version: default
  rules:
    - resource: album
      actions: [{ action: delete, effect: EFFECT_DENY }]"#;

/// Returns the policies after it.
pub(crate) fn new() -> String {
    let changes = [
        (
            "actions: [share], effect: EFFECT_ALLOW, roles: [editor]",
            "actions: [share], effect: EFFECT_ALLOW, roles: [editor, manager]",
        ),
        ("R.attr.size < 1000000", "R.attr.size < 2000000"),
        (
            "actions: [view], effect: EFFECT_ALLOW, roles: [auditor, manager]",
            "actions: [view], effect: EFFECT_ALLOW, roles: [manager]",
        ),
        ("R.attr.owner == P.id' } } }", "R.attr.owner == P.id && R.attr.risk < 5' } } }"),
        (
            r#"P.attr.region.country in ["DE", "FR"]"#,
            r#"P.attr.region.country in ["DE", "FR"] && !has(R.attr.locked)"#,
        ),
    ];
    changes.into_iter().fold(OLD.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    })
}
