//! What Codex prints when it does not start, as data.

use serde_json::{Value, json};

/// Lines that tell about the machine and not about the configuration.
pub const NOISE: [&str; 8] = [
    "bubblewrap",
    "could not create PATH aliases",
    "could not update PATH",
    "Model metadata for",
    "failed to refresh",
    "startup remote plugin",
    "Under-development features",
    "under-development features",
];

/// `{message, path, line, col}` of what Codex printed.
pub fn error_from(text: &str) -> Value {
    let text = clean(text);
    let mut found = json!({"message": text, "path": null, "line": null, "col": null});
    if let Some((path, line, col)) = position(&text) {
        found["path"] = json!(path);
        found["line"] = json!(line);
        found["col"] = json!(col);
    } else if let Some(path) = file_name(&text) {
        found["path"] = json!(path);
    }
    found
}

/// `text` without colours, backtraces, times and noise.
pub fn clean(text: &str) -> String {
    let text = without_colours(text).replace('\r', "\n");
    let mut kept: Vec<&str> = Vec::new();
    let mut in_backtrace = false;
    for line in text.lines() {
        if line.starts_with("Stack backtrace:") {
            in_backtrace = true;
            continue;
        }
        if in_backtrace && line.starts_with(|c: char| !c.is_whitespace()) {
            in_backtrace = false;
        }
        if in_backtrace || is_noise(line) {
            continue;
        }
        kept.push(without_time(line).trim_end());
    }
    kept.join("\n").trim().to_owned()
}

fn is_noise(line: &str) -> bool {
    let bare = line.trim();
    NOISE.iter().any(|word| line.contains(word))
        || matches!(
            bare,
            "" | "Reading prompt from stdin..." | "Reading additional input from stdin..."
        )
        || bare.strip_suffix(": <unknown>").is_some_and(is_number)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn without_colours(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("\x1b[") {
        let after = rest[start + 2..].trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        if let Some(after) = after.strip_prefix('m') {
            kept.push_str(&rest[..start]);
            rest = after;
        } else {
            kept.push_str(&rest[..start + 2]);
            rest = &rest[start + 2..];
        }
    }
    kept + rest
}

/// Takes away `2026-01-01T00:00:00Z ERROR module::path: `.
fn without_time(line: &str) -> &str {
    let message = || {
        let (time, rest) = line.split_once(char::is_whitespace)?;
        let rest = rest.trim_start();
        let level = rest.strip_prefix("ERROR").or(rest.strip_prefix("WARN"))?;
        let module = level.trim_start();
        let rest = module.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
        let well_formed = time.len() > 1
            && time.ends_with('Z')
            && rest.len() < module.len()
            && module.len() < level.len();
        well_formed.then_some(rest.trim_start())
    };
    message().unwrap_or(line)
}

/// The first `/path:LINE:COLUMN: `.
fn position(text: &str) -> Option<(&str, u64, u64)> {
    text.char_indices()
        .filter(|(_, c)| matches!(c, '/' | '@'))
        .find_map(|(start, _)| {
            let rest = &text[start..];
            let (path, rest) = rest.split_once(|c: char| c == ':' || c.is_whitespace())?;
            if !text[start + path.len()..].starts_with(':') {
                return None;
            }
            let (line, rest) = rest.split_once(':')?;
            let (col, rest) = rest.split_once(':')?;
            let numbers = is_number(line) && is_number(col) && rest.starts_with(' ');
            numbers.then_some((path, line.parse().ok()?, col.parse().ok()?))
        })
}

/// The first path of a file that Codex reads.
fn file_name(text: &str) -> Option<&str> {
    text.char_indices()
        .filter(|(_, c)| matches!(c, '/' | '@'))
        .find_map(|(start, _)| {
            let rest = &text[start..];
            let in_name = |c: char| c.is_alphanumeric() || "_@./-".contains(c);
            let run = &rest[..rest.find(|c| !in_name(c)).unwrap_or(rest.len())];
            [".toml", ".rules", ".json"]
                .iter()
                .filter_map(|ending| {
                    run.rfind(ending)
                        .filter(|at| *at > 1)
                        .map(|at| at + ending.len())
                })
                .max()
                .map(|end| &run[..end])
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_out_of_a_line() {
        let error = error_from(
            "\x1b[31m2026-01-01T00:00:00.1Z ERROR codex_core::config: \x1b[0m/a b /x/c.toml:3:14: bad\n",
        );
        assert_eq!(error["path"], "/x/c.toml");
        assert_eq!(
            (error["line"].as_u64(), error["col"].as_u64()),
            (Some(3), Some(14))
        );
        assert_eq!(error["message"], "/a b /x/c.toml:3:14: bad");
    }

    #[test]
    fn a_file_is_found_without_a_position() {
        assert_eq!(
            error_from("in `/etc/codex/requirements.toml`: no")["path"],
            "/etc/codex/requirements.toml"
        );
        assert_eq!(error_from("nothing")["path"], Value::Null);
    }

    #[test]
    fn backtraces_and_noise_go() {
        let text = "first\nStack backtrace:\n   0: <unknown>\n   1: x\nlast\n  2: <unknown>\nno bubblewrap here\n";
        assert_eq!(clean(text), "first\nlast");
    }
}
