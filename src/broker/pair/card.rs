//! What a person reads before answering: whole, or not at all.
//!
//! The first line says how many lines there are and the last one ends it, so a card that was cut
//! can be told. Calls come from what Codex announced (**C1**); a model's or server's own words
//! stand behind a mark. No character that hides or turns text around is left (**C2**), and nothing
//! that was written by one of them stands at the start of a line, where the names of fields are.

use super::calls::{FileChange, Tool};
use super::rules::{Rule, Rules};
use super::waiting::{Asked, CommandAsked, Pending};
use super::{answer, ask::ElicitationAsk, iso};
use crate::text::visible::is_hidden;
use serde_json::Value;
use unicode_width::UnicodeWidthChar as _;

/// The most lines of a card in a form: what clients show without cutting.
pub const FITS_LINES: usize = 20;
/// The most characters of a card in a form.
pub const FITS_CHARS: usize = 4000;
/// Columns of a line: a terminal of 80 with a frame.
const COLUMNS: usize = 76;
/// Where the text of a field begins.
const INDENT: usize = 9;

/// A card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    lines: Vec<String>,
    rules: Rules,
}

impl PartialEq for Rules {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Rules {}

impl Card {
    pub(super) fn of(pending: &Pending) -> Self {
        let mut card = Self {
            lines: Vec::new(),
            rules: pending.rules,
        };
        let what = card.body(pending);
        card.field("thread", &pending.thread);
        if let Some(path) = &pending.agent_path {
            card.field("agent", &format!("a subagent: {path}"));
        }
        card.field("digest", &pending.digest);
        card.field("until", &iso(pending.expires_utc()));
        let count = card.lines.len() + 2;
        card.lines
            .insert(0, format!("codexgate: {what} (a card of {count} lines)"));
        card.lines.push(format!("end of the card of {count} lines"));
        card
    }

    /// The lines.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// All lines.
    pub fn text(&self) -> String {
        self.lines.join("\n")
    }

    /// **C3**: whether a form shows it whole.
    pub fn fits(&self) -> bool {
        let chars: usize = self.lines.iter().map(|line| line.chars().count() + 1).sum();
        !self.rules.on(Rule::C3) || (self.lines.len() <= FITS_LINES && chars <= FITS_CHARS)
    }

    /// The text where it fits, else its beginning and what is missing (**C3**).
    pub(super) fn bounded(&self) -> String {
        if self.fits() {
            return self.text();
        }
        let (mut out, mut count) = (Vec::new(), 0);
        for line in &self.lines[..FITS_LINES.min(self.lines.len()) / 2] {
            count += line.chars().count();
            if count < FITS_CHARS {
                out.push(line.as_str());
            }
        }
        let shown = out.len();
        let all = self.lines.len();
        format!(
            "{}\n[{shown} of {all} lines: too long for a form. The rest is in this action; \
             answer by codex_check or in a terminal.]",
            out.join("\n")
        )
    }

    /// The fields of what is asked; returns the question.
    fn body(&mut self, pending: &Pending) -> &'static str {
        match &pending.asked {
            Asked::Command(asked) => self.command(asked),
            Asked::Change { ask, changes } => {
                for change in changes {
                    self.change(change);
                }
                if let Some(root) = &ask.grant_root {
                    self.field(
                        "grants",
                        &format!("writing anywhere below {root}, for the session"),
                    );
                }
                self.words("reason", "the agent's words", ask.reason.as_deref());
                "change these files?"
            }
            Asked::Tool { ask, tool } => self.tool(pending, ask, tool),
            Asked::Permissions(ask) => {
                self.field(
                    "asks for",
                    &Value::Object(ask.permissions.clone()).to_string(),
                );
                self.field("in", &ask.cwd);
                self.words("reason", "the agent's words", ask.reason.as_deref());
                "grant these permissions?"
            }
            Asked::Form { ask, during } => self.form(ask, during),
            Asked::Link { ask, url, link } => {
                self.field("server", &ask.server_name);
                self.words("says", "the server's words", ask.message.as_str());
                self.field("url", url);
                self.field("host", &link.host);
                for warning in &link.warnings {
                    self.field("beware", warning);
                }
                self.field("accept", "means: I have opened it. codexgate opens nothing");
                "a server wants a link to be opened"
            }
            Asked::Questions(ask) => {
                for question in &ask.questions {
                    let text = format!("{}: {}", question.id, question.question);
                    self.words("asks", "the agent's words", Some(&text));
                    for choice in question.options.iter().flatten() {
                        self.field("", &format!("- {}: {}", choice.label, choice.description));
                    }
                }
                "the agent asks"
            }
        }
    }

    fn command(&mut self, asked: &CommandAsked) -> &'static str {
        let ask = &asked.ask;
        let u5 = self.rules.on(Rule::U5);
        if asked.stdin {
            self.field("input", ask.command.as_deref().unwrap_or_default());
            self.field("to", &asked.call.command);
        } else {
            self.field("runs", &asked.call.command);
        }
        self.field("in", &asked.call.cwd);
        if let Some(context) = &ask.network_approval_context {
            self.field("network", &Value::Object(context.clone()).to_string());
        }
        if let Some(more) = &ask.additional_permissions {
            self.field("more", &Value::Object(more.clone()).to_string());
        }
        if let Some(rule) = ask
            .proposed_execpolicy_amendment
            .as_ref()
            .filter(|_| self.rules.on(Rule::U5))
        {
            let pattern = Value::from(rule.clone());
            self.field(
                "rule",
                &format!("prefix_rule(pattern={pattern}, decision=\"allow\")"),
            );
            let only = "only with acceptWithExecpolicyAmendment";
            let lasts = "for good, in all sessions of this user, outside the sandbox";
            self.field("", &format!("{only}: {lasts}"));
        }
        for host in ask
            .proposed_network_policy_amendments
            .iter()
            .flatten()
            .filter(|_| u5)
        {
            let only = "only with applyNetworkPolicyAmendment";
            let lasts = "for good, in all sessions of this user";
            let rule = format!("{} {}: {only}: {lasts}", host.action.word(), host.host);
            self.field("rule", &rule);
        }
        self.words("reason", "the agent's words", ask.reason.as_deref());
        if asked.stdin {
            "send this input to a running command?"
        } else {
            "run this command?"
        }
    }

    fn change(&mut self, change: &FileChange) {
        let kind = change
            .kind
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or("?");
        self.field(kind, &change.path);
        if let Some(target) = change.kind.get("move_path").and_then(Value::as_str) {
            self.field("moves to", target);
        }
        for line in change.diff.lines() {
            self.field("", line);
        }
    }

    fn tool(&mut self, pending: &Pending, ask: &ElicitationAsk, tool: &Tool) -> &'static str {
        let meta = |name: &str| ask.meta.get(name).cloned().unwrap_or_default();
        let (name, arguments) = if self.rules.on(Rule::C1) {
            (tool.tool.clone(), tool.arguments.to_string())
        } else {
            (
                meta("tool_name").as_str().unwrap_or_default().to_owned(),
                meta("tool_params_display").to_string(),
            )
        };
        self.field("server", &tool.server);
        if let Some(environment) = &tool.environment_id {
            self.field("place", environment);
        }
        self.field("tool", &name);
        self.field("args", &arguments);
        if self.rules.on(Rule::C1) {
            self.words(
                "says",
                "the server's words",
                meta("tool_description").as_str(),
            );
        }
        if tool.read_only_hint == Some(true) && self.rules.on(Rule::P8) {
            self.field("note", "Codex does not usually ask for this tool");
        }
        if self.rules.on(Rule::M2)
            && answer::persist(pending)
                .iter()
                .any(|word| word == "session")
        {
            self.field(
                "session",
                "approving for this session covers this tool with any arguments, in this thread",
            );
        }
        "run this tool?"
    }

    fn form(&mut self, ask: &ElicitationAsk, during: &[String]) -> &'static str {
        self.field("server", &ask.server_name);
        self.words("says", "the server's words", ask.message.as_str());
        if !self.rules.on(Rule::S1) {
            return "a server asks";
        }
        for call in during {
            self.field("during", call);
        }
        let schema = ask.requested_schema.as_ref();
        let required = schema
            .and_then(|s| s.get("required"))
            .and_then(Value::as_array);
        let fields = schema
            .and_then(|s| s.get("properties"))
            .and_then(Value::as_object);
        for (name, field) in fields.into_iter().flatten() {
            let must = required.is_some_and(|list| list.iter().any(|n| n == name));
            let must = if must { ", required" } else { "" };
            self.field("field", &format!("{name}{must}: {field}"));
        }
        "a server asks"
    }

    fn words(&mut self, name: &str, whose: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.field(name, &format!("({whose}) {text}"));
        }
    }

    /// A name and a text, wrapped and indented. A line feed shows and ends the line, so that what
    /// a shell takes for two lines is never read as one.
    fn field(&mut self, name: &str, text: &str) {
        let mut line = format!("{:<INDENT$}", c2_shown(self.rules, name));
        if line.chars().count() > INDENT {
            line.push(' ');
        }
        let mut width = INDENT;
        let next = |line: &mut String, lines: &mut Vec<String>| {
            lines.push(std::mem::take(line));
            line.extend(std::iter::repeat_n(' ', INDENT));
            INDENT
        };
        let limit = if self.rules.on(Rule::C3) {
            usize::MAX
        } else {
            200
        };
        let mut chars = text.chars().take(limit).peekable();
        while let Some(c) = chars.next() {
            if c.is_ascii_graphic() && width < COLUMNS {
                line.push(c);
                width += 1;
                continue;
            }
            let piece = c2_char(self.rules, c);
            let columns: usize = piece.chars().map(|c| c.width().unwrap_or(1).max(1)).sum();
            if width + columns > COLUMNS {
                width = next(&mut line, &mut self.lines);
            }
            line.push_str(&piece);
            width += columns;
            if c == '\n' && chars.peek().is_some() {
                width = next(&mut line, &mut self.lines);
            }
        }
        self.lines.push(line);
    }
}

/// **C2**: a text without what hides, turns around or looks like a space.
pub(super) fn c2_shown(rules: Rules, text: &str) -> String {
    text.chars().map(|c| c2_char(rules, c)).collect()
}

fn c2_char(rules: Rules, c: char) -> String {
    match c {
        _ if !rules.on(Rule::C2) => c.to_string(),
        '\n' => "\\n".into(),
        '\r' => "\\r".into(),
        '\t' => "\\t".into(),
        c if is_hidden(c) => format!("\\u{{{:x}}}", u32::from(c)),
        c => c.to_string(),
    }
}
