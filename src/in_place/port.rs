//! The objects of a port, for a program that has the C functions, too. What the port itself allocates through `libc` comes
//! from the arena, like C's blocks; Rust's own libraries get a heap of their own.

use super::candidates::Ports;
use crate::error::{Error, ErrorKind, Result};
use crate::in_place::build_site::BuildSite;
use crate::platform::process::{Job, time_limits};
use crate::platform::workspace::write_atomic;
use camino::Utf8Path;
use fs_err as fs;
use std::path::PathBuf;

/// What Rust's own libraries call in place of functions of the system; `rust_heap.c` and `candidate.c` define them.
const OF_RUST: [(&str, &str); 11] = [
    ("malloc", "implfuzz_rust_malloc"),
    ("free", "implfuzz_rust_free"),
    ("calloc", "implfuzz_rust_calloc"),
    ("realloc", "implfuzz_rust_realloc"),
    ("posix_memalign", "implfuzz_rust_posix_memalign"),
    ("aligned_alloc", "implfuzz_rust_aligned_alloc"),
    ("write", "implfuzz_rust_write"),
    ("writev", "implfuzz_rust_writev"),
    ("abort", "implfuzz_of_abort"),
    ("exit", "implfuzz_of_exit"),
    ("_exit", "implfuzz_of__exit"),
];

/// A port, taken apart.
#[derive(Debug)]
pub(super) struct Unpacked {
    /// The port's own objects.
    pub objects: Vec<PathBuf>,
    /// An archive of all others.
    pub rest: PathBuf,
    pub native: Vec<String>,
}

/// Separates the objects of the port's crate from those of Rust's libraries.
///
/// # Errors
/// `Internal` where the archive has no object of the crate, `Environment` without `ar`, and Ctrl-C.
pub(super) fn unpack(ports: &Ports, place: BuildSite) -> Result<Unpacked> {
    let dir = place.dir.join("port");
    drop(std::fs::remove_dir_all(&dir));
    fs::create_dir_all(&dir)?;
    let rest = dir.join("rest.a");
    fs::copy(&ports.archive, &rest)?;
    let ar = |words: &[&str]| {
        Job::new(&place.toolchain.ar).dir(&dir).args(words).timeout(time_limits::COMPILE_OWN_C)
    };
    let output = ar(&["t", "rest.a"]).run(place.interrupt)?;
    let start = format!("{}-", ports.crate_name.replace('-', "_"));
    let listed = output.stdout_text();
    let own: Vec<&str> = listed.lines().filter(|name| name.starts_with(&start)).collect();
    if own.is_empty() {
        let text = format!("{} has no object of {}", ports.archive.display(), ports.crate_name);
        return Err(Error::new(ErrorKind::Internal, text));
    }
    let what = Utf8Path::new("the port");
    place.done(ar(&[&["x", "rest.a"], &own[..]].concat()), what)?;
    place.done(ar(&[&["d", "rest.a"], &own[..]].concat()), what)?;
    let renames = dir.join("rust_renames.txt");
    let lines: String = OF_RUST.iter().map(|(from, to)| format!("{from} {to}\n")).collect();
    write_atomic(&renames, lines.as_bytes())?;
    place.rename(&rest, &renames)?;
    let objects = own.iter().map(|name| dir.join(name)).collect();
    Ok(Unpacked { objects, rest, native: ports.native.clone() })
}
