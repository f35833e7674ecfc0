//! Checks that both compilers write coverage in a known format: each compiles a small function, and the tables in its
//! object file are read.

use super::mapping::KNOWN_MAPPINGS;
use super::profile::RECORD;
use crate::error::{Error, ErrorKind, Result};
use crate::platform::process::{Interrupt, Job, time_limits};
use crate::platform::toolchain::Toolchain;
use fs_err as fs;
use object::{Object, ObjectSection};
use std::path::Path;

/// The flags with which clang counts; gcc does not support them.
pub const C_FLAGS: [&str; 2] = ["-fprofile-instr-generate", "-fcoverage-mapping"];

/// Whether coverage of the C side can be measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CSide {
    Measured,
    /// The reason why not.
    Unmeasured(String),
}

/// Checks both compilers, with files in `dir`. `Err` if the format of rustc's own coverage is unknown.
pub fn probe(toolchain: &Toolchain, dir: &Path, interrupt: &Interrupt) -> Result<CSide> {
    fs::create_dir_all(dir)?;
    let (rust, c) = (dir.join("probe.rs"), dir.join("probe.c"));
    fs::write(&rust, "pub fn probe(a: u32) -> u32 { a / 3 }\n")?;
    fs::write(&c, "unsigned implfuzz_probe(unsigned a) { return a / 3; }\n")?;
    let object = dir.join("probe-rust.o");
    let job = Job::new(&toolchain.rustc).args(["--crate-type=lib", "--emit=obj", "-Cinstrument-coverage"]);
    if let Err(why) = translated(job.arg("-o").arg(&object).arg(&rust), &object, interrupt)? {
        let text =
            format!("{} writes no coverage that this tool understands: {why}", toolchain.rustc.display());
        return Err(Error::new(ErrorKind::Environment, text)
            .help("use a toolchain with LLVM 19 to 22 (`rustc -vV` says which it has)"));
    }
    let object = dir.join("probe-c.o");
    let job = Job::new(&toolchain.cc.path).args(C_FLAGS).arg("-c").arg("-o").arg(&object).arg(&c);
    Ok(match translated(job, &object, interrupt)? {
        Ok(()) => CSide::Measured,
        Err(why) => CSide::Unmeasured(format!(
            "the C compiler {} writes no coverage that fits to rustc's: {why}; it takes clang 19 or newer",
            toolchain.cc.path.display()
        )),
    })
}

/// Compiles and checks the object file; the inner error describes the problem.
fn translated(job: Job, object: &Path, interrupt: &Interrupt) -> Result<std::result::Result<(), String>> {
    drop(fs::remove_file(object));
    let output = job.timeout(time_limits::COMPILE_OWN_C).run(interrupt)?;
    if !output.exit.success() {
        let text = output.stderr_text();
        let line = text.lines().find(|line| line.contains("error")).unwrap_or("it ended with an error");
        return Ok(Err(line.trim().to_owned()));
    }
    Ok(understood(&fs::read(object)?))
}

/// Checks that the mapping's version is known and that functions' records have the layout that the runtime,
/// which comes with rustc, writes.
fn understood(object: &[u8]) -> std::result::Result<(), String> {
    let object = object::File::parse(object).map_err(|error| error.to_string())?;
    let data = |name: &str| {
        let section = object.section_by_name(name).ok_or_else(|| format!("there is no {name}"))?;
        section.data().map_err(|error| error.to_string())
    };
    let mapping = data("__llvm_covmap")?;
    let version = mapping.get(12..16).map(|bytes| bytes.iter().rfold(0, |n, b| n << 8 | u32::from(*b)));
    match version {
        Some(version) if KNOWN_MAPPINGS.contains(&version) => {}
        Some(version) => return Err(format!("version {} of the mapping is not known", version + 1)),
        None => return Err("the mapping is empty".into()),
    }
    let record = data("__llvm_prf_data")?.len();
    if record != RECORD {
        return Err(format!("a function's record has {record} bytes instead of {RECORD}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::toolchain::{CompilerKind, Search};

    #[test]
    fn both_compilers_are_asked() {
        let (dir, interrupt) = (tempfile::tempdir().unwrap(), Interrupt::none());
        let mut toolchain = Toolchain::find(&Search::from_env(), &interrupt).unwrap();
        if toolchain.cc.kind == CompilerKind::Clang {
            assert_eq!(probe(&toolchain, dir.path(), &interrupt).unwrap(), CSide::Measured);
        }
        toolchain.cc.path = "gcc".into();
        let CSide::Unmeasured(why) = probe(&toolchain, dir.path(), &interrupt).unwrap() else {
            panic!("gcc knows no -fcoverage-mapping")
        };
        assert!(why.contains("gcc") && why.contains("clang 19"), "{why}");
    }
}
