//! The conditions that a host sets for a bundle beside its signatures.
//!
//! The default requires a bounded size only. A bundle with dates is still refused until the host
//! passes a time, because its signer limited it to that period.

use crate::error::OpenError;
use crate::header::Header;
use crate::limits::MAX_BUNDLE_BYTES;
use crate::short_name::ShortName;

/// The conditions that a host sets for a bundle beside its signatures.
///
/// # Examples
/// ```
/// use wardgate_bundle::Conditions;
///
/// let conditions = Conditions {
///     now: Some(1_800_000_000),
///     min_revision: 7,
///     name: Some("payroll"),
///     ..Conditions::default()
/// };
/// assert_eq!(conditions.max_bytes, wardgate_bundle::limits::MAX_BUNDLE_BYTES);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions<'a> {
    /// The time of the host, in seconds since 1970. Bundles with dates require it.
    pub now: Option<u64>,
    /// The lowest revision that is accepted. A host passes the highest revision that it has seen,
    /// so that an older bundle is refused even if it is well signed.
    pub min_revision: u64,
    /// The name that the bundle must have, so that a bundle signed for one purpose does not serve
    /// another. `None` accepts any name.
    pub name: Option<&'a str>,
    /// The largest bundle that is accepted, in bytes. [`MAX_BUNDLE_BYTES`] bounds it.
    pub max_bytes: usize,
    /// The decisions of the opened table from the date on which the bundle expires.
    pub after_expiry: AfterExpiry,
}

/// The decisions of an opened table once its bundle has expired.
///
/// A bundle that has expired already is refused in either case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AfterExpiry {
    /// Denies every action, with the reason `expired`.
    #[default]
    Deny,
    /// Decides as before. An attacker who withholds newer bundles then keeps this one in use for
    /// ever.
    Decide,
}

impl Default for Conditions<'_> {
    fn default() -> Self {
        Self {
            now: None,
            min_revision: 0,
            name: None,
            max_bytes: MAX_BUNDLE_BYTES,
            after_expiry: AfterExpiry::Deny,
        }
    }
}

impl Conditions<'_> {
    pub(crate) fn size(&self, bytes: &[u8]) -> Result<(), OpenError> {
        self.length(bytes.len())
    }

    pub(crate) fn length(&self, bytes: usize) -> Result<(), OpenError> {
        let most = self.max_bytes.min(MAX_BUNDLE_BYTES);
        if bytes > most { Err(OpenError::TooLarge { bytes, most }) } else { Ok(()) }
    }

    /// Checks the dates first, then revision and name.
    pub(crate) fn header(&self, header: &Header) -> Result<(), OpenError> {
        self.dates(header)?;
        if header.label.revision < self.min_revision {
            let (expected, found) = (self.min_revision, header.label.revision);
            return Err(OpenError::OldRevision { expected, found });
        }
        match self.name {
            Some(name) if name != header.label.name => {
                let [expected, found] = [name, &header.label.name].map(ShortName::new);
                Err(OpenError::WrongName { expected, found })
            }
            _ => Ok(()),
        }
    }

    /// Returns the second since 1970 from which the table of a bundle denies every action.
    pub(crate) fn denies_from(&self, header: &Header) -> Option<i64> {
        let expires = header.label.expires.filter(|_| self.after_expiry == AfterExpiry::Deny);
        // A date beyond every timestamp never comes.
        expires.map(|expires| i64::try_from(expires).unwrap_or(i64::MAX))
    }

    fn dates(&self, header: &Header) -> Result<(), OpenError> {
        if header.label.not_before.is_none() && header.label.expires.is_none() {
            return Ok(());
        }
        let now = self.now.ok_or(OpenError::TimeRequired)?;
        match (header.label.not_before, header.label.expires) {
            (Some(not_before), _) if now < not_before => {
                Err(OpenError::NotYetValid { not_before, now })
            }
            (_, Some(expires)) if now >= expires => Err(OpenError::Expired { expires, now }),
            _ => Ok(()),
        }
    }
}
