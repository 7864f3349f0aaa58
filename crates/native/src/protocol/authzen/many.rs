//! Several evaluations in one request.

use std::sync::Arc;

use wardgate_engine::attr::{Attr, AttrMap};

use super::limits::MAX_EVALUATIONS;
use super::read::{Object, bad, kind_of, object};
use super::{Action, AuthzenError, Entity, Evaluation, Result};

/// Several questions, or one if the request has no list of them. A question that cannot be read is
/// its error.
#[derive(Clone, Debug, PartialEq)]
pub enum Evaluations {
    /// The question of a request without a list, or with an empty one.
    One(Evaluation),
    /// The questions of a list.
    Many {
        /// The condition that ends the evaluation.
        semantic: Semantic,
        /// The questions in their order.
        items: Vec<Result<Evaluation, AuthzenError>>,
        /// The members for questions that leave them out.
        shared: Shared,
    },
}

/// The members of a request that serve for those that its questions leave out. Each is read once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shared {
    subject: Member<Entity>,
    action: Member<Action>,
    resource: Member<Entity>,
    context: Arc<AttrMap>,
}

/// A member, if there is one, or its error, which concerns only questions that leave theirs out.
type Member<T> = Option<Result<Arc<T>>>;

/// The rule that ends the evaluation of several questions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Semantic {
    /// Decides all questions.
    #[default]
    ExecuteAll,
    /// Ends at the first that is denied.
    DenyOnFirstDeny,
    /// Ends at the first that is permitted.
    PermitOnFirstPermit,
}

impl Evaluations {
    pub(super) fn read(root: &Object<'_>) -> Result<Self> {
        let items = root.list("evaluations")?.unwrap_or(&[]);
        let semantic = semantic(root)?;
        if items.len() > MAX_EVALUATIONS {
            let found = items.len();
            let message =
                format!("`evaluations` must have at most {MAX_EVALUATIONS} items, found {found}");
            return Err(bad(message));
        }
        if items.is_empty() {
            return Evaluation::read(root).map(Self::One);
        }
        let shared = Shared::read(root)?;
        let items = items.iter().map(|item| shared.complete(item)).collect();
        Ok(Self::Many { semantic, items, shared })
    }
}

impl Shared {
    fn read(root: &Object<'_>) -> Result<Self> {
        Ok(Self {
            subject: shared(root, "subject", Entity::read)?,
            action: shared(root, "action", Action::read)?,
            resource: shared(root, "resource", Entity::read)?,
            context: Arc::new(root.object("context")?.clone()),
        })
    }

    /// Returns the shared context.
    #[must_use]
    pub const fn context(&self) -> &Arc<AttrMap> {
        &self.context
    }

    pub(super) fn subject(&self) -> Option<&Arc<Entity>> {
        self.subject.as_ref()?.as_ref().ok()
    }

    pub(super) fn action(&self) -> Option<&Arc<Action>> {
        self.action.as_ref()?.as_ref().ok()
    }

    pub(super) fn resource(&self) -> Option<&Arc<Entity>> {
        self.resource.as_ref()?.as_ref().ok()
    }

    /// Reads an item. Members that it leaves out are the shared ones, each as a whole; one that is
    /// `null` is not left out.
    fn complete(&self, item: &Attr) -> Result<Evaluation> {
        let Attr::Map(item) = item else {
            return Err(bad(format!("an evaluation must be an object, found {}", kind_of(item))));
        };
        Ok(Evaluation {
            subject: own_or_shared(item, "subject", Entity::read, &self.subject)?,
            resource: own_or_shared(item, "resource", Entity::read, &self.resource)?,
            action: own_or_shared(item, "action", Action::read, &self.action)?,
            context: match item.get("context") {
                None => Arc::clone(&self.context),
                Some(context) => Arc::new(object(context, "context")?.clone()),
            },
        })
    }
}

type Read<T> = fn(&Object<'_>) -> Result<T>;

fn shared<T>(root: &Object<'_>, name: &'static str, read: Read<T>) -> Result<Member<T>> {
    let map = root.given(name)?;
    Ok(map.map(|map| read(&Object { path: name, map }).map(Arc::new)))
}

fn own_or_shared<T>(
    item: &AttrMap,
    name: &'static str,
    read: Read<T>,
    shared: &Member<T>,
) -> Result<Arc<T>> {
    match (item.get(name), shared) {
        (Some(own), _) => read(&Object { path: name, map: object(own, name)? }).map(Arc::new),
        (None, Some(shared)) => shared.clone(),
        (None, None) => Err(bad(format!("`{name}` must be an object, found nothing"))),
    }
}

impl Semantic {
    /// Returns true if this answer ends the evaluation.
    #[must_use]
    pub const fn ends(self, is_allowed: bool) -> bool {
        match self {
            Self::ExecuteAll => false,
            Self::DenyOnFirstDeny => !is_allowed,
            Self::PermitOnFirstPermit => is_allowed,
        }
    }
}

fn semantic(root: &Object<'_>) -> Result<Semantic> {
    let options = root.object("options")?;
    let options = Object { path: "options", map: options };
    let Some(given) = options.member("evaluations_semantic") else {
        return Ok(Semantic::default());
    };
    let is_meant = |(name, _): &&(&str, Semantic)| *given == Attr::String((*name).into());
    let known = SEMANTICS.iter().find(is_meant).map(|(_, semantic)| *semantic);
    known.ok_or_else(|| {
        let names: Vec<&str> = SEMANTICS.iter().map(|(name, _)| *name).collect();
        bad(format!("`options.evaluations_semantic` must be one of {}", names.join(", ")))
    })
}

const SEMANTICS: [(&str, Semantic); 3] = [
    ("execute_all", Semantic::ExecuteAll),
    ("deny_on_first_deny", Semantic::DenyOnFirstDeny),
    ("permit_on_first_permit", Semantic::PermitOnFirstPermit),
];
