//! From the events of the YAML scanner to the tree.
//!
//! The scanner finds the tokens; here anchors and merge keys are resolved, keys are checked to be
//! unique, and every bound is enforced. The stack of open collections is explicit, so that depth
//! costs no native stack.

mod merges;
mod offsets;
mod scalars;
mod syntax;

use std::collections::HashMap;
use std::sync::Arc;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span};

use super::mask::Mask;
use super::padding::Padding;
use super::{Contents, Entry, Fault, Kind, Node};
use crate::diagnostics::{Code, Diagnostic};
use crate::limits::{MAX_DOCUMENTS, MAX_NODE_DEPTH, MAX_NODES, MAX_REPEATED_NODES};
use crate::source::{Location, Position, SourceFile};
use offsets::Offsets;

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
            // Any other error may come of the blanked text.
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

/// A reason to stop reading.
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
    /// The start and the end of the last scalar, if it was plain.
    last_plain: Option<(Position, Position)>,
    read: Contents,
}

/// A collection without its end so far.
struct OpenCollection {
    node: Node,
    anchor: usize,
    /// The key of a map without its value so far.
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
            return Err(self.error(at, "an alias is inside the value that it names"));
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

    /// Counts values that are written in the file once and copied in the tree.
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

    fn error(&self, at: Position, message: impl Into<String>) -> Fault {
        let location = Location { file: Arc::clone(self.file), position: at, path: Arc::from("") };
        Box::new(Diagnostic::error(Code::Syntax, &location, message))
    }

    fn limit(&self, at: Position, message: &str, bound: usize) -> Fault {
        let location = Location { file: Arc::clone(self.file), position: at, path: Arc::from("") };
        let error = Diagnostic::error(Code::Limit, &location, message);
        Box::new(error.expected(format!("at most {bound}")))
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

/// The start of the scanner's message about text after a closing quote.
const AFTER_QUOTE: &str = "invalid trailing content";

const TOO_MANY: &str = "the file holds too many values";
