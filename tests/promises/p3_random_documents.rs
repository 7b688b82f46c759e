//! Promise 3 on random documents in random styles and random plans: no byte changes outside of
//! the planned edits, twice is once, and uninstall gives every byte back, with a record exactly
//! and without one by value.

use std::fmt::Write as _;

use codexgate::codex::Site;
use codexgate::codex::site::Environment;
use codexgate::document::{Document, Value, compare};
use codexgate::files::RealDisk;
use codexgate::plan::record::Store;
use codexgate::plan::{OnCollision, Outcome, Plan, Scope, WantedServer, install, uninstall, write};
use proptest::prelude::*;

/// A scalar or nested value, as text on the right of `=`.
fn value_text() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        Just("\"plain\"".to_owned()),
        Just("'C:\\raw'".to_owned()),
        Just("\"\"\"two\nlines\"\"\"".to_owned()),
        Just("'''it's'''".to_owned()),
        Just("\"esc \\u00fc \\\" # no comment\"".to_owned()),
        Just("0xFF".to_owned()),
        Just("-1_000".to_owned()),
        Just("1e3".to_owned()),
        Just("nan".to_owned()),
        Just("true".to_owned()),
        Just("1979-05-27T07:32:00Z".to_owned()),
        Just("[]".to_owned()),
        Just("{}".to_owned()),
    ];
    scalar.prop_recursive(2, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4)
                .prop_map(|items| format!("[{}]", items.join(", "))),
            prop::collection::vec(inner.clone(), 1..4)
                .prop_map(|items| format!("[ # list\n  {},\n]", items.join(",\n  "))),
            prop::collection::vec(inner.clone(), 1..4).prop_map(|items| {
                let pairs: Vec<String> = items
                    .iter()
                    .enumerate()
                    .map(|(at, item)| format!("k{at} = {item}"))
                    .collect();
                format!("{{ {} }}", pairs.join(", "))
            }),
            prop::collection::vec(inner, 1..4).prop_map(|items| {
                let pairs: Vec<String> = items
                    .iter()
                    .enumerate()
                    .map(|(at, item)| format!("k{at}.x={item}"))
                    .collect();
                format!("{{\n\t{}, # last\n}}", pairs.join(",\n\t"))
            }),
        ]
    })
}

/// Servers `s0` and `"s 1"` in each shape that TOML has for them.
fn servers_text() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "",
        "[mcp_servers]\n",
        "[mcp_servers]\n# none yet\n\n",
        "[mcp_servers.s0]\ncommand = \"a\" # mine\n# args = []\n\n[mcp_servers.\"s 1\"]\nurl='u'\n",
        "[mcp_servers.s0.env]\nK = \"v\"\n[other_between]\n[mcp_servers.s0]\ncommand = \"a\"\n",
        "[mcp_servers]\ns0 = { command = \"a\" }\n\"s 1\" = {url = \"u\"}\n",
        "[mcp_servers]\n  s0.command = \"a\"\n  s0.args = [\"x\"]\n",
        "  [mcp_servers.s0]\n  command = 'a'\n    [mcp_servers.s0.tools.t]\n    approval_mode = 'prompt'\n",
    ])
    .prop_map(str::to_owned)
}

/// The same at the root, where headers may not stand above.
fn root_servers_text() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "mcp_servers = {}\n",
        "mcp_servers = { s0 = { command = \"a\" } } # one line\n",
        "mcp_servers={s0={command=\"a\"},\"s 1\"={url=\"u\"}}\n",
        "mcp_servers = { s0.command = \"a\", s0.args = [ \"x\" ] }\n",
        "mcp_servers = {\n  s0 = { command = \"a\" }, # first\n  \"s 1\" = { url = \"u\" } # last\n}\n",
        "mcp_servers = {\n  s0 = { command = \"a\" },\n}\n",
        "mcp_servers.s0.command = \"a\"\nmcp_servers.\"s 1\".url = \"u\"\n",
    ])
    .prop_map(str::to_owned)
}

prop_compose! {
    fn text()(
        mark in any::<bool>(),
        windows in any::<bool>(),
        open_end in any::<bool>(),
        head in prop::sample::select(vec!["", "# head\n", "# head\n\n", "\n\n"]),
        root in prop::collection::vec(value_text(), 0..4),
        tight in any::<bool>(),
        servers in prop_oneof![
            servers_text().prop_map(|text| (String::new(), text)),
            root_servers_text().prop_map(|text| (text, String::new())),
        ],
        tables in prop::collection::vec((value_text(), any::<bool>()), 0..3),
        before in any::<bool>(),
        tail in prop::sample::select(vec!["", "# tail\n", "\n# tail\n\n"]),
    ) -> String {
        let equals = if tight { "=" } else { " = " };
        let mut text = head.to_owned();
        for (at, value) in root.iter().enumerate() {
            writeln!(text, "r{at}{equals}{value}").expect("a string");
        }
        text += &servers.0;
        let mut rest = String::new();
        for (at, (value, list)) in tables.iter().enumerate() {
            let blank = if tight { "" } else { "\n" };
            let header = if *list { format!("[[t{at}]]") } else { format!("[t{at}.\"x y\"]") };
            writeln!(rest, "{blank}# about t{at}\n{header}\nv{equals}{value}").expect("a string");
        }
        if before {
            text = text + &servers.1 + &rest;
        } else {
            text = text + &rest + &servers.1;
        }
        text += tail;
        if open_end {
            text.truncate(text.trim_end_matches('\n').len());
        }
        if windows {
            text = text.replace('\n', "\r\n");
        }
        if mark {
            text.insert(0, '\u{feff}');
        }
        text
    }
}

prop_compose! {
    fn wanted()(
        name in prop::sample::select(vec!["s0", "demo", "d.e/m", "zz"]),
        command in prop::sample::select(vec!["a", "it's", "C:\\x\\new", "two words", "\"q\""]),
        args in prop::collection::vec(prop::sample::select(vec!["--x", "", "é", "a\tb", "#"]), 0..3),
        env in prop::collection::btree_map(
            prop::sample::select(vec!["K", "PATH_X"]), prop::sample::select(vec!["v", "w\n"]), 0..2),
    ) -> WantedServer {
        let mut values = indexmap::IndexMap::new();
        values.insert("command".to_owned(), Value::from(command));
        if !args.is_empty() {
            values.insert("args".to_owned(), Value::from(args));
        }
        if !env.is_empty() {
            values.insert("env".to_owned(), env.into_iter().collect());
        }
        WantedServer { name: name.to_owned(), values }
    }
}

struct Lab {
    top: tempfile::TempDir,
    site: Site,
    store: Store,
}

impl Lab {
    fn new(text: &str) -> Self {
        let top = tempfile::tempdir_in("/var/tmp").expect("a folder");
        let project = top.path().join("p");
        std::fs::create_dir_all(project.join(".codex")).expect("folders");
        std::fs::create_dir_all(top.path().join("state")).expect("folders");
        std::fs::write(project.join(".codex/config.toml"), text).expect("a file");
        let site = Site::discover(&Environment {
            directory: project,
            ..Environment::default()
        })
        .expect("it is there");
        let store = Store::new(&top.path().join("state"));
        Self { top, site, store }
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.site.dot_codex().join("config.toml")).expect("readable")
    }

    fn plan(&self, servers: &[WantedServer], on_collision: OnCollision) -> Plan {
        let request = install::Request {
            scopes: vec![Scope::Project],
            servers: servers.to_vec(),
            on_collision,
            ..install::Request::default()
        };
        install::plan(&self.site, &request)
            .expect("the text is TOML")
            .0
    }

    fn install(&self, plan: &Plan) {
        let records = write::records(plan, &self.store).expect("records");
        write::commit(
            plan,
            &records,
            &self.top.path().join("state"),
            &mut RealDisk,
        )
        .expect("written");
    }

    fn uninstall(&self, names: &[String], store: Option<&Store>) -> Plan {
        let request = uninstall::Request {
            scopes: vec![Scope::Project],
            servers: names.to_vec(),
            ..uninstall::Request::default()
        };
        let (plan, records) = uninstall::plan(&self.site, &request, store).expect("a plan");
        write::commit(
            &plan,
            &records,
            &self.top.path().join("state"),
            &mut RealDisk,
        )
        .expect("written");
        plan
    }
}

fn unique(servers: &[WantedServer]) -> Vec<WantedServer> {
    let mut seen = std::collections::HashSet::new();
    servers
        .iter()
        .filter(|server| seen.insert(server.name.clone()))
        .cloned()
        .collect()
}

fn value(text: &str) -> Value {
    Document::parse(text).expect("TOML").root().value()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(192) })]

    #[test]
    fn install_keeps_and_uninstall_gives_back_every_byte(
        text in text(),
        servers in prop::collection::vec(wanted(), 1..4),
        replace in any::<bool>(),
    ) {
        prop_assume!(Document::parse(text.as_str()).is_ok());
        let servers = unique(&servers);
        let lab = Lab::new(&text);
        let on_collision = if replace { OnCollision::Replace } else { OnCollision::Refuse };
        let plan = lab.plan(&servers, on_collision);
        if !plan.collisions.is_empty() {
            prop_assert!(servers.iter().any(|server| server.name == "s0"), "{:?}", plan.collisions);
            return Ok(());
        }
        // Each step leaves every byte outside of its edits.
        for step in plan.files.iter().flat_map(|file| &file.steps) {
            let mut rest_before = step.before.clone();
            let mut rest_after = step.after.clone();
            for edit in step.edits.iter().rev() {
                let kept_before = rest_before.split_off(edit.span.end);
                let kept_after = rest_after.split_off(rest_after.len() - kept_before.len());
                prop_assert_eq!(kept_before, kept_after);
                rest_before.truncate(edit.span.start);
                prop_assert!(rest_after.ends_with(&edit.text));
                rest_after.truncate(rest_after.len() - edit.text.len());
            }
            prop_assert_eq!(rest_before, rest_after);
        }
        lab.install(&plan);
        let after = lab.text();
        for file in &plan.files {
            prop_assert_eq!(&file.outcome, &Outcome::Text(after.clone()));
        }
        // Exactly the wanted servers differ by value.
        for difference in compare::differences(&value(&text), &value(&after)) {
            let parts = difference.path.parts();
            prop_assert_eq!(parts[0].as_str(), "mcp_servers");
            prop_assert!(parts.len() < 2 || servers.iter().any(|server| server.name == parts[1]));
        }
        for server in &servers {
            let there = value(&after);
            let there = there.get(&["mcp_servers", &server.name]).expect("it is there").clone();
            for (key, wanted) in &server.values {
                if key != "env" {
                    prop_assert_eq!(there.get(&[key]), Some(wanted));
                }
            }
        }
        // Twice is once.
        let again = lab.plan(&servers, on_collision);
        prop_assert!(again.is_empty() && again.collisions.is_empty(), "{:?}", again);
        // The inverse, with the record. A server that was there with equal values is not ours.
        let names: Vec<String> = servers
            .iter()
            .filter(|server| {
                let part = codexgate::plan::Part::Server(server.name.clone());
                plan.files.iter().flat_map(|file| &file.steps).any(|step| step.part == part)
            })
            .map(|server| server.name.clone())
            .collect();
        if !names.is_empty() {
            lab.uninstall(&names, Some(&lab.store));
        }
        prop_assert_eq!(lab.text(), text);
    }

    #[test]
    fn without_a_record_every_value_comes_back(
        text in text(),
        servers in prop::collection::vec(wanted(), 1..3),
    ) {
        prop_assume!(Document::parse(text.as_str()).is_ok());
        let servers: Vec<WantedServer> =
            unique(&servers).into_iter().filter(|server| server.name != "s0").collect();
        let lab = Lab::new(&text);
        let plan = lab.plan(&servers, OnCollision::Refuse);
        prop_assert!(plan.collisions.is_empty(), "{:?}", plan.collisions);
        lab.install(&plan);
        let names: Vec<String> = servers.iter().map(|server| server.name.clone()).collect();
        prop_assume!(!names.is_empty());
        let plan = lab.uninstall(&names, None);
        prop_assert!(plan.collisions.is_empty(), "{:?}", plan.collisions);
        let path = lab.site.dot_codex().join("config.toml");
        let left = std::fs::read_to_string(path).unwrap_or_default();
        prop_assert_eq!(value(&left), value(&text));
    }

    #[test]
    fn what_others_change_meanwhile_stays(
        text in text(),
        server in wanted(),
    ) {
        prop_assume!(Document::parse(text.as_str()).is_ok());
        let mut server = server;
        server.name = "demo".to_owned();
        let lab = Lab::new(&text);
        let plan = lab.plan(std::slice::from_ref(&server), OnCollision::Refuse);
        prop_assert!(plan.collisions.is_empty(), "{:?}", plan.collisions);
        lab.install(&plan);
        // Somebody adds a root key at the top and a table at the end.
        let other = |text: &str| {
            let (mark, body) = match text.strip_prefix('\u{feff}') {
                Some(body) => ("\u{feff}", body),
                None => ("", text),
            };
            format!("{mark}later = true\n{body}\n[later_table]\nx = 1\n")
        };
        let path = lab.site.dot_codex().join("config.toml");
        std::fs::write(&path, other(&lab.text())).expect("writable");
        let plan = lab.uninstall(&["demo".to_owned()], Some(&lab.store));
        prop_assert!(plan.collisions.is_empty(), "{:?}", plan.collisions);
        prop_assert_eq!(value(&lab.text()), value(&other(&text)));
    }
}
