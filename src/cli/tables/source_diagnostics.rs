//! Where a function stands in C and in Rust, and what the audit says of its port, as diagnostics with lines of text.

use crate::error::{Code, Result};
use crate::judge::Judge;
use crate::project::{FunctionPlan, Project};
use crate::report::{Marked, diagnostic};
use crate::rust::signature::ident;
use crate::symbol::SymbolName;
use fs_err as fs;

/// The definition of a function in C, and the port: its definition, or the line where it panics, if `what` names one.
/// Empty where neither is found.
pub fn places(project: &Project, symbol: &SymbolName, what: &str) -> String {
    let Some(planned) = project.planned.iter().find(|planned| planned.function.name == *symbol) else {
        return String::new();
    };
    let function = &planned.function;
    let c_file = function.place.file.0.as_str();
    let c = fs::read(project.workspace.root().join(c_file)).unwrap_or_default();
    let c = String::from_utf8_lossy(&c).into_owned();
    let module = project.module(&function.module).ok();
    let rust = module.as_ref().map_or("", |module| module.text());
    let (rust_file, name) = (rust_file(project, planned), ident(function).to_string());
    let line = rust.lines().position(|line| line.contains(&format!("fn {name}(")));
    let of_c = Marked::word(c_file, &c, function.place.line as usize, &function.c_name);
    let of_rust = line.and_then(|at| Marked::word(&rust_file, rust, at + 1, &name));
    let panics = panicked_at(what, &function.module).map(|(line, column)| Marked {
        path: &rust_file,
        text: rust,
        line,
        column,
        label: Some("the port panics here"),
    });
    let of_rust = panics.or(of_rust.map(|at| at.says("the port")));
    let both = [of_c.map(|at| at.says("the C original")), of_rust];
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
        diagnostic(Some((Code::Audit, &problem.reason)), &[place])
    });
    Ok(shown.collect())
}

/// Line and column in `panicked at rust/src/MODULE.rs:7:29: …`.
fn panicked_at(what: &str, module: &str) -> Option<(usize, usize)> {
    let (_, place) = what.split_once("panicked at ")?;
    let (_, place) = place.split_once(&format!("src/{module}.rs:"))?;
    let mut numbers = place.splitn(3, ':');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

fn rust_file(project: &Project, planned: &FunctionPlan) -> String {
    format!("{}/src/{}.rs", project.config.rust.dir, planned.function.module)
}

#[cfg(test)]
mod tests {
    use super::panicked_at;

    #[test]
    fn a_panic_names_its_place() {
        let what = "thread 'main' panicked at src/k.rs:7:29: attempt to add with overflow";
        assert_eq!(panicked_at(what, "k"), Some((7, 29)));
        assert_eq!(panicked_at("panicked at rust/src/k.rs:7:2: index: 3", "k"), Some((7, 2)));
        assert_eq!(panicked_at("panicked at core/src/ptr/mod.rs:7:2: x", "k"), None);
        assert_eq!(panicked_at("return value", "k"), None);
    }
}
