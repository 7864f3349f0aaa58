//! MQTT: sets of filters, covers, packets and gates, natively and in Node, beside the crates that one
//! would use instead.
//!
//! Every row gives the expected answer before it is timed, and in each pass that is timed: sets are
//! compared with a plain trie, packets with those of all other codecs, verdicts with the rules.

mod codec;
mod counter;
mod cover;
mod filters;
mod gate;
mod node;
mod peers;
mod policies;
mod trie;

use std::path::Path;
use std::time::Instant;

use crate::arguments::{Arguments, MQTT};
use crate::ratios::Others::{All, Named};
use crate::ratios::Promise;
use crate::report::{NATIVE, Section};
use codec::Codec;

pub use counter::allocations;

/// The acts of a pass of [`allocations`].
pub const ACTS: u64 = 1000;

/// Measures everything.
pub(crate) fn sections(root: &Path, arguments: &Arguments) -> Result<Vec<Section>, String> {
    let start = Instant::now();
    let mut sections = filters::sections(root, arguments)?;
    sections.push(cover::section(root, arguments)?);
    for codec in Codec::all() {
        sections.extend(codec.sections(root, arguments)?);
    }
    sections.push(gate::section(root, arguments)?);
    if let (Some(counter), Some(last)) = (&arguments.counter, sections.last_mut()) {
        last.details = counter::table(counter)?;
    } else if arguments.native {
        eprintln!("allocations are left out: there is no program that counts them");
    }
    eprintln!("{MQTT}: {:.1} s", start.elapsed().as_secs_f64());
    Ok(sections)
}

/// The codecs of others, exactly as `Cargo.toml` pins them.
pub(crate) const VERSIONS: [&str; 5] =
    [peers::MQTTBYTES, peers::RUMQTTC, peers::MQTT_PROTO, peers::PROTOCOL_CORE, peers::MQTTRS];

const NODE: &str = "Node";
const PACKET: &str = "mqtt-packet";

/// The ratios that Wardgate promises of MQTT.
pub(crate) const PROMISES: &[Promise] = &[
    ("mqtt-encode-v4-64", NATIVE, "Wardgate, written", All(", written"), 2.0),
    ("mqtt-encode-v4-64", NATIVE, "Wardgate, made and written", All(", made and written"), 2.0),
    ("mqtt-encode-v4-1024", NATIVE, "Wardgate, written", All(", written"), 2.0),
    ("mqtt-encode-v4-1024", NATIVE, "Wardgate, made and written", All(", made and written"), 2.0),
    ("mqtt-encode-v5-64", NATIVE, "Wardgate, written", All(", written"), 2.0),
    ("mqtt-encode-v5-64", NATIVE, "Wardgate, made and written", All(", made and written"), 2.0),
    ("mqtt-encode-v5-1024", NATIVE, "Wardgate, written", All(", written"), 2.0),
    ("mqtt-encode-v5-1024", NATIVE, "Wardgate, made and written", All(", made and written"), 2.0),
    ("mqtt-decode-v4-64", NATIVE, "Wardgate", All(""), 2.0),
    ("mqtt-decode-v4-1024", NATIVE, "Wardgate", All(""), 2.0),
    ("mqtt-decode-v5-64", NATIVE, "Wardgate", All(""), 2.0),
    ("mqtt-decode-v5-1024", NATIVE, "Wardgate", All(""), 2.0),
    ("mqtt-encode-v4-64", NODE, "Wardgate encodeInto", Named(PACKET), 2.0),
    ("mqtt-encode-v5-64", NODE, "Wardgate encodeInto", Named(PACKET), 2.0),
    ("mqtt-decode-v4-64", NODE, "Wardgate decode", Named(PACKET), 2.0),
    ("mqtt-decode-v5-64", NODE, "Wardgate decode", Named(PACKET), 2.0),
];
