//! Constants: each one well-formed, and made of constants before it, so that none contains itself.

use alloc::vec;
use alloc::vec::Vec;

use super::{Invalid, id_of};
use crate::cel::Pool;
use crate::cel::pool::ConstTag;
use crate::cel::time::{Timestamp, Zone};
use crate::cel::value::{Value, constant, size_of_constant};
use crate::limits::MAX_VALUE_DEPTH;
use crate::regex::Program as Regex;

/// The offsets in a section at which a record starts.
pub(super) struct Starts(Vec<bool>);

impl Starts {
    pub(super) fn new(len: usize) -> Self {
        Self(vec![false; len])
    }

    pub(super) fn mark(&mut self, at: usize) {
        if let Some(mark) = self.0.get_mut(at) {
            *mark = true;
        }
    }

    pub(super) fn contains(&self, id: u32) -> bool {
        usize::try_from(id).ok().and_then(|at| self.0.get(at)).copied().unwrap_or(false)
    }
}

/// The depth of the constants, by offset; zero at an offset without a constant.
struct Depths(Vec<usize>);

impl Depths {
    fn of(&self, id: u32) -> Option<usize> {
        let at = usize::try_from(id).ok()?;
        self.0.get(at).copied().filter(|depth| *depth > 0)
    }
}

/// Reads the constants, and returns the offset of each.
pub(super) fn validate(pool: &Pool<'_>) -> Result<Starts, Invalid> {
    let mut starts = Starts::new(pool.constants.len());
    let mut depths = Depths(vec![0; pool.constants.len()]);
    let mut at = 0;
    while at < pool.constants.len() {
        let wrong = Invalid::Constant(id_of(at));
        let words = pool.constants.get(at..).unwrap_or_default();
        let size = size_of_constant(words).filter(|size| *size <= words.len()).ok_or(wrong)?;
        let words = words.get(..size).unwrap_or_default();
        let depth = depth_of(words, &depths).filter(|depth| *depth <= MAX_VALUE_DEPTH);
        if let Some(slot) = depths.0.get_mut(at) {
            *slot = depth.ok_or(wrong)?;
        }
        if !is_readable(pool, id_of(at)) {
            return Err(wrong);
        }
        starts.mark(at);
        at += size;
    }
    Ok(starts)
}

/// Returns one more than the depth of the deepest part; `None` if a part is not an earlier
/// constant.
fn depth_of(words: &[u32], depths: &Depths) -> Option<usize> {
    let [tag, rest @ ..] = words else { return None };
    let parts = match ConstTag::from_code(*tag)? {
        ConstTag::Some => rest,
        ConstTag::List | ConstTag::Map => rest.get(1..)?,
        ConstTag::Zone => return Zone::is_valid(rest.get(2..)?).then_some(1),
        ConstTag::Timestamp => return is_moment(rest).then_some(1),
        ConstTag::Regex => return Regex::validate(rest.get(2..)?).is_ok().then_some(1),
        _ => return Some(1),
    };
    let deepest = parts.iter().try_fold(0, |deepest, id| Some(depths.of(*id)?.max(deepest)));
    deepest?.checked_add(1)
}

fn is_moment(words: &[u32]) -> bool {
    let [low, high, nanos] = words else { return false };
    let seconds = u64::from(*low) | u64::from(*high) << 32;
    Timestamp::new(seconds.cast_signed(), *nanos).is_some()
}

fn is_readable(pool: &Pool<'_>, id: u32) -> bool {
    let named = |name: Option<&str>| name.is_some();
    match constant(pool, id) {
        Value::Error(_) => false,
        Value::Regex(position) | Value::Zone(position) => named(position.name()),
        _ => true,
    }
}
