//! Prepares tests for export, and finds those that cannot be exported.

use super::suite::Test;
use crate::project::{FunctionPlan, Project};
use crate::test_record::GeneratedTest;
use crate::testgen::export::{Exported, Source, exported};
use std::collections::BTreeSet;

/// The test file of a function; if there can be none, every test is left out with the reason.
pub fn file_of(project: &Project, planned: &FunctionPlan, tests: &[&GeneratedTest]) -> Exported {
    let others: Vec<_> = project.planned.iter().map(FunctionPlan::bound).collect();
    let krate = project.crate_name();
    let source = Source { krate: &krate, library: &project.library, bound: planned.bound(), others: &others };
    exported(&source, tests).unwrap_or_else(|why| Exported {
        text: String::new(),
        tests: Vec::new(),
        left_out: tests.iter().map(|test| (test.id.clone(), why.clone())).collect(),
    })
}

/// Indexes of the tests that cannot be written as Rust.
pub fn left_out(project: &Project, planned: &FunctionPlan, tests: &[Test]) -> BTreeSet<usize> {
    let all: Vec<&GeneratedTest> = tests.iter().map(|known| &known.test).collect();
    let left_out = file_of(project, planned, &all).left_out;
    let is_left_out = |test: &GeneratedTest| left_out.iter().any(|(id, _)| *id == test.id);
    all.iter().enumerate().filter(|(_, test)| is_left_out(test)).map(|(at, _)| at).collect()
}
