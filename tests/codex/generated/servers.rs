//! Random MCP servers, in one layer or several, and the requirements about them.
//!
//! Few names, so that layers meet. A thread really starts what is written here, without network
//! and in a lab: the commands do nothing.

use super::random::Random;
use super::sheet::{Sheet, quote, spell_key};

/// The names: plain ones that collide, one that needs quotes, one that cannot start.
const NAMES: [&str; 6] = ["a", "a", "b", "b", "\"c.d\"", "\"e f\""];

/// Keys of a server with command, with a right and a wrong value.
const STDIO: &[(&str, &str, &str)] = &[
    ("args", "[\"x\", \"y\"]", "\"x\""),
    ("args", "[]", "[1]"),
    ("env", "{ A = \"1\" }", "{ A = 1 }"),
    ("env_vars", "[\"HOME\"]", "\"HOME\""),
    (
        "env_vars",
        "[{ name = \"X\", source = \"local\" }]",
        "[{ name = \"X\", source = \"else\" }]",
    ),
    ("cwd", "\"@HOME@\"", "1"),
];

/// Keys of a server with url.
const REMOTE: &[(&str, &str, &str)] = &[
    ("bearer_token_env_var", "\"TOKEN\"", "1"),
    ("http_headers", "{ X = \"1\" }", "{ X = 1 }"),
    ("env_http_headers", "{ X = \"TOKEN\" }", "[\"TOKEN\"]"),
    ("scopes", "[\"read\"]", "\"read\""),
    ("oauth_resource", "\"http://127.0.0.1:9\"", "1"),
    ("auth", "\"oauth\"", "\"basic\""),
];

/// Keys of every server.
const COMMON: &[(&str, &str, &str)] = &[
    ("enabled", "true", "\"true\""),
    ("enabled", "false", "0"),
    ("required", "false", "\"no\""),
    ("startup_timeout_sec", "5", "\"5\""),
    ("startup_timeout_sec", "2.5", "-1"),
    ("startup_timeout_ms", "5000", "1.5"),
    ("tool_timeout_sec", "60", "true"),
    ("enabled_tools", "[\"t\"]", "\"t\""),
    ("disabled_tools", "[\"t\"]", "[1]"),
    ("default_tools_approval_mode", "\"prompt\"", "\"never\""),
    (
        "tools",
        "{ t = { approval_mode = \"approve\" } }",
        "{ t = { approval_mode = \"no\" } }",
    ),
    ("supports_parallel_tool_calls", "true", "1"),
    ("name", "\"x\"", "1"),
    ("environment_id", "\"local\"", "1"),
    ("startup_readiness", "\"catalog\"", "\"soon\""),
    ("omit_tools_from", "[\"direct\"]", "[\"x\"]"),
    ("disabled", "true", "1"),
    ("type", "\"stdio\"", "1"),
    ("no_such_key", "{ a = 1 }", "1"),
];

/// Adds none, one or two servers, or parts of them.
pub fn add(random: &mut Random, sheet: &mut Sheet) {
    let count = random.pick(&[0, 0, 1, 1, 1, 2]);
    let mut used = Vec::new();
    for _ in 0..count {
        let remote = random.chance(15);
        // Of the other transport in another layer: an error that would hide the rest.
        let name = if remote && random.chance(85) {
            "web"
        } else {
            random.pick(&NAMES)
        };
        if !used.contains(&name) {
            used.push(name);
            let members = members(random, remote);
            sheet.table(random, &format!("mcp_servers.{name}"), &members);
        }
    }
    if random.chance(1) {
        let odd = random.pick(&[
            "mcp_servers = []",
            "mcp_servers = \"a\"",
            "mcp_servers.z = \"true\"",
            "mcp_servers.z = [\"true\"]",
        ]);
        sheet.root_line(odd.to_owned());
    }
}

/// The members of one server: complete, or a part for another layer to complete.
fn members(random: &mut Random, remote: bool) -> Vec<(String, String)> {
    let mut members: Vec<(String, String)> = Vec::new();
    if random.chance(98) {
        let (key, values, wrong) = if remote {
            (
                "url",
                ["http://127.0.0.1:9/mcp", "http://127.0.0.1:9/other"],
                "[\"http://127.0.0.1:9\"]",
            )
        } else {
            ("command", ["true", "no-such-program"], "[\"true\"]")
        };
        let word = random.pick(&values);
        let value = if random.chance(1) {
            wrong.to_owned()
        } else {
            quote(random, word)
        };
        members.push((spell_key(random, key), value));
    }
    let kind = if remote { REMOTE } else { STDIO };
    add_keys(random, kind, 20, &mut members);
    add_keys(random, COMMON, 6, &mut members);
    if random.chance(1) {
        // Of the other transport: an error, even where it is empty.
        let other = if remote { STDIO } else { REMOTE };
        add_keys(random, other, 25, &mut members);
    }
    members
}

fn add_keys(
    random: &mut Random,
    keys: &[(&str, &str, &str)],
    percent: usize,
    members: &mut Vec<(String, String)>,
) {
    for (key, right, wrong) in keys {
        let there = members.iter().any(|(known, _)| known.contains(key));
        if !there && random.chance(percent) {
            let value = if random.chance(1) { wrong } else { right };
            members.push(((*key).to_owned(), (*value).to_owned()));
        }
    }
}

/// Adds the table of servers that requirements allow.
pub fn add_identities(random: &mut Random, sheet: &mut Sheet) {
    let mut any = false;
    for name in ["a", "b", "\"c.d\""] {
        if !random.chance(40) {
            continue;
        }
        any = true;
        let command = random.pick(&["true", "no-such-program", "other"]);
        let identity = match random.below(12) {
            0 => "url = \"http://127.0.0.1:9/mcp\"".to_owned(),
            1 => format!("command = \"{command}\", url = \"http://127.0.0.1:9/mcp\""),
            2 => format!("command = \"{command}\", args = [\"z\"]"),
            3 if random.chance(40) => format!("command = {{ command = \"{command}\" }}"),
            4 if random.chance(30) => String::new(),
            _ => format!("command = \"{command}\""),
        };
        sheet.table_text(format!("[mcp_servers.{name}]\nidentity = {{ {identity} }}"));
    }
    if !any {
        sheet.table_text("[mcp_servers]".to_owned());
    }
}

/// A `-c` about a server.
pub fn flag(random: &mut Random) -> &'static str {
    random.pick(&[
        "mcp_servers.a.enabled=false",
        "mcp_servers.a.enabled=true",
        "mcp_servers.a.command=other",
        "mcp_servers.a.command=\"true\"",
        "mcp_servers.b.args=[\"z\"]",
        "mcp_servers.b.env.A=\"2\"",
        "mcp_servers.b.url=\"http://127.0.0.1:9/mcp\"",
        "mcp_servers={b={command=\"true\"}}",
        "mcp_servers.\"c.d\".command=\"true\"",
        "mcp_servers.new.enabled=false",
        "mcp_servers.a.no_such_key=1",
    ])
}
