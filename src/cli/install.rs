//! `codexgate install`: flags to wishes, a plan, and its end.

use std::path::PathBuf;

use indexmap::IndexMap;

use super::gate::{self, RealCodex};
use super::gated;
use super::state::State;
use super::write::{Act, Ended, Ending, Format, ScopeWord, scopes};
use super::{Exit, Failure, Globals, Places};
use crate::codex::Site;
use crate::codex::effective::HookTrust;
use crate::codex::trust::Level;
use crate::document::Value;
use crate::files::{self, Found};
use crate::plan::install::{Request, Standing, check_server};
use crate::plan::parts::program::Program;
use crate::plan::{OnCollision, Part, Plan, Scope, WantedServer, import, install, write};
use crate::report::plan as report;
use crate::report::ui::style;
use crate::report::{Diagnostic, Ui};
use crate::text::quote;

/// Put the gate, or MCP servers, into Codex's files
///
/// Merges key by key into the files that are there: comments, order, quotes, line ends and every
/// byte that is not in the shown diff stay. A key that is there with another value is a
/// collision: nothing is written anywhere, and the message shows both values. The diff is shown,
/// and one question asked, before anything is written.
///
/// Without a server it installs the gate into the project: the approver and what lets its questions
/// reach a person, the pin, the rule that lets `apply` leave the sandbox, the hooks, and a section
/// of AGENTS.md. They name this program by its path, so it must lie where no agent can write. With
/// `--server` or `--from` it merges only those servers.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  codexgate install                                   put the gate into this project
  codexgate install --server docs -- docs-mcp --stdio add one server to this project
  codexgate install --scope user --from servers.json  add the servers of a README for this user
  codexgate install --check                           exit 1 if something is missing (CI)

Exit codes: 0 done or nothing to do; 1 refused, or --check found a difference; 2 usage, or a
file cannot be read or written.")]
pub struct Args {
    /// Whose files to change; may be given several times [default: project]
    #[arg(long, value_name = "SCOPE")]
    scope: Vec<ScopeWord>,

    /// Merge the servers of FILE: TOML with `[mcp_servers.*]`, or the JSON of other clients
    #[arg(long, value_name = "FILE", help_heading = "Servers")]
    from: Vec<PathBuf>,

    /// Merge a server of this name; give `--url`, or a command after `--`
    #[arg(long, value_name = "NAME", help_heading = "Servers")]
    server: Option<String>,

    /// The server's address (streamable HTTP)
    #[arg(
        long,
        value_name = "URL",
        requires = "server",
        conflicts_with = "command",
        help_heading = "Servers"
    )]
    url: Option<String>,

    /// Hand this variable of Codex's environment to the server
    #[arg(
        long,
        value_name = "NAME",
        requires = "server",
        conflicts_with = "url",
        help_heading = "Servers"
    )]
    env_var: Vec<String>,

    /// Take the server's bearer token from this variable
    #[arg(long, value_name = "NAME", requires = "url", help_heading = "Servers")]
    bearer_token_env_var: Option<String>,

    /// The server's program and its arguments
    #[arg(
        last = true,
        value_name = "COMMAND",
        requires = "server",
        help_heading = "Servers"
    )]
    command: Vec<String>,

    /// Install the gate as well as the servers
    #[arg(long, help_heading = "Parts of the gate")]
    gate: bool,

    /// Leave out the approver, and with it what lets servers ask
    #[arg(long, help_heading = "Parts of the gate")]
    no_approver: bool,

    /// Leave out the pin
    #[arg(long, help_heading = "Parts of the gate")]
    no_pin: bool,

    /// Leave out the rule that lets `apply` leave the sandbox
    #[arg(long, help_heading = "Parts of the gate")]
    no_rule: bool,

    /// Leave out the hooks
    #[arg(long, help_heading = "Parts of the gate")]
    no_hooks: bool,

    /// Leave out the section of AGENTS.md
    #[arg(long, help_heading = "Parts of the gate")]
    no_guide: bool,

    /// With `--scope user`: register the approver for all projects
    #[arg(
        long,
        conflicts_with = "no_approver",
        help_heading = "Parts of the gate"
    )]
    approver: bool,

    /// Start the approver and the hooks by this name, found on PATH, in place of this program's path
    #[arg(long = "command", value_name = "NAME", value_parser = gate::bare_name)]
    #[arg(help_heading = "Parts of the gate")]
    program_name: Option<String>,

    /// The Codex to ask which digest trusts the hooks [default: $CODEX, else the one on PATH]
    #[arg(long, value_name = "PATH", help_heading = "Parts of the gate")]
    codex: Option<PathBuf>,

    /// Say in Codex's home that the project is trusted, so that its files are in force
    #[arg(long, help_heading = "Parts of the gate")]
    trust: bool,

    #[command(flatten)]
    ending: Ending,

    #[command(flatten)]
    places: Places,
}

pub(super) fn run(args: &Args, globals: &Globals, ui: &mut Ui) -> Result<Exit, Failure> {
    let named = args.named_server()?;
    let site = globals.site(&args.places)?;
    let state = State::find();
    let (mut servers, notes) = args.imported(globals)?;
    servers.extend(named);
    let mut request = args.request(&site, servers);
    let unsafe_program = args.find_program(&site, &mut request)?;
    let codex = RealCodex::find(args.codex.as_deref(), &state)?;
    let act = Act {
        command: "install",
        site: &site,
        scopes: &request.scopes,
        state: &state,
        ending: &args.ending,
    };
    act.recover(ui)?;
    let (mut plan, standing) = install::plan_with(&site, &request, &codex)?;
    plan.notes.splice(0..0, notes);
    plan.notes.extend(left_out(&site, &request));
    plan.notes.extend(unsafe_program);
    let records = match act.store() {
        Some(store) => write::records(&plan, &store)?,
        None => Vec::new(),
    };
    let refused = !plan.collisions.is_empty();
    let finished = act.finish(&plan, &records, ui);
    let (exit, ended) = match finished {
        Err(failure) => return Err(needs_root(failure, &request)),
        Ok(finished) => finished,
    };
    if let (Ended::Written, true, Some(program)) = (ended, request.approver, &request.program) {
        gate::check_approver(&site, program)?;
    }
    // A digest that nobody here can bring up to date is a difference all the same.
    let is_stale = request.hooks && standing.hooks == Some(HookTrust::Modified);
    let exit = match exit {
        Exit::Done if is_stale && args.ending.is_check() => Exit::Refused,
        exit => exit,
    };
    if args.ending.format == Format::Json {
        return Ok(exit);
    }
    if refused {
        show_replacement(&site, &request, &codex, ui)?;
        return Ok(exit);
    }
    match ended {
        Ended::Nothing => ui.say("nothing changed: everything is there already"),
        Ended::Shown => {
            ui.say("nothing was written");
            return Ok(exit);
        }
        Ended::Written => {
            if let State::Unusable { why } = &state {
                ui.say(format!(
                    "note: no record was kept, so `uninstall` will work by value: {why}"
                ));
            }
        }
    }
    closing(&site, &request, &plan, &standing, ui);
    Ok(exit)
}

impl Args {
    /// The server of the flags, checked before anything is read.
    fn named_server(&self) -> Result<Option<WantedServer>, Failure> {
        let Some(name) = &self.server else {
            return Ok(None);
        };
        let mut values: IndexMap<String, Value> = IndexMap::new();
        match (self.command.split_first(), &self.url) {
            (Some((program, rest)), _) => {
                values.insert("command".to_owned(), Value::from(program.clone()));
                if !rest.is_empty() {
                    values.insert("args".to_owned(), Value::from(rest.to_vec()));
                }
                if !self.env_var.is_empty() {
                    values.insert("env_vars".to_owned(), Value::from(self.env_var.clone()));
                }
            }
            (None, Some(url)) => {
                values.insert("url".to_owned(), Value::from(url.clone()));
                if let Some(variable) = &self.bearer_token_env_var {
                    values.insert(
                        "bearer_token_env_var".to_owned(),
                        Value::from(variable.clone()),
                    );
                }
            }
            (None, None) => {
                return Err(Failure::new(
                    Exit::Unable,
                    Diagnostic::error(format!("server `{name}` has neither a command nor a URL"))
                        .help("give `--url URL`, or the program and its arguments after `--`"),
                ));
            }
        }
        let wanted = WantedServer {
            name: name.clone(),
            values,
        };
        check_server(&wanted)?;
        Ok(Some(wanted))
    }

    /// The servers of all `--from` files, and what was translated in them.
    fn imported(&self, globals: &Globals) -> Result<(Vec<WantedServer>, Vec<String>), Failure> {
        let (mut servers, mut notes) = (Vec::new(), Vec::new());
        for file in &self.from {
            let path = match globals.directory() {
                Some(directory) => directory.join(file),
                None => file.clone(),
            };
            let Found::File(snapshot) = files::read(&path, files::CONFIG_LIMIT)? else {
                return Err(Failure::new(
                    Exit::Unable,
                    Diagnostic::error(format!("`{}` is not there", file.display())),
                ));
            };
            let imported = import::parse(&file.display().to_string(), &snapshot.bytes)?;
            servers.extend(imported.servers);
            notes.extend(imported.notes.iter().map(ToString::to_string));
        }
        Ok((servers, notes))
    }

    fn request(&self, site: &Site, servers: Vec<WantedServer>) -> Request {
        let gate = self.gate || servers.is_empty();
        let scopes = scopes(&self.scope);
        let home_only = scopes == [Scope::User] && site.codex_home.is_none();
        Request {
            approver: gate && !self.no_approver,
            approver_for_user: gate && self.approver && site.codex_home.is_some(),
            elicitations: gate && !self.no_approver && !home_only && scopes != [Scope::System],
            pin: gate && !self.no_pin,
            rule: gate && !self.no_rule && site.codex_home.is_some(),
            hooks: gate && !self.no_hooks,
            guide: gate && !self.no_guide,
            program: None,
            trust: self.trust && site.codex_home.is_some(),
            on_collision: self.ending.on_collision.into(),
            servers,
            scopes,
        }
    }
}

impl Args {
    /// Puts this program into `request`, if a part names it. Where there is no home, an image or a
    /// checkout is being prepared: the parts that would name an unsafe program are then left out,
    /// and the note that comes back says so, unless `--gate` asks for them by name.
    fn find_program(&self, site: &Site, request: &mut Request) -> Result<Option<String>, Failure> {
        match self.program(site, request) {
            Ok(program) => {
                request.program = program;
                Ok(None)
            }
            Err(failure) if site.codex_home.is_none() && !self.gate => {
                request.approver = false;
                request.hooks = false;
                Ok(Some(format!(
                    "left out: approver, hooks; {}",
                    failure.diagnostic().title()
                )))
            }
            Err(failure) => Err(failure),
        }
    }

    /// This program, if a part names it.
    fn program(&self, site: &Site, request: &Request) -> Result<Option<Program>, Failure> {
        let has = |scope| request.scopes.contains(&scope);
        let named = has(Scope::Project) && (request.approver || request.hooks || request.rule)
            || has(Scope::User) && (request.approver_for_user || request.rule);
        let name = self.program_name.as_deref();
        if named {
            return gate::program(site, name).map(Some);
        }
        // In the system's files it stands only where requirements list servers.
        Ok((has(Scope::System) && request.approver)
            .then(|| gate::program(site, name).ok())
            .flatten())
    }
}

/// Parts that live in a home, where there is none.
fn left_out(site: &Site, request: &Request) -> Vec<String> {
    if site.codex_home.is_some() {
        return Vec::new();
    }
    let mut parts = vec!["trust"];
    if request.approver || request.hooks {
        parts.extend(["rule", "trust of the hooks"]);
    }
    if request.scopes.contains(&Scope::User) {
        parts.push("elicitations of the user's files");
    }
    vec![format!(
        "left out, since neither `HOME` nor `CODEX_HOME` is set: {}",
        parts.join(", ")
    )]
}

/// What `--on-collision replace` would do, so that the choice can be made with open eyes.
fn show_replacement(
    site: &Site,
    request: &Request,
    codex: &RealCodex,
    ui: &mut Ui,
) -> Result<(), Failure> {
    let replacing = Request {
        on_collision: OnCollision::Replace,
        ..request.clone()
    };
    let (plan, _) = install::plan_with(site, &replacing, codex)?;
    if plan.collisions.is_empty() && !plan.is_empty() {
        ui.say("with `--on-collision replace` this would change:");
        ui.out(report::diffs(&plan, &site.cwd));
    }
    Ok(())
}

fn needs_root(failure: Failure, request: &Request) -> Failure {
    if failure.exit() != Exit::Unable || !request.scopes.contains(&Scope::System) {
        return failure;
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    failure.hint(format!(
        "the system's file needs its owner's rights: `sudo {}`",
        gated::own_command(&words)
    ))
}

/// The four lines at the end: in force, not in force, next, and a line to try.
fn closing(site: &Site, request: &Request, plan: &Plan, standing: &Standing, ui: &mut Ui) {
    let trusted = standing.trust == Level::Trusted;
    let project = request.scopes.contains(&Scope::Project);
    let names: Vec<String> = request
        .servers
        .iter()
        .map(|server| format!("server `{}`", server.name))
        .collect();
    let mut here = Vec::new();
    let mut missing = Vec::new();
    match (&standing.does_not_start, &standing.approval) {
        (Some(why), _) => missing.push(format!("anything: Codex does not start here ({why})")),
        (None, Some(policy)) => here.push(format!("approvals `{}`", policy.word())),
        (None, None) => {}
    }
    here.extend(standing.sandbox.map(|word| format!("sandbox `{word}`")));
    if standing.does_not_start.is_none() && (!project || trusted) {
        here.extend(names);
    } else if project && !trusted {
        missing.push(format!(
            "the project's files: written, not in force, since Codex does not trust `{}` yet; \
             `codexgate install --trust` says so, or answer Codex's question with yes",
            standing.trust_key.display()
        ));
    }
    if request.program.is_some() && project {
        gate_parts(request, standing, trusted, &mut here, &mut missing);
    }
    if request.pin {
        if standing.pinned {
            here.push("the system's pin".to_owned());
        } else {
            missing.push(
                "the pin: declared here, enforced by Codex only from the system's file; \
                 `sudo codexgate install --scope system`"
                    .to_owned(),
            );
        }
    }
    let folder = site.project.display().to_string();
    let program = request.program.as_ref().filter(|_| request.rule);
    let try_it = if let Some(program) = program {
        format!("{} apply -- touch made", quote::word(program.path()))
    } else if request.servers.is_empty() {
        "codexgate lint".to_owned()
    } else {
        "codex mcp list".to_owned()
    };
    let next = if plan.is_empty() {
        "nothing: it was all there".to_owned()
    } else {
        format!("start Codex anew in {}", quote::word(&folder))
    };
    machine_path(plan, request, ui);
    let or_nothing = |parts: Vec<String>| {
        if parts.is_empty() {
            "nothing".to_owned()
        } else {
            parts.join("; ")
        }
    };
    for (name, text) in [
        ("in force:    ", or_nothing(here)),
        ("not in force:", or_nothing(missing)),
        ("next:        ", next),
        ("try:         ", try_it),
    ] {
        ui.say(format!(
            "{}{name}{:#} {text}",
            style::HEADING,
            style::HEADING
        ));
    }
}

/// What of the approver and the hooks is in force.
fn gate_parts(
    request: &Request,
    standing: &Standing,
    trusted: bool,
    here: &mut Vec<String>,
    missing: &mut Vec<String>,
) {
    if request.approver && trusted {
        if standing.approver {
            here.push("the approver".to_owned());
        } else {
            missing.push(
                "the approver: Codex has it switched off, as `codex mcp list` says why".to_owned(),
            );
        }
    }
    match standing.hooks {
        Some(HookTrust::Trusted | HookTrust::Managed) if trusted => here.push("the hooks".to_owned()),
        Some(HookTrust::Modified | HookTrust::Untrusted) => missing.push(
            "the hooks: Codex skips them until they are trusted; `codexgate install --codex PATH`, \
             or say so where Codex's terminal asks"
                .to_owned(),
        ),
        _ => {}
    }
}

/// That a path in the project's files is this machine's, where one was written.
fn machine_path(plan: &Plan, request: &Request, ui: &mut Ui) {
    let Some(program) = &request.program else {
        return;
    };
    let in_project = plan
        .files
        .iter()
        .flat_map(|file| &file.steps)
        .any(|step| matches!(step.part, Part::Approver | Part::Hooks));
    if in_project && program.command() == program.path() {
        ui.say(format!(
            "note: `{}` is a path of this machine; where others share this repository, install \
             with `--command codexgate`, or once for you with `--scope user --approver`",
            program.path()
        ));
    }
}
