//! The lines of a policy of witnesses.
//!
//! Names are bytes: two that look alike are two.

use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use super::{Group, Member, PolicyFault, PolicyLog, Witness, WitnessPolicy};
use crate::checkpoint::ML_DSA_44;
use crate::cosigner::CosignerKey;
use crate::limits::MAX_POLICY_LINES;
use crate::note::VerifierKey;

/// What the lines until now say.
#[derive(Debug, Default)]
pub(super) struct Draft {
    logs: Vec<PolicyLog>,
    witnesses: Vec<Witness>,
    groups: Vec<Group>,
    /// The outer `None` as long as there was no such line.
    quorum: Option<Option<Member>>,
    names: BTreeMap<Vec<u8>, Member>,
    /// The names that are members of groups.
    used: BTreeSet<Vec<u8>>,
    /// The public keys of witnesses.
    keys: BTreeSet<Vec<u8>>,
}

impl Draft {
    /// Adds a line, which ends with a line feed.
    pub(super) fn add(&mut self, line: &[u8]) -> Result<(), PolicyFault> {
        let line = line.strip_suffix(b"\n").ok_or(PolicyFault::Cut)?;
        if line.iter().any(|byte| (*byte < b' ' && *byte != b'\t') || *byte == 0x7f) {
            return Err(PolicyFault::Characters);
        }
        let items = line.split(|byte| *byte == b' ' || *byte == b'\t');
        let items: Vec<&[u8]> = items.filter(|item| !item.is_empty()).collect();
        match items.as_slice() {
            [] => Ok(()),
            [first, ..] if first.starts_with(b"#") => Ok(()),
            [b"log", key] => self.log(key, None),
            [b"log", key, url] => self.log(key, Some(url)),
            [b"witness", name, key] => self.witness(name, key, None),
            [b"witness", name, key, url] => self.witness(name, key, Some(url)),
            [b"group", name, least, members @ ..] if !members.is_empty() => {
                self.group(name, least, members)
            }
            [b"quorum", name] => self.quorum(name),
            _ => Err(PolicyFault::Form),
        }
    }

    pub(super) fn finish(self) -> Result<WitnessPolicy, PolicyFault> {
        let Self { logs, witnesses, groups, quorum, .. } = self;
        let quorum = quorum.ok_or(PolicyFault::NoQuorum)?;
        Ok(WitnessPolicy { logs, witnesses, groups, quorum })
    }

    fn log(&mut self, key: &[u8], url: Option<&[u8]>) -> Result<(), PolicyFault> {
        let key = text(key).and_then(|key| VerifierKey::read(&key)).ok_or(PolicyFault::LogKey)?;
        if ![ED25519_NOTE, ML_DSA_44].contains(&key.kind) {
            return Err(PolicyFault::LogKey);
        }
        if self.logs.iter().any(|log| log.key.key == key.key) {
            return Err(PolicyFault::DuplicateKey);
        }
        has_room(&self.logs)?;
        self.logs.push(PolicyLog { key, url: url.map(lossy) });
        Ok(())
    }

    fn witness(&mut self, name: &[u8], key: &[u8], url: Option<&[u8]>) -> Result<(), PolicyFault> {
        let vkey = text(key).ok_or(PolicyFault::WitnessKey)?;
        let key = CosignerKey::read(&vkey).ok_or(PolicyFault::WitnessKey)?;
        let public = VerifierKey::read(&vkey).ok_or(PolicyFault::WitnessKey)?.key;
        has_room(&self.witnesses)?;
        if !self.keys.insert(public) {
            return Err(PolicyFault::DuplicateKey);
        }
        self.define(name, Member::Witness(self.witnesses.len()))?;
        self.witnesses.push(Witness { name: lossy(name), key, url: url.map(lossy) });
        Ok(())
    }

    fn group(&mut self, name: &[u8], least: &[u8], members: &[&[u8]]) -> Result<(), PolicyFault> {
        let least = match least {
            b"all" => members.len(),
            b"any" => 1,
            number => threshold(number).ok_or(PolicyFault::Threshold)?,
        };
        if !(1..=members.len()).contains(&least) {
            return Err(PolicyFault::Threshold);
        }
        let mut found = Vec::with_capacity(members.len());
        for member in members {
            found.push(self.named(member)?);
            if !self.used.insert((*member).to_owned()) {
                return Err(PolicyFault::DuplicateMember);
            }
        }
        has_room(&self.groups)?;
        self.define(name, Member::Group(self.groups.len()))?;
        self.groups.push(Group { least, members: found });
        Ok(())
    }

    fn quorum(&mut self, name: &[u8]) -> Result<(), PolicyFault> {
        let quorum = if name == NONE { None } else { Some(self.named(name)?) };
        match self.quorum.replace(quorum) {
            None => Ok(()),
            Some(_) => Err(PolicyFault::DuplicateQuorum),
        }
    }

    fn named(&self, name: &[u8]) -> Result<Member, PolicyFault> {
        self.names.get(name).copied().ok_or(PolicyFault::UnknownName)
    }

    fn define(&mut self, name: &[u8], member: Member) -> Result<(), PolicyFault> {
        let is_new = name != NONE && self.names.insert(name.to_owned(), member).is_none();
        if is_new { Ok(()) } else { Err(PolicyFault::DuplicateName) }
    }
}

fn has_room<T>(lines: &[T]) -> Result<(), PolicyFault> {
    if lines.len() < MAX_POLICY_LINES { Ok(()) } else { Err(PolicyFault::Long) }
}

/// Reads a number without sign and leading zeros.
fn threshold(number: &[u8]) -> Option<usize> {
    let number = crate::checkpoint::decimal(&text(number)?)?;
    usize::try_from(number).ok()
}

fn text(bytes: &[u8]) -> Option<String> {
    core::str::from_utf8(bytes).ok().map(ToOwned::to_owned)
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The name of the quorum that needs no cosignature.
const NONE: &[u8] = b"none";

/// The type of Ed25519 signatures without a time, with which logs of others sign.
const ED25519_NOTE: u8 = 1;
