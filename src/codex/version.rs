//! Versions of Codex, and what differs between them, as data.
//!
//! Each [`Change`] is one behaviour that an older version did not have, with the first version of
//! those that were asked which shows it. Between two asked versions the change is dated to the
//! later one, the one that was seen. A version newer than the newest known one is taken to behave
//! like that one; whoever reports says so ([`Version::is_unknown`]).

use std::fmt;
use std::str::FromStr;

/// A version of Codex. A suffix such as `-alpha.2` is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// The first number.
    pub major: u32,
    /// The second number, the one that Codex counts up.
    pub minor: u32,
    /// The third number.
    pub patch: u32,
}

/// The newest version that the model was compared with.
pub const NEWEST: Version = Version::new(0, 171, 0);

/// The versions that were asked, old to new.
pub const ASKED: [Version; 5] = [
    Version::new(0, 134, 0),
    Version::new(0, 147, 0),
    Version::new(0, 154, 0),
    Version::new(0, 160, 1),
    NEWEST,
];

impl Version {
    /// A version out of its three numbers.
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self {
            major,
            minor,
            patch,
        }
    }

    /// Whether nobody compared this version with the model.
    pub const fn is_unknown(self) -> bool {
        self.major != NEWEST.major || self.minor > NEWEST.minor
    }

    /// Whether this version shows `change`.
    pub fn has(self, change: Change) -> bool {
        self >= change.since()
    }
}

impl Default for Version {
    fn default() -> Self {
        NEWEST
    }
}

/// A text that is no version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a version such as `0.171.0`")]
pub struct NotAVersion(String);

impl FromStr for Version {
    type Err = NotAVersion;

    fn from_str(text: &str) -> Result<Self, NotAVersion> {
        let wrong = || NotAVersion(text.to_owned());
        let plain = text.trim().trim_start_matches('v');
        let plain = plain.split(['-', '+']).next().unwrap_or(plain);
        let mut numbers = plain.split('.').map(str::parse::<u32>);
        let mut next = || numbers.next().transpose().map_err(|_| wrong());
        let (major, minor, patch) = (next()?, next()?, next()?);
        match (major, minor) {
            (Some(major), Some(minor)) if plain.split('.').count() <= 3 => {
                Ok(Self::new(major, minor, patch.unwrap_or(0)))
            }
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

macro_rules! changes {
    ($( $(#[$doc:meta])* $name:ident since $minor:literal, $patch:literal: $says:literal; )*) => {
        /// One behaviour that older versions do not have.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Change { $( $(#[$doc])* $name, )* }

        impl Change {
            /// All of them, in the order of the table.
            pub const ALL: &'static [Change] = &[$( Change::$name, )*];

            /// The first asked version that shows it.
            pub const fn since(self) -> Version {
                match self { $( Self::$name => Version::new(0, $minor, $patch), )* }
            }

            /// What the newer versions do, in words.
            pub const fn says(self) -> &'static str {
                match self { $( Self::$name => $says, )* }
            }
        }
    };
}

changes! {
    /// Scenarios `approval-untrusted`, `approval-untrusted-flag`; asked directly: works on 0.148.0, an error on 0.149.0.
    UntrustedKeyRefused since 149, 0: "`approval_policy = \"untrusted\"` stops Codex";
    /// Scenario `approval-on-failure`.
    OnFailureIsOnRequest since 147, 0: "`on-failure` is read as on-request";
    /// Scenarios `reviewer-auto`, `reviewer-guardian`.
    ReviewerIsAutoReview since 147, 0: "the automatic reviewer is called `auto_review`";
    /// Scenarios `reviewer-auto`, `req-reviewer-auto-only`.
    ExecAsksReviewer since 147, 0: "`exec` with the automatic reviewer runs under on-request";
    /// Scenario `exec-approve-for-me`.
    ApproveForMe since 147, 0: "`exec --approve-for-me`";
    /// Scenario `exec-trust-flag`.
    ExecTrustFlag since 171, 0: "`exec --trust`";
    /// Scenario `exec-full-auto`.
    NoFullAuto since 147, 0: "`exec --full-auto` is a usage error";
    /// Scenario `autotrust-plain-folder`.
    PlainFolderNotTrusted since 160, 1: "a thread does not trust a plain folder";
    /// Scenario `autotrust-user-workspace-write`.
    ExecWritesNoTrust since 171, 0: "`exec` writes no trust";
    /// Scenario `trust-in-managed`.
    TrustInManaged since 154, 0: "trust may stand in managed_config.toml";
    /// Scenario `trust-git-not-a-repository`.
    GitNeedsHead since 154, 0: "a `.git` folder without HEAD is no root";
    /// Scenario `prec-managed-requirements`.
    ManagedOverRequirements since 147, 0: "managed_config.toml is stronger than requirements.toml";
    /// Scenario `prec-managed-partial-requirements`.
    NeverNeedsSandbox since 147, 0: "`never` with a refused sandbox does not start (`exec` never did)";
    /// Scenarios `req-permission-profiles`, `req-default-permissions`.
    PermissionProfilePins since 147, 0: "requirements can pin permission profiles";
    /// Scenario `req-unknown-nested-strict`.
    RequirementsRefuseNested since 147, 0: "some tables of requirements refuse unknown keys";
    /// Scenario `shape-unknown-root`.
    WarnsOfUnknownKeys since 160, 1: "unknown keys give a warning";
    /// Scenario `project-denylist-rest`.
    DropsRealtimeCallUrl since 147, 0: "a project's `experimental_realtime_webrtc_call_base_url` is dropped";
    /// Scenario `project-denylist-rest`.
    DropsApiMetadata since 154, 0: "a project's `responses_api_metadata` is dropped";
    /// Scenario `feature-project-denied`.
    DropsSystemProxy since 147, 0: "a project's `features.respect_system_proxy` is dropped";
    /// Scenario `feature-project-denied`.
    DropsProxyFallback since 160, 1: "a project's `features.system_proxy_fallback` is dropped";
    /// Scenario `feature-project-denied`.
    DropsCredentialMasking since 171, 0: "a project's `features.credential_masking` is dropped";
    /// Scenario `feature-project-use-xaa`.
    RefusesUseXaa since 160, 1: "a project's `features.use_xaa` stops Codex";
    /// Scenarios `mcp-name-dots`, `mcp-name-slash`, `mcp-name-colon`.
    WideServerNames since 154, 0: "server names may hold `.`, `/`, `:` and `@`";
    /// Scenario `mcp-approval-mode-bad`.
    ApprovalModeWrites since 147, 0: "a tool's approval mode may be `writes`";
    /// Scenario `mcp-environment-unknown`.
    AnyEnvironment since 147, 0: "a server with another `environment_id` needs no absolute cwd";
    /// Scenario `mcp-oauth-secret-alone`.
    OauthSecret since 160, 1: "`oauth.client_secret` is known";
    /// Scenario `mcp-startup-readiness`.
    StartupReadiness since 160, 1: "`startup_readiness` is known";
    /// Scenario `mcp-startup-readiness`.
    OmitToolsFrom since 147, 0: "`omit_tools_from` is known";
    /// Scenario `profile-file-p`.
    McpListReadsProfile since 147, 0: "`codex mcp list -p` reads the profile's file";
    /// Scenario `hooks-all-events`.
    HookSessionEnd since 147, 0: "the hook event `SessionEnd`";
    /// Scenario `hooks-all-events`.
    HookInterrupt since 154, 0: "the hook event `Interrupt`";
    /// Scenario `hooks-all-events`.
    HookModelRequest since 171, 0: "the hook events `PreModelRequest` and `PostModelRequest`";
    /// Scenario `hooks-json-extra-key`.
    HooksJsonIsStrict since 147, 0: "another top key voids hooks.json";
    /// Scenario `hooks-mcp-tool`.
    HookMcpTool since 154, 0: "hook handlers of type `mcp_tool`";
    /// Scenario `hooks-trusted-hash`.
    AsyncHooksRun since 154, 0: "`async` hooks run";
    /// Scenario `perm-managed-sandbox`.
    TellsLoginMethods since 160, 1: "`configRequirements/read` tells `allowedLoginMethods`";
    /// Scenario `prec-all-layers`.
    MemoriesNotWritable since 147, 0: "workspace-write does not list Codex's memories as writable";
    /// Scenario `autotrust-marked-untrusted`.
    TellsEffectiveTrust since 154, 0: "a folder is marked untrusted \"in the effective configuration\"";
    /// Scenario `rules-migration`.
    RulesRewrite since 147, 0: "broad allow lines in rules/default.rules are deleted, once";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_and_compared_by_number() {
        let read = |text: &str| text.parse::<Version>();
        assert_eq!(read("0.171.0"), Ok(NEWEST));
        assert_eq!(read("v0.9"), Ok(Version::new(0, 9, 0)));
        assert_eq!(read("0.172.0-alpha.3"), Ok(Version::new(0, 172, 0)));
        assert!(Version::new(0, 9, 0) < NEWEST);
        assert!(Version::new(0, 172, 0).is_unknown() && !NEWEST.is_unknown());
        for text in ["", "0", "a.b.c", "0.1.2.3", "-1.2"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn every_change_is_dated_within_the_known_versions() {
        for change in Change::ALL {
            assert!(
                change.since() > ASKED[0] && change.since() <= NEWEST,
                "{change:?}"
            );
            assert!(NEWEST.has(*change) && !ASKED[0].has(*change));
        }
    }
}
