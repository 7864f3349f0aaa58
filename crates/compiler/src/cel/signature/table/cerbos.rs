//! The signatures of the library of Cerbos.

use wardgate_engine::cel::Function as F;

use super::{Functions, Operators};

pub(in crate::cel::signature) const CERBOS_OPERATORS: Operators =
    &[("_[_]", &["(cerbos.lib.hierarchy, int) string"])];

pub(in crate::cel::signature) const CERBOS: Functions = &[
    ("except", F::Except, &["(list(A), list(A)) list(A)", ".(list(A), list(A)) list(A)"]),
    (
        "hasIntersection",
        F::HasIntersection,
        &["(list(A), list(A)) bool", ".(list(A), list(A)) bool"],
    ),
    (
        "has_intersection",
        F::HasIntersection,
        &["(list(A), list(A)) bool", ".(list(A), list(A)) bool"],
    ),
    ("inIPAddrRange", F::InIpAddrRange, &[".(string, string) bool"]),
    ("intersect", F::Intersect, &["(list(A), list(A)) list(A)", ".(list(A), list(A)) list(A)"]),
    ("isSubset", F::IsSubset, &["(list(A), list(A)) bool", ".(list(A), list(A)) bool"]),
    ("is_subset", F::IsSubset, &["(list(A), list(A)) bool", ".(list(A), list(A)) bool"]),
    ("now", F::Now, &["() timestamp"]),
    ("timeSince", F::TimeSince, &["(timestamp) duration", ".(timestamp) duration"]),
    ("id", F::Id, &["(dyn) dyn"]),
    ("basePath", F::BasePath, &["(string) string"]),
    ("dirPath", F::DirPath, &["(string) string"]),
    ("extPath", F::ExtPath, &["(string) string"]),
    ("volumeName", F::VolumeName, &["(string) string"]),
    ("joinPath", F::JoinPath, &["(list(string)) string"]),
    ("pathHasPrefix", F::PathHasPrefix, &["(string, string) bool", ".(string, string) bool"]),
    ("pathMatch", F::PathMatch, &["(string, string) bool", ".(string, string) bool"]),
    (
        "pathMatchAnyOf",
        F::PathMatchAnyOf,
        &["(string, list(string)) bool", ".(string, list(string)) bool"],
    ),
    ("relPath", F::RelPath, &["(string, string) string"]),
    (
        "hierarchy",
        F::Hierarchy,
        &[
            "(string) cerbos.lib.hierarchy",
            "(string, string) cerbos.lib.hierarchy",
            "(list(string)) cerbos.lib.hierarchy",
        ],
    ),
    ("ancestorOf", F::HierarchyAncestorOf, &[".(cerbos.lib.hierarchy, cerbos.lib.hierarchy) bool"]),
    (
        "descendentOf",
        F::HierarchyDescendentOf,
        &[".(cerbos.lib.hierarchy, cerbos.lib.hierarchy) bool"],
    ),
    (
        "immediateChildOf",
        F::HierarchyImmediateChildOf,
        &[".(cerbos.lib.hierarchy, cerbos.lib.hierarchy) bool"],
    ),
    (
        "immediateParentOf",
        F::HierarchyImmediateParentOf,
        &[".(cerbos.lib.hierarchy, cerbos.lib.hierarchy) bool"],
    ),
    ("overlaps", F::HierarchyOverlaps, &[".(cerbos.lib.hierarchy, cerbos.lib.hierarchy) bool"]),
    ("siblingOf", F::HierarchySiblingOf, &[".(cerbos.lib.hierarchy, cerbos.lib.hierarchy) bool"]),
    (
        "commonAncestors",
        F::HierarchyCommonAncestors,
        &[".(cerbos.lib.hierarchy, cerbos.lib.hierarchy) cerbos.lib.hierarchy"],
    ),
    ("size", F::Size, &[".(cerbos.lib.hierarchy) int"]),
    ("spiffeID", F::SpiffeId, &["(string) cerbos.lib.spiffeID"]),
    (
        "isMemberOf",
        F::SpiffeIdIsMemberOf,
        &[".(cerbos.lib.spiffeID, cerbos.lib.spiffeTrustDomain) bool"],
    ),
    ("path", F::SpiffeIdPath, &[".(cerbos.lib.spiffeID) string"]),
    (
        "trustDomain",
        F::SpiffeIdTrustDomain,
        &[".(cerbos.lib.spiffeID) cerbos.lib.spiffeTrustDomain"],
    ),
    ("spiffeMatchAny", F::SpiffeMatchAny, &["() cerbos.lib.spiffeMatcher"]),
    (
        "spiffeMatchExact",
        F::SpiffeMatchExact,
        &["(cerbos.lib.spiffeID) cerbos.lib.spiffeMatcher", "(string) cerbos.lib.spiffeMatcher"],
    ),
    (
        "spiffeMatchOneOf",
        F::SpiffeMatchOneOf,
        &[
            "(list(cerbos.lib.spiffeID)) cerbos.lib.spiffeMatcher",
            "(list(string)) cerbos.lib.spiffeMatcher",
        ],
    ),
    (
        "spiffeMatchTrustDomain",
        F::SpiffeMatchTrustDomain,
        &[
            "(cerbos.lib.spiffeTrustDomain) cerbos.lib.spiffeMatcher",
            "(string) cerbos.lib.spiffeMatcher",
        ],
    ),
    (
        "matchesID",
        F::SpiffeMatcherMatchesId,
        &[
            ".(cerbos.lib.spiffeMatcher, cerbos.lib.spiffeID) bool",
            ".(cerbos.lib.spiffeMatcher, string) bool",
        ],
    ),
    ("spiffeTrustDomain", F::SpiffeTrustDomain, &["(string) cerbos.lib.spiffeTrustDomain"]),
    ("id", F::SpiffeTrustDomainId, &[".(cerbos.lib.spiffeTrustDomain) string"]),
    ("name", F::SpiffeTrustDomainName, &[".(cerbos.lib.spiffeTrustDomain) string"]),
];
