//! A policy for people: each value, then the line that decided it and what it overrode.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::{View, hidden, leaves_of, surface_word, why};
use crate::codex::effective::{
    By, Decided, Hook, HookTrust, Merged, Overridden, Policy, Reach, Sandbox, Server,
};
use crate::codex::hooks_file::HandlerKind;
use crate::codex::layer::Place;
use crate::codex::requirements::Reviewer;
use crate::codex::server::Transport;
use crate::codex::version;
use crate::document::{KeyPath, Value};
use crate::report::ui::style;
use crate::text::visible;

/// Characters of a value that a line shows; more would hide the place beside it.
const SHOWN: usize = 60;

impl View<'_> {
    /// All of it for people, with escape sequences of colours. `key` leaves one value.
    pub fn text(&self, key: Option<&KeyPath>) -> String {
        let mut out = Text {
            cwd: self.effective.cwd.clone(),
            home: self.effective.home.clone(),
            shown: String::new(),
        };
        if let Some(key) = key {
            self.one(&mut out, key);
            return out.shown;
        }
        self.head(&mut out);
        match &self.effective.starts {
            Ok(policy) => self.policy(&mut out, policy),
            Err(error) => {
                out.heading("starts");
                out.line(1, &format!("no: {}", error.message));
                if let Some(place) = error.place.as_deref() {
                    let at = out.at(place);
                    out.line(2, &at);
                } else if let Some(key) = &error.key {
                    out.line(2, &format!("`{key}`, in the merged result"));
                }
            }
        }
        self.limits(&mut out);
        self.dropped(&mut out);
        out.heading("verdict");
        for judgement in self.verdict() {
            let mark = if judgement.holds { "  " } else { "! " };
            out.line(0, &format!("{mark}{}", judgement.says));
            if let Some(place) = &judgement.change {
                let at = out.at(place);
                out.line(2, &format!("change {at}"));
            }
        }
        out.shown
    }

    fn head(&self, out: &mut Text) {
        let effective = self.effective;
        let newest = if effective.version.is_unknown() {
            format!(
                ", which is newer than this program knows: taken as {}",
                version::NEWEST
            )
        } else {
            String::new()
        };
        out.heading(&format!(
            "Codex {} in {}, as {}{newest}",
            effective.version,
            effective.cwd.display(),
            surface_word(self.surface),
        ));
        let trust = &effective.trust;
        let says = match (trust.level, trust.automatic) {
            (_, true) => {
                "nobody said so; starting a thread marks the folder as trusted by itself".to_owned()
            }
            (level, false) => level.word().to_owned(),
        };
        out.pair(0, "trust", &says);
        if let Some(place) = &trust.place {
            let at = out.at(place);
            out.line(2, &at);
        }
        if trust.automatic {
            out.line(
                2,
                &format!("it writes to [projects.\"{}\"]", trust.key.display()),
            );
            if let Some(before) = effective.before().policy() {
                out.line(
                    2,
                    &format!("until then: approvals {}", before.approval.value),
                );
            }
        }
    }

    fn policy(&self, out: &mut Text, policy: &Policy) {
        let version = self.effective.version;
        out.decided("approval policy", &policy.approval, |policy| {
            policy.to_string()
        });
        out.decided("reviewer", &policy.reviewer, |who| match who {
            Reviewer::User => "the person".to_owned(),
            Reviewer::AutoReview => format!("Codex's automatic reviewer (`{}`)", who.word(version)),
        });
        out.decided("sandbox", &policy.sandbox, |sandbox| {
            sandbox.word().to_owned()
        });
        let sandbox = &policy.sandbox.value;
        out.pair(
            1,
            "network",
            if sandbox.network { "open" } else { "closed" },
        );
        out.pair(1, "writable", &writable(&sandbox.reach).join(", "));
        if let Some(profile) = &sandbox.profile {
            out.pair(1, "profile", profile);
        }
        for refused in &policy.refused {
            let at = out.at(&refused.place);
            out.line(
                1,
                &format!(
                    "`{}` for the {} is refused by {at}: `{}` instead",
                    refused.configured, refused.what, refused.fallback
                ),
            );
        }
        if !policy.servers.is_empty() {
            out.heading("servers");
        }
        for server in &policy.servers {
            self.server(out, server);
        }
        if !policy.hooks.is_empty() {
            out.heading("hooks");
        }
        for hook in &policy.hooks {
            show_hook(out, hook);
        }
        if !policy.rules.is_empty() {
            out.heading("rules");
            for path in &policy.rules {
                let shown = out.path(path);
                out.line(1, &shown);
            }
        }
    }

    fn server(&self, out: &mut Text, server: &Server) {
        let transport = match server.transport {
            Transport::Stdio => "stdio",
            Transport::Url => "HTTP",
        };
        let state = match (&server.disabled_by, server.enabled) {
            (Some(By::Requirement(place)), _) => {
                format!("disabled by {}", out.at(place))
            }
            (Some(By::Layer(place)), _) => format!("switched off in {}", out.at(place)),
            (_, true) => "enabled".to_owned(),
            (_, false) => "disabled".to_owned(),
        };
        out.pair(1, &server.name, &format!("{transport}, {state}"));
        for (path, place) in &server.origins {
            let parts = path.parts();
            let Some(value) = server.value.get(parts) else {
                continue;
            };
            let at = out.at(place);
            let name = path.to_string();
            out.line(2, &format!("{name} = {}  {at}", shown(path, value)));
            let whole: Vec<&str> = ["mcp_servers", &server.name]
                .into_iter()
                .chain(parts.iter().map(String::as_str))
                .collect();
            for old in self.effective.overridden(&whole) {
                out.overridden(3, path, &old);
            }
        }
    }

    fn limits(&self, out: &mut Text) {
        let limits = &self.effective.requirements;
        if limits.is_empty(self.effective.version) {
            return;
        }
        out.heading("requirements");
        if let Some(required) = &limits.approvals {
            let words: Vec<String> = required.value.iter().map(ToString::to_string).collect();
            out.limit("approval policies", &words.join(", "), &required.place);
        }
        if let Some(required) = &limits.sandbox_modes {
            let words: Vec<&str> = required.value.iter().map(|mode| mode.word()).collect();
            out.limit("sandbox modes", &words.join(", "), &required.place);
        }
        if let Some(required) = &limits.reviewers {
            let version = self.effective.version;
            let words: Vec<&str> = required.value.iter().map(|it| it.word(version)).collect();
            out.limit("reviewers", &words.join(", "), &required.place);
        }
        if let Some(required) = &limits.profiles {
            let allowed = required.value.iter().filter(|(_, may)| **may);
            let words: Vec<&str> = allowed.map(|(name, _)| name.as_str()).collect();
            out.limit("permission profiles", &words.join(", "), &required.place);
        }
        if let Some(required) = &limits.servers {
            let words: Vec<&str> = required.value.keys().map(String::as_str).collect();
            let words = if words.is_empty() {
                "none".to_owned()
            } else {
                words.join(", ")
            };
            out.limit("servers", &words, &required.place);
        }
        for (name, required) in &limits.features {
            let state = if required.value { "on" } else { "off" };
            out.limit(&format!("feature {name}"), state, &required.place);
        }
        if let Some(place) = &limits.deny_read {
            out.limit("files", "some must not be read", place);
        }
        if let Some(place) = &limits.managed_hooks_only {
            out.limit("hooks", "the administrator's alone", place);
        }
    }

    fn dropped(&self, out: &mut Text) {
        if self.effective.dropped.is_empty() {
            return;
        }
        out.heading("does not count");
        for dropped in &self.effective.dropped {
            let at = out.at(&dropped.place);
            let key = &dropped.place.key;
            out.line(1, &format!("`{key}`  {at}: {}", why(dropped.why)));
        }
    }

    /// One value by its key path.
    fn one(&self, out: &mut Text, key: &KeyPath) {
        let effective = self.effective;
        let policy = effective.policy();
        match (key.parts(), policy) {
            ([name], Some(policy)) if name == "approval_policy" => {
                out.decided("approval_policy", &policy.approval, ToString::to_string);
            }
            ([name], Some(policy)) if name == "approvals_reviewer" => {
                let version = effective.version;
                let word = |reviewer: &Reviewer| reviewer.word(version).to_owned();
                out.decided("approvals_reviewer", &policy.reviewer, word);
            }
            ([name], Some(policy)) if name == "sandbox" || name == "sandbox_mode" => {
                let word = |sandbox: &Sandbox| sandbox.word().to_owned();
                out.decided("sandbox", &policy.sandbox, word);
                out.pair(
                    1,
                    "writable",
                    &writable(&policy.sandbox.value.reach).join(", "),
                );
            }
            _ => {
                let Some(found) = effective.merged.get(key.parts()) else {
                    out.line(0, &format!("`{key}` is set nowhere"));
                    return;
                };
                let leaves = leaves_of(found, key);
                for (path, leaf) in leaves {
                    self.leaf(out, &path, leaf);
                }
            }
        }
    }

    fn leaf(&self, out: &mut Text, path: &KeyPath, leaf: &Merged) {
        out.line(0, &format!("{path} = {}", shown(path, &leaf.value())));
        if let Some(place) = self.effective.origin(path.parts()) {
            let at = out.at(&place);
            out.line(2, &at);
        }
        for old in self.effective.overridden(path.parts()) {
            out.overridden(2, path, &old);
        }
    }

    /// Whether the key is set anywhere or decided.
    pub fn knows(&self, key: &KeyPath) -> bool {
        let decided = [
            "approval_policy",
            "approvals_reviewer",
            "sandbox",
            "sandbox_mode",
        ];
        let names_decided = matches!(key.parts(), [name] if decided.contains(&name.as_str()));
        (names_decided && self.effective.policy().is_some())
            || self.effective.merged.get(key.parts()).is_some()
    }
}

fn writable(reach: &Reach) -> Vec<String> {
    match reach {
        Reach::ReadOnly => vec!["nothing".to_owned()],
        Reach::AllFiles | Reach::Everything => vec!["everything".to_owned()],
        Reach::Workspace {
            cwd,
            roots,
            exclude_tmpdir,
            exclude_slash_tmp,
        } => {
            let mut places = Vec::new();
            if *cwd {
                places.push("the working folder".to_owned());
            }
            if !exclude_slash_tmp {
                places.push("/tmp".to_owned());
            }
            if !exclude_tmpdir {
                places.push("$TMPDIR".to_owned());
            }
            places.extend(
                roots
                    .iter()
                    .map(|root| visible(&root.display().to_string()).into_owned()),
            );
            places
        }
    }
}

fn show_hook(out: &mut Text, hook: &Hook) {
    let what = match (&hook.handler.command, hook.handler.kind) {
        (Some(command), _) => format!("`{}`", visible(command)),
        (None, HandlerKind::McpTool | HandlerKind::Command) => "a server's tool".to_owned(),
    };
    let state = match (hook.enabled, hook.trust) {
        (false, _) => "switched off",
        (true, HookTrust::Managed) => "runs, the administrator's",
        (true, HookTrust::Trusted) => "runs, trusted",
        (true, HookTrust::Modified) => "does not run: changed since it was trusted",
        (true, HookTrust::Untrusted) => "does not run: not trusted yet",
    };
    let path = out.path(&hook.path);
    out.pair(
        1,
        hook.handler.event.name,
        &format!("{what}  {path}: {state}"),
    );
}

/// A value for a person: as TOML or JSON would write it, on one line, not too long.
fn shown(path: &KeyPath, value: &Value) -> String {
    let text = hidden(path, value).to_string();
    let text = visible(&text);
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

/// The text as it grows.
struct Text {
    cwd: PathBuf,
    home: Option<PathBuf>,
    shown: String,
}

impl Text {
    fn heading(&mut self, text: &str) {
        if !self.shown.is_empty() {
            self.shown.push('\n');
        }
        let style = style::HEADING;
        let _ = writeln!(self.shown, "{style}{}{style:#}", visible(text));
    }

    fn line(&mut self, depth: usize, text: &str) {
        self.shown.push_str(&"  ".repeat(depth));
        self.shown.push_str(text);
        self.shown.push('\n');
    }

    fn pair(&mut self, depth: usize, name: &str, text: &str) {
        let name = visible(name);
        self.line(depth, &format!("{name}: {text}"));
    }

    fn decided<T>(&mut self, name: &str, decided: &Decided<T>, word: impl Fn(&T) -> String) {
        self.heading(name);
        self.line(1, &word(&decided.value));
        let by = match &decided.by {
            By::Default(why) => format!("by default: {why}"),
            By::Session(why) => (*why).to_owned(),
            By::Layer(place) => self.at(place),
            By::Requirement(place) => format!("required by {}", self.at(place)),
        };
        self.line(2, &by);
        for old in &decided.overrode {
            let path = old.place.key.clone();
            self.overridden(2, &path, old);
        }
    }

    fn overridden(&mut self, depth: usize, path: &KeyPath, old: &Overridden) {
        let at = self.at(&old.place);
        self.line(
            depth,
            &format!("overrides {}  {at}", shown(path, &old.value)),
        );
    }

    fn limit(&mut self, name: &str, text: &str, place: &Place) {
        let at = self.at(place);
        self.line(1, &format!("{name}: {text}  {at}"));
    }

    /// `file:line:column (layer)`.
    fn at(&self, place: &Place) -> String {
        match &place.path {
            Some(path) => format!(
                "{}:{}:{} ({})",
                self.path(path),
                place.line,
                place.column,
                place.layer
            ),
            None => format!("a flag ({})", place.layer),
        }
    }

    /// A path relative to the working folder or the home folder where it lies below.
    fn path(&self, path: &Path) -> String {
        let text = if let Ok(below) = path.strip_prefix(&self.cwd) {
            below.display().to_string()
        } else if let Some(below) = self
            .home
            .as_ref()
            .and_then(|home| path.strip_prefix(home).ok())
        {
            format!("~/{}", below.display())
        } else {
            path.display().to_string()
        };
        visible(&text).into_owned()
    }
}
