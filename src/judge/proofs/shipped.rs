//! The port as it ships, for the last part of the isolated replay.

use super::{Grounds, Linked, refused};
use crate::c::bind::link_name;
use crate::error::Result;
use crate::fuzz::build::fuzz_binary::Built;
use crate::fuzz::c_code::CCode;
use crate::fuzz::isolated_replay::Shipped;
use crate::judge::Judge;
use crate::project::FunctionPlan;
use crate::symbol::LibraryIndex;
use crate::verdict::Measured;
use std::path::{Path, PathBuf};

/// A candidate as it ships.
pub enum AsShipped {
    /// Grades are not measured.
    NotAsked,
    Built(Measured<Shipped>),
    /// Only this build shows why no port may be like this.
    Refused(String),
}

impl Grounds {
    /// The binary that has the ports in the tree as they ship.
    pub fn shipped_binary(&self) -> Option<&Path> {
        Some(self.counting.as_ref()?.value()?.binary())
    }

    /// A port in the tree as it ships, or why it is not built so; `None` where grades are not measured.
    pub fn shipped(&self, judge: &Judge, planned: &FunctionPlan) -> Result<Option<Measured<Shipped>>> {
        Ok(match &self.counting {
            Some(Measured::Yes(counting)) => Some(Measured::Yes(shipped(judge, planned, counting.binary())?)),
            Some(Measured::No(why)) => Some(Measured::No(why.clone())),
            None => None,
        })
    }

    /// A candidate as it ships, which these files of the port's crate have; its binary comes into the folder `bin`.
    pub fn candidate_shipped(
        &self,
        judge: &Judge,
        (bin, planned): (&str, &FunctionPlan),
        replaced: &[(PathBuf, String)],
    ) -> Result<AsShipped> {
        let counting = match &self.counting {
            None => return Ok(AsShipped::NotAsked),
            Some(Measured::No(why)) => return Ok(AsShipped::Built(Measured::No(why.clone()))),
            Some(Measured::Yes(counting)) => counting,
        };
        Ok(match counting.build_with(judge, (bin, planned), replaced)? {
            Built::Binary(binary) => match refused(&Linked::read(judge, &[&binary])?.linkage(planned)?) {
                Some(reason) => AsShipped::Refused(reason),
                None => AsShipped::Built(Measured::Yes(shipped(judge, planned, &binary)?)),
            },
            Built::Errors(errors) => {
                let first = errors.first().map_or("", |error| error.message.as_str());
                AsShipped::Refused(format!("it does not compile: {first}"))
            }
            Built::Stopped(reason) => AsShipped::Refused(reason),
        })
    }
}

fn shipped(judge: &Judge, planned: &FunctionPlan, binary: &Path) -> Result<Shipped> {
    let c_code =
        if is_run_by_c(judge, planned)? { CCode::default() } else { c_code(judge, planned, binary)? };
    Ok(Shipped { binary: binary.to_owned(), c_code })
}

fn c_code(judge: &Judge, planned: &FunctionPlan, binary: &Path) -> Result<CCode> {
    let function = &planned.function;
    let linked = link_name(&function.c_name, &function.module, function.linkage);
    let others = judge.project.library.functions.iter().filter(|other| other.c_name == function.c_name);
    let own = (others.count() == 1).then_some(function.c_name.as_str());
    CCode::find(binary, &linked, own)
}

/// Whether C code that runs on the port's side may call the C function: its callees, which may not be ported, and the
/// functions that prepare what it is called with. A harness on handles tries constructors as C, also the one under test.
fn is_run_by_c(judge: &Judge, planned: &FunctionPlan) -> Result<bool> {
    let index = LibraryIndex::of(&judge.project.library);
    // A function comes first among those that it reaches.
    let callees = index.reached(&planned.function).skip(1);
    let beside =
        judge.project.partners(planned).chain(judge.project.helpers(planned)).map(|other| &other.function);
    let leading = judge.c_side()?.leading_to(&planned.function);
    Ok(callees.chain(beside).any(|function| leading.contains(&function.key)))
}
