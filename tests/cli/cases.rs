//! Inputs that broke other tools, from `tests/fixtures/cases/`: each `case.json` says why.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use crate::support::Sandbox;

const CONFIG: &str = "home/.codex/config.toml";

/// A case laid out in a sandbox.
struct Case {
    sandbox: Sandbox,
    folder: PathBuf,
}

impl Case {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/fixtures/cases")
            .join(name);
        let case = Self {
            sandbox: Sandbox::with_state(),
            folder,
        };
        let text = std::fs::read(case.folder.join("case.json")).expect("the case is there");
        let json: serde_json::Value = serde_json::from_slice(&text).expect("it is JSON");
        let files = json["files"].as_object().expect("it names its files");
        for (file, target) in files {
            let target = target.as_str().expect("a place");
            let target = target.split_whitespace().next().unwrap_or_default();
            let target = match target.split_once('/') {
                Some(("$CODEX_HOME", rest)) => format!("home/.codex/{rest}"),
                Some(("$PROJECT", rest)) => format!("project/{rest}"),
                Some(("$HOME", rest)) => format!("home/{rest}"),
                // An argument: it lies in the working folder.
                _ => format!("project/{file}"),
            };
            let bytes = std::fs::read(case.folder.join(file)).expect("the file is there");
            case.sandbox.write(&target, bytes);
        }
        case
    }

    fn install(&self, args: &[&str]) -> String {
        let all = ["install", "--scope", "user", "--yes"];
        self.sandbox.run(all.iter().chain(args))
    }

    fn uninstall(&self) -> String {
        self.sandbox
            .run(["uninstall", "--scope", "user", "--yes", "--server", "demo"])
    }

    fn config(&self) -> String {
        self.sandbox.read(CONFIG)
    }

    fn values(&self) -> codexgate::document::Value {
        let text = self.config();
        codexgate::document::Document::parse(text.clone())
            .unwrap_or_else(|error| panic!("{error}: {text}"))
            .root()
            .value()
    }

    /// Installs `demo`, and checks that taking it out gives every byte back.
    fn there_and_back(&self) -> String {
        let before = self.config();
        let said = self.install(&["--server", "demo", "--", "demo-server", "--stdio"]);
        assert!(said.ends_with("--- exit 0\n"), "{said}");
        let after = self.config();
        assert_eq!(
            self.values().get(&["mcp_servers", "demo", "command"]),
            Some(&"demo-server".into())
        );
        let said = self.uninstall();
        assert!(said.ends_with("--- exit 0\n"), "{said}");
        assert_eq!(self.config(), before);
        after
    }

    /// Checks that a run is refused with `exit` and touches nothing.
    fn is_refused(&self, args: &[&str], exit: &str, says: &[&str]) {
        let before = self.sandbox.census();
        let said = self.install(args);
        assert!(said.ends_with(&format!("--- exit {exit}\n")), "{said}");
        for words in says {
            assert!(said.contains(words), "`{words}` is not in:\n{said}");
        }
        assert_eq!(self.sandbox.census(), before);
    }
}

#[test]
fn one_server_is_added_and_all_others_keep_their_bytes() {
    let case = Case::new("comments-and-unknown-keys");
    let before = case.config();
    let after = case.there_and_back();
    let block = "\n[mcp_servers.demo]\ncommand = \"demo-server\"\nargs = [\"--stdio\"]\n";
    assert_eq!(after, format!("{before}{block}"));
}

#[test]
fn a_bare_and_a_quoted_name_are_one_server() {
    let case = Case::new("bare-name-is-quoted-name");
    let before = case.sandbox.census();
    let said = case.install(&["--server", "maker-kit", "--", "maker-kit", "mcp"]);
    assert!(said.contains("nothing changed"), "{said}");
    assert!(said.ends_with("--- exit 0\n"), "{said}");
    assert_eq!(case.sandbox.census(), before);
}

#[test]
fn a_map_is_equal_as_sub_table_and_inline() {
    let case = Case::new("headers-as-subtable");
    let before = case.sandbox.census();
    let said = case.install(&["--from", "servers.toml"]);
    assert!(said.contains("nothing changed"), "{said}");
    assert_eq!(case.sandbox.census(), before);
}

#[test]
fn names_that_are_taken_stop_the_free_ones_too() {
    Case::new("names-taken-by-the-user").is_refused(
        &["--from", "registry.toml"],
        "1",
        &[
            "server `tickets`: `mcp_servers.tickets.command` is there with another value",
            "config.toml:2:11",
            "here `\"tickets-mcp\"`, wanted `\"npx\"`",
            "server `search` is there with another transport",
            "config.toml:6:7",
        ],
    );
}

#[test]
fn a_bare_header_is_not_repeated() {
    let after = Case::new("existing-mcp-servers-header").there_and_back();
    assert_eq!(after.matches("[mcp_servers]").count(), 1);
    assert!(after.contains("[mcp_servers]\n# one table per server below\n\n[mcp_servers.files]"));
}

#[test]
fn inline_tables_are_extended_in_place() {
    let after = Case::new("inline-server-map").there_and_back();
    assert!(after.contains(
        "mcp_servers = { docs = { command = \"docs-mcp\", args = [ \"--stdio\" ] }, demo = { \
         command = \"demo-server\", args = [ \"--stdio\" ] } }   # one line on purpose\n"
    ));
    let after = Case::new("dotted-inside-inline").there_and_back();
    assert!(after.starts_with(
        "mcp_servers = { docs.command = \"docs-mcp\", docs.args = [\"--stdio\"], demo = {"
    ));
}

#[test]
fn dotted_lines_get_dotted_lines() {
    let after = Case::new("dotted-at-root").there_and_back();
    assert_eq!(
        after,
        "mcp_servers.docs.command = \"docs-mcp\"\nmcp_servers.docs.args = [\"--stdio\"]\n\
         mcp_servers.demo.command = \"demo-server\"\nmcp_servers.demo.args = [\"--stdio\"]\n\
         sandbox_mode = \"read-only\"\napproval_policy = \"on-request\"\n"
    );
}

#[test]
fn a_file_without_a_last_line_end_gets_none() {
    let after = Case::new("no-final-newline").there_and_back();
    assert!(after.contains("trust_level = \"trusted\"\n"));
    assert!(!after.ends_with('\n'));
}

#[test]
fn a_byte_order_mark_stays_first_and_alone() {
    let after = Case::new("byte-order-mark").there_and_back();
    assert!(after.starts_with('\u{feff}'));
    assert_eq!(after.matches('\u{feff}').count(), 1);
}

#[test]
fn windows_line_ends_stay_and_new_lines_have_them() {
    let after = Case::new("crlf").there_and_back();
    assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
}

#[test]
fn files_that_do_not_parse_are_left_alone() {
    let demo = ["--server", "demo", "--", "demo-server"];
    Case::new("file-already-broken").is_refused(&demo, "1", &["config.toml:2:", "expected `]`"]);
    Case::new("json-in-toml").is_refused(&demo, "1", &["config.toml:1:1"]);
    Case::new("nul-filled").is_refused(&demo, "1", &["4146", "NUL", "restore a copy"]);
}

#[test]
fn backslashes_mean_themselves() {
    let case = Case::new("windows-path-wanted");
    let command = r"C:\Users\ann\AppData\Roaming\npm\lens.cmd";
    let argument = r"--root=C:\new\tables";
    let said = case.install(&["--server", "lens", "--", command, argument]);
    assert!(said.ends_with("--- exit 0\n"), "{said}");
    let values = case.values();
    let lens = values.get(&["mcp_servers", "lens"]).expect("it is there");
    assert_eq!(lens.get(&["command"]), Some(&command.into()));
    assert_eq!(lens.get(&["args", "0"]), Some(&argument.into()));
}

#[test]
fn a_link_into_dotfiles_stays_a_link() {
    let case = Case::new("symlinked-dotfile");
    let link = case.sandbox.path(CONFIG);
    symlink("../dotfiles/codex.toml", &link).expect("a link");
    let target = case.sandbox.path("home/dotfiles/codex.toml");
    std::fs::set_permissions(&target, std::fs::Permissions::from_mode(0o600)).expect("mode");
    case.there_and_back();
    let said = case.install(&["--server", "demo", "--", "demo-server"]);
    assert!(said.ends_with("--- exit 0\n"), "{said}");
    assert_eq!(
        std::fs::read_link(&link).expect("still a link"),
        Path::new("../dotfiles/codex.toml")
    );
    let mode = target.metadata().expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    for folder in ["home/.codex", "home/dotfiles"] {
        let count = std::fs::read_dir(case.sandbox.path(folder))
            .expect("a folder")
            .count();
        assert_eq!(count, 1, "no temporary file is left in {folder}");
    }
}

#[test]
fn a_private_file_stays_private() {
    let case = Case::new("private-mode");
    let file = case.sandbox.path(CONFIG);
    let mode = || file.metadata().expect("there").permissions().mode() & 0o777;
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("mode");
    case.there_and_back();
    assert_eq!(mode(), 0o600);
    std::fs::remove_file(&file).expect("it goes");
    let said = case.install(&["--server", "demo", "--", "demo-server"]);
    assert!(said.ends_with("--- exit 0\n"), "{said}");
    assert_eq!(mode(), 0o600, "a file of our own making");
}

#[test]
fn a_file_that_cannot_be_read_is_not_an_empty_file() {
    let case = Case::new("unreadable-is-not-absent");
    let file = case.sandbox.path(CONFIG);
    if rustix::process::geteuid().is_root() {
        // Modes do not bind root: a folder in the file's place does.
        std::fs::remove_file(&file).expect("it goes");
        std::fs::create_dir(&file).expect("a folder");
    } else {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o000)).expect("mode");
    }
    let said = case.install(&["--server", "demo", "--", "demo-server"]);
    assert!(said.ends_with("--- exit 2\n"), "{said}");
    assert!(said.contains("config.toml"), "{said}");
}

#[test]
fn later_approvals_go_with_their_server() {
    let case = Case::new("uninstall-with-later-approvals");
    let said = case.uninstall();
    assert!(said.ends_with("--- exit 0\n"), "{said}");
    assert!(said.contains("-approval_mode = \"approve\""), "{said}");
    assert_eq!(
        case.config(),
        "[mcp_servers.files]\ncommand = \"files-mcp\" # mine\n"
    );
}

#[test]
fn a_name_that_cannot_start_is_refused_before_anything_is_read() {
    let case = Case::new("server-name-with-space");
    std::fs::remove_file(case.sandbox.path(CONFIG)).expect("it goes");
    std::fs::create_dir(case.sandbox.path(CONFIG)).expect("unreadable, were it read");
    case.is_refused(
        &["--server", "Postgres RO", "--", "pg-mcp"],
        "2",
        &["server `Postgres RO`", "letters, digits"],
    );
}

#[test]
fn hooks_in_two_places_are_left_as_they_are() {
    let case = Case::new("hooks-in-two-places");
    let hooks = case.sandbox.read("home/.codex/hooks.json");
    case.there_and_back();
    assert_eq!(case.sandbox.read("home/.codex/hooks.json"), hooks);
}
#[test]
fn a_clash_with_another_layer_is_a_collision() {
    let case = Case::new("other-layer-has-the-url");
    let project = case.sandbox.path("project").display().to_string();
    let user = case.sandbox.read(CONFIG).replace("$PROJECT", &project);
    case.sandbox.write(CONFIG, user);
    std::fs::remove_file(case.sandbox.path("project/.codex/config.toml")).expect("it goes");
    let before = case.sandbox.census();
    let said = case
        .sandbox
        .run(["install", "--yes", "--server", "wiki", "--", "wiki-local"]);
    assert!(said.ends_with("--- exit 1\n"), "{said}");
    assert!(said.contains("home/.codex/config.toml:2"), "{said}");
    assert_eq!(case.sandbox.census(), before);
}
