//! The error for a tree that does not compile: its cause, and the command that fixes it.

use crate::error::{Error, ErrorKind};
use crate::fuzz::build::fuzz_binary::Diagnostic;
use crate::project::{FunctionPlan, Project};

/// Maximum number of compiler messages that are shown.
const SHOWN: usize = 3;

/// The error for a tree that does not compile.
pub fn does_not_compile(project: &Project, errors: &[Diagnostic]) -> Error {
    let dir = &project.config.rust.dir;
    if let Some(target) = errors.iter().find(|e| e.file.starts_with("fuzz/targets/")) {
        let file = format!("{dir}/{}", target.file);
        let text = format!("the fuzz target {file} does not compile:\n{}", rendered(dir, errors));
        return Error::new(ErrorKind::Build, text)
            .help(format!("correct it, or delete it and run `cargo implfuzz init`: rm {file}"));
    }
    if errors.iter().all(|e| e.message.starts_with("linking with")) {
        let text = format!("the C original does not link with the harnesses:\n{}", linker(errors));
        return Error::new(ErrorKind::Build, text)
            .help("name the libraries that the C needs under [c] in implfuzz.toml, such as link = [\"m\"]");
    }
    if errors.iter().all(|e| e.file.starts_with("fuzz/")) {
        return in_harness(project, errors);
    }
    Error::new(ErrorKind::Build, format!("the port in {dir}/ does not compile:\n{}", rendered(dir, errors)))
        .help(format!("correct it, then try `cargo check --manifest-path {dir}/Cargo.toml`"))
}

/// The error for a tree on which the compiler does not come to an end, for this reason.
pub fn compiler_stopped(reason: String) -> Error {
    Error::new(ErrorKind::Build, reason)
        .help("in the ports written last, look for large constants, and for types or patterns that grow with each line")
}

/// A harness is generated from its contract, so if a person edited the contract, the error is there.
fn in_harness(project: &Project, errors: &[Diagnostic]) -> Error {
    let of = |planned: &&FunctionPlan| {
        let file = format!("fuzz/src/harness/{}.rs", planned.function.name);
        planned.edited && errors.iter().any(|e| e.file == file)
    };
    let Some(planned) = project.planned.iter().find(of) else {
        let text = format!("a generated harness does not compile:\n{}", brief(errors));
        return Error::new(ErrorKind::Internal, text)
            .help("this is a defect of cargo-implfuzz; `skip = true` under [symbols.<name>] avoids it");
    };
    let name = &planned.function.name;
    let path = project.shown(&project.contract_path(name.as_str()));
    let text = format!(
        "{path}: no harness can be made from this contract; the compiler reports:\n{}",
        brief(errors)
    );
    Error::new(ErrorKind::Config, text).help(format!("cargo implfuzz contract --edit {name}"))
}

/// Phrases in the error messages of linkers.
const LINKERS: [&str; 6] = [
    "undefined reference to", "undefined symbol", "multiple definition of", "duplicate symbol",
    "cannot find -l", "unable to find library",
];

/// The linker's messages; without any, rustc's whole output.
fn linker(errors: &[Diagnostic]) -> String {
    let lines = errors.iter().flat_map(|error| error.rendered.lines());
    let words =
        lines.filter_map(|line| LINKERS.iter().find_map(|words| line.find(words).map(|at| &line[at..])));
    let mut all: Vec<String> = words.map(|words| format!("  {words}")).collect();
    all.sort();
    all.dedup();
    if all.is_empty() { rendered("", errors) } else { cut(&all) }
}

/// The compiler's messages, without quotes of generated code.
fn brief(errors: &[Diagnostic]) -> String {
    let mut messages: Vec<&str> = Vec::new();
    for error in errors {
        if !messages.contains(&error.message.as_str()) {
            messages.push(&error.message);
        }
    }
    cut(&messages.iter().map(|message| format!("  {message}")).collect::<Vec<_>>())
}

/// The errors as rustc shows them.
fn rendered(dir: &str, errors: &[Diagnostic]) -> String {
    let here = |e: &Diagnostic| {
        let text = e.rendered.trim_end().replace("--> src/", &format!("--> {dir}/src/"));
        text.replace("--> fuzz/targets/", &format!("--> {dir}/fuzz/targets/"))
    };
    cut(&errors.iter().map(here).collect::<Vec<_>>())
}

fn cut(all: &[String]) -> String {
    let shown = all[..all.len().min(SHOWN)].join("\n");
    if all.len() > SHOWN { format!("{shown}\n… and {} more", all.len() - SHOWN) } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linking(rendered: &str) -> Diagnostic {
        Diagnostic {
            code: None,
            message: "linking with `cc` failed: exit status: 1".into(),
            file: "fuzz/".into(),
            line: 0,
            rendered: rendered.into(),
        }
    }

    #[test]
    fn a_linker_is_quoted_without_the_line_that_started_it() {
        let gnu = "error: linking with `cc` failed: exit status: 1\n  |\n  = note:  \"cc\" \"-m64\" \"a.o\"\n  \
            = note: /usr/bin/ld.bfd: unit0.o: in function `c_root':\n          roots.c:(.text+0x3): undefined reference to `sqrt'\n          \
            roots.c:(.text+0x9): undefined reference to `sqrt'\n          collect2: error: ld returned 1 exit status\n";
        assert_eq!(linker(&[linking(gnu)]), "  undefined reference to `sqrt'");
        let llvm = "error: linking with `cc` failed: exit status: 1\n  = note: rust-lld: error: unable to find library -lnosuch\n";
        assert_eq!(linker(&[linking(llvm)]), "  unable to find library -lnosuch");
        let full = "error: linking with `cc` failed: no space left on device\n";
        assert!(linker(&[linking(full)]).contains("no space left"));
    }
}
