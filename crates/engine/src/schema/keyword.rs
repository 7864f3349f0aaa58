//! The keywords of JSON Schema as the table writes them.
//!
//! They are in the order in which a node's keywords are checked, which is the order of the report.

use crate::codes::codes;

codes! {
    /// A keyword; its words are described with it. A "node" is a node's id.
    pub enum Keyword {
        /// No words: the schema `false`.
        Never = 0,
        /// Bits of the allowed types, string id of their names.
        Type = 1,
        /// String id of the message, constant.
        Const = 2,
        /// String id of the message, constants.
        Enum = 3,
        /// String id of the format's name.
        Format = 4,
        /// A number.
        MinProperties = 5,
        /// A number.
        MaxProperties = 6,
        /// String ids.
        Required = 7,
        /// Pairs of string id and node, sorted by name.
        Properties = 8,
        /// Node.
        PropertyNames = 9,
        /// Pairs of regular expression (constant) and node.
        PatternProperties = 10,
        /// Node, or [`super::NO_NODE`] for `false`.
        AdditionalProperties = 11,
        /// Pairs of string ids: if the first is present, so must be the second.
        DependentRequired = 12,
        /// Pairs of string id and node.
        DependentSchemas = 13,
        /// A number.
        MinItems = 14,
        /// A number.
        MaxItems = 15,
        /// No words.
        UniqueItems = 16,
        /// Nodes.
        PrefixItems = 17,
        /// Node, number of items that it skips.
        Items = 18,
        /// Largest number of items: `additionalItems: false`.
        NoMoreItems = 19,
        /// Node, fewest matches, most matches; a fourth word if an item that matches counts as
        /// evaluated.
        Contains = 20,
        /// A number.
        MinLength = 21,
        /// A number.
        MaxLength = 22,
        /// Regular expression (constant), string id of its text.
        Pattern = 23,
        /// No words: the text is base64.
        Base64 = 37,
        /// Two words, the bits of a double.
        Minimum = 24,
        /// Two words, the bits of a double.
        ExclusiveMinimum = 25,
        /// Two words, the bits of a double.
        Maximum = 26,
        /// Two words, the bits of a double.
        ExclusiveMaximum = 27,
        /// Two words, the bits of a double.
        MultipleOf = 28,
        /// Node.
        Ref = 29,
        /// Node.
        Not = 30,
        /// Nodes.
        AllOf = 31,
        /// Nodes.
        AnyOf = 32,
        /// Nodes.
        OneOf = 33,
        /// Three nodes: if, then, else; [`super::NO_NODE`] for a missing one.
        If = 34,
        /// Node: for the properties that no keyword of this node evaluated, nor one of the nodes
        /// that it applies to the same value.
        UnevaluatedProperties = 35,
        /// Node: the same for items.
        UnevaluatedItems = 36,
    }
}

/// Type bit of `null`.
pub const NULL: u32 = 1;
/// Type bit of `boolean`.
pub const BOOLEAN: u32 = 2;
/// Type bit of `number`.
pub const NUMBER: u32 = 4;
/// Type bit of `integer`.
pub const INTEGER: u32 = 8;
/// Type bit of `string`.
pub const STRING: u32 = 16;
/// Type bit of `array`.
pub const ARRAY: u32 = 32;
/// Type bit of `object`.
pub const OBJECT: u32 = 64;
