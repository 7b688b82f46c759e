//! Finds what opens the gate, or does not do what its author thinks, on the line that does it.
//!
//! A [`Rule`] is data and one function: what it is called, how bad it is, why, examples that are
//! its tests, and a check with the narrowest view that can decide. Findings are data, too:
//! [`Findings::add`] takes a rule and a place, and everything about lines, columns and printing
//! happens elsewhere. [`discover`] says which files are judged, [`run::read_all`] reads and parses each once.
//!
//! A rule never reads the disk, the environment or the clock, never formats a location, and never
//! looks at another rule. What Codex accepts comes from [`crate::codex`], not from a list here.
//! To add one: a file in `rules/`, a line in [`registry::RULES`]. The registry's test walks it.

pub mod baseline;
pub mod choose;
pub mod config;
pub mod discover;
pub mod disk;
pub mod example;
pub mod file;
pub mod finding;
pub mod fingerprint;
pub mod fix;
pub mod hooks;
pub mod ignore;
pub mod json;
pub mod launch;
pub mod layers;
pub mod registry;
mod rules;
pub mod rules_file;
pub mod run;
pub mod script;
pub mod secret;
pub mod server;
pub mod shape;
pub mod shell;
pub mod words;

pub use discover::Wanted;
pub use disk::Disk;
pub use file::{ConfigFile, Home, Kind, Source, Subject};
pub use finding::{Finding, Findings, Fix, Grade, Silenced};
pub use hooks::HooksFile;
pub use layers::{Layers, Scope, Spread};
pub use rules_file::RulesFile;
pub use run::Report;

/// How bad a finding is, from mild to grave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// A likely mistake or a weak spot.
    Warning,
    /// The gate is open, a secret is exposed, or Codex does not start.
    Error,
}

impl Severity {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// How sure a rule is that what it finds is so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// It may well be meant so.
    Low,
    /// A heuristic that is seldom wrong.
    Medium,
    /// It follows from what Codex does.
    High,
}

/// A version of Codex that a rule was proven on: major and minor.
pub type Since = (u16, u16);

/// A lint rule.
#[derive(Debug)]
pub struct Rule {
    /// The name that people put into baselines and comments. Never changes.
    pub id: &'static str,
    /// How bad a finding is, unless the finding says otherwise.
    pub severity: Severity,
    /// How sure it is.
    pub confidence: Confidence,
    /// The oldest version of Codex that it was proven on. The newest is the model's.
    pub since: Since,
    /// What it says where nothing more exact is known: lower case, no full stop.
    pub says: &'static str,
    /// Why that is bad, in whole sentences.
    pub why: &'static str,
    /// Examples that it finds.
    pub bad: &'static [Case],
    /// Examples that it leaves alone.
    pub good: &'static [Case],
    /// The check, with its view.
    pub check: Check,
}

impl Rule {
    /// Its checks, each with one view.
    pub const fn checks(&self) -> &[Check] {
        match &self.check {
            Check::Many(checks) => checks,
            one => std::slice::from_ref(one),
        }
    }
}

/// What a check looks at.
#[derive(Debug, Clone, Copy)]
pub enum Check {
    /// A file as bytes, whether or not it could be read and parsed.
    Source(fn(&Source, &mut Findings)),
    /// One configuration file that parses: `config.toml`, a profile, `managed_config.toml`.
    File(fn(&ConfigFile, &mut Findings)),
    /// One `requirements.toml` that parses.
    Requirements(fn(&ConfigFile, &mut Findings)),
    /// The comments that silence findings of one file, after all other rules.
    Ignores(fn(&[ignore::Ignore], &mut Findings)),
    /// The hooks of a `hooks.json` or of a configuration file.
    Hooks(fn(&HooksFile, &mut Findings)),
    /// What is in force when all files of the run are laid on each other.
    Layers(fn(&Layers, &mut Spread)),
    /// What the disk says about one file, or about a place that is not read.
    Tree(fn(&Disk, &mut Findings)),
    /// Several views, where each sees another side of the same.
    Many(&'static [Check]),
    /// One `.rules` file that is a text, whether or not Codex takes it.
    Rules(fn(&RulesFile, &mut Findings)),
}

/// An example: a file that a rule finds, or leaves alone.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// The file.
    pub input: Input,
    /// Which of Codex's files it is.
    pub kind: Kind,
    /// Whose it is.
    pub home: Home,
    /// The text after the rule's fix.
    pub fixed: Option<&'static str>,
    /// Other rules that find something in it, too.
    pub also: &'static [&'static str],
    /// Files that lie in other places at the same time.
    pub beside: &'static [Beside],
    /// What the disk says about it.
    pub setup: &'static [Setup],
}

/// What the disk says about an example. Its paths lie below `/example`.
#[derive(Debug, Clone, Copy)]
pub enum Setup {
    /// Its path in Codex's folder, where that is not the usual one.
    Name(&'static str),
    /// It is a symbolic link to this.
    Link(&'static str),
    /// It has this mode.
    Mode(u32),
    /// Of the programs that it names these are there, and no others.
    There(&'static [&'static str]),
}

/// A file beside an example.
#[derive(Debug, Clone, Copy)]
pub struct Beside {
    /// Which of Codex's files it is.
    pub kind: Kind,
    /// Whose it is.
    pub home: Home,
    /// Its text.
    pub text: &'static str,
}

/// A file beside an example.
pub const fn beside(home: Home, kind: Kind, text: &'static str) -> Beside {
    Beside { kind, home, text }
}

/// The content of an example.
#[derive(Debug, Clone, Copy)]
pub enum Input {
    /// A text; `‹` and `›` enclose what a finding marks.
    Text(&'static str),
    /// Bytes that are no text, and the marked range, if not the whole file.
    Bytes(&'static [u8], Option<(usize, usize)>),
    /// A file that cannot be read, and why.
    Unreadable(&'static str),
    /// A file with this text, or a folder, that is looked at and not read.
    Place(&'static str),
}

/// An example that is a user's `config.toml`.
pub const fn case(text: &'static str) -> Case {
    Case::new(Input::Text(text))
}

/// An example of a file or folder that is looked at and not read.
pub const fn place(text: &'static str) -> Case {
    Case::new(Input::Place(text)).of(Kind::Folder)
}

/// An example of bytes that are no text.
pub const fn bytes(bytes: &'static [u8], marked: Option<(usize, usize)>) -> Case {
    Case::new(Input::Bytes(bytes, marked))
}

impl Case {
    const fn new(input: Input) -> Self {
        Self {
            input,
            kind: Kind::Config,
            home: Home::User,
            fixed: None,
            also: &[],
            beside: &[],
            setup: &[],
        }
    }

    /// The same where the disk says something about it.
    #[must_use]
    pub const fn on_disk(mut self, setup: &'static [Setup]) -> Self {
        self.setup = setup;
        self
    }

    /// The same as another of Codex's files.
    #[must_use]
    pub const fn of(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    /// The same in another place.
    #[must_use]
    pub const fn in_home(mut self, home: Home) -> Self {
        self.home = home;
        self
    }

    /// What the rule's fix makes of it.
    #[must_use]
    pub const fn fixed(mut self, text: &'static str) -> Self {
        self.fixed = Some(text);
        self
    }

    /// Names the other rules that find something in it.
    #[must_use]
    pub const fn also(mut self, rules: &'static [&'static str]) -> Self {
        self.also = rules;
        self
    }

    /// The same with other files at the same time.
    #[must_use]
    pub const fn with(mut self, beside: &'static [Beside]) -> Self {
        self.beside = beside;
        self
    }
}
