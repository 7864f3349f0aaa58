//! Names and filters against vectors: those of others, and the rules of section 4.7 as data.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use std::fs;
use std::path::PathBuf;

use serde_json::Value as Json;
use wardgate_mqtt::{Filter, Limits, Name};

/// Returns true if both are valid and the filter matches.
fn matches(filter: &str, name: &str) -> bool {
    let (filter, name) = (Filter::new(filter), Name::new(name));
    matches!((filter, name), (Ok(filter), Ok(name)) if filter.matches(name))
}

#[test]
fn vectors_of_mosquitto_hold() {
    let Some(json) = corpus("mosquitto_topic_vectors.json") else { return };
    let mut count = 0;
    for case in list(&json, "match") {
        let (filter, topic) = (text(case, "filter"), text(case, "topic"));
        let both = Filter::new(filter).is_ok() && Name::new(topic).is_ok();
        assert_eq!(both, flag(case, "valid"), "{filter:?} {topic:?}");
        assert_eq!(matches(filter, topic), flag(case, "match"), "{filter:?} {topic:?}");
        count += 1;
    }
    for case in list(&json, "publish_topic_validity") {
        let valid = text(case, "rc") == "MOSQ_ERR_SUCCESS";
        assert_eq!(Name::new(text(case, "topic")).is_ok(), valid, "{case}");
        count += 1;
    }
    for case in list(&json, "subscribe_filter_validity") {
        let valid = text(case, "rc") == "MOSQ_ERR_SUCCESS";
        assert_eq!(Filter::new(text(case, "filter")).is_ok(), valid, "{case}");
        count += 1;
    }
    assert_eq!(count, 68);
}

#[test]
fn examples_of_the_standard_hold() {
    let Some(json) = corpus("mqtt5_spec_4_7_examples.json") else { return };
    let mut count = 0;
    for case in list(&json, "match") {
        let (filter, topic) = (text(case, "filter"), text(case, "topic"));
        assert!(Filter::new(filter).is_ok() && Name::new(topic).is_ok(), "{case}");
        assert_eq!(matches(filter, topic), flag(case, "match"), "{case}");
        count += 1;
    }
    for filter in list(&json, "invalid_filters") {
        assert!(Filter::new(filter.as_str().unwrap()).is_err(), "{filter}");
        count += 1;
    }
    assert_eq!(count, 19);
}

#[test]
fn filters_match_names() {
    let check = |filter: &str, names: &[&str]| {
        for name in names {
            assert!(matches(filter, name), "{filter} {name}");
        }
    };
    // 4.7.1.2: `#` stands for the parent and any number of levels below it.
    check("house/#", &["house", "house/", "house/attic", "house//", "house/attic/lamp/on"]);
    check("#", &["house", "/", "/house", "house/attic", "house/", "//"]);
    check("/#", &["/", "/house", "//", "/house/attic"]);
    check("house/+/#", &["house/attic", "house/", "house/attic/lamp", "house//"]);
    // 4.7.1.3: `+` stands for one level, which may be empty.
    check("house/+", &["house/", "house/attic"]);
    check("+/+", &["/", "/house", "house/", "house/attic"]);
    check("house/+/lamp", &["house/attic/lamp", "house//lamp"]);
    check("house/+/+/lamp", &["house///lamp", "house/a/b/lamp"]);
    check("house//+", &["house//", "house//lamp"]);
    check("+", &["house", " "]);
    // 4.7.3: names are compared character by character.
    check("house/attic", &["house/attic"]);
    check("house//attic", &["house//attic"]);
    check("Ünï/cødé", &["Ünï/cødé"]);
    // 4.7.2: a filter that begins with the word of a `$`-topic matches below it.
    check("$SYS/#", &["$SYS", "$SYS/", "$SYS/uptime"]);
    check("$SYS/+/load", &["$SYS/broker/load", "$SYS//load"]);
    check("a/#", &["a/$SYS", "a/$SYS/b"]);
    check("+/$SYS", &["a/$SYS"]);
}

#[test]
fn filters_do_not_match_names() {
    let check = |filter: &str, names: &[&str]| {
        assert!(Filter::new(filter).is_ok(), "{filter}");
        for name in names {
            assert!(Name::new(name).is_ok() && !matches(filter, name), "{filter} {name}");
        }
    };
    check("house/#", &["houses", "hous", "/house", "House", "houses/attic", "$house"]);
    check("/#", &["house", "house/"]);
    check("+", &["/", "/house", "house/", "a/b"]);
    check("house/+", &["house", "house/attic/lamp", "house/attic/", "/house/attic"]);
    check("+/+", &["house", "a/b/c", "//"]);
    check("house/+/lamp", &["house/lamp", "house/a/b/lamp", "house/attic/lamps", "house/attic"]);
    check("house/+/#", &["house", "horse/attic/lamp"]);
    check("house/attic", &["house", "house/attic/", "house/", "house/attics", "HOUSE/attic"]);
    check("house//attic", &["house/attic"]);
    check("#", &["$SYS", "$SYS/uptime", "$", "$/x", "$share/g/x", "$queue/x"]);
    check("+", &["$SYS", "$"]);
    check("+/#", &["$SYS", "$SYS/uptime"]);
    check("+/uptime", &["$SYS/uptime"]);
    check("$SYS/#", &["SYS/uptime", "$SYSTEM/uptime", "$/SYS"]);
    check("$A/x", &["$B/x"]);
    // Composed and decomposed letters are different characters.
    check("\u{e9}", &["e\u{301}"]);
}

#[test]
fn misplaced_wildcards_are_invalid_wherever_they_are() {
    let words = ["a", "", "$x", "é"];
    for wildcard in ["+", "#"] {
        for word in words.into_iter().filter(|word| !word.is_empty()) {
            for wrong in [format!("{wildcard}{word}"), format!("{word}{wildcard}")] {
                for around in
                    [["", ""], ["b/", ""], ["", "/b"], ["b/", "/b"], ["/", "/"], ["+/", "/#"]]
                {
                    let filter = around.join(&wrong);
                    assert!(Filter::new(&filter).is_err(), "{filter}");
                    assert!(Name::new(&filter).is_err(), "{filter}");
                }
            }
        }
    }
    for filter in ["#/", "#/#", "#/+", "a/#/b", "/#/", "+/#/+", "a+b", "a#b", "++", "##", "+#"] {
        assert!(Filter::new(filter).is_err(), "{filter}");
    }
}

#[test]
fn client_ids_with_wildcards_are_no_names() {
    // A filter that is made of a client id must not widen by it.
    for id in ["#", "+", "a/#", "+/b"] {
        assert!(Name::new(&format!("devices/{id}")).is_err(), "{id}");
    }
}

#[test]
fn the_widest_names_are_handled() {
    let deep = ["a"; 128].join("/");
    let filter = format!("{}/#", ["+"; 127].join("/"));
    let (name, filter) =
        (Name::within(&deep, &Limits::WIDEST), Filter::within(&filter, &Limits::WIDEST));
    assert!(filter.unwrap().matches(name.unwrap()));
}

/// Reads a file of the corpora beside the project; without them there is nothing to compare.
fn corpus(file: &str) -> Option<Json> {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpora/mqtt"));
    if !root.is_dir() {
        println!("no corpora: no vectors of others");
        return None;
    }
    let text = fs::read_to_string(root.join(file)).unwrap();
    Some(serde_json::from_str(&text).unwrap())
}

fn list<'j>(json: &'j Json, name: &str) -> impl Iterator<Item = &'j Json> {
    json.get(name).and_then(Json::as_array).into_iter().flatten()
}

fn text<'j>(json: &'j Json, name: &str) -> &'j str {
    json.get(name).and_then(Json::as_str).unwrap_or_else(|| panic!("no {name} in {json}"))
}

fn flag(json: &Json, name: &str) -> bool {
    json.get(name).and_then(Json::as_bool).unwrap_or_else(|| panic!("no {name} in {json}"))
}
