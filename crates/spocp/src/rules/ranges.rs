//! The ranges at one node of rules, and the search for those that cover a value or a range.
//!
//! A balanced tree (Adelson-Velsky and Landis) in the order of the beginnings of ranges; each node
//! refers to the one in its subtree that ends last. So the ranges that begin early enough and end
//! late enough are found without visiting the others: each costs about as many nodes as the tree is
//! high.

use alloc::vec::Vec;
use core::cmp::Ordering;

use crate::expression::index;
use crate::range::{Probe, Range};

use super::nodes::NONE;

/// All trees of a set of rules.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    nodes: Vec<Node>,
    free: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Node {
    range: Range,
    /// The node where the rules with that range continue.
    target: u32,
    left: u32,
    right: u32,
    /// The node of this subtree whose range ends last.
    widest: u32,
    height: u8,
}

impl Ranges {
    /// Adds a range that is not in the tree, and returns the new root.
    pub(super) fn insert(&mut self, root: u32, range: Range, target: u32) -> u32 {
        let node = Node { range, target, left: NONE, right: NONE, widest: NONE, height: 1 };
        let reused = self.free.pop();
        let new = reused.unwrap_or(u32::try_from(self.nodes.len()).unwrap_or(NONE));
        match self.nodes.get_mut(index(new)) {
            Some(position) => *position = node,
            None => self.nodes.push(node),
        }
        self.update(new);
        self.hang(root, new)
    }

    /// Removes a range, and returns the new root.
    pub(super) fn remove(&mut self, root: u32, range: &Range) -> u32 {
        let Some(node) = self.nodes.get(index(root)) else { return root };
        let (left, right) = (node.left, node.right);
        match range.order(&node.range) {
            Ordering::Less => {
                let left = self.remove(left, range);
                self.change(root, |node| node.left = left);
            }
            Ordering::Greater => {
                let right = self.remove(right, range);
                self.change(root, |node| node.right = right);
            }
            Ordering::Equal => {
                self.free.push(root);
                return self.join(left, right);
            }
        }
        self.balance(root)
    }

    /// Visits the nodes where rules continue whose range covers the probe.
    pub(super) fn covering(&self, root: u32, probe: &Probe<'_>, visit: &mut dyn FnMut(u32)) {
        let Some(node) = self.nodes.get(index(root)) else { return };
        let widest = self.nodes.get(index(node.widest));
        if !widest.is_some_and(|widest| widest.range.ends_after(probe)) {
            return;
        }
        self.covering(node.left, probe, visit);
        if node.range.begins_before(probe) {
            if node.range.ends_after(probe) {
                visit(node.target);
            }
            self.covering(node.right, probe, visit);
        }
    }

    /// Inserts a node into a tree. The recursion is as deep as the tree is high, here and below.
    fn hang(&mut self, root: u32, new: u32) -> u32 {
        let (Some(node), Some(other)) = (self.nodes.get(index(root)), self.nodes.get(index(new)))
        else {
            return new;
        };
        let (left, right) = (node.left, node.right);
        if other.range.order(&node.range) == Ordering::Less {
            let left = self.hang(left, new);
            self.change(root, |node| node.left = left);
        } else {
            let right = self.hang(right, new);
            self.change(root, |node| node.right = right);
        }
        self.balance(root)
    }

    /// Joins two trees; the first comes before the second.
    fn join(&mut self, left: u32, right: u32) -> u32 {
        if left == NONE || right == NONE {
            return if left == NONE { right } else { left };
        }
        let (first, right) = self.take_first(right);
        self.change(first, |node| (node.left, node.right) = (left, right));
        self.balance(first)
    }

    /// Removes the first node of a tree, and returns it and the new root.
    fn take_first(&mut self, root: u32) -> (u32, u32) {
        let (left, right) = self.children(root);
        if left == NONE {
            return (root, right);
        }
        let (first, left) = self.take_first(left);
        self.change(root, |node| node.left = left);
        (first, self.balance(root))
    }

    fn balance(&mut self, root: u32) -> u32 {
        let (left, right) = self.children(root);
        let (low, high) = (self.height(left), self.height(right));
        if low > high.saturating_add(1) {
            let (outer, inner) = self.children(left);
            if self.height(inner) > self.height(outer) {
                let left = self.rotate_left(left);
                self.change(root, |node| node.left = left);
            }
            return self.rotate_right(root);
        }
        if high > low.saturating_add(1) {
            let (inner, outer) = self.children(right);
            if self.height(inner) > self.height(outer) {
                let right = self.rotate_right(right);
                self.change(root, |node| node.right = right);
            }
            return self.rotate_left(root);
        }
        self.update(root);
        root
    }

    fn rotate_left(&mut self, root: u32) -> u32 {
        let (_, top) = self.children(root);
        let (inner, _) = self.children(top);
        self.change(root, |node| node.right = inner);
        self.update(root);
        self.change(top, |node| node.left = root);
        self.update(top);
        top
    }

    fn rotate_right(&mut self, root: u32) -> u32 {
        let (top, _) = self.children(root);
        let (_, inner) = self.children(top);
        self.change(root, |node| node.left = inner);
        self.update(root);
        self.change(top, |node| node.right = root);
        self.update(top);
        top
    }

    /// Updates the height and the widest range of a node from its children.
    fn update(&mut self, at: u32) {
        let (left, right) = self.children(at);
        let height = self.height(left).max(self.height(right)).saturating_add(1);
        let widest = [left, right].into_iter().fold(at, |widest, child| {
            let below = self.nodes.get(index(child)).map_or(NONE, |node| node.widest);
            if self.ends_later(below, widest) { below } else { widest }
        });
        self.change(at, |node| (node.height, node.widest) = (height, widest));
    }

    fn ends_later(&self, one: u32, other: u32) -> bool {
        let (one, other) = (self.nodes.get(index(one)), self.nodes.get(index(other)));
        one.zip(other).is_some_and(|(one, other)| one.range.end() > other.range.end())
    }

    fn children(&self, at: u32) -> (u32, u32) {
        self.nodes.get(index(at)).map_or((NONE, NONE), |node| (node.left, node.right))
    }

    fn height(&self, at: u32) -> u8 {
        self.nodes.get(index(at)).map_or(0, |node| node.height)
    }

    fn change(&mut self, at: u32, change: impl FnOnce(&mut Node)) {
        if let Some(it) = self.nodes.get_mut(index(at)) {
            change(it);
        }
    }
}
