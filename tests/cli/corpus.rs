//! Real configurations, where the machine has them: `$CODEXGATE_CORPUS`. They are no part of the
//! project, and nothing of them is printed but names.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use codexgate::codex::Site;
use codexgate::codex::version::Version;
use codexgate::lint::{Home, Kind, Source, Subject, run};

use crate::support::{Sandbox, bare_command};

fn corpus() -> Option<PathBuf> {
    std::env::var_os("CODEXGATE_CORPUS").map(PathBuf::from)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the corpus is there")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    files
}

#[test]
fn lint_judges_every_real_file() {
    let Some(corpus) = corpus() else {
        // It says so, since a test that saw nothing proves nothing.
        println!("no $CODEXGATE_CORPUS: nothing was read");
        return;
    };
    let sandbox = Sandbox::new();
    for (folder, name) in [
        ("", "config.toml"),
        ("requirements", "requirements.toml"),
        ("hooks", "hooks.json"),
        ("rules", "rules/default.rules"),
    ] {
        let mut seen = 0;
        for file in files(&corpus.join(folder)) {
            if file.extension().is_some_and(|suffix| suffix == "tsv") {
                continue;
            }
            let number = file
                .file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned();
            let content = std::fs::read(&file).expect("it is there");
            sandbox.write(&format!("project/{folder}{number}/.codex/{name}"), content);
            seen += 1;
        }
        assert!(seen > 0, "{folder}: the corpus has such files");
    }
    for format in ["text", "json"] {
        let mut command = bare_command();
        command.current_dir(sandbox.path("project"));
        let output = command
            .args(["lint", "--format", format])
            .output()
            .expect("it runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{stderr}");
        assert!(stderr.is_empty(), "{stderr}");
    }
}

/// The files that Codex 0.171.0 refused. A table beside the corpus has the name, `ok` or `err`, and
/// its words.
fn refused(corpus: &Path) -> Vec<String> {
    let table = std::fs::read_to_string(corpus.join("codex_0171.tsv")).expect("the table");
    table
        .lines()
        .filter_map(|line| {
            let mut fields = line.split('\t');
            let (name, verdict) = (fields.next()?, fields.next()?);
            (verdict == "err").then(|| name.to_owned())
        })
        .collect()
}

#[test]
fn every_real_file_that_codex_refuses_has_an_error() {
    let Some(corpus) = corpus() else {
        println!("no $CODEXGATE_CORPUS: nothing was read");
        return;
    };
    let refused = refused(&corpus);
    assert!(refused.len() > 10, "the table names them");
    let mut passed = Vec::new();
    for name in refused {
        let sandbox = Sandbox::new();
        let content = std::fs::read(corpus.join(&name)).expect("the corpus has it");
        let place = match name.split('/').next() {
            Some("requirements") => "root/etc/codex/requirements.toml",
            Some("hooks") => "home/.codex/hooks.json",
            _ => "home/.codex/config.toml",
        };
        sandbox.write(place, content);
        let path = sandbox.path(place);
        let args = ["lint", "--format", "json", "--system-root", "../root"];
        let output = sandbox
            .command()
            .args(args)
            .arg(&path)
            .output()
            .expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout);
        if !text.contains("\"severity\":\"error\"") {
            passed.push(name);
        }
    }
    assert!(
        passed.is_empty(),
        "Codex refuses, and lint has no error: {passed:?}"
    );
}

/// Folders that need not be there: each file is judged as if it lay in one of them, alone.
fn nowhere() -> Site {
    let project = PathBuf::from("/nowhere/project");
    Site {
        cwd: project.clone(),
        git_root: Some(project.clone()),
        project,
        home: Some(PathBuf::from("/nowhere/home")),
        codex_home: Some(PathBuf::from("/nowhere/home/.codex")),
        system: PathBuf::from("/nowhere/etc/codex"),
        host: String::new(),
    }
}

/// `file severity rule line` of each finding in a real file, as a user's or the system's. No word of
/// the file is in it. What only the disk tells is not looked at.
fn findings(corpus: &Path, name: &str, site: &Site) -> String {
    let (kind, home, path) = match name.split_once('/').map(|(folder, _)| folder) {
        Some("requirements") => (
            Kind::Requirements,
            Home::System,
            site.system.join("requirements.toml"),
        ),
        Some("hooks") => (Kind::Hooks, Home::User, dot_codex(site).join("hooks.json")),
        Some("rules") => (
            Kind::Rules,
            Home::User,
            dot_codex(site).join("rules/default.rules"),
        ),
        _ => (
            Kind::Config,
            Home::User,
            dot_codex(site).join("config.toml"),
        ),
    };
    let subject = Subject {
        path,
        shown: name.to_owned(),
        kind,
        home,
    };
    let bytes = std::fs::read(corpus.join(name)).expect("the corpus has it");
    let source = Source::parse(subject, bytes);
    let report = run::judge_all(site, vec![source], Version::default());
    let mut out = String::new();
    for (source, finding) in report.findings() {
        let line = source
            .lines()
            .locate(source.text(), finding.span().start)
            .line;
        let (severity, rule) = (finding.severity.name(), finding.rule.id);
        writeln!(out, "{name}\t{severity}\t{rule}\t{line}").expect("a string");
    }
    out
}

fn dot_codex(site: &Site) -> &Path {
    site.codex_home.as_deref().expect("it is set")
}

#[test]
fn the_findings_in_real_files_are_those_that_were_reviewed() {
    let Some(corpus) = corpus() else {
        println!("no $CODEXGATE_CORPUS: nothing was read");
        return;
    };
    let site = nowhere();
    let mut table = String::from("file\tseverity\trule\tline\n");
    for folder in ["", "hooks", "requirements", "rules"] {
        for file in files(&corpus.join(folder)) {
            if file
                .extension()
                .is_some_and(|suffix| suffix == "tsv" || suffix == "md")
            {
                continue;
            }
            let name = file.strip_prefix(&corpus).expect("below it");
            table += &findings(&corpus, &name.to_string_lossy(), &site);
        }
    }
    let reviewed = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/corpus.tsv");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&reviewed, &table).expect("a file");
    }
    let wanted = std::fs::read_to_string(&reviewed).expect("the table is there");
    let differences: Vec<String> = [("-", &wanted, &table), ("+", &table, &wanted)]
        .iter()
        .flat_map(|(sign, of, without)| {
            of.lines()
                .filter(|line| !without.lines().any(|other| other == *line))
                .map(move |line| format!("{sign} {line}"))
        })
        .collect();
    assert!(
        wanted == table,
        "look at each, then `UPDATE=1` writes the table:\n{}",
        differences.join("\n")
    );
}
