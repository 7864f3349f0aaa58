//! Rules and queries of the comparison: principals, actions, and accounts, documents, files, users
//! or projects.
//!
//! Half of the queries are a rule's own; the others are drawn anew and seldom allowed. Expected
//! answers come from comparing texts, which is right for rules without star forms.

use std::collections::HashSet;

/// Rules and queries.
pub(crate) struct Workload {
    /// In canonical form, each once.
    pub(crate) rules: Vec<Vec<u8>>,
    pub(crate) queries: Vec<Query>,
    /// The rules as policies: a kind of resource, and its rules.
    pub(crate) policies: Vec<(&'static str, String)>,
}

/// One question in every form.
pub(crate) struct Query {
    /// In canonical form.
    pub(crate) text: Vec<u8>,
    /// As a message of SPOCP.
    pub(crate) spocp: Vec<u8>,
    /// As a request of HTTP.
    pub(crate) http: Vec<u8>,
    pub(crate) is_allowed: bool,
}

/// The principal, the action and the thing of a rule.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Access {
    kind: &'static str,
    id: u32,
    action: &'static str,
    role: &'static str,
    user: u32,
}

impl Workload {
    pub(crate) fn new(rules: u32, queries: u32) -> Self {
        let mut random = Random(42);
        let drawn: Vec<Access> = (0..rules).map(|_| Access::draw(&mut random)).collect();
        let known: HashSet<Access> = drawn.iter().copied().collect();
        let mut seen = HashSet::new();
        let unique: Vec<Access> = drawn.iter().copied().filter(|rule| seen.insert(*rule)).collect();
        let query = |_| {
            let again = random.below(2) == 0;
            let index = usize::try_from(random.below(rules)).unwrap_or(0);
            let access = if again { drawn.get(index).copied() } else { None };
            let access = access.unwrap_or_else(|| Access::draw(&mut random));
            access.query(known.contains(&access))
        };
        let queries = (0..queries).map(query).collect();
        let policies = KINDS.map(|kind| (kind, policy(kind, &unique))).into();
        Self { rules: unique.iter().map(Access::text).collect(), queries, policies }
    }
}

impl Access {
    fn draw(random: &mut Random) -> Self {
        let kind = random.one(KINDS);
        let id = random.below(1000);
        let action =
            random.one(["can_read", "can_write", "can_delete", "can_update", "can_create"]);
        let role = random.one(["user", "service", "admin"]);
        Self { kind, id, action, role, user: random.below(100) }
    }

    fn text(&self) -> Vec<u8> {
        let Self { kind, action, role, .. } = *self;
        let (id, user) = (self.id.to_string(), format!("user{}", self.user));
        let atom = |text: &str| format!("{}:{text}", text.len());
        let (kind, id, action) = (atom(kind), atom(&id), atom(action));
        let (role, user) = (atom(role), atom(&user));
        format!("({kind}(2:id{id})(6:action{action})(7:subject(4:type{role})(2:id{user})))")
            .into_bytes()
    }

    fn query(&self, is_allowed: bool) -> Query {
        let Self { kind, id, action, role, user } = *self;
        let text = self.text();
        let mut spocp = Vec::new();
        wardgate_server::spocp::codec::write_all(&[b"QUERY", &text], &mut spocp);
        let body = format!(
            r#"{{"subject":{{"type":"{role}","id":"user{user}"}},"resource":{{"type":"{kind}","id":"{id}"}},"action":{{"name":"{action}"}}}}"#
        );
        let length = body.len();
        let http = format!(
            "POST /access/v1/evaluation HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        Query { text, spocp, http: http.into_bytes(), is_allowed }
    }
}

/// The rules of one kind as a policy.
fn policy(kind: &str, rules: &[Access]) -> String {
    let mut text = format!(
        "apiVersion: api.cerbos.dev/v1\nresourcePolicy:\n  resource: {kind}\n  version: default\n  rules:\n    - {{actions: [none], effect: EFFECT_DENY, roles: [nobody]}}\n"
    );
    for Access { id, action, role, user, .. } in rules.iter().filter(|rule| rule.kind == kind) {
        text.push_str(&format!(
            "    - {{actions: [{action}], effect: EFFECT_ALLOW, roles: [{role}], condition: {{match: {{expr: 'R.id == \"{id}\" && P.id == \"user{user}\"'}}}}}}\n"
        ));
    }
    text
}

/// Numbers that are the same each time (PCG without its permutation, of which the upper bits are
/// good enough).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((self.0 >> 33) % u64::from(limit.max(1))).unwrap_or(0)
    }

    fn one<const N: usize>(&mut self, words: [&'static str; N]) -> &'static str {
        let index = self.below(u32::try_from(N).unwrap_or(1));
        usize::try_from(index).ok().and_then(|index| words.get(index).copied()).unwrap_or("")
    }
}

const KINDS: [&str; 5] = ["account", "document", "file", "user", "project"];
