//! A session starts: the agent is told how the gate works here, and whether it holds.

use std::path::Path;

use super::Answer;
use crate::codex::effective::Effective;
use crate::text::quote;

/// Codex's name of the event.
pub const EVENT: &str = "SessionStart";

/// What the agent is told. `program`: the path under which the rule lets us run. `holds`: why the
/// gate cannot hold here, if that is so.
pub fn answer(program: &Path, effective: &Effective, holds: Result<(), String>) -> Answer {
    let program = quote::word(&program.to_string_lossy()).into_owned();
    let now = match (holds, effective.policy()) {
        (Err(why), _) => format!(
            "The gate is OPEN or cannot hold here, so `apply` refuses until a person mends it: \
             {why}"
        ),
        (Ok(()), Some(policy)) => format!(
            "The gate holds here: approvals `{}`, sandbox `{}`.",
            policy.approval.value.word(),
            policy.sandbox.value.word(),
        ),
        (Ok(()), None) => "What holds here cannot be told.".to_owned(),
    };
    Answer::Context(format!(
        "This project has codexgate: some actions need a person's approval.\n\
         1. Propose: run `{program} apply --reason 'why' -- PROGRAM ARGUMENT…`, or for files \
         `{program} apply --patch FILE` or `{program} apply --write PATH --content FILE`. It runs \
         nothing and prints a token.\n\
         2. Ask: call the tool `codexgate_approve` with the token. A person decides.\n\
         3. Run: after an approval run `{program} apply --confirm TOKEN`. It runs exactly that, \
         once.\n\
         Write each as one plain command that begins with this very path and `apply`: with a pipe, \
         a redirection, `cd`, a variable or another spelling in front it stays inside the sandbox \
         and fails. A refusal is an answer: do not look for another way.\n\
         {now}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codex::site::Environment;
    use crate::codex::{Question, Site, Sources};

    #[test]
    fn the_agent_is_told_the_quoted_path_and_what_holds() {
        let folder = tempfile::tempdir().expect("a folder");
        let site = Site::discover(&Environment {
            directory: folder.path().to_path_buf(),
            ..Environment::default()
        })
        .expect("a site");
        let effective = Effective::resolve(&Sources::read(&site), &Question::default());
        let program = Path::new("/opt/a b/codexgate");
        let text = |holds| match answer(program, &effective, holds) {
            Answer::Context(text) => text,
            other => panic!("{other:?}"),
        };
        let closed = text(Ok(()));
        assert!(
            closed.contains("`'/opt/a b/codexgate' apply --confirm TOKEN`"),
            "{closed}"
        );
        assert!(
            closed.contains("The gate holds here: approvals `"),
            "{closed}"
        );
        let open = text(Err("x:1:2 says so".to_owned()));
        assert!(open.contains("OPEN") && open.contains("x:1:2"), "{open}");
    }
}
