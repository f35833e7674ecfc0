//! `init`: all files of the target repository that follow from the C library and the contracts.
//!
//! Idempotent: generated files are written only if they differ, and files that people edit are edited by byte
//! range.

mod configuration;
mod modules;
mod stamp;

use crate::c::archive::units_file;
use crate::contract::file as contract_file;
use crate::contract::types::{Contract, Returns, Role};
use crate::count::count;
use crate::error::Result;
use crate::event::{Event, Reporter};
use crate::harness::{emit, files, records_in_types, struct_values};
use crate::platform::process::Interrupt;
use crate::platform::workspace::{CONFIG_FILE, Workspace};
use crate::project::{FunctionPlan, Options, Project, test_files};
use crate::rust::globals::globals_file;
use crate::rust::stub_text::{GENERATED_MODULES, callee_file, capi_file, lib_file};
use fs_err as fs;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What `init` found and did.
#[derive(Debug, Default)]
pub struct Summary {
    /// Files written or changed, relative to the root.
    pub changed: Vec<PathBuf>,
    /// Globals without a Rust static, with the reason.
    pub globals_left_out: Vec<(String, String)>,
    /// Ported functions whose C signature has changed.
    pub outdated: Vec<String>,
}

/// Reads the library in `dir` and writes all files that follow from it.
pub fn init(
    dir: &Path,
    options: &Options,
    interrupt: &Interrupt,
    reporter: &mut dyn Reporter,
) -> Result<(Project, Summary)> {
    reporter.event(Event::StepStarted { step: "reading the C library".into(), total: None });
    let is_first = Workspace::is_untouched(dir);
    let project = match Project::load(Workspace::create(dir)?, options, interrupt) {
        // Another `init` may have finished meanwhile.
        Err(error) if is_first && !dir.join(CONFIG_FILE).exists() => {
            Workspace::remove_private(dir)?;
            return Err(error);
        }
        loaded => loaded?,
    };
    let (functions, units) = (project.library.functions.len(), project.library.units.len());
    reporter.event(Event::StepFinished {
        message: format!("{} in {}", count(functions, "function"), count(units, "file")),
    });
    let summary = sync(&project, interrupt, reporter)?;
    Ok((project, summary))
}

/// Brings all generated files up to date, in one transaction.
pub fn sync(project: &Project, interrupt: &Interrupt, reporter: &mut dyn Reporter) -> Result<Summary> {
    warn(project, reporter);
    if let Some(stamp::Told { globals_left_out, outdated }) = stamp::holds(project)? {
        for name in &outdated {
            let text = modules::another_signature(project.find(name)?);
            reporter.event(Event::Note { text });
        }
        return Ok(Summary { changed: Vec::new(), globals_left_out, outdated });
    }
    let mut summary = Summary::default();
    let modules = modules::plan(project)?;
    let root = project.workspace.root();
    let rust = project.rust_dir();
    let mut transaction = project.workspace.transaction();
    if !project.workspace.config().exists() {
        transaction.add(project.workspace.config(), configuration::render(project))?;
    }
    transaction.add(project.workspace.private().join(".gitignore"), "*\n")?;
    let attributes = rust.join("fuzz/seeds/.gitattributes");
    if !attributes.exists() {
        transaction.add(attributes, "# Inputs are bytes: git must not change their line ends.\n* -text\n")?;
    }
    for path in [rust.join("Cargo.toml"), rust.join(".gitignore")] {
        if !path.exists() {
            let manifest = path.ends_with("Cargo.toml");
            let text =
                if manifest { files::port_manifest(&project.crate_name())? } else { "target\n".into() };
            transaction.add(path, text)?;
        }
    }
    let bound: Vec<_> = project.planned.iter().map(FunctionPlan::bound).collect();
    let callable: Vec<_> = project.callable().map(FunctionPlan::bound).collect();
    let names: Vec<String> = modules.iter().map(|m| m.name.clone()).collect();
    let ported = |function: &crate::symbol::Function| modules::is_ported(&modules, function);
    let (globals, left_out) = globals(project);
    for (path, text) in [
        ("build.rs", files::port_build_script().to_owned()),
        ("c_units.rs", units_file(&project.library, &project.config.c.link, &project.c_files.watched())),
        ("src/lib.rs", lib_file(&names)),
        ("src/ffi.rs", project.ffi.clone()),
        ("src/globals.rs", globals),
        ("src/capi.rs", capi_file(&bound)),
        ("src/callee.rs", callee_file(&callable, &ported)),
    ] {
        transaction.add(rust.join(path), text)?;
    }
    for module in &modules {
        transaction.add(project.module_path(&module.name), module.text.clone())?;
        for note in &module.notes {
            reporter.event(Event::Note { text: note.clone() });
        }
        summary.outdated.extend(module.outdated.clone());
    }
    // A file that cannot be read now is not gone.
    let is_whole = !project.library.left_out.iter().any(|left| left.broken);
    for orphan in is_whole.then(|| orphans(&rust.join("src"), &names)).transpose()?.unwrap_or_default() {
        let path = project.shown(&orphan);
        let text = format!("{path} belongs to no C file of the library, and is not compiled");
        let help = Some("move its ports to the modules of their C files, and delete it".to_owned());
        reporter.event(Event::Warning { text, help });
    }
    let mut generated = BTreeSet::new();
    for (path, text) in harnesses(project)? {
        let path = rust.join(path);
        generated.insert(path.clone());
        transaction.add(path, text)?;
    }
    for planned in project.planned.iter().filter(|p| !p.edited) {
        if let Some(contract) = planned.judgeable.contract() {
            let name = planned.function.name.as_str();
            transaction.add(project.contract_path(name), contract_text(project, planned, contract))?;
        }
    }
    interrupt.check()?;
    let written = transaction.paths();
    let changed = transaction.commit()?;
    summary.changed = changed.iter().map(|p| p.strip_prefix(root).unwrap_or(p).to_owned()).collect();
    // Files that belong to an unreadable source are needed again when it can be read.
    if !project.library.left_out.iter().any(|left| left.broken) {
        remove_stale(&rust, &generated, project)?;
        remove_tests_of_nobody(&rust, project, reporter)?;
    }
    summary.globals_left_out = left_out;
    let told = stamp::Told {
        globals_left_out: summary.globals_left_out.clone(),
        outdated: summary.outdated.clone(),
    };
    stamp::set(project, &written, &told)?;
    Ok(summary)
}

/// Reports problems before anything is written or shown.
pub fn warn(project: &Project, reporter: &mut dyn Reporter) {
    let files = project.workspace.recovered();
    if files > 0 {
        let text = format!("finished an interrupted change: wrote the {files} files that were left");
        reporter.event(Event::Note { text });
    }
    for warning in &project.flag_warnings {
        reporter.event(Event::Warning { text: warning.text.clone(), help: warning.help.clone() });
    }
    for left in project.library.left_out.iter().filter(|left| left.broken) {
        let reason = left.reason.lines().next().unwrap_or_default();
        let text = format!("{} cannot be read, so its functions are missing: {reason}", left.file);
        let help = format!("correct it or its flags, or name it under exclude in [c] of {CONFIG_FILE}");
        reporter.event(Event::Warning { text, help: Some(help) });
    }
    let known: BTreeSet<&str> = project.library.functions.iter().map(|f| f.name.as_str()).collect();
    for name in project.config.symbols.keys().filter(|name| !known.contains(name.as_str())) {
        let text = format!("implfuzz.toml: [symbols.{name}] names no function of the library");
        reporter.event(Event::Warning { text, help: Some(project.nearest(name)) });
    }
}

/// The text of `callee.rs` if the module `changed` has this text.
pub fn callees(project: &Project, changed: (&str, &str)) -> Result<String> {
    let mut modules = modules::plan(project)?;
    if let Some(module) = modules.iter_mut().find(|m| m.name == changed.0) {
        module.set_text(changed.1);
    }
    let callable: Vec<_> = project.callable().map(FunctionPlan::bound).collect();
    Ok(callee_file(&callable, &|function| modules::is_ported(&modules, function)))
}

/// The fuzz crate with all harnesses.
fn harnesses(project: &Project) -> Result<Vec<files::GeneratedFile>> {
    let judged: Vec<_> = project.planned.iter().filter_map(|p| Some((p, p.judgeable.contract()?))).collect();
    let targets: Vec<String> = judged.iter().map(|(p, _)| p.function.name.to_string()).collect();
    let krate = project.crate_name();
    let mut all = files::fuzz_crate(&krate, &targets)?;
    let mut records = BTreeSet::new();
    for (planned, contract) in judged {
        let helpers: Vec<_> = project.helpers(planned).map(FunctionPlan::bound).collect();
        let text = emit::harness(&planned.bound(), contract, (&krate, &helpers))?;
        all.push((format!("fuzz/src/harness/{}.rs", planned.function.name), text));
        // Handles are not decoded as structs, and lent structs not as values.
        let params = planned.function.params.iter().zip(&contract.params);
        let is_value = |role: &Role| role.handle().is_none() && role.lent().is_none();
        let decoded = params.filter(|(_, p)| is_value(&p.role)).map(|(p, _)| &p.ty);
        let returned = matches!(contract.returns, Returns::Value).then_some(&planned.function.ret);
        for ty in decoded.chain(returned) {
            records_in_types::records_of(&project.library, ty, &mut records);
        }
        for used in contract.globals.iter().filter(|used| !used.functions) {
            let global = project.library.globals.iter().find(|global| global.name == used.name);
            global.iter().for_each(|g| records_in_types::records_of(&project.library, &g.ty, &mut records));
        }
    }
    all.push((
        "fuzz/src/harness/implfuzz_values.rs".into(),
        struct_values::values_file(&project.library, &records, &krate),
    ));
    Ok(all)
}

/// Rust files that are no module of the library: their C file was renamed or removed.
fn orphans(src: &Path, modules: &[String]) -> Result<Vec<PathBuf>> {
    let is_known =
        |name: &str| GENERATED_MODULES.contains(&name) || modules.iter().any(|module| module == name);
    let mut found: Vec<PathBuf> = files_in(src)?.into_iter().map(|(path, _)| path).collect();
    found.retain(|path| {
        let name = path.file_stem().and_then(|stem| stem.to_str());
        path.extension().is_some_and(|end| end == "rs") && !name.is_some_and(is_known)
    });
    found.sort();
    Ok(found)
}

/// A contract's text. With a fuzz target, the contract says little about calls, so the text names the target's
/// file.
fn contract_text(project: &Project, planned: &FunctionPlan, contract: &Contract) -> String {
    let text = contract_file::render(contract);
    if planned.target.is_none() {
        return text;
    }
    let path = project.shown(&project.target_path(planned.function.name.as_str()));
    format!("# The calls, and with what, are in {path}: edit that file to change them.\n{text}")
}

/// The text of `globals.rs`, and the globals that it lacks.
fn globals(project: &Project) -> (String, Vec<(String, String)>) {
    let (text, left_out) = globals_file(&project.library, &project.values);
    let name = |key: &crate::symbol::SymbolKey| {
        project.library.global(key).map_or_else(String::new, |g| g.name.to_string())
    };
    (text, left_out.into_iter().map(|(key, why)| (name(&key), why)).collect())
}

/// Removes generated harnesses and contracts of functions that no longer exist, and files of an older runtime; edited
/// files stay.
fn remove_stale(rust: &Path, generated: &BTreeSet<PathBuf>, project: &Project) -> Result<()> {
    for dir in ["fuzz/src/harness", "fuzz/fuzz_targets"] {
        for (path, text) in files_in(&rust.join(dir))? {
            let ours = text.starts_with("// Generated by cargo-implfuzz")
                || text.contains("Written by cargo-implfuzz.");
            if ours && !generated.contains(&path) {
                fs::remove_file(&path)?;
            }
        }
    }
    // The runtime is the tool's alone.
    for (path, _) in files_in(&rust.join("fuzz/runtime/src"))? {
        if !generated.contains(&path) {
            fs::remove_file(&path)?;
        }
    }
    let judged = project.planned.iter().filter(|p| p.judgeable.contract().is_some());
    let known: BTreeSet<PathBuf> = judged.map(|p| project.contract_path(p.function.name.as_str())).collect();
    for (path, text) in files_in(&rust.join("contracts"))? {
        if !known.contains(&path) && !contract_file::is_edited(&text) {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// The paths and texts in a directory; none if there is no such directory.
fn files_in(dir: &Path) -> Result<Vec<(PathBuf, String)>> {
    if !dir.is_dir() {
        return Ok(Vec::new());
    }
    let file = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry?.path();
        let text = fs::read_to_string(&path).unwrap_or_default();
        Ok((path, text))
    };
    fs::read_dir(dir)?.map(file).collect()
}

/// Removes tests of functions that the library no longer has, because they would not compile.
fn remove_tests_of_nobody(rust: &Path, project: &Project, reporter: &mut dyn Reporter) -> Result<()> {
    for (path, text) in files_in(&rust.join("tests"))? {
        let symbol = path.file_stem().and_then(|stem| stem.to_str()?.strip_prefix(test_files::PREFIX));
        let is_of_nobody = symbol.is_some_and(|symbol| project.library.find(symbol).is_none());
        if is_of_nobody && text.starts_with(test_files::HEAD) {
            fs::remove_file(&path)?;
            let text = format!("{} is gone with its C function", project.shown(&path));
            reporter.event(Event::Note { text });
        }
    }
    Ok(())
}
