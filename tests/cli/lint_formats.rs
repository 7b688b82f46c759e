//! `codexgate lint --format`: each format read by a reader of its own, and no secret in any.

use std::path::Path;

use codexgate::codex::Site;
use codexgate::codex::site::Environment;
use codexgate::codex::version::Version;
use codexgate::lint::choose::Choice;
use codexgate::lint::fix::Fixer;
use codexgate::lint::registry::RULES;
use codexgate::lint::{Grade, Home, Kind, Report, Severity, Source, Subject, baseline, run};
use codexgate::report::{diff, github, json, junit, sarif, text};
use proptest::prelude::*;

use crate::schema::assert_valid;
use crate::support::{Sandbox, snapshot};

/// A project with something for each format to get wrong: names with `%`, `,`, `<` and line feeds.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(
        "project/.codex/config.toml",
        "# ü\nsandbox_mode = \"danger-full-access\"\nmodel_x = 1\n\
         [mcp_servers.\"a,b%0A::error::<&>\\u0007\"]\ncommand = \"npx\"\nargs = [\"x-mcp\"]\n",
    );
    sandbox.write("project/a b/.codex/hooks.json", "\u{feff}{\"hooks\": {}}\n");
    sandbox.write("project/a b/.codex/config.toml", b"a = \"\xe9\"\n");
    sandbox
}

#[test]
fn each_format_looks_as_it_did() {
    let sandbox = sandbox();
    for format in ["github", "junit"] {
        let text = sandbox.run(["lint", "--format", format]);
        snapshot(&format!("lint/format_{format}"), &text);
    }
}

#[test]
fn sarif_is_valid_by_the_schema_of_the_standard() {
    let sandbox = sandbox();
    let text = sandbox.run(["lint", "--format", "sarif"]);
    let (line, rest) = text.split_once('\n').expect("a line");
    assert_eq!(rest, "--- exit 1\n");
    let value: serde_json::Value = serde_json::from_str(line).expect("it is JSON");
    let schema =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/schema/sarif-2.1.0.json");
    let schema = std::fs::read_to_string(schema).expect("the fixture is there");
    // The published schema has one pattern that no reader of regular expressions takes.
    let schema = schema.replace("[a-zA-Z]{2}]?$", "[a-zA-Z]{2}$");
    assert_valid(&serde_json::from_str(&schema).expect("it is JSON"), &value);
    let run = &value["runs"][0];
    assert_eq!(
        run["tool"]["driver"]["rules"].as_array().map(Vec::len),
        Some(RULES.len())
    );
    let results = run["results"].as_array().expect("a list");
    let open = results
        .iter()
        .find(|result| result["ruleId"] == "danger-full-access")
        .expect("it is found");
    let place = &open["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], ".codex/config.toml");
    assert_eq!(place["region"]["startLine"], 2);
    let change = &open["fixes"][0]["artifactChanges"][0]["replacements"][0];
    assert_eq!(change["insertedContent"]["text"], "\"workspace-write\"");
    let uri = "a%20b/.codex/hooks.json";
    assert!(line.contains(uri), "{line}");
}

#[test]
fn junit_is_read_by_a_reader_of_xml_and_counts_right() {
    let sandbox = sandbox();
    for (args, exit) in [
        (vec!["--fail-on", "error"], 1),
        (vec!["--select", "url-plaintext"], 0),
    ] {
        let text = sandbox.run([vec!["lint", "--format", "junit"], args].concat());
        let (xml, rest) = text.split_once("--- exit").expect("an exit code");
        assert_eq!(rest.trim(), exit.to_string());
        let document = roxmltree::Document::parse(xml).expect("it is XML");
        let root = document.root_element();
        let number = |node: roxmltree::Node, name: &str| -> usize {
            node.attribute(name)
                .and_then(|n| n.parse().ok())
                .expect("a number")
        };
        let named = |name: &'static str| {
            document
                .descendants()
                .filter(move |node| node.has_tag_name(name))
        };
        assert_eq!(number(root, "tests"), named("testcase").count());
        assert_eq!(number(root, "failures"), named("failure").count());
        assert_eq!(
            number(root, "tests"),
            named("testsuite")
                .map(|s| number(s, "tests"))
                .sum::<usize>()
        );
        assert_eq!(exit == 1, named("failure").next().is_some());
    }
}

#[test]
fn two_runs_are_the_same_over_many_files() {
    let sandbox = Sandbox::new();
    for n in 0..100 {
        let text = format!("sandbox_mode = \"danger-full-access\"\nmodel = {n} {n}\n");
        let text = if n % 3 == 0 {
            text
        } else {
            text.replace(&format!("{n} {n}"), "\"x\"")
        };
        sandbox.write(&format!("project/p{n}/.codex/config.toml"), text);
    }
    for format in ["text", "json", "sarif", "github", "junit"] {
        let first = sandbox.run(["lint", "--format", format]);
        for _ in 0..3 {
            assert_eq!(sandbox.run(["lint", "--format", format]), first);
        }
    }
}

fn site() -> Site {
    Site::discover(&Environment {
        directory: std::env::temp_dir(),
        ..Environment::default()
    })
    .expect("the folder is there")
}

fn judged(source: &Source, site: &Site) -> Report {
    run::judge_all(site, vec![source.clone()], Version::default())
}

/// All that is ever said about `source`.
fn everything(source: &Source) -> Vec<(&'static str, String)> {
    let site = site();
    let report = judged(source, &site);
    let mut said = vec![
        ("json", json::findings(&report)),
        ("sarif", sarif::findings(&report, &site)),
        ("github", github::findings(&report)),
        ("junit", junit::findings(&report, Severity::Info)),
        ("baseline", baseline::of(&report).0),
        ("summary", text::summary(&report)),
    ];
    for (source, finding) in report.findings() {
        said.push(("text", text::finding(source, finding).render()));
    }
    let fixer = Fixer {
        site: &site,
        choice: &Choice::default(),
        version: Version::default(),
        grade: Grade::Unsafe,
    };
    for fixed in fixer.mend(std::slice::from_ref(source)).files {
        let spans = |text: &str| -> Vec<_> {
            let source = Source::parse(fixed.subject.clone(), text.as_bytes().to_vec());
            source.secrets.iter().map(|secret| secret.span).collect()
        };
        let (before, after) = (spans(&fixed.before), spans(&fixed.after));
        let shown = diff::between("f", (&fixed.before, &before), (&fixed.after, &after));
        said.push(("diff", shown));
    }
    said
}

/// Texts with `SECRET` where a secret may stand.
const PLACES: &[(Kind, &str)] = &[
    (
        Kind::Config,
        "[mcp_servers.a]\ncommand = \"a\"\nenv = { API_TOKEN = \"SECRET\" }\n",
    ),
    (
        Kind::Config,
        "[mcp_servers.a]\ncommand = \"a\"\n[mcp_servers.a.env]\nTOKEN = 'SECRET'\n",
    ),
    (
        Kind::Config,
        "[mcp_servers.a]\ncommand = \"a\"\nargs = [\"--token=SECRET\", \"--token\", \"SECRET\"]\n",
    ),
    (
        Kind::Config,
        "[mcp_servers.a]\nurl = \"https://u:SECRET@example.com/?key=SECRET\"\n",
    ),
    (
        Kind::Config,
        "[mcp_servers.a]\nurl = \"http://example.com/\"\nheaders = { Authorization = \"Bearer SECRET\" }\n",
    ),
    (
        Kind::Config,
        "[mcp_servers.a]\nurl = \"http://example.com/\"\nbearer_token = \"SECRET\"\n",
    ),
    (
        Kind::Config,
        "[mcp_servers.a]\ncommand = \"npx x --token SECRET\"\n",
    ),
    (
        Kind::Config,
        "[mcp_servers.a]\nurl = \"https://example.com/\"\nbearer_token_env_var = \"SECRET\"\n",
    ),
    (
        Kind::Config,
        "mcpServers = { a = { command = \"a\", env = { TOKEN = \"SECRET\" } } }\n",
    ),
    (
        Kind::Config,
        "[[mcp_servers]]\nname = \"a\"\ncommand = \"a\"\nenv = { TOKEN = \"SECRET\" }\n",
    ),
    (
        Kind::Config,
        "notify = [\"curl\", \"-H\", \"Authorization: Bearer SECRET\"]\n",
    ),
    (
        Kind::Config,
        "[model_providers.a]\nbase_url = \"http://example.com/\"\nexperimental_bearer_token = \"SECRET\"\n",
    ),
    (
        Kind::Config,
        "[shell_environment_policy.set]\nAPI_KEY = \"SECRET\"\nPATH = \"/tmp\"\n",
    ),
    (
        Kind::Config,
        "sandbox_mode = \"danger-full-access\" # SECRET\n",
    ),
    (Kind::Config, "model = \"x\" SECRET\n"),
    (Kind::Config, "TOKEN = \"SECRET\n"),
    (
        Kind::Config,
        "{ \"mcpServers\": { \"a\": { \"env\": { \"TOKEN\": \"SECRET\" } } } }\n",
    ),
    (Kind::Config, "api_key = SECRET\n"),
    (
        Kind::Requirements,
        "[mcp_servers.a.identity]\nurl = \"https://x:SECRET@example.com\"\n",
    ),
    (
        Kind::Hooks,
        "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"curl -H 'Authorization: Bearer SECRET' x | sh\"}]}]}}\n",
    ),
    (Kind::Hooks, "{\"TOKEN\": \"SECRET\",}\n"),
    (
        Kind::Rules,
        "prefix_rule(pattern = [\"curl\", \"--token=SECRET\"], decision = \"allow\")\n",
    ),
    (
        Kind::Rules,
        "\u{feff}prefix_rule(pattern = [\"a\", \"SECRET\"]\n",
    ),
];

/// Pieces of this length are enough to find the rest.
const PIECE: usize = 8;

proptest! {
    // Each case judges every place; shrinking a text of random letters says nothing more.
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 0, failure_persistence: None, ..ProptestConfig::default() })]

    /// Known tokens: such a text counts as a secret wherever it stands.
    #[test]
    fn no_secret_is_in_any_output(body in "[A-Za-z0-9]{36}", crlf in any::<bool>()) {
        prop_assume!(body.bytes().any(|b| b.is_ascii_digit()) && body.bytes().any(|b| b.is_ascii_uppercase()));
        let secret = format!("ghp_{body}");
        for (kind, place) in PLACES {
            let mut text = place.replace("SECRET", &secret);
            if crlf {
                text = text.replace('\n', "\r\n");
            }
            let name = kind.name();
            let subject = Subject { path: name.into(), shown: name.to_owned(), kind: *kind, home: Home::User };
            let source = Source::parse(subject, text.into_bytes());
            for (format, said) in everything(&source) {
                let told = body.as_bytes().windows(PIECE).find(|piece| {
                    said.as_bytes().windows(PIECE).any(|window| window == *piece)
                });
                prop_assert!(told.is_none(), "{format} of {place}\n{said}");
            }
        }
    }
}
