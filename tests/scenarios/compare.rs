//! Field by field: what the model says, and what Codex said.

use std::collections::BTreeSet;
use std::path::PathBuf;

use codexgate::codex::effective::{ApprovalPolicy, Effective, Question, SandboxMode, Surface};
use codexgate::codex::layer::Flags;
use codexgate::codex::requirements::Reviewer;
use codexgate::codex::version::{Change, NEWEST};
use codexgate::codex::{Sources, Version, effective};
use serde_json::{Map, Value, json};

use crate::scenario::Scenario;

/// Where the recorded Codex looked for programs.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

type Field = (&'static str, Option<String>);

/// Each field that was recorded, with the difference if there is one.
pub fn compare(name: &str, scenario: &Scenario, version: Version) -> Vec<Field> {
    let mut fields = Vec::new();
    let expected = &scenario.expected;
    let only = scenario.spec.get("expect_only").and_then(Value::as_array);
    let is_recorded = |name: &str| {
        only.is_none_or(|names| names.iter().any(|known| known.as_str() == Some(name)))
    };
    let arguments = Arguments::read(&scenario.args());
    if !version.has(Change::ExecWritesNoTrust) {
        // The recorded `exec` came first, and older ones write trust.
        scenario.write_trust(&arguments.exec(scenario, version));
    }
    let (told, warned) = ask(scenario, &arguments.app_server(scenario, version));
    let told = scenario.scrub(&told);
    // `config/read` was asked before the thread's parameters came.
    let mut question = arguments.app_server(scenario, version);
    (question.sandbox, question.approval) = (None, None);
    let read = if scenario.spec["thread"].is_null() {
        told.clone()
    } else {
        scenario.scrub(&ask(scenario, &question).0)
    };
    fields.push(field("starts", &told["starts"], &expected["starts"]));
    if expected["starts"] == json!(false) && told["starts"] == json!(false) {
        fields.push(place(&told["error"], &expected["error"]));
    }
    let agrees = told["starts"] == expected["starts"];
    let starts = expected["starts"] == json!(true);
    for field_name in [
        "approval_policy",
        "approvals_reviewer",
        "sandbox",
        "permission_profile",
        "layers",
        "origins",
        "mcp_servers",
        "config",
        "requirements",
        "hooks",
    ] {
        if !agrees || !starts || !is_recorded(field_name) {
            continue;
        }
        let told = match field_name {
            "layers" | "origins" | "mcp_servers" | "config" | "hooks" => &read,
            _ => &told,
        };
        let (ours, theirs) = match field_name {
            "origins" => (
                without_arrays(&told[field_name]),
                without_arrays(&expected[field_name]),
            ),
            "mcp_servers" => (servers(&told[field_name]), servers(&expected[field_name])),
            "hooks" => (hooks(&told[field_name]), hooks(&expected[field_name])),
            "requirements" => (
                limits(&told[field_name], version),
                limits(&expected[field_name], version),
            ),
            _ => (told[field_name].clone(), expected[field_name].clone()),
        };
        fields.push(field(field_name, &ours, &theirs));
    }
    if agrees && starts && is_recorded("warnings") {
        fields.push(ignored(&warned, &expected["warnings"]));
        fields.push(refused(&warned, &expected["warnings"]));
    }
    // Older versions were not asked what `exec` does in these.
    let unasked = ["mcp-", "hooks-", "rules-", "shape-"];
    let is_asked = version == NEWEST || !unasked.iter().any(|start| name.starts_with(start));
    if let Some(exec) = expected["cli"].get("exec")
        && is_recorded("cli")
        && is_asked
    {
        fields.extend(compare_exec(scenario, &arguments, version, exec));
        fields.extend(compare_list(scenario, &arguments, version, expected));
    }
    fields
}

fn compare_exec(
    scenario: &Scenario,
    arguments: &Arguments,
    version: Version,
    exec: &Value,
) -> Vec<Field> {
    let usage = arguments.is_wrong_for_exec
        || (arguments.approve_for_me && arguments.sandbox.is_some())
        || (arguments.full_auto && version.has(Change::NoFullAuto))
        || (arguments.approve_for_me && !version.has(Change::ApproveForMe))
        || (arguments.trust && !version.has(Change::ExecTrustFlag));
    let question = arguments.exec(scenario, version);
    let (told, _) = ask(scenario, &question);
    let starts = told["starts"] == json!(true) && !usage;
    let mut fields = vec![field("exec.starts", &json!(starts), &exec["starts"])];
    if !starts || exec["starts"] != json!(true) {
        return fields;
    }
    let approval = match &told["approval_policy"] {
        Value::String(word) => word.clone(),
        Value::Object(_) => "granular".to_owned(),
        _ => String::new(),
    };
    fields.push(field("exec.approval", &approval.into(), &exec["approval"]));
    let printed = exec["sandbox"].as_str().unwrap_or_default();
    let theirs = printed.split(" [").next().unwrap_or_default();
    let theirs = theirs.split(" (").next().unwrap_or_default();
    fields.push(field("exec.sandbox", &told["word"], &theirs.into()));
    fields
}

/// `codex mcp list` reads the same layers, takes `-p`, and starts no thread.
fn compare_list(
    scenario: &Scenario,
    arguments: &Arguments,
    version: Version,
    expected: &Value,
) -> Vec<Field> {
    let list = &expected["cli"]["mcp_list"];
    let mut question = arguments.app_server(scenario, version);
    question.profile.clone_from(&arguments.profile);
    question.strict = false;
    (question.approval, question.sandbox) = (None, None);
    let starts = scenario.site().is_ok_and(|site| {
        let answer = Effective::resolve(&Sources::read(&site), &question);
        answer.before().starts.is_ok()
    });
    vec![field("mcp_list.starts", &json!(starts), &list["starts"])]
}

fn field(name: &'static str, ours: &Value, theirs: &Value) -> Field {
    let (ours, theirs) = (stable(ours), stable(theirs));
    let difference = (ours != theirs).then(|| format!("model {ours}, Codex {theirs}"));
    (name, difference)
}

/// Missing, null and empty are the same.
fn stable(value: &Value) -> Value {
    match value {
        Value::Array(items) if items.is_empty() => Value::Null,
        Value::Object(members) if members.is_empty() => Value::Null,
        other => other.clone(),
    }
}

/// Where an error points, if Codex pointed anywhere.
fn place(ours: &Value, theirs: &Value) -> Field {
    if theirs["line"].is_null() {
        return ("error.place", None);
    }
    let parts = |error: &Value| json!([error["path"], error["line"], error["col"]]);
    field("error.place", &parts(ours), &parts(theirs))
}

/// Elements of arrays are left out: Codex lists replaced ones.
fn without_arrays(origins: &Value) -> Value {
    let members = origins.as_object().into_iter().flatten();
    members
        .filter(|(path, _)| path.split('.').all(|part| part.parse::<usize>().is_err()))
        .map(|(path, layer)| (path.clone(), layer.clone()))
        .collect::<Map<String, Value>>()
        .into()
}

fn servers(servers: &Value) -> Value {
    let mut servers = servers.clone();
    let members = servers.as_object_mut().into_iter().flatten();
    let mut gone = Vec::new();
    for (name, server) in members {
        if server["only_in_mcp_list"] == json!(true) {
            gone.push(name.clone());
        }
        if let Some(server) = server.as_object_mut() {
            if server.contains_key("startup_error") {
                let is_name = server["startup_error"]
                    .as_str()
                    .is_some_and(|error| error.contains("name"));
                // Whether a program is there is not the model's to know.
                server.remove("startup_error");
                if is_name {
                    server.insert("startup_error".to_owned(), "name".into());
                }
            }
            let origin = server.get("origin").map_or(Value::Null, without_arrays);
            server.insert("origin".to_owned(), origin);
        }
    }
    for name in gone {
        servers.as_object_mut().map(|servers| servers.remove(&name));
    }
    servers
}

/// The words of warnings are Codex's own; here only how many there are.
fn hooks(hooks: &Value) -> Value {
    json!({
        "hooks": hooks["hooks"].as_array().cloned().unwrap_or_default(),
        "warnings": hooks["warnings"].as_array().map_or(0, Vec::len),
    })
}

/// Without what is shown and limits nothing: the text of hooks, and the network.
fn limits(requirements: &Value, version: Version) -> Value {
    let mut limits = requirements.clone();
    if let Some(members) = limits.as_object_mut() {
        // Which of the older versions tells it was asked in a few scenarios only.
        if !version.has(Change::TellsLoginMethods) {
            members.remove("allowedLoginMethods");
        }
        members.remove("hooks");
        members.remove("network");
    }
    limits
}

struct Warned {
    ignored: Vec<String>,
    refused: Vec<String>,
}

/// Ignored keys: Codex names three at most and then counts.
fn ignored(ours: &Warned, theirs: &Value) -> Field {
    let mut named = BTreeSet::new();
    let mut count = 0;
    for text in texts(theirs) {
        // What a thread that trusted the folder says in the end, it says anew.
        if text.starts_with("Codex is ignoring") {
            named.clear();
            count = 0;
        }
        for line in text.lines() {
            if let Some(key) = line
                .split_once('`')
                .and_then(|(_, rest)| rest.split_once("` is ignored"))
            {
                named.insert(key.0.to_owned());
                count += 1;
            } else if let Some(rest) = line.trim().strip_prefix("... and ") {
                let more = rest.split(' ').next().unwrap_or_default();
                count += more.parse::<usize>().unwrap_or_default();
            }
        }
    }
    let ours_named: BTreeSet<String> = ours.ignored.iter().cloned().collect();
    let is_same = count == ours.ignored.len() && named.is_subset(&ours_named);
    let difference =
        (!is_same).then(|| format!("model {ours_named:?}, Codex {named:?} of {count}"));
    ("warnings.ignored", difference)
}

/// Values that a requirement refused.
fn refused(ours: &Warned, theirs: &Value) -> Field {
    let mut found: Vec<String> = texts(theirs)
        .filter_map(|text| {
            let rest = text.strip_prefix("Configured value for `")?;
            let name = rest.split('`').next()?;
            Some(match name {
                "permission_profile" => "sandbox".to_owned(),
                other => other.to_owned(),
            })
        })
        .filter(|name| name != "web_search_mode")
        .collect();
    let mut ours = ours.refused.clone();
    found.sort();
    ours.sort();
    // Said once before a thread trusts the folder, and once after.
    found.dedup();
    ours.dedup();
    let difference = (ours != found).then(|| format!("model {ours:?}, Codex {found:?}"));
    ("warnings.refused", difference)
}

fn texts(warnings: &Value) -> impl Iterator<Item = &str> {
    let warnings = warnings.as_array().into_iter().flatten();
    warnings.filter_map(|warning| warning["text"].as_str())
}

fn ask(scenario: &Scenario, question: &Question) -> (Value, Warned) {
    let site = match scenario.site() {
        Ok(site) => site,
        Err(error) => {
            let told = json!({"starts": false, "error": {"message": error.to_string()}});
            return (
                told,
                Warned {
                    ignored: Vec::new(),
                    refused: Vec::new(),
                },
            );
        }
    };
    let sources = Sources::read(&site);
    let answer = Effective::resolve(&sources, question);
    let mut told = effective::json::answer(&answer, &sources);
    let mut refused = Vec::new();
    if let Ok(policy) = &answer.starts {
        told["word"] = policy.sandbox.value.word().into();
        refused = policy
            .refused
            .iter()
            .map(|refused| refused.what.to_owned())
            .collect();
    }
    let keys = scenario.scrub(&told["ignored"]);
    let keys = keys.as_array().into_iter().flatten();
    let ignored = keys
        .filter_map(|entry| entry["key"].as_str())
        .map(str::to_owned)
        .collect();
    (told, Warned { ignored, refused })
}

/// The arguments of a scenario, by the command that takes them.
#[derive(Default)]
struct Arguments {
    flags: Flags,
    profile: Option<String>,
    strict: bool,
    sandbox: Option<SandboxMode>,
    yolo: bool,
    approve_for_me: bool,
    ignore_user: bool,
    add_dirs: Vec<PathBuf>,
    trust: bool,
    full_auto: bool,
    is_wrong_for_exec: bool,
}

impl Arguments {
    fn read(args: &[String]) -> Self {
        let mut found = Self::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let mut value = || args.next().cloned().expect("the flag has a value");
            match arg.as_str() {
                "-c" => found.flags.config.push(value()),
                "--enable" => found.flags.enable.push(value()),
                "--disable" => found.flags.disable.push(value()),
                "-p" => found.profile = Some(value()),
                "--strict-config" => found.strict = true,
                "-s" => found.sandbox = SandboxMode::parse(&value()),
                "--yolo" | "--dangerously-bypass-approvals-and-sandbox" => found.yolo = true,
                "--approve-for-me" => found.approve_for_me = true,
                "--ignore-user-config" => found.ignore_user = true,
                "--add-dir" => found.add_dirs.push(value().into()),
                "--trust" => found.trust = true,
                "--full-auto" => found.full_auto = true,
                "-a" => {
                    value();
                    found.is_wrong_for_exec = true;
                }
                other => panic!("{other}"),
            }
        }
        found
    }

    fn app_server(&self, scenario: &Scenario, version: Version) -> Question {
        let thread = &scenario.spec["thread"];
        let cwd = scenario.cwd();
        Question {
            surface: Surface::AppServer,
            flags: self.flags.clone(),
            strict: self.strict,
            sandbox: thread["sandbox"].as_str().and_then(SandboxMode::parse),
            approval: thread["approvalPolicy"]
                .as_str()
                .and_then(|word| ApprovalPolicy::parse(&word.into(), version)),
            reviewer: thread["approvalsReviewer"]
                .as_str()
                .and_then(Reviewer::parse),
            // `exec --trust` wrote trust before the app server was asked.
            trusted: (self.trust && version.has(Change::ExecTrustFlag)).then_some(true),
            cwd: Some(cwd),
            path: Some(PATH.into()),
            version,
            ..Question::default()
        }
    }

    /// `exec` works in the folder itself, without the links that lead there.
    fn exec(&self, scenario: &Scenario, version: Version) -> Question {
        let _ = scenario;
        Question {
            surface: Surface::Exec,
            flags: self.flags.clone(),
            profile: self.profile.clone(),
            strict: self.strict,
            sandbox: match (self.yolo, self.approve_for_me) {
                (true, _) => Some(SandboxMode::DangerFullAccess),
                (_, true) => Some(SandboxMode::WorkspaceWrite),
                _ if self.full_auto => Some(SandboxMode::WorkspaceWrite),
                _ => self.sandbox,
            },
            approval: match (self.yolo, self.approve_for_me) {
                (true, _) => Some(ApprovalPolicy::Never),
                (_, true) => Some(ApprovalPolicy::OnRequest),
                _ => None,
            },
            reviewer: self.approve_for_me.then_some(Reviewer::AutoReview),
            add_dirs: self.add_dirs.clone(),
            ignore_user: self.ignore_user,
            trusted: self.trust.then_some(true),
            path: Some(PATH.into()),
            version,
            ..Question::default()
        }
    }
}
