//! How long `codexgate mcp` takes from its start to its answer to `tools/list`, and how much memory
//! it then has.
//!
//! Codex starts it with each session and waits for that answer. Each run is a process of its own
//! that gets all its lines at once. Beside it, in turns: `codexgate completions bash`, a start with
//! next to nothing behind it, and `cat`, the floor of starting a process and reading its answer.
//! The median of the runs counts, the most memory of any.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Runs of each program.
const RUNS: usize = 60;

/// What an answer may take, and how much may be resident: the targets.
const TARGET: (Duration, u64) = (Duration::from_millis(5), 6 * 1024);

/// What Codex sends first.
const LINES: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","#,
    r#""capabilities":{"elicitation":{"form":{}}},"clientInfo":{"name":"bench","version":"1"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
    "\n",
);

fn main() -> std::io::Result<()> {
    let own = env!("CARGO_BIN_EXE_codexgate");
    let programs: [(&str, &[&str], &str); 3] = [
        ("codexgate mcp", &[own, "mcp"], "codexgate_approve"),
        ("codexgate completions", &[own, "completions", "bash"], ""),
        ("cat", &["cat"], "tools/list"),
    ];
    let mut times = vec![Vec::new(); programs.len()];
    let mut most = vec![0; programs.len()];
    for _ in 0..RUNS {
        for (at, (_, words, answer)) in programs.iter().enumerate() {
            let (time, resident) = run(words, answer)?;
            times[at].push(time);
            most[at] = most[at].max(resident);
        }
    }
    let mut out = std::io::stdout().lock();
    for (at, (name, _, _)) in programs.iter().enumerate() {
        times[at].sort();
        let time = times[at][RUNS / 2].as_secs_f64() * 1e3;
        let memory = match most[at] {
            0 => String::new(),
            kib => format!("{kib:6} KiB resident at most"),
        };
        writeln!(out, "  {name:24} {time:6.2} ms  {memory}")?;
    }
    let held = times[0][RUNS / 2] <= TARGET.0 && most[0] < TARGET.1;
    let said = if held { "held" } else { "missed" };
    writeln!(out, "  the target of 5 ms and 6 MiB is {said}")
}

/// Starts a program and reads until a line has `answer`: how long that took, and the most that was
/// resident until then, in KiB, where the system tells.
fn run(words: &[&str], answer: &str) -> std::io::Result<(Duration, u64)> {
    let start = Instant::now();
    let mut child = Command::new(words[0])
        .args(&words[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut input = child.stdin.take().expect("it was piped");
    // A program that reads nothing has ended by now.
    let _ = input.write_all(LINES.as_bytes());
    let mut output = BufReader::new(child.stdout.take().expect("it was piped"));
    let mut line = String::new();
    while output.read_line(&mut line)? > 0 && !line.contains(answer) {
        line.clear();
    }
    let time = start.elapsed();
    assert!(line.contains(answer), "{words:?} did not answer");
    let resident = resident(&child);
    drop((input, output));
    child.wait()?;
    Ok((time, resident))
}

fn resident(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
    let status = status.unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let digits = line.and_then(|line| line.split_whitespace().next());
    digits.and_then(|text| text.parse().ok()).unwrap_or(0)
}
