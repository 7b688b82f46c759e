//! What `install` would change: wishes of the parts, merged into drafts, judged by the model.
//!
//! The steps, in this order: the servers that were asked for; the approver; what lets servers'
//! questions reach a person; the pin; the rule; the hooks; the guide; trust, of the project and of
//! the hooks. Then the model of Codex answers twice, for the files as they are and
//! as they would be: a plan after which Codex would refuse what it took before is a collision.

use std::path::{Path, PathBuf};

use indexmap::IndexMap;

use crate::codex::ask::SeenHook;
use crate::codex::effective::HookTrust;
use crate::codex::effective::hooks::HOOKS_JSON;
use crate::codex::effective::{ApprovalPolicy, Effective, Question, Reach, SandboxMode, Surface};
use crate::codex::layer::{CONFIG_TOML, Place, REQUIREMENTS_TOML, Sources};
use crate::codex::trust::Level;
use crate::codex::{Site, server};
use crate::document::{Edit, KeyPath, Node, Span, Value};

use super::draft::{Action, Draft, PRIVATE, SHARED};
use super::import::WantedServer;
use super::parts::program::Program;
use super::parts::{approver, elicitations, guide, hooks, pin, rule, trust};
use super::{
    Collision, CollisionKind, Error, OnCollision, Part, PlainDraft, Plan, Scope, Skipped, Source,
    judge, merge,
};

/// Whoever can ask the real Codex which digest trusts a hook.
pub trait AskCodex {
    /// What Codex says about the hooks of a project's file of this name with this text.
    ///
    /// # Errors
    /// Why it says nothing, in words.
    fn hooks(&self, name: &str, text: &str) -> Result<Vec<SeenHook>, String>;
}

/// Nobody can.
#[derive(Debug, Clone, Copy)]
pub struct NoCodex;

impl AskCodex for NoCodex {
    fn hooks(&self, _: &str, _: &str) -> Result<Vec<SeenHook>, String> {
        Err("there is no Codex to ask".to_owned())
    }
}

/// What is asked for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Whose files.
    pub scopes: Vec<Scope>,
    /// The servers.
    pub servers: Vec<WantedServer>,
    /// The approver: in the project's files, and in requirements that list servers.
    pub approver: bool,
    /// The approver in the user's files.
    pub approver_for_user: bool,
    /// What keeps servers' questions coming.
    pub elicitations: bool,
    /// The pin.
    pub pin: bool,
    /// The rule.
    pub rule: bool,
    /// The hooks.
    pub hooks: bool,
    /// The guide.
    pub guide: bool,
    /// The program that approver, rule and hooks name; without it they are left out.
    pub program: Option<Program>,
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
    /// Whether Codex would start the approver.
    pub approver: bool,
    /// The least trust among our hooks; none where there are none.
    pub hooks: Option<HookTrust>,
}

/// Makes the plan.
///
/// # Errors
/// A file that cannot be read or does not parse, a server that Codex would not take, a scope that
/// is not there.
pub fn plan(site: &Site, request: &Request) -> Result<(Plan, Standing), Error> {
    plan_with(site, request, &NoCodex)
}

/// Makes the plan, with a Codex to ask which digest trusts a hook.
///
/// # Errors
/// As [`plan`].
pub fn plan_with(
    site: &Site,
    request: &Request,
    codex: &dyn AskCodex,
) -> Result<(Plan, Standing), Error> {
    if request.scopes.contains(&Scope::Project) && site.project_is_codex_home() {
        return Err(Error::ProjectIsHome {
            path: site.dot_codex(),
        });
    }
    let mut work = Work::new(site, request);
    work.servers()?;
    if let Some(program) = &request.program {
        work.approver(program)?;
    }
    if request.elicitations {
        work.elicitations()?;
    }
    if request.pin {
        work.pin()?;
    }
    if let Some(program) = &request.program {
        if request.rule {
            work.rule(program)?;
        }
        if request.hooks && request.scopes.contains(&Scope::Project) {
            work.hooks(program, codex)?;
        }
    }
    if request.guide && request.scopes.contains(&Scope::Project) {
        work.guide()?;
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
    plain: Vec<PlainDraft>,
    plan: Plan,
    before: Sources,
}

impl<'a> Work<'a> {
    fn new(site: &'a Site, request: &'a Request) -> Self {
        Self {
            site,
            request,
            drafts: IndexMap::new(),
            plain: Vec::new(),
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
                        &Part::Server(wanted.name.clone()),
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
        self.plain.iter().filter(|draft| draft.changes()).fold(
            judge::with_drafts(&self.before, &self.drafts),
            |sources, draft| sources.with(draft.path(), Some(draft.text().as_bytes().to_vec())),
        )
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

    fn approver(&mut self, program: &Program) -> Result<(), Error> {
        let wanted = approver::wanted(program);
        for scope in self.request.scopes.clone() {
            let here = match scope {
                Scope::Project | Scope::System => self.request.approver,
                Scope::User => self.request.approver_for_user,
            };
            let Some(folder) = self.folder(scope).filter(|_| here) else {
                continue;
            };
            if scope == Scope::System {
                self.identity(&folder.join(REQUIREMENTS_TOML), program)?;
                continue;
            }
            let file = folder.join(CONFIG_TOML);
            self.draft(scope, &file)?;
            let Some(draft) = self.drafts.get_mut(&file) else {
                continue;
            };
            let mut on_collision = self.request.on_collision;
            if let Some(entry) = draft.document().get(&approver::path()) {
                if let Some(key) = approver::foreign_key(entry) {
                    let path = approver::path().join(key);
                    let source = draft
                        .place_of(&path)
                        .map(|span| super::source_of(&file, draft.original(), span));
                    self.plan.collisions.push(Collision {
                        part: Part::Approver,
                        kind: CollisionKind::Taken {
                            why: format!(
                                "`{path}` is there: with it `apply` and the approver refuse"
                            ),
                        },
                        file,
                        path,
                        source,
                        by_hand: String::new(),
                        replaceable: false,
                    });
                    continue;
                }
                if approver::is_ours(&entry.value()) {
                    on_collision = OnCollision::Replace;
                }
            }
            merge::server(
                draft,
                &Part::Approver,
                approver::NAME,
                &wanted,
                on_collision,
                &mut self.plan,
            );
        }
        Ok(())
    }

    /// The approver's identity in requirements that list servers: they switch off all others.
    fn identity(&mut self, file: &Path, program: &Program) -> Result<(), Error> {
        let draft = self.draft(Scope::System, file)?;
        if draft
            .document()
            .get(&KeyPath::new(["mcp_servers"]))
            .is_none()
        {
            return Ok(());
        }
        let path = approver::identity_path();
        let older = draft
            .document()
            .get(&path)
            .is_some_and(|node| node.as_str().is_some_and(super::parts::program::is_own));
        let on_collision = if older {
            OnCollision::Replace
        } else {
            self.request.on_collision
        };
        if let Some(draft) = self.drafts.get_mut(file) {
            merge::value(
                draft,
                &Part::Approver,
                &path,
                &Value::from(program.command()),
                on_collision,
                &mut self.plan,
            );
        }
        Ok(())
    }

    fn rule(&mut self, program: &Program) -> Result<(), Error> {
        let wanted_here = [Scope::Project, Scope::User]
            .iter()
            .any(|scope| self.request.scopes.contains(scope));
        let Some(home) = self.site.codex_home.clone().filter(|_| wanted_here) else {
            return Ok(());
        };
        let mut draft = PlainDraft::open(&home.join(rule::FILE), None, PRIVATE)?;
        let wanted = rule::text(&program.paths());
        if draft.text() == wanted {
            return Ok(());
        }
        let present = draft.text().to_owned();
        let ours = present.is_empty() || rule::is_ours(&present);
        if !ours && self.request.on_collision != OnCollision::Replace {
            let why = "a file of this name is there with other content";
            self.taken(&draft, Part::Rule, why, Span::at(0), wanted, true);
            return Ok(());
        }
        let edits = vec![Edit::replace(Span::new(0, present.len()), wanted.clone())];
        let old = (!present.is_empty()).then_some(present);
        draft.step(&Part::Rule, KeyPath::root(), old, Some(wanted), edits);
        self.plain.push(draft);
        Ok(())
    }

    /// A plain file that cannot be changed.
    fn taken(
        &mut self,
        draft: &PlainDraft,
        part: Part,
        why: &str,
        span: Span,
        by_hand: String,
        replaceable: bool,
    ) {
        let (file, path) = (draft.path().to_path_buf(), KeyPath::root());
        if self.request.on_collision == OnCollision::Skip {
            self.plan.skipped.push(Skipped { part, file, path });
            return;
        }
        self.plan.collisions.push(Collision {
            part,
            path,
            source: draft.exists().then(|| Source {
                path: file.clone(),
                text: draft.original().to_owned(),
                span,
            }),
            file,
            kind: CollisionKind::Taken {
                why: why.to_owned(),
            },
            by_hand,
            replaceable,
        });
    }

    fn guide(&mut self) -> Result<(), Error> {
        let file = self.site.project.join(guide::FILE);
        let mut draft = PlainDraft::open(&file, Some(&self.site.project), SHARED)?;
        match guide::change(draft.text()) {
            Ok(None) => {}
            Ok(Some(change)) => {
                let path = KeyPath::root();
                draft.step(
                    &Part::Guide,
                    path,
                    change.old,
                    Some(change.new),
                    vec![change.edit],
                );
                self.plain.push(draft);
            }
            Err(why) => {
                self.taken(&draft, Part::Guide, &why, Span::at(0), String::new(), false);
            }
        }
        Ok(())
    }

    fn hooks(&mut self, program: &Program, codex: &dyn AskCodex) -> Result<(), Error> {
        let (json, toml) = (
            self.site.dot_codex().join(HOOKS_JSON),
            self.site.dot_codex().join(CONFIG_TOML),
        );
        let mut draft = PlainDraft::open(&json, Some(&self.site.project), SHARED)?;
        let in_toml =
            !draft.exists() && hooks::stands_in_toml(self.draft(Scope::Project, &toml)?.document());
        let command = program.command();
        if in_toml {
            let Some(config) = self.drafts.get_mut(&toml) else {
                return Ok(());
            };
            for ours in &hooks::OURS {
                let path = hooks::toml_path(ours);
                match hooks::install_toml(config.document(), ours, command) {
                    Ok(None) => {}
                    Ok(Some(change)) => {
                        let old = config.document().get(&path).map(Node::value);
                        let value = change.document.get(&path).map(Node::value);
                        let value = value.unwrap_or_else(|| Value::Array(Vec::new()));
                        let action = match old {
                            Some(old) => Action::Replaced { old, value },
                            None => Action::Added { value },
                        };
                        config.adopt(&Part::Hooks, &path, action, change);
                    }
                    Err(why) => {
                        let kind = CollisionKind::NoPlace { why };
                        let wanted = ours.group(command).to_string();
                        merge::collide_by_hand(
                            config,
                            &Part::Hooks,
                            &path,
                            kind,
                            wanted,
                            &mut self.plan,
                        );
                        return Ok(());
                    }
                }
            }
            return self.trust_hooks(&toml, CONFIG_TOML, command, codex);
        }
        match hooks::install(draft.text(), command) {
            Ok(changes) => {
                for change in changes {
                    let parts = std::iter::once("hooks").chain(change.event);
                    let path = change
                        .event
                        .map_or_else(KeyPath::root, |_| KeyPath::new(parts));
                    draft.step(&Part::Hooks, path, change.old, change.new, change.edits);
                }
                self.plain.push(draft);
            }
            Err(why) => {
                let by_hand = hooks::install("", command)
                    .ok()
                    .and_then(|changes| changes.into_iter().next()?.new)
                    .unwrap_or_default();
                self.taken(&draft, Part::Hooks, &why, Span::at(0), by_hand, false);
                return Ok(());
            }
        }
        self.trust_hooks(&json, HOOKS_JSON, command, codex)
    }

    /// The trust of our hooks in `file`, as they would be. Codex skips a hook without a word until
    /// the user's config names its digest.
    fn trust_hooks(
        &mut self,
        file: &Path,
        name: &str,
        command: &str,
        codex: &dyn AskCodex,
    ) -> Result<(), Error> {
        let Some(home) = self.site.codex_home.clone() else {
            return Ok(());
        };
        if least_trust(&self.after(), file) == Some(HookTrust::Trusted) {
            return Ok(());
        }
        let (text, positions): (String, Vec<Vec<usize>>) = if name == HOOKS_JSON {
            let text = self.plain.iter().find(|draft| draft.path() == file);
            let text = text
                .map(|draft| draft.text().to_owned())
                .unwrap_or_default();
            let value = serde_json::from_str(&text).unwrap_or_default();
            let at = hooks::OURS.iter().map(|ours| ours.positions(&value));
            (text.clone(), at.collect())
        } else {
            let document = self.drafts.get(file).map(Draft::document);
            let at = hooks::OURS.iter().map(|ours| {
                document.map_or_else(Vec::new, |document| hooks::toml_positions(ours, document))
            });
            let at = at.collect();
            (document.and_then(hooks::toml_alone).unwrap_or_default(), at)
        };
        let seen = match codex.hooks(name, &text) {
            Ok(seen) => seen,
            Err(why) => {
                self.plan.notes.push(format!(
                    "the hooks are not trusted yet ({why}), so Codex skips them: run `codexgate \
                     install --codex PATH`, or trust them where Codex's terminal asks"
                ));
                return Ok(());
            }
        };
        let config = home.join(CONFIG_TOML);
        self.draft(Scope::User, &config)?;
        let Some(draft) = self.drafts.get_mut(&config) else {
            return Ok(());
        };
        let Some(file) = file.to_str() else {
            return Ok(());
        };
        for (ours, at) in hooks::OURS.iter().zip(positions) {
            let Some(at) = at.last() else { continue };
            let position = ours.state(*at);
            // Only for a handler that is ours to the letter, as Codex read it.
            let hash = seen
                .iter()
                .find(|hook| hook.position == position && hook.command == ours.command(command))
                .map(|hook| hook.hash.clone());
            let Some(hash) = hash else {
                self.plan.notes.push(format!(
                    "Codex does not list the hook of `{}`; it is not trusted",
                    ours.event
                ));
                continue;
            };
            let key = format!("{file}{position}");
            merge::value(
                draft,
                &Part::Hooks,
                &KeyPath::new(["hooks", "state", &key, "trusted_hash"]),
                &Value::from(hash),
                // The position is our handler's: what stands there is about an older one.
                OnCollision::Replace,
                &mut self.plan,
            );
        }
        Ok(())
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
            approver: then.policy().is_some_and(|policy| {
                let mut servers = policy.servers.iter();
                servers.any(|server| server.name == approver::NAME && server.enabled)
            }),
            hooks: [HOOKS_JSON, CONFIG_TOML]
                .iter()
                .find_map(|name| least_trust(&after, &self.site.dot_codex().join(name))),
        };
        let mut plan = self.plan;
        plan.notes.extend(pin_note(&self.drafts));
        plan.files = self
            .drafts
            .into_values()
            .filter_map(Draft::finish)
            .collect();
        plan.files
            .extend(self.plain.into_iter().filter_map(PlainDraft::finish));
        (plan, standing)
    }
}

/// The least trust among our hooks in `file`, once the project is trusted. None where there is none.
fn least_trust(sources: &Sources, file: &Path) -> Option<HookTrust> {
    let trusted = Effective::resolve(
        sources,
        &Question {
            trusted: Some(true),
            ..Question::default()
        },
    );
    let policy = trusted.policy()?;
    let mut ours = policy.hooks.iter().filter(|hook| {
        let command = hook.handler.command.as_deref().unwrap_or_default();
        let known = |ours: &hooks::Ours| ours.event == hook.handler.event.name;
        hook.path == file
            && hooks::OURS
                .iter()
                .any(|ours| known(ours) && ours.is_own_command(command))
    });
    let first = ours.next()?.trust;
    Some(ours.fold(first, |least, hook| {
        if least == HookTrust::Trusted {
            hook.trust
        } else {
            least
        }
    }))
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
