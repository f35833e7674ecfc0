//! The files of the two generated crates that do not depend on one function: manifests, build scripts, the harness
//! runtime, the fuzz targets.

use super::registry;
use crate::digest::of_parts;
use crate::error::{Error, ErrorKind, Result};
use minijinja::{Environment, context};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// A file of the target repository: its path below `rust/`, and its text.
pub type GeneratedFile = (String, String);

/// The port's manifest. It is written once and then belongs to the user.
pub fn port_manifest(name: &str) -> Result<String> {
    render(include_str!("../../templates/port/Cargo.toml.j2"), context!(name))
}

/// The port's build script.
pub fn port_build_script() -> &'static str {
    include_str!("../../templates/port/build.rs")
}

/// Files that all harnesses share: paths below `fuzz/`, and texts.
const SHARED: &[(&str, &str)] = &[
    ("build.rs", include_str!("../../templates/fuzz/build.rs")),
    ("wraps.txt", include_str!("../../templates/fuzz/wraps.txt")),
    ("runtime/build.rs", include_str!("../../templates/fuzz/runtime/build.rs")),
    ("runtime/guard.c", include_str!("../../templates/fuzz/runtime/guard.c")),
    ("runtime/chance.c", include_str!("../../templates/fuzz/runtime/chance.c")),
    ("runtime/ledger.c", include_str!("../../templates/fuzz/runtime/ledger.c")),
    ("runtime/system_calls.c", include_str!("../../templates/fuzz/runtime/system_calls.c")),
    ("runtime/trace_pc.c", include_str!("../../templates/fuzz/runtime/trace_pc.c")),
    ("runtime/src/lib.rs", include_str!("../../templates/fuzz/runtime/lib.rs")),
    ("runtime/src/arena.rs", include_str!("../../templates/fuzz/runtime/arena.rs")),
    ("runtime/src/blocks.rs", include_str!("../../templates/fuzz/runtime/blocks.rs")),
    ("runtime/src/boundary_inputs.rs", include_str!("../../templates/fuzz/runtime/boundary_inputs.rs")),
    ("runtime/src/breaking_input.rs", include_str!("../../templates/fuzz/runtime/breaking_input.rs")),
    ("runtime/src/c_code.rs", include_str!("../../templates/fuzz/runtime/c_code.rs")),
    ("runtime/src/call_time_limit.rs", include_str!("../../templates/fuzz/runtime/call_time_limit.rs")),
    ("runtime/src/callback.rs", include_str!("../../templates/fuzz/runtime/callback.rs")),
    ("runtime/src/caller_structs.rs", include_str!("../../templates/fuzz/runtime/caller_structs.rs")),
    ("runtime/src/chance.rs", include_str!("../../templates/fuzz/runtime/chance.rs")),
    ("runtime/src/codec.rs", include_str!("../../templates/fuzz/runtime/codec.rs")),
    ("runtime/src/constructor_calls.rs", include_str!("../../templates/fuzz/runtime/constructor_calls.rs")),
    ("runtime/src/counts.rs", include_str!("../../templates/fuzz/runtime/counts.rs")),
    ("runtime/src/digest.rs", include_str!("../../templates/fuzz/runtime/digest.rs")),
    ("runtime/src/driver.rs", include_str!("../../templates/fuzz/runtime/driver.rs")),
    ("runtime/src/exhaustive.rs", include_str!("../../templates/fuzz/runtime/exhaustive.rs")),
    ("runtime/src/finding.rs", include_str!("../../templates/fuzz/runtime/finding.rs")),
    ("runtime/src/function.rs", include_str!("../../templates/fuzz/runtime/function.rs")),
    ("runtime/src/guard.rs", include_str!("../../templates/fuzz/runtime/guard.rs")),
    ("runtime/src/heap.rs", include_str!("../../templates/fuzz/runtime/heap.rs")),
    ("runtime/src/last_started.rs", include_str!("../../templates/fuzz/runtime/last_started.rs")),
    ("runtime/src/ledger.rs", include_str!("../../templates/fuzz/runtime/ledger.rs")),
    ("runtime/src/memory.rs", include_str!("../../templates/fuzz/runtime/memory.rs")),
    ("runtime/src/mutants.rs", include_str!("../../templates/fuzz/runtime/mutants.rs")),
    ("runtime/src/one_side.rs", include_str!("../../templates/fuzz/runtime/one_side.rs")),
    ("runtime/src/plain.rs", include_str!("../../templates/fuzz/runtime/plain.rs")),
    ("runtime/src/picture.rs", include_str!("../../templates/fuzz/runtime/picture.rs")),
    ("runtime/src/pieces.rs", include_str!("../../templates/fuzz/runtime/pieces.rs")),
    ("runtime/src/points.rs", include_str!("../../templates/fuzz/runtime/points.rs")),
    ("runtime/src/port_memory.rs", include_str!("../../templates/fuzz/runtime/port_memory.rs")),
    ("runtime/src/port_mutants.rs", include_str!("../../templates/fuzz/runtime/port_mutants.rs")),
    ("runtime/src/record.rs", include_str!("../../templates/fuzz/runtime/record.rs")),
    ("runtime/src/replay.rs", include_str!("../../templates/fuzz/runtime/replay.rs")),
    ("runtime/src/report.rs", include_str!("../../templates/fuzz/runtime/report.rs")),
    ("runtime/src/reserved_memory.rs", include_str!("../../templates/fuzz/runtime/reserved_memory.rs")),
    ("runtime/src/roots.rs", include_str!("../../templates/fuzz/runtime/roots.rs")),
    ("runtime/src/run_deadline.rs", include_str!("../../templates/fuzz/runtime/run_deadline.rs")),
    ("runtime/src/sequence.rs", include_str!("../../templates/fuzz/runtime/sequence.rs")),
    (
        "runtime/src/sequence_boundaries.rs",
        include_str!("../../templates/fuzz/runtime/sequence_boundaries.rs"),
    ),
    ("runtime/src/sequence_input.rs", include_str!("../../templates/fuzz/runtime/sequence_input.rs")),
    ("runtime/src/sequence_state.rs", include_str!("../../templates/fuzz/runtime/sequence_state.rs")),
    ("runtime/src/sequence_text.rs", include_str!("../../templates/fuzz/runtime/sequence_text.rs")),
    ("runtime/src/shrink.rs", include_str!("../../templates/fuzz/runtime/shrink.rs")),
    ("runtime/src/state.rs", include_str!("../../templates/fuzz/runtime/state.rs")),
    ("runtime/src/stretch.rs", include_str!("../../templates/fuzz/runtime/stretch.rs")),
    ("runtime/src/port_variables.rs", include_str!("../../templates/fuzz/runtime/port_variables.rs")),
    ("runtime/src/system_calls.rs", include_str!("../../templates/fuzz/runtime/system_calls.rs")),
    ("runtime/src/target_side.rs", include_str!("../../templates/fuzz/runtime/target_side.rs")),
    ("runtime/src/tasks.rs", include_str!("../../templates/fuzz/runtime/tasks.rs")),
    ("runtime/src/value_kind.rs", include_str!("../../templates/fuzz/runtime/value_kind.rs")),
    ("src/erased.rs", include_str!("../../templates/fuzz/erased.rs")),
    ("src/side.rs", include_str!("../../templates/fuzz/side.rs")),
    ("src/value.rs", include_str!("../../templates/fuzz/value.rs")),
    ("runtime/Cargo.toml", include_str!("../../templates/fuzz/runtime.toml")),
    (
        "src/lib.rs",
        "//! Harnesses and what they share. Written by cargo-implfuzz.\n\npub mod erased;\npub mod harness;\npub mod side;\npub mod value;\npub use implfuzz_runtime as runtime;\n\n#[cfg(implfuzz_edges)]\n#[global_allocator]\nstatic HEAP: runtime::heap::Heap = runtime::heap::Heap;\n",
    ),
];

/// The hash of the files that all harnesses share and of the build of both crates: each verdict depends on it.
pub fn shared_hash() -> &'static str {
    static HASH: OnceLock<String> = OnceLock::new();
    HASH.get_or_init(|| {
        let builds = [
            include_str!("../../templates/fuzz/Cargo.toml.j2"),
            include_str!("../../templates/fuzz/implfuzz_all.rs.j2"),
            port_build_script(),
        ];
        of_parts(SHARED.iter().flat_map(|(path, text)| [*path, *text]).chain(builds))
    })
}

/// The fuzz crate without the harnesses; `targets` are the symbols that have one.
pub fn fuzz_crate(name: &str, targets: &[String]) -> Result<Vec<GeneratedFile>> {
    let lib = name.replace('-', "_");
    let list: Vec<minijinja::Value> = targets.iter().map(minijinja::Value::from).collect();
    let mut files: Vec<GeneratedFile> = Vec::new();
    let mut put = |path: &str, text: &str| files.push((format!("fuzz/{path}"), text.to_owned()));
    put(
        "Cargo.toml",
        &render(
            include_str!("../../templates/fuzz/Cargo.toml.j2"),
            context!(name, lib => &lib, targets => list),
        )?,
    );
    put(".gitignore", "target\ncorpus\nartifacts\ncoverage\nCargo.lock\n");
    for (path, text) in SHARED {
        put(path, text);
    }
    put("src/harness/mod.rs", &registry::print(targets));
    put("src/harness/implfuzz_mutants.rs", &mutants_file(&BTreeMap::new()));
    put("src/harness/implfuzz_port_mutants.rs", &port_mutants_file(None));
    let all = render(include_str!("../../templates/fuzz/implfuzz_all.rs.j2"), context!(lib => &lib))?;
    put("fuzz_targets/implfuzz_all.rs", &all);
    for target in targets {
        let text = render(include_str!("../../templates/fuzz/target.rs.j2"), context!(lib => &lib, target))?;
        put(&format!("fuzz_targets/fuzz_{target}.rs"), &text);
    }
    Ok(files)
}

/// The path of `harness/implfuzz_mutants.rs` below `rust/`.
pub const MUTANTS_FILE: &str = "fuzz/src/harness/implfuzz_mutants.rs";

/// The tables of C mutants by target: their C names and lengths. They are empty in the tree; builds that measure
/// harnesses fill them.
pub fn mutants_file(tables: &BTreeMap<String, (String, usize)>) -> String {
    let mut declared = String::new();
    let mut arms = String::new();
    for (target, (table, length)) in tables {
        declared += &format!("    static {table}: [Function; {length}];\n");
        arms += &format!("        \"{target}\" => unsafe {{ {table} }}.to_vec(),\n");
    }
    let declared = match declared.is_empty() {
        true => declared,
        false => format!("unsafe extern \"C\" {{\n{declared}}}\n\n"),
    };
    format!(
        "//! Mutants of the C functions, where the C side is built with some. Written by cargo-implfuzz.\n\n\
         #![allow(warnings)]\n\nuse crate::runtime::mutants::Function;\n\n{declared}\
         /// The text as it is, and its mutants.\npub fn of(target: &str) -> Vec<Function> {{\n    match target {{\n{arms}        \
         _ => Vec::new(),\n    }}\n}}\n"
    )
}

/// The path of `harness/implfuzz_port_mutants.rs` below `rust/`.
pub const PORT_MUTANTS_FILE: &str = "fuzz/src/harness/implfuzz_port_mutants.rs";

/// The numbers of the port's mutants by target, and the function that activates one. They are empty in the tree.
pub fn port_mutants_file(mutants: Option<(&str, &BTreeMap<String, Vec<u32>>)>) -> String {
    let mut arms = String::new();
    let mut select = String::new();
    if let Some((krate, numbers)) = mutants {
        for (target, numbers) in numbers {
            arms += &format!("        {target:?} => &{numbers:?},\n");
        }
        let number = format!("{}::implfuzz_selected::NUMBER", krate.replace('-', "_"));
        select = format!("\n    {number}.store(number, core::sync::atomic::Ordering::Relaxed);\n");
    }
    format!(
        "//! Mutants of the ports, where the crate is built with some. Written by cargo-implfuzz.\n\n\
         #![allow(warnings)]\n\n\
         /// The numbers of the mutants of a port.\npub fn of(target: &str) -> &'static [u32] {{\n    match target {{\n{arms}        \
         _ => &[],\n    }}\n}}\n\n\
         /// Makes the mutant with this number the port; 0 is the port as it is.\npub fn select(number: u32) {{{select}}}\n"
    )
}

fn render(template: &str, context: minijinja::Value) -> Result<String> {
    let environment = Environment::new();
    environment
        .render_str(template, context)
        .map(|text| format!("{}\n", text.trim_end()))
        .map_err(|error| Error::new(ErrorKind::Internal, format!("a built-in template: {error:#}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::flags::OLD_C;
    use std::collections::BTreeSet;

    #[test]
    fn every_file_of_the_fuzz_crate_is_rust_and_toml() {
        let targets = ["kit_one".to_owned(), "kit_two".to_owned()];
        let files = fuzz_crate("kit-rs", &targets).expect("templates are whole");
        for (path, text) in &files {
            match path.rsplit('.').next() {
                Some("rs") => drop(syn::parse_file(text).unwrap_or_else(|error| {
                    let place = error.span().start();
                    panic!("{path}:{}:{}: {error}", place.line, place.column + 1)
                })),
                Some("toml") => drop(text.parse::<toml::Table>().unwrap_or_else(|e| panic!("{path}: {e}"))),
                _ => {}
            }
        }
        assert!(files.iter().any(|(path, _)| path == "fuzz/fuzz_targets/fuzz_kit_two.rs"));
    }

    #[test]
    fn the_runtime_in_the_fuzz_crate_is_all_that_there_is_of_it() {
        let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/fuzz/runtime");
        let there = std::fs::read_dir(dir).expect("the templates are there").map(|entry| {
            let name = entry.expect("a file").file_name().to_string_lossy().into_owned();
            let is_module = name.ends_with(".rs") && name != "build.rs";
            format!("fuzz/runtime/{}{name}", if is_module { "src/" } else { "" })
        });
        let files = fuzz_crate("kit", &[]).expect("templates are whole");
        let put: BTreeSet<String> = files
            .iter()
            .map(|(path, _)| path.clone())
            .filter(|path| path.contains("/runtime/") && !path.ends_with("/Cargo.toml"))
            .collect();
        assert_eq!(put, there.collect());
        let modules =
            &files.iter().find(|(path, _)| path.ends_with("runtime/src/lib.rs")).expect("it is put").1;
        for path in put.iter().filter(|path| path.contains("/src/") && !path.ends_with("/lib.rs")) {
            let name = path.rsplit('/').next().unwrap_or_default().trim_end_matches(".rs");
            assert!(
                modules.lines().any(|line| line.trim_start_matches("pub ") == format!("mod {name};")),
                "{name} is in no module"
            );
        }
    }

    #[test]
    fn the_build_script_lets_through_what_the_front_end_does() {
        let text = port_build_script();
        let start = text.find("const DEMOTED").expect("the list");
        let list = &text[start..start + text[start..].find(';').expect("its end")];
        let classes = list.lines().filter_map(|line| line.trim().strip_prefix('"')?.strip_suffix("\","));
        assert_eq!(classes.collect::<Vec<_>>(), OLD_C);
    }
}
