//! The binary: see the library.

fn main() {}
