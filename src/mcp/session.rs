//! What Codex tells about the running session with each call, in `_meta`.
//!
//! The files say what a session would get; `-s`, `--yolo` and `--add-dir` say what it got, and only
//! this tells. Seen on 0.171: `x-codex-turn-metadata` with `sandbox_mode` (since 0.154), and for
//! a server that declares [`CAPABILITY`] the permission profile with each writable place (since
//! 0.147). Where they are there they decide, and what is not understood counts as open; where both
//! are missing, the model of the files decides.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// Declared among the experimental capabilities, and the member of `_meta` that Codex then sends.
pub(super) const CAPABILITY: &str = "codex/sandbox-state-meta";
const TURN: &str = "x-codex-turn-metadata";

/// The most characters of an id that are kept: Codex's have 40.
const ID_LIMIT: usize = 200;

/// The session that calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Session {
    /// Codex's ids of what called, each as it was told.
    pub session: Option<String>,
    /// See `session`.
    pub thread: Option<String>,
    /// See `session`.
    pub turn: Option<String>,
    /// See `session`.
    pub call: Option<String>,
    sandbox: Sandbox,
}

/// What the session's commands may write.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Sandbox {
    /// Nothing was told.
    #[default]
    Untold,
    /// There is a sandbox, and no word about its writable places.
    Mode,
    /// These places, and what is below them.
    Writable(Vec<Place>),
    /// There is none, or what was told is not understood.
    Open(String),
}

/// A place that a session may write.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    At(PathBuf),
    /// `$TMPDIR`.
    Temporary,
}

/// The places that make a grant unforgeable.
#[derive(Debug, Clone)]
pub struct Guarded {
    /// Holds proposals and grants.
    pub state: PathBuf,
    /// Holds what lets commands leave the sandbox, and Codex's own settings.
    pub codex_home: Option<PathBuf>,
    /// The gate itself, which runs outside of the sandbox, under each of its names.
    pub executables: Vec<PathBuf>,
    /// `$TMPDIR`, which Codex hands on to its servers.
    pub temporary: Option<PathBuf>,
}

impl Session {
    /// Reads the `_meta` of a call.
    pub fn read(meta: Option<&Value>) -> Self {
        let turn = meta.and_then(|meta| meta.get(TURN));
        let id = |from: Option<&Value>, name: &str| {
            let text = from?.get(name)?.as_str()?;
            Some(text.chars().take(ID_LIMIT).collect())
        };
        Self {
            session: id(meta, "sessionId").or_else(|| id(turn, "session_id")),
            thread: id(meta, "threadId").or_else(|| id(turn, "thread_id")),
            turn: id(turn, "turn_id"),
            call: id(meta, "callId"),
            sandbox: match meta {
                None | Some(Value::Null) => Sandbox::Untold,
                Some(Value::Object(meta)) => sandbox(meta),
                Some(_) => open("`_meta` is no object"),
            },
        }
    }

    /// The ids, as a record names who was asked.
    pub fn words(&self, client: &str) -> String {
        let ids = [
            ("session", &self.session),
            ("thread", &self.thread),
            ("turn", &self.turn),
            ("call", &self.call),
        ];
        let told = ids
            .into_iter()
            .filter_map(|(name, id)| Some(format!(", {name} {}", id.as_ref()?)));
        std::iter::once(client.to_owned()).chain(told).collect()
    }

    /// Whether Codex told which places are writable; else the model of the files has to say.
    pub const fn tells_writable(&self) -> bool {
        matches!(self.sandbox, Sandbox::Writable(_))
    }

    /// Why a grant would be worth nothing in this session, if that is so.
    pub fn open(&self, guarded: &Guarded) -> Option<String> {
        let writable = match &self.sandbox {
            Sandbox::Untold | Sandbox::Mode => return None,
            Sandbox::Open(why) => return Some(why.clone()),
            Sandbox::Writable(writable) => writable,
        };
        let home = guarded.codex_home.as_deref();
        let inside_home = ["config.toml", "hooks.json", "rules"].map(|name| Some(home?.join(name)));
        let executables = guarded.executables.iter();
        let whole: Vec<(&str, Option<&Path>)> = executables
            .map(|path| ("the executable of the gate", Some(path.as_path())))
            .chain([
                ("the state directory", Some(guarded.state.as_path())),
                ("Codex's home", home),
            ])
            .collect();
        // What lies within the state directory or the rules is as bad as the whole; Codex itself
        // makes other places within its home writable, such as its memories.
        let within = [("the state directory", Some(guarded.state.as_path()))]
            .into_iter()
            .chain(
                inside_home
                    .iter()
                    .map(|path| ("Codex's settings", path.as_deref())),
            );
        for place in writable {
            let place = match place {
                Place::At(path) => Spellings::of(path),
                Place::Temporary => match &guarded.temporary {
                    Some(path) => Spellings::of(path),
                    None => continue,
                },
            };
            let hit = whole
                .iter()
                .find(|(_, path)| path.is_some_and(|path| place.hold(&Spellings::of(path))))
                .map(|(name, _)| *name)
                .or_else(|| {
                    within
                        .clone()
                        .find(|(_, path)| path.is_some_and(|path| Spellings::of(path).hold(&place)))
                        .map(|(name, _)| name)
                });
            if let Some(name) = hit {
                return Some(format!(
                    "this session may write `{}`, and with it {name}",
                    place.0.display()
                ));
            }
        }
        None
    }
}

/// A path as it was given and with its links followed, as far as it is there.
struct Spellings(PathBuf, PathBuf);

impl Spellings {
    fn of(path: &Path) -> Self {
        let mut rest = Vec::new();
        let mut there = path;
        let followed = loop {
            if let Ok(real) = there.canonicalize() {
                break rest.iter().rev().fold(real, |path, name| path.join(name));
            }
            match (there.parent(), there.file_name()) {
                (Some(parent), Some(name)) => {
                    rest.push(name);
                    there = parent;
                }
                _ => break path.to_path_buf(),
            }
        };
        Self(path.to_path_buf(), followed)
    }

    fn hold(&self, other: &Self) -> bool {
        let hold = |place: &Path| other.0.starts_with(place) || other.1.starts_with(place);
        hold(&self.0) || hold(&self.1)
    }
}

fn open(why: &str) -> Sandbox {
    Sandbox::Open(why.to_owned())
}

fn sandbox(meta: &Map<String, Value>) -> Sandbox {
    let mode = match meta.get(TURN) {
        None => None,
        Some(Value::Object(turn)) => turn.get("sandbox_mode"),
        Some(_) => return open("what Codex says about the turn is not understood"),
    };
    match mode.map(Value::as_str) {
        None | Some(Some("read-only" | "workspace-write")) => {}
        Some(Some("danger-full-access")) => {
            return open("this session runs without a sandbox (danger-full-access)");
        }
        Some(_) => return open("this session's sandbox mode is unknown to codexgate"),
    }
    let Some(state) = meta.get(CAPABILITY) else {
        return if mode.is_some() {
            Sandbox::Mode
        } else {
            Sandbox::Untold
        };
    };
    match writable(state) {
        Ok(places) => Sandbox::Writable(places),
        Err(why) => Sandbox::Open(why),
    }
}

/// The writable places of a permission profile.
fn writable(state: &Value) -> Result<Vec<Place>, String> {
    let unclear = || "this session's permission profile is not understood".to_owned();
    let profile = state.get("permissionProfile").ok_or_else(unclear)?;
    match profile.get("type").and_then(Value::as_str) {
        Some("managed") => {}
        Some("disabled") => return Err("this session runs without a sandbox".to_owned()),
        _ => return Err(unclear()),
    }
    let files = profile.get("file_system").ok_or_else(unclear)?;
    match files.get("type").and_then(Value::as_str) {
        Some("restricted") => {}
        Some("unrestricted") => return Err("this session may write every file".to_owned()),
        _ => return Err(unclear()),
    }
    let entries = files.get("entries").and_then(Value::as_array);
    let mut places = Vec::new();
    for entry in entries.ok_or_else(unclear)? {
        if let Some("read" | "deny" | "none") = entry.get("access").and_then(Value::as_str) {
            continue;
        }
        let path = entry.get("path").ok_or_else(unclear)?;
        match path.get("type").and_then(Value::as_str) {
            Some("path") => {
                let text = path.get("path").and_then(Value::as_str);
                let text = Path::new(text.ok_or_else(unclear)?);
                if !text.is_absolute() {
                    return Err(unclear());
                }
                places.push(Place::At(text.to_path_buf()));
            }
            Some("special") => match path.pointer("/value/kind").and_then(Value::as_str) {
                Some("root") => return Err("this session may write every file".to_owned()),
                Some("slash_tmp") => places.push(Place::At(PathBuf::from("/tmp"))),
                Some("tmpdir") => places.push(Place::Temporary),
                _ => return Err(unclear()),
            },
            _ => return Err(unclear()),
        }
    }
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn guarded() -> Guarded {
        Guarded {
            state: PathBuf::from("/home/u/.local/state/codexgate"),
            codex_home: Some(PathBuf::from("/home/u/.codex")),
            executables: vec![PathBuf::from("/opt/bin/codexgate")],
            temporary: Some(PathBuf::from("/run/t")),
        }
    }

    fn why(meta: &Value) -> Option<String> {
        Session::read(Some(meta)).open(&guarded())
    }

    /// The shape that Codex 0.171 sends, with further entries.
    fn profile(entries: &[Value]) -> Value {
        let mut all = vec![
            json!({"path": {"type": "special", "value": {"kind": "root"}}, "access": "read"}),
            json!({"path": {"type": "path", "path": "/home/u/project"}, "access": "write"}),
            json!({"path": {"type": "special", "value": {"kind": "slash_tmp"}}, "access": "write"}),
            json!({"path": {"type": "special", "value": {"kind": "tmpdir"}}, "access": "write"}),
            json!({"path": {"type": "path", "path": "/home/u/project/.git"}, "access": "read",
                   "missing_path_behavior": "skip"}),
        ];
        all.extend(entries.iter().cloned());
        json!({
            "callId": "call_1",
            "threadId": "T",
            "sessionId": "S",
            "x-codex-turn-metadata": {"turn_id": "U", "sandbox_mode": "workspace-write"},
            "codex/sandbox-state-meta": {"permissionProfile": {"type": "managed",
                "file_system": {"type": "restricted", "entries": all}, "network": "restricted"}},
        })
    }

    fn write(path: &str) -> Value {
        json!({"path": {"type": "path", "path": path}, "access": "write"})
    }

    #[test]
    fn a_session_of_workspace_write_is_closed_and_has_its_ids() {
        let meta = profile(&[]);
        let session = Session::read(Some(&meta));
        assert_eq!(session.open(&guarded()), None);
        assert!(session.tells_writable());
        let ids = [session.session, session.thread, session.turn, session.call];
        assert_eq!(ids.map(Option::unwrap), ["S", "T", "U", "call_1"]);
    }

    #[test]
    fn what_is_not_told_is_left_to_the_files() {
        let mode = json!({"x-codex-turn-metadata": {"sandbox_mode": "read-only"}});
        for meta in [None, Some(json!(null)), Some(json!({})), Some(mode)] {
            let session = Session::read(meta.as_ref());
            assert_eq!(session.open(&guarded()), None);
            assert!(!session.tells_writable());
        }
    }

    #[test]
    fn full_access_is_open_whoever_says_it() {
        let mut meta = profile(&[]);
        meta["x-codex-turn-metadata"]["sandbox_mode"] = json!("danger-full-access");
        assert!(why(&meta).is_some());
        let mut meta = profile(&[]);
        meta["codex/sandbox-state-meta"]["permissionProfile"] = json!({"type": "disabled"});
        assert!(why(&meta).is_some());
        let root =
            json!({"path": {"type": "special", "value": {"kind": "root"}}, "access": "write"});
        assert!(why(&profile(&[root])).is_some());
        let mut meta = profile(&[]);
        meta["codex/sandbox-state-meta"]["permissionProfile"]["file_system"] =
            json!({"type": "unrestricted"});
        assert!(why(&meta).is_some());
    }

    #[test]
    fn a_writable_place_over_what_is_guarded_is_open() {
        for path in [
            "/",
            "/home/u",
            "/home/u/",
            "/home/u/.local/state",
            "/home/u/.local/state/codexgate",
            "/home/u/.local/state/codexgate/grants",
            "/home/u/.codex",
            "/home/u/.codex/rules",
            "/home/u/.codex/rules/codexgate.rules",
            "/home/u/.codex/config.toml",
            "/opt",
            "/opt/bin/codexgate",
        ] {
            let why = why(&profile(&[write(path)])).unwrap_or_default();
            assert!(why.contains(path), "{path}: {why}");
        }
        for path in [
            "/home/u/.codex/memories",
            "/home/u/.codex-other",
            "/opt/bin/codexgate-2",
        ] {
            assert_eq!(why(&profile(&[write(path)])), None, "{path}");
        }
    }

    #[test]
    fn temporary_folders_count_where_they_are() {
        let meta = profile(&[]);
        for state in ["/tmp/state", "/run/t/state"] {
            let guarded = Guarded {
                state: PathBuf::from(state),
                ..guarded()
            };
            let session = Session::read(Some(&meta));
            assert!(session.open(&guarded).is_some(), "{state}");
        }
    }

    #[test]
    fn a_link_to_what_is_guarded_is_followed() {
        let top = tempfile::tempdir().expect("a folder");
        let real = top.path().join("real");
        std::fs::create_dir_all(&real).expect("a folder");
        std::os::unix::fs::symlink(&real, top.path().join("link")).expect("a link");
        let guarded = Guarded {
            state: real.join("later/state"),
            ..guarded()
        };
        let meta = profile(&[write(top.path().join("link").to_str().expect("text"))]);
        let mut meta_without_tmp = meta.clone();
        meta_without_tmp["codex/sandbox-state-meta"]["permissionProfile"]["file_system"]["entries"]
            .as_array_mut()
            .expect("a list")
            .retain(|entry| entry["path"]["value"]["kind"] != "slash_tmp");
        let session = Session::read(Some(&meta_without_tmp));
        assert!(
            session
                .open(&guarded)
                .is_some_and(|why| why.contains("link"))
        );
    }

    #[test]
    fn what_is_not_understood_is_open() {
        let with = |pointer: &str, value: Value| {
            let mut meta = profile(&[]);
            *meta.pointer_mut(pointer).expect("it is there") = value;
            meta
        };
        let profile_at = "/codex~1sandbox-state-meta/permissionProfile";
        for meta in [
            json!([]),
            with("/x-codex-turn-metadata", json!("{}")),
            with(
                "/x-codex-turn-metadata/sandbox_mode",
                json!("external-sandbox"),
            ),
            with("/x-codex-turn-metadata/sandbox_mode", json!(null)),
            with("/codex~1sandbox-state-meta", json!(null)),
            with("/codex~1sandbox-state-meta", json!({})),
            with(profile_at, json!({"type": "external"})),
            with(profile_at, json!({"type": "managed"})),
            with(&format!("{profile_at}/file_system/type"), json!("other")),
            with(&format!("{profile_at}/file_system/entries"), json!({})),
            profile(&[json!({"path": {"type": "path", "path": "relative"}, "access": "write"})]),
            profile(&[json!({"path": {"type": "path"}, "access": "write"})]),
            profile(&[
                json!({"path": {"type": "glob_pattern", "pattern": "/x"}, "access": "write"}),
            ]),
            profile(&[
                json!({"path": {"type": "special", "value": {"kind": "new"}}, "access": "write"}),
            ]),
            profile(&[json!({"access": "write"})]),
            profile(&[json!({"path": {"type": "path", "path": "/home"}, "access": "all"})]),
            profile(&[json!({"path": {"type": "path", "path": "/home"}})]),
            profile(&[json!("write")]),
        ] {
            assert!(why(&meta).is_some(), "{meta}");
        }
    }

    #[test]
    fn entries_that_forbid_writing_need_not_be_understood() {
        for access in ["read", "deny", "none"] {
            let entry =
                json!({"path": {"type": "glob_pattern", "pattern": "/**"}, "access": access});
            assert_eq!(why(&profile(&[entry])), None);
        }
    }

    #[test]
    fn an_id_is_cut_at_its_limit() {
        let session = Session::read(Some(&json!({"callId": "é".repeat(9999), "threadId": 7})));
        assert_eq!(session.call.expect("a text").chars().count(), ID_LIMIT);
        assert_eq!(session.thread, None);
    }
}
