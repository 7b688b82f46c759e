//! Requests before people at terminals: `codexgate pending`, `approve` and `reject`.
//!
//! Each request that waits stands as a file in `$STATE/broker/pending/`, with its card, digest and
//! end. A decision is a file beside it that names the digest of the card which the person saw; one
//! whose digest is not that of the waiting request decides nothing. The sandbox keeps an agent from
//! writing there, as it keeps it from forging a grant.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::core::Broker;
use super::limits;
use super::pair::{Answer, By, Word};
use super::store::FOLDER;
use crate::approval::Moment;

/// The folder below the broker's.
const PENDING: &str = "pending";
/// The most bytes of a file there: a card holds a call whole.
const MOST: u64 = 32 * 1024 * 1024;

/// A request as it stands on the disk.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Shown {
    /// Its name.
    pub request: String,
    /// Whose.
    pub session: String,
    /// What kind.
    pub kind: String,
    /// Of what is decided.
    pub digest: String,
    /// What a person reads.
    pub card: String,
    /// When it is declined, in milliseconds since 1970.
    pub expires: Moment,
}

/// What a person decided.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Decided {
    digest: String,
    accept: bool,
}

fn folder(state: &Path) -> PathBuf {
    state.join(FOLDER).join(PENDING)
}

/// Removes what a killed broker left in its folder and nobody can decide any more.
pub(super) fn tidy(broker: &Path, now: Moment) {
    for entry in fs::read_dir(broker.join(PENDING))
        .into_iter()
        .flatten()
        .flatten()
    {
        let expired = || {
            let file = fs::read(entry.path()).ok()?;
            let shown: Shown = serde_json::from_slice(&file).ok()?;
            (now >= shown.expires).then_some(())
        };
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let alone = name.strip_suffix(".decision").is_some_and(|request| {
            !broker
                .join(PENDING)
                .join(format!("{request}.json"))
                .exists()
        });
        if alone || (name.ends_with(".json") && expired().is_some()) {
            // It does no harm where it stays.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether `name` has the form of a request's name: it becomes part of a path.
pub fn is_request(name: &str) -> bool {
    name.strip_prefix("req_").is_some_and(|rest| {
        (8..=64).contains(&rest.len()) && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// The requests that wait at `now`, by their end.
pub fn waiting(state: &Path, now: Moment) -> Vec<Shown> {
    let mut found: Vec<Shown> = fs::read_dir(folder(state))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            load(state, name.strip_suffix(".json")?, now)
        })
        .collect();
    found.sort_by_key(|shown| shown.expires);
    found
}

/// The request `name`, if it waits at `now`.
pub fn load(state: &Path, name: &str, now: Moment) -> Option<Shown> {
    if !is_request(name) {
        return None;
    }
    let path = folder(state).join(format!("{name}.json"));
    let crate::files::Found::File(file) = crate::files::read(&path, MOST).ok()? else {
        return None;
    };
    let shown: Shown = serde_json::from_slice(&file.bytes).ok()?;
    (shown.request == name && now < shown.expires).then_some(shown)
}

/// Writes a person's decision beside the request.
///
/// # Errors
/// It cannot be written.
pub fn decide(state: &Path, shown: &Shown, accept: bool) -> std::io::Result<()> {
    use std::io::Write as _;
    let decided = Decided {
        digest: shown.digest.clone(),
        accept,
    };
    let folder = folder(state);
    let mut file = tempfile::Builder::new()
        .prefix(".new-")
        .tempfile_in(&folder)?;
    file.write_all(&serde_json::to_vec(&decided).expect("a text and a flag serialise"))?;
    file.persist(folder.join(format!("{}.decision", shown.request)))
        .map_err(|error| error.error)?;
    Ok(())
}

impl Broker {
    fn pending_folder(&self) -> Option<PathBuf> {
        let around = self.environment.around.as_ref()?;
        Some(folder(&around.state))
    }

    /// A request waits: people at terminals see it.
    pub(super) fn show_pending(&mut self, request: &str) {
        let (Some(folder), Some(pending)) = (self.pending_folder(), self.pairing.get(request))
        else {
            return;
        };
        let shown = Shown {
            request: request.to_owned(),
            session: pending.session().to_owned(),
            kind: pending.kind().to_owned(),
            digest: pending.digest().to_owned(),
            card: pending.card().text(),
            expires: pending.expires_utc(),
        };
        let text = serde_json::to_string(&shown).expect("texts serialise");
        self.keeper
            .show(folder.join(format!("{request}.json")), text);
        self.on_disk.insert(request.to_owned());
    }

    /// It waits no more.
    pub(super) fn hide_pending(&mut self, request: &str) {
        if let Some(folder) = self.pending_folder()
            && self.on_disk.remove(request)
        {
            for end in ["json", "decision"] {
                self.keeper.hide(folder.join(format!("{request}.{end}")));
            }
        }
    }

    /// When the folder is looked at again.
    pub(super) fn decisions_deadline(&self) -> Option<Instant> {
        (!self.on_disk.is_empty()).then(|| self.looked + limits::DECISIONS)
    }

    /// Takes decisions that people wrote.
    pub(super) fn read_decisions(&mut self, now: Instant) {
        if self.on_disk.is_empty() || now < self.looked + limits::DECISIONS {
            return;
        }
        self.looked = now;
        let Some(folder) = self.pending_folder() else {
            return;
        };
        for request in self.on_disk.clone() {
            let path = folder.join(format!("{request}.decision"));
            let Ok(crate::files::Found::File(file)) = crate::files::read(&path, MOST) else {
                continue;
            };
            let decided: Option<Decided> = serde_json::from_slice(&file.bytes).ok();
            let digest = self
                .pairing
                .get(&request)
                .map(|pending| pending.digest().to_owned());
            // A decision on another card, or one that cannot be read, decides nothing.
            if let Some(decided) =
                decided.filter(|decided| Some(&decided.digest) == digest.as_ref())
            {
                let word = if decided.accept {
                    Word::Accept
                } else {
                    Word::Decline
                };
                self.person_says(&request, &Answer::from(word), By::Terminal);
            }
            self.keeper.hide(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_no_path() {
        assert!(is_request("req_0123456789abcdef"));
        for name in [
            "req_",
            "req_../../x0000",
            "",
            "sess_1",
            "req_0123456789abcde/",
        ] {
            assert!(!is_request(name), "{name}");
        }
    }

    #[test]
    fn what_expired_does_not_wait() {
        let state = tempfile::tempdir().expect("a folder");
        let folder = folder(state.path());
        fs::create_dir_all(&folder).expect("a folder");
        let shown = Shown {
            request: "req_0123456789abcdef".to_owned(),
            session: "s".to_owned(),
            kind: "command".to_owned(),
            digest: "d".to_owned(),
            card: "c".to_owned(),
            expires: 1000,
        };
        let path = folder.join("req_0123456789abcdef.json");
        fs::write(&path, serde_json::to_string(&shown).expect("JSON")).expect("written");
        assert_eq!(waiting(state.path(), 999).len(), 1);
        assert!(waiting(state.path(), 1000).is_empty());
        decide(state.path(), &shown, true).expect("written");
        let decision = folder.join("req_0123456789abcdef.decision");
        assert!(decision.exists());
        tidy(&state.path().join(FOLDER), 999);
        assert!(path.exists() && decision.exists());
        tidy(&state.path().join(FOLDER), 1000);
        tidy(&state.path().join(FOLDER), 1000);
        assert!(!path.exists() && !decision.exists());
    }
}
