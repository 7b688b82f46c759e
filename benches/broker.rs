//! What `codexgate broker` takes: time to its tools, memory, time to a session, time to end.
//!
//! With the real Codex (`$CODEX`, else the pinned one below `tests/codex`) and a scripted model on
//! loopback; without a Codex only what needs none is measured. Beside each figure stands that of
//! codex-mcp 2.1.0, measured once on two cores with Codex 0.171: it cannot be installed any more,
//! so it is not part of this run.

#[path = "../tests/broker/client.rs"]
#[allow(dead_code)] // shared with the tests
mod client;
#[path = "../tests/broker/model.rs"]
#[allow(dead_code)]
mod model;
#[path = "../tests/broker/scene.rs"]
#[allow(dead_code)]
mod scene;

use client::Client;
use scene::{Scene, start};
use serde_json::json;
use std::io::Write as _;
use std::time::{Duration, Instant};

/// Runs of what is quick.
const QUICK: usize = 30;
/// Runs of what starts Codex.
const SLOW: usize = 5;
/// Sessions side by side.
const SESSIONS: usize = 5;
/// How long an idle session settles before its memory counts.
const SETTLE: Duration = Duration::from_secs(2);

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{:44} {:>12}   codex-mcp 2.1.0, measured once",
        "", "codexgate"
    )?;
    let idle = Scene::with("/no/such/codex".into());
    let mut listed: Vec<Duration> = (0..QUICK).map(|_| time_to_tools(&idle)).collect();
    let mut line =
        |what: &str, ours: String, peer: &str| writeln!(out, "{what:44} {ours:>12}   {peer}");
    line("start to tools/list", ms(median(&mut listed)), "389 ms")?;
    let client = idle.client(&[]);
    line(
        "memory without a session",
        mib(resident(client.pid())),
        "71 MiB",
    )?;
    drop(client);
    let Some(scene) = Scene::real("the figures that need Codex") else {
        return Ok(());
    };
    let (mut first, mut next, mut ended) = (Vec::new(), Vec::new(), Vec::new());
    let (mut broker, mut all) = (0, 0);
    for _ in 0..SLOW {
        let mut client = scene.client(&[]);
        let mut sessions = Vec::new();
        for n in 0..SESSIONS {
            let begun = Instant::now();
            let started = client.call("codex", &start(&json!("hello")));
            let took = begun.elapsed();
            if n == 0 {
                first.push(took);
            } else {
                next.push(took);
            }
            sessions.push(started["sessionId"].as_str().expect("a name").to_owned());
        }
        for session in &sessions {
            client.wait(session);
        }
        std::thread::sleep(SETTLE);
        broker = resident(client.pid());
        all = scene
            .processes()
            .iter()
            .filter_map(|(pid, _)| u32::try_from(*pid).ok())
            .map(resident)
            .sum();
        let (_, took) = client.finish();
        ended.push(took);
        assert!(
            scene.left_after(Duration::from_secs(1)).is_empty(),
            "no process is left"
        );
    }
    line(
        "the call that starts a first session",
        ms(median(&mut first)),
        "219 to 311 ms",
    )?;
    line(
        "the call that starts a next session",
        ms(median(&mut next)),
        "219 to 311 ms (a process each)",
    )?;
    line(
        "memory with five idle sessions, the broker",
        mib(broker),
        "",
    )?;
    line(
        "  with its app-server and all it started",
        mib(all),
        "71 + 5 * 144 = 791 MiB",
    )?;
    line(
        "end of input to the end of all processes",
        ms(median(&mut ended)),
        "6 of 6 alive after 4 s",
    )?;
    Ok(())
}

/// From the start of the process to the answer of `tools/list`, as a client asks for it.
fn time_to_tools(scene: &Scene) -> Duration {
    let mut command = scene.broker(&[]);
    let begun = Instant::now();
    let mut client = Client::silent(&mut command);
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "0"}});
    let first = client.ask("initialize", &hello);
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let listed = client.ask("tools/list", &json!({}));
    client.answer(first);
    let answer = client.answer(listed);
    assert!(answer["result"]["tools"].is_array());
    begun.elapsed()
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn ms(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

#[allow(clippy::cast_precision_loss)] // for a person
fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

/// Bytes of a process in memory; 0 for one that has ended.
fn resident(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    let pages = text
        .split(' ')
        .nth(1)
        .and_then(|word| word.parse::<u64>().ok());
    pages.unwrap_or_default() * 4096
}
