//! Policies of a thousand rules about topics.

use wardgate_bundle::pack;
use wardgate_compiler::{Options, compile_files};

use crate::workload::lines;

/// Compiles five rules for each of 200 sites, whose devices have a role of their own.
pub(super) fn sites() -> Result<Vec<u8>, String> {
    let mut text = HEAD.to_owned();
    (0..SITES).for_each(|site| text.push_str(&RULES_OF_SITE.replace("SITE", &site.to_string())));
    bundle(&text)
}

/// Compiles a thousand rules for one role, each with a pattern of its own.
pub(super) fn lines_of_one_role() -> Result<Vec<u8>, String> {
    let mut text = HEAD.to_owned();
    (0..LINES).for_each(|line| text.push_str(&RULE_OF_LINE.replace("LINE", &line.to_string())));
    bundle(&text)
}

fn bundle(topics: &str) -> Result<Vec<u8>, String> {
    let files = [("clients.yaml", CLIENTS), ("topics.yaml", topics)];
    let files = files.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
    let compiled = compile_files(&files, &Options::default());
    Ok(pack(&compiled.map_err(|errors| lines(&errors))?.parts))
}

/// The role of the devices of a site.
pub(super) fn role(site: usize) -> String {
    format!("site-{site}")
}

/// The role of [`lines_of_one_role`].
pub(super) const OPERATOR: &str = "operator";

pub(super) const SITES: usize = 200;
pub(super) const LINES: usize = 1_000;

const CLIENTS: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: "mqtt:client"
  version: default
  rules:
    - { actions: [connect], effect: EFFECT_ALLOW, roles: ["*"] }
"#;

const HEAD: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  resource: "mqtt:topic"
  version: default
  rules:
"#;

const RULES_OF_SITE: &str = r#"
    - actions: [publish]
      effect: EFFECT_ALLOW
      roles: [site-SITE]
      condition: { match: { expr: 'R.attr.topic.matchesTopic("site/SITE/+/state")' } }
    - actions: [subscribe, unsubscribe, receive]
      effect: EFFECT_ALLOW
      roles: [site-SITE]
      condition: { match: { expr: 'R.attr.topic.matchesTopic(["site/SITE/orders/#", "news/+"])' } }
    - actions: [publish, subscribe, unsubscribe, receive]
      effect: EFFECT_ALLOW
      roles: [site-SITE]
      condition: { match: { expr: 'R.attr.topic.matchesTopic("devices/{}/#", [P.attr.clientId])' } }
    - actions: [will]
      effect: EFFECT_ALLOW
      roles: [site-SITE]
      condition: { match: { expr: 'R.attr.topic.matchesTopic("site/SITE/gone") && R.attr.qos < 2' } }
    - actions: [publish, subscribe]
      effect: EFFECT_DENY
      roles: [site-SITE]
      condition: { match: { expr: 'R.attr.topic.matchesTopic("site/SITE/secret/#")' } }
"#;

const RULE_OF_LINE: &str = r#"
    - actions: [publish]
      effect: EFFECT_ALLOW
      roles: [operator]
      condition: { match: { expr: 'R.attr.topic.matchesTopic("line/LINE/+/state")' } }
"#;
