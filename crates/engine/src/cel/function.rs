//! The functions that programs call by number: a row holds the number, the module of `functions`
//! that implements it, and the name.
//!
//! INVARIANT: a number is part of the bundle format. It is never changed and never used again, not
//! even for a function that was removed. `functions/numbers.txt` pins all of them.
//!
//! A function here is a name and a meaning for each combination of argument types; a receiver is
//! the first argument. The compiler checks the combinations of a source text; the machine gives the
//! error "no such overload" for any other.

use super::functions::Module;

macro_rules! functions {
    ($($name:ident = $id:literal, $module:ident, $text:literal;)*) => {
        /// A function of the CEL standard library, its extensions, Cerbos's own, or Wardgate's.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u16)]
        #[expect(missing_docs, reason = "the names and meanings are those of the specification")]
        pub enum Function { $($name = $id,)* }

        impl Function {
            /// Returns the function with this number.
            #[must_use]
            pub const fn from_id(id: u32) -> Option<Self> {
                match id { $($id => Some(Self::$name),)* _ => None }
            }

            /// Returns the number in a `Call`.
            #[must_use]
            pub const fn id(self) -> u32 {
                match self { $(Self::$name => $id,)* }
            }

            /// Returns the name as written in CEL, for messages.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// Returns the module that implements the function.
            #[cfg_attr(target_arch = "wasm32", inline(never))]
            pub(super) const fn module(self) -> Module {
                match self { $(Self::$name => Module::$module,)* }
            }

            #[cfg(test)]
            pub(super) const ALL: &[Self] = &[$(Self::$name,)*];
        }
    };
}

functions! {
    // Standard library (cel-spec, langdef.md, "List of Standard Definitions").
    Size = 1, core, "size";
    Contains = 2, core, "contains";
    StartsWith = 3, core, "startsWith";
    EndsWith = 4, core, "endsWith";
    Matches = 5, core, "matches";
    Bool = 6, convert, "bool";
    Bytes = 7, convert, "bytes";
    Double = 8, convert, "double";
    Duration = 9, convert, "duration";
    Dyn = 10, core, "dyn";
    Int = 11, convert, "int";
    String = 12, convert, "string";
    Timestamp = 13, convert, "timestamp";
    Type = 14, core, "type";
    Uint = 15, convert, "uint";
    GetDate = 16, time, "getDate";
    GetDayOfMonth = 17, time, "getDayOfMonth";
    GetDayOfWeek = 18, time, "getDayOfWeek";
    GetDayOfYear = 19, time, "getDayOfYear";
    GetFullYear = 20, time, "getFullYear";
    GetHours = 21, time, "getHours";
    GetMilliseconds = 22, time, "getMilliseconds";
    GetMinutes = 23, time, "getMinutes";
    GetMonth = 24, time, "getMonth";
    GetSeconds = 25, time, "getSeconds";

    // Optional values.
    OptionalNone = 30, optional, "optional.none";
    OptionalOf = 31, optional, "optional.of";
    OptionalOfNonZeroValue = 32, optional, "optional.ofNonZeroValue";
    OptionalHasValue = 33, optional, "hasValue";
    OptionalValue = 34, optional, "value";
    OptionalOr = 35, optional, "or";
    OptionalOrValue = 36, optional, "orValue";
    OptionalUnwrap = 37, optional, "optional.unwrap";

    // Strings extension.
    CharAt = 50, strings, "charAt";
    Format = 51, strings, "format";
    IndexOf = 52, strings, "indexOf";
    Join = 53, strings, "join";
    LastIndexOf = 54, strings, "lastIndexOf";
    LowerAscii = 55, strings, "lowerAscii";
    Quote = 56, strings, "strings.quote";
    Replace = 57, strings, "replace";
    Reverse = 58, strings, "reverse";
    Split = 59, strings, "split";
    Substring = 60, strings, "substring";
    Trim = 61, strings, "trim";
    UpperAscii = 62, strings, "upperAscii";

    // Lists extension.
    Distinct = 70, lists, "distinct";
    First = 71, lists, "first";
    Flatten = 72, lists, "flatten";
    Last = 73, lists, "last";
    ListsRange = 74, lists, "lists.range";
    Slice = 75, lists, "slice";
    Sort = 76, lists, "sort";
    SortByAssociatedKeys = 77, lists, "@sortByAssociatedKeys";

    // Math extension.
    MathAbs = 90, math, "math.abs";
    MathBitAnd = 91, math, "math.bitAnd";
    MathBitNot = 92, math, "math.bitNot";
    MathBitOr = 93, math, "math.bitOr";
    MathBitShiftLeft = 94, math, "math.bitShiftLeft";
    MathBitShiftRight = 95, math, "math.bitShiftRight";
    MathBitXor = 96, math, "math.bitXor";
    MathCeil = 97, math, "math.ceil";
    MathFloor = 98, math, "math.floor";
    MathGreatest = 99, math, "math.greatest";
    MathIsFinite = 100, math, "math.isFinite";
    MathIsInf = 101, math, "math.isInf";
    MathIsNaN = 102, math, "math.isNaN";
    MathLeast = 103, math, "math.least";
    MathRound = 104, math, "math.round";
    MathSign = 105, math, "math.sign";
    MathSqrt = 106, math, "math.sqrt";
    MathTrunc = 107, math, "math.trunc";

    // Sets extension.
    SetsContains = 120, sets, "sets.contains";
    SetsEquivalent = 121, sets, "sets.equivalent";
    SetsIntersects = 122, sets, "sets.intersects";

    // Encoders extension.
    Base64Decode = 125, encoders, "base64.decode";
    Base64Encode = 126, encoders, "base64.encode";
    JsonEncode = 127, encoders, "json.encode";

    // Regex extension.
    RegexExtract = 130, regex, "regex.extract";
    RegexExtractAll = 131, regex, "regex.extractAll";
    RegexReplace = 132, regex, "regex.replace";

    // Network extension.
    Cidr = 140, network, "cidr";
    CidrContainsCidr = 141, network, "containsCIDR";
    CidrContainsIp = 142, network, "containsIP";
    CidrIp = 143, network, "ip (of a CIDR)";
    CidrMasked = 144, network, "masked";
    CidrPrefixLength = 145, network, "prefixLength";
    CidrIsMask = 146, network, "isMask";
    Ip = 147, network, "ip";
    IpFamily = 148, network, "family";
    IpIsCanonical = 149, network, "ip.isCanonical";
    IpIsGlobalUnicast = 150, network, "isGlobalUnicast";
    IpIsLinkLocalMulticast = 151, network, "isLinkLocalMulticast";
    IpIsLinkLocalUnicast = 152, network, "isLinkLocalUnicast";
    IpIsLoopback = 153, network, "isLoopback";
    IpIsUnspecified = 154, network, "isUnspecified";
    IsCidr = 155, network, "isCIDR";
    IsIp = 156, network, "isIP";

    // Cerbos: lists, time, addresses.
    Except = 170, cerbos, "except";
    HasIntersection = 171, cerbos, "hasIntersection";
    Id = 172, cerbos, "id";
    InIpAddrRange = 173, cerbos, "inIPAddrRange";
    Intersect = 174, cerbos, "intersect";
    IsSubset = 175, cerbos, "isSubset";
    Now = 176, cerbos, "now";
    TimeSince = 177, cerbos, "timeSince";

    // Cerbos: paths.
    BasePath = 180, paths, "basePath";
    DirPath = 181, paths, "dirPath";
    ExtPath = 182, paths, "extPath";
    JoinPath = 183, paths, "joinPath";
    PathHasPrefix = 184, paths, "pathHasPrefix";
    PathMatch = 185, paths, "pathMatch";
    PathMatchAnyOf = 186, paths, "pathMatchAnyOf";
    RelPath = 187, paths, "relPath";
    VolumeName = 188, paths, "volumeName";

    // Cerbos: hierarchies.
    Hierarchy = 200, hierarchy, "hierarchy";
    HierarchyAncestorOf = 201, hierarchy, "ancestorOf";
    HierarchyCommonAncestors = 202, hierarchy, "commonAncestors";
    HierarchyDescendentOf = 203, hierarchy, "descendentOf";
    HierarchyImmediateChildOf = 204, hierarchy, "immediateChildOf";
    HierarchyImmediateParentOf = 205, hierarchy, "immediateParentOf";
    HierarchyOverlaps = 206, hierarchy, "overlaps";
    HierarchySiblingOf = 207, hierarchy, "siblingOf";

    // Cerbos: SPIFFE ids.
    SpiffeId = 220, spiffe, "spiffeID";
    SpiffeIdIsMemberOf = 221, spiffe, "isMemberOf";
    SpiffeIdPath = 222, spiffe, "path";
    SpiffeIdTrustDomain = 223, spiffe, "trustDomain";
    SpiffeMatchAny = 224, spiffe, "spiffeMatchAny";
    SpiffeMatchExact = 225, spiffe, "spiffeMatchExact";
    SpiffeMatchOneOf = 226, spiffe, "spiffeMatchOneOf";
    SpiffeMatchTrustDomain = 227, spiffe, "spiffeMatchTrustDomain";
    SpiffeMatcherMatchesId = 228, spiffe, "matchesID";
    SpiffeTrustDomain = 229, spiffe, "spiffeTrustDomain";
    SpiffeTrustDomainId = 230, spiffe, "id (of a trust domain)";
    SpiffeTrustDomainName = 231, spiffe, "name";

    // Wardgate: MQTT topics.
    MatchesTopic = 240, topics, "matchesTopic";
}
