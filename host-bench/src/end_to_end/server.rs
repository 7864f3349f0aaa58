//! The shop in axum, as a process of its own.

use std::cell::RefCell;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path as Segments, State};
use axum::http::{HeaderMap, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing;
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value as Json, json};
use wardgate_bundle::Trust;
use wardgate_native::{AsPrincipal, AsResource, Pdp, Prepared, SystemClock, attributes};

use super::shop::message;

/// What the handler reads.
struct Shop {
    users: HashMap<String, User>,
    database: PathBuf,
    may_view: Prepared<User, Order>,
    client: Client<HttpConnector, Full<Bytes>>,
    /// Where the servers answer.
    wardgate: String,
    cerbos: String,
}

struct User {
    id: String,
    roles: Vec<String>,
    region: String,
}

struct Order {
    id: String,
    owner: String,
    region: String,
    status: String,
    total: i64,
    sealed: bool,
}

attributes! { User { region } }
attributes! { Order { owner, region, sealed } }

impl AsPrincipal for User {
    fn id(&self) -> &str {
        &self.id
    }

    fn roles(&self) -> impl Iterator<Item = &str> {
        self.roles.iter().map(String::as_str)
    }
}

impl AsResource for Order {
    fn id(&self) -> &str {
        &self.id
    }
}

/// Serves the shop that a file describes.
pub(crate) fn child(job: &Path) -> Result<(), String> {
    let text = std::fs::read(job).map_err(|error| format!("{}: {error}", job.display()))?;
    let job: Json = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    let address = format!("{}:{}", text_of(&job, "host"), job.get("port").unwrap_or(&Json::Null));
    let address: SocketAddr = address.parse().map_err(|_| format!("no address: {address}"))?;
    let app = Router::new()
        .route("/{way}/orders/{id}", routing::get(show))
        .with_state(Arc::new(Shop::new(&job)?));
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.enable_io().build().map_err(|error| error.to_string())?;
    let served = runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(address).await?;
        axum::serve(listener, app).await
    });
    served.map_err(|error| error.to_string())
}

impl Shop {
    fn new(job: &Json) -> Result<Self, String> {
        let path = text_of(job, "bundle");
        let bundle = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?;
        let pdp = Pdp::open(&bundle, Trust::Unsigned).map_err(|error| error.to_string())?;
        let users = job.get("users").and_then(Json::as_array).into_iter().flatten().map(|user| {
            let roles = user.get("roles").and_then(Json::as_array).into_iter().flatten();
            let roles = roles.filter_map(Json::as_str).map(str::to_owned).collect();
            let region = user.get("attr").map_or("", |attributes| text_of(attributes, "region"));
            let id = text_of(user, "id").to_owned();
            (id.clone(), User { id, roles, region: region.to_owned() })
        });
        let server = |name: &str| format!("http://{}/api/check/resources", text_of(job, name));
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        Ok(Self {
            users: users.collect(),
            database: PathBuf::from(text_of(job, "database")),
            may_view: pdp.prepare("order", "view"),
            client: Client::builder(TokioExecutor::new()).build(connector),
            wardgate: server("wardgate"),
            cerbos: server("cerbos"),
        })
    }

    /// Reads an order, with a connection for each thread.
    fn order(&self, id: &str) -> Result<Order, String> {
        DATABASE.with_borrow_mut(|place| {
            let database = match place.take() {
                Some(database) => database,
                None => {
                    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
                    Connection::open_with_flags(&self.database, flags).map_err(message)?
                }
            };
            read(place.insert(database), id).map_err(message)
        })
    }

    /// Asks a server.
    async fn is_allowed_by(&self, server: &str, user: &User, order: &Order) -> Option<bool> {
        let question = json!({
            "requestId": "1",
            "principal": { "id": user.id, "roles": user.roles, "attr": { "region": user.region } },
            "resources": [{
                "actions": ["view"],
                "resource": {
                    "kind": "order",
                    "id": order.id,
                    "attr": { "owner": order.owner, "region": order.region, "sealed": order.sealed },
                },
            }],
        });
        let body = Full::new(Bytes::from(question.to_string()));
        let request = Request::post(server).header(header::CONTENT_TYPE, JSON);
        let answer = self.client.request(request.body(body).ok()?).await.ok()?;
        let body = answer.into_body().collect().await.ok()?.to_bytes();
        let answer: Json = serde_json::from_slice(&body).ok()?;
        let effect = answer.pointer("/results/0/actions/view").and_then(Json::as_str);
        Some(effect? == "EFFECT_ALLOW")
    }
}

/// Shows an order, if the caller may view it.
async fn show(
    State(shop): State<Arc<Shop>>,
    Segments((way, id)): Segments<(String, String)>,
    headers: HeaderMap,
) -> Response {
    let user = headers.get(USER).and_then(|id| shop.users.get(id.to_str().ok()?));
    let Some(user) = user else { return StatusCode::UNAUTHORIZED.into_response() };
    let Ok(order) = shop.order(&id) else { return StatusCode::NOT_FOUND.into_response() };
    let allowed = match way.as_str() {
        "without" => Some(true),
        "in-process" => Some(shop.may_view.is_allowed(user, &order, SystemClock)),
        "wardgate" => shop.is_allowed_by(&shop.wardgate, user, &order).await,
        "cerbos" => shop.is_allowed_by(&shop.cerbos, user, &order).await,
        _ => None,
    };
    if allowed != Some(true) {
        return StatusCode::FORBIDDEN.into_response();
    }
    let Order { id, owner, region, status, total, .. } = order;
    let shown =
        json!({ "id": id, "owner": owner, "region": region, "status": status, "total": total });
    ([(header::CONTENT_TYPE, JSON)], Body::from(shown.to_string())).into_response()
}

fn read(database: &Connection, id: &str) -> rusqlite::Result<Order> {
    database.prepare_cached(SELECT)?.query_row([id], |row| {
        Ok(Order {
            id: id.to_owned(),
            owner: row.get(0)?,
            region: row.get(1)?,
            status: row.get(2)?,
            total: row.get(3)?,
            sealed: row.get(4)?,
        })
    })
}

fn text_of<'j>(json: &'j Json, name: &str) -> &'j str {
    json.get(name).and_then(Json::as_str).unwrap_or_default()
}

thread_local! {
    static DATABASE: RefCell<Option<Connection>> = const { RefCell::new(None) };
}

const USER: &str = "x-user";
const JSON: &str = "application/json";
const SELECT: &str = "SELECT owner, region, status, total, sealed FROM orders WHERE id = ?1";
