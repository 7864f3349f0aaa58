//! Documents and folders that users own, see or read because they are public.
//!
//! A document hangs below views that are named after numbers (`User 3`), and the view of a user is named
//! after the user (`User user_3`): so no document lies in the view of a user, and the first rule never
//! holds. The generator of the paper has it so, and other names would give other figures.

use wardgate_native::{AsPrincipal, AsResource, attributes};

use super::graph::{App, Dice, Entity, Graph, Ids, Value, closures, named};

/// The application.
pub(super) struct Gdrive;

pub(super) struct User {
    id: String,
    pub(super) view: String,
    owned_documents: Ids,
    owned_folders: Ids,
}

/// A document or a folder.
pub(super) struct File {
    id: String,
    pub(super) ancestors: Ids,
    /// `None` for a folder.
    is_public: Option<bool>,
}

attributes! {
    User { view, owned_documents as "ownedDocuments", owned_folders as "ownedFolders" }
}
attributes! { File { ancestors, is_public as "isPublic" } }

impl AsPrincipal for User {
    fn id(&self) -> &str {
        &self.id
    }

    fn roles(&self) -> impl Iterator<Item = &str> {
        ["user"].into_iter()
    }
}

impl AsResource for File {
    fn id(&self) -> &str {
        &self.id
    }
}

impl App for Gdrive {
    type User = User;
    type Resource = File;

    const NAME: &'static str = "gdrive";
    const POLICIES: &'static [(&'static str, &'static str)] =
        &[("document.yaml", DOCUMENT), ("folder.yaml", FOLDER)];
    const CEDAR: &'static str = CEDAR;
    const ACTIONS: &'static [(&'static str, &'static str)] = &[
        ("read", "document"),
        ("write", "document"),
        ("share", "document"),
        ("changeOwner", "document"),
        ("createDocument", "folder"),
    ];

    fn graph(count: usize, dice: &mut Dice) -> Graph<User, File> {
        let mut entities = Vec::new();
        let mut members: Vec<Vec<String>> = vec![Vec::new(); count];
        let users: Vec<User> = (0..count)
            .map(|at| {
                let id = format!("User::user_{at}");
                let groups = dice.edges(count);
                for group in &groups {
                    members.get_mut(*group).into_iter().for_each(|of_group: &mut Vec<String>| {
                        of_group.push(format!("View::User user_{at}"));
                    });
                }
                let owned_documents = named("Document::doc_", &dice.edges(count));
                let owned_folders = named("Folder::folder_", &dice.edges(count));
                let view = format!("View::User user_{at}");
                let entity = Entity::new(&id, named("Group::group_", &groups))
                    .with("view", Value::Entity(view.clone()))
                    .with("ownedDocuments", Value::Entities(owned_documents.clone()))
                    .with("ownedFolders", Value::Entities(owned_folders.clone()));
                entities.extend([entity, Entity::new(&view, Vec::new())]);
                let (owned_documents, owned_folders) =
                    (Ids::List(owned_documents), Ids::List(owned_folders));
                User { id, view, owned_documents, owned_folders }
            })
            .collect();
        for (at, members) in members.into_iter().enumerate() {
            entities.push(Entity::new(format!("Group::group_{at}"), Vec::new()));
            entities.push(Entity::new(format!("View::Group group_{at}"), members));
        }
        let views = |dice: &mut Dice| {
            let of_users = named("View::User ", &dice.edges(count));
            [of_users, named("View::Group ", &dice.edges(count))].concat()
        };
        // Of a document: the folders, the views, and true if it is public.
        let documents: Vec<_> =
            (0..count).map(|_| (dice.edges(count), views(dice), dice.below(2) == 0)).collect();
        let (folders, of_folders): (Vec<_>, Vec<_>) =
            (0..count).map(|at| (dice.edges(at), views(dice))).unzip();
        let above = closures(&folders, &of_folders, FOLDERS);
        let mut resources = Vec::new();
        for (at, (parents, views, is_public)) in documents.into_iter().enumerate() {
            let id = format!("Document::doc_{at}");
            let direct = [named(FOLDERS, &parents), views].concat();
            let inherited = parents.iter().filter_map(|parent| above.get(*parent)).flatten();
            let mut ancestors: Vec<String> = direct.iter().chain(inherited).cloned().collect();
            ancestors.sort();
            ancestors.dedup();
            entities.push(Entity::new(&id, direct).with("isPublic", Value::Bool(is_public)));
            resources.push((
                "document",
                File { id, ancestors: Ids::List(ancestors), is_public: Some(is_public) },
            ));
        }
        for (at, ((parents, views), ancestors)) in
            folders.iter().zip(of_folders).zip(&above).enumerate()
        {
            let id = format!("{FOLDERS}{at}");
            entities.push(Entity::new(&id, [named(FOLDERS, parents), views].concat()));
            let ancestors = ancestors.iter().cloned().collect();
            resources
                .push(("folder", File { id, ancestors: Ids::List(ancestors), is_public: None }));
        }
        Graph { users, resources, entities }
    }

    fn hashed_user(user: &User) -> User {
        User {
            id: user.id.clone(),
            view: user.view.clone(),
            owned_documents: user.owned_documents.hashed(),
            owned_folders: user.owned_folders.hashed(),
        }
    }

    fn hashed_resource(file: &File) -> File {
        File { id: file.id.clone(), ancestors: file.ancestors.hashed(), is_public: file.is_public }
    }

    fn allows(action: &str, user: &User, file: &File) -> bool {
        let owns = user.owned_documents.contains(&file.id);
        let may_read = action == "read"
            && (file.ancestors.contains(&user.view) || file.is_public == Some(true));
        let is_inside = || file.ancestors.meet(&user.owned_folders);
        match action {
            "read" | "write" | "share" => may_read || owns || is_inside(),
            "changeOwner" => owns,
            _ => user.owned_folders.contains(&file.id),
        }
    }
}

const FOLDERS: &str = "Folder::folder_";

const DOCUMENT: &str = r#"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: document
  rules:
    - actions: [read]
      effect: EFFECT_ALLOW
      roles: [user]
      condition: { match: { expr: P.attr.view in R.attr.ancestors } }
    - actions: [read]
      effect: EFFECT_ALLOW
      roles: [user]
      condition: { match: { expr: R.attr.isPublic } }
    - actions: [read, write, share]
      effect: EFFECT_ALLOW
      roles: [user]
      condition:
        match:
          expr: R.id in P.attr.ownedDocuments || hasIntersection(R.attr.ancestors, P.attr.ownedFolders)
    - actions: [changeOwner]
      effect: EFFECT_ALLOW
      roles: [user]
      condition: { match: { expr: R.id in P.attr.ownedDocuments } }
"#;

const FOLDER: &str = r"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: folder
  rules:
    - actions: [createDocument]
      effect: EFFECT_ALLOW
      roles: [user]
      condition: { match: { expr: R.id in P.attr.ownedFolders } }
";

const CEDAR: &str = r#"
permit(principal, action == Action::"read", resource)
when { resource in principal.view };
permit(principal, action == Action::"read", resource)
when { resource.isPublic };
permit(principal, action in [Action::"read", Action::"write", Action::"share"], resource)
when { resource in principal.ownedDocuments || resource in principal.ownedFolders };
permit(principal, action == Action::"changeOwner", resource)
when { principal.ownedDocuments.contains(resource) };
permit(principal, action == Action::"createDocument", resource)
when { principal.ownedFolders.contains(resource) };
"#;
