//! One line that says how far a long run has come, and goes when it is done.
//!
//! A thread of its own writes it, so that the work is not slowed; a run that is short never starts
//! to talk. [`super::Ui`] decides whether anybody looks.

use std::io::Write;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How long a run is silent: a person begins to wonder after about that.
const SILENT: Duration = Duration::from_millis(500);
/// How often the line changes: often enough to be seen to live.
const EVERY: Duration = Duration::from_millis(100);
/// Back to the start of the line, and clears it.
const CLEAR: &str = "\r\u{1b}[K";

/// Does `work`, and writes what `words` says meanwhile.
pub(super) fn during<T>(
    to: impl Write + Send,
    words: &(impl Fn() -> String + Sync),
    work: impl FnOnce() -> T,
) -> T {
    talking(to, [SILENT, EVERY], words, work)
}

fn talking<T>(
    mut to: impl Write + Send,
    [silent, every]: [Duration; 2],
    words: &(impl Fn() -> String + Sync),
    work: impl FnOnce() -> T,
) -> T {
    let (done, ended) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut wait = silent;
            while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                wait = every;
                // Who cannot see it misses nothing.
                let _ = write!(to, "{CLEAR}{}", words()).and_then(|()| to.flush());
            }
            if wait == every {
                let _ = write!(to, "{CLEAR}").and_then(|()| to.flush());
            }
        });
        let result = work();
        drop(done);
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Screen(Arc<Mutex<Vec<u8>>>);

    impl Screen {
        fn text(&self) -> String {
            let bytes = self.0.lock().expect("no writer panics");
            String::from_utf8_lossy(&bytes).into_owned()
        }
    }

    impl Write for Screen {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("no writer panics").write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_long_run_talks_and_takes_it_back() {
        let screen = Screen::default();
        let seen = screen.clone();
        let limits = [Duration::ZERO, Duration::from_micros(1)];
        let result = talking(screen.clone(), limits, &|| "at work".to_owned(), || {
            while !seen.text().contains("at work") {
                thread::yield_now();
            }
            7
        });
        assert_eq!(result, 7);
        assert!(screen.text().ends_with(CLEAR), "{:?}", screen.text());
    }

    #[test]
    fn a_short_run_is_silent() {
        let screen = Screen::default();
        let limits = [Duration::from_hours(1), EVERY];
        talking(screen.clone(), limits, &|| "at work".to_owned(), || ());
        assert_eq!(screen.text(), "");
    }
}
