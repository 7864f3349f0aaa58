//! The decisions in an answer.

use serde_json::Value as Json;

/// Returns the decisions in an answer of CheckResources, AuthZEN or OPA; `actions` has the names of those that a call asks about.
pub(super) fn decisions(answer: &Json, actions: &[String]) -> Vec<bool> {
    match (answer.get("result"), list(answer, "evaluations")) {
        (Some(Json::Bool(allowed)), _) => vec![*allowed],
        (Some(Json::Array(rows)), _) => {
            let all = rows.iter().flat_map(|row| row.as_array().into_iter().flatten());
            all.filter_map(Json::as_bool).collect()
        }
        (_, Some(evaluations)) => evaluations.iter().filter_map(decision).collect(),
        _ => decision(answer).map_or_else(|| effects(answer, actions), |allowed| vec![allowed]),
    }
}

fn decision(evaluation: &Json) -> Option<bool> {
    evaluation.get("decision").and_then(Json::as_bool)
}

fn effects(answer: &Json, actions: &[String]) -> Vec<bool> {
    let of_result = |result: &Json| -> Vec<bool> {
        let effects = actions.iter().filter_map(|name| result.get("actions")?.get(name)?.as_str());
        effects.map(|effect| effect == "EFFECT_ALLOW").collect()
    };
    list(answer, "results").into_iter().flatten().flat_map(of_result).collect()
}

fn list<'a>(answer: &'a Json, name: &str) -> Option<&'a Vec<Json>> {
    answer.get(name).and_then(Json::as_array)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::decisions;

    #[test]
    fn every_protocol_gives_decisions_in_the_order_of_the_call() {
        let both = vec![true, false];
        check(&json!({ "decision": true }), &[true]);
        check(&json!({ "evaluations": [{ "decision": true }, { "decision": false }] }), &both);
        check(&json!({ "result": false }), &[false]);
        check(&json!({ "result": [[true, false], [false, true]] }), &[true, false, false, true]);
        let actions = json!({ "edit": "EFFECT_DENY", "view": "EFFECT_ALLOW" });
        check(&json!({ "results": [{ "actions": actions }] }), &both);
        check(&json!({}), &[]);
    }

    fn check(answer: &Json, expected: &[bool]) {
        let actions = ["view", "edit"].map(str::to_owned);
        assert_eq!(decisions(answer, &actions), expected, "{answer}");
    }
}
