//! The functions that programs call by number.
//!
//! A function here is a name and a meaning for each combination of argument types; a receiver is the
//! first argument. Which combinations a source text may use is the compiler's to check; the machine
//! answers "no such overload" to any other.

macro_rules! functions {
    ($($name:ident = $id:literal, $text:literal;)*) => {
        /// A function of the CEL standard library, its extensions, or Cerbos's own.
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

            /// Returns the number that stands in a `Call`.
            #[must_use]
            pub const fn id(self) -> u32 {
                match self { $(Self::$name => $id,)* }
            }

            /// Returns the name as written in CEL, for messages.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

functions! {
    // Standard library (cel-spec, langdef.md, "List of Standard Definitions").
    Size = 1, "size";
    Contains = 2, "contains";
    StartsWith = 3, "startsWith";
    EndsWith = 4, "endsWith";
    Matches = 5, "matches";
    Bool = 6, "bool";
    Bytes = 7, "bytes";
    Double = 8, "double";
    Duration = 9, "duration";
    Dyn = 10, "dyn";
    Int = 11, "int";
    String = 12, "string";
    Timestamp = 13, "timestamp";
    Type = 14, "type";
    Uint = 15, "uint";
    GetDate = 16, "getDate";
    GetDayOfMonth = 17, "getDayOfMonth";
    GetDayOfWeek = 18, "getDayOfWeek";
    GetDayOfYear = 19, "getDayOfYear";
    GetFullYear = 20, "getFullYear";
    GetHours = 21, "getHours";
    GetMilliseconds = 22, "getMilliseconds";
    GetMinutes = 23, "getMinutes";
    GetMonth = 24, "getMonth";
    GetSeconds = 25, "getSeconds";

    // Optional values.
    OptionalNone = 30, "optional.none";
    OptionalOf = 31, "optional.of";
    OptionalOfNonZeroValue = 32, "optional.ofNonZeroValue";
    OptionalHasValue = 33, "hasValue";
    OptionalValue = 34, "value";
    OptionalOr = 35, "or";
    OptionalOrValue = 36, "orValue";
    OptionalUnwrap = 37, "optional.unwrap";

    // Strings extension.
    CharAt = 50, "charAt";
    Format = 51, "format";
    IndexOf = 52, "indexOf";
    Join = 53, "join";
    LastIndexOf = 54, "lastIndexOf";
    LowerAscii = 55, "lowerAscii";
    Quote = 56, "strings.quote";
    Replace = 57, "replace";
    Reverse = 58, "reverse";
    Split = 59, "split";
    Substring = 60, "substring";
    Trim = 61, "trim";
    UpperAscii = 62, "upperAscii";

    // Lists extension.
    Distinct = 70, "distinct";
    First = 71, "first";
    Flatten = 72, "flatten";
    Last = 73, "last";
    ListsRange = 74, "lists.range";
    Slice = 75, "slice";
    Sort = 76, "sort";
    SortByAssociatedKeys = 77, "@sortByAssociatedKeys";

    // Math extension.
    MathAbs = 90, "math.abs";
    MathBitAnd = 91, "math.bitAnd";
    MathBitNot = 92, "math.bitNot";
    MathBitOr = 93, "math.bitOr";
    MathBitShiftLeft = 94, "math.bitShiftLeft";
    MathBitShiftRight = 95, "math.bitShiftRight";
    MathBitXor = 96, "math.bitXor";
    MathCeil = 97, "math.ceil";
    MathFloor = 98, "math.floor";
    MathGreatest = 99, "math.greatest";
    MathIsFinite = 100, "math.isFinite";
    MathIsInf = 101, "math.isInf";
    MathIsNaN = 102, "math.isNaN";
    MathLeast = 103, "math.least";
    MathRound = 104, "math.round";
    MathSign = 105, "math.sign";
    MathSqrt = 106, "math.sqrt";
    MathTrunc = 107, "math.trunc";

    // Sets extension.
    SetsContains = 120, "sets.contains";
    SetsEquivalent = 121, "sets.equivalent";
    SetsIntersects = 122, "sets.intersects";

    // Encoders extension.
    Base64Decode = 125, "base64.decode";
    Base64Encode = 126, "base64.encode";
    JsonEncode = 127, "json.encode";

    // Regex extension.
    RegexExtract = 130, "regex.extract";
    RegexExtractAll = 131, "regex.extractAll";
    RegexReplace = 132, "regex.replace";

    // Network extension.
    Cidr = 140, "cidr";
    CidrContainsCidr = 141, "containsCIDR";
    CidrContainsIp = 142, "containsIP";
    CidrIp = 143, "ip (of a CIDR)";
    CidrMasked = 144, "masked";
    CidrPrefixLength = 145, "prefixLength";
    CidrIsMask = 146, "isMask";
    Ip = 147, "ip";
    IpFamily = 148, "family";
    IpIsCanonical = 149, "ip.isCanonical";
    IpIsGlobalUnicast = 150, "isGlobalUnicast";
    IpIsLinkLocalMulticast = 151, "isLinkLocalMulticast";
    IpIsLinkLocalUnicast = 152, "isLinkLocalUnicast";
    IpIsLoopback = 153, "isLoopback";
    IpIsUnspecified = 154, "isUnspecified";
    IsCidr = 155, "isCIDR";
    IsIp = 156, "isIP";

    // Cerbos: lists, time, addresses.
    Except = 170, "except";
    HasIntersection = 171, "hasIntersection";
    Id = 172, "id";
    InIpAddrRange = 173, "inIPAddrRange";
    Intersect = 174, "intersect";
    IsSubset = 175, "isSubset";
    Now = 176, "now";
    TimeSince = 177, "timeSince";

    // Cerbos: paths.
    BasePath = 180, "basePath";
    DirPath = 181, "dirPath";
    ExtPath = 182, "extPath";
    JoinPath = 183, "joinPath";
    PathHasPrefix = 184, "pathHasPrefix";
    PathMatch = 185, "pathMatch";
    PathMatchAnyOf = 186, "pathMatchAnyOf";
    RelPath = 187, "relPath";
    VolumeName = 188, "volumeName";

    // Cerbos: hierarchies.
    Hierarchy = 200, "hierarchy";
    HierarchyAncestorOf = 201, "ancestorOf";
    HierarchyCommonAncestors = 202, "commonAncestors";
    HierarchyDescendentOf = 203, "descendentOf";
    HierarchyImmediateChildOf = 204, "immediateChildOf";
    HierarchyImmediateParentOf = 205, "immediateParentOf";
    HierarchyOverlaps = 206, "overlaps";
    HierarchySiblingOf = 207, "siblingOf";

    // Cerbos: SPIFFE ids.
    SpiffeId = 220, "spiffeID";
    SpiffeIdIsMemberOf = 221, "isMemberOf";
    SpiffeIdPath = 222, "path";
    SpiffeIdTrustDomain = 223, "trustDomain";
    SpiffeMatchAny = 224, "spiffeMatchAny";
    SpiffeMatchExact = 225, "spiffeMatchExact";
    SpiffeMatchOneOf = 226, "spiffeMatchOneOf";
    SpiffeMatchTrustDomain = 227, "spiffeMatchTrustDomain";
    SpiffeMatcherMatchesId = 228, "matchesID";
    SpiffeTrustDomain = 229, "spiffeTrustDomain";
    SpiffeTrustDomainId = 230, "id (of a trust domain)";
    SpiffeTrustDomainName = 231, "name";
}
