//! `wardgate bench mqtt`.

use crate::folder::Folder;

#[test]
fn servers_of_mqtt_are_compared() {
    let folder = Folder::new();
    let ran = folder.run("bench mqtt --seconds 0.05 --idle 20 --hostile --chart chart.svg");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{}", ran.out);
    assert!(ran.out.starts_with("every message was delivered, in order\n"), "{}", ran.out);
    for row in [
        "publish 64 B, delivered to one ",
        "publish 4096 B, delivered to one ",
        "delivered, 1 to 1, 64 B ",
        "delivered, 1 to 10, 64 B ",
        "end to end, 64 B ",
        "connect 3.1.1 ",
        "connect 5.0 ",
        "20 idle clients, memory ",
        "20 slow readers, peak ",
        "half-open connections, peak ",
        "16 SUBSCRIBE storms, peak ",
        "1,000 reconnects, peak ",
    ] {
        assert!(ran.out.lines().any(|line| line.starts_with(row)), "{row} is missing: {}", ran.out);
    }
    assert!(ran.out.ends_with("the chart is in `chart.svg`\n"), "{}", ran.out);
    let has_mosquitto = ran.out.contains("gate before it");
    assert!(has_mosquitto || ran.out.contains("mosquitto was not found"), "{}", ran.out);
    assert!(folder.read("chart.svg").starts_with(b"<svg"));
    assert_eq!(folder.names(), ["chart.svg"]);
}

#[test]
fn a_program_that_is_no_broker_is_refused() {
    let folder = Folder::new();
    let sentence = "`nowhere` is not the program mosquitto";
    folder.run("bench mqtt --mosquitto nowhere").complains(2, sentence);
    assert_eq!(folder.run("bench mqtt --seconds 0").code, 2);
    assert!(folder.names().is_empty());
}
