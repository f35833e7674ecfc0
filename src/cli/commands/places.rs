//! Where a function stands in C and in Rust, and what the audit says of its port, as diagnostics with lines of text.

use crate::error::Result;
use crate::judge::Judge;
use crate::project::{FunctionPlan, Project};
use crate::report::{Marked, diagnostic};
use crate::rust::signature::ident;
use crate::symbol::SymbolName;
use fs_err as fs;

/// The definitions of a function in C and in Rust; empty where neither is found.
pub fn places(project: &Project, symbol: &SymbolName) -> String {
    let Some(planned) = project.planned.iter().find(|planned| planned.function.name == *symbol) else {
        return String::new();
    };
    let function = &planned.function;
    let c_file = function.place.file.0.as_str();
    let c = fs::read_to_string(project.workspace.root().join(c_file)).unwrap_or_default();
    let module = project.module(&function.module).ok();
    let rust = module.as_ref().map_or("", |module| module.text());
    let (rust_file, name) = (rust_file(project, planned), ident(function).to_string());
    let line =
        1 + rust.lines().position(|line| line.contains(&format!("fn {name}("))).unwrap_or(usize::MAX - 1);
    let of_c = Marked::word(c_file, &c, function.place.line as usize, &function.c_name);
    let of_rust = Marked::word(&rust_file, rust, line, &name);
    let both = [of_c.map(|at| at.says("the C original")), of_rust.map(|at| at.says("the port"))];
    diagnostic(None, &both.into_iter().flatten().collect::<Vec<_>>())
}

/// What the audit says of a port in the tree.
///
/// # Errors
/// As the audit.
pub fn rejected(judge: &Judge, planned: &FunctionPlan) -> Result<String> {
    let module = judge.project.module(&planned.function.module)?;
    let path = rust_file(judge.project, planned);
    let problems = judge.audit(planned, module.text())?.problems;
    let shown = problems.iter().map(|problem| {
        let (line, column) = (problem.line, problem.column);
        let place = Marked { path: &path, text: module.text(), line, column, label: None };
        diagnostic(Some(&problem.reason), &[place])
    });
    Ok(shown.collect())
}

fn rust_file(project: &Project, planned: &FunctionPlan) -> String {
    format!("{}/src/{}.rs", project.config.rust.dir, planned.function.module)
}
