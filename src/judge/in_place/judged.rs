//! Judges ports inside of drivers' executions.

use super::Evidence;
use super::found::{finding, found};
use super::grounds::{Grounds, Known};
use crate::drivers::{self, Candidate, Exported, Inputs, PortJudged, PortsBuilt, Report, number_of};
use crate::error::{Error, ErrorKind, Result};
use crate::event::Reporter;
use crate::fuzz::build::static_library::Checks;
use crate::in_place::difference::Difference;
use crate::in_place::run::Number;
use crate::in_place::typed::{Meaning, meaning};
use crate::in_place::whole_runs::Replaced;
use crate::judge::{Judge, Judging, coverage};
use crate::project::FunctionPlan;
use crate::symbol::SymbolKey;
use crate::verdict::{CallInPlace, Finding, Measured, Share};
use std::collections::BTreeMap;
use std::path::Path;

impl Judge<'_> {
    /// The programs of all drivers with the ports in the tree, and with a candidate that is not in it.
    fn beside_c<'a>(
        &'a self,
        report: &'a Report,
        (candidate, checks): (Option<&Candidate>, Checks),
        reporter: &mut dyn Reporter,
    ) -> Result<PortsBuilt<'a>> {
        let archive =
            |overlay: &Path, to: &Path, files: &[_]| self.static_library((overlay, checks), to, files);
        let folder = match checks {
            Checks::All => "ports",
            Checks::None => "ports-as-they-ship",
        };
        let ports = (candidate, folder);
        PortsBuilt::build((self.project, report), ports, &archive, self.interrupt, reporter)
    }

    /// Builds each driver with the ports in the tree beside C, for other machines, into this folder.
    ///
    /// # Errors
    /// Those of building the programs.
    pub fn export_drivers(&self, to: &Path, reporter: &mut dyn Reporter) -> Result<Vec<Exported>> {
        let archive =
            |overlay: &Path, to: &Path, files: &[_]| self.static_library((overlay, Checks::All), to, files);
        drivers::export(self.project, to, &archive, self.interrupt, reporter)
    }

    /// Judges these ports with all drivers.
    ///
    /// # Errors
    /// Those of building and running the programs.
    pub fn ports_in_place(
        &self,
        report: &Report,
        wanted: &[Number],
        reporter: &mut dyn Reporter,
    ) -> Result<Vec<PortJudged>> {
        match wanted {
            [] => Ok(Vec::new()),
            _ => self.beside_c(report, (None, Checks::All), reporter)?.judge(wanted, reporter),
        }
    }

    /// Judges a port again where a finding in place was found.
    ///
    /// # Errors
    /// `Usage` if the driver is gone, and those of building and running its program.
    pub fn again_in_place(
        &self,
        planned: &FunctionPlan,
        (place, input): (&CallInPlace, &[u8]),
        reporter: &mut dyn Reporter,
    ) -> Result<Option<Finding>> {
        let report = drivers::run(self.project, Inputs::Kept, self.interrupt, reporter)?;
        let gone =
            || Error::new(ErrorKind::Usage, format!("`{}` is not in the library", planned.function.name));
        let number = number_of(self.project, planned).ok_or_else(gone)?;
        // Whole runs have the port as it ships, where grades are measured.
        let is_shipped = place.call == 0 && self.project.config.grade.measure;
        let checks = if is_shipped { Checks::None } else { Checks::All };
        let built = self.beside_c(&report, (None, checks), reporter)?;
        let judged = built.again(number, (place, input))?;
        if judged.killed.is_empty() && (judged.judged == 0 || judged.broke.is_some()) {
            let text = "the input does not reach a call that can be judged any more";
            return Err(Error::new(ErrorKind::Usage, text).help("cargo implfuzz drivers --ports"));
        }
        let library = &self.project.library;
        Ok(judged.killed.get(&0).map(|told| {
            let differing = match meaning(library, &planned.function, told) {
                Meaning::Wrong(differing) => differing,
                Meaning::Unclear(_) => None,
            };
            finding(&place.driver, (told, differing.as_ref()), input.to_vec())
        }))
    }
}

impl Grounds {
    /// What drivers' executions say of these ports, which stand in the tree, or of which one is a candidate. A port that
    /// no driver can judge is left out.
    ///
    /// # Errors
    /// Failures of our own, those of building, and Ctrl-C.
    pub fn judge(
        &self,
        judging: &mut Judging,
        ports: &[&FunctionPlan],
        candidate: Option<&Candidate>,
    ) -> Result<BTreeMap<SymbolKey, Evidence>> {
        let (judge, report) = (judging.judge, &*self.report);
        let sound = ports.iter().filter_map(|planned| Some((*planned, self.sound(planned)?)));
        let sound: BTreeMap<Number, (&FunctionPlan, &Known)> =
            sound.map(|(planned, known)| (known.number, (planned, known))).collect();
        if sound.is_empty() {
            return Ok(BTreeMap::new());
        }
        let numbers: Vec<Number> = sound.keys().copied().collect();
        let built = judge.beside_c(report, (candidate, Checks::All), judging.reporter)?;
        let judged = built.judge_for_grades(&numbers, judging.reporter)?;
        let same = judged.iter().filter(|one| one.differs().is_none() && one.judged.judged > 0);
        let same: Vec<(Number, Vec<u64>)> = same.map(|one| (one.number, one.by_driver.clone())).collect();
        let counted = match same.is_empty() {
            true => None,
            false => {
                Some(drivers::branches(judge.project, report, &same, judge.interrupt, judging.reporter)?)
            }
        };
        // A build of its own, for grades alone.
        let shipped = match same.is_empty() || !judge.project.config.grade.measure {
            true => None,
            false => Some(judge.beside_c(report, (candidate, Checks::None), judging.reporter)?),
        };
        let functions: Vec<Number> = same.iter().map(|(number, _)| *number).collect();
        let mut replaced = match functions.is_empty() {
            true => Vec::new(),
            false => shipped.as_ref().unwrap_or(&built).replace(&functions, judging.reporter)?,
        }
        .into_iter();
        let mut all = BTreeMap::new();
        for one in judged {
            let (planned, known) = sound[&one.number];
            let mut evidence = evidence_of(report, &one, known)?;
            if let Some(at) = same.iter().position(|(number, _)| *number == one.number) {
                if let Some(counted) = &counted {
                    evidence.branches = coverage::in_place(judge, planned, counted, at)?;
                }
                let (replaced, inputs) = replaced.next().expect("one for each of them, in this order");
                evidence.take_whole(report, replaced, inputs)?;
            }
            all.insert(planned.function.key.clone(), evidence);
        }
        Ok(all)
    }
}

impl Evidence {
    fn take_whole(&mut self, report: &Report, replaced: Replaced, inputs: u64) -> Result<()> {
        let ended = replaced.agreed + replaced.unsteady;
        self.whole = match &replaced.broke {
            Some(how) => Measured::No(format!("a driver with it in C's place: {how}")),
            None if replaced.agreed == 0 || ended < inputs => {
                let agreed = replaced.agreed;
                let what = "a driver ends the same with it in C's place";
                Measured::No(format!("{what} on {agreed} of {inputs} inputs"))
            }
            None => Measured::Yes(Share { reached: replaced.agreed, total: inputs - replaced.unsteady }),
        };
        if let Some(told) = &replaced.differs {
            match told.difference {
                Difference::Whole => self.unclear = Some(Meaning::WHOLE.to_owned()),
                _ => self.finding = Some(found(report, told, None)?),
            }
        }
        Ok(())
    }
}

fn evidence_of(report: &Report, one: &PortJudged, known: &Known) -> Result<Evidence> {
    let wrong = one.differs().filter(|_| one.is_wrong());
    let told = |why: &str| format!("differs from C where a driver calls it ({why})");
    let ended = || {
        let how = one.judged.ended_by_candidate()?;
        Some(format!("a driver's run ends with it where it goes on with C alone: {how}"))
    };
    Ok(Evidence {
        // A run that ended early says nothing beyond a difference.
        calls: if one.judged.broke.is_none() { one.judged.distinct } else { 0 },
        drivers: known.used.clone(),
        finding: wrong.map(|told| found(report, told, one.differing())).transpose()?,
        unclear: one.unclear().map(told).or_else(|| one.unsteady()).or_else(ended),
        broke: one.judged.broke.clone(),
        without_new: one.judged.without_new,
        outside: one.judged.outside.clone(),
        worth: known.worth.clone(),
        branches: Measured::default(),
        whole: Measured::default(),
    })
}
