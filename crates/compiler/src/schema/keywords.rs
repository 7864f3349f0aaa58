//! From the keywords of one schema to the words of one node.

use wardgate_engine::cel::pool::ConstTag;
use wardgate_engine::schema::{Keyword, NO_NODE, keyword, quoted};

use super::reference::Target;
use super::{Fault, SchemaFile, SchemaWriter, body, field, index, missing, text};
use crate::emit::pool::PoolBuilder;
use crate::yaml::{Entry, Kind, Node};

/// Reads one schema.
pub(super) struct Reader<'r, 'a> {
    pub(super) writer: &'r mut SchemaWriter<'a>,
    pub(super) pool: &'r mut PoolBuilder,
    pub(super) file: &'r SchemaFile,
    pub(super) target: &'r Target,
    pub(super) faults: Vec<Fault>,
}

type Clauses = Vec<(Keyword, Vec<u32>)>;
type Answer<T> = Result<T, Fault>;

impl Reader<'_, '_> {
    /// Returns the words of the node.
    pub(super) fn schema(&mut self) -> Vec<u32> {
        let file = self.file;
        let Some(node) = self.target.find(&file.root) else {
            let message = format!("the reference `#{}` leads nowhere", self.target.pointer);
            self.faults.push(Fault::new(file.root.position, message));
            return body(Vec::new());
        };
        match &node.kind {
            Kind::Bool(true) => body(Vec::new()),
            Kind::Bool(false) => body(vec![(Keyword::Never, Vec::new())]),
            Kind::Map(entries) => {
                self.unambiguous(node);
                body(self.keywords(node, entries))
            }
            _ => {
                let fault = wrong(node, "an object, `true` or `false`");
                self.faults.push(Fault { message: "this is no schema".to_owned(), ..fault });
                body(Vec::new())
            }
        }
    }

    fn keywords(&mut self, node: &Node, entries: &[Entry]) -> Clauses {
        let draft = self.draft();
        let lone_reference = draft < 2019 && field(node, "$ref").is_some();
        let mut clauses = Vec::new();
        for entry in entries {
            let name = text(&entry.key).unwrap_or_default();
            if lone_reference && name != "$ref" {
                continue;
            }
            match self.clause(draft, node, name, &entry.value) {
                Ok(clause) => clauses.extend(clause),
                Err(fault) if fault.message.is_empty() => {
                    let message = format!("`{name}` has a wrong value");
                    self.faults.push(Fault { message, ..fault });
                }
                Err(fault) => self.faults.push(fault),
            }
        }
        clauses
    }

    /// Reports a URL or an anchor that two schemas of the file have.
    fn unambiguous(&mut self, node: &Node) {
        let file = self.file;
        let twice = file.resources(&self.target.file).twice.as_ref();
        if let Some(name) = twice.filter(|_| self.target.pointer.is_empty()) {
            let message = format!("two schemas have the name `{name}`");
            self.faults.push(Fault::new(node.position, message));
        }
    }

    fn draft(&mut self) -> u32 {
        let found = self.file.draft();
        let name = field(&self.file.root, "$schema").filter(|_| self.target.pointer.is_empty());
        if let Some(name) = name.filter(|_| found.is_none()) {
            let fault = wrong(
                name,
                "a draft from 4 to 2020-12, such as `https://json-schema.org/draft/2020-12/schema`",
            );
            self.faults.push(Fault {
                message: "this draft of JSON Schema is unknown".to_owned(),
                ..fault
            });
        }
        found.unwrap_or(2020)
    }

    /// Returns what the keyword called `name` says; nothing if it says nothing, or says it through
    /// another keyword.
    fn clause(&mut self, draft: u32, node: &Node, name: &str, value: &Node) -> Answer<Clauses> {
        let one = |keyword, words| Ok(vec![(keyword, words)]);
        match name {
            "type" => one(Keyword::Type, self.types(value)?),
            "const" if draft >= 6 => {
                one(Keyword::Const, self.constants(std::slice::from_ref(value), "const failed")?)
            }
            "enum" => one(Keyword::Enum, self.constants(list(value)?, "enum failed")?),
            "format" => one(Keyword::Format, vec![self.pool.string(word(value)?)]),
            "minProperties" => one(Keyword::MinProperties, vec![count(value)?]),
            "maxProperties" => one(Keyword::MaxProperties, vec![count(value)?]),
            "required" => one(Keyword::Required, self.words(value)?),
            "properties" => one(Keyword::Properties, self.named(name, value)?),
            "propertyNames" if draft >= 6 => one(Keyword::PropertyNames, vec![self.child(&[name])]),
            "patternProperties" => one(Keyword::PatternProperties, self.pattern_properties(value)?),
            "additionalProperties" => one(
                Keyword::AdditionalProperties,
                vec![match value.kind {
                    Kind::Bool(false) => NO_NODE,
                    _ => self.child(&[name]),
                }],
            ),
            "dependentRequired" if draft >= 2019 => {
                one(Keyword::DependentRequired, self.dependent_required(value)?)
            }
            "dependentSchemas" if draft >= 2019 => {
                one(Keyword::DependentSchemas, self.named(name, value)?)
            }
            "dependencies" => self.dependencies(value),
            "minItems" => one(Keyword::MinItems, vec![count(value)?]),
            "maxItems" => one(Keyword::MaxItems, vec![count(value)?]),
            "uniqueItems" => {
                Ok(flag(value)?.then(|| (Keyword::UniqueItems, Vec::new())).into_iter().collect())
            }
            "prefixItems" if draft >= 2020 => one(Keyword::PrefixItems, self.listed(name, value)?),
            "items" => self.items(draft, node, value),
            "contains" if draft >= 6 => one(Keyword::Contains, self.contains(draft, node)?),
            "minLength" => one(Keyword::MinLength, vec![count(value)?]),
            "maxLength" => one(Keyword::MaxLength, vec![count(value)?]),
            "pattern" => {
                one(Keyword::Pattern, vec![self.pattern(value)?, self.pool.string(word(value)?)])
            }
            "minimum" => one(
                bound(node, "exclusiveMinimum", Keyword::Minimum, Keyword::ExclusiveMinimum),
                double(value)?,
            ),
            "maximum" => one(
                bound(node, "exclusiveMaximum", Keyword::Maximum, Keyword::ExclusiveMaximum),
                double(value)?,
            ),
            "exclusiveMinimum" if !is_flag(value) => one(Keyword::ExclusiveMinimum, double(value)?),
            "exclusiveMaximum" if !is_flag(value) => one(Keyword::ExclusiveMaximum, double(value)?),
            "multipleOf" => one(Keyword::MultipleOf, double(value)?),
            "$ref" => {
                let target = self.reference(value)?;
                one(Keyword::Ref, vec![self.writer.node(target)])
            }
            "not" => one(Keyword::Not, vec![self.child(&[name])]),
            "allOf" => one(Keyword::AllOf, self.listed(name, value)?),
            "anyOf" => one(Keyword::AnyOf, self.listed(name, value)?),
            "oneOf" => one(Keyword::OneOf, self.listed(name, value)?),
            "if" if draft >= 7 => one(
                Keyword::If,
                vec![self.child(&[name]), self.optional(node, "then"), self.optional(node, "else")],
            ),
            "unevaluatedProperties" if draft >= 2019 => {
                one(Keyword::UnevaluatedProperties, vec![self.child(&[name])])
            }
            "unevaluatedItems" if draft >= 2019 => {
                one(Keyword::UnevaluatedItems, vec![self.child(&[name])])
            }
            "$dynamicRef" if draft >= 2020 => {
                one(Keyword::Ref, vec![self.dynamic_reference(value)?])
            }
            "$recursiveRef" if draft == 2019 => {
                one(Keyword::Ref, vec![self.dynamic_reference(value)?])
            }
            "$vocabulary" if draft >= 2019 => Err(unsupported(value, name)),
            "contentEncoding" if draft >= 7 && word(value)? == BASE64 => {
                one(Keyword::Base64, Vec::new())
            }
            "contentMediaType" if draft >= 7 && word(value)? == JSON && is_decoded(node) => {
                Err(unsupported(value, name))
            }
            "contentSchema" if draft >= 7 && is_decoded(node) && has_content(node) => {
                Err(unsupported(value, name))
            }
            _ => Ok(Vec::new()),
        }
    }

    fn types(&mut self, value: &Node) -> Answer<Vec<u32>> {
        let items = match &value.kind {
            Kind::String(..) => std::slice::from_ref(value),
            Kind::Seq(items) => items.as_slice(),
            _ => return Err(wrong(value, "a type, or a list of types")),
        };
        let mut mask = 0;
        let mut names = Vec::new();
        for item in items {
            let name = word(item)?;
            let known = TYPES.iter().find(|(known, _)| *known == name);
            let expected =
                "one of `null`, `boolean`, `number`, `integer`, `string`, `array` and `object`";
            mask |= known.ok_or_else(|| wrong(item, expected))?.1;
            names.push(name);
        }
        Ok(vec![mask, self.pool.string(&names.join(" or "))])
    }

    /// Returns the message and the constants. The message lists the values unless one of them is a
    /// list or an object.
    fn constants(&mut self, items: &[Node], otherwise: &str) -> Answer<Vec<u32>> {
        let shown: Option<Vec<String>> = items.iter().map(|item| shown(self.file, item)).collect();
        let message = match shown.as_deref() {
            None => otherwise.to_owned(),
            Some([one]) => format!("value must be {one}"),
            Some(many) => format!("value must be one of {}", many.join(", ")),
        };
        let mut words = vec![self.pool.string(&message)];
        words.extend(items.iter().map(|item| constant(self.pool, item)));
        Ok(words)
    }

    fn named(&mut self, keyword: &str, value: &Node) -> Answer<Vec<u32>> {
        let mut names =
            entries(value)?.iter().map(|entry| word(&entry.key)).collect::<Answer<Vec<_>>>()?;
        names.sort_unstable();
        Ok(names
            .iter()
            .flat_map(|name| [self.pool.string(name), self.child(&[keyword, name])])
            .collect())
    }

    fn listed(&mut self, keyword: &str, value: &Node) -> Answer<Vec<u32>> {
        let count = list(value)?.len();
        Ok((0..count).map(|at| self.child(&[keyword, &at.to_string()])).collect())
    }

    fn words(&mut self, value: &Node) -> Answer<Vec<u32>> {
        list(value)?.iter().map(|item| Ok(self.pool.string(word(item)?))).collect()
    }

    fn pattern_properties(&mut self, value: &Node) -> Answer<Vec<u32>> {
        let mut words = Vec::new();
        for entry in entries(value)? {
            let pattern = self.pattern(&entry.key)?;
            words.extend([pattern, self.child(&["patternProperties", word(&entry.key)?])]);
        }
        Ok(words)
    }

    fn dependent_required(&mut self, value: &Node) -> Answer<Vec<u32>> {
        let mut words = Vec::new();
        for entry in entries(value)? {
            let name = self.pool.string(word(&entry.key)?);
            words.extend(self.words(&entry.value)?.into_iter().flat_map(|wanted| [name, wanted]));
        }
        Ok(words)
    }

    /// `dependencies` of the older drafts is both keywords that replaced it.
    fn dependencies(&mut self, value: &Node) -> Answer<Clauses> {
        let (mut required, mut schemas) = (Vec::new(), Vec::new());
        for entry in entries(value)? {
            let key = word(&entry.key)?;
            let name = self.pool.string(key);
            if matches!(entry.value.kind, Kind::Seq(_)) {
                required.extend(
                    self.words(&entry.value)?.into_iter().flat_map(|wanted| [name, wanted]),
                );
            } else {
                schemas.extend([name, self.child(&["dependencies", key])]);
            }
        }
        Ok(vec![(Keyword::DependentRequired, required), (Keyword::DependentSchemas, schemas)])
    }

    fn items(&mut self, draft: u32, node: &Node, value: &Node) -> Answer<Clauses> {
        let Kind::Seq(listed) = &value.kind else {
            let prefix = field(node, "prefixItems").filter(|_| draft >= 2020);
            let skipped = prefix.map_or(Ok(0), |prefix| list(prefix).map(<[Node]>::len))?;
            return Ok(vec![(Keyword::Items, vec![self.child(&["items"]), index(skipped)])]);
        };
        if draft >= 2020 {
            return Err(wrong(value, "a schema; a list of them is `prefixItems` in this draft"));
        }
        let mut clauses = vec![(Keyword::PrefixItems, self.listed("items", value)?)];
        match field(node, "additionalItems").map(|more| &more.kind) {
            None => {}
            Some(Kind::Bool(true)) if draft < 2019 => {}
            Some(Kind::Bool(false)) => {
                clauses.push((Keyword::NoMoreItems, vec![index(listed.len())]))
            }
            Some(_) => clauses.push((
                Keyword::Items,
                vec![self.child(&["additionalItems"]), index(listed.len())],
            )),
        }
        Ok(clauses)
    }

    fn contains(&mut self, draft: u32, node: &Node) -> Answer<Vec<u32>> {
        let limit = |name, default| match field(node, name) {
            Some(value) if draft >= 2019 => count(value),
            _ => Ok(default),
        };
        let (least, most) = (limit("minContains", 1)?, limit("maxContains", u32::MAX)?);
        // Before, an item that `contains` looked at was not evaluated by that.
        let evaluates = (draft >= 2020).then_some(1);
        Ok([self.child(&["contains"]), least, most].into_iter().chain(evaluates).collect())
    }

    fn pattern(&mut self, value: &Node) -> Answer<u32> {
        let pattern = word(value)?;
        let regex = crate::regex::compile(pattern).map_err(|error| {
            let message = format!("this is no regular expression: {}", error.kind.text());
            let found = pattern.get(error.quoted).filter(|part| !part.is_empty());
            let found = found.map(|part| format!("`{part}`"));
            Fault { found, ..Fault::new(value.position, message) }
        })?;
        let mut words = vec![self.pool.string(pattern), index(regex.words().len())];
        words.extend_from_slice(regex.words());
        Ok(self.pool.constant(ConstTag::Regex, &words))
    }

    fn reference(&mut self, value: &Node) -> Answer<Target> {
        let there = |fault| Fault { at: value.position, ..fault };
        let found = self.target.follow(self.file, word(value)?).map_err(there)?;
        match self.writer.file(found.file()) {
            Ok(file) => found.find(&file).map_err(there),
            Err(super::Unavailable::Missing) => Err(there(missing(found.file()))),
            // What is wrong with the file is told where its schemas are written.
            Err(super::Unavailable::Broken(_)) => Ok(found.root()),
        }
    }

    /// A reference that a schema on the way to it may lead elsewhere, if it declares the same name.
    fn dynamic_reference(&mut self, value: &Node) -> Answer<u32> {
        let target = self.reference(value)?;
        let name = word(value)?.split_once('#').map_or("", |(_, fragment)| fragment);
        if let Ok(file) = self.writer.file(&target.file) {
            let schema = target.find(&file.root);
            let declares = |keyword| schema.and_then(|schema| field(schema, keyword));
            let is_dynamic = declares("$dynamicAnchor").and_then(text) == Some(name);
            let is_recursive = declares("$recursiveAnchor")
                .is_some_and(|flag| flag.kind == Kind::Bool(true) && name.is_empty());
            if is_dynamic || is_recursive {
                self.writer.dynamic.insert(name.to_owned());
            }
        }
        Ok(self.writer.node(target))
    }

    fn optional(&mut self, node: &Node, name: &str) -> u32 {
        field(node, name).map_or(NO_NODE, |_| self.child(&[name]))
    }

    fn child(&mut self, segments: &[&str]) -> u32 {
        self.writer.node(self.target.below(segments))
    }
}

/// Where the drafts live. Another schema of schemas, whatever its address, may mean something else.
const DRAFTS: [(&str, u32); 6] = [
    ("json-schema.org/draft-04/schema", 4),
    ("json-schema.org/draft-06/schema", 6),
    ("json-schema.org/draft-07/schema", 7),
    ("json-schema.org/draft/2019-09/schema", 2019),
    ("json-schema.org/draft/2020-12/schema", 2020),
    ("json-schema.org/schema", 2020),
];

/// Returns the draft with this URL.
pub(super) fn draft_named(url: &str) -> Option<u32> {
    let url = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let url = url.strip_suffix('#').unwrap_or(url);
    DRAFTS.iter().find(|(known, _)| url == *known).map(|(_, draft)| *draft)
}

/// Whether Cerbos can read the content of a text: it knows one encoding, and looks at no other.
fn is_decoded(node: &Node) -> bool {
    field(node, "contentEncoding").and_then(text).is_none_or(|encoding| encoding == BASE64)
}

/// Whether a text has content that Cerbos looks at.
fn has_content(node: &Node) -> bool {
    let named = |name| field(node, name).and_then(text);
    let media_type = named("contentMediaType");
    media_type == Some(JSON) || (media_type.is_some() && named("contentEncoding").is_some())
}

const BASE64: &str = "base64";
const JSON: &str = "application/json";

/// `minimum` means the exclusive bound where draft 4's flag says so.
fn bound(node: &Node, flag: &str, inclusive: Keyword, exclusive: Keyword) -> Keyword {
    match field(node, flag).map(|flag| &flag.kind) {
        Some(Kind::Bool(true)) => exclusive,
        _ => inclusive,
    }
}

/// Interns a JSON value; the entries of objects are sorted, as those of attributes are.
fn constant(pool: &mut PoolBuilder, node: &Node) -> u32 {
    match &node.kind {
        Kind::Null => pool.constant(ConstTag::Null, &[]),
        Kind::Bool(false) => pool.constant(ConstTag::False, &[]),
        Kind::Bool(true) => pool.constant(ConstTag::True, &[]),
        Kind::Integer(_) | Kind::Float(_) => {
            let words = double(node).unwrap_or_default();
            pool.constant(ConstTag::Double, &words)
        }
        Kind::String(text, _) => {
            let id = pool.string(text);
            pool.constant(ConstTag::String, &[id])
        }
        Kind::Seq(items) => {
            let mut words = vec![index(items.len())];
            words.extend(items.iter().map(|item| constant(pool, item)).collect::<Vec<_>>());
            pool.constant(ConstTag::List, &words)
        }
        Kind::Map(entries) => {
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_by_key(|entry| text(&entry.key));
            let mut words = vec![index(entries.len())];
            for entry in entries {
                words.extend([constant(pool, &entry.key), constant(pool, &entry.value)]);
            }
            pool.constant(ConstTag::Map, &words)
        }
    }
}

/// How a message shows a value of `const` or `enum`: Go's notation, numbers as they are written.
fn shown(file: &SchemaFile, node: &Node) -> Option<String> {
    Some(match &node.kind {
        Kind::Null => "<nil>".to_owned(),
        Kind::Bool(value) => value.to_string(),
        Kind::String(text, _) => quoted(text, '"'),
        Kind::Integer(_) | Kind::Float(_) => {
            let written = file.source.text.get(node.offset..).unwrap_or_default();
            let end = written
                .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')));
            quoted(written.get(..end.unwrap_or(written.len())).unwrap_or_default(), '"')
        }
        Kind::Seq(_) | Kind::Map(_) => return None,
    })
}

fn list(node: &Node) -> Answer<&[Node]> {
    match &node.kind {
        Kind::Seq(items) => Ok(items),
        _ => Err(wrong(node, "a list")),
    }
}

fn entries(node: &Node) -> Answer<&[Entry]> {
    match &node.kind {
        Kind::Map(entries) => Ok(entries),
        _ => Err(wrong(node, "an object")),
    }
}

fn word(node: &Node) -> Answer<&str> {
    text(node).ok_or_else(|| wrong(node, "a string"))
}

fn flag(node: &Node) -> Answer<bool> {
    match node.kind {
        Kind::Bool(value) => Ok(value),
        _ => Err(wrong(node, "`true` or `false`")),
    }
}

const fn is_flag(node: &Node) -> bool {
    matches!(node.kind, Kind::Bool(_))
}

fn count(node: &Node) -> Answer<u32> {
    let number = match node.kind {
        Kind::Integer(value) => u32::try_from(value).ok(),
        // `2.0` is a whole number to JSON Schema.
        Kind::Float(value) => value.to_string().parse().ok(),
        _ => None,
    };
    number.ok_or_else(|| wrong(node, "a number from 0"))
}

#[expect(
    clippy::as_conversions,
    reason = "there is no other way from an integer to its nearest double"
)]
fn double(node: &Node) -> Answer<Vec<u32>> {
    let value = match node.kind {
        Kind::Integer(value) => value as f64,
        Kind::Float(value) => value,
        _ => return Err(wrong(node, "a number")),
    };
    let bits = value.to_bits();
    let half = |bits: u64| u32::try_from(bits & u64::from(u32::MAX)).unwrap_or_default();
    Ok(vec![half(bits), half(bits >> 32)])
}

fn wrong(node: &Node, expected: &str) -> Fault {
    let found = match &node.kind {
        Kind::Null => "`null`".to_owned(),
        Kind::Bool(value) => format!("`{value}`"),
        Kind::Integer(value) => format!("`{value}`"),
        Kind::Float(value) => format!("`{value}`"),
        Kind::String(text, _) => format!("the text `{text}`"),
        Kind::Seq(_) => "a list".to_owned(),
        Kind::Map(_) => "an object".to_owned(),
    };
    Fault::new(node.position, "").because(found, expected)
}

fn unsupported(node: &Node, name: &str) -> Fault {
    Fault::new(
        node.position,
        format!("`{name}` is not supported, and to ignore it would change what is valid"),
    )
}

const TYPES: [(&str, u32); 7] = [
    ("null", keyword::NULL),
    ("boolean", keyword::BOOLEAN),
    ("number", keyword::NUMBER),
    ("integer", keyword::INTEGER),
    ("string", keyword::STRING),
    ("array", keyword::ARRAY),
    ("object", keyword::OBJECT),
];
