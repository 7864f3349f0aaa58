//! Permissions of HiveMQ, of which the first that matches decides, and a default that denies.
//!
//! A permission without wildcards matches a topic with slashes at its end too: `a` matches `a/`.
//! So it stands behind one that denies everything below it, and those with wildcards stand first.

use std::cmp::Reverse;

use serde_json::{Value, json};
use wardgate_mqtt::Filter;

use super::{ClientGrants, Door, Dropped, Side};

pub(super) fn lists(grants: &ClientGrants, dropped: &mut Vec<Dropped>) -> Value {
    let mut permissions = Vec::new();
    for side in &grants.each() {
        let activity = side.action.to_ascii_uppercase();
        let mut push =
            |kind: &str, filter: &str| permissions.push(permission(kind, filter, &activity));
        side.deny.iter().for_each(|filter| push("DENY", filter.text()));
        let kept = kept(side, dropped);
        for filter in kept.iter().filter(|filter| filter.has_wildcard()) {
            push("ALLOW", filter.text());
        }
        for filter in kept.iter().filter(|filter| !filter.has_wildcard()) {
            push("DENY", &format!("{}/+/#", filter.text()));
            push("ALLOW", filter.text());
        }
    }
    json!({ "permissions": permissions, "defaultBehaviour": "DENY" })
}

/// Returns the filters that open no door, the deepest first.
fn kept<'g>(side: &Side<'g>, dropped: &mut Vec<Dropped>) -> Vec<Filter<'g>> {
    let mut kept = Vec::new();
    for filter in &side.allow {
        let ends_in_slash = !filter.has_wildcard() && filter.text().ends_with('/');
        let door = if ends_in_slash { Some(Door::OtherMeaning) } else { side.door(*filter) };
        match door {
            None => kept.push(*filter),
            Some(door) => dropped.push(side.dropped(*filter, door)),
        }
    }
    kept.sort_by_key(|filter| Reverse(filter.levels().count()));
    kept
}

fn permission(kind: &str, filter: &str, activity: &str) -> Value {
    json!({
        "type": kind,
        "topicFilter": filter,
        "activity": activity,
        "qos": "ALL",
        "retain": "ALL",
        "sharedSubscription": "ALL",
        "sharedGroup": "#",
    })
}
