//! How long `codexgate lint` takes for one file and for a tree of 2,000, beside others.
//!
//! Each run is a process of its own, so its start counts; files are in the system's cache. Beside
//! it, on the same files in the same minutes: a minimal program that walks, reads and parses (this
//! one, called with `--floor`), and agnix and taplo where they are installed below target/bench
//! (`just bench` does that). Programs take turns, so that a busy moment meets all of them; the
//! median of the runs counts. Then how codexgate's own time grows with a file and with a tree.

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Files of the tree.
const FILES: u32 = 2_000;
/// Files of one folder's subfolders.
const PER_FOLDER: u32 = 50;
/// Runs of each program on one file, and on the tree.
const RUNS: (usize, usize) = (40, 12);
/// Runs for each step of growth.
const GROWTH_RUNS: usize = 5;

fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, path] = args.as_slice()
        && flag == "--floor"
    {
        return floor(Path::new(path));
    }
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/bench");
    // Not below target/: what git ignores, agnix passes over.
    let folder = tempfile::tempdir()?;
    let tree = folder.path().join("tree");
    grow(&tree, FILES)?;
    let file = tree.join("p0/s0/.codex/config.toml");
    let mut out = std::io::stdout().lock();
    for (title, path, files, runs) in [
        ("one file", &file, 1, RUNS.0),
        ("2,000 files", &tree, FILES, RUNS.1),
    ] {
        let programs = programs(&top, path);
        let times = measure(&programs, runs)?;
        writeln!(out, "{title}")?;
        let base = times[0].as_secs_f64();
        for ((name, _), time) in programs.iter().zip(&times) {
            let each = time.as_secs_f64() * 1e6 / f64::from(files);
            let ratio = time.as_secs_f64() / base;
            writeln!(
                out,
                "  {name:28} {:9.2} ms  {each:9.1} µs a file  {ratio:6.2} times codexgate",
                time.as_secs_f64() * 1e3
            )?;
        }
    }
    growth(&mut out, folder.path())
}

/// How the time grows with the size of one file, and with the number of files: the last column
/// stays as it is where no step is quadratic.
fn growth(out: &mut impl Write, folder: &Path) -> std::io::Result<()> {
    writeln!(out, "one file of growing size")?;
    for servers in [100, 1_000, 10_000] {
        let file = folder.join("grown/.codex/config.toml");
        fs::create_dir_all(folder.join("grown/.codex"))?;
        let mut text = String::new();
        for n in 0..servers {
            let _ = write!(
                text,
                "[mcp_servers.s{n}]\ncommand = \"npx\"\nargs = [\"-y\", \"s{n}-mcp\"]\n\
                 env = {{ LOG = \"warn\" }}\nsandbox_mode = \"read-only\"\n\n"
            );
        }
        fs::write(&file, &text)?;
        let time = own(&file)?;
        let kib = u32::try_from(text.len() / 1024).unwrap_or(u32::MAX);
        let each = time.as_secs_f64() * 1e6 / f64::from(kib);
        writeln!(
            out,
            "  {:6} KiB {:9.2} ms  {each:7.1} µs a KiB",
            kib,
            time.as_secs_f64() * 1e3
        )?;
    }
    writeln!(out, "a tree of growing count")?;
    for files in [500_u32, 2_000, 8_000] {
        let tree = folder.join(format!("tree-{files}"));
        grow(&tree, files)?;
        let time = own(&tree)?;
        writeln!(
            out,
            "  {files:6} files {:9.2} ms  {:7.1} µs a file",
            time.as_secs_f64() * 1e3,
            time.as_secs_f64() * 1e6 / f64::from(files)
        )?;
    }
    Ok(())
}

/// The median time of `codexgate lint` alone.
fn own(path: &Path) -> std::io::Result<Duration> {
    let times = measure(&programs(Path::new(""), path)[..1], GROWTH_RUNS)?;
    Ok(times[0])
}

/// Walks, reads and parses, and does nothing with it.
fn floor(path: &Path) -> std::io::Result<()> {
    let mut waiting = vec![path.to_path_buf()];
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            for entry in fs::read_dir(&path)? {
                let entry = entry?;
                if entry.file_type()?.is_dir() || entry.file_name() == "config.toml" {
                    waiting.push(entry.path());
                }
            }
        } else {
            let text = fs::read_to_string(&path)?;
            black_box(toml_edit::Document::parse(text.as_str()).is_ok());
        }
    }
    Ok(())
}

/// The name and command line of each program that is there; codexgate first.
fn programs(top: &Path, path: &Path) -> Vec<(&'static str, Vec<PathBuf>)> {
    let own = std::env::current_exe().unwrap_or_default();
    let mut programs = vec![
        (
            "codexgate lint",
            vec![
                env!("CARGO_BIN_EXE_codexgate").into(),
                "lint".into(),
                path.into(),
            ],
        ),
        (
            "minimal: walk, read, parse",
            vec![own, "--floor".into(), path.into()],
        ),
    ];
    let agnix = top.join("venv/bin/agnix");
    if agnix.exists() {
        programs.push(("agnix", vec![agnix, path.into()]));
    }
    let taplo = top.join("node_modules/.bin/taplo");
    if taplo.exists() {
        let files = if path.is_dir() {
            path.join("**/config.toml")
        } else {
            path.to_path_buf()
        };
        programs.push(("taplo lint (npm)", vec![taplo, "lint".into(), files]));
    }
    programs
}

/// The median time of each program.
fn measure(programs: &[(&str, Vec<PathBuf>)], runs: usize) -> std::io::Result<Vec<Duration>> {
    let mut times = vec![Vec::with_capacity(runs); programs.len()];
    // The first round only fills caches.
    for round in 0..=runs {
        for ((_, line), times) in programs.iter().zip(&mut times) {
            let start = Instant::now();
            Command::new(&line[0])
                .args(&line[1..])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()?;
            if round > 0 {
                times.push(start.elapsed());
            }
        }
    }
    Ok(times
        .into_iter()
        .map(|mut times| {
            times.sort_unstable();
            times[times.len() / 2]
        })
        .collect())
}

/// A tree of projects, each with a `.codex/config.toml` as people write them.
fn grow(tree: &Path, files: u32) -> std::io::Result<()> {
    for n in 0..files {
        let folder = format!("p{}/s{}/.codex", n / PER_FOLDER, n % PER_FOLDER);
        let folder = tree.join(folder);
        fs::create_dir_all(&folder)?;
        let text = format!(
            "# project {n}\nmodel = \"gpt-5\"\nmodel_reasoning_effort = \"high\"\n\
             approval_policy = \"on-request\"\nsandbox_mode = \"workspace-write\"\n\n\
             [sandbox_workspace_write]\nnetwork_access = false\nwritable_roots = [\"/srv/p{n}\"]\n\n\
             [mcp_servers.docs]\ncommand = \"docs-mcp\"\nargs = [\"--stdio\", \"--root\", \"docs\"]\n\
             env = {{ LOG = \"warn\", DOCS_ROOT = \"/srv/docs\" }}\nstartup_timeout_sec = 20\n\n\
             [mcp_servers.search]\nurl = \"https://search.example/mcp\"\n\
             bearer_token_env_var = \"SEARCH_TOKEN\"\nenabled_tools = [\"find\", \"read\"]\n\n\
             [tui]\nnotifications = true\n"
        );
        fs::write(folder.join("config.toml"), text)?;
    }
    Ok(())
}
