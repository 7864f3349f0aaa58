//! Who clients are.

use crate::running::{Broker, PASSWORDS, TOKENS, rule, token};

fn rules() -> String {
    let all = "publish, receive, subscribe, unsubscribe";
    rule(all, "client", r#"R.attr.topic.matchesTopic("own/{}/#", [P.id])"#)
        + &rule(all, "admin", r##"R.attr.topic.matchesTopic("#")"##)
        + &rule(all, "anonymous", r#"R.attr.topic.matchesTopic("public")"#)
        + &rule("subscribe, receive", "logger", r#"R.attr.topic.matchesTopic("$SYS/broker/log/#")"#)
}

#[test]
fn a_claimed_user_name_proves_nothing() {
    let test = "a_claimed_user_name_proves_nothing";
    let Some(broker) = Broker::start(test, &rules(), PASSWORDS) else { return };
    for connect in [
        "10: 'MQTT' 04 82 003C 'c' 'ada'",
        "10: 'MQTT' 04 C2 003C 'c' 'ada' 'wrong'",
        "10: 'MQTT' 04 C2 003C 'c' 'root' 'secret'",
        "10: 'MQTT' 04 02 003C 'c'",
        "10: 'MQTT' 04 C2 003C 'banned' 'ada' 'secret'",
    ] {
        let mut client = broker.connect();
        client.send(connect);
        client.expect("20: 00 05");
        client.ends();
    }
    let mut ada = broker.client("c", "ada", "secret");
    ada.send("82: 0001 'own/ada/#' 00 'own/bob/#' 00");
    ada.expect("90: 0001 00 80");
}

#[test]
fn anonymous_clients_are_anonymous_where_mosquitto_allows_them() {
    let test = "anonymous_clients_are_anonymous_where_mosquitto_allows_them";
    for options in [PASSWORDS, TOKENS] {
        let options = format!("{options}allow_anonymous true\n");
        let Some(broker) = Broker::start(test, &rules(), &options) else { return };
        let mut client = broker.connect();
        client.send("10: 'MQTT' 04 02 003C 'c'");
        client.expect("20: 00 00");
        client.send("82: 0001 'public' 00 'own/ada/#' 00");
        client.expect("90: 0001 00 80");
        let mut claimed = broker.connect();
        claimed.send("10: 'MQTT' 04 82 003C 'c' 'ada'");
        claimed.expect("20: 00 05");
    }
}

#[test]
fn a_certificate_names_the_principal() {
    let test = "a_certificate_names_the_principal";
    let listener = "listener SECOND 127.0.0.1\ncafile TLS/ca.pem\ncertfile TLS/server.pem\n\
        keyfile TLS/server.key\nrequire_certificate true\nuse_identity_as_username true\n";
    let options = format!("{PASSWORDS}{listener}");
    let Some(broker) = Broker::start(test, &rules(), &options) else { return };
    let mut somebody = broker.connect_by_certificate();
    somebody.send("10: 'MQTT' 04 82 003C 'c' 'ada'");
    somebody.expect("20: 00 00");
    somebody.send("82: 0001 'own/somebody/#' 00 'own/ada/#' 00");
    somebody.expect("90: 0001 00 80");
    // A certificate is no token.
    let Some(broker) = Broker::start(test, &rules(), &format!("{TOKENS}{listener}")) else {
        return;
    };
    let mut somebody = broker.connect_by_certificate();
    somebody.send("10: 'MQTT' 04 02 003C 'c'");
    somebody.expect("20: 00 00");
    somebody.send("82: 0001 'own/somebody/#' 00 'public' 00");
    somebody.expect("90: 0001 80 80");
}

#[test]
fn listeners_may_have_plugins_of_their_own() {
    let test = "listeners_may_have_plugins_of_their_own";
    let options = format!(
        "per_listener_settings true\n---\n{PASSWORDS}listener SECOND 127.0.0.1\nplugin PLUGIN\n{TOKENS}"
    );
    let Some(broker) = Broker::start(test, &rules(), &options) else { return };
    let mut ada = broker.client("a", "ada", "secret");
    ada.send("82: 0001 'own/ada/#' 00 '#' 00");
    ada.expect("90: 0001 00 80");
    let token = token("ada", 3600, r#","roles":["admin"]"#);
    let mut wrong = broker.connect();
    wrong.send(&format!("10: 'MQTT' 04 C2 003C 'b' 'ada' '{token}'"));
    wrong.expect("20: 00 05");
    let mut other = broker.connect_second();
    other.send(&format!("10: 'MQTT' 04 C2 003C 'b' 'x' '{token}'"));
    other.expect("20: 00 00");
    other.send("82: 0001 '#' 00");
    other.expect("90: 0001 00");
    let mut wrong = broker.connect_second();
    wrong.send("10: 'MQTT' 04 C2 003C 'c' 'ada' 'secret'");
    wrong.expect("20: 00 05");
}

#[test]
fn a_token_names_the_principal_and_its_roles() {
    let test = "a_token_names_the_principal_and_its_roles";
    let Some(broker) = Broker::start(test, &rules(), TOKENS) else { return };
    // The user name beside the token is not read.
    let mut ada = broker.client("a", "root", &token("ada", 3600, ""));
    ada.send("82: 0001 'own/ada/#' 00 'own/root/#' 00 '#' 00");
    ada.expect("90: 0001 00 80 80");
    let mut root = broker.client("r", "ada", &token("root", 3600, r#","roles":["admin"]"#));
    root.send("82: 0001 '#' 00");
    root.expect("90: 0001 00");
    root.send("30: 'own/ada/x' 2A");
    ada.expect("30: 'own/ada/x' 2A");
    root.expect("30: 'own/ada/x' 2A");
    // The password alone, which 5.0 allows.
    let mut bob = broker.connect();
    bob.send(&format!("10: 'MQTT' 05 42 003C 00 'b' '{}'", token("bob", 3600, "")));
    bob.expect_within(0x20, "00 00");
    bob.send("82: 0001 00 'own/bob/#' 00");
    bob.expect("90: 0001 00 00");
}

#[test]
fn passwords_that_are_no_tokens_are_refused() {
    let test = "passwords_that_are_no_tokens_are_refused";
    let Some(broker) = Broker::start(test, &rules(), TOKENS) else { return };
    let whole = token("ada", 3600, "");
    let cut = &whole[..whole.len() - 2];
    for password in ["secret", "", cut, &token("", 3600, ""), &token("ada", 0, "")] {
        let mut client = broker.connect();
        client.send(&format!("10: 'MQTT' 04 C2 003C 'c' 'ada' '{password}'"));
        client.expect("20: 00 05");
        client.ends();
    }
    let log = broker.log();
    assert!(log.contains("the client `c` is refused: its password is refused as a token"), "{log}");
    assert!(!log.contains(cut), "a token is in the log");
}

#[test]
fn authentication_by_auth_is_refused() {
    let test = "authentication_by_auth_is_refused";
    let Some(broker) = Broker::start(test, &rules(), TOKENS) else { return };
    let mut client = broker.connect();
    client.send("10: 'MQTT' 05 82 003C 08 15 'PLAIN' 'c' 'ada'");
    client.expect_within(0x20, "00 8C");
    client.ends();
}

#[test]
fn another_principal_gets_nothing_of_a_session_that_it_may_not_read() {
    let test = "another_principal_gets_nothing_of_a_session_that_it_may_not_read";
    let Some(broker) = Broker::start(test, &rules(), TOKENS) else { return };
    let mut ada = broker.connect();
    ada.send(&format!("10: 'MQTT' 04 C0 003C 'c' 'x' '{}'", token("ada", 3600, "")));
    ada.expect("20: 00 00");
    ada.send("82: 0001 'own/ada/#' 01");
    ada.expect("90: 0001 01");
    ada.send("E0:");
    ada.ends();
    let mut root = broker.client("r", "x", &token("root", 3600, r#","roles":["admin"]"#));
    root.send("32: 'own/ada/x' 0001 2A");
    root.expect("40: 0001");
    let mut bob = broker.connect();
    bob.send(&format!("10: 'MQTT' 04 C0 003C 'c' 'x' '{}'", token("bob", 3600, "")));
    bob.expect("20: 01 00");
    // The answer comes first: nothing was waiting.
    bob.send("C0:");
    bob.expect("D0:");
    root.send("32: 'own/ada/x' 0002 2B");
    root.expect("40: 0002");
    bob.send("C0:");
    bob.expect("D0:");
}

#[test]
fn a_log_that_is_published_is_asked_about() {
    let test = "a_log_that_is_published_is_asked_about";
    let options = format!("{TOKENS}log_dest topic\n");
    let Some(broker) = Broker::start(test, &rules(), &options) else { return };
    let mut logger = broker.client("l", "x", &token("cyd", 3600, r#","roles":["logger"]"#));
    logger.send("82: 0001 '$SYS/broker/log/N' 00");
    logger.expect("90: 0001 00");
    let mut client = broker.connect();
    client.send("10: 'MQTT' 04 C2 003C 'c' 'ada' 'wrong'");
    client.expect("20: 00 05");
    logger.expect_within(0x30, "\"wardgate:\"");
}
