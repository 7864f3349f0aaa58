//! A folder as the target: a file gets its name once it is on the disk in full, and never takes that of another one.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::object::Object;
use super::target::{Fault, Found, Put};
use crate::journal::files::sync_names;

/// A folder on another volume.
#[derive(Debug)]
pub(super) struct Directory(PathBuf);

impl Directory {
    /// Takes a folder, which need not be there yet: a volume that is not mounted must not become a folder of this one.
    ///
    /// # Errors
    /// It is that of the log.
    pub(super) fn new(log: &Path, folder: &Path) -> Result<Self, String> {
        let is_same = match (log.canonicalize(), folder.canonicalize()) {
            (Ok(log), Ok(folder)) => folder.starts_with(log),
            _ => folder.starts_with(log),
        };
        let what = || format!("`{}` is within the folder of the log", folder.display());
        if is_same { Err(what()) } else { Ok(Self(folder.to_owned())) }
    }

    pub(super) fn name(&self) -> String {
        self.0.display().to_string()
    }

    pub(super) fn put(&self, object: &Object) -> Result<Put, Fault> {
        let path = self.0.join(&object.name);
        if fs::symlink_metadata(&path).is_ok() {
            return Ok(Put::Exists);
        }
        let new = path.with_added_extension("new");
        self.make_folder(&path)?;
        let written = write(&new, object).map_err(Fault::of("write", &new));
        // A link takes no name that another file has; a rename would.
        let linked = written.and_then(|()| match fs::hard_link(&new, &path) {
            Ok(()) => Ok(Put::Created),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(Put::Exists),
            Err(error) => Err(Fault::of("make a link at", &path)(error)),
        });
        // What is left of it is overwritten by the next try.
        fs::remove_file(&new).unwrap_or_default();
        let put = linked?;
        let folder = path.parent().unwrap_or(&self.0);
        sync_names(folder).map_err(Fault::of("sync", folder))?;
        Ok(put)
    }

    /// Makes the folder of a file within the target.
    fn make_folder(&self, path: &Path) -> Result<(), Fault> {
        fs::read_dir(&self.0).map_err(Fault::of("read", &self.0))?;
        let folder = path.parent().unwrap_or(&self.0);
        fs::create_dir_all(folder).map_err(Fault::of("make", folder))
    }

    pub(super) fn compare(&self, object: &Object) -> Result<Found, Fault> {
        let path = self.0.join(&object.name);
        let mut file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Missing),
            Err(error) => return Err(Fault::of("read", &path)(error)),
        };
        let is_same = is_same(&mut file, object).map_err(Fault::of("compare", &path))?;
        Ok(if is_same { Found::Same } else { Found::Other })
    }
}

fn write(path: &Path, object: &Object) -> io::Result<()> {
    let mut file = File::create(path)?;
    let copied = io::copy(&mut object.open()?, &mut file)?;
    if copied != object.bytes() {
        return Err(io::Error::other("it ends early"));
    }
    file.sync_all()
}

fn is_same(file: &mut File, object: &Object) -> io::Result<bool> {
    let (mut comparison, mut buffer) = (object.comparison()?, Vec::new());
    loop {
        buffer.clear();
        if file.by_ref().take(PIECE_BYTES).read_to_end(&mut buffer)? == 0 {
            return comparison.ends();
        }
        if !comparison.goes_on_with(&buffer)? {
            return Ok(false);
        }
    }
}

/// The bytes that are compared at a time.
const PIECE_BYTES: u64 = 64 << 10;
