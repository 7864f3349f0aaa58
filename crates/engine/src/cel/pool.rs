//! The constants, programs and variables that programs refer to by number, read without copies from
//! the words of a policy table.
//!
//! No word is trusted twice: a number out of range yields `None`, and the evaluator makes an error
//! value of it.

use crate::codes::codes;

/// A read-only view of the sections that programs need.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pool<'a> {
    /// All strings, one after the other.
    pub text: &'a str,
    /// All byte strings, one after the other.
    pub blob: &'a [u8],
    /// String `i` is `text[strings[i]..strings[i + 1]]`; strings are unique.
    pub strings: &'a [u32],
    /// Constants; a constant's id is the offset of its first word. See [`ConstTag`].
    pub constants: &'a [u32],
    /// Slots; a slot's id is the offset of its first word: root code ([`Root`]), number of path
    /// segments, one string id per segment.
    pub slots: &'a [u32],
    /// Programs, [`PROGRAM_WORDS`] words each: offset in `code`, words of code, registers, id of the
    /// explanation that is the source text, flags ([`DEPENDS_ON_ROLES`]).
    pub programs: &'a [u32],
    /// The instructions of all programs.
    pub code: &'a [u32],
    /// Variables, [`VARIABLE_WORDS`] words each: program, string id of the name.
    pub variables: &'a [u32],
    /// Where each explanation starts and ends. See [`Section`](crate::table::Section).
    pub explanations: &'a [u32],
}

/// The number of words of one record in `programs`.
pub const PROGRAM_WORDS: usize = 5;

/// The number of words of one record in `variables`.
pub const VARIABLE_WORDS: usize = 2;

/// Program flag: the result depends on the effective derived roles, which differ between scopes.
pub const DEPENDS_ON_ROLES: u32 = 1;

codes! {
    /// The first word of a constant, and the words behind it. 64-bit numbers are two words, low
    /// word first.
    pub enum ConstTag {
        /// `null`.
        Null = 0,
        /// `false`.
        False = 1,
        /// `true`.
        True = 2,
        /// `int`: two words.
        Int = 3,
        /// `uint`: two words.
        Uint = 4,
        /// `double`: two words, the bits of the number.
        Double = 5,
        /// `string`: string id.
        String = 6,
        /// `bytes`: offset in `blob`, length.
        Bytes = 7,
        /// `list`: length, then one constant id per element.
        List = 8,
        /// `map`: length, then key and value constant ids per entry, in order of insertion.
        Map = 9,
        /// `google.protobuf.Timestamp`: seconds since the epoch (two words, signed), nanoseconds.
        Timestamp = 10,
        /// `google.protobuf.Duration`: nanoseconds (two words, signed).
        Duration = 11,
        /// A type value: string id of its name.
        Type = 12,
        /// `optional.none()`.
        None = 13,
        /// `optional.of(x)`: constant id of x.
        Some = 14,
        /// A compiled regular expression: string id of the pattern, number of words, the program.
        Regex = 15,
        /// A time zone: string id of its name, number of words, its transitions.
        Zone = 16,
    }
}

codes! {
    /// The beginning of a slot's path.
    pub enum Root {
        /// `request.principal.id`, a string; and so on below.
        PrincipalId = 0,
        /// A list of strings.
        PrincipalRoles = 1,
        /// A map.
        PrincipalAttr = 2,
        /// A string.
        PrincipalPolicyVersion = 3,
        /// A string, without a leading dot.
        PrincipalScope = 4,
        /// A string.
        ResourceKind = 5,
        /// A string.
        ResourceId = 6,
        /// A map.
        ResourceAttr = 7,
        /// A string.
        ResourcePolicyVersion = 8,
        /// A string, without a leading dot.
        ResourceScope = 9,
        /// `request.auxData.jwt`, a map.
        AuxDataJwt = 10,
        /// `runtime.effectiveDerivedRoles`, a sorted list of strings.
        EffectiveDerivedRoles = 11,
        /// The whole of `request`, a message.
        Request = 12,
        /// The whole of `request.principal`, a message.
        Principal = 13,
        /// The whole of `request.resource`, a message.
        Resource = 14,
        /// The whole of `request.auxData`, a message.
        AuxData = 15,
        /// The whole of `runtime`, a message.
        Runtime = 16,
        /// A variable of the embedding program; the first path segment is its (dotted) name.
        Free = 17,
        /// `request.auxData.jwts`, a map of maps.
        AuxDataJwts = 18,
    }
}

impl<'a> Pool<'a> {
    /// Returns string `id`.
    #[must_use]
    pub fn string(&self, id: u32) -> Option<&'a str> {
        string(self.text, self.strings, id)
    }

    /// Returns program `id`.
    #[must_use]
    pub fn program(&self, id: u32) -> Option<Program<'a>> {
        let at = usize::try_from(id).ok()?.checked_mul(PROGRAM_WORDS)?;
        let record = self.programs.get(at..at.checked_add(PROGRAM_WORDS)?)?;
        let [start, length, registers, source, flags]: [u32; PROGRAM_WORDS] =
            record.try_into().ok()?;
        let start = usize::try_from(start).ok()?;
        let end = start.checked_add(usize::try_from(length).ok()?)?;
        Some(Program { code: self.code.get(start..end)?, registers, source, flags })
    }

    /// Returns program and name of variable `id`.
    #[must_use]
    pub fn variable(&self, id: u32) -> Option<(u32, &'a str)> {
        let at = usize::try_from(id).ok()?.checked_mul(VARIABLE_WORDS)?;
        let record = self.variables.get(at..at.checked_add(VARIABLE_WORDS)?)?;
        let [program, name]: [u32; VARIABLE_WORDS] = record.try_into().ok()?;
        Some((program, self.string(name)?))
    }
}

/// Returns string `id` of `text`: see [`Pool::strings`].
pub(crate) fn string<'a>(text: &'a str, strings: &[u32], id: u32) -> Option<&'a str> {
    let at = usize::try_from(id).ok()?;
    let start = usize::try_from(*strings.get(at)?).ok()?;
    let end = usize::try_from(*strings.get(at.checked_add(1)?)?).ok()?;
    text.get(start..end)
}

/// One program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program<'a> {
    /// Its instructions.
    pub code: &'a [u32],
    /// The number of registers that they use.
    pub registers: u32,
    /// Id of the explanation that is the source text of the expression.
    pub source: u32,
    /// See [`DEPENDS_ON_ROLES`].
    pub flags: u32,
}
