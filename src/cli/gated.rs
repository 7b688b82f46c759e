//! What the commands of a gated action share: where they look, and what they refuse.
//!
//! None of them takes `-C`, `--codex-home` or `--system-root`: with these a caller would choose
//! which policy judges it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Exit, Failure, Globals, Places};
use crate::approval::{Error, Gate, Moment, Surroundings, SystemClock, Token, utc};
use crate::codex::Site;
use crate::files::RealDisk;
use crate::plan::secret;
use crate::report::Diagnostic;
use crate::text::{quote, redact, visible};

/// How a result is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// For commands that an agent runs: the whole surroundings are judged.
pub fn for_agent(globals: &Globals) -> Result<Surroundings, Failure> {
    Ok(Surroundings::for_agent(&site(globals)?)?)
}

/// For commands of a person.
pub fn for_person(globals: &Globals) -> Result<Surroundings, Failure> {
    Ok(Surroundings::for_person(&site(globals)?)?)
}

fn site(globals: &Globals) -> Result<Site, Failure> {
    if globals.directory().is_some() {
        let message = "this command takes no `-C`: it is judged where it stands";
        return Err(Failure::new(Exit::Unable, Diagnostic::error(message)));
    }
    globals.site(&Places::default())
}

/// Refuses what only a person does, where Codex started it for an agent.
pub fn no_agent(what: &str) -> Result<(), Failure> {
    if std::env::var_os("CODEX_THREAD_ID").is_none() {
        return Ok(());
    }
    let message =
        format!("only a person {what}, and Codex started this (`CODEX_THREAD_ID` is set)");
    Err(Failure::new(Exit::Refused, Diagnostic::error(message)).hint("open a terminal of your own"))
}

/// Opens the state directory for a person's command. In Codex's sandbox it says that it is one.
pub fn open<'a>(around: &Surroundings, disk: &'a mut RealDisk) -> Result<Gate<'a>, Failure> {
    Gate::open(around, &SystemClock, disk).map_err(of_person)
}

fn of_person(error: Error) -> Failure {
    match error {
        Error::Sandboxed { .. } => Failure::of(Exit::Refused, &error)
            .hint("a person runs this in a terminal of their own, outside of Codex"),
        error => error.into(),
    }
}

/// The absolute path under which whoever started this one found it: the rule that lets it leave
/// the sandbox matches that spelling alone, so a link stays a link.
pub fn called_as() -> PathBuf {
    let real = std::env::current_exe().unwrap_or_default();
    let is_this = |path: &Path| path.canonicalize().is_ok_and(|path| path == real);
    let name = std::env::args_os().next().map(PathBuf::from);
    let found = match name {
        Some(name) if name.is_absolute() => Some(name),
        Some(name) if name.components().count() == 1 => std::env::var_os("PATH")
            .iter()
            .flat_map(std::env::split_paths)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(&name))
            .find(|path| is_this(path)),
        _ => None,
    };
    found.filter(|path| is_this(path)).unwrap_or(real)
}

/// A command line of ours that is told to an agent or a person, as a shell takes it.
pub fn own_command(words: &[&str]) -> String {
    let program = called_as();
    let program = program.to_string_lossy();
    let line = quote::words(std::iter::once(program.as_ref()).chain(words.iter().copied()));
    visible(&line).into_owned()
}

/// A token in any spelling, for clap.
pub fn token(text: &str) -> Result<Token, String> {
    Token::parse(text)
        .ok_or_else(|| "a whole token is wanted, as `7kq2-m9xt-c4hd-20fn-v8ra`".into())
}

/// `90`, `90s`, `10m`, `2h`, `1d`, for clap.
pub fn duration(text: &str) -> Result<Duration, String> {
    let (digits, unit) = match text.find(|c: char| !c.is_ascii_digit()) {
        Some(at) => text.split_at(at),
        None => (text, "s"),
    };
    let factor = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 24 * 3600,
        _ => return Err("a number with s, m, h or d is wanted".into()),
    };
    let number: u64 = digits.parse().map_err(|_| "a number is wanted")?;
    let seconds = number.checked_mul(factor).ok_or("that is too long")?;
    Ok(Duration::from_secs(seconds))
}

/// `2026-03-01T14:05:09Z`.
pub fn rfc3339(moment: Moment) -> String {
    utc(moment).replacen(' ', "T", 1).replace(" UTC", "Z")
}

/// `text` with each word that looks like a secret hidden, for records of the past. A card shows
/// what runs as it is; a list of what ran need not.
pub fn without_secrets(text: &str) -> String {
    let hide = |word: &str| match word.split_once('=') {
        Some((name, value)) if secret::looks_secret(Some(name), value) => {
            format!("{name}={}", redact::secret(value))
        }
        _ if secret::looks_secret(None, word) => redact::secret(word),
        _ => word.to_owned(),
    };
    let mut out = String::with_capacity(text.len());
    for piece in text.split_inclusive(char::is_whitespace) {
        let word = piece.trim_end();
        out.push_str(&hide(word));
        out.push_str(&piece[word.len()..]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_the_sandbox_a_persons_command_is_not_told_how_to_propose() {
        let sandboxed = || Error::Sandboxed {
            state: PathBuf::from("/s"),
            source: std::io::ErrorKind::PermissionDenied.into(),
        };
        let text = of_person(sandboxed()).diagnostic().render();
        assert!(text.contains("a terminal of their own"), "{text}");
        assert!(!text.contains("apply"), "{text}");
        let text = Failure::from(sandboxed()).diagnostic().render();
        let own = own_command(&["apply"]);
        assert!(own.starts_with('/') && text.contains(&own), "{text}");
    }

    #[test]
    fn durations_have_units() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("10m"), Ok(Duration::from_mins(10)));
        assert_eq!(duration("1d"), Ok(Duration::from_hours(24)));
        for text in ["", "m", "-1", "1w", "1.5h", "99999999999999999999s"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn secrets_in_a_line_are_hidden_and_the_rest_stays() {
        let shown = without_secrets(
            "curl -H x\tAPI_TOKEN=hunter2  ghp_0123456789abcdefghijABCDEFGHIJ0123\nend",
        );
        assert!(
            !shown.contains("hunter2") && !shown.contains("ghp_"),
            "{shown}"
        );
        assert!(shown.starts_with("curl -H x\tAPI_TOKEN=<secret"), "{shown}");
        assert!(shown.ends_with("\nend"), "{shown}");
    }
}
