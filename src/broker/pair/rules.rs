//! The numbered rules of pairing, by their names.
//!
//! Each has its place in the code (`rules.on(Rule::P6)`), so that a test can take one away and see
//! that another test notices. Outside of tests all are on, and nothing can turn one off.

macro_rules! rules {
    ($($id:ident: $says:literal,)*) => {
        /// A rule of pairing.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Rule {
            $(#[doc = $says] $id,)*
        }

        impl Rule {
            /// All of them, in their order.
            pub const ALL: &'static [Self] = &[$(Self::$id,)*];

            /// Its name, as tests and records use it.
            pub fn id(self) -> &'static str {
                match self { $(Self::$id => stringify!($id),)* }
            }

            /// What it says, in one line.
            pub fn says(self) -> &'static str {
                match self { $(Self::$id => $says,)* }
            }
        }
    };
}

rules! {
    R1: "an elicitation without a mode is a form",
    R2: "a tool approval has mode form, the marker, and a schema that asks for nothing",
    R3: "the marker with anything else is malformed",
    R4: "another kind of approval is declined",
    R5: "without the marker it is the server's own question, an empty form too",
    R6: "a link is a link, any other mode is declined",
    I1: "the tool is `_meta.tool_name`; titles and displays never identify",
    I2: "without it the tool stands in the message, up to the last quote and question mark",
    I3: "name and message must agree, and the server too",
    I4: "an absent `tool_params` means unknown, not empty",
    I5: "arguments are compared as JSON values, not as text and not loosely",
    I6: "server, turn and environment belong to the key of a call",
    I7: "a subagent's thread is its own; an unknown thread is declined",
    P1: "candidates are open calls that nobody claims, with the same tool and arguments",
    P2: "one candidate is paired",
    P3: "of several identical ones the oldest is paired",
    P4: "several that differ are ambiguous",
    P5: "without a candidate nobody is asked",
    P6: "two claims of one call contest each other, both are declined",
    P7: "a claim of a call that was answered is declined",
    P8: "a call that Codex does not usually ask about says so",
    P9: "each answer goes to the id of its own request, in any order",
    P10: "a decline by rule is shown and recorded",
    P11: "what a call did is held against what was answered",
    C1: "the card is made from the call; the server's words are marked",
    C2: "what hides or turns text around is shown as a code point",
    C3: "nothing is cut in silence; a card that does not fit is not sent as a form",
    C4: "a decision is bound to the digest that was shown",
    S1: "a server's form names the server, each field, and the open call",
    S2: "a form is flat, of known types",
    S3: "the content of an accept is checked against the form",
    S4: "a link is shown whole with its host; other schemes are declined",
    S5: "a question is never accepted by anything but an answer to it",
    U1: "a command approval is tied to the command that was announced",
    U2: "input to a running command shows that command; other kinds are declined",
    U3: "a file change shows the announced changes, or is declined",
    U4: "what is granted is a subset of what was asked",
    U5: "an amendment must be one that was offered",
    U6: "an accept must be one that was offered",
    U7: "answers are for the questions that were asked, secrets stay unseen",
    A1: "an id goes back as it came",
    A2: "only the request's own name, in its session, selects it",
    A3: "one answer, the first; later ones learn how it was settled",
    A4: "an invalid answer changes nothing",
    A5: "what Codex took back or ended is withdrawn",
    A6: "an answer that may not have arrived is of unknown outcome, never repeated",
    A7: "a timeout declines, and says that nobody answered",
    A8: "when the client is gone, each request is answered",
    A9: "accept and decline have one form on the wire",
    M1: "a session grant only where it was offered",
    M2: "a session grant is the tool with any arguments, and the card says so",
    M3: "`always` is never sent",
    M4: "calls that a session grant let through are marked",
    N1: "whether anybody is asked follows from the effective policy",
    N2: "the reviewer is the user, or the session does not start",
    N3: "what a model decided is shown as that",
}

/// Which rules hold: all of them.
#[cfg(not(test))]
#[derive(Debug, Clone, Copy)]
pub struct Rules;

/// Which rules hold: all of them, or all but one.
#[cfg(test)]
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    off: Option<Rule>,
}

#[cfg(not(test))]
impl Rules {
    /// All of them.
    pub(super) fn in_force() -> Self {
        Self
    }

    /// Whether `rule` holds.
    #[allow(clippy::unused_self)] // it is what a test takes rules away from
    pub(super) fn on(self, _rule: Rule) -> bool {
        true
    }
}

#[cfg(test)]
impl Rules {
    /// All of them, but the one that the environment names.
    pub(super) fn in_force() -> Self {
        let named = std::env::var(OFF).ok();
        let off = named.map(|name| {
            let rule = Rule::ALL.iter().find(|rule| rule.id() == name);
            *rule.expect("names a rule")
        });
        Self { off }
    }

    pub(super) fn on(self, rule: Rule) -> bool {
        self.off != Some(rule)
    }
}

/// Names the rule that a test run takes away.
#[cfg(test)]
pub(super) const OFF: &str = "CODEXGATE_RULE_OFF";
