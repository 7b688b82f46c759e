//! `codex::server::judge` against Codex itself, over a few hundred generated server tables.
//!
//! Each known key gets values of every kind, on either transport, right and wrong. What the model
//! accepts goes into one file, which Codex must accept as a whole; what it refuses is asked for one
//! by one, a sample of it, since one bad server hides all others.

use std::path::Path;

use codexgate::codex::server::{self, KEYS};
use codexgate::document::{Document, Value};

use crate::lab::Lab;
use crate::{process, program};

/// Every so many refused tables one is asked for. No divisor of the number of values, so that
/// each key meets each value on one transport or the other over the sample.
const STRIDE: usize = 13;

const STDIO: &str = "command = \"true\"";
const URL: &str = "url = \"http://127.0.0.1:1/mcp\"";

/// Values of every kind, and the shapes that surprised somebody once.
const VALUES: [&str; 50] = [
    "\"\"",
    "\" \"",
    "\"x\"",
    "\"auto\"",
    "\"writes\"",
    "\"Auto\"",
    "\"oauth\"",
    "\"ema_auth\"",
    "\"catalog\"",
    "\"local\"",
    "true",
    "0",
    "1",
    "-1",
    "70000",
    "9223372036854775807",
    "0.5",
    "-0.0",
    "-1e-320",
    "1e19",
    "1e30",
    "nan",
    "inf",
    "1979-05-27",
    "[]",
    "[\"x\"]",
    "[\"direct\", \"direct\"]",
    "[1]",
    "[1979-05-27]",
    "[[\"x\"]]",
    "[\"x\", 1]",
    "[{}]",
    "[{ name = \"A\" }]",
    "[{ name = \"A\", source = \"remote\" }]",
    "[{ name = \"A\", source = \"vault\" }]",
    "[{ name = \"A\", other = 1 }]",
    "[{ direct = {} }]",
    "{}",
    "{ A = \"b\" }",
    "{ A = 1 }",
    "{ A = 1979-05-27 }",
    "{ auto = {} }",
    "{ auto = [] }",
    "{ auto = 1 }",
    "{ t = { approval_mode = \"approve\", other = 1 } }",
    "{ t = { approval_mode = \"always\" } }",
    "{ t = { output_token_limit = 0 } }",
    "{ t = [\"prompt\", 5] }",
    "{ t = \"approve\" }",
    "{ client_id = \"a\" }",
];

/// What only two keys together show, or what is deeper than a value.
const MORE: [(&str, &str); 29] = [
    (STDIO, "url = \"\""),
    (STDIO, "startup_timeout_ms = 5\nstartup_timeout_sec = 9"),
    (STDIO, "startup_timeout_ms = -1\nstartup_timeout_sec = 9"),
    (STDIO, "type = \"stdio\"\ndisabled = true\nheaders = 1"),
    ("", "args = []"),
    ("", "enabled = false"),
    ("command = [\"a\"]", ""),
    ("command = 1979-05-27", ""),
    (URL, "oauth = { client_secret = \"a\" }"),
    (URL, "oauth = { client_id = \" \", client_secret = \"a\" }"),
    (URL, "oauth = { client_id = \"a\", client_secret = \" \" }"),
    (URL, "oauth = { client_id = \"a\", client_secret = \"b\" }"),
    (URL, "oauth = { callback_port = 65536 }"),
    (
        URL,
        "oauth = { callback_port = 65535, callback_url = \"\" }",
    ),
    (URL, "oauth = { callback_port = 1.0 }"),
    (URL, "oauth = { other = 1 }"),
    (URL, "oauth = [\"a\", \"b\"]"),
    (URL, "oauth = [\"a\", \"b\", \"client_secret_basic\"]"),
    (
        URL,
        "auth = \"ema_auth\"\noauth = [\"a\", \"b\", \"client_secret_basic\", \"i\", 1, \"u\"]",
    ),
    (
        URL,
        "auth = \"ema_auth\"\noauth = [\"a\", \"b\", \"client_secret_basic\", \"i\", 1, \"u\", 1]",
    ),
    (URL, "oauth = { authorization_server_issuer = \"a\" }"),
    (
        URL,
        "auth = \"ema_auth\"\noauth = { authorization_server_issuer = \"a\" }",
    ),
    (
        URL,
        "auth = { ema_auth = {} }\noauth = { authorization_server_issuer = \"a\" }",
    ),
    (
        URL,
        "auth = \"oauth\"\noauth = { authorization_server_issuer = \"a\" }",
    ),
    (
        URL,
        "auth = \"ema_auth\"\noauth = { token_endpoint_auth_method = \"client_secret_post\" }",
    ),
    (
        URL,
        "auth = \"ema_auth\"\noauth = { token_endpoint_auth_method = \"client_secret_post\", client_id = \"a\", client_secret = \"b\" }",
    ),
    (URL, "oauth = { token_endpoint_auth_method = \"none\" }"),
    (
        URL,
        "bearer_token_env_var = \"A\"\nauth = \"chatgpt\"\nhttp_headers_helper = \"b\"",
    ),
    (URL, "bearer_token = 1"),
];

/// The bodies of all tables: `[mcp_servers.NAME]` goes above.
fn tables() -> Vec<String> {
    let mut tables: Vec<String> = MORE
        .iter()
        .map(|(transport, rest)| format!("{transport}\n{rest}\n"))
        .collect();
    for (transport, chosen) in [(STDIO, "command"), (URL, "url")] {
        for key in KEYS.iter().filter(|key| key.name != chosen) {
            for value in VALUES {
                tables.push(format!("{transport}\n{} = {value}\n", key.name));
            }
        }
    }
    tables
}

fn accepted(table: &str) -> bool {
    let document = Document::parse(table).expect("the generated table is TOML");
    match document.root().value() {
        Value::Table(members) => server::judge(&members).is_ok(),
        _ => false,
    }
}

/// How many servers Codex lists, or nothing when it refuses the file. `mcp list` only loads the
/// configuration, so it needs no namespaces of its own, and it takes 15 ms where others take 500.
fn ask(codex: &Path, root: &Path, config: &str) -> Option<usize> {
    std::fs::create_dir_all(root).expect("the lab is writable");
    let lab = Lab::at(root);
    std::fs::write(lab.codex_home.join("config.toml"), config).expect("the lab is writable");
    let listed = process::run(lab.command(codex).args(["mcp", "list", "--json"]));
    if !listed.done() {
        assert!(
            listed.stderr.contains("mcp_servers"),
            "another reason: {}",
            listed.stderr
        );
        return None;
    }
    let servers: Option<serde_json::Value> = serde_json::from_slice(&listed.stdout).ok();
    servers.and_then(|servers| servers.as_array().map(Vec::len))
}

fn alone(codex: &Path, root: &Path, table: &str) -> bool {
    ask(codex, root, &format!("[mcp_servers.s]\n{table}")).is_some()
}

#[test]
fn the_verdict_on_a_server_is_that_of_codex() {
    let Some(codex) = program::find_for("the_verdict_on_a_server_is_that_of_codex") else {
        return;
    };
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("it is writable");
    let folder = folder.path().canonicalize().expect("it is there");
    let (good, bad): (Vec<String>, Vec<String>) =
        tables().into_iter().partition(|table| accepted(table));
    assert!(
        good.len() > 200 && bad.len() > 1_000,
        "the generator withers"
    );

    let named: Vec<String> = good
        .iter()
        .enumerate()
        .map(|(number, table)| format!("[mcp_servers.s{number}]\n{table}"))
        .collect();
    let mut wrong: Vec<&String> = vec![];
    if ask(&codex, &folder.join("all"), &named.concat()) != Some(good.len()) {
        let lab = folder.join("one");
        wrong.extend(good.iter().filter(|table| !alone(&codex, &lab, table)));
        assert!(
            !wrong.is_empty(),
            "Codex refuses together what it takes alone"
        );
    }
    let sample: Vec<&String> = bad
        .iter()
        .enumerate()
        .filter(|(number, _)| *number < MORE.len() || number.is_multiple_of(STRIDE))
        .map(|(_, table)| table)
        .collect();
    let lab = folder.join("bad");
    wrong.extend(sample.iter().filter(|table| alone(&codex, &lab, table)));
    assert!(wrong.is_empty(), "Codex says otherwise:\n{wrong:#?}");
}
