//! A policy for programs.

use serde_json::{Map, Value as Json, json};

use super::{View, hidden, hide, leaves_of, surface_word, why};
use crate::codex::effective::{By, Decided, Overridden, json as answer};
use crate::codex::layer::Place;
use crate::document::KeyPath;

/// The version of the JSON form.
const FORMAT: u32 = 1;

impl View<'_> {
    /// All of it for programs.
    pub fn json(&self) -> Json {
        let mut told = answer::answer(self.effective, self.sources);
        let Some(fields) = told.as_object_mut() else {
            return told;
        };
        hide_secrets(fields);
        let cwd = &self.effective.cwd;
        fields.insert("format".to_owned(), FORMAT.into());
        fields.insert("as".to_owned(), surface_word(self.surface).into());
        fields.insert("cwd".to_owned(), cwd.display().to_string().into());
        let trust = &self.effective.trust;
        fields.insert(
            "trust".to_owned(),
            json!({
                "level": trust.level.word(),
                "place": trust.place.as_ref().map(place),
                "automatic": trust.automatic,
                "folder": trust.key.display().to_string(),
            }),
        );
        if trust.automatic
            && let Some(before) = self.effective.before().policy()
        {
            fields.insert(
                "before_trust".to_owned(),
                json!({
                    "approval_policy": answer::approval(before.approval.value),
                    "sandbox": answer::sandbox(&before.sandbox.value),
                }),
            );
        }
        fields.insert("values".to_owned(), self.values());
        let dropped: Vec<Json> = self
            .effective
            .dropped
            .iter()
            .map(|dropped| json!({"place": place(&dropped.place), "why": why(dropped.why)}))
            .collect();
        fields.insert("dropped".to_owned(), dropped.into());
        if let Some(policy) = self.effective.policy() {
            let refused: Vec<Json> = policy
                .refused
                .iter()
                .map(|refused| {
                    json!({
                        "what": refused.what,
                        "configured": refused.configured,
                        "fallback": refused.fallback,
                        "place": place(&refused.place),
                    })
                })
                .collect();
            fields.insert("refused".to_owned(), refused.into());
            let rules: Vec<String> = policy
                .rules
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            fields.insert("rules".to_owned(), rules.into());
        }
        let verdict: Vec<Json> = self
            .verdict()
            .iter()
            .map(|judgement| {
                json!({
                    "about": judgement.about,
                    "holds": judgement.holds,
                    "says": judgement.says,
                    "change": judgement.change.as_ref().map(place),
                })
            })
            .collect();
        fields.insert("verdict".to_owned(), verdict.into());
        told
    }

    fn values(&self) -> Json {
        let mut found = Vec::new();
        if let Some(policy) = self.effective.policy() {
            let approval = answer::approval(policy.approval.value);
            found.push(decided("approval_policy", &approval, &policy.approval));
            let version = self.effective.version;
            let reviewer = policy.reviewer.value.word(version).into();
            found.push(decided("approvals_reviewer", &reviewer, &policy.reviewer));
            let sandbox = answer::sandbox(&policy.sandbox.value);
            found.push(decided("sandbox", &sandbox, &policy.sandbox));
        }
        for (path, leaf) in leaves_of(&self.effective.merged, &KeyPath::root()) {
            let overrode: Vec<Json> = self
                .effective
                .overridden(path.parts())
                .iter()
                .map(|old| overridden(&path, old))
                .collect();
            found.push(json!({
                "key": path.to_string(),
                "value": hidden(&path, &leaf.value()),
                "by": "layer",
                "place": self.effective.origin(path.parts()).as_ref().map(place),
                "overrode": overrode,
            }));
        }
        found.into()
    }
}

fn decided<T>(key: &str, value: &Json, decided: &Decided<T>) -> Json {
    let (by, reason) = match &decided.by {
        By::Default(why) => ("default", Some(*why)),
        By::Session(why) => ("session", Some(*why)),
        By::Layer(_) => ("layer", None),
        By::Requirement(_) => ("requirement", None),
    };
    let path = KeyPath::new([key]);
    let overrode: Vec<Json> = decided
        .overrode
        .iter()
        .map(|old| overridden(&path, old))
        .collect();
    json!({
        "key": key,
        "value": value,
        "decided": true,
        "by": by,
        "reason": reason,
        "place": decided.by.place().map(place),
        "overrode": overrode,
    })
}

fn overridden(path: &KeyPath, old: &Overridden) -> Json {
    json!({"value": hidden(path, &old.value), "place": place(&old.place)})
}

fn place(place: &Place) -> Json {
    json!({
        "layer": place.layer,
        "path": place.path.as_ref().map(|path| path.display().to_string()),
        "line": place.path.is_some().then_some(place.line),
        "column": place.path.is_some().then_some(place.column),
        "key": place.key.to_string(),
    })
}

fn hide_secrets(fields: &mut Map<String, Json>) {
    for name in ["mcp_servers", "config"] {
        if let Some(value) = fields.get_mut(name) {
            hide(&[name.to_owned()], value);
        }
    }
}
