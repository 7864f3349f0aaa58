//! The index: subjects and resources for searches, and properties in place of those that a request
//! leaves out.
//!
//! A folder with a file of JSON for each type: `subject.user.json`, `resource.record.json`, each a
//! list of `{"id", "properties"}`.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use serde_json::value::RawValue;
use wardgate_crypto::blake3;
use wardgate_engine::attr::{Attr, AttrMap};
use wardgate_native::protocol::authzen::{Directory, Entity};
use wardgate_native::protocol::documents;

use crate::files::{bounded, reason};
use crate::limits::{MAX_ENTITIES, MAX_INDEX_BYTES, MAX_INDEX_FILE_BYTES, MAX_INDEX_FILES};

/// The entities of a folder.
#[derive(Debug)]
pub(crate) struct FileDirectory {
    subjects: HashMap<String, List>,
    resources: HashMap<String, List>,
    /// Of all files, to find out whether anything changed.
    digest: [u8; 32],
}

/// The entities of one type, in the order of their file.
#[derive(Debug)]
struct List {
    entities: Vec<Entity>,
    positions: HashMap<String, usize>,
}

impl FileDirectory {
    /// Reads a folder; returns `None` if it is unchanged.
    pub(crate) fn read(folder: &Path, before: Option<&Self>) -> Result<Option<Self>, String> {
        let files = files(folder)?;
        let mut all = Vec::new();
        for (name, bytes) in &files {
            all.extend_from_slice(&blake3::hash(name.as_bytes()));
            all.extend_from_slice(&blake3::hash(bytes));
        }
        let digest = blake3::hash(&all);
        if before.is_some_and(|before| before.digest == digest) {
            return Ok(None);
        }
        let mut directory = Self { subjects: HashMap::new(), resources: HashMap::new(), digest };
        for (name, bytes) in &files {
            directory.add(name, bytes).map_err(|error| format!("the index `{name}`: {error}"))?;
        }
        Ok(Some(directory))
    }

    /// All subjects of a type.
    pub(crate) fn subjects(&self, kind: &str) -> &[Entity] {
        self.subjects.get(kind).map_or(&[], |list| &list.entities)
    }

    /// All resources of a type.
    pub(crate) fn resources(&self, kind: &str) -> &[Entity] {
        self.resources.get(kind).map_or(&[], |list| &list.entities)
    }

    fn add(&mut self, name: &str, bytes: &[u8]) -> Result<(), String> {
        let stem = name.strip_suffix(".json").unwrap_or(name);
        match stem.split_once('.') {
            Some(("subject", kind)) => {
                self.subjects.insert(kind.to_owned(), List::read(kind, bytes)?);
            }
            Some(("resource", kind)) => {
                self.resources.insert(kind.to_owned(), List::read(kind, bytes)?);
            }
            _ => return Err("expected a name such as `subject.user.json`".to_owned()),
        }
        Ok(())
    }
}

impl Directory for FileDirectory {
    fn subject(&self, kind: &str, id: &str) -> Option<&AttrMap> {
        self.subjects.get(kind)?.find(id)
    }

    fn resource(&self, kind: &str, id: &str) -> Option<&AttrMap> {
        self.resources.get(kind)?.find(id)
    }
}

impl List {
    fn read(kind: &str, bytes: &[u8]) -> Result<Self, String> {
        // Each entry is read by itself, so that the bounds of a request hold for one of them and
        // not for all.
        let items: Vec<&RawValue> =
            serde_json::from_slice(bytes).map_err(|error| format!("it is not a list: {error}"))?;
        if items.len() > MAX_ENTITIES {
            return Err(format!("it has more than {MAX_ENTITIES} entries"));
        }
        let (mut entities, mut positions) = (Vec::new(), HashMap::new());
        for (at, item) in items.into_iter().enumerate() {
            let entity =
                entity(kind, item).map_err(|error| format!("entry {}: {error}", at + 1))?;
            if let Some(before) = positions.insert(entity.id.clone(), at) {
                let id = &entity.id;
                return Err(format!(
                    "duplicate id `{id}`, in entries {} and {}",
                    before + 1,
                    at + 1
                ));
            }
            entities.push(entity);
        }
        Ok(Self { entities, positions })
    }

    fn find(&self, id: &str) -> Option<&AttrMap> {
        self.entities.get(*self.positions.get(id)?)?.properties.as_ref()
    }
}

fn entity(kind: &str, entry: &RawValue) -> Result<Entity, String> {
    let document =
        documents::attribute(entry.get().as_bytes()).map_err(|error| error.to_string())?;
    let Attr::Map(map) = document else { return Err("it is not an object".to_owned()) };
    let Some(Attr::String(id)) = map.get("id") else {
        return Err("its `id` must be a string".to_owned());
    };
    let id = id.to_string();
    let properties = match map.into_iter().find(|(name, _)| &**name == "properties") {
        None => AttrMap::new(),
        Some((_, Attr::Map(properties))) => properties,
        Some(_) => return Err(format!("the `properties` of `{id}` must be an object")),
    };
    Ok(Entity { kind: kind.to_owned(), id, properties: Some(properties) })
}

/// The files of a folder, sorted by their names.
fn files(folder: &Path) -> Result<Vec<(String, Vec<u8>)>, String> {
    let failed = |error: std::io::Error| {
        format!("cannot read the index `{}`: {}", folder.display(), reason(&error))
    };
    let (mut files, mut left) = (Vec::new(), MAX_INDEX_BYTES);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.ends_with(".json") {
            continue;
        }
        if files.len() == MAX_INDEX_FILES {
            return Err(format!("the index has more than {MAX_INDEX_FILES} files"));
        }
        let bytes = bounded(&entry.path(), MAX_INDEX_FILE_BYTES)
            .map_err(|error| format!("the index `{name}`: {error}"))?;
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        left = left.checked_sub(length).ok_or_else(|| {
            format!("the files of the index have more than {MAX_INDEX_BYTES} bytes")
        })?;
        files.push((name, bytes));
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests;
