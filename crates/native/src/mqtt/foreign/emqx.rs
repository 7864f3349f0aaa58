//! Rules of EMQX: `{permission, action, topic}`, of which the first that matches decides.
//!
//! The last rule denies everything, because without a match EMQX goes on to other sources, and in the
//! end to `no_match`, which allows unless it is configured. `${..}` in a topic is a placeholder, and
//! `eq ` before it means the text of the topic or filter as it is.

use serde_json::{Value, json};
use wardgate_mqtt::Filter;

use super::{ClientGrants, Door, Dropped, Side, widened};

pub(super) fn lists(grants: &ClientGrants, dropped: &mut Vec<Dropped>) -> Value {
    let mut rules = Rules { rules: Vec::new(), dropped };
    let sides = grants.each();
    for side in &sides {
        for deny in side.deny.iter().filter_map(|filter| spelled(*filter)) {
            rules.push("deny", side.action, deny);
        }
    }
    for side in &sides {
        for filter in &side.allow {
            rules.allow(side, *filter);
        }
    }
    rules.push("deny", "all", "#".to_owned());
    Value::Array(rules.rules)
}

struct Rules<'d> {
    rules: Vec<Value>,
    dropped: &'d mut Vec<Dropped>,
}

impl Rules<'_> {
    fn push(&mut self, permission: &str, action: &str, topic: String) {
        self.rules.push(json!({ "permission": permission, "action": action, "topic": topic }));
    }

    fn allow(&mut self, side: &Side<'_>, filter: Filter<'_>) {
        let Some(topic) = spelled(filter) else {
            return self.dropped.push(side.dropped(filter, Door::OtherMeaning));
        };
        // What cannot be denied must not be allowed.
        let mut lost = side.deny.iter().filter(|deny| spelled(**deny).is_none());
        if lost.any(|deny| Side::shares(filter, *deny)) {
            return self.dropped.push(side.dropped(filter, Door::DeniedPart));
        }
        match (side.door(filter), guard(filter)) {
            (None, _) => {}
            (Some(Door::WiderSubscription), Some(guard)) => {
                self.push("deny", side.action, guard);
            }
            (Some(door), _) => return self.dropped.push(side.dropped(filter, door)),
        }
        self.push("allow", side.action, topic);
    }
}

/// Returns the filter as EMQX reads it; `None` if it would read another.
fn spelled(filter: Filter<'_>) -> Option<String> {
    let text = filter.text();
    if text.starts_with("eq ") {
        return None;
    }
    match (text.contains("${"), filter.has_wildcard()) {
        (false, _) => Some(text.to_owned()),
        (true, false) => Some(format!("eq {text}")),
        (true, true) => None,
    }
}

/// Returns the topic of a rule that denies the only subscription with `#` in the place of the last
/// `+`, where there is one only.
fn guard(filter: Filter<'_>) -> Option<String> {
    let wider = widened(filter)?;
    let is_only = !wider.trim_end_matches('#').contains('+');
    is_only.then(|| format!("eq {wider}"))
}
