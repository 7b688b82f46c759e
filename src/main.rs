//! The binary: reads the command line and runs it. Everything else is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    codexgate::cli::main(std::env::args_os()).into()
}
