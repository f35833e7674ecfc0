//! The port as it ships, for the last part of the isolated replay.

use super::Grounds;
use crate::c::bind::link_name;
use crate::error::Result;
use crate::fuzz::build::Built;
use crate::fuzz::c_code::CCode;
use crate::fuzz::isolated_replay::Shipped;
use crate::judge::Judge;
use crate::project::FunctionPlan;
use crate::symbol::{Function, LibraryIndex};
use crate::verdict::Measured;
use std::path::{Path, PathBuf};

impl Grounds {
    /// A port in the tree as it ships, or why it is not built so; `None` where grades are not measured.
    pub fn shipped(&self, judge: &Judge, planned: &FunctionPlan) -> Result<Option<Measured<Shipped>>> {
        Ok(match &self.counting {
            Some(Measured::Yes(counting)) => Some(Measured::Yes(shipped(judge, planned, counting.binary())?)),
            Some(Measured::No(why)) => Some(Measured::No(why.clone())),
            None => None,
        })
    }

    /// The same of a candidate, which these files of the port's crate have; its binary comes into the folder `bin`.
    pub fn candidate_shipped(
        &self,
        judge: &Judge,
        (bin, planned): (&str, &FunctionPlan),
        replaced: &[(PathBuf, String)],
    ) -> Result<Option<Measured<Shipped>>> {
        let Some(Measured::Yes(counting)) = &self.counting else { return self.shipped(judge, planned) };
        Ok(Some(match counting.build_with(judge, (bin, planned), replaced)? {
            Built::Binary(binary) => Measured::Yes(shipped(judge, planned, &binary)?),
            Built::Errors(errors) => {
                let first = errors.first().map_or("", |error| error.message.as_str());
                Measured::No(format!("it does not compile: {first}"))
            }
            Built::Stopped(reason) => Measured::No(reason),
        }))
    }
}

fn shipped(judge: &Judge, planned: &FunctionPlan, binary: &Path) -> Result<Shipped> {
    let function = &planned.function;
    let c_code = match is_run_by_c(judge, planned) {
        true => CCode::default(),
        false => {
            let linked = link_name(&function.c_name, &function.module, function.linkage);
            let others =
                judge.project.library.functions.iter().filter(|other| other.c_name == function.c_name);
            let parts = (others.count() == 1).then_some(function.c_name.as_str());
            CCode::find(binary, &linked, parts)?
        }
    };
    Ok(Shipped { binary: binary.to_owned(), c_code })
}

/// Whether C code that runs on the port's side may call the C function: its callees, which may not be ported, and the
/// functions that prepare what it is called with.
fn is_run_by_c(judge: &Judge, planned: &FunctionPlan) -> bool {
    let project = judge.project;
    let index = LibraryIndex::of(&project.library);
    let own = &planned.function;
    let leads_back = |other: &Function| index.reached(other).any(|function| function.key == own.key);
    let callees = index.reached(own).any(leads_back);
    let partners = judge.partners(planned).chain(project.helpers(planned));
    callees || partners.filter(|other| other.function.key != own.key).any(|other| leads_back(&other.function))
}
