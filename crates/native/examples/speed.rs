//! Times each form of a question, on five rules for each of many kinds of resource.
//!
//! Every answer is compared with the rules by hand before it is timed.
#![forbid(unsafe_code)]

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use serde_json::{Value, json};
use wardgate_bundle::seal;
use wardgate_compiler::{Options, compile_files};
use wardgate_native::{
    AsPrincipal, AsResource, Attr, Pdp, Prepared, PreparedPrincipal, PrincipalRef, Question,
    Request, ResourceRef, Timestamp, Trust, attributes,
};

struct User {
    id: String,
    roles: Vec<String>,
    department: String,
}

struct Thing {
    id: String,
    owner: String,
    public: bool,
    locked: bool,
}

attributes! { User { department } }
attributes! { Thing { owner, public, locked } }

impl AsPrincipal for User {
    fn id(&self) -> &str {
        &self.id
    }

    fn roles(&self) -> impl Iterator<Item = &str> {
        self.roles.iter().map(String::as_str)
    }
}

impl AsResource for Thing {
    fn id(&self) -> &str {
        &self.id
    }
}

/// One question in every form.
struct Asked {
    user: User,
    thing: Thing,
    kind: String,
    action: &'static str,
    user_pairs: Pairs,
    thing_pairs: Pairs,
    request: Request,
    value: Value,
    text: Vec<u8>,
}

type Pairs = Vec<(String, Attr)>;

fn main() -> Result<(), Box<dyn Error>> {
    // One row alone is what a profiler wants.
    let only = std::env::args().nth(1);
    [20, 200, 2000].into_iter().try_for_each(|kinds| measure(kinds, only.as_deref()))
}

fn measure(kinds: usize, only: Option<&str>) -> Result<(), Box<dyn Error>> {
    let pdp = Pdp::open(&bundle(kinds)?, Trust::Unsigned)?;
    let asked: Vec<Asked> = (0..QUESTIONS).map(|at| Asked::new(at, kinds)).collect();
    let policies = pdp.snapshot();
    let now = Timestamp::default();
    println!("{kinds} kinds");
    let rows = Rows { only, asked: &asked };
    let prepared: Vec<Prepared<User, Thing>> =
        asked.iter().map(|one| pdp.prepare(&one.kind, one.action)).collect();
    let bound: Vec<PreparedPrincipal<'_, User, Thing>> =
        prepared.iter().zip(&asked).map(|(prepared, one)| prepared.principal(&one.user)).collect();
    let none = || std::iter::repeat(&());
    rows.time("by hand, on types", none(), |one, ()| one.expected())?;
    rows.time("typed, principal prepared", bound.iter(), |one, bound| {
        bound.is_allowed(&one.thing, now)
    })?;
    rows.time("typed", prepared.iter(), |one, prepared| {
        prepared.is_allowed(&one.user, &one.thing, now)
    })?;
    rows.time("request of the engine", none(), |one, ()| {
        policies.is_allowed(&one.request, one.action, now)
    })?;
    rows.time("fields by name", none(), |one, ()| {
        policies.is_allowed_fields(&one.question(), now)
    })?;
    rows.time("fields by name, through the PDP", none(), |one, ()| {
        pdp.is_allowed_fields(&one.question(), now)
    })?;
    rows.time("JSON value", none(), |one, ()| {
        policies.is_allowed_value(&one.value, now) == Ok(true)
    })?;
    rows.time("JSON text", none(), |one, ()| policies.is_allowed_json(&one.text, now) == Ok(true))?;
    rows.time("general path", none(), |one, ()| {
        policies.table().is_allowed(&one.request, one.action, now)
    })
}

/// The rows of one workload.
struct Rows<'a> {
    only: Option<&'a str>,
    asked: &'a [Asked],
}

impl<'a> Rows<'a> {
    /// Prints the best time of several samples.
    fn time<T: 'a>(
        &self,
        name: &str,
        extra: impl Iterator<Item = &'a T> + Clone,
        decide: impl Fn(&'a Asked, &'a T) -> bool,
    ) -> Result<(), Box<dyn Error>> {
        let asked = self.asked;
        if self.only.is_some_and(|only| only != name) {
            return Ok(());
        }
        for (one, extra) in asked.iter().zip(extra.clone()) {
            if decide(one, extra) != one.expected() {
                return Err(format!("{name}: wrong answer to {}", one.value).into());
            }
        }
        let mut best = f64::INFINITY;
        for _ in 0..SAMPLES {
            let start = Instant::now();
            for _ in 0..PASSES {
                for (one, extra) in asked.iter().zip(extra.clone()) {
                    black_box(decide(black_box(one), black_box(extra)));
                }
            }
            let decisions = f64::from(u32::try_from(asked.len())?) * f64::from(PASSES);
            best = best.min(start.elapsed().as_secs_f64() * 1e9 / decisions);
        }
        println!("    {name:<34} {best:>7.1} ns");
        Ok(())
    }
}

impl Asked {
    fn new(at: usize, kinds: usize) -> Self {
        let mut random = at.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ SEED;
        let mut below = |bound: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random >> 32) % bound
        };
        let (number, kind) = (below(100), format!("kind_{}", below(kinds)));
        let pick = |list: &[&'static str], at: usize| list.get(at).copied().unwrap_or("");
        let action = pick(&["view", "list", "edit", "delete", "share"], below(5));
        let roles = pick(&["viewer", "editor,viewer", "member"], number % 3);
        let owner = if below(2) == 0 { number } else { below(100) };
        let user = User {
            id: format!("user_{number}"),
            roles: roles.split(',').map(str::to_owned).collect(),
            department: format!("department_{}", number % 7),
        };
        let thing = Thing {
            id: format!("resource_{at}"),
            owner: format!("user_{owner}"),
            public: below(4) == 0,
            locked: below(4) == 0,
        };
        Self::of(user, thing, kind, action)
    }

    fn of(user: User, thing: Thing, kind: String, action: &'static str) -> Self {
        let text = |text: &str| Attr::String(text.into());
        let user_pairs = vec![("department".to_owned(), text(&user.department))];
        let thing_pairs = vec![
            ("owner".to_owned(), text(&thing.owner)),
            ("public".to_owned(), Attr::Bool(thing.public)),
            ("locked".to_owned(), Attr::Bool(thing.locked)),
        ];
        let entry = |(name, value): &(String, Attr)| (name.as_str().into(), value.clone());
        let mut request = Request::default();
        request.principal.id.clone_from(&user.id);
        request.principal.roles.clone_from(&user.roles);
        request.principal.attr = user_pairs.iter().map(entry).collect();
        request.resource.kind.clone_from(&kind);
        request.resource.id.clone_from(&thing.id);
        request.resource.attr = thing_pairs.iter().map(entry).collect();
        let Thing { id, owner, public, locked } = &thing;
        let attributes = json!({ "owner": owner, "public": public, "locked": locked });
        let value = json!({
            "principal": {
                "id": user.id, "roles": user.roles, "attr": { "department": user.department },
            },
            "action": action,
            "resource": { "kind": kind, "id": id, "attr": attributes },
        });
        let text = value.to_string().into_bytes();
        Self { user, thing, kind, action, user_pairs, thing_pairs, request, value, text }
    }

    fn question(&self) -> Question<'_, String, Pairs, Pairs> {
        Question {
            principal: PrincipalRef::new(&self.user.id, &self.user.roles, &self.user_pairs),
            action: self.action,
            resource: ResourceRef::new(&self.kind, &self.thing.id, &self.thing_pairs),
        }
    }

    /// The rules by hand.
    fn expected(&self) -> bool {
        let role = |wanted: &str| self.user.roles.iter().any(|role| role == wanted);
        let owns = self.user.id == self.thing.owner;
        match self.action {
            "view" => role("viewer") || self.thing.public,
            "list" => role("viewer"),
            "edit" => role("editor") && !self.thing.locked,
            "delete" => owns && !self.thing.locked,
            _ => owns,
        }
    }
}

fn bundle(kinds: usize) -> Result<Vec<u8>, Box<dyn Error>> {
    let file = |at: usize| {
        let policy = POLICY.replace("KIND", &format!("kind_{at}"));
        (format!("{at}.yaml"), policy.into_bytes())
    };
    let files: Vec<_> = (0..kinds).map(file).collect();
    let compiled = compile_files(&files, &Options::default());
    let compiled = compiled.map_err(|errors| format!("{} errors", errors.len()))?;
    Ok(seal(&compiled.parts))
}

const POLICY: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: KIND
  rules:
    - { actions: [view, list], effect: EFFECT_ALLOW, roles: [viewer] }
    - actions: [view]
      effect: EFFECT_ALLOW
      roles: ["*"]
      condition: { match: { expr: R.attr.public == true } }
    - { actions: [edit], effect: EFFECT_ALLOW, roles: [editor] }
    - actions: [delete, share]
      effect: EFFECT_ALLOW
      roles: ["*"]
      condition: { match: { expr: R.attr.owner == P.id } }
    - actions: [edit, delete]
      effect: EFFECT_DENY
      roles: ["*"]
      condition: { match: { expr: R.attr.locked == true } }
"#;

const SEED: usize = 0x2545_F491_4F6C_DD1D;
const QUESTIONS: usize = 2000;
const PASSES: u32 = 2;
const SAMPLES: u32 = 600;
