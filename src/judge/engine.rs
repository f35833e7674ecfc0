//! The engine that judges a port: the enumerator where all inputs can be tried, else libFuzzer.

use super::c_reach::with_callees;
use super::proofs::{self, Ran};
use super::{Judge, findings, literals};
use crate::contract::types::Judgeable;
use crate::error::{Error, ErrorKind, Result};
use crate::event::Reporter;
use crate::fuzz::campaign::{Budget, Campaign};
use crate::fuzz::held_back::HeldBack;
use crate::fuzz::isolated_replay::Shipped;
use crate::harness::emit::space;
use crate::libc_facts as libc;
use crate::platform::process::Interrupt;
use crate::project::FunctionPlan;
use crate::project::ported::{PortModule, Ported};
use crate::store::Store;
use crate::symbol::{Function, Library};
use crate::verdict::{Measured, RunStats, Verdict};
use std::path::{Path, PathBuf};

impl Judge<'_> {
    /// The number of inputs of the function, if there are few enough to try all, and if nothing but the input
    /// determines its behaviour.
    pub fn points(&self, planned: &FunctionPlan) -> Option<u64> {
        let contract = planned.judgeable.contract()?;
        let points = space::points(&planned.bound(), contract)?;
        let most = self.project.config.fuzz.exhaustive_points;
        (points <= most && is_stateless(&self.project.library, &planned.function)).then_some(points)
    }

    /// The inputs that no prompt about the function may show under its current contract.
    pub fn held_back(&self, planned: &FunctionPlan) -> Result<HeldBack> {
        Ok(HeldBack { key: self.harness_hashes(planned)?.contract })
    }

    /// The runs of the port with this module text in a built binary.
    pub fn port_run(
        &self,
        binary: &Path,
        planned: &FunctionPlan,
        module: &PortModule,
        store: &Store,
    ) -> Result<PortRun> {
        let known_breaks = Some(findings::known_breaks(store, planned)?);
        let literals = literals(Some(module), planned);
        let campaign = Campaign { known_breaks, literals, ..self.campaign(binary, planned) };
        Ok(PortRun { campaign, points: self.points(planned), shipped: None })
    }

    /// The binary with the harness of a port in the tree, for runs by hand. A port that the audit rejects is not
    /// run.
    ///
    /// # Errors
    /// `Usage` if there is nothing to run.
    pub fn by_hand(&self, planned: &FunctionPlan, reporter: &mut dyn Reporter) -> Result<PathBuf> {
        let name = &planned.function.name;
        let unusable = |text: String| Error::new(ErrorKind::Usage, text);
        if let Judgeable::NotYet(why) = &planned.judgeable {
            let dir = &self.project.config.rust.dir;
            return Err(unusable(format!("no harness can judge `{name}` yet: {why}"))
                .help(format!(
                    "`cargo implfuzz contract --new {name}` writes a fuzz target to start from; with `harness = \"model\"` under [symbols.{name}] a model writes one; or write {dir}/contracts/{name}.toml"
                )));
        }
        let module = self.project.module(&planned.function.module)?;
        if module.state(&planned.function) != Ported::Yes {
            return Err(unusable(format!("`{name}` is still a stub: there is nothing to fuzz"))
                .help(format!("`cargo implfuzz port {name}`, or write it in place of the stub")));
        }
        if let Some(problem) = self.audit(planned, module.text())?.problems.first() {
            let dir = &self.project.config.rust.dir;
            let place = format!("{dir}/src/{}.rs:{}", planned.function.module, problem.line);
            return Err(unusable(format!("{place}: {}", problem.reason))
                .help("a port that the audit rejects is not run; correct it first"));
        }
        self.harnesses(&[planned], reporter)
    }
}

/// The runs of a port, with everything that they need on a thread of their own.
pub struct PortRun {
    pub campaign: Campaign,
    /// The number of inputs, if they are few enough to try all.
    points: Option<u64>,
    /// The port as it ships, or why it is not built so; `None` where grades are not measured.
    pub shipped: Option<Measured<Shipped>>,
}

impl PortRun {
    /// Runs both sides in one process, with the strongest engine that the budget allows.
    pub fn run(
        &self,
        budget: Budget,
        interrupt: &Interrupt,
        see: &mut dyn FnMut(&RunStats),
    ) -> Result<Verdict> {
        self.campaign.judge_with(self.points, budget, interrupt, see)
    }

    /// Runs the inputs of an unrefuted run once more with the sides apart.
    pub fn isolated(&self, verdict: Verdict, interrupt: &Interrupt) -> Result<Ran> {
        proofs::apart((&self.campaign, self.shipped.as_ref()), verdict, interrupt)
    }
}

fn is_stateless(library: &Library, function: &Function) -> bool {
    with_callees(library, function).into_iter().all(|f| {
        let mut globals = f.globals_read.iter().chain(&f.globals_written);
        f.indirect_calls == 0
            && f.address_taken.is_empty()
            && f.foreign_globals.is_empty()
            && f.externs.iter().all(|name| libc::is_stateless(name))
            && globals.all(|key| library.global(key).is_some_and(|global| global.is_const))
    })
}
