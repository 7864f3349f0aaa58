//! The names of keys, which programs in other languages share.

use redis::Value;
use serde_json::Value as Json;
use wardgate_ratelimit::{Algorithm, Window};
use wardgate_ratelimit_store::{Demand, Failure, Key, Limit, Store, Terms};

use crate::server::Server;
use crate::{only, patient};

#[tokio::test]
async fn keys_are_those_of_the_file() {
    let Some(server) = Server::start("keys_are_those_of_the_file") else { return };
    let store = patient(&server.address());
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/limits/keys.json");
    let file: Json = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let rows = file["keys"].as_array().unwrap();
    assert!(rows.len() > 10);
    for row in rows {
        server.command(&["FLUSHALL"]).await;
        assert!(store.charge(&only(&demand(row))).await.unwrap()[0].is_allowed());
        let found = server.command(&["KEYS", "*"]).await;
        let name = row["redis"].as_str().unwrap().as_bytes().to_vec();
        assert_eq!(found, Value::Array(vec![Value::BulkString(name)]), "{row}");
    }
}

fn demand(row: &Json) -> Demand {
    let parts: Vec<&str> =
        row["key"].as_array().unwrap().iter().map(|part| part.as_str().unwrap()).collect();
    let algorithm = match row["rule"]["algorithm"].as_str().unwrap() {
        "gcra" => Algorithm::Gcra { burst: None },
        "fixed" => Algorithm::Fixed,
        other => {
            assert_eq!(other, "sliding");
            Algorithm::Sliding
        }
    };
    let window = row["rule"]["window"].as_u64().map_or(Window::Month, Window::Micros);
    Demand {
        limit: Limit::new(row["name"].as_str().unwrap(), Failure::Deny).unwrap(),
        key: Key::new(parts.iter().map(|part| part.as_bytes())),
        terms: Terms::new(algorithm, row["rule"]["quota"].as_u64().unwrap(), window).unwrap(),
        cost: 1,
    }
}
