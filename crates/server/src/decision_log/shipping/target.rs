//! The target of shipping, and what becomes of an object there.

use std::io;
use std::path::Path;
use std::time::Duration;

use wardgate_bundle::hexadecimal;
use wardgate_crypto::blake3;

use super::directory::Directory;
use super::object::Object;
use super::store::Store;
use crate::config::ShippingTarget;
use crate::files::reason;

/// A place for copies.
#[derive(Debug)]
pub(super) enum Target {
    Directory(Directory),
    Store(Box<Store>),
}

/// The outcome of putting an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Put {
    /// It is there now.
    Created,
    /// There is an object of its name, which stays.
    Exists,
}

/// What has the name of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The same bytes.
    Same,
    /// Other bytes.
    Other,
    /// Nothing.
    Missing,
    /// Something that cannot be read, in words for the operator.
    Unreadable(String),
}

/// A failure that may pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// In words for the operator.
    pub(super) what: String,
    /// When to come again, if the target says so.
    pub(super) after: Option<Duration>,
}

impl Target {
    /// Reads the files that the configuration names.
    ///
    /// # Errors
    /// They cannot be used, in words for the operator.
    pub(super) fn new(log: &Path, config: &ShippingTarget) -> Result<Self, String> {
        match config {
            ShippingTarget::Folder(folder) => Directory::new(log, folder).map(Self::Directory),
            ShippingTarget::Store(store) => Store::new(store).map(Box::new).map(Self::Store),
        }
    }

    /// Returns a digest by which a target is known again. Its name may be a secret.
    pub(super) fn digest(&self) -> String {
        let name = match self {
            Self::Directory(directory) => directory.name(),
            Self::Store(store) => store.name(),
        };
        hexadecimal(&blake3::hash(name.as_bytes()))
    }

    /// Puts an object where nothing has its name.
    pub(super) async fn put(&self, object: &Object) -> Result<Put, Fault> {
        match self {
            Self::Directory(directory) => directory.put(object),
            Self::Store(store) => store.put(object).await,
        }
    }

    /// Compares an object with what has its name.
    pub(super) async fn compare(&self, object: &Object) -> Result<Found, Fault> {
        match self {
            Self::Directory(directory) => directory.compare(object),
            Self::Store(store) => store.compare(object).await,
        }
    }

    /// Returns true if what is put might replace something: the target has to show that it does not.
    pub(super) const fn must_show(&self) -> bool {
        matches!(self, Self::Store(_))
    }
}

impl Fault {
    pub(super) fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), after: None }
    }

    /// Returns the failure to do something with a file.
    pub(super) fn of(doing: &str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::new(format!("cannot {doing} `{}`: {}", path.display(), reason(&error)))
    }
}
