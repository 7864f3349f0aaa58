//! The records of events: what a reader must know beside decisions.

use alloc::vec::Vec;

use super::ShortText;
use crate::bytes::{Reader, Text};
use crate::limits::MAX_SETTINGS_BYTES;

/// Makes the writer and the reader of a record that is its fields, one after another.
macro_rules! fields {
    ($name:ident { $($field:ident: $form:ident),+ $(,)? }) => {
        impl $name {
            pub(super) fn write(&self, out: &mut Vec<u8>) {
                $(fields!(write $form, &self.$field, out);)+
            }

            pub(super) fn read(reader: &mut Reader<'_>) -> Option<Self> {
                Some(Self { $($field: fields!(read $form, reader)),+ })
            }
        }
    };
    (write number, $field:expr, $out:ident) => { $out.extend($field.to_le_bytes()) };
    (write digest, $field:expr, $out:ident) => { $out.extend($field) };
    (write text, $field:expr, $out:ident) => { $field.write($out) };
    (write event, $field:expr, $out:ident) => { $out.push($field.code()) };
    (read number, $reader:ident) => { $reader.array().map(FromBytes::of)? };
    (read digest, $reader:ident) => { $reader.array()? };
    (read text, $reader:ident) => { Text::read($reader)? };
    (read event, $reader:ident) => { ProcessEvent::of($reader.byte()?)? };
}

/// Policies that came into force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policies {
    /// The time, in microseconds since 1970.
    pub micros: i64,
    /// The number under which later records name them.
    pub number: u32,
    /// The revision of the bundle.
    pub revision: u64,
    /// The root of its content.
    pub root: [u8; 32],
    /// The name of the bundle.
    pub name: ShortText,
}

/// The names of a target, which has a number from here on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The number of the policies under which it has the number.
    pub policies: u32,
    /// The number, below 2^30.
    pub number: u32,
    /// The kind of the resource.
    pub kind: ShortText,
    /// The version of the policies that the request selected.
    pub version: ShortText,
    /// The scope that the request selected.
    pub scope: ShortText,
    /// The action.
    pub action: ShortText,
}

/// Records that were not written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The time, in microseconds since 1970.
    pub micros: i64,
    /// The stream whose records are missing.
    pub stream: u16,
    /// The sequence of the first one.
    pub first: u32,
    /// The number of records that are missing.
    pub count: u64,
    /// The reason, such as `full`.
    pub reason: ShortText,
}

/// A clock that went back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clock {
    /// The highest time before, in microseconds since 1970.
    pub before: i64,
    /// The time now.
    pub now: i64,
}

/// The start or end of the process that writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// The time, in microseconds since 1970.
    pub micros: i64,
    /// The event.
    pub event: ProcessEvent,
    /// A random number of the process.
    pub instance: [u8; 16],
    /// The version of the program.
    pub version: ShortText,
}

/// An event in the life of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessEvent {
    /// It began to write.
    Started,
    /// It ended as it was asked to.
    Stopped,
}

/// Keys of subjects that were deleted. The record names nobody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Erasure {
    /// The time, in microseconds since 1970.
    pub micros: i64,
    /// The number of keys.
    pub keys: u32,
}

/// The settings of the log, so that an absence can be read rightly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The time, in microseconds since 1970.
    pub micros: i64,
    /// The settings, in the words of the host.
    pub text: Text<MAX_SETTINGS_BYTES>,
}

/// A search over many resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// The time, in microseconds since 1970.
    pub micros: i64,
    /// The number of the policies that decided.
    pub policies: u32,
    /// The number of the kind, version, scope and action.
    pub target: u32,
    /// The number of resources that were asked about.
    pub asked: u64,
    /// The number of those that are allowed.
    pub allowed: u64,
}

/// The end of a log that is missing, as an operator accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The time, in microseconds since 1970.
    pub micros: i64,
    /// The frames that a checkpoint says there were.
    pub frames: u64,
    /// The frames that were found.
    pub found: u64,
    /// The reason that the operator gave.
    pub reason: ShortText,
}

fields!(Policies { micros: number, number: number, revision: number, root: digest, name: text });
fields!(Target {
    policies: number,
    number: number,
    kind: text,
    version: text,
    scope: text,
    action: text,
});
fields!(Lost { micros: number, stream: number, first: number, count: number, reason: text });
fields!(Clock { before: number, now: number });
fields!(Process { micros: number, event: event, instance: digest, version: text });
fields!(Erasure { micros: number, keys: number });
fields!(Settings { micros: number, text: text });
fields!(Search {
    micros: number,
    policies: number,
    target: number,
    asked: number,
    allowed: number
});
fields!(Loss { micros: number, frames: number, found: number, reason: text });

impl ProcessEvent {
    const fn code(self) -> u8 {
        match self {
            Self::Started => 0,
            Self::Stopped => 1,
        }
    }

    const fn of(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Started),
            1 => Some(Self::Stopped),
            _ => None,
        }
    }
}

/// A number out of its bytes, little-endian.
trait FromBytes<const N: usize> {
    fn of(bytes: [u8; N]) -> Self;
}

macro_rules! from_bytes {
    ($($number:ident $bytes:literal),+) => {
        $(impl FromBytes<$bytes> for $number {
            fn of(bytes: [u8; $bytes]) -> Self {
                Self::from_le_bytes(bytes)
            }
        })+
    };
}

from_bytes!(u16 2, u32 4, u64 8, i64 8);
