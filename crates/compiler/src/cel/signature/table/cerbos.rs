//! The signatures of the library of Cerbos, and of topics.

use wardgate_engine::cel::Function;

use super::{Functions, Operators, table};

pub(in crate::cel::signature) const CERBOS_OPERATORS: Operators = table! {
    "_[_]" "(cerbos.lib.hierarchy, int) string";
};

pub(in crate::cel::signature) const CERBOS: Functions = table! {
    "except" Except "(list(A), list(A)) list(A); .(list(A), list(A)) list(A)";
    "hasIntersection" HasIntersection "(list(A), list(A)) bool; .(list(A), list(A)) bool";
    "has_intersection" HasIntersection "(list(A), list(A)) bool; .(list(A), list(A)) bool";
    "inIPAddrRange" InIpAddrRange ".(string, string) bool";
    "intersect" Intersect "(list(A), list(A)) list(A); .(list(A), list(A)) list(A)";
    "isSubset" IsSubset "(list(A), list(A)) bool; .(list(A), list(A)) bool";
    "is_subset" IsSubset "(list(A), list(A)) bool; .(list(A), list(A)) bool";
    "matchesTopic" MatchesTopic
        ".(string, string) bool; .(string, list(string)) bool; \
         .(string, string, list(string)) bool; .(map(string, string), string) bool; \
         .(map(string, string), list(string)) bool; \
         .(map(string, string), string, list(string)) bool";
    "now" Now "() timestamp";
    "timeSince" TimeSince "(timestamp) duration; .(timestamp) duration";
    "id" Id "(dyn) dyn";
    "basePath" BasePath "(string) string";
    "dirPath" DirPath "(string) string";
    "extPath" ExtPath "(string) string";
    "volumeName" VolumeName "(string) string";
    "joinPath" JoinPath "(list(string)) string";
    "pathHasPrefix" PathHasPrefix "(string, string) bool; .(string, string) bool";
    "pathMatch" PathMatch "(string, string) bool; .(string, string) bool";
    "pathMatchAnyOf" PathMatchAnyOf "(string, list(string)) bool; .(string, list(string)) bool";
    "relPath" RelPath "(string, string) string";
    "hierarchy" Hierarchy
        "(string) cerbos.lib.hierarchy; (string, string) cerbos.lib.hierarchy; \
         (list(string)) cerbos.lib.hierarchy";
    "ancestorOf" HierarchyAncestorOf ".(cerbos.lib.hierarchy, cerbos.lib.hierarchy) bool";
    "descendentOf" HierarchyDescendentOf ".(cerbos.lib.hierarchy, cerbos.lib.hierarchy) bool";
    "immediateChildOf" HierarchyImmediateChildOf
        ".(cerbos.lib.hierarchy, cerbos.lib.hierarchy) bool";
    "immediateParentOf" HierarchyImmediateParentOf
        ".(cerbos.lib.hierarchy, cerbos.lib.hierarchy) bool";
    "overlaps" HierarchyOverlaps ".(cerbos.lib.hierarchy, cerbos.lib.hierarchy) bool";
    "siblingOf" HierarchySiblingOf ".(cerbos.lib.hierarchy, cerbos.lib.hierarchy) bool";
    "commonAncestors" HierarchyCommonAncestors
        ".(cerbos.lib.hierarchy, cerbos.lib.hierarchy) cerbos.lib.hierarchy";
    "size" Size ".(cerbos.lib.hierarchy) int";
    "spiffeID" SpiffeId "(string) cerbos.lib.spiffeID";
    "isMemberOf" SpiffeIdIsMemberOf ".(cerbos.lib.spiffeID, cerbos.lib.spiffeTrustDomain) bool";
    "path" SpiffeIdPath ".(cerbos.lib.spiffeID) string";
    "trustDomain" SpiffeIdTrustDomain ".(cerbos.lib.spiffeID) cerbos.lib.spiffeTrustDomain";
    "spiffeMatchAny" SpiffeMatchAny "() cerbos.lib.spiffeMatcher";
    "spiffeMatchExact" SpiffeMatchExact
        "(cerbos.lib.spiffeID) cerbos.lib.spiffeMatcher; (string) cerbos.lib.spiffeMatcher";
    "spiffeMatchOneOf" SpiffeMatchOneOf
        "(list(cerbos.lib.spiffeID)) cerbos.lib.spiffeMatcher; \
         (list(string)) cerbos.lib.spiffeMatcher";
    "spiffeMatchTrustDomain" SpiffeMatchTrustDomain
        "(cerbos.lib.spiffeTrustDomain) cerbos.lib.spiffeMatcher; (string) cerbos.lib.spiffeMatcher";
    "matchesID" SpiffeMatcherMatchesId
        ".(cerbos.lib.spiffeMatcher, cerbos.lib.spiffeID) bool; \
         .(cerbos.lib.spiffeMatcher, string) bool";
    "spiffeTrustDomain" SpiffeTrustDomain "(string) cerbos.lib.spiffeTrustDomain";
    "id" SpiffeTrustDomainId ".(cerbos.lib.spiffeTrustDomain) string";
    "name" SpiffeTrustDomainName ".(cerbos.lib.spiffeTrustDomain) string";
};
