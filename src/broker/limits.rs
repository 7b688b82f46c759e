//! Every number of the broker, with its reason. Texts for clients take them from here.

use std::time::Duration;

/// The longest line of the client or of the app-server: one item of Codex came with 1 MiB of
/// output (0.171), and a resumed history has no bound.
pub const LINE: usize = 16 * 1024 * 1024;

/// How long an approval waits when the caller says nothing; as codex-mcp.
pub const APPROVAL: Duration = Duration::from_mins(1);
/// How long a request to Codex may take.
pub const REQUEST: Duration = Duration::from_secs(30);
/// The same for starting a thread or a turn: MCP servers start meanwhile.
pub const START: Duration = Duration::from_secs(90);
/// How long the app-server may take until it has greeted.
pub const HANDSHAKE: Duration = Duration::from_secs(30);

/// A session that waits for a reply longer than this is cancelled.
pub const IDLE: Duration = Duration::from_mins(30);
/// A turn without a sign of life for this long is cancelled.
pub const RUNNING: Duration = Duration::from_hours(4);
/// An ended session is forgotten after this.
pub const ENDED: Duration = Duration::from_mins(5);
/// A failed one keeps its place longer: a reply goes on with its thread.
pub const FAILED: Duration = Duration::from_mins(30);
/// How often these are looked at.
pub const SWEEP: Duration = Duration::from_mins(1);
/// The app-server is ended when no session used it for this long.
pub const UNUSED: Duration = Duration::from_mins(10);

/// Events of one session: above this the oldest unimportant ones go.
pub const EVENTS_SOFT: usize = 1000;
/// Above this others go as well.
pub const EVENTS_HARD: usize = 2000;
/// Bytes of one session's events.
pub const EVENT_BYTES: usize = 8 * 1024 * 1024;
/// Bytes of all sessions' events.
pub const EVENT_BYTES_ALL: usize = 128 * 1024 * 1024;
/// Characters of output that are merged into one event.
pub const MERGE: usize = 16_384;
/// Characters of a delta in `minimal`.
pub const DELTA_MINIMAL: usize = 256;
/// Characters of a delta in `delta_compact`.
pub const DELTA_COMPACT: usize = 2048;
/// Characters of an agent's message in `minimal`.
pub const TEXT_MINIMAL: usize = 4096;

/// Events of one poll, where the caller says nothing.
pub const POLL_EVENTS: usize = 1;
/// Events of one wait, where the caller says nothing.
pub const WAIT_EVENTS: usize = 20;
/// How long a wait lasts, where the caller says nothing.
pub const WAIT: Duration = Duration::from_secs(25);
/// The longest wait: many clients give a call 60 seconds.
pub const WAIT_MOST: Duration = Duration::from_secs(50);
/// Waits at once.
pub const WAITS: usize = 64;
/// The least `maxBytes` that is kept: an action has to fit.
pub const BYTES_LEAST: usize = 1024;
/// The least time between two progress notifications of one call.
pub const PROGRESS: Duration = Duration::from_millis(500);

/// When to poll a running session again, at most: as codex-mcp, in milliseconds.
pub const POLL_RUNNING: u64 = 120_000;
/// When to poll a session that waits for an answer, in milliseconds.
pub const POLL_WAITING: u64 = 1000;
/// A running session's approvals live for this many polls at least.
pub const POLLS_PER_APPROVAL: u64 = 4;

/// Bytes that may wait for the app-server's input.
pub const WRITE_QUEUE: usize = 5 * 1024 * 1024;
/// Bytes that may wait for a client that does not read; more, and it counts as gone.
pub const CLIENT_QUEUE: usize = 64 * 1024 * 1024;
/// Lines in a row that are none, before the app-server is started again.
pub const BAD_LINES: u32 = 3;
/// Bytes of the app-server's standard error that are kept for a message.
pub const STDERR: usize = 4096;

/// How long the app-server may take to end by itself once its input has ended: it takes 35 ms.
pub const END_QUIET: Duration = Duration::from_secs(2);
/// How long after that until it is killed: all of the end takes six seconds at most.
pub const END_TERM: Duration = Duration::from_secs(2);
/// How long answers and interrupts may take at the end.
pub const END_ASK: Duration = Duration::from_millis(500);
/// How often a dead parent is looked for: the end of input mostly tells earlier.
pub const PARENT: Duration = Duration::from_secs(1);
/// How often the folder of decisions is looked at while something waits there.
pub const DECISIONS: Duration = Duration::from_millis(250);

/// Waits between starts after the first, second, third and later crash.
pub const BACKOFF: [Duration; 4] = [
    Duration::ZERO,
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(30),
];
/// As many crashes in [`CRASH_WINDOW`] and the app-server stays down.
pub const CRASHES: usize = 5;
/// How long a crash counts.
pub const CRASH_WINDOW: Duration = Duration::from_mins(10);
/// How long a thread that our own old process still holds is tried again.
pub const LOCKED_RETRY: Duration = Duration::from_secs(2);

/// The time between two tries.
pub const LOCKED_PAUSE: Duration = Duration::from_millis(200);
/// How long an interrupt that came before its turn began is tried again.
pub const INTERRUPT_RETRY: Duration = Duration::from_secs(3);
/// The time between two tries.
pub const INTERRUPT_PAUSE: Duration = Duration::from_millis(30);
/// How long `thread/read` is tried again for a thread that has nothing written yet.
pub const READ_RETRY: Duration = Duration::from_secs(3);
/// Between two tries.
pub const READ_PAUSE: Duration = Duration::from_millis(30);

/// How long an entry of `sessions.jsonl` is kept.
pub const STORED: Duration = Duration::from_hours(24 * 30);
