//! Shrinks a world that has a failure.
//!
//! It takes parts away, the largest first, and keeps each edit after which the failure remains.
//! Generated worlds could shrink by themselves, but not after they were sent to another process and
//! forgotten.

use serde_json::{Value as Json, json};

use crate::generate::World;

/// Returns the smallest world that still fails; `wrong` judges several worlds at once.
///
/// # Errors
/// If `wrong` fails.
pub fn smallest(
    world: World,
    mut wrong: impl FnMut(&[World]) -> Result<Vec<bool>, String>,
) -> Result<World, String> {
    let options = world.options;
    let of = |parts: &Json| World {
        options: options.clone(),
        policies: serde_json::from_value(parts["policies"].clone()).unwrap_or_default(),
        requests: parts["requests"].as_array().cloned().unwrap_or_default(),
    };
    let mut parts = json!({"policies": world.policies, "requests": world.requests});
    for _ in 0..MOST_PASSES {
        let mut next = 0;
        let mut changed = false;
        loop {
            let edits = edits(&parts).into_iter().skip(next).take(AT_ONCE);
            let tried: Vec<Json> = edits.filter_map(|edit| edit.applied(&parts)).collect();
            if tried.is_empty() {
                break;
            }
            let worlds: Vec<World> = tried.iter().map(of).collect();
            match wrong(&worlds)?.iter().position(|wrong| *wrong) {
                Some(at) => {
                    changed = true;
                    next += at;
                    parts = tried.into_iter().nth(at).unwrap_or_default();
                }
                None => next += AT_ONCE,
            }
        }
        if !changed {
            break;
        }
    }
    Ok(of(&parts))
}

/// A way to make a value smaller.
struct Edit {
    path: Path,
    /// The replacement; `None` takes the part away.
    instead: Option<String>,
}

/// Returns every part that can go, large ones first, and every text that can be shorter.
fn edits(json: &Json) -> Vec<Edit> {
    let mut found = Vec::new();
    collect(json, &mut Vec::new(), &mut found);
    found.sort_by_key(|edit| (edit.instead.is_some(), edit.path.len()));
    found
}

type Path = Vec<Step>;

#[derive(Clone)]
enum Step {
    Name(String),
    Index(usize),
}

fn collect(json: &Json, path: &mut Path, found: &mut Vec<Edit>) {
    let steps: Vec<(Step, &Json)> = match json {
        Json::Array(items) => {
            items.iter().enumerate().map(|(at, item)| (Step::Index(at), item)).collect()
        }
        Json::Object(fields) => {
            fields.iter().map(|(name, value)| (Step::Name(name.clone()), value)).collect()
        }
        Json::String(text) => {
            let edit = |part| Edit { path: path.clone(), instead: Some(part) };
            found.extend(in_brackets(text).into_iter().map(edit));
            return;
        }
        _ => return,
    };
    for (step, value) in steps {
        path.push(step);
        found.push(Edit { path: path.clone(), instead: None });
        collect(value, path, found);
        path.pop();
    }
}

impl Edit {
    fn applied(&self, json: &Json) -> Option<Json> {
        let mut whole = json.clone();
        if let Some(text) = &self.instead {
            *follow(&mut whole, &self.path)? = text.as_str().into();
            return Some(whole);
        }
        let (last, above) = self.path.split_last()?;
        let parent = follow(&mut whole, above)?;
        match last {
            Step::Index(at) => drop(parent.as_array_mut()?.remove(*at)),
            Step::Name(name) => drop(parent.as_object_mut()?.remove(name)),
        }
        Some(whole)
    }
}

/// Returns the texts in brackets: an expression in brackets is an expression.
fn in_brackets(text: &str) -> Vec<String> {
    let mut open = Vec::new();
    let mut found = Vec::new();
    for (at, character) in text.char_indices() {
        match character {
            '(' => open.push(at + 1),
            ')' => {
                let part = open.pop().and_then(|from| text.get(from..at));
                found.extend(part.filter(|part| !part.is_empty()).map(str::to_owned));
            }
            _ => {}
        }
    }
    found
}

fn follow<'j>(json: &'j mut Json, path: &[Step]) -> Option<&'j mut Json> {
    path.iter().try_fold(json, |json, step| match step {
        Step::Index(at) => json.get_mut(at),
        Step::Name(name) => json.get_mut(name),
    })
}

/// Each pass goes over all parts once.
const MOST_PASSES: usize = 4;
const AT_ONCE: usize = 32;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::smallest;
    use crate::generate::World;

    #[test]
    fn parts_without_effect_are_removed() {
        let world = World {
            options: json!({}),
            policies: vec![
                ("a".to_owned(), json!({"rules": [{"expr": "!(x) || ((bad) && y)", "n": 1}, 2]})),
                ("b".to_owned(), json!({"rules": []})),
            ],
            requests: vec![json!({"id": 1}), json!({"id": 2, "attr": {"a": [1, 2]}})],
        };
        let wrong = |world: &World| {
            let text = world.case(&world.requests);
            text.contains("bad") && world.requests.iter().any(|request| request["id"] == 2)
        };
        let found = smallest(world, |worlds| Ok(worlds.iter().map(wrong).collect())).unwrap();
        assert_eq!(found.policies, [("a".to_owned(), json!({"rules": [{"expr": "bad"}]}))]);
        assert_eq!(found.requests, [json!({"id": 2})]);
    }
}
