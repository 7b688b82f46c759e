//! Each shape of file, each translation, each refusal, and what random files must never do.

use proptest::prelude::*;

use super::*;

// Made up for these tests; each is no one's.
const GITHUB: &str = "ghp_0123456789abcdefghijABCDEFGHIJ0123";
const OPENAI: &str = "sk-proj-a1b2c3d4e5f6g7h8i9j0k1l2";

fn json(text: &str) -> Result<Imported, Error> {
    parse("servers.json", text.as_bytes())
}

fn toml(text: &str) -> Result<Imported, Error> {
    parse("servers.toml", text.as_bytes())
}

/// One server of a client's JSON, given its members.
fn client(members: &str) -> Result<Imported, Error> {
    json(&format!("{{\"mcpServers\": {{\"x\": {{{members}}}}}}}"))
}

/// The servers as one TOML-like line each, to compare at a glance.
fn shown(imported: &Imported) -> String {
    let mut lines = vec![];
    for server in &imported.servers {
        let values: Vec<String> = server
            .values
            .iter()
            .map(|(key, value)| format!("{key} = {}", line(value)))
            .collect();
        lines.push(format!("{}: {}", server.name, values.join(", ")));
    }
    lines.join("\n")
}

fn line(value: &Value) -> String {
    match value {
        Value::String(text) | Value::Datetime(text) => format!("{text:?}"),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Boolean(truth) => truth.to_string(),
        Value::Array(items) => {
            format!(
                "[{}]",
                items.iter().map(line).collect::<Vec<_>>().join(", ")
            )
        }
        Value::Table(members) => {
            let inner: Vec<String> = members
                .iter()
                .map(|(key, value)| format!("{key} = {}", line(value)))
                .collect();
            format!("{{{}}}", inner.join(", "))
        }
    }
}

fn notes(imported: &Imported) -> Vec<String> {
    imported.notes.iter().map(Note::to_string).collect()
}

fn refused(result: Result<Imported, Error>) -> Reason {
    let error = result.expect_err("it is refused");
    assert!(error.to_string().len() < 400, "{error}");
    *error.reason
}

#[test]
fn every_shape_of_file_gives_the_same_servers() {
    let wanted = "docs: command = \"docs-mcp\", args = [\"--stdio\"]";
    let server = r#"{"docs": {"command": "docs-mcp", "args": ["--stdio"]}}"#;
    for (name, text) in [
        ("a.toml", "[mcp_servers.docs]\ncommand = \"docs-mcp\"\nargs = [\"--stdio\"]\n".to_owned()),
        ("a.toml", "mcp_servers = { docs = { command = 'docs-mcp', args = ['--stdio'] } }".to_owned()),
        ("a.toml", "mcp_servers.\"docs\".args = [\"--stdio\"]\r\nmcp_servers.docs.command = \"docs-mcp\"\r\n".to_owned()),
        ("a.json", format!("{{\"mcpServers\": {server}}}")),
        ("a", format!("\u{feff}\n{{\"mcpServers\": {server},}} // pasted")),
        (".vscode/mcp.json", format!("// VS Code\n{{\"inputs\": [], \"servers\": {server}}}")),
        ("settings.json", format!("{{\"mcp\": {{\"inputs\": [], \"servers\": {server}}}}}")),
        ("a.json", format!("{{\"mcp_servers\": {server}}}")),
        ("a.txt", server.to_owned()),
    ] {
        let imported = parse(name, text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(shown(&imported), wanted, "{text}");
        assert_eq!(notes(&imported), [""; 0], "{text}");
    }
}

#[test]
fn what_is_not_a_server_is_left_out_and_named() {
    let text =
        "model = \"x\"\nsandbox_mode = \"danger-full-access\"\n[mcp_servers.a]\ncommand = \"b\"\n";
    let imported = toml(text).expect("its servers are fine");
    assert_eq!(
        notes(&imported),
        ["only servers are taken, not `model`, `sandbox_mode`"]
    );
}

#[test]
fn files_without_servers_are_refused() {
    for text in [
        "",
        "# only a comment\n",
        "[mcp_servers]\n",
        "{}",
        "{\"a\": 1}",
        "{\"mcpServers\": {}}",
    ] {
        assert_eq!(
            refused(parse("f", text.as_bytes())),
            Reason::NoServers,
            "{text}"
        );
    }
    assert_eq!(
        refused(toml("[mcpServers.a]\ncommand = \"x\"")),
        Reason::ForeignKey("mcp_servers")
    );
    assert_eq!(refused(json("[]")), Reason::NoServers);
    assert_eq!(refused(json("{\"command\": \"x\"}")), Reason::NoName);
    assert_eq!(
        refused(json("{\"mcpServers\": {}, \"servers\": {}}")),
        Reason::Ambiguous("mcpServers", "servers")
    );
    assert_eq!(
        refused(json("{\"mcpServers\": []}")),
        Reason::NotTable("an array")
    );
    assert_eq!(
        refused(toml("[[mcp_servers]]\ncommand = \"x\"")),
        Reason::NotTable("an array")
    );
    assert_eq!(
        refused(client("\"command\": \"x\", \"env\": null")),
        Reason::Null
    );
    assert_eq!(refused(parse("f", b"\xff\xfe[\0")), Reason::NotUtf8);
    assert!(matches!(refused(toml("a = ")), Reason::Syntax(_)));
    assert!(matches!(
        refused(json("\"mcpServers\": {}")),
        Reason::Syntax(_)
    ));
    let many: Vec<String> = (0..=MAX_SERVERS)
        .map(|n| format!("\"s{n}\":{{\"command\":\"x\"}}"))
        .collect();
    assert_eq!(
        refused(json(&format!("{{{}}}", many.join(",")))),
        Reason::TooManyServers
    );
}

#[test]
fn size_is_bounded() {
    let many = vec!["\"a\""; MAX_MEMBERS + 1].join(",");
    let members = format!("\"command\": \"a\", \"args\": [{many}]");
    assert_eq!(refused(client(&members)), Reason::TooManyMembers);
    let long = "a".repeat(MAX_TEXT + 1);
    let members = format!("\"command\": \"a\", \"env\": {{\"A\": \"{long}\"}}");
    assert_eq!(refused(client(&members)), Reason::TooLong);
}

#[test]
fn an_error_knows_its_place() {
    let error = json("{\n  \"mcpServers\": {\n    \"x\": {\n      \"command\": \"a\",\n      \"args\": [\"--dir\", \"${HOME}/x\"]\n    }\n  }\n}").expect_err("it is refused");
    assert_eq!(
        error.place.map(|(_, at)| at),
        Some(LineColumn {
            line: 5,
            column: 25
        })
    );
    assert_eq!(
        error.to_string(),
        "server `x`: `args.1`: it refers to a variable, and Codex expands nothing here"
    );
    assert!(error.reason.way_out().is_some());
    let error = toml("[mcp_servers.a]\ncommand = \"x\"\n[mcp_servers.\"b c\"]\ncommand = \"x\"\n")
        .expect_err("it is refused");
    assert_eq!(error.place.map(|(_, at)| at.line), Some(3));
    assert_eq!(*error.reason, Reason::BadName);
    let error = toml("[mcp_servers.a]\ncommand = \"x\"\nenv = { PORT = 8080 }\n")
        .expect_err("it is refused");
    assert_eq!(
        error.place.map(|(_, at)| at),
        Some(LineColumn {
            line: 3,
            column: 16
        })
    );
    assert_eq!(
        error.to_string(),
        "server `a`: `env.PORT`: Codex would refuse it: `env.PORT` must be a string, not an integer"
    );
}

#[test]
fn keys_of_other_clients_become_those_of_codex() {
    for (members, wanted) in [
        (r#""type": "stdio", "command": "a""#, r#"x: command = "a""#),
        (
            r#""type": "http", "url": "https://h/mcp""#,
            r#"x: url = "https://h/mcp""#,
        ),
        (
            r#""type": "streamable-http", "url": "https://h/mcp""#,
            r#"x: url = "https://h/mcp""#,
        ),
        (
            r#""type": "streamableHttp", "url": "https://h/mcp""#,
            r#"x: url = "https://h/mcp""#,
        ),
        (
            r#""httpUrl": "https://h/mcp""#,
            r#"x: url = "https://h/mcp""#,
        ),
        (
            r#""url": "https://h/mcp", "headers": {"X-Region": "eu"}"#,
            r#"x: url = "https://h/mcp", http_headers = {X-Region = "eu"}"#,
        ),
        (
            r#""url": "https://h/mcp", "headers": {"Authorization": "Bearer ${TOK}"}"#,
            r#"x: url = "https://h/mcp", bearer_token_env_var = "TOK""#,
        ),
        (
            r#""url": "https://h/mcp", "headers": {"authorization": "bearer $TOK"}"#,
            r#"x: url = "https://h/mcp", bearer_token_env_var = "TOK""#,
        ),
        (
            r#""url": "https://h/mcp", "headers": {"X-Key": "${K}", "Y": "$L", "Z": "${env:M}"}"#,
            r#"x: url = "https://h/mcp", env_http_headers = {X-Key = "K", Y = "L", Z = "M"}"#,
        ),
        (
            r#""command": "a", "env": {"K": "${K}", "L": "1"}"#,
            r#"x: command = "a", env = {L = "1"}, env_vars = ["K"]"#,
        ),
        (
            r#""command": "a", "env": {"K": "${env:K}"}"#,
            r#"x: command = "a", env_vars = ["K"]"#,
        ),
        (
            r#""command": "a", "disabled": true"#,
            r#"x: command = "a", enabled = false"#,
        ),
        (
            r#""command": "a", "disabled": false"#,
            r#"x: command = "a""#,
        ),
        (
            r#""command": "a", "alwaysAllow": ["t"], "autoApprove": [], "timeout": 60"#,
            r#"x: command = "a""#,
        ),
        (
            r#""command": "a", "disabledTools": ["t"]"#,
            r#"x: command = "a", disabled_tools = ["t"]"#,
        ),
        (r#""command": "a", "tools": ["*"]"#, r#"x: command = "a""#),
        (
            r#""command": "a", "cwd": "/srv", "startup_timeout_sec": 20"#,
            r#"x: command = "a", cwd = "/srv", startup_timeout_sec = 20"#,
        ),
        (
            r#""env": {"PORT": 8080, "ON": true}, "command": "a", "args": ["-p", 1.5]"#,
            r#"x: command = "a", args = ["-p", "1.5"], env = {PORT = "8080", ON = "true"}"#,
        ),
        (
            r#""url": "https://h/mcp", "env": {}, "args": []"#,
            r#"x: url = "https://h/mcp""#,
        ),
        (
            r#""url": "https://h/mcp", "oauth": {"clientId": "abc", "callbackPort": 8080}"#,
            r#"x: url = "https://h/mcp", oauth = {client_id = "abc", callback_port = 8080}"#,
        ),
    ] {
        let imported = client(members).unwrap_or_else(|error| panic!("{members}: {error}"));
        assert_eq!(shown(&imported), wanted, "{members}");
    }
}

#[test]
fn what_codex_cannot_do_is_refused_with_the_reason() {
    let syntax = |reason: &Reason| matches!(reason, Reason::Refused(_));
    for (members, wanted) in [
        (r#""type": "sse", "url": "https://h/sse""#, Reason::Sse),
        (r#""type": "ws", "url": "wss://h""#, Reason::UnknownType),
        (r#""type": "http", "command": "a""#, Reason::TypeDisagrees),
        (
            r#""type": "stdio", "url": "https://h/mcp""#,
            Reason::TypeDisagrees,
        ),
        (r#""command": "${HOME}/a""#, Reason::Expansion),
        (r#""command": "~/bin/a""#, Reason::Tilde),
        (
            r#""command": "a", "cwd": "${workspaceFolder}""#,
            Reason::Expansion,
        ),
        (
            r#""command": "a", "args": ["${input:path}"]"#,
            Reason::Expansion,
        ),
        (r#""command": "a", "args": ["$HOME/x"]"#, Reason::Expansion),
        (r#""url": "https://${HOST}/mcp""#, Reason::Expansion),
        (
            r#""command": "a", "env": {"K": "${K:-x}"}"#,
            Reason::Expansion,
        ),
        (
            r#""command": "a", "env": {"K": "a/${B}"}"#,
            Reason::Expansion,
        ),
        (
            r#""command": "a", "env": {"K": "${OTHER}"}"#,
            Reason::Renamed("OTHER".into()),
        ),
        (
            r#""url": "https://h", "headers": {"Authorization": "Bearer ${T:-x}"}"#,
            Reason::Expansion,
        ),
        (r#""command": "a", "envFile": ".env""#, Reason::EnvFile),
        (
            r#""command": "a", "disabled": true, "enabled": true"#,
            Reason::Contradicts("enabled"),
        ),
        (
            r#""url": "https://h", "httpUrl": "https://g""#,
            Reason::Contradicts("url"),
        ),
        (
            r#""url": "https://h", "headersHelper": "x""#,
            Reason::Untranslatable,
        ),
        (
            r#""command": "a", "env_vars": ["K=v"]"#,
            Reason::NotVariable,
        ),
        (r#""command": "a", "args": ["x\u0000y"]"#, Reason::Nul),
    ] {
        let reason = refused(client(members));
        assert_eq!(reason, wanted, "{members}");
        assert!(syntax(&reason) || reason.way_out().is_some() || reason == Reason::Nul);
    }
    for members in [
        r#""args": ["x"]"#,
        r#""command": "a", "url": "https://h""#,
        r#""command": ["a", "b"]"#,
        r#""command": "a", "args": "b c""#,
        r#""command": "a", "headers": {"A": "b"}"#,
        r#""url": "https://h", "env": {"A": "b"}"#,
        r#""command": "a", "enabled": "yes""#,
        r#""command": "a", "tool_timeout_sec": -1"#,
    ] {
        assert!(
            matches!(refused(client(members)), Reason::Refused(_)),
            "{members}"
        );
    }
}

#[test]
fn secrets_become_references_and_the_notes_say_so() {
    let imported = client(&format!(
        r#""command": "a", "env": {{"API_KEY": "{OPENAI}", "FOO": "{GITHUB}", "PASSWORD": "hunter2", "TOKEN": "<your-token>", "EMPTY_TOKEN": "", "MODE": ""}}"#
    ))
    .expect("it is fine");
    assert_eq!(
        shown(&imported),
        r#"x: command = "a", env = {MODE = ""}, env_vars = ["API_KEY", "FOO", "PASSWORD", "TOKEN", "EMPTY_TOKEN"]"#
    );
    assert_eq!(
        notes(&imported)[0],
        "server `x`: the value of `API_KEY` was a secret and is not in the result; set the variable `API_KEY` before you start Codex"
    );
    assert_eq!(
        notes(&imported)[3],
        "server `x`: the value of `TOKEN` was a placeholder; set the variable `TOKEN` before you start Codex"
    );
    assert_eq!(imported.notes[1].kind, NoteKind::Variable("FOO".into()));

    let imported = json(&format!(
        r#"{{"mcpServers": {{"my-docs": {{"url": "https://h/mcp", "headers": {{"Authorization": "Bearer {OPENAI}", "X-Api-Key": "abc", "Cookie": "YOUR_COOKIE"}}}}}}}}"#
    ))
    .expect("it is fine");
    assert_eq!(
        shown(&imported),
        r#"my-docs: url = "https://h/mcp", bearer_token_env_var = "MY_DOCS_TOKEN", env_http_headers = {X-Api-Key = "MY_DOCS_X_API_KEY", Cookie = "MY_DOCS_COOKIE"}"#
    );
    let imported =
        client(r#""url": "https://h/mcp", "headers": {"Authorization": "Basic dXNlcjpwYXNz"}"#)
            .expect("it is fine");
    assert_eq!(
        shown(&imported),
        r#"x: url = "https://h/mcp", env_http_headers = {Authorization = "X_AUTHORIZATION"}"#
    );
    assert!(
        notes(&imported)[1].contains("whole value"),
        "{:?}",
        notes(&imported)
    );
    let imported = toml(&format!(
        "[mcp_servers.a]\ncommand = \"b\"\nenv = {{ API_KEY = \"{OPENAI}\" }}\n"
    ))
    .expect("it is fine");
    assert_eq!(
        shown(&imported),
        r#"a: command = "b", env_vars = ["API_KEY"]"#
    );
}

#[test]
fn secrets_where_codex_has_no_reference_are_refused() {
    for members in [
        format!(r#""command": "a", "args": ["--api-key={OPENAI}"]"#),
        r#""command": "a", "args": ["--token", "hunter2"]"#.into(),
        r#""command": "a", "args": ["--api-key", "YOUR_API_KEY"]"#.into(),
        r#""command": "docker", "args": ["run", "-e", "API_KEY=hunter2", "image"]"#.into(),
        format!(r#""command": "a", "args": ["{GITHUB}"]"#),
        r#""command": "npx", "args": ["mcp-remote", "https://h", "--header", "Authorization: Bearer abcdefgh1"]"#.into(),
        r#""command": "npx", "args": ["mcp-remote", "https://h", "--header=X-Api-Key: abc123"]"#.into(),
        r#""command": "a", "args": ["postgres://u:p@h/db"]"#.into(),
        r#""command": "sh", "args": ["-c", "API_KEY=hunter2 exec a"]"#.into(),
    ] {
        let error = client(&members).expect_err(&members);
        assert_eq!(*error.reason, Reason::SecretInArgs, "{members}");
        assert!(!error.to_string().contains("hunter2"));
    }
    for url in [
        "https://u:p@h/mcp",
        "https://h/mcp?api_key=abc123",
        "https://h/mcp?apiKey=YOUR_KEY",
        "https://h/mcp?token=${TOKEN}",
        "https://h/ghp_0123456789abcdefghijABCDEFGHIJ0123/mcp",
    ] {
        let members = format!(r#""url": "{url}""#);
        assert_eq!(refused(client(&members)), Reason::SecretInUrl, "{url}");
    }
    let members = r#""url": "https://h", "oauth": {"clientId": "a", "clientSecret": "b"}"#;
    assert_eq!(refused(client(members)), Reason::SecretInValue);
    let members = format!(r#""url": "https://h", "bearer_token_env_var": "{GITHUB}""#);
    assert_eq!(refused(client(&members)), Reason::NotVariable);
}

#[test]
fn the_ways_out_are_accepted() {
    let shell = toml(
        "[mcp_servers.a]\ncommand = \"sh\"\nargs = [\"-c\", \"exec b --token \\\"$TOKEN\\\"\"]\nenv_vars = [\"TOKEN\"]\n",
    );
    assert_eq!(notes(&shell.expect("it is fine")), [""; 0]);
    let docker = client(
        r#""command": "docker", "args": ["run", "-i", "--rm", "-e", "API_KEY", "image"], "env": {"API_KEY": "<key>"}"#,
    );
    assert_eq!(
        shown(&docker.expect("it is fine")),
        r#"x: command = "docker", args = ["run", "-i", "--rm", "-e", "API_KEY", "image"], env_vars = ["API_KEY"]"#
    );
    // A dollar is a dollar in Codex's own files.
    let literal =
        toml("[mcp_servers.a]\ncommand = \"b\"\nargs = [\"${X}\"]\n").expect("it is fine");
    assert_eq!(literal.notes[0].kind, NoteKind::Warning);
}

#[test]
fn a_program_that_expands_by_itself_gets_its_variable() {
    let imported = client(
        r#""command": "npx", "args": ["mcp-remote@latest", "https://h/mcp", "--header", "Authorization:${AUTH}"], "env": {"AUTH": "Bearer <token>"}"#,
    )
    .expect("it is fine");
    assert_eq!(
        shown(&imported),
        r#"x: command = "npx", args = ["mcp-remote@latest", "https://h/mcp", "--header", "Authorization:${AUTH}"], env_vars = ["AUTH"]"#
    );
    let imported = client(r#""command": "sh", "args": ["-c", "exec a \"$KEY\" \"$HOME\""]"#)
        .expect("it is fine");
    assert_eq!(
        shown(&imported),
        r#"x: command = "sh", args = ["-c", "exec a \"$KEY\" \"$HOME\""], env_vars = ["KEY"]"#
    );
}

#[test]
fn the_editors_questions_become_variables() {
    let imported = json(
        r#"{"inputs": [{"type": "promptString", "id": "key", "description": "Your key", "password": true}],
            "servers": {"a": {"command": "b", "env": {"API_KEY": "${input:key}"}},
                        "c": {"type": "http", "url": "https://h/mcp", "headers": {"Authorization": "Bearer ${input:key}"}}}}"#,
    )
    .expect("it is fine");
    assert_eq!(
        shown(&imported),
        "a: command = \"b\", env_vars = [\"API_KEY\"]\nc: url = \"https://h/mcp\", bearer_token_env_var = \"C_TOKEN\""
    );
    assert!(
        notes(&imported)[0].contains("(Your key)"),
        "{:?}",
        notes(&imported)
    );
}

#[test]
fn two_secrets_never_share_a_variable() {
    let two = |first: &str, second: &str| {
        json(&format!(
            r#"{{"mcpServers": {{"a": {{"command": "x", "env": {{"API_KEY": "{first}"}}}}, "b": {{"command": "x", "env": {{"API_KEY": "{second}"}}}}}}}}"#
        ))
    };
    assert!(matches!(
        refused(two(OPENAI, GITHUB)),
        Reason::Shared { .. }
    ));
    assert!(two(OPENAI, OPENAI).is_ok());
    assert!(two(OPENAI, "<key>").is_ok());
    let derived = json(
        r#"{"mcpServers": {"github": {"url": "https://h", "headers": {"Authorization": "Bearer abc12345"}},
                           "other": {"command": "x", "env": {"GITHUB_TOKEN": "def67890"}}}}"#,
    )
    .expect("it is fine");
    assert!(
        shown(&derived).contains("\"GITHUB_TOKEN_2\""),
        "{}",
        shown(&derived)
    );
}

#[test]
fn tools_that_run_unasked_are_named() {
    let imported =
        toml("[mcp_servers.a]\ncommand = \"b\"\ndefault_tools_approval_mode = \"approve\"\n")
            .expect("it is fine");
    assert_eq!(
        notes(&imported),
        ["server `a`: some or all of its tools run without a question (`approve`)"]
    );
    let imported = client(r#""command": "a", "alwaysAllow": ["t"]"#).expect("it is fine");
    assert_eq!(
        notes(&imported),
        ["server `x`: `alwaysAllow` was left out: it lets tools run without a question"]
    );
}

fn secret() -> impl Strategy<Value = String> {
    prop_oneof![
        "ghp_[a-z0-9]{5}[0-9][A-Za-z0-9]{30}",
        "sk-[a-z]{4}[0-9]{4}[A-Za-z0-9]{24}",
        "AKIA[A-Z]{8}[0-9]{8}",
        "eyJ[a-z0-9]{20}\\.eyJ[A-Z0-9]{20}\\.[0-9][a-z0-9]{20}",
        "Bearer [a-z]{6}[0-9]{6}",
        "postgres://u:[a-z0-9]{12}@h/db",
        "\\$[a-z]{4}[0-9]{8}",
    ]
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse("f", &bytes);
        let _ = parse("f.json", &bytes);
    }

    #[test]
    fn no_json_makes_it_panic(text in "(\\{|\\}|\\[|\\]|\"mcpServers\"|\"command\"|\"env\"|\"url\"|\"a\"|:|,|\\$\\{|1|null|true|\"|\\\\|/\\*|//|\n| ){0,60}") {
        let _ = json(&text);
        let _ = json(&format!("{{\"mcpServers\": {{\"x\": {text}}}}}"));
    }

    #[test]
    fn a_planted_secret_is_nowhere_to_be_seen(
        planted in secret(),
        name in "[A-Z]{1,6}_(KEY|TOKEN|SECRET|PASSWORD)",
        members in proptest::collection::vec(
            prop_oneof![
                Just(r#""type": "stdio""#), Just(r#""type": "sse""#), Just(r#""command": "a""#),
                Just(r#""url": "https://h/mcp""#), Just(r#""disabled": true"#), Just(r#""args": ["${A}"]"#),
                Just(r#""args": 1"#), Just(r#""cwd": "/x""#),
            ], 0..4),
        place in 0..3usize,
        codex in any::<bool>(),
    ) {
        let planted_member = match place {
            0 => format!(r#""env": {{"A": "b", "{name}": "{planted}"}}"#),
            1 => format!(r#""headers": {{"X-{name}": "{planted}", "B": "c"}}"#),
            _ => format!(r#""headers": {{"Authorization": "Bearer {planted}"}}"#),
        };
        let mut all: Vec<&str> = members.clone();
        all.sort_by_key(|member| member.split(':').next());
        all.dedup_by_key(|member| member.split(':').next());
        all.push(&planted_member);
        let root = if codex { "mcp_servers" } else { "mcpServers" };
        let text = format!("{{\"{root}\": {{\"x\": {{{}}}}}}}", all.join(","));
        let secret = planted.trim_start_matches("Bearer ").trim_start_matches('$');
        let seen = match json(&text) {
            Ok(imported) => format!("{imported:?}{}{}", shown(&imported), notes(&imported).join("\n")),
            Err(error) => format!("{error:?}{error}{:?}", error.reason.way_out()),
        };
        prop_assert!(!seen.contains(secret), "{seen}");
    }
}

/// The shapes that servers' own documentation offers most often.
#[test]
fn what_documentation_offers_is_taken_or_says_why_not() {
    let container = r#"{"mcpServers": {"github": {
        "command": "docker",
        "args": ["run", "-i", "--rm", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/github/github-mcp-server"],
        "env": {"GITHUB_PERSONAL_ACCESS_TOKEN": "<YOUR_TOKEN>"}}}}"#;
    assert_eq!(
        shown(&json(container).expect("it is fine")),
        r#"github: command = "docker", args = ["run", "-i", "--rm", "-e", "GITHUB_PERSONAL_ACCESS_TOKEN", "ghcr.io/github/github-mcp-server"], env_vars = ["GITHUB_PERSONAL_ACCESS_TOKEN"]"#
    );
    let editor = r#"{
        "servers": {"github": {"type": "http", "url": "https://api.example.com/mcp/",
            "headers": {"Authorization": "Bearer ${input:github_mcp_pat}"}}},
        "inputs": [{"type": "promptString", "id": "github_mcp_pat", "description": "A token", "password": true}]}"#;
    assert_eq!(
        shown(&json(editor).expect("it is fine")),
        r#"github: url = "https://api.example.com/mcp/", bearer_token_env_var = "GITHUB_TOKEN""#
    );
    for (members, wanted) in [
        (
            r#""command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem@2025.1.14", "/srv/files"]"#,
            r#"x: command = "npx", args = ["-y", "@modelcontextprotocol/server-filesystem@2025.1.14", "/srv/files"]"#,
        ),
        (
            r#""command": "npx", "args": ["-y", "server-postgres", "postgresql://localhost/mydb"]"#,
            r#"x: command = "npx", args = ["-y", "server-postgres", "postgresql://localhost/mydb"]"#,
        ),
        (
            r#""command": "cmd", "args": ["/c", "npx", "-y", "a"]"#,
            r#"x: command = "cmd", args = ["/c", "npx", "-y", "a"]"#,
        ),
        (
            r#""command": "uvx", "args": ["mcp-server-git", "--repository", "C:\\work\\repo"], "env": {"LOG_LEVEL": "debug"}"#,
            r#"x: command = "uvx", args = ["mcp-server-git", "--repository", "C:\\work\\repo"], env = {LOG_LEVEL = "debug"}"#,
        ),
        (
            r#""command": "docker", "args": ["run", "--mount", "type=bind,src=/srv,dst=/srv", "image@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"]"#,
            r#"x: command = "docker", args = ["run", "--mount", "type=bind,src=/srv,dst=/srv", "image@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"]"#,
        ),
        (
            r#""command": "a", "args": ["--price", "US$5", "--auth", "oauth", "--key", "/etc/ssl/a.pem"]"#,
            r#"x: command = "a", args = ["--price", "US$5", "--auth", "oauth", "--key", "/etc/ssl/a.pem"]"#,
        ),
    ] {
        let imported = client(members).unwrap_or_else(|error| panic!("{members}: {error}"));
        assert_eq!(shown(&imported), wanted);
        assert_eq!(notes(&imported), [""; 0], "{members}");
    }
    let key = r#""command": "npx", "args": ["-y", "context-mcp", "--api-key", "YOUR_API_KEY"]"#;
    assert_eq!(refused(client(key)), Reason::SecretInArgs);
    let expanded = r#""command": "npx", "args": ["-y", "mcp-remote", "https://h/sse"]"#;
    assert!(client(expanded).is_ok());
}
