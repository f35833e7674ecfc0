//! The C file linked into each program with the port: counters, and stand-ins for names that a program lacks. The
//! counters are in a file, so that they survive any end of a process.

use super::names::Name;
use crate::error::{Error, ErrorKind, Result};
use crate::platform::process::{Interrupt, Job, time_limits};
use fs_err as fs;
use std::path::Path;

const TEXT: &str = include_str!("../../templates/dropin/runtime.c");

/// The counters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Counts {
    /// Number of started programs.
    pub programs: u64,
    /// For each function: calls of the port, and runs of the C function.
    pub functions: Vec<(u64, u64)>,
}

impl Counts {
    /// Creates the file for this number of functions, all zero.
    pub fn reset(path: &Path, functions: usize) -> Result<()> {
        Ok(fs::write(path, vec![0; 8 * (1 + 2 * functions)])?)
    }

    /// Reads the file.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path)?;
        let numbers: Vec<u64> = bytes
            .chunks_exact(8)
            .map(|bytes| u64::from_ne_bytes(bytes.try_into().expect("chunks of eight bytes")))
            .collect();
        let [programs, rest @ ..] = &numbers[..] else {
            return Err(Error::new(ErrorKind::Internal, format!("{} has no counters", path.display())));
        };
        let (calls, bodies) = rest.split_at(rest.len() / 2);
        Ok(Self {
            programs: *programs,
            functions: calls.iter().copied().zip(bodies.iter().copied()).collect(),
        })
    }
}

/// The C file for this number of functions, of which the first have ports that C reaches, with these linker names; `needed`
/// are the C names that the port uses.
pub(super) fn source((functions, ports): (usize, &[String]), needed: &[Name], counts: &Path) -> String {
    let counts = counts.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    let mut text = format!("#define FUNCTIONS {functions}\n#define COUNTS \"{counts}\"\n{TEXT}");
    for (number, port) in ports.iter().enumerate() {
        text += &format!("\nextern void implfuzz_port_of_{number}(void) __asm__(\"{port}\");");
    }
    text += "\n\nvoid (*const implfuzz_ports[])(void) = {\n";
    for number in 0..ports.len() {
        text += &format!("    implfuzz_port_of_{number},\n");
    }
    text += "};\n";
    // Names of our own, mapped to the linker names, cannot clash with declarations in headers.
    for (number, name) in needed.iter().enumerate() {
        let Name { linker_name, c_name, is_variable } = name;
        let absent = format!("implfuzz_absent_{number}");
        text += &match is_variable {
            true => format!(
                "\n__attribute__((weak, aligned(16))) char {absent}[64] __asm__(\"{linker_name}\");\n"
            ),
            false => format!(
                "\n__attribute__((weak)) void {absent}(void) __asm__(\"{linker_name}\");\n\
                 void {absent}(void) {{ absent(\"{c_name}\"); }}\n"
            ),
        };
    }
    text
}

/// Compiles the file to an object.
pub(super) fn compile(compiler: &Path, text: &str, object: &Path, interrupt: &Interrupt) -> Result<()> {
    let source = object.with_extension("c");
    fs::write(&source, text)?;
    let job = Job::new(compiler).args(["-O2", "-fPIC", "-c", "-o"]).arg(object).arg(&source);
    let output = job.timeout(time_limits::COMPILE_OWN_C).run(interrupt)?;
    if output.exit.success() {
        return Ok(());
    }
    let text = format!("{} cannot be compiled:\n{}", source.display(), output.stderr_text());
    Err(Error::new(ErrorKind::Internal, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_in_the_order_of_the_functions() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("counts");
        Counts::reset(&path, 2).unwrap();
        assert_eq!(Counts::read(&path).unwrap(), Counts { programs: 0, functions: vec![(0, 0), (0, 0)] });
        let bytes: Vec<u8> = [3u64, 10, 20, 1, 2].iter().flat_map(|n| n.to_ne_bytes()).collect();
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(Counts::read(&path).unwrap(), Counts { programs: 3, functions: vec![(10, 1), (20, 2)] });
    }
}
