//! What the rules of `lint` say of Codex, held against Codex: their own examples, laid out in a lab.
//!
//! A rule that says that Codex does not start is right where it does not, and an example without
//! such a finding has to start. Which rules files count is asked by a file that breaks all of them.

use codexgate::codex::version::Version;
use codexgate::lint::example::unmark;
use codexgate::lint::registry::RULES;
use codexgate::lint::{Case, Home, Input, Kind, Severity};
use serde_json::json;

use crate::ask::Question;
use crate::scenario::Scenario;
use crate::{program, worker};

/// Rules whose errors say that Codex does not start.
const STOPS: &[&str] = &[
    "approval-value-removed",
    "granular-incomplete",
    "key-wrong-type",
    "reference-missing",
    "requirements-invalid",
    "requirements-no-read-only",
    "server-key-wrong-transport",
    "server-mixed-transport",
    "server-no-transport",
    "syntax",
    "value-invalid",
];

/// Rules whose findings stop Codex or not, by what the file says beside.
const MAY_STOP: &[&str] = &[
    "encoding",
    "key-swallowed",
    "profile-removed",
    "requirements-contradicted",
    "requirements-unknown-key",
    "unreadable",
    "wrong-shape",
];

/// Where a file of an example lies in a scenario; `None` for one that no session reads.
fn name(kind: Kind, home: Home) -> Option<String> {
    let folder = match (home, kind) {
        (_, Kind::Managed) | (Home::System, _) => "etc",
        (Home::User, _) => "home",
        (Home::Project, _) => "project/.codex",
        (Home::Nested | Home::Loose, _) => return None,
    };
    match kind {
        Kind::Config | Kind::Managed | Kind::Requirements | Kind::Hooks => {
            Some(format!("{folder}/{}", kind.name()))
        }
        Kind::Rules => Some(format!("{folder}/rules/example.rules")),
        Kind::Profile | Kind::Folder | Kind::Script => None,
    }
}

fn scenario(case: &Case) -> Option<Scenario> {
    // What the disk says of it is not there in a lab.
    if !case.setup.is_empty() {
        return None;
    }
    let bytes = match case.input {
        Input::Text(marked) => unmark(marked).0.into_bytes(),
        Input::Bytes(bytes, _) => bytes.to_vec(),
        Input::Unreadable(_) | Input::Place(_) => return None,
    };
    let mut scenario = Scenario::default();
    scenario.files.insert(name(case.kind, case.home)?, bytes);
    for beside in case.beside {
        let text = beside.text.as_bytes().to_vec();
        scenario.files.insert(name(beside.kind, beside.home)?, text);
    }
    if scenario
        .files
        .keys()
        .any(|name| name.starts_with("project/"))
    {
        scenario.spec.insert("trust".to_owned(), json!("trusted"));
    }
    Some(scenario)
}

#[test]
fn what_stops_codex_is_an_error_and_nothing_else_is() {
    let Some(codex) = program::find_for("what_stops_codex_is_an_error_and_nothing_else_is") else {
        return;
    };
    let jobs: Vec<(&str, &Case, Scenario)> = RULES
        .iter()
        .flat_map(|rule| {
            let cases = rule.bad.iter().chain(rule.good);
            cases.map(|case| (rule.id, case))
        })
        .filter_map(|(id, case)| Some((id, case, scenario(case)?)))
        .collect();
    let answers = worker::each(&codex, &jobs, |worker, (_, _, scenario)| {
        worker.ask(scenario, Question::AppServer)
    });
    let mut wrong = Vec::new();
    let mut stopped = 0;
    for ((id, case, _), answer) in jobs.iter().zip(answers) {
        let answer = answer.unwrap_or_else(|why| panic!("{id}: {why}: {:?}", case.input));
        let judged = case.judge(Version::default());
        let is_toml = case.kind.is_toml();
        let named = |rules: &[&str], severity: Severity| {
            judged.findings.iter().chain(&judged.beside).any(|finding| {
                finding.severity >= severity
                    && rules.contains(&finding.rule.id)
                    && (finding.rule.id != "syntax" || is_toml)
            })
        };
        let starts = answer["codex"]["starts"] == true;
        stopped += usize::from(!starts);
        let says_stops = named(STOPS, Severity::Error);
        // Half of something in one file: another may have the rest.
        let may_stop = named(MAY_STOP, Severity::Info) || named(STOPS, Severity::Info);
        if starts == says_stops && (says_stops || !may_stop) {
            wrong.push(format!(
                "{id}: Codex {}: {:?} {}",
                if starts { "starts" } else { "does not start" },
                case.input,
                answer["codex"]["error"]["message"]
            ));
        }
        if case.kind == Kind::Rules {
            let refused = answer["codex"]["warnings"].to_string().contains("rules");
            let says = judged.findings.iter().any(|finding| {
                finding.severity == Severity::Error
                    && (finding.rule.id == "rules-broken" || finding.rule.id == "encoding")
            });
            if refused != says {
                wrong.push(format!(
                    "{id}: rules are refused: {refused}: {:?}",
                    case.input
                ));
            }
        }
    }
    assert!(stopped > 20, "{stopped}");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn rules_are_read_from_plain_files_in_their_folder_alone() {
    let Some(codex) = program::find_for("rules_are_read_from_plain_files_in_their_folder_alone")
    else {
        return;
    };
    let at = |name: &str| {
        let mut scenario = Scenario::default();
        scenario.files.insert(name.to_owned(), b"nope(\n".to_vec());
        scenario
    };
    let link = |link: &str, target: &str| {
        let mut scenario = at("user/elsewhere/a.rules");
        let links = json!({ link: target });
        scenario.spec.insert("symlinks".to_owned(), links);
        scenario
    };
    let jobs = [
        (at("home/rules/a.rules"), true),
        (at("home/rules/.a.rules"), true),
        (link("home/rules", "@HOME@/elsewhere"), true),
        (
            link("home/rules/a.rules", "@HOME@/elsewhere/a.rules"),
            false,
        ),
        (at("home/rules/team/a.rules"), false),
        (at("home/rules/a.star"), false),
    ];
    let answers = worker::each(&codex, &jobs, |worker, (scenario, _)| {
        worker.ask(scenario, Question::AppServer)
    });
    for ((scenario, is_read), answer) in jobs.iter().zip(answers) {
        let warnings = answer.expect("Codex answers")["codex"]["warnings"].to_string();
        assert_eq!(
            warnings.contains("rules"),
            *is_read,
            "{scenario:?}: {warnings}"
        );
    }
}
