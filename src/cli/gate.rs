//! What `install` needs from this machine for the gate: its own path, a Codex to ask, and a look at
//! the approver once it is written.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::state::State;
use super::{Exit, Failure, variable};
use crate::approval::open_folders;
use crate::codex::Site;
use crate::codex::ask::{self, SeenHook};
use crate::plan::install::AskCodex;
use crate::plan::parts::program::{self, Program};
use crate::plan::{self, secret};
use crate::report::Diagnostic;
use crate::text::redact;

/// The approver's one tool.
const TOOL: &str = "codexgate_approve";

/// Variables that Codex hands to a server, those that `env_vars` of its entry names among them.
const HANDED_ON: [&str; 9] = [
    "CODEX_HOME",
    "HOME",
    "LANG",
    "LOGNAME",
    "PATH",
    "TMPDIR",
    "USER",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
];

/// This program, where it is safe to point Codex at it.
///
/// # Errors
/// It is not.
pub fn program(site: &Site, name: Option<&str>) -> Result<Program, Failure> {
    let executable = std::env::current_exe().map_err(|error| Failure::of(Exit::Unable, &error))?;
    let path = std::env::var_os("PATH");
    Program::find(site, &executable, path.as_deref(), &open_folders())
        .map(|program| program.with_command(name.map(str::to_owned)))
        .map_err(|why| plan::Error::UnsafeProgram { why }.into())
}

/// A bare name of ours, for clap.
pub fn bare_name(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if program::is_own(text) && text.chars().all(plain) {
        return Ok(text.to_owned());
    }
    Err(
        "a name without a folder is wanted: `codexgate`, or one that begins with `codexgate-`"
            .into(),
    )
}

/// The real Codex, if there is one.
pub struct RealCodex {
    codex: Option<PathBuf>,
    folder: PathBuf,
}

impl RealCodex {
    /// `--codex`, else `$CODEX`, else the one on `PATH`.
    ///
    /// # Errors
    /// The one that was named is not there.
    pub fn find(named: Option<&Path>, state: &State) -> Result<Self, Failure> {
        let codex = match (named, variable("CODEX")) {
            (Some(path), _) if !path.is_file() => {
                let message = format!("there is no Codex at `{}`", path.display());
                return Err(Failure::new(Exit::Unable, Diagnostic::error(message)));
            }
            (Some(path), _) => path.canonicalize().ok(),
            (None, Some(path)) => path.is_file().then_some(path),
            (None, None) => ask::look_up("codex", std::env::var_os("PATH").as_deref()),
        };
        // Beside the state directory: no agent can write there, and nothing is left behind.
        let folder = state
            .folder()
            .and_then(|folder| folder.ancestors().find(|folder| folder.is_dir()))
            .map_or_else(std::env::temp_dir, Path::to_path_buf);
        Ok(Self { codex, folder })
    }
}

impl AskCodex for RealCodex {
    fn hooks(&self, name: &str, text: &str) -> Result<Vec<SeenHook>, String> {
        let Some(codex) = &self.codex else {
            return Err("there is no Codex to ask for their digest".to_owned());
        };
        ask::hooks(codex, &self.folder, &[(name, text)]).map_err(|error| {
            let why = error.to_string();
            if secret::looks_secret(None, &why) {
                redact::secret(&why)
            } else {
                why
            }
        })
    }
}

/// Starts the approver as Codex would, and sees that it lists its tool.
///
/// # Errors
/// It does not.
pub fn check_approver(site: &Site, program: &Program) -> Result<(), Failure> {
    let variables: Vec<(String, OsString)> = HANDED_ON
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), std::env::var_os(name)?)))
        .collect();
    let command = program.command();
    let why = match ask::tools(command, &["mcp"], &variables, &site.cwd) {
        Ok(tools) if tools.iter().any(|tool| tool == TOOL) => return Ok(()),
        Ok(_) => format!("it does not list `{TOOL}`"),
        Err(error) => error.to_string(),
    };
    let message = format!("the approver is written, and does not work: {why}");
    Err(
        Failure::new(Exit::Partial, Diagnostic::error(message)).hint(format!(
            "see what `{command} mcp` says; `codexgate uninstall` takes it out again"
        )),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_name_has_no_folder_and_is_ours() {
        assert!(bare_name("codexgate").is_ok() && bare_name("codexgate-0.2").is_ok());
        for text in [
            "",
            "x",
            "./codexgate",
            "/bin/codexgate",
            "codexgate x",
            "codexgate;x",
        ] {
            assert!(bare_name(text).is_err(), "{text}");
        }
    }
}
