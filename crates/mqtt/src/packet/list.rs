//! Lists inside packets: checked bytes of a decoded one, or a slice for one to be encoded.

use core::fmt;

use super::error::PacketError;
use super::read::Reader;
use super::reason::Reason;
use super::write::Sink;
use super::{Qos, RetainHandling, Subscription};
use crate::limits::Limits;
use crate::topic::Filter;

/// A list of properties, filters, subscriptions or reason codes.
///
/// # Examples
/// ```
/// use wardgate_mqtt::packet::{List, Property};
///
/// let list = List::of(&[Property::TopicAlias(3)]);
/// assert_eq!(list.iter().next(), Some(Property::TopicAlias(3)));
/// assert!(List::<Property>::EMPTY.is_empty());
/// ```
#[derive(Clone, Copy)]
pub struct List<'p, T> {
    source: Source<'p, T>,
}

#[derive(Clone, Copy)]
enum Source<'p, T> {
    /// The bytes of the items, which were read once without an error.
    Bytes(&'p [u8]),
    Items(&'p [T]),
}

/// An item of a list.
pub trait Item<'p>: Copy + Sealed<'p> {}

/// What the codec knows of an item.
pub trait Sealed<'p>: Sized {
    #[doc(hidden)]
    fn from_front(bytes: &mut &'p [u8]) -> Option<Self>;
}

/// Reading and writing an item.
pub(super) trait Coded<'p>: Sized {
    fn read(reader: &mut Reader<'p>) -> Result<Self, PacketError>;

    fn write(&self, sink: &mut impl Sink);
}

/// The items of a list, first to last.
#[derive(Clone, Copy)]
pub struct Iter<'p, T> {
    source: Source<'p, T>,
}

impl<'p, T> List<'p, T> {
    /// The list without items.
    pub const EMPTY: Self = Self { source: Source::Bytes(&[]) };

    /// Makes a list of items.
    #[must_use]
    pub const fn of(items: &'p [T]) -> Self {
        Self { source: Source::Items(items) }
    }

    /// Makes a list of bytes that were read once without an error.
    pub(crate) const fn of_checked(bytes: &'p [u8]) -> Self {
        Self { source: Source::Bytes(bytes) }
    }

    /// Returns the bytes of the items of a list that was decoded.
    pub(crate) const fn bytes(&self) -> &'p [u8] {
        match self.source {
            Source::Bytes(bytes) => bytes,
            Source::Items(_) => &[],
        }
    }

    /// Returns true if the list has no items.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        match self.source {
            Source::Bytes(bytes) => bytes.is_empty(),
            Source::Items(items) => items.is_empty(),
        }
    }

    /// Returns the items.
    #[must_use]
    pub const fn iter(&self) -> Iter<'p, T>
    where
        T: Copy,
    {
        Iter { source: self.source }
    }
}

/// Writes the items of a list.
pub(super) fn write<'p, T: Coded<'p>>(list: &List<'p, T>, sink: &mut impl Sink) {
    match list.source {
        Source::Bytes(bytes) => sink.bytes(bytes),
        Source::Items(items) => items.iter().for_each(|item| item.write(sink)),
    }
}

impl<'p, T: Item<'p>> Iterator for Iter<'p, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        match &mut self.source {
            Source::Bytes(bytes) => T::from_front(bytes),
            Source::Items(items) => {
                let (first, rest) = items.split_first()?;
                *items = rest;
                Some(*first)
            }
        }
    }
}

impl<'p, T: Item<'p>> IntoIterator for List<'p, T> {
    type Item = T;
    type IntoIter = Iter<'p, T>;

    fn into_iter(self) -> Iter<'p, T> {
        self.iter()
    }
}

impl<'p, T: Item<'p> + PartialEq> PartialEq for List<'p, T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<'p, T: Item<'p> + fmt::Debug> fmt::Debug for List<'p, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<'p, T: Coded<'p>> Sealed<'p> for T {
    fn from_front(bytes: &mut &'p [u8]) -> Option<Self> {
        if bytes.is_empty() {
            return None;
        }
        let mut reader = Reader::new(bytes, bytes.len());
        let item = Self::read(&mut reader).ok();
        *bytes = reader.take_rest();
        item
    }
}

impl<'p, T: Coded<'p> + Copy> Item<'p> for T {}

impl<'p> Coded<'p> for Filter<'p> {
    fn read(reader: &mut Reader<'p>) -> Result<Self, PacketError> {
        let before = *reader;
        let text = reader.text()?;
        Self::within(text, &Limits::WIDEST)
            .or_else(|error| before.topic_fault(super::Fault::Filter(error)))
    }

    fn write(&self, sink: &mut impl Sink) {
        let Some(group) = self.group() else { return sink.text(self.text()) };
        let parts = ["$share/", group, "/", self.text()];
        let len = parts.iter().fold(0_usize, |len, part| len.saturating_add(part.len()));
        match u16::try_from(len) {
            Ok(len) => {
                sink.two(len);
                parts.iter().for_each(|part| sink.bytes(part.as_bytes()));
            }
            Err(_) => sink.too_long(),
        }
    }
}

impl<'p> Coded<'p> for Reason {
    fn read(reader: &mut Reader<'p>) -> Result<Self, PacketError> {
        reader.byte().map(Self)
    }

    fn write(&self, sink: &mut impl Sink) {
        sink.byte(self.0);
    }
}

impl<'p> Coded<'p> for Subscription<'p> {
    fn read(reader: &mut Reader<'p>) -> Result<Self, PacketError> {
        let filter = Filter::read(reader)?;
        let before = *reader;
        let options = reader.byte()?;
        let Some(qos) = Qos::of(options & 3) else { return before.fault(super::Fault::Qos) };
        let retain_handling = match options >> 4 {
            0 => RetainHandling::Send,
            1 => RetainHandling::SendIfNew,
            2 => RetainHandling::DoNotSend,
            3 => return before.fault(super::Fault::RetainHandling),
            _ => return before.fault(super::Fault::Options),
        };
        let (no_local, retain_as_published) = (options & 4 != 0, options & 8 != 0);
        if no_local && filter.group().is_some() {
            return before.fault(super::Fault::NoLocalShared);
        }
        Ok(Self { filter, qos, no_local, retain_as_published, retain_handling })
    }

    fn write(&self, sink: &mut impl Sink) {
        self.filter.write(sink);
        let handling = match self.retain_handling {
            RetainHandling::Send => 0,
            RetainHandling::SendIfNew => 1,
            RetainHandling::DoNotSend => 2_u8,
        };
        let flags = u8::from(self.no_local) << 2 | u8::from(self.retain_as_published) << 3;
        sink.byte(self.qos.number() | flags | handling << 4);
    }
}
