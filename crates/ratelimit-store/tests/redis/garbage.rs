//! A peer that does not speak as a Redis does.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use wardgate_ratelimit_store::Options;

use crate::away::Scene;
use crate::server::{Server, address, free_port};

#[tokio::test]
async fn garbage_is_no_outcome_and_the_store_comes_back() {
    let test = "garbage_is_no_outcome_and_the_store_comes_back";
    let Some(first) = Server::start(test) else { return };
    drop(first);
    let deep = "*1\r\n".repeat(100_000);
    let replies = [
        "HTTP/1.1 400 Bad Request\r\n\r\n",
        "*1000000000000\r\n",
        "*1000000000\r\n:1\r\n",
        "$1000000000\r\nabc",
        "$-7\r\n",
        "%9223372036854775807\r\n",
        "*-1\r\n",
        ":0\r\n",
        "+OK\r\n",
        "_\r\n",
        "*2\r\n:0\r\n:1\r\n",
        "*3\r\n:0\r\n:1\r\n:1\r\n",
        "*5\r\n:0\r\n:1\r\n:1\r\n:1\r\n:1\r\n",
        "*4\r\n:0\r\n:-1\r\n:1\r\n:1\r\n",
        "*4\r\n:-2\r\n:1\r\n:1\r\n:1\r\n",
        "*4\r\n:0\r\n$1\r\n1\r\n:1\r\n:1\r\n",
        "*4\r\n:0\r\n:1\r\n*0\r\n:1\r\n",
        "*4\r\n:0\r\n:1\r\n:1\r\n$-1\r\n",
        "*4\r\n:99999999999999999999\r\n:1\r\n:1\r\n:1\r\n",
        // The second one answers nothing that was asked.
        "*4\r\n:0\r\n:1\r\n:1\r\n:1\r\n*4\r\n:0\r\n:1\r\n:1\r\n:1\r\n",
        "-NOSCRIPT\r\n",
        "-\r\n",
        "\r\n",
        "",
        "\0\u{1}\u{2}",
        &deep,
    ];
    for reply in replies {
        for is_greeting in [false, true] {
            let port = free_port();
            let peer = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
            let task = tokio::spawn(answer(peer, reply.to_owned(), is_greeting));
            let scene = Scene::unknown(&address(port), Options::default());
            scene.goes_away(|_| true).await;
            task.abort();
            assert!(task.await.unwrap_err().is_cancelled());
        }
    }
}

#[tokio::test]
async fn a_server_after_garbage_is_found() {
    let Some(server) = Server::start("a_server_after_garbage_is_found") else { return };
    let port = server.kill();
    let peer = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    let task = tokio::spawn(answer(peer, "*1\r\n:0\r\n".to_owned(), false));
    let scene = Scene::unknown(&address(port), Options::default());
    scene.goes_away(|_| true).await;
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    let server = Server::start_at(port);
    assert_eq!(server.port(), port);
    scene.comes_back(0).await;
}

/// Answers every connection: its greeting as a Redis does unless that is garbage already, and each
/// call with the reply.
async fn answer(peer: TcpListener, reply: String, is_greeting: bool) {
    let mut connections = tokio::task::JoinSet::new();
    loop {
        let (stream, _) = peer.accept().await.unwrap();
        let reply = reply.clone();
        connections.spawn(async move {
            // A peer that left is none to answer.
            let _ = talk(stream, &reply, is_greeting).await;
        });
    }
}

async fn talk(mut stream: TcpStream, reply: &str, is_greeting: bool) -> std::io::Result<()> {
    let mut bytes = [0; 65536];
    loop {
        let length = stream.read(&mut bytes).await?;
        if length == 0 {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&bytes[..length]);
        let is_call = is_greeting || text.contains("EVALSHA") || text.contains("SCRIPT");
        stream.write_all(if is_call { reply.as_bytes() } else { b"+OK\r\n+OK\r\n" }).await?;
    }
}
