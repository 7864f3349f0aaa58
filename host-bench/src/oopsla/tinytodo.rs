//! Lists of tasks with an owner, a team of readers and one of editors.
//!
//! A list also has up to 50 tasks that no rule reads.

use wardgate_native::{AsPrincipal, AsResource, attributes};

use super::graph::{App, Dice, Entity, Graph, Ids, Value, closures, named};

/// The application.
pub(super) struct Tinytodo;

pub(super) struct User {
    id: String,
    ancestors: Ids,
}

/// A list, or the application, which has none of the attributes.
#[derive(Clone)]
pub(super) struct List {
    id: String,
    owner: Option<String>,
    readers: Option<String>,
    editors: Option<String>,
}

attributes! { User { ancestors } }
attributes! { List { owner, readers, editors } }

impl AsPrincipal for User {
    fn id(&self) -> &str {
        &self.id
    }

    fn roles(&self) -> impl Iterator<Item = &str> {
        ["user"].into_iter()
    }
}

impl AsResource for List {
    fn id(&self) -> &str {
        &self.id
    }
}

impl App for Tinytodo {
    type User = User;
    type Resource = List;

    const NAME: &'static str = "tinytodo";
    const POLICIES: &'static [(&'static str, &'static str)] =
        &[("application.yaml", APPLICATION), ("list.yaml", LIST)];
    const CEDAR: &'static str = CEDAR;
    const ACTIONS: &'static [(&'static str, &'static str)] = &[
        ("CreateList", "application"),
        ("GetLists", "application"),
        ("GetList", "list"),
        ("UpdateList", "list"),
        ("DeleteList", "list"),
        ("CreateTask", "list"),
        ("UpdateTask", "list"),
        ("DeleteTask", "list"),
        ("EditShares", "list"),
    ];

    fn graph(count: usize, dice: &mut Dice) -> Graph<User, List> {
        let mut entities = vec![Entity::new(TODO, Vec::new())];
        let of_users: Vec<Vec<usize>> = (0..count).map(|_| dice.edges(count)).collect();
        let teams: Vec<Vec<usize>> = (0..count).map(|at| dice.edges(at)).collect();
        let todo = vec![vec![TODO.to_owned()]; count];
        let above = closures(&teams, &todo, TEAMS);
        for (at, parents) in teams.iter().enumerate() {
            entities.push(Entity::new(format!("{TEAMS}{at}"), below(named(TEAMS, parents))));
        }
        let user = |(at, teams): (usize, &Vec<usize>)| {
            let parents = below(named(TEAMS, teams));
            let inherited = teams.iter().filter_map(|team| above.get(*team)).flatten();
            let mut ancestors: Vec<String> = parents.iter().chain(inherited).cloned().collect();
            ancestors.sort();
            ancestors.dedup();
            let id = format!("User::user_{at}");
            entities.push(Entity::new(&id, parents));
            User { id, ancestors: Ids::List(ancestors) }
        };
        let users = of_users.iter().enumerate().map(user).collect();
        let application = List { id: TODO.to_owned(), owner: None, readers: None, editors: None };
        let mut resources = vec![("application", application)];
        for at in 0..count {
            let id = format!("List::list_{at}");
            let owner = format!("User::user_{}", dice.below(count));
            let [readers, editors] = [(); 2].map(|()| format!("{TEAMS}{}", dice.below(count)));
            let tasks = (0..dice.below(51)).map(|task| format!("task_{task}"));
            entities.push(
                Entity::new(&id, below(Vec::new()))
                    .with("name", Value::Text(format!("list_{at}")))
                    .with("owner", Value::Entity(owner.clone()))
                    .with("readers", Value::Entity(readers.clone()))
                    .with("editors", Value::Entity(editors.clone()))
                    .with("tasks", Value::Texts(tasks.collect())),
            );
            let list =
                List { id, owner: Some(owner), readers: Some(readers), editors: Some(editors) };
            resources.push(("list", list));
        }
        Graph { users, resources, entities }
    }

    fn hashed_user(user: &User) -> User {
        User { id: user.id.clone(), ancestors: user.ancestors.hashed() }
    }

    fn hashed_resource(list: &List) -> List {
        list.clone()
    }

    fn allows(action: &str, user: &User, list: &List) -> bool {
        let is_in =
            |team: &Option<String>| team.as_ref().is_some_and(|team| user.ancestors.contains(team));
        let owns = list.owner.as_ref() == Some(&user.id);
        match action {
            "CreateList" | "GetLists" => list.id == TODO,
            "GetList" => owns || is_in(&list.readers) || is_in(&list.editors),
            "UpdateList" | "CreateTask" | "UpdateTask" | "DeleteTask" => {
                owns || is_in(&list.editors)
            }
            _ => owns,
        }
    }
}

/// Returns parents with the application, below which everything lies.
fn below(mut parents: Vec<String>) -> Vec<String> {
    parents.push(TODO.to_owned());
    parents
}

const TODO: &str = "Application::TinyTodo";
const TEAMS: &str = "Team::team_";

const APPLICATION: &str = r"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: application
  rules:
    - actions: [CreateList, GetLists]
      effect: EFFECT_ALLOW
      roles: [user]
";

const LIST: &str = r"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: list
  rules:
    - actions: ['*']
      effect: EFFECT_ALLOW
      roles: [user]
      condition: { match: { expr: R.attr.owner == P.id } }
    - actions: [GetList]
      effect: EFFECT_ALLOW
      roles: [user]
      condition: { match: { expr: R.attr.readers in P.attr.ancestors || R.attr.editors in P.attr.ancestors } }
    - actions: [UpdateList, CreateTask, UpdateTask, DeleteTask]
      effect: EFFECT_ALLOW
      roles: [user]
      condition: { match: { expr: R.attr.editors in P.attr.ancestors } }
";

const CEDAR: &str = r#"
permit(principal, action in [Action::"CreateList", Action::"GetLists"], resource == Application::"TinyTodo");
permit(principal, action, resource)
when { resource has owner && resource.owner == principal };
permit(principal, action == Action::"GetList", resource)
when { principal in resource.readers || principal in resource.editors };
permit(principal, action in [Action::"UpdateList", Action::"CreateTask", Action::"UpdateTask", Action::"DeleteTask"], resource)
when { principal in resource.editors };
"#;
