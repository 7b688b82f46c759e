//! Promise 3 on other people's real configurations: install, then uninstall, is byte-identical
//! or refused with a reason, and every old value is the same in between.
//!
//! The files are read where `CODEXGATE_CORPUS` points and nothing of them is kept: a failure names
//! the file, never its text.

use std::path::PathBuf;

use codexgate::codex::Site;
use codexgate::codex::site::Environment;
use codexgate::document::{Document, KeyPath, compare};
use codexgate::files::RealDisk;
use codexgate::plan::record::Store;
use codexgate::plan::{Outcome, Scope, WantedServer, install, uninstall, write};

/// The corpus's configuration files; none where there is no corpus.
fn corpus() -> Vec<PathBuf> {
    let Some(folder) = std::env::var_os("CODEXGATE_CORPUS") else {
        assert!(
            std::env::var_os("CI").is_none_or(|value| value.is_empty()),
            "CODEXGATE_CORPUS is not set, and in CI the corpus must be there"
        );
        #[allow(clippy::print_stderr)]
        {
            eprintln!("skipped: CODEXGATE_CORPUS is not set");
        }
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("CODEXGATE_CORPUS is a folder")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "CODEXGATE_CORPUS holds configurations");
    files
}

#[test]
fn real_configurations_come_back_byte_for_byte() {
    let server = WantedServer {
        name: "codexgate-corpus-demo".to_owned(),
        values: [
            ("command".to_owned(), "demo-server".into()),
            ("args".to_owned(), vec!["--flag"].into()),
        ]
        .into_iter()
        .collect(),
    };
    let path = KeyPath::new(["mcp_servers", &server.name]);
    let (mut done, mut refused) = (0, 0);
    for file in corpus() {
        let name = file
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let bytes = std::fs::read(&file).expect("readable");
        let top = tempfile::tempdir_in("/var/tmp").expect("a folder");
        let (home, state) = (top.path().join("home"), top.path().join("state"));
        for folder in [&home, &state] {
            std::fs::create_dir(folder).expect("a folder");
        }
        std::fs::create_dir(top.path().join("project")).expect("a folder");
        let config = home.join("config.toml");
        std::fs::write(&config, &bytes).expect("a file");
        let site = Site::discover(&Environment {
            directory: top.path().join("project"),
            codex_home_flag: Some(home),
            system_root: Some(top.path().join("root")),
            ..Environment::default()
        })
        .expect("it is there");
        let request = install::Request {
            scopes: vec![Scope::User],
            servers: vec![server.clone()],
            ..install::Request::default()
        };
        let plan = match install::plan(&site, &request) {
            Ok((plan, _)) => plan,
            Err(error) => {
                let text = String::from_utf8(bytes.clone());
                assert!(
                    text.is_err() || text.is_ok_and(|text| Document::parse(text).is_err()),
                    "{name} is TOML and was refused: {error}"
                );
                refused += 1;
                continue;
            }
        };
        assert!(
            plan.collisions.is_empty(),
            "{name}: {:?}",
            plan.collisions[0].kind
        );
        let store = Store::new(&state);
        let records = write::records(&plan, &store).expect("records");
        write::commit(&plan, &records, &state, &mut RealDisk).expect(&name);
        let after = std::fs::read_to_string(&config).expect("readable");
        assert_eq!(
            plan.files[0].outcome,
            Outcome::Text(after.clone()),
            "{name}"
        );
        let value = |text: &str| {
            Document::parse(text)
                .map(|d| d.root().value())
                .expect(&name)
        };
        let before = value(std::str::from_utf8(&bytes).expect("it parsed"));
        for difference in compare::differences(&before, &value(&after)) {
            let ours = difference.path.starts_with(&path) || path.starts_with(&difference.path);
            assert!(
                ours && difference.old.is_none(),
                "{name}: another value changed"
            );
        }
        for with_record in [true, false] {
            if !with_record {
                std::fs::write(&config, &after).expect("writable");
            }
            let request = uninstall::Request {
                scopes: vec![Scope::User],
                servers: vec![server.name.clone()],
                ..uninstall::Request::default()
            };
            let (plan, records) =
                uninstall::plan(&site, &request, with_record.then_some(&store)).expect(&name);
            write::commit(&plan, &records, &state, &mut RealDisk).expect(&name);
            let back = std::fs::read(&config).unwrap_or_default();
            assert!(
                back == bytes,
                "{name}: not byte-identical, with a record: {with_record}"
            );
        }
        done += 1;
    }
    #[allow(clippy::print_stderr)]
    {
        eprintln!("corpus: {done} files there and back, {refused} refused since they are no TOML");
    }
}
