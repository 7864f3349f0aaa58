use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;

/// A folder that is there as long as this is.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("wardgate-index-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn of(files: &[(&str, &str)]) -> Self {
        let folder = Self::new();
        for (name, text) in files {
            fs::write(folder.0.join(name), text).unwrap();
        }
        folder
    }

    fn read(&self) -> Result<FileDirectory, String> {
        FileDirectory::read(&self.0, None).map(Option::unwrap)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn refused(text: &str, expected: &str) {
    let error = Folder::of(&[("subject.user.json", text)]).read().unwrap_err();
    assert_eq!(error, format!("the index `subject.user.json`: {expected}"), "{}", text.len());
}

#[test]
fn entities_are_found_by_type_and_id() {
    let directory = Folder::of(&[
        ("subject.user.json", r#"[{"id": "ada", "properties": {"team": "red"}}, {"id": "bo"}]"#),
        ("resource.album.json", r#"[{"id": "ada"}]"#),
        ("notes.txt", "no part of it"),
    ]);
    let directory = directory.read().unwrap();
    let team = directory.subject("user", "ada").and_then(|known| known.get("team"));
    assert_eq!(team, Some(&Attr::String("red".into())));
    assert_eq!(directory.subjects("user").len(), 2);
    assert!(directory.resource("album", "ada").is_some_and(|known| known.entries().is_empty()));
    assert!(directory.resource("album", "bo").is_none() && directory.subjects("album").is_empty());
}

#[test]
fn an_id_that_stands_twice_is_refused() {
    refused(
        r#"[{"id": "ada", "properties": {"roles": ["guest"]}}, {"id": "bo"}, {"id": "ada"}]"#,
        "duplicate id `ada`, in entries 1 and 3",
    );
}

#[test]
fn a_malformed_index_is_refused_with_its_position() {
    refused("[{}]", "entry 1: its `id` must be a string");
    refused(r#"[{"id": "a"}, 1]"#, "entry 2: it is not an object");
    refused(
        r#"[{"id": "a", "properties": []}]"#,
        "entry 1: the `properties` of `a` must be an object",
    );
    let error = Folder::of(&[("subject.user.json", "{}")]).read().unwrap_err();
    assert!(error.starts_with("the index `subject.user.json`: it is not a list: "), "{error}");
    let error = Folder::of(&[("users.json", "[]")]).read().unwrap_err();
    assert_eq!(error, "the index `users.json`: expected a name such as `subject.user.json`");
}

#[test]
fn entities_of_one_type_are_bounded() {
    let list = |count: usize| {
        let entries: Vec<String> = (0..count).map(|id| format!("{{\"id\":\"{id}\"}}")).collect();
        format!("[{}]", entries.join(","))
    };
    let most = Folder::of(&[("subject.user.json", &list(MAX_ENTITIES))]).read().unwrap();
    assert_eq!(most.subjects("user").len(), MAX_ENTITIES);
    refused(&list(MAX_ENTITIES + 1), "it has more than 50000 entries");
}

#[test]
fn bytes_of_one_file_and_of_all_are_bounded() {
    let most = usize::try_from(MAX_INDEX_FILE_BYTES).unwrap();
    let padded = |length: usize| format!("[{}]", " ".repeat(length - 2));
    assert!(Folder::of(&[("subject.user.json", &padded(most))]).read().is_ok());
    refused(&padded(most + 1), "it has more than 8388608 bytes");
    let folder = Folder::new();
    for number in 0..=MAX_INDEX_BYTES / MAX_INDEX_FILE_BYTES {
        // Holes take no room on the disk.
        let file = File::create(folder.0.join(format!("subject.u{number}.json"))).unwrap();
        file.set_len(MAX_INDEX_FILE_BYTES).unwrap();
    }
    let expected = "the files of the index have more than 67108864 bytes";
    assert_eq!(folder.read().unwrap_err(), expected);
}
