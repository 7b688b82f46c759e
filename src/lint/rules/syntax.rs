//! `syntax`: a text that does not parse, and what Codex makes of that.
//! Source: scenarios trust-trusted-broken-project, trust-unknown-broken-project, system-broken,
//! managed-broken, req-invalid-toml, hooks-json-comment, hooks-json-trailing-comma,
//! hooks-json-empty; Codex 0.134 to 0.171. Places and first words are those of Codex's parser.

use crate::document::{Span, SyntaxError};
use crate::lint::file::Content;
use crate::lint::{Check, Confidence, Findings, Home, Kind, Rule, Severity, Source, case};
use crate::plan::secret::looks_secret;

pub const RULE: Rule = Rule {
    id: "syntax",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 134),
    says: "this file does not parse",
    why: "One wrong character makes the whole file void. The user's and the system's files, and \
          those of a trusted project, stop Codex; those of a project that is not trusted, and any \
          `hooks.json`, are dropped as a whole: what they were to guard is not guarded.",
    bad: &[
        case("model = \"x\"\n[mcp_servers.a‹›\ncommand = \"a\"\n"),
        case("command = \"C:\\U‹›sers\\ann\\x.exe\"\n"),
        case("path = \"C:\\‹›dev\"\n"),
        case("model = ‹“x”›\n"),
        case("‹›{ \"mcpServers\": {} }\n").also(&["wrong-shape"]),
        case("a = 1\n‹a› = 2\n"),
        case("<<<<<<< ‹›HEAD\na = 1\n=======\na = 2\n>>>>>>> theirs\n"),
        case("‹›{{ if .work }}\na = 1\n{{ end }}\n"),
        case("sandbox_mode = ‹read-only›\n"),
        case("{\"hooks\": {‹,›}}\n").of(Kind::Hooks),
        case("‹›").of(Kind::Hooks),
    ],
    good: &[
        case(""),
        case("model = 'C:\\dev'\n"),
        case("model = \"C:\\\\dev\"\n"),
        case("analytics = {\n  enabled = true,\n}\n"),
        case("{\"hooks\": {}}\n").of(Kind::Hooks),
    ],
    check: Check::Source(check),
};

fn check(source: &Source, found: &mut Findings) {
    let Content::Broken(error) = &source.content else {
        return;
    };
    let finding = found.add(&RULE, error.span);
    let what = if source.subject.kind == Kind::Hooks {
        "JSON"
    } else {
        "TOML"
    };
    match explain(source, error) {
        Some(Explanation { says, help }) => {
            finding.says(says).label(error.message.clone()).help(help);
        }
        None => {
            finding.says(format!("this is not {what}: {}", error.message));
        }
    }
    finding.note(consequence(source));
}

/// What Codex does with a file that it cannot read as text of its kind.
pub(super) fn consequence(source: &Source) -> &'static str {
    match (source.subject.kind, source.subject.home) {
        (Kind::Hooks, _) => "Codex drops the whole file with a warning: no hook in it runs",
        (Kind::Rules, _) => {
            "Codex drops the custom rules of all files with a warning, and `codex exec` does not start"
        }
        (Kind::Requirements, Home::System) | (Kind::Managed, _) => {
            "Codex does not start for anyone on this machine"
        }
        (Kind::Requirements, _) => "Codex does not start where this is the system's file",
        (_, Home::System) => "Codex does not start for anyone on this machine",
        (_, Home::Project | Home::Nested) if !is_utf8(source) => {
            "Codex does not start here, whether or not the project is trusted"
        }
        (_, Home::Project | Home::Nested) => {
            "in a trusted project Codex does not start; in any other it silently drops the file"
        }
        (_, Home::User | Home::Loose) => "Codex does not start",
    }
}

fn is_utf8(source: &Source) -> bool {
    match &source.content {
        Content::NotText { bytes } => std::str::from_utf8(bytes).is_ok(),
        _ => true,
    }
}

struct Explanation {
    says: String,
    help: String,
}

/// What a person most likely did, where the parser's words do not tell.
fn explain(source: &Source, error: &SyntaxError) -> Option<Explanation> {
    let text = source.text();
    let at = error.span.start;
    let line = source
        .lines()
        .line(text, source.lines().locate(text, at).line);
    if source.subject.kind == Kind::Hooks {
        return None;
    }
    json(text, at)
        .or_else(|| conflict(text, line))
        .or_else(|| backslash(text, line, at))
        .or_else(|| typographic(text, line, at))
}

fn json(text: &str, at: usize) -> Option<Explanation> {
    let body = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    if body.starts_with("{{") || body.starts_with("{%") {
        return Some(Explanation {
            says: "this is a template, not TOML".to_owned(),
            help: "check the file that is made of it".to_owned(),
        });
    }
    // Only where the parser stopped at the very brace: later, TOML was there before.
    let first = text.len() - body.len();
    (body.starts_with('{') && at <= first + 1).then(|| Explanation {
        says: "this is JSON, and Codex reads TOML".to_owned(),
        help: "write `[mcp_servers.NAME]` with `command = \"…\"` and `args = […]` below it; \
               `codexgate install --from FILE` does that for servers"
            .to_owned(),
    })
}

fn conflict(text: &str, line: Span) -> Option<Explanation> {
    let line = &text[line.range()];
    ["<<<<<<< ", "=======", ">>>>>>> ", "||||||| "]
        .iter()
        .any(|mark| line.starts_with(mark))
        .then(|| Explanation {
            says: "an unresolved merge conflict".to_owned(),
            help: "keep one side and remove the lines `<<<<<<<`, `=======` and `>>>>>>>`"
                .to_owned(),
        })
}

/// Characters between a backslash and the place where the parser stops: `\U` and 8 digits.
const ESCAPE: usize = 10;

fn backslash(text: &str, line: Span, at: usize) -> Option<Explanation> {
    let before = &text[line.start..at.clamp(line.start, line.end)];
    let slash = line.start + before.rfind('\\')?;
    if at.saturating_sub(slash) > ESCAPE {
        return None;
    }
    // The string that it stands in: from the last quote before it that opens one.
    let open = line.start + opening_quote(&text[line.start..slash])?;
    let after = &text[slash..line.end];
    let close = after.find('"').map_or(line.end, |end| slash + end);
    let value = &text[open + 1..close];
    let escape: String = text[slash..].chars().take(2).collect();
    let help = if looks_secret(None, value) {
        "single quotes take it as it is".to_owned()
    } else if value.contains('\'') {
        format!("double them: \"{}\"", value.replace('\\', "\\\\"))
    } else {
        format!("single quotes take it as it is: '{value}'")
    };
    Some(Explanation {
        says: format!("a string in double quotes reads `{escape}` as an escape"),
        help,
    })
}

/// Where the double quote stands that is still open at the end of `text`.
fn opening_quote(text: &str) -> Option<usize> {
    let mut open = None;
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' if open.is_some() => open = None,
            b'"' => open = Some(at),
            b'\\' if open.is_some() => {
                bytes.next();
            }
            _ => {}
        }
    }
    open
}

/// Quotes that editors and web pages put in the place of plain ones.
const TYPOGRAPHIC: &[char] = &[
    '\u{201c}', '\u{201d}', '\u{201e}', '\u{2018}', '\u{2019}', '\u{201a}', '\u{ab}', '\u{bb}',
];

fn typographic(text: &str, line: Span, at: usize) -> Option<Explanation> {
    if !text.get(at..)?.starts_with(TYPOGRAPHIC) {
        return None;
    }
    let mut seen: Vec<char> = Vec::new();
    for c in text[at..line.end.max(at)].chars() {
        if TYPOGRAPHIC.contains(&c) && !seen.contains(&c) {
            seen.push(c);
        }
    }
    let names: Vec<String> = seen
        .iter()
        .map(|c| format!("{c} (U+{:04X})", u32::from(*c)))
        .collect();
    Some(Explanation {
        says: format!("typographic quotes: {}", names.join(", ")),
        help: "use the plain quote \" (U+0022), and turn off smart quotes in the editor".to_owned(),
    })
}
