//! MCP as the approver speaks it, message by message: no stream, no thread and no disk in it.

use std::io::{self, Read, Write};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::elicit;
use super::session::{CAPABILITY, Session};
use crate::approval::{Approved, By, Moment, NoGrant, Question, Token, Verdict, Waiting};
use crate::rpc::{
    Dialect, Event, INVALID_PARAMS, INVALID_REQUEST, Id, Line, METHOD_NOT_FOUND, Outcome, Peer,
    RpcError, Ticket, read_lines,
};
use crate::text::quote;

/// The one tool.
pub const TOOL: &str = "codexgate_approve";

/// The most bytes of one line: a call with all that Codex adds takes some thousands.
pub const LINE_LIMIT: usize = 1024 * 1024;

/// The most characters of a client's error that are told on.
const TOLD_LIMIT: usize = 200;

/// How long nothing is waited for at once: a channel takes no open end.
const IDLE: Duration = Duration::from_hours(1);

/// Revisions of MCP that are spoken, the newest last. The first has the first elicitation.
const REVISIONS: [&str; 2] = ["2025-06-18", "2025-11-25"];

/// One moment on both clocks: what is stored is told by the one, what is waited for by the other.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    /// The clock of proposals.
    pub moment: Moment,
    /// A clock that nobody sets.
    pub instant: Instant,
}

/// Why something is not done, for the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What happened, without a full stop.
    pub what: String,
    /// What to do now, in whole sentences.
    pub todo: String,
}

/// A stored proposal that was found to be as it was proposed, with its card.
#[derive(Debug)]
pub struct Shown {
    /// The proposal.
    pub waiting: Waiting,
    /// What a person is shown, whole.
    pub card: String,
}

/// What the approver needs of the gate.
pub trait Desk {
    /// Reads the proposal, judges where it would run and compares its inputs.
    ///
    /// # Errors
    /// It cannot be asked about.
    fn take_up(&mut self, token: &Token, session: &Session) -> Result<Shown, Refusal>;

    /// Writes the grant down.
    ///
    /// # Errors
    /// There is none then.
    fn grant(&mut self, approved: Approved) -> Result<(), Refusal>;

    /// Records that a person said no.
    ///
    /// # Errors
    /// It could not be recorded.
    fn reject(&mut self, waiting: &Waiting, by: &By) -> Result<(), Refusal>;

    /// Records that nobody decided; the proposal waits on.
    fn undecided(&mut self, waiting: &Waiting, by: &By, why: NoGrant);
}

/// The server's side of one connection.
pub struct Server<D> {
    peer: Peer,
    desk: D,
    clock: Box<dyn Fn() -> Now>,
    program: String,
    client: Option<Client>,
    open: Option<Open>,
}

/// What `initialize` told.
struct Client {
    name: String,
    shows_forms: bool,
}

/// The question that is open, with the call that it answers.
struct Open {
    call: Id,
    ticket: Ticket,
    question: Question,
    shown: Shown,
    by: By,
}

impl<D: Desk> Server<D> {
    /// A server that nobody has spoken to. `program` is the absolute path under which an agent may
    /// run this executable.
    pub fn new(desk: D, program: &str, clock: Box<dyn Fn() -> Now>) -> Self {
        Self {
            peer: Peer::new(Dialect::Standard, "codexgate"),
            desk,
            clock,
            program: program.to_owned(),
            client: None,
            open: None,
        }
    }

    /// Takes one line in.
    pub fn receive(&mut self, line: &Line) {
        self.tick();
        match self.peer.receive(line, (self.clock)().instant) {
            Event::Request { id, method, params } => self.request(&id, &method, &params),
            Event::Notification { method, params } if method == "notifications/cancelled" => {
                self.cancelled(&params);
            }
            Event::Answer(ticket, outcome) => self.answered(ticket, &outcome),
            // It may have been the answer: whoever waits on could be answered by somebody else.
            Event::Foreign => self.withdraw(
                NoGrant::Malformed,
                "the client answered a question that was never asked",
            ),
            Event::Unreadable => self.withdraw(
                NoGrant::Malformed,
                "the client sent a line that is no message while the question was open",
            ),
            Event::Notification { .. } | Event::Late => {}
        }
    }

    /// Ends the question whose time is over.
    pub fn tick(&mut self) {
        if self.peer.overdue((self.clock)().instant).is_some() {
            self.withdraw(NoGrant::Silent, "nobody answered in time");
        }
    }

    /// The client has gone.
    pub fn end(&mut self) {
        self.withdraw(NoGrant::Withdrawn, "the client closed the connection");
    }

    /// When [`Self::tick`] has something to do.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.peer.next_deadline()
    }

    /// What is to be written, in whole lines.
    pub fn take_output(&mut self) -> Vec<u8> {
        self.peer.take_output()
    }

    fn request(&mut self, id: &Id, method: &str, params: &Value) {
        let answer = match method {
            "initialize" => self.initialize(params),
            "ping" => Ok(json!({})),
            "tools/list" => Ok(json!({ "tools": [self.tool()] })),
            "tools/call" => match params.get("name").and_then(Value::as_str) {
                Some(TOOL) => return self.call(id, params),
                _ => Err(RpcError::new(INVALID_PARAMS, "there is no such tool")),
            },
            _ => Err(RpcError::new(METHOD_NOT_FOUND, "there is no such method")),
        };
        self.peer.answer(id, answer);
    }

    fn initialize(&mut self, params: &Value) -> Result<Value, RpcError> {
        if self.client.is_some() {
            return Err(RpcError::new(INVALID_REQUEST, "it was initialized before"));
        }
        let Some(wanted) = params.get("protocolVersion").and_then(Value::as_str) else {
            return Err(RpcError::new(
                INVALID_PARAMS,
                "`protocolVersion` is missing",
            ));
        };
        let known = REVISIONS.iter().find(|known| **known == wanted);
        // An older revision has no elicitation, and one that is not known yet may have another.
        let spoken = known.unwrap_or(&REVISIONS[REVISIONS.len() - 1]);
        let name = params.pointer("/clientInfo/name").and_then(Value::as_str);
        self.client = Some(Client {
            name: name
                .unwrap_or("a client without a name")
                .chars()
                .take(TOLD_LIMIT)
                .collect(),
            shows_forms: shows_forms(params.pointer("/capabilities/elicitation")),
        });
        Ok(json!({
            "protocolVersion": spoken,
            "capabilities": { "tools": {}, "experimental": { CAPABILITY: {} } },
            "serverInfo": {
                "name": "codexgate",
                "title": "codexgate",
                "version": env!("CARGO_PKG_VERSION"),
            },
            "instructions": self.instructions(),
        }))
    }

    fn instructions(&self) -> String {
        format!(
            "Commands that need a person's approval are proposed with `{}`, which prints a token \
             and runs nothing; `{TOOL}` asks the person about that token; after an approval \
             `{}` runs exactly what was shown, once.",
            self.command(&["apply", "--", "PROGRAM", "ARG"]),
            self.command(&["apply", "--confirm", "TOKEN"]),
        )
    }

    fn tool(&self) -> Value {
        json!({
            "name": TOOL,
            "title": "Ask the person to approve",
            "description": format!(
                "Asks the person to approve or reject one proposed command or file change. {} \
                 Write each of these as one plain command: no pipe, redirection, variable or `cd` \
                 around it. Only the person decides, and a rejection is final.",
                self.instructions(),
            ),
            "inputSchema": {
                "type": "object",
                "properties": {
                    "token": {
                        "type": "string",
                        "description": "The token that `apply` printed, such as \
                                        7kq2-m9xt-c4hd-20fn-v8ra",
                    },
                },
                "required": ["token"],
                "additionalProperties": false,
            },
            // Codex asks about the call itself otherwise, before our question (0.171).
            "annotations": { "destructiveHint": false, "openWorldHint": false },
        })
    }

    fn call(&mut self, id: &Id, params: &Value) {
        if self.open.is_some() {
            let todo = "Wait until that call has its result, then call again.";
            return self.refuse(
                id,
                "another question is open, and one is asked at a time",
                todo,
            );
        }
        let Some(token) = token(params) else {
            let todo = format!(
                "Call it with `token` alone: the one that `{}` printed, whole.",
                self.command(&["apply", "--", "PROGRAM", "ARG"])
            );
            return self.refuse(id, "the call does not name one token", &todo);
        };
        let session = Session::read(params.get("_meta"));
        let shown = match self.desk.take_up(&token, &session) {
            Ok(shown) => shown,
            Err(refusal) => return self.refuse(id, &refusal.what, &refusal.todo),
        };
        let elsewhere = self.elsewhere(&token);
        let client = match &self.client {
            Some(client) if client.shows_forms => &client.name,
            _ => {
                let what = "this client cannot ask a person (it declared no form elicitation)";
                return self.refuse(id, what, &elsewhere);
            }
        };
        if !elicit::fits(&shown.card) {
            let what = "the proposal is too long to be shown whole in this client's prompt";
            return self.refuse(id, what, &elsewhere);
        }
        let by = By::Codex(session.words(client));
        // Read after the inputs were compared, which may have taken a while.
        let now = (self.clock)();
        let question = Question::ask(&shown.waiting, by.clone(), now.moment, Moment::MAX);
        let ticket = self.ask(&shown.card, &question, now);
        self.open = Some(Open {
            call: id.clone(),
            ticket,
            question,
            shown,
            by,
        });
    }

    fn ask(&mut self, message: &str, question: &Question, now: Now) -> Ticket {
        let left = question.deadline().saturating_sub(now.moment);
        let until = now.instant.checked_add(Duration::from_millis(left));
        let params = elicit::form(message);
        self.peer.ask("elicitation/create", &params, until)
    }

    fn answered(&mut self, ticket: Ticket, outcome: &Outcome) {
        let Some(open) = self.open.take_if(|open| open.ticket == ticket) else {
            return;
        };
        let now = (self.clock)();
        let Open {
            call,
            question,
            shown,
            by,
            ..
        } = open;
        let token = shown.waiting.token().clone();
        match question.read_form(&elicit::answer(outcome), now.moment) {
            Verdict::Approved(approved) => match self.desk.grant(approved) {
                Ok(()) => {
                    let confirm = self.command(&["apply", "--confirm", token.as_str()]);
                    let text = format!(
                        "Approved by the person. Run this now, as one plain command; it works \
                         once: {confirm}"
                    );
                    self.result(&call, &text, false);
                }
                Err(refusal) => self.refuse(&call, &refusal.what, &refusal.todo),
            },
            Verdict::Rejected => {
                let recorded = self.desk.reject(&shown.waiting, &by);
                let todo = "It did not run and will not. Do not propose it again in another form; \
                            ask the person what they want instead.";
                let todo = match recorded {
                    Ok(()) => todo.to_owned(),
                    Err(refusal) => format!("{todo} {}: {}", refusal.what, refusal.todo),
                };
                self.refuse(&call, "the person rejected it", &todo);
            }
            Verdict::Slip(question) => {
                let message = elicit::again(&shown.card);
                if elicit::fits(&message) {
                    let question = question.once_more(now.moment);
                    let ticket = self.ask(&message, &question, now);
                    self.open = Some(Open {
                        call,
                        ticket,
                        question,
                        shown,
                        by,
                    });
                } else {
                    self.undecided(&call, &shown, &by, NoGrant::TooFast, TOO_FAST);
                }
            }
            Verdict::Nothing(why) => {
                let what = match (outcome, why) {
                    (Outcome::Error(error), _) => format!(
                        "the client answered with error {}: {}",
                        error.code,
                        error.message.chars().take(TOLD_LIMIT).collect::<String>()
                    ),
                    (Outcome::Malformed(what), _) => format!("the answer cannot be used: {what}"),
                    (_, NoGrant::TooFast) => TOO_FAST.to_owned(),
                    (_, NoGrant::Declined | NoGrant::Cancelled) => format!(
                        "{why}, by the person or by Codex (which asks nobody under `codex exec`, \
                         or where elicitations are off)"
                    ),
                    (_, why) => why.to_string(),
                };
                self.undecided(&call, &shown, &by, why, &what);
            }
        }
    }

    /// The client takes a request back. It wants no answer to it then.
    fn cancelled(&mut self, params: &Value) {
        let Some(id) = params.get("requestId").and_then(Id::of) else {
            return;
        };
        if let Some(open) = self.open.take_if(|open| open.call == id) {
            self.peer.withdraw(open.ticket, "the call was cancelled");
            let waiting = &open.shown.waiting;
            self.desk.undecided(waiting, &open.by, NoGrant::Withdrawn);
        }
    }

    fn withdraw(&mut self, why: NoGrant, what: &str) {
        if let Some(open) = self.open.take() {
            self.peer.withdraw(open.ticket, what);
            self.undecided(&open.call, &open.shown, &open.by, why, what);
        }
    }

    fn undecided(&mut self, call: &Id, shown: &Shown, by: &By, why: NoGrant, what: &str) {
        self.desk.undecided(&shown.waiting, by, why);
        let todo = format!(
            "{} Call this tool again only if the person wants to be asked here.",
            self.elsewhere(shown.waiting.token())
        );
        self.refuse(call, what, &todo);
    }

    /// Where else a person can decide.
    fn elsewhere(&self, token: &Token) -> String {
        format!(
            "A person can decide in a terminal of their own, where you cannot: {}.",
            self.command(&["approve", token.as_str()])
        )
    }

    fn refuse(&mut self, call: &Id, what: &str, todo: &str) {
        self.result(call, &format!("Not approved: {what}. {todo}"), true);
    }

    fn result(&mut self, call: &Id, text: &str, is_error: bool) {
        let result = json!({
            "content": [{ "type": "text", "text": text }],
            "isError": is_error,
        });
        self.peer.answer(call, Ok(result));
    }

    /// A command line of ours, as a shell takes it.
    fn command(&self, words: &[&str]) -> String {
        quote::words(std::iter::once(self.program.as_str()).chain(words.iter().copied()))
    }
}

const TOO_FAST: &str =
    "Approve came within 1.5 seconds of the question, which is a slip of the keys";

/// Whether the client can show a form. An empty capability means forms, as the first revision
/// with elicitation had it.
fn shows_forms(capability: Option<&Value>) -> bool {
    let Some(capability) = capability.and_then(Value::as_object) else {
        return false;
    };
    capability.is_empty() || capability.get("form").is_some_and(Value::is_object)
}

/// The token, where it is all that the call brings.
fn token(params: &Value) -> Option<Token> {
    let arguments = params.get("arguments")?.as_object()?;
    match (arguments.len(), arguments.get("token")?.as_str()) {
        (1, Some(text)) => Token::parse(text),
        _ => None,
    }
}

/// Serves one client until its input ends.
///
/// # Errors
/// The output cannot be written; a client that has gone is no error.
pub fn serve<D: Desk>(
    input: impl Read + Send + 'static,
    mut output: impl Write,
    mut server: Server<D>,
) -> io::Result<()> {
    // One line waits while one is worked on: more would be memory that the client chooses.
    let (send, lines) = sync_channel(1);
    read_lines(input, LINE_LIMIT, move |line| send.send(line).is_ok())?;
    loop {
        let now = (server.clock)().instant;
        let until = server.next_deadline();
        let wait = until.map_or(IDLE, |until| until.saturating_duration_since(now));
        let ended = match lines.recv_timeout(wait) {
            Ok(line) => {
                server.receive(&line);
                false
            }
            Err(RecvTimeoutError::Timeout) => {
                server.tick();
                false
            }
            Err(RecvTimeoutError::Disconnected) => {
                server.end();
                true
            }
        };
        let written = output
            .write_all(&server.take_output())
            .and_then(|()| output.flush());
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            Err(error) => return Err(error),
            Ok(()) if ended => return Ok(()),
            Ok(()) => {}
        }
    }
}
