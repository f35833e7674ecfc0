//! Stores a run: a row with its tests, and for the kept tests a Rust file and seeds for the fuzz corpus.

use super::existence;
use super::exportable::file_of;
use super::generate::Generated;
use super::suite::Test;
use crate::contract::types::Judgeable;
use crate::digest::sha256;
use crate::error::Result;
use crate::fuzz::campaign::Campaign;
use crate::judge::Judge;
use crate::project::test_files::{HEAD, PREFIX};
use crate::project::{FunctionPlan, Project};
use crate::store::{GLOBAL, Store};
use crate::symbol::Library;
use crate::test_record::{GeneratedTest, RecordedTest, RunId, TestCategory, TestGenRun};
use crate::testgen::export::Exported;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::path::Path;

/// The id of a run that begins now.
pub fn run_id() -> RunId {
    // The standard library's hash keys differ between processes and calls.
    let random = RandomState::new().build_hasher().finish();
    RunId::new(Timestamp::now(), (random & 0xff_ffff) as u32)
}

/// Stores a run with all its tests; the store says whether it is the best one of its function.
pub fn store(store: &mut Store, generated: &mut Generated) -> Result<()> {
    store.save_testgen_run(&generated.run, &recorded(generated))?;
    if let Some(stored) = store.testgen_run(&generated.run.run_id)? {
        generated.run = stored;
    }
    Ok(())
}

/// Updates the best configurations after a single run. Runs of a comparison are considered together instead.
pub fn note_best(store: &mut Store, run: &TestGenRun) -> Result<()> {
    for kind in run.task_type.iter().map(String::as_str).chain([GLOBAL]) {
        store.update_testgen_best(kind, &run.context)?;
    }
    Ok(())
}

fn recorded(generated: &Generated) -> Vec<RecordedTest> {
    let suite = &generated.suite;
    let has_mutants = !(generated.mutants.is_empty() && generated.callee_mutants.is_empty());
    let what =
        |number: &usize| generated.mutants.get(number).or(generated.callee_mutants.get(number)).cloned();
    let kills = |known: &Test| -> Option<Vec<String>> {
        known.kills.as_ref().filter(|_| has_mutants).map(|kills| kills.iter().filter_map(what).collect())
    };
    let cheats = |known: &Test| known.cheats.iter().map(|cheat| cheat.word().to_owned()).collect();
    let existence = generated.existence.iter().map(|test| RecordedTest::unrun(test.clone(), None));
    let valid = suite.tests.iter().enumerate().map(|(at, known)| RecordedTest {
        test: known.test.clone(),
        dropped: None,
        kills: kills(known),
        cheats: generated.has_cheats.then(|| cheats(known)),
        kept: generated.kept.contains(&at),
    });
    let dropped = suite.dropped.iter().map(|dropped| (&dropped.test, dropped.why.clone()));
    let others = suite.duplicates.iter().map(|test| (test, "there already".to_owned()));
    let invalid = dropped.chain(others).map(|(test, why)| RecordedTest::unrun(test.clone(), Some(why)));
    existence.chain(valid).chain(invalid).collect()
}

/// Which tests of a run are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    Kept,
    /// Also tests that add nothing to the others.
    Valid,
}

impl Which {
    /// Whether a test is among them.
    pub fn wants(self, test: &RecordedTest) -> bool {
        test.dropped.is_none() && (test.kept || self == Self::Valid)
    }
}

/// The id of a kept test that is not written, with the reason.
pub type LeftOut = (String, String);

/// Asks C again, twice each, for tests of an earlier run. Tests with the same answer are returned; the others come
/// with a reason: the library, its contract or the harness has changed.
pub fn confirmed(
    (library, judge): (&Library, &Judge),
    planned: &FunctionPlan,
    campaign: &Campaign,
    (tests, which): (Vec<RecordedTest>, Which),
) -> Result<(Vec<RecordedTest>, Vec<LeftOut>)> {
    let wanted = tests.into_iter().filter(|test| which.wants(test));
    let (there, called): (Vec<_>, Vec<_>) =
        wanted.partition(|recorded| recorded.test.category == TestCategory::Existence);
    let known = existence::tests(library, planned);
    let answer_now = |recorded: &RecordedTest| -> std::result::Result<Option<Value>, String> {
        let same = known.iter().find(|test| test.input == recorded.test.input);
        Ok(same.ok_or("the function has no such type any more")?.expected_output.clone())
    };
    let mut answers: Vec<_> = there.iter().map(answer_now).collect();
    if matches!(planned.judgeable, Judgeable::Yes(_)) {
        let inputs: Vec<_> = called.iter().map(|recorded| recorded.test.input.clone()).collect();
        let measured = campaign.measure(&inputs, judge.interrupt)?;
        answers.extend(measured.into_iter().map(|outcome| outcome.map(|(_, left)| Some(left.value))));
    } else {
        answers.extend(called.iter().map(|_| Err("the function has no harness any more".to_owned())));
    }
    let (mut same, mut left_out) = (Vec::new(), Vec::new());
    for (recorded, answer) in there.into_iter().chain(called).zip(answers) {
        match answer {
            Ok(now) if now == recorded.test.expected_output => same.push(recorded),
            Ok(_) => left_out.push((recorded.test.id, "C now gives a different result".to_owned())),
            Err(why) => left_out.push((recorded.test.id, why)),
        }
    }
    Ok((same, left_out))
}

/// The files that were written.
#[derive(Debug, Clone, Serialize)]
pub struct Written {
    /// The run of these tests.
    pub run_id: RunId,
    /// Relative to the repository; `None` if no test could be written as Rust.
    pub file: Option<String>,
    /// The file of an earlier run that was removed because no test remains for it.
    pub removed: Option<String>,
    pub tests: Vec<String>,
    /// The other tests, with the reason.
    pub left_out: Vec<LeftOut>,
    /// Number of new seeds.
    pub seeds: usize,
}

/// Writes tests of a run: `rust/tests/testgen_<symbol>.rs` and seeds, in one transaction. If no test can be written
/// as Rust, the outdated file of an earlier run is removed after the transaction, which can only write. If the
/// process is killed in between, the next export removes the file.
pub fn write(
    (project, judge): (&Project, &Judge),
    planned: &FunctionPlan,
    campaign: &Campaign,
    (run_id, tests, which): (&RunId, &[RecordedTest], Which),
) -> Result<Written> {
    let kept: Vec<&RecordedTest> = tests.iter().filter(|test| which.wants(test)).collect();
    let name = &planned.function.name;
    let as_rust: Vec<&GeneratedTest> = kept.iter().map(|recorded| &recorded.test).collect();
    let Exported { text, tests: written, left_out } = file_of(project, planned, &as_rust);
    let mut transaction = project.workspace.transaction();
    let file = file_name(project, planned);
    let has_file = !text.is_empty();
    if has_file {
        transaction.add(&file, text)?;
    }
    let run: Vec<_> = kept.iter().filter(|test| test.test.category != TestCategory::Existence).collect();
    let inputs: Vec<_> = run.iter().map(|test| test.test.input.clone()).collect();
    let read = match planned.judgeable {
        Judgeable::Yes(_) if !inputs.is_empty() => campaign.read_inputs(&inputs, judge.interrupt)?,
        _ => Vec::new(),
    };
    let held_back = judge.held_back(planned)?;
    let (shown, hidden) = (judge.seeds(name), judge.hidden_seeds(name));
    let mut seeds = 0;
    for input in read.into_iter().flatten() {
        let file = &sha256(&input.bytes)[..16];
        if shown.join(file).exists() || hidden.join(file).exists() {
            continue;
        }
        // Held-back inputs stay out of runs that prompts show: only the hidden gate uses them until a port is
        // accepted.
        let folder = if held_back.holds(&input.bytes) { &hidden } else { &shown };
        transaction.add(folder.join(file), input.bytes)?;
        seeds += 1;
    }
    transaction.commit()?;
    let removed = !has_file && remove_own(&project.workspace.root().join(&file))?;
    let (file, removed) = (has_file.then(|| file.clone()), removed.then_some(file));
    Ok(Written { run_id: run_id.clone(), file, removed, tests: written, left_out, seeds })
}

/// Whether this tool has written a test file of this function.
pub fn has_file(project: &Project, planned: &FunctionPlan) -> bool {
    is_own(&project.workspace.root().join(file_name(project, planned))).unwrap_or(false)
}

/// The path of the test file, relative to the repository.
fn file_name(project: &Project, planned: &FunctionPlan) -> String {
    format!("{}/tests/{PREFIX}{}.rs", project.config.rust.dir, planned.function.name)
}

fn is_own(file: &Path) -> Result<bool> {
    Ok(file.is_file() && fs_err::read_to_string(file)?.starts_with(HEAD))
}

/// Removes a test file that this tool wrote; returns whether there was one.
fn remove_own(file: &Path) -> Result<bool> {
    let is_own = is_own(file)?;
    if is_own {
        fs_err::remove_file(file)?;
    }
    Ok(is_own)
}
