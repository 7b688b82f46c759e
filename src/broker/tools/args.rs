//! Reads the arguments of a call: typed, with the path of what is wrong, and with the names of
//! members that nobody knows.
//!
//! A member that the schema does not have is ignored, as clients expect, and told in
//! `compatWarnings`: a misspelt option must not pass unseen.

use serde_json::{Map, Value};

use crate::broker::error::{Error, Result};

/// One object of the arguments.
pub struct Args<'a> {
    at: &'a str,
    members: &'a Map<String, Value>,
}

static NONE: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);

impl<'a> Args<'a> {
    /// The arguments of a call; none are an empty object.
    ///
    /// # Errors
    /// They are no object.
    pub fn of(value: Option<&'a Value>) -> Result<Self> {
        match value {
            None => Ok(Self {
                at: "",
                members: &NONE,
            }),
            Some(Value::Object(members)) => Ok(Self { at: "", members }),
            Some(_) => Err(Error::argument("arguments", "must be an object")),
        }
    }

    /// The object `name`, empty where it is not there.
    ///
    /// # Errors
    /// It is something else.
    pub fn inner(&self, name: &'a str) -> Result<Self> {
        Ok(Self {
            at: name,
            members: self.object(name)?.unwrap_or(&NONE),
        })
    }

    /// Where `name` stands, for a message.
    pub fn path(&self, name: &str) -> String {
        if self.at.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.at)
        }
    }

    fn wrong<T>(&self, name: &str, reason: &str) -> Result<T> {
        Err(Error::argument(&self.path(name), reason))
    }

    /// Whether a member is there.
    pub fn has(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    /// A text.
    ///
    /// # Errors
    /// It is something else.
    pub fn text(&self, name: &str) -> Result<Option<&'a str>> {
        match self.members.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => self.wrong(name, "must be a string"),
        }
    }

    /// A text that must be there and say something.
    ///
    /// # Errors
    /// It is missing, blank or something else.
    pub fn wanted(&self, name: &str) -> Result<&'a str> {
        match self.text(name)? {
            None => self.wrong(name, "is required"),
            Some(text) if text.trim().is_empty() => self.wrong(name, "must not be blank"),
            Some(text) => Ok(text),
        }
    }

    /// One of some words.
    ///
    /// # Errors
    /// It is something else.
    pub fn word(&self, name: &str, words: &[&str]) -> Result<Option<&'a str>> {
        match self.text(name)? {
            Some(word) if !words.contains(&word) => {
                self.wrong(name, &format!("must be one of {}", words.join(", ")))
            }
            word => Ok(word),
        }
    }

    /// One of some words that must be there.
    ///
    /// # Errors
    /// It is missing or something else.
    pub fn wanted_word(&self, name: &str, words: &[&str]) -> Result<&'a str> {
        match self.word(name, words)? {
            Some(word) => Ok(word),
            None => self.wrong(name, &format!("is required: one of {}", words.join(", "))),
        }
    }

    /// A whole number from `least`. `5.0` is one, as JSON Schema has it.
    ///
    /// # Errors
    /// It is something else.
    pub fn number(&self, name: &str, least: u64) -> Result<Option<u64>> {
        let Some(value) = self.members.get(name) else {
            return Ok(None);
        };
        let whole = |number: f64| {
            let fits = number.fract() == 0.0 && (0.0..9e15).contains(&number);
            // The range was just looked at.
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            fits.then_some(number as u64)
        };
        let number = value.as_u64().or_else(|| value.as_f64().and_then(whole));
        match number {
            Some(number) if number >= least => Ok(Some(number)),
            _ => self.wrong(name, &format!("must be a whole number from {least}")),
        }
    }

    /// True or false.
    ///
    /// # Errors
    /// It is something else.
    pub fn flag(&self, name: &str, otherwise: bool) -> Result<bool> {
        match self.members.get(name) {
            None => Ok(otherwise),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => self.wrong(name, "must be true or false"),
        }
    }

    /// An object.
    ///
    /// # Errors
    /// It is something else.
    pub fn object(&self, name: &str) -> Result<Option<&'a Map<String, Value>>> {
        match self.members.get(name) {
            None => Ok(None),
            Some(Value::Object(members)) => Ok(Some(members)),
            Some(_) => self.wrong(name, "must be an object"),
        }
    }

    /// A list of texts.
    ///
    /// # Errors
    /// It is something else.
    pub fn texts(&self, name: &str) -> Result<Option<Vec<String>>> {
        let Some(value) = self.members.get(name) else {
            return Ok(None);
        };
        let texts = value.as_array().and_then(|items| {
            let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
            texts.collect::<Option<Vec<_>>>()
        });
        match texts {
            Some(texts) => Ok(Some(texts)),
            None => self.wrong(name, "must be an array of strings"),
        }
    }

    /// Says which members are none of `known`.
    pub fn unknown(&self, known: &[&str], warnings: &mut Vec<String>) {
        for name in self.members.keys() {
            if !known.contains(&name.as_str()) {
                let name: String = self.path(name).chars().take(100).collect();
                warnings.push(format!("Unknown argument `{name}` was ignored."));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_wrong_is_named_with_its_path() {
        let value = json!({"advanced": {"images": [1]}, "n": 1.5, "s": " ", "w": "x", "f": 0});
        let args = Args::of(Some(&value)).expect("an object");
        let advanced = args.inner("advanced").expect("an object");
        let said = |result: Result<()>| result.expect_err("wrong").message;
        assert_eq!(
            said(advanced.texts("images").map(drop)),
            "advanced.images: must be an array of strings"
        );
        assert_eq!(
            said(args.number("n", 0).map(drop)),
            "n: must be a whole number from 0"
        );
        assert_eq!(said(args.wanted("s").map(drop)), "s: must not be blank");
        assert_eq!(said(args.wanted("t").map(drop)), "t: is required");
        assert_eq!(
            said(args.word("w", &["a", "b"]).map(drop)),
            "w: must be one of a, b"
        );
        assert_eq!(
            said(args.flag("f", true).map(drop)),
            "f: must be true or false"
        );
        let mut warnings = Vec::new();
        advanced.unknown(&["config"], &mut warnings);
        assert_eq!(
            warnings,
            ["Unknown argument `advanced.images` was ignored."]
        );
    }

    #[test]
    fn a_whole_number_may_be_written_with_a_point() {
        let value = json!({"n": 20.0});
        let args = Args::of(Some(&value)).expect("an object");
        assert_eq!(args.number("n", 0), Ok(Some(20)));
    }
}
