//! What is known of a library and of each of its functions: both texts, the judgement, mutants, coverage, findings and
//! attempts. It reads the tree and the store, and builds and runs nothing. Pages are made of it by `report::page`.

mod attempts;
mod milestones;
mod texts;

pub use attempts::Attempted;
pub use milestones::Milestone;
pub use texts::Text;

use crate::error::Result;
use crate::judge::Judge;
use crate::judge::coverage::Reach;
use crate::judge::findings::{self, Kept};
use crate::judge::mutation_score::{self, Adequacy};
use crate::judge::verify::{Judgement, Overview, known};
use crate::port::history::History;
use crate::project::listing::{Listing, Row};
use crate::project::{FunctionPlan, Project};
use crate::store::{Side, Store, Totals};
use crate::test_record::Moment;
use std::collections::BTreeMap;

/// A library with its port.
#[derive(Debug)]
pub struct Survey {
    /// The name of the directory.
    pub name: String,
    pub overview: Overview,
    /// In porting order.
    pub functions: Vec<Known>,
    /// What all model calls took.
    pub spent: Totals,
    /// The grades as the commits have them, the first commit first.
    pub milestones: Vec<Milestone>,
    /// The scores of TestGen's runs.
    pub moments: Vec<Moment>,
    /// Names by key, for `moments`.
    pub names: BTreeMap<String, String>,
}

/// What is known of one function.
#[derive(Debug)]
pub struct Known {
    /// Its place in the library: calls, tier, harness.
    pub row: Row,
    /// `None` for a function that cannot be ported.
    pub judgement: Option<Judgement>,
    pub c: Text,
    /// `None` without a port.
    pub rust: Option<Text>,
    /// The stored measurement of its harness, if it fits the tree.
    pub harness: Option<Adequacy>,
    /// Only where it was measured for this survey.
    pub reach: Option<Reach>,
    pub findings: Vec<Kept>,
    /// The last run of `port`.
    pub history: Option<History>,
    pub attempts: Vec<Attempted>,
    /// The text of its contract.
    pub contract: Option<String>,
    pub spent: Totals,
}

impl Survey {
    /// The survey of an opened repository, with the coverage that was measured.
    ///
    /// # Errors
    /// `Io` where a source cannot be read, and those of the store.
    pub fn of(judge: &Judge, store: &Store, reach: Vec<Reach>) -> Result<Self> {
        let project = judge.project;
        let planned: Vec<&FunctionPlan> = project.planned.iter().collect();
        let judgements = known(project, store, &planned)?;
        let overview = Overview::of(project, store, &judgements)?;
        let mut judgements: BTreeMap<_, _> =
            judgements.into_iter().map(|one| (one.symbol.clone(), one)).collect();
        let mut reach: BTreeMap<_, _> = reach.into_iter().map(|one| (one.symbol.clone(), one)).collect();
        let mut kept: BTreeMap<_, Vec<Kept>> = BTreeMap::new();
        for side in [Side::Port, Side::C] {
            for one in findings::list(project, store, None, side)? {
                kept.entry(one.symbol.clone()).or_default().push(one);
            }
        }
        let listing = Listing::of(project);
        let functions = listing.symbols.into_iter().zip(&project.library.functions).map(|(row, function)| {
            let planned = project.plan_of(&function.key);
            let history = History::last(store, &function.key)?;
            let attempts = history.as_ref().map(|last| attempts::of(project, last.run.id, &function.name));
            Ok(Known {
                judgement: judgements.remove(&function.name),
                c: texts::c(project, function)?,
                rust: texts::rust(project, function)?,
                harness: planned.map_or(Ok(None), |planned| mutation_score::stored(judge, store, planned))?,
                reach: reach.remove(&function.name),
                findings: kept.remove(&function.name).unwrap_or_default(),
                attempts: attempts.unwrap_or_default(),
                contract: std::fs::read_to_string(project.contract_path(function.name.as_str())).ok(),
                spent: store.totals_of(None, &function.key)?,
                history,
                row,
            })
        });
        Ok(Self {
            name: name(project),
            overview,
            functions: functions.collect::<Result<_>>()?,
            spent: store.totals(None)?,
            milestones: milestones::of(project.workspace.root(), judge.interrupt)?,
            moments: store.testgen_stats()?.over_time,
            names: names(project),
        })
    }
}

fn name(project: &Project) -> String {
    let root = project.workspace.root();
    root.file_name().map_or_else(|| "library".to_owned(), |name| name.to_string_lossy().into_owned())
}

fn names(project: &Project) -> BTreeMap<String, String> {
    let functions = project.library.functions.iter();
    functions.map(|function| (function.key.0.clone(), function.name.to_string())).collect()
}
