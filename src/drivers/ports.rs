//! Judges the ports in the tree inside of the drivers' executions.

use super::measure::judge_all;
use super::{Report, Work};
use crate::dropin::port::for_c;
use crate::error::Result;
use crate::event::{Event, Reporter};
use crate::in_place::build;
use crate::in_place::candidates::{Candidates, Ports};
use crate::in_place::run::{Judged, Number, Told};
use crate::judge::Judge;
use crate::project::FunctionPlan;
use crate::project::ported::Ported;
use crate::rust::stub_text::candidates_capi_file;
use crate::symbol::SymbolName;
use std::time::Duration;

/// What judging a port in place gave.
#[derive(Debug, Clone)]
pub struct PortJudged {
    pub symbol: SymbolName,
    pub judged: Judged,
}

impl PortJudged {
    /// Whether nothing can be said of the port: no call was judged, or the run ended early.
    pub fn is_inconclusive(&self) -> bool {
        self.differs().is_none() && (self.judged.judged == 0 || self.judged.broke.is_some())
    }

    /// Where the port differs from C.
    pub fn differs(&self) -> Option<&Told> {
        self.judged.killed.get(&0)
    }
}

/// Judges every port of a function that a driver reaches, each for this long.
///
/// # Errors
/// `Build` if the port does not compile, `C` if it cannot be linked with the library, and Ctrl-C.
pub fn judge_ports(
    judge: &Judge,
    report: &Report,
    time: Duration,
    reporter: &mut dyn Reporter,
) -> Result<Vec<PortJudged>> {
    let (project, interrupt) = (judge.project, judge.interrupt);
    let reached = report.reached();
    let position = |planned: &FunctionPlan| {
        project.library.functions.iter().position(|function| function.key == planned.function.key)
    };
    let ported = project.planned.iter().filter(|planned| project.ported(&planned.function) == Ported::Yes);
    let ported: Vec<(Number, &FunctionPlan)> =
        ported.filter_map(|planned| Some((position(planned)?, planned))).collect();
    let wanted: Vec<Number> =
        ported.iter().map(|(number, _)| *number).filter(|number| reached.contains(number)).collect();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let work = Work::of(project, interrupt)?;
    let dir = work.dir("ports");
    fs_err::create_dir_all(&dir)?;
    reporter.event(Event::StepStarted { step: "building the ports beside C".into(), total: None });
    let exported: Vec<_> = ported.iter().map(|(number, planned)| (*number, planned.bound())).collect();
    let (texts, _) = for_c(project, candidates_capi_file(&exported))?;
    let archive = dir.join("libport.a");
    let native = judge.static_library(&dir.join("overlay"), &archive, &texts)?;
    let ports = Ports {
        numbers: ported.iter().map(|(number, _)| *number).collect(),
        archive,
        crate_name: project.crate_name(),
        native,
    };
    let entries = work.entries()?;
    let parts = work.parts(&entries, Candidates::Ports(&ports));
    let built = build::library(parts, work.place(&dir)?)?;
    let mut programs = Vec::new();
    for driven in &report.drivers {
        programs.push(built.program(&driven.driver, parts, work.place(&dir)?)?);
    }
    reporter.event(Event::StepFinished { message: String::new() });
    let step = format!("judging {} ports in place", wanted.len());
    reporter.event(Event::StepStarted { step, total: None });
    let judged = judge_all(&report.drivers, &programs, &wanted, time, interrupt)?;
    reporter.event(Event::StepFinished { message: String::new() });
    let name = |number: &Number| project.library.functions[*number].name.clone();
    let judged = wanted.iter().zip(judged);
    Ok(judged.map(|(number, judged)| PortJudged { symbol: name(number), judged }).collect())
}
