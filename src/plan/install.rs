//! What `install` would change: wishes of the parts, merged into drafts, judged by the model.
//!
//! The steps, in this order: the servers that were asked for; what lets servers' questions reach
//! a person; the pin; trust. Then the model of Codex answers twice, for the files as they are and
//! as they would be: a plan after which Codex would refuse what it took before is a collision.

use std::path::{Path, PathBuf};

use indexmap::IndexMap;

use crate::codex::effective::{ApprovalPolicy, Effective, Question, Reach, SandboxMode, Surface};
use crate::codex::layer::{CONFIG_TOML, Place, REQUIREMENTS_TOML, Sources};
use crate::codex::trust::Level;
use crate::codex::{Site, server};
use crate::document::{KeyPath, Value};

use super::draft::{Draft, PRIVATE, SHARED};
use super::import::WantedServer;
use super::parts::{elicitations, pin, trust};
use super::{
    Collision, CollisionKind, Error, OnCollision, Part, Plan, Scope, Skipped, judge, merge,
};

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Whose files.
    pub scopes: Vec<Scope>,
    /// The servers.
    pub servers: Vec<WantedServer>,
    /// What keeps servers' questions coming.
    pub elicitations: bool,
    /// The pin.
    pub pin: bool,
    /// The trust entry.
    pub trust: bool,
    /// What to do where a key is there with another value.
    pub on_collision: OnCollision,
}

/// How things stand once the plan is written.
#[derive(Debug, Clone)]
pub struct Standing {
    /// Whether Codex trusts the project.
    pub trust: Level,
    /// Whether an app-server thread would trust it by itself.
    pub automatic_trust: bool,
    /// The folder that trust is written for.
    pub trust_key: PathBuf,
    /// Why Codex does not start here, where it does not.
    pub does_not_start: Option<String>,
    /// The approval policy in force.
    pub approval: Option<ApprovalPolicy>,
    /// The sandbox in force, in Codex's word for it.
    pub sandbox: Option<&'static str>,
    /// Whether the system's requirements hold the pin's sandbox modes.
    pub pinned: bool,
}

/// Makes the plan.
///
/// # Errors
/// A file that cannot be read or does not parse, a server that Codex would not take, a scope that
/// is not there.
pub fn plan(site: &Site, request: &Request) -> Result<(Plan, Standing), Error> {
    if request.scopes.contains(&Scope::Project) && site.project_is_codex_home() {
        return Err(Error::ProjectIsHome {
            path: site.dot_codex(),
        });
    }
    let mut work = Work::new(site, request);
    work.servers()?;
    if request.elicitations {
        work.elicitations()?;
    }
    if request.pin {
        work.pin()?;
    }
    if request.trust {
        work.trust()?;
    }
    work.judge();
    Ok(work.finish())
}

struct Work<'a> {
    site: &'a Site,
    request: &'a Request,
    drafts: IndexMap<PathBuf, Draft>,
    plan: Plan,
    before: Sources,
}

impl<'a> Work<'a> {
    fn new(site: &'a Site, request: &'a Request) -> Self {
        Self {
            site,
            request,
            drafts: IndexMap::new(),
            plan: Plan::default(),
            before: Sources::read(site),
        }
    }

    /// The folder of a scope; nothing where there is no home.
    fn folder(&self, scope: Scope) -> Option<PathBuf> {
        match scope {
            Scope::Project => Some(self.site.dot_codex()),
            Scope::User => self.site.codex_home.clone(),
            Scope::System => Some(self.site.system.clone()),
        }
    }

    fn draft(&mut self, scope: Scope, file: &Path) -> Result<&mut Draft, Error> {
        let inside = (scope == Scope::Project).then_some(self.site.project.as_path());
        let mode = if scope == Scope::User {
            PRIVATE
        } else {
            SHARED
        };
        match self.drafts.entry(file.to_path_buf()) {
            indexmap::map::Entry::Occupied(entry) => Ok(entry.into_mut()),
            indexmap::map::Entry::Vacant(entry) => {
                Ok(entry.insert(Draft::open(file, inside, mode)?))
            }
        }
    }

    fn servers(&mut self) -> Result<(), Error> {
        let mut seen = std::collections::HashSet::new();
        for wanted in &self.request.servers {
            if !seen.insert(&wanted.name) {
                return Err(Error::Twice {
                    name: wanted.name.clone(),
                });
            }
            check_server(wanted)?;
        }
        for scope in &self.request.scopes {
            for wanted in &self.request.servers {
                let folder = self.folder(*scope).ok_or(Error::NoHome)?;
                let file = folder.join(CONFIG_TOML);
                self.draft(*scope, &file)?;
                if let Some(draft) = self.drafts.get_mut(&file) {
                    merge::server(
                        draft,
                        &wanted.name,
                        &Value::Table(wanted.values.clone()),
                        self.request.on_collision,
                        &mut self.plan,
                    );
                }
            }
        }
        Ok(())
    }

    /// The files as they would be.
    fn after(&self) -> Sources {
        judge::with_drafts(&self.before, &self.drafts)
    }

    /// The question that install asks: at project scope, as if the project were trusted, since
    /// that is what its files are for.
    fn question(&self, surface: Surface) -> Question {
        Question {
            surface,
            trusted: (self.request.trust || self.request.scopes.contains(&Scope::Project))
                .then_some(true),
            ..Question::default()
        }
    }

    fn elicitations(&mut self) -> Result<(), Error> {
        let after = Effective::resolve(&self.after(), &self.question(Surface::AppServer));
        let Some(need) = elicitations::need(&after) else {
            return Ok(());
        };
        let own = self.own_config(need.place.as_ref());
        if let Some((scope, file)) = own {
            let on_collision = self.request.on_collision;
            self.draft(scope, &file)?;
            let Some(draft) = self.drafts.get_mut(&file) else {
                return Ok(());
            };
            // Adding what is missing is no collision; changing what a person wrote is one.
            if need.missing || on_collision != OnCollision::Refuse {
                merge::value(
                    draft,
                    &Part::Elicitations,
                    &need.path,
                    &need.wanted,
                    on_collision,
                    &mut self.plan,
                );
                return Ok(());
            }
            let by_hand = merge::by_hand(draft, &need.path, &need.wanted);
            self.plan.collisions.push(Collision {
                part: Part::Elicitations,
                file,
                path: need.path,
                source: need
                    .place
                    .as_ref()
                    .and_then(|place| judge::source(&self.drafts, place)),
                kind: CollisionKind::ElicitationsOff { why: need.why },
                by_hand,
                replaceable: true,
            });
            return Ok(());
        }
        let file = need
            .place
            .as_ref()
            .and_then(|place| place.path.clone())
            .unwrap_or_default();
        if self.request.on_collision == OnCollision::Skip {
            self.plan.skipped.push(Skipped {
                part: Part::Elicitations,
                file,
                path: need.path,
            });
            return Ok(());
        }
        self.plan.collisions.push(Collision {
            part: Part::Elicitations,
            file,
            path: need.path.clone(),
            source: need
                .place
                .as_ref()
                .and_then(|place| judge::source(&self.drafts, place)),
            kind: CollisionKind::ElicitationsOff { why: need.why },
            by_hand: elicitations::by_hand(&need.path, &need.wanted),
            replaceable: false,
        });
        Ok(())
    }

    /// The scope and file of `place`, if it is a config file that this install may change.
    fn own_config(&self, place: Option<&Place>) -> Option<(Scope, PathBuf)> {
        let path = place?.path.as_ref()?;
        self.request
            .scopes
            .iter()
            .filter(|scope| **scope != Scope::System)
            .find_map(|scope| {
                let file = self.folder(*scope)?.join(CONFIG_TOML);
                (file == *path).then_some((*scope, file))
            })
    }

    fn pin(&mut self) -> Result<(), Error> {
        let after = Effective::resolve(&self.after(), &self.question(Surface::AppServer));
        let granular: Vec<Value> = match after.policy().map(|policy| policy.approval.value) {
            Some(policy @ ApprovalPolicy::Granular(_)) if policy.lets_servers_ask() => policy
                .value()
                .get(&["granular"])
                .cloned()
                .into_iter()
                .collect(),
            _ => Vec::new(),
        };
        for scope in self.request.scopes.clone() {
            let folder = match scope {
                Scope::User => continue,
                Scope::Project | Scope::System => self.folder(scope),
            };
            let Some(file) = folder.map(|folder| folder.join(REQUIREMENTS_TOML)) else {
                continue;
            };
            let on_collision = self.request.on_collision;
            self.draft(scope, &file)?;
            let Some(draft) = self.drafts.get_mut(&file) else {
                continue;
            };
            for (key, wanted) in [
                (pin::SANDBOX, pin::sandbox_modes()),
                (pin::APPROVALS, pin::approval_policies(&granular)),
            ] {
                let path = KeyPath::new([key]);
                let older = draft.document().get(&path).is_some_and(|node| {
                    key == pin::APPROVALS && pin::is_older_value(&node.value())
                });
                let on_collision = if older {
                    OnCollision::Replace
                } else {
                    on_collision
                };
                merge::value(
                    draft,
                    &Part::Pin,
                    &path,
                    &wanted,
                    on_collision,
                    &mut self.plan,
                );
            }
        }
        Ok(())
    }

    fn trust(&mut self) -> Result<(), Error> {
        let home = self.site.codex_home.clone().ok_or(Error::NoHome)?;
        let now = Effective::resolve(&self.before, &Question::default());
        let Some(path) = trust::path_for(&now.trust.key) else {
            self.plan.notes.push(format!(
                "trust is left out: the path of `{}` is not UTF-8, and TOML cannot name it",
                now.trust.key.display()
            ));
            return Ok(());
        };
        let file = home.join(CONFIG_TOML);
        self.draft(Scope::User, &file)?;
        if let Some(draft) = self.drafts.get_mut(&file) {
            merge::value(
                draft,
                &Part::Trust,
                &path,
                &trust::trusted(),
                self.request.on_collision,
                &mut self.plan,
            );
        }
        Ok(())
    }

    /// Holds the files as they are against the files as they would be.
    fn judge(&mut self) {
        let questions = [Surface::AppServer, Surface::Exec].map(|surface| {
            [
                self.question(surface),
                Question {
                    surface,
                    ..Question::default()
                },
            ]
        });
        if let Some(collision) =
            judge::refusal(&self.before, &self.drafts, questions.as_flattened())
        {
            self.plan.collisions.push(collision);
        }
    }

    fn finish(self) -> (Plan, Standing) {
        let after = self.after();
        let then = Effective::resolve(&after, &Question::default());
        let pinned = then
            .requirements
            .sandbox_modes
            .as_ref()
            .is_some_and(|modes| !modes.value.contains(&SandboxMode::DangerFullAccess));
        let standing = Standing {
            trust: then.trust.level,
            automatic_trust: then.trust.automatic,
            trust_key: then.trust.key.clone(),
            does_not_start: then.starts.as_ref().err().map(ToString::to_string),
            approval: then.policy().map(|policy| policy.approval.value),
            sandbox: then
                .policy()
                .map(|policy| match policy.sandbox.value.reach {
                    Reach::ReadOnly => SandboxMode::ReadOnly.word(),
                    Reach::Workspace { .. } => SandboxMode::WorkspaceWrite.word(),
                    Reach::AllFiles | Reach::Everything => SandboxMode::DangerFullAccess.word(),
                }),
            pinned,
        };
        let mut plan = self.plan;
        plan.notes.extend(pin_note(&self.drafts));
        plan.files = self
            .drafts
            .into_values()
            .filter_map(Draft::finish)
            .collect();
        (plan, standing)
    }
}

/// What the pin does not cover, said when it is written (scenarios `req-network-not-pinned`,
/// `prec-managed-requirements`, `prec-requirements-flags`).
fn pin_note(drafts: &IndexMap<PathBuf, Draft>) -> Option<String> {
    drafts
        .values()
        .flat_map(Draft::steps)
        .any(|step| step.part == Part::Pin)
        .then(|| {
            "the pin covers the sandbox mode and the approval policy: Codex pins neither network \
             access nor writable roots, managed_config.toml is stronger than it, and `codex exec` \
             runs under on-request with it"
                .to_owned()
        })
}

/// Whether Codex would take a server, before anything is read or written.
///
/// # Errors
/// A name or a table that Codex refuses.
pub fn check_server(wanted: &WantedServer) -> Result<(), Error> {
    if !server::is_valid_name(&wanted.name) {
        return Err(Error::BadServer {
            name: wanted.name.clone(),
            why: "a name has only letters, digits and `-` `_` `:` `@` `/` `.`; \
                  Codex would load another one and never start it"
                .to_owned(),
        });
    }
    server::judge(&wanted.values)
        .map(drop)
        .map_err(|error| Error::BadServer {
            name: wanted.name.clone(),
            why: error.to_string(),
        })
}
