//! The signatures, as data.
//!
//! A row is a name, for a function its [`Function`], and the signatures with `;` between them.
//! Taken from the CEL specification (langdef.md, "List of Standard Definitions"), the documents of
//! the extension libraries, and those of Cerbos.

use wardgate_engine::cel::Function;

mod cerbos;

pub(super) use cerbos::{CERBOS, CERBOS_OPERATORS};

/// Operators and their signatures.
pub(super) type Operators = &'static [(&'static str, &'static str)];

/// Names of functions, what the machine calls them, and their signatures.
pub(super) type Functions = &'static [(&'static str, Function, &'static str)];

/// Makes a table of [`Operators`] or [`Functions`] of its rows.
macro_rules! table {
    ($($name:literal $signatures:expr;)*) => { &[$(($name, $signatures)),*] };
    ($($name:literal $function:ident $signatures:expr;)*) => {
        &[$(($name, Function::$function, $signatures)),*]
    };
}
use table;

/// The signatures of `<` and its kin, which compare numbers of different types too.
const COMPARISON: &str = "(bool, bool) bool; (int, int) bool; (int, double) bool; (int, uint) bool; \
     (uint, uint) bool; (uint, double) bool; (uint, int) bool; (double, double) bool; \
     (double, int) bool; (double, uint) bool; (string, string) bool; (bytes, bytes) bool; \
     (timestamp, timestamp) bool; (duration, duration) bool";

/// The signatures of `math.greatest` and `math.least`.
const EXTREMUM: &str = "(double) double; (int) int; (uint) uint; (double, double) double; (int, int) int; \
     (uint, uint) uint; (int, uint) dyn; (int, double) dyn; (double, int) dyn; \
     (double, uint) dyn; (uint, int) dyn; (uint, double) dyn; (list(double)) double; \
     (list(int)) int; (list(uint)) uint";

pub(super) const OPERATORS: Operators = table! {
    "!_" "(bool) bool";
    "-_" "(double) double; (int) int";
    "@in" "(A, list(A)) bool; (A, map(A, B)) bool";
    "_!=_" "(A, A) bool";
    "_%_" "(int, int) int; (uint, uint) uint";
    "_&&_" "(bool, bool) bool";
    "_*_" "(double, double) double; (int, int) int; (uint, uint) uint";
    "_+_"
        "(bytes, bytes) bytes; (double, double) double; (duration, duration) duration; \
         (duration, timestamp) timestamp; (timestamp, duration) timestamp; (int, int) int; \
         (list(A), list(A)) list(A); (string, string) string; (uint, uint) uint";
    "_-_"
        "(double, double) double; (duration, duration) duration; (int, int) int; \
         (timestamp, duration) timestamp; (timestamp, timestamp) duration; (uint, uint) uint";
    "_/_" "(double, double) double; (int, int) int; (uint, uint) uint";
    "_<=_" COMPARISON;
    "_<_" COMPARISON;
    "_==_" "(A, A) bool";
    "_>=_" COMPARISON;
    "_>_" COMPARISON;
    "_?_:_" "(bool, A, A) A";
    "_[?_]"
        "(list(V), int) optional(V); (optional(list(V)), int) optional(V); \
         (map(K, V), K) optional(V); (optional(map(K, V)), K) optional(V)";
    "_[_]"
        "(list(A), int) A; (map(A, B), A) B; (optional(list(V)), int) optional(V); \
         (optional(map(K, V)), K) optional(V)";
    "_||_" "(bool, bool) bool";
};

pub(super) const STANDARD: Functions = table! {
    "bool" Bool "(bool) bool; (string) bool";
    "bytes" Bytes "(bytes) bytes; (string) bytes";
    "contains" Contains ".(string, string) bool";
    "double" Double "(double) double; (int) double; (string) double; (uint) double";
    "duration" Duration "(duration) duration; (string) duration";
    "dyn" Dyn "(A) dyn";
    "endsWith" EndsWith ".(string, string) bool";
    "getDate" GetDate ".(timestamp) int; .(timestamp, string) int";
    "getDayOfMonth" GetDayOfMonth ".(timestamp) int; .(timestamp, string) int";
    "getDayOfWeek" GetDayOfWeek ".(timestamp) int; .(timestamp, string) int";
    "getDayOfYear" GetDayOfYear ".(timestamp) int; .(timestamp, string) int";
    "getFullYear" GetFullYear ".(timestamp) int; .(timestamp, string) int";
    "getHours" GetHours ".(timestamp) int; .(timestamp, string) int; .(duration) int";
    "getMilliseconds" GetMilliseconds ".(timestamp) int; .(timestamp, string) int; .(duration) int";
    "getMinutes" GetMinutes ".(timestamp) int; .(timestamp, string) int; .(duration) int";
    "getMonth" GetMonth ".(timestamp) int; .(timestamp, string) int";
    "getSeconds" GetSeconds ".(timestamp) int; .(timestamp, string) int; .(duration) int";
    "int" Int "(int) int; (double) int; (duration) int; (string) int; (timestamp) int; (uint) int";
    "matches" Matches "(string, string) bool; .(string, string) bool";
    "size" Size
        "(bytes) int; .(bytes) int; (list(A)) int; .(list(A)) int; (map(A, B)) int; \
         .(map(A, B)) int; (string) int; .(string) int";
    "startsWith" StartsWith ".(string, string) bool";
    "string" String
        "(string) string; (bool) string; (bytes) string; (double) string; (duration) string; \
         (int) string; (timestamp) string; (uint) string; (net.CIDR) string; (net.IP) string";
    "timestamp" Timestamp "(timestamp) timestamp; (int) timestamp; (string) timestamp";
    "type" Type "(A) type(A)";
    "uint" Uint "(uint) uint; (double) uint; (int) uint; (string) uint";
};

pub(super) const EXTENSIONS: Functions = table! {
    "@sortByAssociatedKeys" SortByAssociatedKeys
        ".(list(T), list(int)) list(T); .(list(T), list(uint)) list(T); \
         .(list(T), list(double)) list(T); .(list(T), list(bool)) list(T); \
         .(list(T), list(duration)) list(T); .(list(T), list(timestamp)) list(T); \
         .(list(T), list(string)) list(T); .(list(T), list(bytes)) list(T)";
    "base64.decode" Base64Decode "(string) bytes";
    "base64.encode" Base64Encode "(bytes) string";
    "charAt" CharAt ".(string, int) string";
    "cidr" Cidr "(string) net.CIDR";
    "containsCIDR" CidrContainsCidr ".(net.CIDR, net.CIDR) bool; .(net.CIDR, string) bool";
    "containsIP" CidrContainsIp ".(net.CIDR, net.IP) bool; .(net.CIDR, string) bool";
    "distinct" Distinct ".(list(T)) list(T)";
    "family" IpFamily ".(net.IP) int";
    "first" First ".(list(V)) optional(V)";
    "flatten" Flatten ".(list(list(T))) list(T); .(list(dyn), int) list(dyn)";
    "format" Format ".(string, list(dyn)) string";
    "hasValue" OptionalHasValue ".(optional(V)) bool";
    "indexOf" IndexOf ".(string, string) int; .(string, string, int) int";
    "ip" Ip "(string) net.IP";
    "ip" CidrIp ".(net.CIDR) net.IP";
    "ip.isCanonical" IpIsCanonical "(string) bool";
    "isCIDR" IsCidr "(string) bool";
    "isGlobalUnicast" IpIsGlobalUnicast ".(net.IP) bool";
    "isIP" IsIp "(string) bool";
    "isLinkLocalMulticast" IpIsLinkLocalMulticast ".(net.IP) bool";
    "isLinkLocalUnicast" IpIsLinkLocalUnicast ".(net.IP) bool";
    "isLoopback" IpIsLoopback ".(net.IP) bool";
    "isMask" CidrIsMask ".(net.CIDR) bool";
    "isUnspecified" IpIsUnspecified ".(net.IP) bool";
    "join" Join ".(list(string)) string; .(list(string), string) string";
    "json.encode" JsonEncode "(dyn) string";
    "last" Last ".(list(V)) optional(V)";
    "lastIndexOf" LastIndexOf ".(string, string) int; .(string, string, int) int";
    "lists.range" ListsRange "(int) list(int)";
    "lowerAscii" LowerAscii ".(string) string";
    "masked" CidrMasked ".(net.CIDR) net.CIDR";
    "math.@max" MathGreatest EXTREMUM;
    "math.@min" MathLeast EXTREMUM;
    "math.abs" MathAbs "(double) double; (int) int; (uint) uint";
    "math.bitAnd" MathBitAnd "(int, int) int; (uint, uint) uint";
    "math.bitNot" MathBitNot "(int) int; (uint) uint";
    "math.bitOr" MathBitOr "(int, int) int; (uint, uint) uint";
    "math.bitShiftLeft" MathBitShiftLeft "(int, int) int; (uint, int) uint";
    "math.bitShiftRight" MathBitShiftRight "(int, int) int; (uint, int) uint";
    "math.bitXor" MathBitXor "(int, int) int; (uint, uint) uint";
    "math.ceil" MathCeil "(double) double";
    "math.floor" MathFloor "(double) double";
    "math.isFinite" MathIsFinite "(double) bool";
    "math.isInf" MathIsInf "(double) bool";
    "math.isNaN" MathIsNaN "(double) bool";
    "math.round" MathRound "(double) double";
    "math.sign" MathSign "(double) double; (int) int; (uint) uint";
    "math.sqrt" MathSqrt "(double) double; (int) double; (uint) double";
    "math.trunc" MathTrunc "(double) double";
    "optional.none" OptionalNone "() optional(V)";
    "optional.of" OptionalOf "(V) optional(V)";
    "optional.ofNonZeroValue" OptionalOfNonZeroValue "(V) optional(V)";
    "optional.unwrap" OptionalUnwrap "(list(optional(V))) list(V)";
    "or" OptionalOr ".(optional(V), optional(V)) optional(V)";
    "orValue" OptionalOrValue ".(optional(V), V) V";
    "prefixLength" CidrPrefixLength ".(net.CIDR) int";
    "regex.extract" RegexExtract "(string, string) optional(string)";
    "regex.extractAll" RegexExtractAll "(string, string) list(string)";
    "regex.replace" RegexReplace
        "(string, string, string) string; (string, string, string, int) string";
    "replace" Replace ".(string, string, string) string; .(string, string, string, int) string";
    "reverse" Reverse ".(list(T)) list(T); .(string) string";
    "sets.contains" SetsContains "(list(T), list(T)) bool";
    "sets.equivalent" SetsEquivalent "(list(T), list(T)) bool";
    "sets.intersects" SetsIntersects "(list(T), list(T)) bool";
    "slice" Slice ".(list(T), int, int) list(T)";
    "sort" Sort
        ".(list(int)) list(int); .(list(uint)) list(uint); .(list(double)) list(double); \
         .(list(bool)) list(bool); .(list(duration)) list(duration); \
         .(list(timestamp)) list(timestamp); .(list(string)) list(string); \
         .(list(bytes)) list(bytes)";
    "split" Split ".(string, string) list(string); .(string, string, int) list(string)";
    "strings.quote" Quote "(string) string";
    "substring" Substring ".(string, int) string; .(string, int, int) string";
    "trim" Trim ".(string) string";
    "unwrapOpt" OptionalUnwrap ".(list(optional(V))) list(V)";
    "upperAscii" UpperAscii ".(string) string";
    "value" OptionalValue ".(optional(V)) V";
};
