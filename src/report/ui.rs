//! The streams: results to stdout, talk to stderr, colour where it shows, one question at most.
//!
//! Nothing else prints. A reader that goes away (a closed pipe) ends the talk quietly: the run
//! keeps its verdict, since `lint | head` must not turn into a pass, but nothing is written to
//! disk on a diff that nobody could see: [`Ui::confirm`] refuses then. Any other failure to print
//! is kept until [`Ui::finish`].

use std::io::{self, IsTerminal as _, Write};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

use super::diagnostic::Diagnostic;
use super::progress;

/// What each kind of text looks like: the one table of colours.
pub mod style {
    use super::{AnsiColor, Style};

    /// The first line of a block, a section's name.
    pub const HEADING: Style = Style::new().bold();
    /// A file's path.
    pub const PATH: Style = AnsiColor::Cyan.on_default();
    /// What the reader should look at: a name, a value, a command to paste.
    pub const MARK: Style = Style::new().bold();
    /// A line that goes.
    pub const REMOVED: Style = AnsiColor::Red.on_default();
    /// A line that comes.
    pub const ADDED: Style = AnsiColor::Green.on_default();
    /// What matters less than the rest: context, hunk headers, origins.
    pub const QUIET: Style = Style::new().dimmed();
    /// An error's name.
    pub const ERROR: Style = AnsiColor::BrightRed.on_default().bold();
    /// A warning's name.
    pub const WARNING: Style = AnsiColor::Yellow.on_default().bold();
    /// All is well.
    pub const GOOD: Style = AnsiColor::Green.on_default().bold();
}

/// Columns where the width of the terminal is not known.
const DEFAULT_WIDTH: usize = 100;

/// Why something could not be said or asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is a question and nobody to ask.
    #[error("`{question}` needs a terminal or `--yes`")]
    NoTerminal {
        /// The question.
        question: String,
    },
    /// The reader of stdout went away before the question.
    #[error("stdout was closed before everything was shown")]
    NotShown,
    /// The terminal failed while asking.
    #[error("cannot ask on the terminal")]
    Ask {
        /// What the system said.
        source: io::Error,
    },
    /// A stream takes no more text.
    #[error("cannot write to {stream}")]
    Write {
        /// `stdout` or `stderr`.
        stream: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

/// `--color`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Color {
    /// Where the stream is a terminal; `NO_COLOR` and `CLICOLOR_FORCE` are followed.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How much is said on stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Loudness {
    /// Errors alone.
    Quiet,
    /// What a person needs.
    #[default]
    Normal,
    /// What was looked at and why.
    Verbose,
}

/// The two streams and what is known about them.
pub struct Ui {
    out: Stream,
    err: Stream,
    loudness: Loudness,
    asks: bool,
    shows_progress: bool,
    width: usize,
}

struct Stream {
    name: &'static str,
    to: AutoStream<Box<dyn Write>>,
    failed: Option<io::Error>,
}

impl Ui {
    /// The process's own streams.
    pub fn new(color: Color, loudness: Loudness) -> Self {
        let (stdout, stderr) = (io::stdout(), io::stderr());
        let out_color = choose(color, AutoStream::choice(&stdout));
        let err_color = choose(color, AutoStream::choice(&stderr));
        Self {
            asks: io::stdin().is_terminal() && stderr.is_terminal(),
            shows_progress: stderr.is_terminal() && loudness >= Loudness::Normal,
            width: terminal_size::terminal_size_of(&stdout)
                .map_or(DEFAULT_WIDTH, |(width, _)| usize::from(width.0)),
            out: Stream::new("stdout", Box::new(stdout), out_color),
            err: Stream::new("stderr", Box::new(stderr), err_color),
            loudness,
        }
    }

    /// Writes a result to stdout, as it is; escape sequences of colours go where none are shown.
    pub fn out(&mut self, text: impl AsRef<str>) {
        self.out.write(text.as_ref());
    }

    /// Writes a line of a result to stdout.
    pub fn line(&mut self, text: impl AsRef<str>) {
        self.out.write(text.as_ref());
        self.out.write("\n");
    }

    /// Writes a line of talk to stderr, unless `-q`.
    pub fn say(&mut self, text: impl AsRef<str>) {
        if self.loudness >= Loudness::Normal {
            self.err.write(text.as_ref());
            self.err.write("\n");
        }
    }

    /// Writes a line of talk to stderr with `-v` alone.
    pub fn detail(&mut self, text: impl AsRef<str>) {
        if self.loudness >= Loudness::Verbose {
            self.err.write(text.as_ref());
            self.err.write("\n");
        }
    }

    /// Writes an error to stderr, with `-q` too.
    pub fn diagnose(&mut self, diagnostic: &Diagnostic) {
        self.err.write(&diagnostic.render());
    }

    /// Writes text to stderr as it is, with `-q` too.
    pub fn err(&mut self, text: impl AsRef<str>) {
        self.err.write(text.as_ref());
    }

    /// Does `work`; while it takes long, says on stderr how far it has come, in one line that goes
    /// when it is done. Only on a terminal, and not with `-q`.
    pub fn while_waiting<T>(
        &self,
        words: impl Fn() -> String + Sync,
        work: impl FnOnce() -> T,
    ) -> T {
        if self.shows_progress {
            progress::during(io::stderr(), &words, work)
        } else {
            work()
        }
    }

    /// Columns of stdout's terminal.
    pub const fn width(&self) -> usize {
        self.width
    }

    /// How much is said.
    pub const fn loudness(&self) -> Loudness {
        self.loudness
    }

    /// Asks a yes-or-no question, `no` being the default. `yes` (the flag `--yes`) answers it.
    ///
    /// # Errors
    /// Without `yes`, when stdin or stderr is no terminal; always, when what was to be shown
    /// before could not be shown.
    pub fn confirm(&mut self, question: &str, yes: bool) -> Result<bool, Error> {
        self.out.flush();
        if self.out.failed.is_some() {
            return Err(Error::NotShown);
        }
        if yes {
            return Ok(true);
        }
        if !self.asks {
            return Err(Error::NoTerminal {
                question: question.to_owned(),
            });
        }
        // Enter is needed: a key typed ahead by accident must not answer.
        dialoguer::Confirm::new()
            .with_prompt(question)
            .default(false)
            .wait_for_newline(true)
            .interact()
            .map_err(|dialoguer::Error::IO(source)| Error::Ask { source })
    }

    /// Flushes both streams.
    ///
    /// # Errors
    /// A stream that took no more text, for another reason than a reader that went away.
    pub fn finish(mut self) -> Result<(), Error> {
        for stream in [&mut self.out, &mut self.err] {
            stream.flush();
            match stream.failed.take() {
                Some(source) if source.kind() != io::ErrorKind::BrokenPipe => {
                    return Err(Error::Write {
                        stream: stream.name,
                        source,
                    });
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn choose(wanted: Color, auto: ColorChoice) -> ColorChoice {
    match wanted {
        Color::Auto => auto,
        Color::Always => ColorChoice::Always,
        Color::Never => ColorChoice::Never,
    }
}

impl Stream {
    fn new(name: &'static str, to: Box<dyn Write>, color: ColorChoice) -> Self {
        Self {
            name,
            to: AutoStream::new(to, color),
            failed: None,
        }
    }

    fn write(&mut self, text: &str) {
        if self.failed.is_none() {
            self.failed = self.to.write_all(text.as_bytes()).err();
        }
    }

    fn flush(&mut self) {
        if self.failed.is_none() {
            self.failed = self.to.flush().err();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Broken(io::ErrorKind);

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn ui(out: impl Write + 'static) -> Ui {
        Ui {
            out: Stream::new("stdout", Box::new(out), ColorChoice::Never),
            err: Stream::new("stderr", Box::new(io::sink()), ColorChoice::Never),
            loudness: Loudness::Normal,
            asks: false,
            shows_progress: false,
            width: DEFAULT_WIDTH,
        }
    }

    #[test]
    fn without_a_terminal_only_the_flag_answers() {
        let mut ui = ui(io::sink());
        assert!(matches!(ui.confirm("sure?", true), Ok(true)));
        let asked = ui.confirm("sure?", false);
        assert!(matches!(asked, Err(Error::NoTerminal { .. })));
    }

    #[test]
    fn what_could_not_be_shown_is_not_confirmed() {
        let mut ui = ui(Broken(io::ErrorKind::BrokenPipe));
        ui.line("the diff");
        assert!(matches!(ui.confirm("sure?", true), Err(Error::NotShown)));
        assert!(ui.finish().is_ok(), "a closed pipe is no fault");
    }

    #[test]
    fn a_full_disk_under_stdout_is_told_at_the_end() {
        let mut ui = ui(Broken(io::ErrorKind::StorageFull));
        ui.line("a result");
        assert!(matches!(ui.finish(), Err(Error::Write { .. })));
    }
}
