//! Source coverage of a function, read from LLVM's data without LLVM's tools. The compilers put a table of
//! regions into the binary (`mapping`), a run writes its counters to a raw profile (`profile`), and `count`
//! combines the two. `llvm-cov export` shows counts without the counters that `proved` needs, and reads rustc's
//! profiles only if it is as new as rustc's LLVM (Debian 12's plain one, 14, is not); the crate `llvm_profparser` panics
//! on malformed tables. `probe` first checks that both compilers write a known format. Other modules of `fuzz`
//! build and run the binary.

pub mod bytes;
pub mod mapping;
pub mod profile;
pub mod unreachable;
pub mod count;
pub mod probe;

pub use count::{Block, Branch, Reached};
pub use probe::{CSide, probe};
pub use profile::Counters;
pub use unreachable::Optimised;

use crate::error::{Error, ErrorKind, Result};
use crate::verdict::Share;
use bytes::Malformed;
use fs_err as fs;
use mapping::FunctionRecord;
use object::{Object, ObjectSection};
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The share of true values.
pub fn share_of(each: impl Iterator<Item = bool>) -> Share {
    each.fold(Share { reached: 0, total: 0 }, |sum, reached| Share {
        reached: sum.reached + u64::from(reached),
        total: sum.total + 1,
    })
}

/// The functions of a binary, by the files that contain them.
#[derive(Debug)]
pub struct Tables {
    functions: HashMap<PathBuf, Vec<FunctionRecord>>,
}

/// Reads the profiles that runs of one binary wrote, and adds up their counters.
pub fn counters(profiles: &[PathBuf]) -> Result<Counters> {
    let mut counters = Counters::new();
    for path in profiles {
        profile::add(&mut counters, &fs::read(path)?).map_err(|why| unreadable(path, &why))?;
    }
    Ok(counters)
}

impl Tables {
    /// Reads the coverage tables of a binary.
    pub fn read(binary: &Path) -> Result<Self> {
        let data = fs::read(binary)?;
        let (covmap, covfun) = sections(&data).map_err(|why| unreadable(binary, &why))?;
        let mut functions: HashMap<PathBuf, Vec<FunctionRecord>> = HashMap::new();
        let mut known: HashMap<Rc<Path>, PathBuf> = HashMap::new();
        for record in mapping::records(covmap, covfun).map_err(|why| unreadable(binary, &why))? {
            let Some(file) = count::own_file(&record).map(|file| Rc::clone(&record.files[file])) else {
                continue;
            };
            let real = || file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
            let file = known.entry(Rc::clone(&file)).or_insert_with(real);
            functions.entry(file.clone()).or_default().push(record);
        }
        Ok(Self { functions })
    }

    /// The coverage of the functions that begin on these lines of a file. `None` if the binary has no such
    /// function or it was never entered, which differs from zero coverage.
    pub fn at(
        &self,
        counters: &Counters,
        file: &Path,
        lines: &[RangeInclusive<u32>],
    ) -> Result<Option<Reached>> {
        self.proved(counters, (file, lines), None)
    }

    /// Like `at`, without code that the compiler proves unreachable.
    pub fn proved(
        &self,
        counters: &Counters,
        (file, lines): (&Path, &[RangeInclusive<u32>]),
        optimised: Option<&Optimised>,
    ) -> Result<Option<Reached>> {
        let here = |record: &&FunctionRecord| {
            let first = count::first_line(record);
            first.is_some_and(|line| lines.iter().any(|range| range.contains(&line)))
        };
        let mut parts = count::Parts::default();
        for record in self.functions.get(file).into_iter().flatten().filter(here) {
            let counters = counters.get(&record.key).map(Vec::as_slice).unwrap_or_default();
            parts.add(record, counters, optimised).map_err(|why| unreadable(file, &why))?;
        }
        Ok(parts.reached().filter(|reached| reached.entered > 0))
    }
}

fn sections(binary: &[u8]) -> bytes::Read<(&[u8], &[u8])> {
    let object = object::File::parse(binary).map_err(|error| Malformed(error.to_string()))?;
    let section = |name: &str| {
        let section = object.section_by_name(name).ok_or_else(|| Malformed(format!("it has no {name}")))?;
        section.data().map_err(|error| Malformed(error.to_string()))
    };
    Ok((section("__llvm_covmap")?, section("__llvm_covfun")?))
}

fn unreadable(file: &Path, why: &Malformed) -> Error {
    Error::new(
        ErrorKind::Internal,
        format!("the coverage data of {} is not understood: {why}", file.display()),
    )
    .help("this tool reads what LLVM 19 to 22 writes: `cargo implfuzz doctor` shows the compilers")
}

#[cfg(test)]
mod tests;
