//! From the events of the YAML scanner to the tree.
//!
//! The scanner finds the tokens; here anchors and merge keys are resolved, keys are checked to be
//! unique, and every bound is enforced. The stack of open collections is explicit, so that depth
//! costs no native stack.

use std::collections::HashMap;
use std::sync::Arc;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span, Tag};

use super::mask::Mask;
use super::padding::Padding;
use super::{Contents, Entry, Fault, Kind, Node, plain, scanner_messages};
use crate::diagnostics::{Code, Diagnostic};
use crate::expression::Style;
use crate::limits::{MAX_DOCUMENTS, MAX_NODE_DEPTH, MAX_NODES, MAX_REPEATED_NODES};
use crate::source::{Location, Position, SourceFile};

pub(super) fn read(file: &Arc<SourceFile>) -> Contents {
    let (mut padding, mut mask) = (Padding::default(), Mask::default());
    let mut misquoted = Vec::new();
    loop {
        let text = mask.apply(&file.text);
        let text = padding.apply(&text);
        let mut builder = Builder::new(file, &padding);
        let stop = builder.run(&text).err();
        let mut read = builder.read;
        match stop {
            Some(Stop::Indentation(marker, _)) if padding.widen(&marker, &file.text) => continue,
            Some(Stop::Quote(marker, fault)) => {
                misquoted.push(*fault);
                if mask.add(padding.index(&marker), &file.text) {
                    continue;
                }
            }
            // What else is wrong may come of what was blanked out.
            Some(Stop::Indentation(_, fault) | Stop::Fault(fault)) if misquoted.is_empty() => {
                read.errors.push(*fault);
            }
            Some(Stop::Indentation(..) | Stop::Fault(_)) | None => {}
        }
        if !misquoted.is_empty() {
            read.documents.clear();
            read.errors.append(&mut misquoted);
        }
        return read;
    }
}

/// Why reading cannot go on.
enum Stop {
    /// A line between brackets is indented too little.
    Indentation(Marker, Fault),
    /// Text goes on after its closing quote.
    Quote(Marker, Fault),
    /// Anything else.
    Fault(Fault),
}

struct Builder<'a> {
    file: &'a Arc<SourceFile>,
    padding: &'a Padding,
    offsets: Offsets<'a>,
    open: Vec<OpenCollection>,
    anchors: HashMap<usize, Node>,
    nodes: usize,
    repeated: usize,
    /// Where the last scalar started and ended, if it was plain.
    last_plain: Option<(Position, Position)>,
    read: Contents,
}

/// A collection whose end is still to come.
struct OpenCollection {
    node: Node,
    anchor: usize,
    /// The key of a map whose value is still to come.
    key: Option<Node>,
}

impl<'a> Builder<'a> {
    fn new(file: &'a Arc<SourceFile>, padding: &'a Padding) -> Self {
        Self {
            file,
            padding,
            offsets: Offsets::new(&file.text),
            open: Vec::new(),
            anchors: HashMap::new(),
            nodes: 0,
            repeated: 0,
            last_plain: None,
            read: Contents::default(),
        }
    }

    fn run(&mut self, text: &str) -> Result<(), Stop> {
        for event in Parser::new_from_str(text) {
            match event {
                Ok((event, span)) => self.event(event, span).map_err(Stop::Fault)?,
                Err(error) if is_indentation(&error) => {
                    return Err(Stop::Indentation(*error.marker(), self.syntax(&error)));
                }
                Err(error) if error.info().starts_with(AFTER_QUOTE) => {
                    return Err(Stop::Quote(*error.marker(), self.syntax(&error)));
                }
                Err(error) => return Err(Stop::Fault(self.syntax(&error))),
            }
        }
        Ok(())
    }

    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), Fault> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let node = self.scalar(&text, style, tag.as_deref(), span);
                self.last_plain = (style == ScalarStyle::Plain).then(|| {
                    (self.padding.position(&span.start), self.padding.position(&span.end))
                });
                self.add(node, anchor)
            }
            Event::SequenceStart(anchor, _) => self.start(Kind::Seq(Vec::new()), anchor, span),
            Event::MappingStart(anchor, _) => self.start(Kind::Map(Vec::new()), anchor, span),
            Event::SequenceEnd | Event::MappingEnd => self.end(span),
            Event::Alias(anchor) => self.alias(anchor, span),
            // As in Cerbos, an anchor holds for the documents after its own too.
            Event::DocumentStart(_) | Event::DocumentEnd => Ok(()),
            Event::StreamStart | Event::StreamEnd | Event::Nothing => Ok(()),
        }
    }

    fn scalar(&self, text: &str, style: ScalarStyle, tag: Option<&Tag>, span: Span) -> Node {
        let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
        let start = self.offsets.byte(self.padding.index(&span.start));
        let (mut offset, mut at) = match is_block && !self.is_indicator(start) {
            // The content begins a line, and a `!` or `&` there is the author's.
            true => (start, self.padding.position(&span.start)),
            false => self.value_start(span),
        };
        let style = match style {
            ScalarStyle::Plain => Style::Plain,
            ScalarStyle::SingleQuoted => Style::SingleQuoted,
            ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
            ScalarStyle::Literal | ScalarStyle::Folded => {
                (offset, at) = self.block_start(offset, at);
                Style::Block
            }
        };
        let is_text = tag.is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str");
        let text = match style {
            Style::Block if self.ends_without_a_line_end(span) => text.trim_end_matches('\n'),
            _ => text,
        };
        let kind = match style {
            Style::Plain if !is_text => plain::resolve(text),
            _ => Kind::String(Arc::from(text), style),
        };
        Node { position: at, offset, kind }
    }

    /// Skips anchor and tag, which the scanner counts as part of the value.
    fn value_start(&self, span: Span) -> (usize, Position) {
        let mut offset = self.offsets.byte(self.padding.index(&span.start));
        let mut at = self.padding.position(&span.start);
        let end = self.offsets.byte(self.padding.index(&span.end));
        while let Some(rest) = self.file.text.get(offset..end) {
            if !rest.starts_with(['&', '!']) {
                break;
            }
            let property = rest.find(char::is_whitespace).unwrap_or(rest.len());
            let blank = rest.get(property..).and_then(|r| r.find(|c: char| !c.is_whitespace()));
            let skipped = blank.map_or(rest.len(), |blank| property.saturating_add(blank));
            at = rest
                .chars()
                .zip(rest.char_indices().map(|(i, _)| i))
                .fold(at, |at, (c, i)| if i < skipped { at.after(c) } else { at });
            offset = offset.saturating_add(skipped);
            if skipped == 0 {
                break;
            }
        }
        (offset, at)
    }

    /// With an anchor or a tag, a block scalar starts at its indicator: skips that line.
    fn block_start(&self, offset: usize, at: Position) -> (usize, Position) {
        let rest = self.file.text.get(offset..).unwrap_or_default();
        match rest.find('\n') {
            Some(line) if rest.starts_with(['|', '>']) && self.is_indicator(offset) => {
                let next = Position { line: at.line.saturating_add(1), column: 1 };
                (offset.saturating_add(line).saturating_add(1), next)
            }
            _ => (offset, at),
        }
    }

    /// Whether a block goes on to the last character of a file that ends within a line: then that line
    /// has no end that could belong to the text, though the scanner gives it one.
    fn ends_without_a_line_end(&self, span: Span) -> bool {
        let last = self.file.text.rsplit('\n').next().unwrap_or_default();
        let end = self.offsets.byte(self.padding.index(&span.end));
        !last.trim().is_empty() && end >= self.file.text.len()
    }

    /// Content stands on a line of its own; an indicator has something before it on its line.
    fn is_indicator(&self, offset: usize) -> bool {
        let before = self.file.text.get(..offset).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        !line.trim().is_empty()
    }

    fn start(&mut self, kind: Kind, anchor: usize, span: Span) -> Result<(), Fault> {
        if self.open.len() >= MAX_NODE_DEPTH {
            return Err(self.limit(
                self.padding.position(&span.start),
                "values nest too deeply",
                MAX_NODE_DEPTH,
            ));
        }
        let (offset, at) = self.value_start(span);
        self.open.push(OpenCollection {
            node: Node { position: at, offset, kind },
            anchor,
            key: None,
        });
        Ok(())
    }

    fn end(&mut self, span: Span) -> Result<(), Fault> {
        let Some(mut open) = self.open.pop() else {
            return Err(self
                .error(self.padding.position(&span.start), "a list or map ends that never began"));
        };
        if let Kind::Map(entries) = open.node.kind {
            open.node.kind = Kind::Map(self.resolve_merges(entries));
        }
        self.add(open.node, open.anchor)
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), Fault> {
        let at = self.padding.position(&span.start);
        let Some(node) = self.anchors.get(&anchor) else {
            return Err(self.error(at, "an alias stands inside the value that it names"));
        };
        let (size, depth) = measure(node);
        if self.open.len().saturating_add(depth) > MAX_NODE_DEPTH {
            return Err(self.limit(at, "values nest too deeply", MAX_NODE_DEPTH));
        }
        let node = node.clone();
        self.repeat(size, at)?;
        self.attach(node)
    }

    fn add(&mut self, node: Node, anchor: usize) -> Result<(), Fault> {
        self.count(node.position)?;
        if anchor > 0 {
            self.repeat(measure(&node).0, node.position)?;
            self.anchors.insert(anchor, node.clone());
        }
        self.attach(node)
    }

    fn count(&mut self, at: Position) -> Result<(), Fault> {
        self.nodes = self.nodes.saturating_add(1);
        if self.nodes > MAX_NODES {
            return Err(self.limit(at, TOO_MANY, MAX_NODES));
        }
        Ok(())
    }

    /// Pays for values that stand in the file once and in the tree again.
    fn repeat(&mut self, nodes: usize, at: Position) -> Result<(), Fault> {
        self.repeated = self.repeated.saturating_add(nodes);
        if self.repeated > MAX_REPEATED_NODES {
            return Err(self.limit(at, TOO_MANY, MAX_REPEATED_NODES));
        }
        Ok(())
    }

    fn attach(&mut self, node: Node) -> Result<(), Fault> {
        let Some(open) = self.open.last_mut() else { return self.document(node) };
        match &mut open.node.kind {
            Kind::Seq(items) => items.push(node),
            Kind::Map(entries) => match open.key.take() {
                Some(key) => entries.push(Entry { key, value: node }),
                None => {
                    if entries.is_empty() {
                        open.node.position = self.offsets.map_position(&open.node, &node);
                    }
                    open.key = Some(node);
                }
            },
            _ => {}
        }
        Ok(())
    }

    fn document(&mut self, node: Node) -> Result<(), Fault> {
        let is_empty = node.kind == Kind::Null && !self.offsets.has_text(node.offset);
        if is_empty {
            return Ok(());
        }
        if self.read.documents.len() >= MAX_DOCUMENTS {
            return Err(self.limit(
                node.position,
                "the file holds too many documents",
                MAX_DOCUMENTS,
            ));
        }
        self.read.documents.push(node);
        Ok(())
    }

    /// Merged entries come first, and an entry of the map itself replaces a merged one.
    fn resolve_merges(&mut self, entries: Vec<Entry>) -> Vec<Entry> {
        let mut out: Vec<Entry> = Vec::with_capacity(entries.len());
        let mut index: HashMap<Arc<str>, (usize, bool)> = HashMap::new();
        let (merges, own): (Vec<_>, Vec<_>) = entries.into_iter().partition(is_merge);
        for merge in merges {
            match merge.value.kind {
                Kind::Map(merged) => {
                    for entry in merged {
                        let _ = put(&mut out, &mut index, entry, false);
                    }
                }
                _ => {
                    let error = self.error(merge.value.position, "only a map can be merged");
                    self.read.errors.push(*error);
                }
            }
        }
        for entry in own {
            if let Err((key, first, again)) = put(&mut out, &mut index, entry, true) {
                let Position { line, column } = first;
                let message = format!("key `{key}` is there already, at {line}:{column}");
                let error = self.error(again, message);
                self.read.errors.push(*error);
            }
        }
        out
    }

    fn error(&self, at: Position, message: impl Into<String>) -> Fault {
        let location = Location { file: Arc::clone(self.file), position: at, path: Arc::from("") };
        Box::new(Diagnostic::error(Code::Syntax, &location, message))
    }

    fn limit(&self, at: Position, message: &str, bound: usize) -> Fault {
        let location = Location { file: Arc::clone(self.file), position: at, path: Arc::from("") };
        let error = Diagnostic::error(Code::Limit, &location, message);
        Box::new(error.expected(format!("at most {bound}")))
    }

    fn syntax(&self, error: &ScanError) -> Fault {
        let at = self.padding.position(error.marker());
        let info = error.info();
        if info.starts_with("simple key expect") {
            return self.error(self.line_before(at), scanner_messages::NO_COLON);
        }
        if info.starts_with("mapping values are not allowed") {
            return match self.last_plain {
                Some((start, end)) if start.line < end.line => {
                    self.error(start, scanner_messages::NO_COLON)
                }
                _ => self.error(at, "a `:` stands where no key can end"),
            };
        }
        if info.starts_with(AFTER_QUOTE) {
            let message = "text goes on after its closing quote: write it as a block, after `|`";
            return self.error(self.quote_before(at), message);
        }
        if let Some(c) = info.strip_prefix("unexpected character: `").and_then(|c| c.chars().next())
        {
            return self.error(at, format!("text without quotes cannot start with `{c}`"));
        }
        self.error(at, scanner_messages::message(info))
    }

    /// Where the text starts on the last line before `at` that has any.
    fn line_before(&self, at: Position) -> Position {
        let above = usize::try_from(at.line).unwrap_or(0).saturating_sub(1);
        let lines = self.file.text.lines().take(above).zip(1_u32..);
        let has_text = |(line, _): &(&str, u32)| !line.trim().is_empty();
        let Some((line, number)) = lines.filter(has_text).last() else { return at };
        let indent = line.chars().take_while(|c| c.is_whitespace()).count();
        let column = u32::try_from(indent).unwrap_or(u32::MAX).saturating_add(1);
        Position { line: number, column }
    }

    /// Where the quoted text began that goes on at `at`.
    fn quote_before(&self, at: Position) -> Position {
        let line = self.file.line(at.line).unwrap_or_default();
        let quote = line.chars().position(|c| matches!(c, '"' | '\''));
        let column = quote.and_then(|n| u32::try_from(n).ok()).map(|n| n.saturating_add(1));
        match column {
            Some(column) if column < at.column => Position { line: at.line, column },
            _ => at,
        }
    }
}

fn is_merge(entry: &Entry) -> bool {
    matches!(&entry.key.kind, Kind::String(text, Style::Plain) if text.as_ref() == "<<")
}

type Clash = (Arc<str>, Position, Position);

fn put(
    out: &mut Vec<Entry>,
    index: &mut HashMap<Arc<str>, (usize, bool)>,
    entry: Entry,
    own: bool,
) -> Result<(), Clash> {
    let Kind::String(key, _) = &entry.key.kind else {
        out.push(entry);
        return Ok(());
    };
    let key = Arc::clone(key);
    match index.get(&key).and_then(|&(at, owned)| Some((out.get_mut(at)?, owned))) {
        Some((there, true)) if own => Err((key, there.key.position, entry.key.position)),
        Some((there, _)) => {
            *there = entry;
            if let Some(slot) = index.get_mut(&key) {
                slot.1 = own;
            }
            Ok(())
        }
        None => {
            index.insert(key, (out.len(), own));
            out.push(entry);
            Ok(())
        }
    }
}

/// Returns how many values a value holds, itself included, and how deep they nest.
fn measure(node: &Node) -> (usize, usize) {
    let add = |(size, depth): (usize, usize), part: &Node| {
        let (more, below) = measure(part);
        (size.saturating_add(more), depth.max(below))
    };
    let (size, depth) = match &node.kind {
        Kind::Seq(items) => items.iter().fold((0, 0), add),
        Kind::Map(entries) => {
            entries.iter().flat_map(|entry| [&entry.key, &entry.value]).fold((0, 0), add)
        }
        _ => (0, 0),
    };
    (size.saturating_add(1), depth.saturating_add(1))
}

pub(super) fn is_indentation(error: &ScanError) -> bool {
    matches!(error.info(), "invalid indentation" | "invalid indentation in flow construct")
}

/// Byte offsets of characters: the scanner counts characters.
struct Offsets<'a> {
    text: &'a str,
    /// The byte offset of each character; empty if the text is ASCII.
    table: Vec<usize>,
}

impl<'a> Offsets<'a> {
    fn new(text: &'a str) -> Self {
        let table = match text.is_ascii() {
            true => Vec::new(),
            false => text.char_indices().map(|(offset, _)| offset).collect(),
        };
        Self { text, table }
    }

    fn byte(&self, character: usize) -> usize {
        match self.table.is_empty() {
            true => character.min(self.text.len()),
            false => self.table.get(character).copied().unwrap_or(self.text.len()),
        }
    }

    /// Where messages about a map point: its `{`, or the `:` after its first key.
    fn map_position(&self, map: &Node, first_key: &Node) -> Position {
        let rest = self.text.get(first_key.offset..).unwrap_or_default();
        if self.text.get(map.offset..).is_some_and(|rest| rest.starts_with('{')) {
            return map.position;
        }
        let key_length = match &first_key.kind {
            Kind::String(text, style) => text.chars().count().saturating_add(match style {
                Style::Plain | Style::Block => 0,
                Style::SingleQuoted | Style::DoubleQuoted => 2,
            }),
            _ => 0,
        };
        let mut at = first_key.position;
        for (i, c) in rest.chars().take_while(|c| *c != '\n').enumerate() {
            if c == ':' && i >= key_length {
                return at;
            }
            at = at.after(c);
        }
        first_key.position
    }

    /// Whether the value at `offset` is written down, rather than left out.
    fn has_text(&self, offset: usize) -> bool {
        self.text.get(offset..).is_some_and(|rest| rest.starts_with(['~', 'n', 'N']))
    }
}

/// How the scanner's message begins when text goes on after its closing quote.
const AFTER_QUOTE: &str = "invalid trailing content";

const TOO_MANY: &str = "the file holds too many values";
