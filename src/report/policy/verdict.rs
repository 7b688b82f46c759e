//! The questions that a person asks of a policy, answered in words.

use std::path::Path;

use super::View;
use crate::codex::effective::{ApprovalPolicy, Effective, Reach, SandboxMode, Surface};
use crate::codex::layer::Place;
use crate::text::visible;

/// One question and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// What was asked, in a word.
    pub about: &'static str,
    /// Whether the gate holds here.
    pub holds: bool,
    /// The answer in words.
    pub says: String,
    /// The line that would have to change.
    pub change: Option<Place>,
}

impl View<'_> {
    /// The questions that a person asks, answered.
    pub fn verdict(&self) -> Vec<Judgement> {
        let mut found = Vec::new();
        for (surface, answer) in self.others {
            found.push(reaches_a_person(*surface, answer));
        }
        let Some(policy) = self.effective.policy() else {
            return found;
        };
        let place = policy.sandbox.by.place().cloned();
        let reach = &policy.sandbox.value.reach;
        let mode = reach.mode();
        found.push(match reach {
            Reach::Everything | Reach::AllFiles => Judgement {
                about: "files",
                holds: false,
                says: "the agent can write everything that you can".to_owned(),
                change: place.clone(),
            },
            Reach::Workspace { roots, .. } if !roots.is_empty() => Judgement {
                about: "files",
                holds: false,
                says: format!(
                    "the agent can write outside the working folder: {}",
                    roots
                        .iter()
                        .map(|root| visible(&root.display().to_string()).into_owned())
                        .collect::<Vec<_>>()
                        .join(", ")
                ),
                change: self
                    .effective
                    .origin(&["sandbox_workspace_write", "writable_roots"])
                    .or_else(|| place.clone()),
            },
            Reach::Workspace { .. } => Judgement {
                about: "files",
                holds: true,
                says: "the agent can write the working folder and temporary folders".to_owned(),
                change: None,
            },
            Reach::ReadOnly => Judgement {
                about: "files",
                holds: true,
                says: "the agent can write nothing".to_owned(),
                change: None,
            },
        });
        let network = self
            .effective
            .origin(&["sandbox_workspace_write", "network_access"])
            .filter(|_| mode == SandboxMode::WorkspaceWrite)
            .or_else(|| place.clone());
        found.push(Judgement {
            about: "network",
            holds: !policy.sandbox.value.network,
            says: if policy.sandbox.value.network {
                "the agent's commands reach the network".to_owned()
            } else {
                "the agent's commands do not reach the network".to_owned()
            },
            change: network.filter(|_| policy.sandbox.value.network),
        });
        found.push(self.own_state(reach, place));
        found.push(self.pin());
        found
    }

    fn own_state(&self, reach: &Reach, place: Option<Place>) -> Judgement {
        let open: Vec<&str> = self
            .precious
            .iter()
            .filter(|(folder, _)| covers(reach, &self.effective.cwd, folder))
            .map(|(_, what)| *what)
            .collect();
        Judgement {
            about: "state",
            holds: open.is_empty(),
            says: if open.is_empty() {
                "the agent cannot change what the gate believes".to_owned()
            } else {
                format!("the agent can change {}", open.join(" and "))
            },
            change: place.filter(|_| !open.is_empty()),
        }
    }

    fn pin(&self) -> Judgement {
        let limits = &self.effective.requirements;
        let sandbox = limits
            .sandbox_modes
            .as_ref()
            .is_some_and(|required| !required.value.contains(&SandboxMode::DangerFullAccess));
        let approvals = limits.approvals.as_ref().is_some_and(|required| {
            required
                .value
                .iter()
                .all(|policy| policy.lets_servers_ask())
        });
        let says = match (sandbox, approvals) {
            (true, true) => {
                "the pin is in force: no flag and no project opens the sandbox or silences servers"
            }
            (true, false) => "the pin is half in force: approvals are not pinned",
            (false, true) => "the pin is half in force: the sandbox is not pinned",
            (false, false) => {
                "no pin is in force: a flag or a trusted project can open everything (`codexgate install` offers one)"
            }
        };
        Judgement {
            about: "pin",
            holds: sandbox && approvals,
            says: says.to_owned(),
            change: None,
        }
    }
}

fn reaches_a_person(surface: Surface, answer: &Effective) -> Judgement {
    let word = match surface {
        Surface::AppServer => "in an editor (app-server)",
        Surface::Tui => "in the TUI",
        Surface::Exec => "in `codex exec`",
    };
    let about = match surface {
        Surface::AppServer => "app-server",
        Surface::Tui => "tui",
        Surface::Exec => "exec",
    };
    let Some(policy) = answer.policy() else {
        return Judgement {
            about,
            holds: true,
            says: format!("{word} Codex does not start"),
            change: None,
        };
    };
    let approval = &policy.approval;
    let reaches = approval.value.lets_servers_ask();
    let says = match (approval.value, surface) {
        (_, _) if reaches && surface == Surface::Exec => {
            format!(
                "{word} approvals are {}, and nobody is there to answer",
                approval.value
            )
        }
        (_, _) if reaches => format!("a server's question reaches you {word}"),
        (ApprovalPolicy::Never, Surface::Exec) => {
            format!("no server's question reaches you {word}: it asks nobody")
        }
        (ApprovalPolicy::Granular(_), _) => {
            format!("no server's question reaches you {word}: `mcp_elicitations` is off")
        }
        _ => format!(
            "no server's question reaches you {word}: approvals are `{}`",
            approval.value
        ),
    };
    Judgement {
        about,
        holds: reaches && surface != Surface::Exec,
        says,
        change: (!reaches).then(|| approval.by.place().cloned()).flatten(),
    }
}

/// Whether the agent can write below `folder`.
fn covers(reach: &Reach, cwd: &Path, folder: &Path) -> bool {
    match reach {
        Reach::ReadOnly => false,
        Reach::AllFiles | Reach::Everything => true,
        Reach::Workspace {
            cwd: has_cwd,
            roots,
            exclude_slash_tmp,
            ..
        } => {
            // Codex keeps these three read-only below a writable folder.
            let kept = [".git", ".codex", ".agents"]
                .iter()
                .any(|name| folder.starts_with(cwd.join(name)));
            (*has_cwd && folder.starts_with(cwd) && !kept)
                || roots.iter().any(|root| folder.starts_with(root))
                || (!exclude_slash_tmp && folder.starts_with("/tmp"))
        }
    }
}
