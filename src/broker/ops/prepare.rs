//! What is looked at before Codex is asked: folders, images, nested configuration, the profile.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Map, Value, json};

use crate::broker::error::{Code, Error, Result};
use crate::broker::options::{Options, Refused};
use crate::files::is_git_root;

/// What was found.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The folder to work in, absolute.
    pub cwd: PathBuf,
    /// Images, absolute.
    pub images: Vec<PathBuf>,
}

/// Looks at the folder and what lies in it. Runs git where there is nested configuration.
///
/// # Errors
/// A folder or image that is not there; nested configuration that git does not vouch for.
pub fn look(base: &Path, cwd: Option<&Path>, images: &[PathBuf]) -> Result<Prepared> {
    let cwd = cwd.map_or_else(|| base.to_path_buf(), |cwd| base.join(cwd));
    match cwd.metadata() {
        Ok(meta) if meta.is_dir() => {}
        Ok(_) => {
            return Err(Error::argument(
                "cwd",
                format!("`{}` is no folder", cwd.display()),
            ));
        }
        Err(error) => {
            let reason = format!("`{}`: {error}", cwd.display());
            return Err(Error::argument("cwd", reason));
        }
    }
    let images = images
        .iter()
        .map(|image| {
            let path = cwd.join(image);
            if path.metadata().is_ok_and(|meta| meta.is_file()) {
                Ok(path)
            } else {
                let reason = format!("`{}` is no file", path.display());
                Err(Error::argument("advanced.images", reason))
            }
        })
        .collect::<Result<_>>()?;
    nested(&cwd)?;
    Ok(Prepared { cwd, images })
}

/// Refuses a `.codex` between the git root and `cwd` that is not exactly what was committed: an
/// agent that may write in the repository may have put it there, and a session that starts below
/// would load it. The root's own is closed to the sandbox.
///
/// # Errors
/// [`Code::PolicyRefused`], naming the folder.
pub fn nested(cwd: &Path) -> Result<()> {
    let real = cwd
        .canonicalize()
        .map_err(|error| Error::argument("cwd", format!("`{}`: {error}", cwd.display())))?;
    let mut root = None;
    for folder in real.ancestors() {
        match is_git_root(folder) {
            Ok(true) => {
                root = Some(folder);
                break;
            }
            Ok(false) => {}
            Err(error) => {
                let what = format!("`{}` cannot be looked at: {error}", folder.display());
                return Err(Error::new(Code::PolicyRefused, what));
            }
        }
    }
    let Some(root) = root else { return Ok(()) };
    for folder in real.ancestors().take_while(|folder| *folder != root) {
        let config = folder.join(".codex");
        if config.symlink_metadata().is_err() {
            continue;
        }
        if let Err(why) = committed(root, &config) {
            return Err(Error::new(
                Code::PolicyRefused,
                format!(
                    "`{}` {why}: an agent may have written it, and a session here would load it. \
                     Commit it after a look, or remove it",
                    config.display()
                ),
            ));
        }
    }
    Ok(())
}

/// Whether git has exactly this folder.
fn committed(root: &Path, folder: &Path) -> std::result::Result<(), &'static str> {
    if has_link(folder) {
        return Err("is or holds a link, or cannot be read");
    }
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        for (name, _) in std::env::vars_os() {
            // stops: a variable that leads git to another repository or to a program.
            if name.to_string_lossy().starts_with("GIT_") {
                command.env_remove(name);
            }
        }
        let output = command
            .args([
                "-c",
                "core.fsmonitor=false",
                "-c",
                "core.hooksPath=/dev/null",
            ])
            .arg("-C")
            .arg(root)
            .args(args)
            .arg("--")
            .arg(folder)
            .output();
        match output {
            Ok(output) if output.status.success() => Ok(output.stdout),
            _ => Err("could not be compared with git"),
        }
    };
    if git(&["ls-files", "-z"])?.is_empty() {
        return Err("is not tracked by git");
    }
    let status = [
        "status",
        "--porcelain",
        "-z",
        "--ignored",
        "--untracked-files=all",
    ];
    if !git(&status)?.is_empty() {
        return Err("differs from what is committed");
    }
    Ok(())
}

/// How many entries are looked at; more are as good as a link.
const ENTRIES: usize = 10_000;

fn has_link(folder: &Path) -> bool {
    let mut left = ENTRIES;
    let mut todo = vec![folder.to_path_buf()];
    while let Some(path) = todo.pop() {
        let Ok(meta) = path.symlink_metadata() else {
            return true;
        };
        if meta.is_symlink() || left == 0 {
            return true;
        }
        left -= 1;
        if meta.is_dir() {
            let Ok(entries) = std::fs::read_dir(&path) else {
                return true;
            };
            todo.extend(entries.flatten().map(|entry| entry.path()));
        }
    }
    false
}

/// The keys of a profile's file, as the `config` of a thread. For Codex itself a profile is weaker
/// than a project's file; passed as a thread's config it would be stronger, so what a project's
/// file sets (`project`) is left out.
///
/// # Errors
/// No such file; one that does not parse; a key that only the operator can allow.
pub fn profile(
    home: &Path,
    name: &str,
    options: &Options,
    project: &Value,
) -> Result<Map<String, Value>> {
    let path = home.join(format!("{name}.config.toml"));
    let Ok(crate::files::Found::File(file)) = crate::files::read(&path, crate::files::CONFIG_LIMIT)
    else {
        let reason = format!("there is no file `{name}.config.toml` in Codex's home");
        return Err(Error::argument("profile", reason));
    };
    let text = String::from_utf8(file.bytes)
        .map_err(|_| Error::argument("profile", format!("`{name}` is not UTF-8")))?;
    let table: toml_edit::DocumentMut = text
        .parse()
        .map_err(|error| Error::argument("profile", format!("`{name}` does not parse: {error}")))?;
    let mut config = json_of_table(table.as_table());
    if !options.allows_profile(name)
        && let Err(Refused::Key(key) | Refused::Value(key, _)) = options.check_config(&config)
    {
        return Err(Error::new(
            Code::PolicyRefused,
            format!(
                "profile `{name}` sets `{key}`, which a caller may not choose; whoever starts the \
                 broker can allow this profile with `--allow-profile {name}`"
            ),
        ));
    }
    leave_out(&mut config, project);
    Ok(config)
}

/// Takes out of `config` what `project` sets.
fn leave_out(config: &mut Map<String, Value>, project: &Value) {
    let names: Vec<String> = config.keys().cloned().collect();
    for name in names {
        match (config.get_mut(&name), project.get(&name)) {
            (Some(Value::Object(inner)), Some(theirs @ Value::Object(_))) => {
                leave_out(inner, theirs);
            }
            (_, Some(theirs)) if !theirs.is_null() => {
                config.remove(&name);
            }
            _ => {}
        }
    }
}

fn json_of_table(table: &dyn toml_edit::TableLike) -> Map<String, Value> {
    let members = table.iter();
    members
        .map(|(name, item)| (name.to_owned(), json_of_item(item)))
        .collect()
}

fn json_of_item(item: &toml_edit::Item) -> Value {
    match item {
        toml_edit::Item::None => Value::Null,
        toml_edit::Item::Value(value) => json_of_value(value),
        toml_edit::Item::Table(table) => Value::Object(json_of_table(table)),
        toml_edit::Item::ArrayOfTables(tables) => tables
            .iter()
            .map(|table| Value::Object(json_of_table(table)))
            .collect(),
    }
}

fn json_of_value(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => text.value().as_str().into(),
        toml_edit::Value::Integer(number) => (*number.value()).into(),
        toml_edit::Value::Float(number) => json!(number.value()),
        toml_edit::Value::Boolean(flag) => (*flag.value()).into(),
        toml_edit::Value::Datetime(when) => when.value().to_string().into(),
        toml_edit::Value::Array(items) => items.iter().map(json_of_value).collect(),
        toml_edit::Value::InlineTable(table) => Value::Object(json_of_table(table)),
    }
}

/// `over` above `base`, dotted names taken as tables.
pub fn merged(base: &Map<String, Value>, over: &Map<String, Value>) -> Map<String, Value> {
    let mut out = Map::new();
    for (name, value) in base.iter().chain(over) {
        set(&mut out, name, value.clone());
    }
    out
}

fn set(into: &mut Map<String, Value>, name: &str, value: Value) {
    if let Some((first, rest)) = name.split_once('.') {
        let inner = into.entry(first).or_insert_with(|| json!({}));
        if !inner.is_object() {
            *inner = json!({});
        }
        if let Some(inner) = inner.as_object_mut() {
            set(inner, rest, value);
        }
        return;
    }
    match value {
        Value::Object(members) => {
            let inner = into.entry(name).or_insert_with(|| json!({}));
            if !inner.is_object() {
                *inner = json!({});
            }
            if let Some(inner) = inner.as_object_mut() {
                for (name, value) in members {
                    set(inner, &name, value);
                }
            }
        }
        value => {
            into.insert(name.to_owned(), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(folder: &Path, args: &[&str]) {
        let done = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@t"])
            .arg("-C")
            .arg(folder)
            .args(args)
            .output()
            .expect("git is there");
        assert!(
            done.status.success(),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
    }

    /// A repository with `sub/.codex/config.toml` committed.
    fn repository() -> tempfile::TempDir {
        let top = tempfile::tempdir().expect("a folder");
        std::fs::create_dir_all(top.path().join("sub/.codex")).expect("a folder");
        std::fs::write(top.path().join("sub/.codex/config.toml"), "model = 'm'\n")
            .expect("written");
        git(top.path(), &["init", "-q"]);
        git(top.path(), &["add", "."]);
        git(top.path(), &["commit", "-q", "-m", "x"]);
        top
    }

    fn is_refused(cwd: &Path) -> bool {
        match nested(cwd) {
            Ok(()) => false,
            Err(error) => {
                assert_eq!(error.code, Code::PolicyRefused);
                assert!(error.message.contains(".codex"), "{error}");
                true
            }
        }
    }

    #[test]
    fn nested_configuration_must_be_what_was_committed() {
        let top = repository();
        let sub = top.path().join("sub");
        assert!(!is_refused(&sub) && !is_refused(top.path()));
        std::fs::create_dir_all(sub.join("deep")).expect("a folder");
        assert!(!is_refused(&sub.join("deep")));
        std::fs::write(sub.join(".codex/config.toml"), "model = 'n'\n").expect("written");
        assert!(is_refused(&sub) && is_refused(&sub.join("deep")) && !is_refused(top.path()));
    }

    #[test]
    fn untracked_ignored_empty_and_linked_ones_are_refused() {
        let top = repository();
        let make = |name: &str| {
            let folder = top.path().join(name);
            std::fs::create_dir_all(folder.join(".codex")).expect("a folder");
            folder
        };
        assert!(is_refused(&make("empty")));
        let untracked = make("untracked");
        std::fs::write(untracked.join(".codex/config.toml"), "").expect("written");
        assert!(is_refused(&untracked));
        std::fs::write(top.path().join(".gitignore"), "ignored/\n").expect("written");
        let ignored = make("ignored");
        std::fs::write(ignored.join(".codex/config.toml"), "").expect("written");
        assert!(is_refused(&ignored));
        let more = top.path().join("sub");
        std::fs::write(more.join(".codex/hooks.json"), "{}").expect("written");
        assert!(is_refused(&more));
        std::fs::create_dir(top.path().join("linked")).expect("a folder");
        std::os::unix::fs::symlink("../sub/.codex", top.path().join("linked/.codex"))
            .expect("a link");
        assert!(is_refused(&top.path().join("linked")));
    }

    #[test]
    fn outside_of_git_there_is_nothing_between() {
        let top = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(top.path().join(".codex")).expect("a folder");
        assert!(!is_refused(top.path()));
    }

    #[test]
    fn a_profile_is_taken_below_the_project_and_without_what_is_not_allowed() {
        let home = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            std::fs::write(home.path().join(name), text).expect("written");
        };
        write("fast.config.toml", "model = 'm'\nmodel_verbosity = 'low'\n");
        write("wild.config.toml", "[mcp_servers.x]\ncommand = 'sh'\n");
        let options = Options::default();
        let project = json!({"model": "theirs"});
        let read = |name: &str, options: &Options| profile(home.path(), name, options, &project);
        let config = read("fast", &options).expect("it is taken");
        assert_eq!(Value::Object(config), json!({"model_verbosity": "low"}));
        let error = read("wild", &options).expect_err("refused");
        assert_eq!(error.code, Code::PolicyRefused);
        assert!(error.message.contains("mcp_servers"), "{error}");
        let allowed = Options {
            allow_profile: vec!["wild".to_owned()],
            ..Options::default()
        };
        assert!(read("wild", &allowed).is_ok());
        let error = read("none", &options).expect_err("no file");
        assert_eq!(error.code, Code::InvalidArgument);
    }

    #[test]
    fn dotted_and_nested_names_are_one() {
        let base = json!({"a": {"b": 1, "c": 2}})
            .as_object()
            .expect("one")
            .clone();
        let over = json!({"a.b": 3, "d.e.f": 4})
            .as_object()
            .expect("one")
            .clone();
        let merged = Value::Object(merged(&base, &over));
        assert_eq!(merged, json!({"a": {"b": 3, "c": 2}, "d": {"e": {"f": 4}}}));
    }
}
