//! The codecs of others, each at its best.

mod core;
mod mqttbytes;
mod mqttrs;
mod proto;
mod rumqttc;

use std::hint::black_box;

use bytes::BytesMut;
use wardgate_mqtt::packet::Version;

use super::codec::{Codec, ROOM};
use crate::entry::Entry;
use crate::measure::Side;

pub(super) use core::NAME as PROTOCOL_CORE;
pub(super) use mqttbytes::NAME as MQTTBYTES;
pub(super) use mqttrs::NAME as MQTTRS;
pub(super) use proto::NAME as MQTT_PROTO;
pub(super) use rumqttc::NAME as RUMQTTC;

/// The rows of a codec that write: a packet that was there, and one that is made first.
type Writers<'a> = Result<[Entry<'a>; 2], String>;

/// Returns the rows that write a packet.
pub(super) fn encoders(codec: &Codec) -> Result<Vec<Entry<'_>>, String> {
    let mut pairs = match codec.version {
        Version::V311 => vec![
            mqttbytes::encoders_of_3(codec)?,
            rumqttc::encoders_of_3(codec)?,
            proto::encoders_of_3(codec)?,
            core::encoders_of_3(codec)?,
        ],
        Version::V5 => vec![
            mqttbytes::encoders_of_5(codec)?,
            rumqttc::encoders_of_5(codec)?,
            proto::encoders_of_5(codec)?,
            core::encoders_of_5(codec)?,
        ],
    };
    if codec.version == Version::V311 {
        pairs.push(mqttrs::encoders(codec)?);
    }
    Ok(pairs.into_iter().flatten().collect())
}

/// Returns the rows that read a packet.
pub(super) fn decoders(codec: &Codec) -> Result<Vec<Entry<'_>>, String> {
    Ok(match codec.version {
        Version::V311 => vec![
            mqttbytes::decoder_of_3(codec)?,
            rumqttc::decoder_of_3(codec)?,
            proto::decoder_of_3(codec)?,
            core::decoder_of_3(codec)?,
            mqttrs::decoder(codec)?,
        ],
        Version::V5 => vec![
            mqttbytes::decoder_of_5(codec)?,
            rumqttc::decoder_of_5(codec)?,
            proto::decoder_of_5(codec)?,
            core::decoder_of_5(codec)?,
        ],
    })
}

/// Makes the rows of a codec: `buffer` makes what is written to, `packet` makes a packet.
fn writers<'a, B: AsRef<[u8]> + 'a, P: 'a>(
    codec: &'a Codec,
    name: &str,
    buffer: fn() -> B,
    packet: impl Fn() -> P + 'a,
    write: impl Fn(&P, &mut B) -> bool + Copy + 'a,
) -> Writers<'a> {
    let ready = packet();
    let written = move |out: &mut B| write(black_box(&ready), out);
    let made = move |out: &mut B| write(&packet(), out);
    Ok([
        codec.writer(&format!("{name}, written"), Side::Rival, buffer(), written)?,
        codec.writer(&format!("{name}, made and written"), Side::Rival, buffer(), made)?,
    ])
}

fn room() -> BytesMut {
    BytesMut::with_capacity(ROOM)
}

/// The largest packet.
const MOST: usize = 1 << 20;
