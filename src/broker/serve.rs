//! Starts the threads around the broker, and serves one client until it goes.

use std::io::{self, Read, Write};
use std::sync::mpsc::sync_channel;

use super::core::{Broker, Environment};
use super::ending;
use super::inbox::In;
use super::limits;
use super::options::Options;
use crate::rpc::read_lines;

/// What may wait in the inbox: lines of up to 16 MiB, mostly some hundred bytes.
const INBOX: usize = 64;

/// Signals that end the broker.
const SIGNALS: [i32; 3] = [
    signal_hook::consts::SIGTERM,
    signal_hook::consts::SIGINT,
    signal_hook::consts::SIGHUP,
];

/// Serves the client at `input` and `output`; at the end everything that was started has ended.
/// What is to be told on standard error comes back.
///
/// # Errors
/// A thread or a signal's handler cannot be set up.
pub fn serve(
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    options: Options,
    environment: Environment,
) -> io::Result<Vec<String>> {
    ending::adopt_orphans();
    let (send, inbox) = sync_channel(INBOX);
    for signal in SIGNALS {
        let (told, tell) = std::os::unix::net::UnixStream::pair()?;
        signal_hook::low_level::pipe::register(signal, tell)?;
        let send = send.clone();
        std::thread::Builder::new()
            .name("signal".to_owned())
            .spawn(move || {
                let mut told = told;
                while let Ok(1..) = told.read(&mut [0; 1]) {
                    if send.send(In::Signal).is_err() {
                        break;
                    }
                }
            })?;
    }
    let gone = Gone(send.clone());
    read_lines(input, limits::LINE, move |line| {
        gone.0.send(In::Client(line)).is_ok()
    })?;
    let mut broker = Broker::new(options, environment, send.clone());
    let writer = broker.client.write_to(output, send)?;
    broker.run(&inbox);
    let notes = broker.end(&inbox);
    // It ends once all is written, or the client reads no more.
    let end = std::time::Instant::now() + limits::END_ASK;
    while !writer.is_finished() && std::time::Instant::now() < end {
        let _ = inbox.recv_timeout(std::time::Duration::from_millis(2));
    }
    Ok(notes)
}

/// Tells the broker that the client has gone.
struct Gone(std::sync::mpsc::SyncSender<In>);

impl Drop for Gone {
    fn drop(&mut self) {
        // The broker may have ended first.
        let _ = self.0.send(In::ClientGone);
    }
}
