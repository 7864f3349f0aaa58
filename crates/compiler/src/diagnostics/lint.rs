//! The kinds of finding of the linter, one code for each.
//!
//! A code is stable, because comments in policies name it. `docs/lints.md` has a section for each,
//! and a test compares both.

macro_rules! lints {
    ($($(#[$doc:meta])* $variant:ident = $name:literal;)*) => {
        /// The kinds of finding.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Lint { $($(#[$doc])* $variant,)* }

        impl Lint {
            /// All of them, in the order of their names.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Returns the stable name, such as `unused-variable`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns the kind of finding with this name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

lints! {
    /// An allow grants nothing that another does not, and denies when its condition fails.
    AllowCanOnlyDeny = "allow-can-only-deny";
    /// An allow has no condition in a scope where allows need the consent of a parent scope.
    AllowWithoutEffect = "allow-without-effect";
    /// A pattern of topics is put together from texts.
    BuiltTopicFilter = "built-topic-filter";
    /// A condition, or a part of one, is never true.
    ConditionAlwaysFalse = "condition-always-false";
    /// A condition, or a part of one, is never false.
    ConditionAlwaysTrue = "condition-always-true";
    /// A deny of all topics leaves those that begin with `$`.
    DollarUncovered = "dollar-uncovered";
    /// A rule repeats an earlier rule in the same words.
    DuplicateRule = "duplicate-rule";
    /// Callers choose the key of a rate limit.
    EvadableLimit = "evadable-limit";
    /// All requests ask the store for one key of a rate limit.
    HotKey = "hot-key";
    /// A deny is skipped when its condition cannot be evaluated.
    LenientDeny = "lenient-deny";
    /// A policy names a schema that is not there.
    MissingSchema = "missing-schema";
    /// No rule allows a role anything.
    RoleNeverAllowed = "role-never-allowed";
    /// A condition compares an attribute with a value that its schema excludes.
    SchemaMismatch = "schema-mismatch";
    /// Another rate limit refuses whenever one would.
    ShadowedLimit = "shadowed-limit";
    /// Other rules decide everything that a rule decides.
    ShadowedRule = "shadowed-rule";
    /// A condition that lacks an attribute denies an action that another rule allows.
    StrictError = "strict-error";
    /// A pattern matches no topic.
    TopicNeverMatches = "topic-never-matches";
    /// No rule of a resource policy names an action.
    UnknownAction = "unknown-action";
    /// A comment allows a finding that does not exist.
    UnknownAllow = "unknown-allow";
    /// A condition reads an attribute that its schema does not have.
    UnknownAttribute = "unknown-attribute";
    /// No resource policy is about a resource that a role policy names.
    UnknownResource = "unknown-resource";
    /// A rule never decides anything.
    UnreachableRule = "unreachable-rule";
    /// A comment allows a finding that is not there.
    UnusedAllow = "unused-allow";
    /// A constant is unused.
    UnusedConstant = "unused-constant";
    /// No rule names a derived role.
    UnusedDerivedRole = "unused-derived-role";
    /// No policy imports a set.
    UnusedExport = "unused-export";
    /// A policy uses no definition of an import.
    UnusedImport = "unused-import";
    /// A variable is unused.
    UnusedVariable = "unused-variable";
}

#[cfg(test)]
mod tests {
    use super::Lint;

    #[test]
    fn names_are_sorted_and_lead_back() {
        assert!(Lint::ALL.windows(2).all(|pair| pair[0].name() < pair[1].name()));
        for lint in Lint::ALL {
            assert_eq!(Lint::from_name(lint.name()), Some(*lint));
        }
        assert_eq!(Lint::from_name("unused"), None);
    }
}
