//! The errors of the YAML scanner, in words that an author can act on.

/// Returns the message for an error of the scanner.
pub(super) fn message(scanner: &str) -> String {
    let short = scanner.rsplit_once(", ").map_or(scanner, |(_, short)| short);
    let known = MESSAGES
        .iter()
        .find(|(theirs, _)| scanner.ends_with(theirs) || scanner.starts_with(theirs));
    known.map_or_else(
        || format!("this is not well-formed YAML: {short}"),
        |(_, ours)| (*ours).to_owned(),
    )
}

/// A line that should be a key and its value.
pub(super) const NO_COLON: &str = "a line without `:` is between the keys of a map";

/// The first or last words of the scanner's messages, and the project's texts.
const MESSAGES: [(&str, &str); 43] = [
    ("found unexpected end of stream", "quoted text has no closing quote"),
    (
        "invalid indentation in quoted scalar",
        "quoted text has no closing quote, or goes on with too little indentation",
    ),
    (
        "found unexpected document indicator",
        "quoted text has no closing quote before `---` or `...`",
    ),
    (
        "found unknown escape character",
        "quoted text has an escape that YAML does not know: use single quotes, or write `\\\\`",
    ),
    ("did not find expected hexadecimal number", "an escape in quoted text lacks digits"),
    ("invalid Unicode character escape code", "an escape in quoted text names no character"),
    ("found unknown anchor", "an alias names an anchor that does not exist"),
    ("did not find expected alphabetic or numeric character", "an anchor or alias has no name"),
    ("invalid indentation for anchor", "an anchor is indented too little"),
    ("found unprintable character", "the text contains a control character"),
    ("did not find expected key", "found something that is not a key at this indentation"),
    (
        "did not find expected '-' indicator",
        "found something that is not an entry of the list at this indentation",
    ),
    ("did not find expected node content", "found no value where one is needed"),
    ("expected ',' or ']'", "a list between brackets lacks a `,` or its `]`"),
    ("expected ',' or '}'", "a map between braces lacks a `,` or its `}`"),
    ("misplaced bracket", "a closing bracket has no opening bracket"),
    ("':' must be followed by a valid YAML whitespace", "a tab follows `:`: use a space"),
    ("'-' must be followed by a valid YAML whitespace", "a tab follows `-`: use a space"),
    ("':' may not precede any of `[{` in flow mapping", "a space is missing after `:`"),
    ("illegal placement of ':' indicator", "unexpected `:`: no key can end here"),
    ("tabs disallowed", "the indentation contains a tab"),
    ("tab cannot be used as indentation", "the indentation contains a tab"),
    ("a block scalar content cannot start with a tab", "the indentation contains a tab"),
    ("found a tab", "the indentation contains a tab"),
    ("invalid indentation in flow construct", "a line between brackets is indented too little"),
    ("invalid indentation", "a line is indented too little"),
    ("wrongly indented line in block scalar", "a line of the block is indented too little"),
    (
        "block sequence entries are not allowed in this context",
        "a list cannot begin here: put it on the next line",
    ),
    ("is only valid inside a block", "unexpected `-` between brackets"),
    ("plain scalar cannot start with '-' followed by ,[]{}", "unexpected `-` between brackets"),
    ("mapping keys are not allowed in this context", "unexpected `?`: no key can begin here"),
    ("found an indentation indicator equal to 0", "the digit after `|` or `>` is from 1 to 9"),
    (
        "while scanning a block scalar, did not find expected comment or line break",
        "text follows `|` or `>`: begin it on the next line",
    ),
    ("comment intercepting the multiline text", "text without quotes contains a comment"),
    ("unexpected end of plain scalar", "found no value where one is needed"),
    ("invalid content after document end marker", "text follows `...`"),
    (
        "a byte order mark must not appear inside a document",
        "a byte order mark is inside of a document",
    ),
    (
        "missing explicit document end marker before directive",
        "a directive is inside of a document: end the document with `...` first",
    ),
    ("expected <document start>", "a directive has no `---` after it"),
    ("duplicate version directive", "the version of YAML is given twice"),
    (
        "while scanning a YAML directive",
        "the version of YAML is not well formed, such as `%YAML 1.2`",
    ),
    ("while scanning a directive", "a directive is not well formed, such as `%YAML 1.2`"),
    ("recursion limit exceeded", "brackets nest too deeply"),
];
