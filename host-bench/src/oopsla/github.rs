//! Repositories with five permissions each, and organisations with three.

use std::collections::BTreeSet;

use wardgate_native::{AsPrincipal, AsResource, attributes};

use super::graph::{App, Dice, Entity, Graph, Ids, Value, closures, named};

/// The application.
pub(super) struct Github;

pub(super) struct User {
    id: String,
    ancestors: Ids,
}

#[derive(Clone)]
pub(super) struct Repository {
    id: String,
    readers: String,
    triagers: String,
    writers: String,
    maintainers: String,
    admins: String,
    owner: Organization,
}

#[derive(Clone)]
struct Organization {
    readers: String,
    writers: String,
    admins: String,
}

attributes! { User { ancestors } }
attributes! { Repository { readers, triagers, writers, maintainers, admins, owner } }
attributes! { Organization { readers, writers, admins } }

impl AsPrincipal for User {
    fn id(&self) -> &str {
        &self.id
    }

    fn roles(&self) -> impl Iterator<Item = &str> {
        ["user"].into_iter()
    }
}

impl AsResource for Repository {
    fn id(&self) -> &str {
        &self.id
    }
}

impl App for Github {
    type User = User;
    type Resource = Repository;

    const NAME: &'static str = "github";
    const POLICIES: &'static [(&'static str, &'static str)] = &[("repository.yaml", REPOSITORY)];
    const CEDAR: &'static str = CEDAR;
    const ACTIONS: &'static [(&'static str, &'static str)] = &[
        ("read", "repository"),
        ("triage", "repository"),
        ("write", "repository"),
        ("maintain", "repository"),
        ("admin", "repository"),
    ];
    const GROUPED: &'static [(&'static str, &'static str)] =
        &[("read", "triage"), ("triage", "write"), ("write", "maintain"), ("maintain", "admin")];

    fn graph(count: usize, dice: &mut Dice) -> Graph<User, Repository> {
        let mut entities = Vec::new();
        let organizations: Vec<Vec<String>> = (0..count)
            .map(|_| permissions("OrgPermission::org_", OF_ORGANIZATION, count, dice))
            .collect();
        for (at, parents) in organizations.iter().enumerate() {
            entities.push(organization(at, parents.clone()));
        }
        let owners: Vec<usize> = (0..count).map(|_| dice.below(count)).collect();
        let repositories: Vec<Repository> =
            owners.iter().enumerate().map(|(at, owner)| repository(at, *owner)).collect();
        for (repository, owner) in repositories.iter().zip(&owners) {
            entities.push(entity_of(repository, *owner));
        }
        let of_repository =
            |dice: &mut Dice| permissions("RepoPermission::repo_", OF_REPOSITORY, count, dice);
        let (teams, of_teams): (Vec<_>, Vec<_>) =
            (0..count).map(|at| (dice.edges(at), of_repository(dice))).unzip();
        let above = closures(&teams, &of_teams, TEAMS);
        for (at, (parents, others)) in teams.iter().zip(&of_teams).enumerate() {
            let parents = [named(TEAMS, parents), others.clone()].concat();
            entities.push(Entity::new(format!("{TEAMS}{at}"), parents));
        }
        let user = |at: usize| {
            let direct = of_repository(dice);
            let teams = dice.edges(count);
            let member_of = dice.edges(count);
            let granted = permissions("OrgPermission::org_", OF_ORGANIZATION, count, dice);
            let parents =
                [direct, named(TEAMS, &teams), named("Organization::org_", &member_of), granted]
                    .concat();
            let inherited = teams.iter().filter_map(|team| above.get(*team)).flatten();
            let of_members = member_of.iter().filter_map(|at| organizations.get(*at)).flatten();
            let ancestors: BTreeSet<&String> =
                parents.iter().chain(inherited).chain(of_members).collect();
            let ancestors = Ids::List(ancestors.into_iter().cloned().collect());
            let id = format!("User::user_{at}");
            entities.push(Entity::new(&id, parents));
            User { id, ancestors }
        };
        let users = (0..count).map(user).collect();
        let resources = repositories.into_iter().map(|one| ("repository", one)).collect();
        Graph { users, resources, entities }
    }

    fn hashed_user(user: &User) -> User {
        User { id: user.id.clone(), ancestors: user.ancestors.hashed() }
    }

    fn hashed_resource(repository: &Repository) -> Repository {
        repository.clone()
    }

    fn allows(action: &str, user: &User, repository: &Repository) -> bool {
        let has = |permission: &String| user.ancestors.contains(permission);
        let Repository { readers, triagers, writers, maintainers, admins, owner, .. } = repository;
        let needed =
            Self::ACTIONS.iter().position(|(name, _)| *name == action).unwrap_or(usize::MAX);
        let of_repository = [readers, triagers, writers, maintainers, admins];
        of_repository.into_iter().skip(needed).any(has)
            || has(&owner.admins)
            || (needed <= 2 && has(&owner.writers))
            || (needed == 0 && has(&owner.readers))
    }
}

/// Returns the permissions of some entities to which there is an edge, each one at random.
fn permissions(name: &str, of_one: &[&str], count: usize, dice: &mut Dice) -> Vec<String> {
    let edges = dice.edges(count);
    edges.into_iter().map(|at| format!("{name}{at}_{}", dice.pick(of_one))).collect()
}

fn organization(at: usize, parents: Vec<String>) -> Entity {
    let permission = |which: &str| Value::Entity(format!("OrgPermission::org_{at}_{which}"));
    Entity::new(format!("Organization::org_{at}"), parents)
        .with("readers", permission("readers"))
        .with("writers", permission("writers"))
        .with("admins", permission("admins"))
}

fn repository(at: usize, owner: usize) -> Repository {
    let permission = |which: &str| format!("RepoPermission::repo_{at}_{which}");
    let of_owner = |which: &str| format!("OrgPermission::org_{owner}_{which}");
    Repository {
        id: format!("Repository::repo_{at}"),
        readers: permission("readers"),
        triagers: permission("triagers"),
        writers: permission("writers"),
        maintainers: permission("maintainers"),
        admins: permission("admins"),
        owner: Organization {
            readers: of_owner("readers"),
            writers: of_owner("writers"),
            admins: of_owner("admins"),
        },
    }
}

fn entity_of(repository: &Repository, owner: usize) -> Entity {
    let permission = |id: &String| Value::Entity(id.clone());
    Entity::new(&repository.id, Vec::new())
        .with("readers", permission(&repository.readers))
        .with("triagers", permission(&repository.triagers))
        .with("writers", permission(&repository.writers))
        .with("maintainers", permission(&repository.maintainers))
        .with("admins", permission(&repository.admins))
        .with("owner", Value::Entity(format!("Organization::org_{owner}")))
}

const TEAMS: &str = "Team::team_";
const OF_REPOSITORY: &[&str] = &["readers", "triagers", "writers", "maintainers", "admins"];
const OF_ORGANIZATION: &[&str] = &["readers", "writers", "admins"];

const REPOSITORY: &str = r"
apiVersion: api.cerbos.dev/v1
resourcePolicy:
  version: default
  resource: repository
  rules:
    - actions: [read]
      effect: EFFECT_ALLOW
      roles: [user]
      condition: { match: { expr: R.attr.readers in P.attr.ancestors } }
    - actions: [read, triage]
      effect: EFFECT_ALLOW
      roles: [user]
      condition: { match: { expr: R.attr.triagers in P.attr.ancestors } }
    - actions: [read, triage, write]
      effect: EFFECT_ALLOW
      roles: [user]
      condition: { match: { expr: R.attr.writers in P.attr.ancestors } }
    - actions: [read, triage, write, maintain]
      effect: EFFECT_ALLOW
      roles: [user]
      condition: { match: { expr: R.attr.maintainers in P.attr.ancestors } }
    - actions: [read, triage, write, maintain, admin]
      effect: EFFECT_ALLOW
      roles: [user]
      condition: { match: { expr: R.attr.admins in P.attr.ancestors } }
    - actions: [read]
      effect: EFFECT_ALLOW
      roles: [user]
      condition: { match: { expr: R.attr.owner.readers in P.attr.ancestors } }
    - actions: [read, triage, write]
      effect: EFFECT_ALLOW
      roles: [user]
      condition: { match: { expr: R.attr.owner.writers in P.attr.ancestors } }
    - actions: [read, triage, write, maintain, admin]
      effect: EFFECT_ALLOW
      roles: [user]
      condition: { match: { expr: R.attr.owner.admins in P.attr.ancestors } }
";

const CEDAR: &str = r#"
permit(principal, action == Action::"read", resource)
when { principal in resource.readers };
permit(principal, action in Action::"triage", resource)
when { principal in resource.triagers };
permit(principal, action in Action::"write", resource)
when { principal in resource.writers };
permit(principal, action in Action::"maintain", resource)
when { principal in resource.maintainers };
permit(principal, action in Action::"admin", resource)
when { principal in resource.admins };
permit(principal, action == Action::"read", resource)
when { principal in resource.owner.readers };
permit(principal, action in Action::"write", resource)
when { principal in resource.owner.writers };
permit(principal, action in Action::"admin", resource)
when { principal in resource.owner.admins };
"#;
