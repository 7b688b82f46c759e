//! Holds the layers: a module of `src/lib.rs` uses what stands above it there, never what stands
//! below, and `mcp`, `broker` and `hook` never one another.
//!
//! It reads every file below `src/` as tokens, without comments and texts, and follows each path
//! that starts with `crate`, `self` or `super`, also inside braces, also in test code. What would
//! hide a path from it (`#[path]`, `include!`, another name for the crate) is refused.
//!
//! It also holds what else can be read off the sources: the size of the trust root and of
//! `main.rs`, a head in each module, no unsafe code. It does not know names that a macro builds.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The layers, from the left: each may use itself and what stands before it.
const ORDER: [&str; 13] = [
    "files", "text", "document", "rpc", "codex", "plan", "lint", "approval", "report", "mcp",
    "broker", "hook", "cli",
];

/// Three ways in, side by side: what two of them need belongs into a layer below.
const APART: [&str; 3] = ["mcp", "broker", "hook"];

/// What must be right for the gate to hold, small enough to be read in a day, with the most lines
/// of code that each may have: without tests, comments and blank lines, of which comments are a
/// fifth again. The aim was 3,000 in all. `files` has a commit of many files with its recovery;
/// `approval` has proposal, policy, card, grant, run and journal, each of which an attack has
/// shaped.
const TRUST_ROOT: [(&str, usize); 4] = [
    ("files", 1_850),
    ("rpc", 550),
    ("approval", 3_600),
    ("mcp", 800),
];

/// `main.rs` parses, runs and ends with a code; all else is the library's.
const MAIN_LINES: usize = 40;

#[test]
fn no_module_uses_one_to_its_right() {
    let wrong: Vec<String> = sources()
        .iter()
        .filter(|source| source.name != "src/main.rs")
        .flat_map(|source| violations(&source.name, &source.text))
        .collect();
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn lib_lists_the_modules_in_layer_order() {
    let lib = read("src/lib.rs");
    let tokens = tokens(&lib);
    let listed: Vec<&str> = tokens
        .windows(3)
        .filter(|w| w[0].text == "mod" && w[2].text == ";")
        .map(|w| w[1].text.as_str())
        .collect();
    let mut sorted = listed.clone();
    sorted.sort_by_key(|name| layer(name).expect("a module of lib.rs has its place in ORDER"));
    assert_eq!(listed, sorted);
    assert!(
        !tokens.iter().any(|t| t.text == "use"),
        "lib.rs gives no second name to anything"
    );
}

#[test]
fn main_stays_a_page() {
    let main = read("src/main.rs");
    let lines = main.lines().count();
    assert!(
        lines < MAIN_LINES,
        "src/main.rs has {lines} lines: move what is no wiring into the library"
    );
    assert!(
        !tokens(&main).iter().any(|t| t.text == "mod"),
        "modules belong to the library"
    );
}

#[test]
fn unsafe_code_is_forbidden() {
    let manifest = read("Cargo.toml");
    assert!(manifest.lines().any(|l| l == "unsafe_code = \"forbid\""));
}

#[test]
fn the_trust_root_stays_small() {
    let sources = sources();
    let in_tests: Vec<String> = sources.iter().flat_map(test_files).collect();
    for (name, allowed) in TRUST_ROOT {
        let lines: usize = sources
            .iter()
            .filter(|s| module(&s.name).first().is_some_and(|m| m == name))
            .filter(|s| !in_tests.contains(&s.name))
            .map(|s| lines_of_code(&s.text))
            .sum();
        assert!(
            lines <= allowed,
            "`{name}` has {lines} lines of code without tests, allowed are {allowed}"
        );
    }
}

#[test]
fn each_file_says_what_it_is_for() {
    let bare: Vec<String> = sources()
        .into_iter()
        .filter(|source| !source.text.starts_with("//! "))
        .map(|source| source.name)
        .collect();
    assert!(bare.is_empty(), "without a `//!` head: {bare:?}");
}

/// One file below `src/`, by its name from the root of the repository.
struct Source {
    name: String,
    text: String,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn sources() -> Vec<Source> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).expect("src can be listed") {
            let entry = entry.expect("src can be listed");
            let path = folder.join(entry.file_name());
            if entry.file_type().expect("has a type").is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let name = path.to_str().expect("names are UTF-8").replace('\\', "/");
                let text = read(&name);
                found.push(Source { name, text });
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(found.len() > 3, "found the sources");
    found
}

/// The module that a file holds: `src/plan/mod.rs` is `[plan]`, `src/plan/parts/rule.rs` is
/// `[plan, parts, rule]`, `src/lib.rs` is the crate itself.
fn module(file: &str) -> Vec<String> {
    let inner = file.trim_start_matches("src/").trim_end_matches(".rs");
    let mut parts: Vec<String> = inner.split('/').map(str::to_owned).collect();
    if parts
        .last()
        .is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str()))
    {
        parts.pop();
    }
    parts
}

fn layer(name: &str) -> Option<usize> {
    ORDER.iter().position(|m| *m == name)
}

/// What the text of one file uses against the layers, each as `file:line: what`.
fn violations(file: &str, text: &str) -> Vec<String> {
    let own = module(file);
    let mut wrong = Vec::new();
    let mut say = |line: usize, what: String| wrong.push(format!("{file}:{line}: {what}"));
    let tokens = tokens(text);
    let is = |i: usize, text: &str| tokens.get(i).is_some_and(|t| t.text == text);

    // The inline modules around the present token, each with the depth of its braces.
    let mut inline: Vec<(String, usize)> = Vec::new();
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate() {
        match token.text.as_str() {
            "{" => {
                depth += 1;
                if i >= 2 && is(i - 2, "mod") {
                    inline.push((tokens[i - 1].text.clone(), depth));
                }
            }
            "}" => {
                if inline.last().is_some_and(|(_, d)| *d == depth) {
                    inline.pop();
                }
                depth = depth.saturating_sub(1);
            }
            "path" if i >= 2 && is(i - 2, "#") && is(i - 1, "[") && is(i + 1, "=") => {
                say(token.line, "`#[path]` hides a module from this test".into());
            }
            "include" if is(i + 1, "!") => {
                say(token.line, "`include!` hides code from this test".into());
            }
            "crate" | "self" if is(i + 1, "as") && i > 0 => {
                let before = tokens[i - 1].text.as_str();
                if before == "use" || before == "crate" || token.text == "crate" {
                    say(token.line, "gives the crate another name".into());
                }
            }
            // Inside a group of `use`, what stands before the braces was followed already.
            "crate" | "self" | "super" if is(i + 1, "::") && !continues(&tokens, i) => {
                let mut here = own.clone();
                here.extend(inline.iter().map(|(name, _)| name.clone()));
                let mut paths = Vec::new();
                follow(&tokens, i, &[], &mut paths);
                for (line, path) in paths {
                    if let Some(what) = judge(&own, &here, &path) {
                        say(line, what);
                    }
                }
            }
            _ => {}
        }
    }
    wrong
}

/// Whether the path at `i` goes on with one that began earlier: after `::`, or as a member of a
/// group in braces that stands behind `::`.
fn continues(tokens: &[Token], i: usize) -> bool {
    let mut open = 0_usize;
    for at in (0..i).rev() {
        match tokens[at].text.as_str() {
            "::" if open == 0 && at + 1 == i => return true,
            ";" => return false,
            "}" => open += 1,
            "{" if open > 0 => open -= 1,
            "{" => return at > 0 && tokens[at - 1].text == "::",
            _ => {}
        }
    }
    false
}

/// Collects the whole paths that start at `i` after `before`, groups taken apart; returns the
/// token behind them.
fn follow(
    tokens: &[Token],
    mut i: usize,
    before: &[String],
    found: &mut Vec<(usize, Vec<String>)>,
) -> usize {
    let mut path = before.to_vec();
    let mut line = tokens[i].line;
    while let Some(token) = tokens.get(i) {
        if token.text == "{" {
            i += 1;
            while tokens.get(i).is_some_and(|t| t.text != "}") {
                i = if tokens[i].text == "," {
                    i + 1
                } else {
                    follow(tokens, i, &path, found)
                };
            }
            return i + 1;
        }
        if token.text != "*" && !token.is_name() {
            break;
        }
        line = token.line;
        path.push(token.text.clone());
        i += 1;
        if tokens.get(i).is_none_or(|t| t.text != "::") {
            break;
        }
        i += 1;
    }
    found.push((line, path));
    // `as name` belongs to this member; anything else is not ours to read.
    if tokens.get(i).is_some_and(|t| t.text == "as") {
        i += 2;
    } else if !before.is_empty() {
        while tokens
            .get(i)
            .is_some_and(|t| t.text != "," && t.text != "}")
        {
            i += 1;
        }
    }
    i
}

/// What is wrong with `path`, used by the module `own` at the place `here`, if anything is.
fn judge(own: &[String], here: &[String], path: &[String]) -> Option<String> {
    let written = path.join("::");
    let mut whole: Vec<String> = Vec::new();
    for (n, part) in path.iter().enumerate() {
        match part.as_str() {
            "crate" => whole.clear(),
            "self" if n == 0 => whole = here.to_vec(),
            "self" => {}
            "super" => {
                if n == 0 {
                    whole = here.to_vec();
                }
                whole.pop()?;
            }
            name => whole.push(name.to_owned()),
        }
    }
    let Some(used) = whole.first().filter(|name| *name != "*") else {
        return Some(format!("`{written}` takes the whole crate"));
    };
    // The crate itself holds modules alone.
    let Some(right) = layer(used) else {
        return Some(format!("`{written}` names no module of src/lib.rs"));
    };
    let own = own.first()?;
    let Some(left) = layer(own) else {
        return Some(format!("`{own}` has no place in ORDER"));
    };
    if right > left {
        return Some(format!(
            "`{own}` uses `{written}`, which stands to its right"
        ));
    }
    if own != used && APART.contains(&own.as_str()) && APART.contains(&used.as_str()) {
        return Some(format!("`{own}` uses `{written}`, which stands beside it"));
    }
    None
}

/// The files that a source names as `#[cfg(test)] mod name;`.
fn test_files(source: &Source) -> Vec<String> {
    let folder = format!("src/{}", module(&source.name).join("/"));
    test_items(&tokens(&source.text))
        .into_iter()
        .filter_map(|item| match item {
            [m, name, end] if m.text == "mod" && end.text == ";" => Some(name.text.clone()),
            _ => None,
        })
        .flat_map(|name| {
            [
                format!("{folder}/{name}.rs"),
                format!("{folder}/{name}/mod.rs"),
            ]
        })
        .collect()
}

/// How many lines hold code, but that of tests.
fn lines_of_code(text: &str) -> usize {
    let tokens = tokens(text);
    let tests: Vec<(usize, usize)> = test_items(&tokens)
        .into_iter()
        .filter_map(|item| Some((item.first()?.line, item.last()?.line)))
        .collect();
    let in_tests = |line| tests.iter().any(|(from, to)| (*from..=*to).contains(&line));
    let lines: BTreeSet<usize> = tokens.iter().map(|token| token.line).collect();
    lines.into_iter().filter(|line| !in_tests(*line)).count()
}

/// The items behind `#[cfg(test)]`, each without its attributes and, where it has no body, with
/// its semicolon.
fn test_items(tokens: &[Token]) -> Vec<&[Token]> {
    const CFG_TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut items = Vec::new();
    let mut i = 0;
    while i + CFG_TEST.len() < tokens.len() {
        let found = tokens[i..]
            .iter()
            .zip(CFG_TEST)
            .all(|(t, want)| t.text == want);
        if !found {
            i += 1;
            continue;
        }
        i += CFG_TEST.len();
        while tokens.get(i).is_some_and(|t| t.text == "#") {
            i = past(tokens, i, "[", "]");
        }
        let body = (i..tokens.len()).find(|n| ["{", ";"].contains(&tokens[*n].text.as_str()));
        let end = match body {
            Some(n) if tokens[n].text == ";" => n + 1,
            _ => past(tokens, i, "{", "}"),
        };
        items.push(&tokens[i..end]);
        i = end;
    }
    items
}

/// The index behind the bracket that closes the next one opened at or after `i`.
fn past(tokens: &[Token], i: usize, open: &str, close: &str) -> usize {
    let mut depth = 0_usize;
    for (n, token) in tokens.iter().enumerate().skip(i) {
        if token.text == open {
            depth += 1;
        } else if token.text == close {
            depth -= 1;
            if depth == 0 {
                return n + 1;
            }
        }
    }
    tokens.len()
}

/// A name, `::`, or any other single character; counted from line 1.
struct Token {
    text: String,
    line: usize,
}

impl Token {
    fn is_name(&self) -> bool {
        self.text
            .starts_with(|c: char| c.is_alphabetic() || c == '_')
    }
}

/// The tokens of a Rust text, without comments, texts and character literals.
fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let mut tokens = Vec::new();
    let mut line = 1;
    let mut i = 0;
    while i < chars.len() {
        let from = i;
        match chars[i] {
            '/' if at(i + 1) == '/' => {
                while i < chars.len() && at(i) != '\n' {
                    i += 1;
                }
            }
            '/' if at(i + 1) == '*' => i = past_comment(&chars, i),
            '"' => i = past_text(&chars, i),
            '\'' => i = past_quote(&chars, i),
            c if c.is_alphabetic() || c == '_' => {
                while at(i).is_alphanumeric() || at(i) == '_' {
                    i += 1;
                }
                let name: String = chars[from..i].iter().collect();
                let raw = name.ends_with('r') && name.len() <= 2;
                let hashes = chars[i..].iter().take_while(|c| **c == '#').count();
                if raw && at(i + hashes) == '"' {
                    i = past_raw_text(&chars, i + hashes, hashes);
                } else if name == "r" && hashes == 1 {
                    i += 1; // `r#name` is the name alone
                } else {
                    tokens.push(Token { text: name, line });
                }
            }
            ':' if at(i + 1) == ':' => {
                tokens.push(Token {
                    text: "::".into(),
                    line,
                });
                i += 2;
            }
            c if c.is_whitespace() => i += 1,
            c => {
                tokens.push(Token {
                    text: c.into(),
                    line,
                });
                i += 1;
            }
        }
        line += chars[from..i].iter().filter(|c| **c == '\n').count();
    }
    tokens
}

/// Comments in Rust nest.
fn past_comment(chars: &[char], mut i: usize) -> usize {
    let mut depth = 0_usize;
    while i + 1 < chars.len() {
        match (chars[i], chars[i + 1]) {
            ('/', '*') => depth += 1,
            ('*', '/') => depth -= 1,
            _ => {
                i += 1;
                continue;
            }
        }
        i += 2;
        if depth == 0 {
            return i;
        }
    }
    chars.len()
}

fn past_text(chars: &[char], mut i: usize) -> usize {
    i += 1;
    while i < chars.len() && chars[i] != '"' {
        i += if chars[i] == '\\' { 2 } else { 1 };
    }
    (i + 1).min(chars.len())
}

fn past_raw_text(chars: &[char], mut i: usize, hashes: usize) -> usize {
    i += 1;
    while i < chars.len() {
        let closed = chars[i] == '"' && chars[i + 1..].iter().take(hashes).all(|c| *c == '#');
        i += 1;
        if closed {
            return (i + hashes).min(chars.len());
        }
    }
    i
}

/// Behind a character literal; behind the quote alone where it starts a lifetime.
fn past_quote(chars: &[char], i: usize) -> usize {
    match (chars.get(i + 1), chars.get(i + 2)) {
        (Some('\\'), _) => {
            let end = (i + 3..chars.len()).find(|n| chars[*n] == '\'');
            end.map_or(chars.len(), |n| n + 1)
        }
        (Some(_), Some('\'')) => i + 3,
        _ => i + 1,
    }
}

#[test]
fn the_checker_sees_a_use_to_the_right_in_every_spelling() {
    for text in [
        "use crate::plan::Plan;",
        "use crate::plan;",
        "use crate::plan as later;",
        "pub(crate) use crate::{files::read, plan::{Plan, Edit}};",
        "use crate::{text, {files, plan}};",
        "use crate::{\n    files::{self, lock},\n    text::visible as v,\n    plan,\n};",
        "fn f() { crate::plan::install(1) }",
        "fn f() -> Vec<crate::plan::Edit> { vec![] }",
        "use super::super::plan;",
        "use super::{parse, super::plan::Plan};",
        "use self::super::super::plan::Plan;",
        "mod inner { use super::super::super::plan; }",
        "mod inner { mod most { fn f() { super::super::super::super::plan::g() } } }",
        "#[cfg(test)] mod tests { use crate::plan::Plan; }",
        "macro_rules! m { () => { $crate::plan::f() } }",
        "use crate::r#plan::Plan;",
        "use crate /* here */ :: // and\n plan;",
        "const C: char = '\"'; use crate::plan; const D: char = '\"';",
        "fn f<'a>(x: &'a str) -> &'a str { crate::plan::f(x) }",
    ] {
        let wrong = violations("src/document/edit.rs", text);
        let right = |w: &String| w.contains("plan") && w.contains("to its right");
        assert!(!wrong.is_empty(), "{text}");
        assert!(wrong.iter().all(right), "{text}\n{wrong:?}");
    }
}

#[test]
fn the_checker_refuses_what_would_hide_a_use() {
    for text in [
        "use crate as all;",
        "use crate::{self as all};",
        "use crate::*;",
        "use super::super::*;",
        "extern crate self as all;",
        "#[path = \"../plan/mod.rs\"] mod other;",
        "include!(\"../plan/mod.rs\");",
        "use crate::unheard_of::Thing;",
    ] {
        let wrong = violations("src/document/edit.rs", text);
        assert_eq!(wrong.len(), 1, "{text}\n{wrong:?}");
    }
}

#[test]
fn the_checker_is_silent_about_uses_to_the_left() {
    for text in [
        "use crate::document::{Document, span::Span};",
        "use crate::{files, text::visible};",
        "use super::parse::Statement;",
        "use super::{KeyPath, Span};",
        "use super::super::files;",
        "mod tests { use super::*; use super::super::parse; }",
        "// use crate::plan;\n/* crate::plan /* crate::lint */ crate::plan */",
        "/// See [`crate::plan::Plan`].\nfn f(self) { self.plan() }",
        "const T: &str = \"use crate::plan;\"; const R: &str = r#\"\"crate::plan\"\"#;",
        "const B: &[u8] = b\"crate::plan\"; const E: &str = \"\\\"crate::plan\";",
        "pub(crate) fn f() {} pub(in crate::document) fn g() {}",
        "use std::path::{self, Path}; use plan_of_mine::plan;",
        "const S: &str = include_str!(\"../plan/mod.rs\");",
    ] {
        let wrong = violations("src/document/edit.rs", text);
        assert!(wrong.is_empty(), "{text}\n{wrong:?}");
    }
}

#[test]
fn the_ways_in_stay_apart() {
    let wrong = violations(
        "src/broker/tools.rs",
        "use crate::mcp::server;\nuse crate::report;",
    );
    assert_eq!(
        wrong,
        ["src/broker/tools.rs:1: `broker` uses `crate::mcp::server`, which stands beside it"]
    );
}

#[test]
fn test_code_does_not_count_as_lines() {
    let text = "//! Head.\n\nfn f() {\n}\n\n#[cfg(test)]\nmod tests {\n    fn g() {}\n\n    fn h() {}\n}\n";
    // The function's two lines, and the attribute.
    assert_eq!(lines_of_code(text), 3);
    let text = "//! Head.\n\nuse x::y; // why\n/* no\n code */\nfn f() {\n    g(\n        \"text\",\n    );\n}\n";
    assert_eq!(lines_of_code(text), 6);
    let source = Source {
        name: "src/files/commit.rs".into(),
        text: "#[cfg(test)]\n#[allow(x)]\nmod kills;\nmod real;".into(),
    };
    assert_eq!(
        test_files(&source),
        ["src/files/commit/kills.rs", "src/files/commit/kills/mod.rs"]
    );
}
