//! `encoding`: bytes that Codex cannot read as text.
//! Source: scenarios shape-latin1, shape-nul, shape-utf16, shape-bom, shape-bom-project,
//! hooks-json-bom, rules-bom, req-latin1, req-bom; Codex 0.134 to 0.171.

use super::syntax::consequence;
use crate::document::{Edit, Span};
use crate::lint::file::Content;
use crate::lint::finding::Mark;
use crate::lint::{
    Check, Confidence, Findings, Grade, Home, Kind, Rule, Severity, Source, bytes, case,
};

pub const RULE: Rule = Rule {
    id: "encoding",
    severity: Severity::Error,
    confidence: Confidence::High,
    since: (0, 134),
    says: "this file is not UTF-8 text",
    why: "Codex reads UTF-8 alone. Other bytes in `config.toml` stop it, in a project that nobody \
          trusts, too. A byte order mark is fine in TOML, but Codex drops `hooks.json` and every \
          rules file over one.",
    bad: &[
        bytes(b"model = \"caf\xe9\"\n", Some((12, 13))),
        bytes(b"\0\0\0\0\0\0\0\0", None),
        bytes(b"a = 1\n\0\0\0\0", Some((6, 7))),
        bytes(b"\xff\xfea\0=\x001\0", None),
        bytes(b"a\0 \0=\0 \x001\0\n\0", None),
        case("‹\u{feff}›{\"hooks\": {}}\n")
            .of(Kind::Hooks)
            .fixed("{\"hooks\": {}}\n"),
        case("‹\u{feff}›prefix_rule(pattern = [\"ls\"], decision = \"prompt\")\n")
            .of(Kind::Rules)
            .fixed("prefix_rule(pattern = [\"ls\"], decision = \"prompt\")\n"),
    ],
    good: &[
        case("model = \"café\"\n"),
        case("\u{feff}model = \"x\"\n"),
        case("\u{feff}allowed_sandbox_modes = [\"read-only\"]\nallowed_approval_policies = [\"on-request\"]\n")
            .of(Kind::Requirements)
            .in_home(Home::System),
        case("{\"hooks\": {}}\n").of(Kind::Hooks),
    ],
    check: Check::Source(check),
};

const BOM: char = '\u{feff}';

fn check(source: &Source, found: &mut Findings) {
    if let Content::NotText { bytes } = &source.content {
        not_text(source, bytes, found);
        return;
    }
    let chokes = matches!(source.subject.kind, Kind::Hooks | Kind::Rules);
    if chokes && source.text().starts_with(BOM) {
        let mark = Span::new(0, BOM.len_utf8());
        found
            .add(&RULE, mark)
            .says("this file starts with a byte order mark")
            .note(consequence(source))
            .help("save it as UTF-8 without the mark")
            .fix(Grade::Safe, [Edit::remove(mark)]);
    }
}

fn not_text(source: &Source, bytes: &[u8], found: &mut Findings) {
    let size = bytes.len();
    let finding = if bytes.iter().all(|byte| *byte == 0) {
        let finding = found.add(&RULE, Mark::File);
        finding
            .says(format!("this file consists of {size} NUL bytes"))
            .note("its content is gone: this is what a crash or a full disk leaves behind")
            .help("restore a copy, or remove the file");
        finding
    } else if is_utf16(bytes) {
        let finding = found.add(&RULE, Mark::File);
        finding
            .says("this file is UTF-16")
            .help("save it as UTF-8: in PowerShell, `Set-Content -Encoding utf8`");
        finding
    } else {
        let (at, what) = if let Err(error) = std::str::from_utf8(bytes) {
            let at = error.valid_up_to();
            let byte = bytes.get(at).copied().unwrap_or_default();
            (at, format!("byte 0x{byte:02X} is not UTF-8"))
        } else {
            let at = bytes.iter().position(|byte| *byte == 0).unwrap_or_default();
            (at, "NUL byte in a text".to_owned())
        };
        // The text up to there is as it was, so the place is right in the replaced text, too.
        let width = source.text()[at..].chars().next().map_or(0, char::len_utf8);
        let finding = found.add(&RULE, Span::new(at, at + width));
        finding
            .says(what)
            .label(format!("byte {at} of {size}"))
            .help("save it as UTF-8");
        finding
    };
    finding.note(consequence(source));
}

/// Whether the bytes are UTF-16: a mark, or a NUL in every other byte of the first ones.
fn is_utf16(bytes: &[u8]) -> bool {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return true;
    }
    let head = &bytes[..bytes.len().min(256) & !1];
    let nul = |offset: usize| {
        head.iter()
            .skip(offset)
            .step_by(2)
            .filter(|b| **b == 0)
            .count()
    };
    let (even, odd) = (nul(0), nul(1));
    let pairs = head.len() / 2;
    pairs >= 2 && (even == 0 || odd == 0) && even.max(odd) * 4 >= pairs * 3
}
