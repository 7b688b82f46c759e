//! Makes a configuration small that shows something.

use crate::scenario::Scenario;
use serde_json::{Value, json};

/// The smallest configuration found below `scenario` that still `shows` it: each file, line,
/// flag and wish is taken away that can be.
pub fn shrink(scenario: &Scenario, mut shows: impl FnMut(&Scenario) -> bool) -> Scenario {
    let mut best = scenario.clone();
    loop {
        let mut smaller = false;
        for candidate in candidates(&best) {
            // Each is made anew from the best one, so that what was taken away stays away.
            let Some(candidate) = candidate.from(&best) else {
                continue;
            };
            if candidate != best && shows(&candidate) {
                best = candidate;
                smaller = true;
            }
        }
        if !smaller {
            return best;
        }
    }
}

/// One thing that can be taken away.
enum Step {
    File(String),
    Line(String, String),
    Member(String, String),
    Plain(String),
    Wish(String),
    Flag(usize),
    Parameter(String),
}

/// What can be taken away, the biggest first.
fn candidates(scenario: &Scenario) -> Vec<Step> {
    let mut steps: Vec<Step> = scenario.files.keys().cloned().map(Step::File).collect();
    for wish in ["args", "thread", "git", "trust", "cwd", "symlinks"] {
        if scenario.spec.contains_key(wish) {
            steps.push(Step::Wish(wish.to_owned()));
        }
    }
    steps.extend((0..scenario.words("args").len()).map(Step::Flag));
    let parameters = scenario.spec.get("thread").and_then(Value::as_object);
    steps.extend(
        parameters
            .into_iter()
            .flatten()
            .map(|(key, _)| Step::Parameter(key.clone())),
    );
    for (name, bytes) in &scenario.files {
        let text = String::from_utf8_lossy(bytes);
        steps.push(Step::Plain(name.clone()));
        for line in text.lines() {
            steps.push(Step::Line(name.clone(), line.to_owned()));
        }
        for line in text.lines() {
            for member in members(line) {
                steps.push(Step::Member(name.clone(), member));
            }
        }
    }
    steps
}

impl Step {
    fn from(&self, scenario: &Scenario) -> Option<Scenario> {
        let mut smaller = scenario.clone();
        match self {
            Self::File(name) => {
                smaller.files.remove(name)?;
            }
            Self::Line(name, line) => {
                let text = text_of(&smaller, name)?;
                let kept: Vec<&str> = text.lines().collect();
                let at = kept.iter().position(|kept| kept == line)?;
                let mut kept = kept;
                kept.remove(at);
                let kept: String = kept.iter().flat_map(|line| [*line, "\n"]).collect();
                smaller.files.insert(name.clone(), kept.into_bytes());
            }
            Self::Member(name, member) => {
                let text = text_of(&smaller, name)?;
                let kept = text.replacen(member, "", 1);
                smaller.files.insert(name.clone(), kept.into_bytes());
            }
            Self::Plain(name) => {
                let plain = text_of(&smaller, name)?.replace(['\r', '\u{feff}'], "");
                smaller.files.insert(name.clone(), plain.into_bytes());
            }
            Self::Wish(wish) => {
                smaller.spec.remove(wish)?;
            }
            Self::Flag(at) => {
                let mut args = smaller.words("args");
                let is_flag = args.get(*at).is_some_and(|arg| arg.starts_with('-'));
                let is_value = |arg: &String| !arg.starts_with('-');
                let end = at + 1 + usize::from(args.get(at + 1).is_some_and(is_value));
                if !is_flag {
                    return None;
                }
                args.drain(*at..end);
                smaller.spec.insert("args".to_owned(), json!(args));
            }
            Self::Parameter(key) => {
                smaller
                    .spec
                    .get_mut("thread")?
                    .as_object_mut()?
                    .remove(key)?;
            }
        }
        Some(smaller)
    }
}

fn text_of(scenario: &Scenario, name: &str) -> Option<String> {
    String::from_utf8(scenario.files.get(name)?.clone()).ok()
}

/// The members of a list or inline table in `line`, each with one of the commas beside it.
fn members(line: &str) -> Vec<String> {
    let Some(inner) = line.find(['{', '[']).map(|at| &line[at + 1..]) else {
        return Vec::new();
    };
    let parts: Vec<&str> = inner.split(',').collect();
    let before = parts
        .iter()
        .skip(1)
        .map(|part| format!(",{}", part.trim_end_matches([']', '}', ' '])));
    let after = parts
        .iter()
        .rev()
        .skip(1)
        .map(|part| format!("{},", part.trim_start_matches(['[', '{', ' '])));
    before.chain(after).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_matter_is_taken_away() {
        let mut scenario = Scenario::default();
        scenario.spec.insert("git".to_owned(), json!(true));
        scenario
            .spec
            .insert("args".to_owned(), json!(["-c", "a=1", "-c", "b=2"]));
        let text = "\u{feff}x = 1\r\ny = {a = 1, b = 2, c = 3}\r\n[t]\r\nz = 1\r\n";
        scenario
            .files
            .insert("home/config.toml".to_owned(), text.into());
        scenario
            .files
            .insert("etc/config.toml".to_owned(), "x = 1\n".into());
        let small = shrink(&scenario, |candidate| {
            let text = text_of(candidate, "home/config.toml").unwrap_or_default();
            text.contains("b = 2") && candidate.words("args").contains(&"b=2".to_owned())
        });
        assert_eq!(small.words("args"), ["-c", "b=2"]);
        assert_eq!(small.files.len(), 1);
        assert_eq!(
            text_of(&small, "home/config.toml").as_deref(),
            Some("y = { b = 2}\n")
        );
        assert!(!small.spec.contains_key("git"));
    }
}
