//! Other policies, and what becomes of what was allowed before.

use crate::running::{Broker, PASSWORDS, TOKENS, rule, token};

fn news_and_shared() -> String {
    let all = "publish, receive, subscribe, unsubscribe";
    rule(all, "client", r#"R.attr.topic.matchesTopic(["news/#", "shared/+"])"#)
}

fn shared() -> String {
    news_and_shared().replace(r#""news/#", "#, "")
}

/// `news` may be read and no longer written.
fn news_to_read() -> String {
    shared() + &rule("receive, subscribe", "client", r#"R.attr.topic.matchesTopic("news/#")"#)
}

#[test]
fn a_withdrawn_right_ends_deliveries_of_a_subscription() {
    let test = "a_withdrawn_right_ends_deliveries_of_a_subscription";
    let Some(mut broker) = Broker::start(test, &news_and_shared(), PASSWORDS) else { return };
    let mut ada = broker.client("a", "ada", "secret");
    ada.send("82: 0001 'news/#' 00 'shared/+' 00");
    ada.expect("90: 0001 00 00");
    let more = rule("publish", "client", r#"R.attr.topic.matchesTopic("news/#")"#);
    let mut bob = broker.client("b", "bob", "secret");
    bob.send("30: 'news/a' 01");
    ada.expect("30: 'news/a' 01");
    broker.change(&(shared() + &more));
    bob.send("30: 'news/a' 02");
    bob.send("30: 'shared/a' 03");
    ada.expect("30: 'shared/a' 03");
    broker.change(&news_and_shared());
    bob.send("30: 'news/a' 04");
    ada.expect("30: 'news/a' 04");
}

#[test]
fn a_retained_message_ends_with_the_right_to_publish_it() {
    let test = "a_retained_message_ends_with_the_right_to_publish_it";
    for has_tokens in [false, true] {
        let options = if has_tokens { TOKENS } else { PASSWORDS };
        let options = format!("check_retain_source true\n{options}");
        let Some(mut broker) = Broker::start(test, &news_and_shared(), &options) else { return };
        let password = |name: &str| match has_tokens {
            true => token(name, 3600, ""),
            false => "secret".to_owned(),
        };
        let mut bob = broker.client("b", "bob", &password("bob"));
        bob.send("33: 'news/a' 0001 01");
        bob.expect("40: 0001");
        bob.send("E0:");
        bob.ends();
        let mut ada = broker.client("a", "ada", &password("ada"));
        ada.send("82: 0001 'news/#' 00");
        ada.expect("90: 0001 00");
        ada.expect("31: 'news/a' 01");
        broker.change(&news_to_read());
        ada.send("82: 0002 'news/#' 00");
        ada.expect("90: 0002 00");
        ada.send("C0:");
        ada.expect("D0:");
    }
}

#[test]
fn a_refused_bundle_changes_nothing() {
    let test = "a_refused_bundle_changes_nothing";
    let Some(mut broker) = Broker::start(test, &news_and_shared(), PASSWORDS) else { return };
    broker.replace("bundle", b"nonsense");
    broker.wait_for_line("is refused: these bytes are not a bundle; the last one stays in use");
    let mut ada = broker.client("a", "ada", "secret");
    ada.send("82: 0001 'news/#' 00");
    ada.expect("90: 0001 00");
}

#[test]
fn a_signal_asks_about_all_clients_anew() {
    let test = "a_signal_asks_about_all_clients_anew";
    let Some(mut broker) = Broker::start(test, &news_and_shared(), TOKENS) else { return };
    let mut ada = broker.client("a", "x", &token("ada", 3600, ""));
    broker.signal("-HUP");
    broker.wait_for_line("Reloading config.");
    ada.send("82: 0001 'news/#' 00");
    ada.expect("90: 0001 00");
    ada.send("30: 'news/a' 01");
    ada.expect("30: 'news/a' 01");
    // Without the key its token proves nothing any more.
    broker.replace("keys", br#"{"keys":[]}"#);
    broker.signal("-HUP");
    broker.wait_for_line("0 keys of ");
    ada.ends();
}
