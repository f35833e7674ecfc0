//! Starts things; everything else is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(cargo_implfuzz::cli::run(std::env::args_os()) as u8)
}
