//! Coverage of a function by its inputs, on both sides: the kept inputs are replayed in a build that counts how
//! often each part of the sources runs. A side that was never entered is unmeasured, which differs from zero
//! coverage.

mod inputs;
mod remark;
mod unreachable;
mod side;
pub mod by_drivers;

pub use inputs::provide;
pub use side::{Covered, Missed, Side, Way};

use crate::contract::types::Judgeable;
use crate::count::count;
use crate::drivers::Branches;
use crate::error::Result;
use crate::event::{Event, Reporter};
use crate::fuzz::build::fuzz_binary::Built;
use crate::fuzz::campaign::{Campaign, Subject};
use crate::fuzz::coverage::{CSide, Counters, Reached, Tables, counters, probe};
use crate::fuzz::coverage_replay::{Extent, Inputs, Replay};
use crate::judge::Judge;
use crate::project::ported::Ported;
use crate::project::{FunctionPlan, Project};
use crate::symbol::SymbolName;
use crate::verdict::{Measured, Share};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The coverage of a function by its inputs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    pub symbol: SymbolName,
    /// Position of the C function.
    pub file: String,
    pub line: u32,
    /// File of the port.
    pub rust_file: String,
    pub inputs: Inputs,
    pub c: Side,
    pub rust: Side,
}

impl Reach {
    fn unmeasured(planned: &FunctionPlan, project: &Project, why: &str) -> Self {
        let place = &planned.function.place;
        Self {
            symbol: planned.function.name.clone(),
            file: place.file.to_string(),
            line: place.line,
            rust_file: format!("{}/src/{}.rs", project.config.rust.dir, planned.function.module),
            inputs: Inputs::default(),
            c: Side::Unmeasured { why: why.to_owned() },
            rust: Side::Unmeasured { why: why.to_owned() },
        }
    }
}

/// The coverage of each function by the inputs of its last run, its boundary inputs and its counterexamples.
/// Nothing is built if no function has an input.
///
/// # Errors
/// If the coverage data is not understood, and Ctrl-C.
pub fn of_symbols(
    judge: &Judge,
    wanted: &[&FunctionPlan],
    reporter: &mut dyn Reporter,
) -> Result<Vec<Reach>> {
    if !wanted.iter().any(|planned| no_inputs(judge, planned).is_none()) {
        let without = |planned: &&FunctionPlan| {
            let why = no_inputs(judge, planned).unwrap_or_default();
            Reach::unmeasured(planned, judge.project, &why)
        };
        return Ok(wanted.iter().map(without).collect());
    }
    let counting = Counting::build(judge, wanted, Sides::Both, reporter)?;
    reporter.event(Event::StepStarted { step: "replaying inputs".into(), total: Some(wanted.len() as u64) });
    let all = wanted.iter().map(|planned| counting.of(judge, planned)).collect::<Result<Vec<_>>>()?;
    let inputs: u64 = all.iter().map(|reach| reach.inputs.replayed).sum();
    let message = format!("{} of {} replayed", count(inputs, "input"), count(all.len(), "function"));
    reporter.event(Event::StepFinished { message });
    Ok(all)
}

/// Why a function has nothing to replay.
fn no_inputs(judge: &Judge, planned: &FunctionPlan) -> Option<String> {
    match &planned.judgeable {
        Judgeable::NotYet(why) => Some(format!("it has no harness ({why})")),
        Judgeable::Yes(_) if !judge.campaign(Path::new(""), planned).has_inputs() => {
            let name = &planned.function.name;
            Some(format!("no run has left inputs: `cargo implfuzz coverage {name}` makes some"))
        }
        Judgeable::Yes(_) => None,
    }
}

/// Whose coverage a build counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sides {
    Both,
    /// C's alone; the port is compiled as it ships.
    C,
}

/// The build that counts coverage.
#[derive(Debug)]
pub struct Counting {
    binary: PathBuf,
    tables: Tables,
    c: CSide,
    proved: unreachable::Proved,
}

impl Counting {
    /// Builds the tree for coverage, unless that build exists.
    ///
    /// # Errors
    /// If the coverage data is not understood, and Ctrl-C.
    pub fn build(
        judge: &Judge,
        wanted: &[&FunctionPlan],
        sides: Sides,
        reporter: &mut dyn Reporter,
    ) -> Result<Self> {
        let project = judge.project;
        reporter.event(judge.building("for coverage")?);
        let toolchain = project.toolchain(judge.interrupt)?;
        let c = probe(toolchain, &project.workspace.cache().join("coverage/probe"), judge.interrupt)?;
        if let CSide::Unmeasured(why) = &c {
            let text = format!("C coverage is unmeasured: {why}");
            let help = Some("cargo implfuzz doctor --install installs clang".to_owned());
            reporter.event(Event::Warning { text, help });
        }
        let counts = (c == CSide::Measured, sides == Sides::Both);
        let bin = if sides == Sides::Both { "coverage/bin" } else { "coverage/shipped" };
        let built = judge.binary(judge.build_counting(bin, wanted, counts, &[])?);
        let binary = built.map_err(|error| {
            error.context("in the build for coverage, in which the port is compiled as it ships")
        })?;
        let tables = Tables::read(&binary)?;
        reporter.event(Event::StepFinished { message: "built for coverage".into() });
        Ok(Self { binary, tables, c, proved: unreachable::Proved::default() })
    }

    /// The binary that counts C alone has the port as it ships.
    pub fn binary(&self) -> &Path {
        &self.binary
    }

    /// Builds one function's harness with other files as this build is made, into a folder of its own.
    pub fn build_with(
        &self,
        judge: &Judge,
        (bin, planned): (&str, &FunctionPlan),
        replaced: &[(PathBuf, String)],
    ) -> Result<Built> {
        judge.build_counting(bin, &[planned], (self.c == CSide::Measured, false), replaced)
    }

    /// The coverage of one function by its inputs.
    ///
    /// # Errors
    /// If the coverage data is not understood, and Ctrl-C.
    pub fn of(&self, judge: &Judge, planned: &FunctionPlan) -> Result<Reach> {
        if let Some(why) = no_inputs(judge, planned) {
            return Ok(Reach::unmeasured(planned, judge.project, &why));
        }
        let not_run = why_not_run(judge, planned)?;
        self.replayed(judge, planned, not_run)
    }

    /// The coverage of the C function by the inputs on which its port as it ships was last compared with it. Its branches, or
    /// its lines if it has none. The port is not run.
    pub fn of_c(&self, judge: &Judge, planned: &FunctionPlan) -> Result<Measured<Share>> {
        match judge.campaign(&self.binary, planned).compared_inputs() {
            Some(inputs) => Ok(self.of_inputs(judge, planned, &inputs.iter().collect::<Vec<_>>())?.share()),
            None => Ok(Measured::No("the port was not compared with C as it ships".to_owned())),
        }
    }

    /// The coverage of the C function by exactly these inputs.
    pub fn of_inputs(&self, judge: &Judge, planned: &FunctionPlan, inputs: &[&Vec<u8>]) -> Result<Side> {
        let own = judge.campaign(&self.binary, planned);
        let work = own.work.join("exact");
        if work.exists() {
            fs_err::remove_dir_all(&work)?;
        }
        let dir = work.join("inputs");
        fs_err::create_dir_all(&dir)?;
        for (number, input) in inputs.iter().enumerate() {
            fs_err::write(dir.join(format!("{number:04}")), input)?;
        }
        let campaign = Campaign { subject: Subject::Nobody, work, regressions: vec![dir], ..own };
        match campaign.replay(Extent::Exact, judge.interrupt)? {
            Replay::NoInputs => Ok(Side::Unmeasured { why: "there are no inputs".into() }),
            Replay::GivenUp(inputs) => {
                Ok(Side::Unmeasured { why: format!("{} inputs ended the process", inputs.crashed) })
            }
            Replay::Counted(inputs, profile) => self.c(judge, planned, inputs, &counters(&[profile])?),
        }
    }

    /// Replays the inputs on both sides; with `not_run`, which gives the reason, on C alone.
    fn replayed(&self, judge: &Judge, planned: &FunctionPlan, not_run: Option<String>) -> Result<Reach> {
        let reach = |why: &str| Reach::unmeasured(planned, judge.project, why);
        let subject = if not_run.is_some() { Subject::Nobody } else { Subject::Port };
        let campaign = Campaign { subject, ..judge.campaign(&self.binary, planned) };
        let (inputs, profile) = match campaign.replay(Extent::WithCopies, judge.interrupt)? {
            Replay::NoInputs => return Ok(reach("no run has left inputs")),
            Replay::GivenUp(inputs) => {
                let why = format!("{} inputs ended the process", inputs.crashed);
                return Ok(Reach { inputs, ..reach(&why) });
            }
            Replay::Counted(inputs, profile) => (inputs, profile),
        };
        let counters = counters(&[profile])?;
        let rust = match not_run {
            Some(why) => Side::Unmeasured { why },
            None => self.rust(judge, planned, inputs, &counters)?,
        };
        Ok(Reach { inputs, c: self.c(judge, planned, inputs, &counters)?, rust, ..reach("") })
    }

    fn c(&self, judge: &Judge, planned: &FunctionPlan, inputs: Inputs, counters: &Counters) -> Result<Side> {
        if let CSide::Unmeasured(why) = &self.c {
            return Ok(Side::Unmeasured { why: why.clone() });
        }
        of_c(judge, planned, (&self.tables, counters, &self.proved), inputs)
    }

    fn rust(
        &self,
        judge: &Judge,
        planned: &FunctionPlan,
        inputs: Inputs,
        counters: &Counters,
    ) -> Result<Side> {
        let module = judge.project.module(&planned.function.module)?;
        let lines = side::lines_of(planned, module.text());
        let overlay = judge.counting_overlay();
        let file = overlay.join("src").join(format!("{}.rs", planned.function.module));
        let file = file.canonicalize().unwrap_or(file);
        let reached = self.tables.at(counters, &file, &lines)?;
        side::of_rust(reached, inputs, &file)
    }
}

/// The coverage of the C function by its judged calls in drivers' executions; `number` is its place in `counted`.
///
/// # Errors
/// If the coverage data is not understood, and Ctrl-C.
pub fn in_place(
    judge: &Judge,
    planned: &FunctionPlan,
    counted: &Branches,
    number: usize,
) -> Result<Measured<Share>> {
    let Some(counters) = counted.counters.get(number) else { return Ok(Measured::default()) };
    let proved = unreachable::Proved::default();
    Ok(of_c(judge, planned, (&counted.tables, counters, &proved), Inputs::default())?.share())
}

fn of_c(
    judge: &Judge,
    planned: &FunctionPlan,
    (tables, counters, proved): (&Tables, &Counters, &unreachable::Proved),
    inputs: Inputs,
) -> Result<Side> {
    let place = &planned.function.place;
    let file = judge.project.workspace.root().join(&place.file.0);
    let file = file.canonicalize().unwrap_or(file);
    let lines = [place.line..=place.end_line];
    let mut reached = tables.at(counters, &file, &lines)?;
    if reached.as_ref().is_some_and(Reached::has_missed)
        && let Some(optimised) = proved.of(judge, planned)?
    {
        reached = tables.proved(counters, (&file, &lines), Some(&optimised))?;
    }
    side::of_c(reached, inputs, &file)
}

/// Why the port cannot or must not run.
fn why_not_run(judge: &Judge, planned: &FunctionPlan) -> Result<Option<String>> {
    let module = judge.project.module(&planned.function.module)?;
    if module.state(&planned.function) != Ported::Yes {
        return Ok(Some("it is still a stub".to_owned()));
    }
    let report = judge.audit(planned, module.text())?;
    Ok(report.problems.first().map(|problem| {
        format!(
            "the audit rejects it: src/{}.rs:{}: {}",
            planned.function.module, problem.line, problem.reason
        )
    }))
}
