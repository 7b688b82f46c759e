//! Lines with a limit, and the thread that reads them.
//!
//! A longer line is skipped to its end without being kept, so what the other side sends cannot
//! fill the memory. A last line without its newline may be half of what was meant, and says so.

use std::io::{self, BufRead, BufReader, Read};
use std::thread;

/// How much is read from the stream at once.
const CHUNK: usize = 16 * 1024;

/// What stood in one line, without its newline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A line with text in it.
    Text(String),
    /// The stream ended within this line.
    Partial(String),
    /// Longer than the limit; its bytes are gone.
    TooLong,
    /// Bytes that are no text.
    NotUtf8,
}

/// Reads lines of at most `limit` bytes.
#[derive(Debug)]
pub struct LineReader<R> {
    input: BufReader<R>,
    limit: usize,
}

impl<R: Read> LineReader<R> {
    /// Reads from `input`; the newline does not count against `limit`.
    pub fn new(input: R, limit: usize) -> Self {
        Self {
            input: BufReader::with_capacity(CHUNK, input),
            limit,
        }
    }

    /// The next line that is not blank; none at the end of the input.
    ///
    /// # Errors
    /// The stream cannot be read.
    pub fn read(&mut self) -> io::Result<Option<Line>> {
        loop {
            let mut kept = Vec::new();
            let mut length = 0_usize;
            let ended = loop {
                let chunk = match self.input.fill_buf() {
                    Ok(chunk) => chunk,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => return Err(error),
                };
                if chunk.is_empty() {
                    break true;
                }
                let end = chunk.iter().position(|byte| *byte == b'\n');
                let part = &chunk[..end.unwrap_or(chunk.len())];
                length = length.saturating_add(part.len());
                if length <= self.limit {
                    kept.extend_from_slice(part);
                } else {
                    // Nobody will read it: give the memory back before the rest arrives.
                    kept = Vec::new();
                }
                let used = part.len() + usize::from(end.is_some());
                self.input.consume(used);
                if end.is_some() {
                    break false;
                }
            };
            if length > self.limit {
                return Ok(Some(Line::TooLong));
            }
            if kept.iter().all(u8::is_ascii_whitespace) {
                if ended {
                    return Ok(None);
                }
                continue;
            }
            return Ok(Some(match String::from_utf8(kept) {
                Ok(text) if ended => Line::Partial(text),
                Ok(text) => Line::Text(text),
                Err(_) => Line::NotUtf8,
            }));
        }
    }
}

/// Reads lines on a thread of its own until the input ends, cannot be read, or `deliver` says
/// that nobody listens. What `deliver` owns is dropped at the end, and so the listener learns it.
///
/// # Errors
/// The thread cannot be started.
pub fn read_lines<R, D>(input: R, limit: usize, mut deliver: D) -> io::Result<()>
where
    R: Read + Send + 'static,
    D: FnMut(Line) -> bool + Send + 'static,
{
    thread::Builder::new()
        .name("lines".to_owned())
        .spawn(move || {
            let mut lines = LineReader::new(input, limit);
            // An input that cannot be read has ended as well.
            while let Ok(Some(line)) = lines.read() {
                if !deliver(line) {
                    break;
                }
            }
        })
        .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::sync_channel;

    fn lines(bytes: &[u8], limit: usize) -> Vec<Line> {
        let mut reader = LineReader::new(bytes, limit);
        let mut found = Vec::new();
        while let Some(line) = reader.read().expect("memory can be read") {
            found.push(line);
        }
        found
    }

    fn text(text: &str) -> Line {
        Line::Text(text.to_owned())
    }

    #[test]
    fn lines_come_whole_and_blank_ones_do_not_come() {
        assert_eq!(
            lines(b"{}\n\n \r\n[1]\r\nlast", 10),
            [text("{}"), text("[1]\r"), Line::Partial("last".to_owned())]
        );
        assert_eq!(lines(b"", 10), []);
        assert_eq!(lines(b"\n  ", 10), []);
    }

    #[test]
    fn the_limit_counts_without_the_newline_and_what_follows_is_read() {
        assert_eq!(
            lines(b"12345\n123456\n1\n", 5),
            [text("12345"), Line::TooLong, text("1")]
        );
        assert_eq!(lines(b"123456", 5), [Line::TooLong]);
    }

    #[test]
    fn bytes_that_are_no_text_are_one_bad_line() {
        assert_eq!(
            lines(b"\xff\xfe\n{\"a\":\"\0\"}\n", 99),
            [Line::NotUtf8, text("{\"a\":\"\0\"}")]
        );
    }

    /// Gives `left` times the letter x, then a newline and `{}`.
    struct Long {
        left: usize,
    }

    impl Read for Long {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.left > 0 {
                let count = buffer.len().min(self.left);
                buffer[..count].fill(b'x');
                self.left -= count;
                return Ok(count);
            }
            Ok(0)
        }
    }

    #[test]
    fn a_line_of_a_hundred_megabytes_leaves_nothing_behind() {
        let input = Long { left: 100_000_000 }.chain(&b"\n{}\n"[..]);
        let mut reader = LineReader::new(input, 1000);
        assert_eq!(reader.read().expect("memory"), Some(Line::TooLong));
        assert_eq!(reader.input.capacity(), CHUNK);
        assert_eq!(reader.read().expect("memory"), Some(text("{}")));
    }

    #[test]
    fn the_thread_delivers_and_then_hangs_up() {
        let (send, lines) = sync_channel(1);
        read_lines(&b"1\n2\n"[..], 10, move |line| send.send(line).is_ok()).expect("a thread");
        let came: Vec<Line> = lines.iter().collect();
        assert_eq!(came, [text("1"), text("2")]);
    }

    #[test]
    fn the_thread_ends_when_nobody_listens() {
        let (send, ended) = sync_channel::<()>(0);
        read_lines(&b"1\n2\n"[..], 10, move |_| send.send(()).is_err()).expect("a thread");
        assert_eq!(ended.recv(), Ok(()));
        assert!(ended.recv().is_err(), "it hung up after one line");
    }
}
