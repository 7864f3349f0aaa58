//! Decision diagrams with four leaves over variables with several classes.
//!
//! A node has an edge for each class of its variable; variables are in one order on every way down, and
//! equal nodes are one node. So two diagrams mean the same exactly if they are the same. Everything is
//! built by one operation, [`Diagrams::select`].

use std::collections::HashMap;

use wardgate_engine::table::at;

use super::terms::number;

/// The number of a diagram. The first four are the leaves.
pub(crate) type Diagram = u32;

/// The leaves of conditions.
pub(crate) const TRUE: Diagram = 0;
pub(crate) const FALSE: Diagram = 1;
pub(crate) const FAILS: Diagram = 2;
/// A value that is no boolean.
pub(crate) const OTHER: Diagram = 3;

/// The leaves of a walk: allowed; nothing, or a denial that another role may turn; and an end of the
/// search without an allow.
pub(crate) const ALLOW: Diagram = 0;
pub(crate) const NOTHING: Diagram = 1;
pub(crate) const END: Diagram = 2;

/// The number of leaves.
pub(crate) const LEAVES: usize = 4;

/// The bound of the edges was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exhausted;

/// One class of each variable on the way down a diagram.
pub(crate) type Way = Vec<(usize, usize)>;

/// The diagrams of one question.
pub(crate) struct Diagrams {
    /// The number of classes of each variable.
    sizes: Vec<usize>,
    /// Variable and first edge of each node that is no leaf.
    nodes: Vec<(u32, usize)>,
    edges: Vec<Diagram>,
    unique: HashMap<(u32, Box<[Diagram]>), Diagram>,
    selected: HashMap<[Diagram; 1 + LEAVES], Diagram>,
    /// The edges that may still be made or looked at.
    left: usize,
}

impl Diagrams {
    pub(crate) fn new(sizes: Vec<usize>, left: usize) -> Self {
        Self {
            sizes,
            nodes: Vec::new(),
            edges: Vec::new(),
            unique: HashMap::new(),
            selected: HashMap::new(),
            left,
        }
    }

    /// Returns the number of edges that may still be made.
    pub(crate) const fn left(&self) -> usize {
        self.left
    }

    /// Returns the diagram of a variable whose classes lead to these diagrams, which know only
    /// variables behind it.
    pub(crate) fn variable(
        &mut self,
        variable: usize,
        to: &[Diagram],
    ) -> Result<Diagram, Exhausted> {
        match to {
            [first, rest @ ..] if rest.iter().all(|other| other == first) => return Ok(*first),
            _ => {}
        }
        let key = (number(variable), Box::from(to));
        if let Some(known) = self.unique.get(&key) {
            return Ok(*known);
        }
        self.left = self.left.checked_sub(to.len()).ok_or(Exhausted)?;
        let id = number(LEAVES + self.nodes.len());
        self.nodes.push((key.0, self.edges.len()));
        self.edges.extend_from_slice(to);
        self.unique.insert(key, id);
        Ok(id)
    }

    /// Returns the diagram that is `to[leaf]` wherever `on` has that leaf.
    pub(crate) fn select(
        &mut self,
        on: Diagram,
        to: [Diagram; LEAVES],
    ) -> Result<Diagram, Exhausted> {
        if let Some(leaf) = to.get(at(on)) {
            return Ok(*leaf);
        }
        if to == LEAF_IDS {
            return Ok(on);
        }
        if to.iter().all(|other| *other == to[0]) {
            return Ok(to[0]);
        }
        let [a, b, c, d] = to;
        let key = [on, a, b, c, d];
        if let Some(known) = self.selected.get(&key) {
            return Ok(*known);
        }
        let top = key.iter().map(|diagram| self.top(*diagram)).min().unwrap_or(usize::MAX);
        let size = self.sizes.get(top).copied().ok_or(Exhausted)?;
        self.left = self.left.checked_sub(size).ok_or(Exhausted)?;
        let mut kids = Vec::with_capacity(size);
        for class in 0..size {
            let [on, a, b, c, d] = key.map(|diagram| self.below(diagram, top, class));
            kids.push(self.select(on, [a, b, c, d])?);
        }
        let selected = self.variable(top, &kids)?;
        self.selected.insert(key, selected);
        Ok(selected)
    }

    /// Returns where both are true, for diagrams without the leaves of failures.
    pub(crate) fn both(&mut self, left: Diagram, right: Diagram) -> Result<Diagram, Exhausted> {
        self.select(left, [right, FALSE, FALSE, FALSE])
    }

    /// Returns where a diagram has this leaf.
    pub(crate) fn is(&mut self, diagram: Diagram, leaf: Diagram) -> Result<Diagram, Exhausted> {
        let to = LEAF_IDS.map(|id| if id == leaf { TRUE } else { FALSE });
        self.select(diagram, to)
    }

    fn top(&self, diagram: Diagram) -> usize {
        self.node(diagram).map_or(usize::MAX, |(variable, _)| at(*variable))
    }

    fn node(&self, diagram: Diagram) -> Option<&(u32, usize)> {
        self.nodes.get(at(diagram).checked_sub(LEAVES)?)
    }

    /// Returns the part of a diagram for one class of a variable that is not behind its own.
    fn below(&self, diagram: Diagram, variable: usize, class: usize) -> Diagram {
        match self.node(diagram) {
            Some((top, edge)) if at(*top) == variable => {
                self.edges.get(edge + class).copied().unwrap_or(FALSE)
            }
            _ => diagram,
        }
    }

    /// Returns a way down to `TRUE` in a diagram that has no other leaf but `FALSE`; `pick` chooses
    /// among so many classes.
    pub(crate) fn way(
        &self,
        diagram: Diagram,
        mut pick: impl FnMut(usize) -> usize,
    ) -> Option<Way> {
        let (mut way, mut here) = (Way::new(), diagram);
        while let Some((variable, edge)) = self.node(here) {
            let size = self.sizes.get(at(*variable)).copied()?;
            let edges = self.edges.get(*edge..edge.checked_add(size)?)?;
            let open: Vec<usize> =
                (0..size).filter(|class| edges.get(*class) != Some(&FALSE)).collect();
            let class = *open.get(pick(open.len()))?;
            way.push((at(*variable), class));
            here = *edges.get(class)?;
        }
        (here == TRUE).then_some(way)
    }
}

const LEAF_IDS: [Diagram; LEAVES] = [0, 1, 2, 3];

#[cfg(test)]
impl Diagrams {
    /// Adds the leaves to which a diagram leads. `class` chooses the class of a variable; where it chooses none, all
    /// are taken.
    pub(crate) fn leaves(
        &self,
        diagram: Diagram,
        class: &dyn Fn(usize) -> Option<usize>,
        found: &mut std::collections::BTreeSet<Diagram>,
    ) {
        let Some((variable, edge)) = self.node(diagram) else {
            found.insert(diagram);
            return;
        };
        let size = self.sizes.get(at(*variable)).copied().unwrap_or_default();
        let edges = &self.edges[*edge..*edge + size];
        let chosen = class(at(*variable));
        for (number, to) in edges.iter().enumerate() {
            if chosen.is_none_or(|chosen| chosen == number) {
                self.leaves(*to, class, found);
            }
        }
    }
}
