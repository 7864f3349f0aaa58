//! Groups of shared subscriptions: of each message, one member gets it.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::SessionId;
use super::route::Target;
use crate::set::Id;

/// All groups. A group is a name and a filter.
#[derive(Debug)]
pub(super) struct Groups {
    groups: BTreeMap<u32, Group>,
    by_text: BTreeMap<Box<str>, u32>,
    last: u32,
    members: usize,
}

#[derive(Debug)]
struct Group {
    text: Box<str>,
    /// Its filter in the set.
    id: Id,
    members: Vec<Target>,
    next: usize,
}

impl Groups {
    pub(super) const fn new() -> Self {
        Self { groups: BTreeMap::new(), by_text: BTreeMap::new(), last: 0, members: 0 }
    }

    /// Returns the number of groups.
    pub(super) fn len(&self) -> usize {
        self.groups.len()
    }

    /// Returns the number of members of all groups.
    pub(super) const fn members(&self) -> usize {
        self.members
    }

    /// Returns the group with that filter, `$share` part included.
    pub(super) fn find(&self, text: &str) -> Option<u32> {
        self.by_text.get(text).copied()
    }

    /// Returns a number for a group that does not exist.
    pub(super) fn unused(&mut self) -> u32 {
        // There are fewer subscriptions than numbers, so that one is found.
        loop {
            self.last = self.last.wrapping_add(1);
            if !self.groups.contains_key(&self.last) {
                return self.last;
            }
        }
    }

    /// Adds a group without members.
    pub(super) fn add(&mut self, number: u32, text: &str, id: Id) {
        let group = Group { text: text.into(), id, members: Vec::new(), next: 0 };
        self.groups.insert(number, group);
        self.by_text.insert(text.into(), number);
    }

    /// Adds a member, or gives it new options.
    pub(super) fn join(&mut self, number: u32, member: Target) {
        let Some(group) = self.groups.get_mut(&number) else { return };
        match group.members.iter_mut().find(|known| known.session == member.session) {
            Some(known) => *known = member,
            None => {
                group.members.push(member);
                self.members = self.members.saturating_add(1);
            }
        }
    }

    /// Removes a member. Returns the filter in the set if it was the last.
    pub(super) fn part(&mut self, number: u32, session: SessionId) -> Option<Id> {
        let group = self.groups.get_mut(&number)?;
        let at = group.members.iter().position(|member| member.session == session)?;
        group.members.remove(at);
        self.members = self.members.saturating_sub(1);
        if !group.members.is_empty() {
            // The turn stays with the member that had it.
            group.next = group.next.saturating_sub(usize::from(at < group.next));
            return None;
        }
        let group = self.groups.remove(&number)?;
        self.by_text.remove(&group.text);
        Some(group.id)
    }

    /// Returns the next member that can take a message, and the next of all if none can.
    pub(super) fn pick(
        &mut self,
        number: u32,
        can_take: impl Fn(SessionId) -> bool,
    ) -> Option<Target> {
        let group = self.groups.get_mut(&number)?;
        let count = group.members.len();
        let first = group.next.checked_rem(count)?;
        let order = (first..count).chain(0..first);
        let can_take =
            |at: &usize| group.members.get(*at).is_some_and(|member| can_take(member.session));
        let at = order.into_iter().find(can_take).unwrap_or(first);
        group.next = at.saturating_add(1);
        group.members.get(at).copied()
    }
}
