//! The files of the two generated crates that do not depend on a single function: manifests, build scripts, the
//! harness runtime, the targets.

use crate::digest::of_parts;
use crate::error::{Error, ErrorKind, Result};
use minijinja::{Environment, context};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// A file of the target repository: its path below `rust/`, and its text.
pub type GeneratedFile = (String, String);

/// The port's manifest; written once, then the user's.
pub fn port_manifest(name: &str) -> Result<String> {
    render(include_str!("../../templates/port/Cargo.toml.j2"), context!(name))
}

/// The port's build script.
pub fn port_build_script() -> &'static str {
    include_str!("../../templates/port/build.rs")
}

/// What all harnesses share and no function decides: paths below `fuzz/`, and texts.
const SHARED: &[(&str, &str)] = &[
    ("build.rs", include_str!("../../templates/fuzz/build.rs")),
    ("guard.c", include_str!("../../templates/fuzz/guard.c")),
    ("chance.c", include_str!("../../templates/fuzz/chance.c")),
    ("ledger.c", include_str!("../../templates/fuzz/ledger.c")),
    ("trace_pc.c", include_str!("../../templates/fuzz/trace_pc.c")),
    ("wraps.txt", include_str!("../../templates/fuzz/wraps.txt")),
    ("src/runtime/mod.rs", include_str!("../../templates/fuzz/runtime/mod.rs")),
    ("src/runtime/apart.rs", include_str!("../../templates/fuzz/runtime/apart.rs")),
    ("src/runtime/broken.rs", include_str!("../../templates/fuzz/runtime/broken.rs")),
    ("src/runtime/callback.rs", include_str!("../../templates/fuzz/runtime/callback.rs")),
    ("src/runtime/chance.rs", include_str!("../../templates/fuzz/runtime/chance.rs")),
    ("src/runtime/codec.rs", include_str!("../../templates/fuzz/runtime/codec.rs")),
    ("src/runtime/digest.rs", include_str!("../../templates/fuzz/runtime/digest.rs")),
    ("src/runtime/current.rs", include_str!("../../templates/fuzz/runtime/current.rs")),
    ("src/runtime/deadline.rs", include_str!("../../templates/fuzz/runtime/deadline.rs")),
    ("src/runtime/driver.rs", include_str!("../../templates/fuzz/runtime/driver.rs")),
    ("src/runtime/exhaustive.rs", include_str!("../../templates/fuzz/runtime/exhaustive.rs")),
    ("src/runtime/finding.rs", include_str!("../../templates/fuzz/runtime/finding.rs")),
    ("src/runtime/guard.rs", include_str!("../../templates/fuzz/runtime/guard.rs")),
    ("src/runtime/ledger.rs", include_str!("../../templates/fuzz/runtime/ledger.rs")),
    ("src/runtime/lent.rs", include_str!("../../templates/fuzz/runtime/lent.rs")),
    ("src/runtime/lives.rs", include_str!("../../templates/fuzz/runtime/lives.rs")),
    ("src/runtime/makers.rs", include_str!("../../templates/fuzz/runtime/makers.rs")),
    ("src/runtime/memory.rs", include_str!("../../templates/fuzz/runtime/memory.rs")),
    ("src/runtime/modes.rs", include_str!("../../templates/fuzz/runtime/modes.rs")),
    ("src/runtime/mutants.rs", include_str!("../../templates/fuzz/runtime/mutants.rs")),
    ("src/runtime/port_mutants.rs", include_str!("../../templates/fuzz/runtime/port_mutants.rs")),
    ("src/runtime/record.rs", include_str!("../../templates/fuzz/runtime/record.rs")),
    ("src/runtime/points.rs", include_str!("../../templates/fuzz/runtime/points.rs")),
    ("src/runtime/replay.rs", include_str!("../../templates/fuzz/runtime/replay.rs")),
    ("src/runtime/report.rs", include_str!("../../templates/fuzz/runtime/report.rs")),
    ("src/runtime/sequence.rs", include_str!("../../templates/fuzz/runtime/sequence.rs")),
    ("src/runtime/state.rs", include_str!("../../templates/fuzz/runtime/state.rs")),
    ("src/runtime/tally.rs", include_str!("../../templates/fuzz/runtime/tally.rs")),
    ("src/runtime/watch.rs", include_str!("../../templates/fuzz/runtime/watch.rs")),
    ("src/runtime/story.rs", include_str!("../../templates/fuzz/runtime/story.rs")),
    ("src/runtime/world.rs", include_str!("../../templates/fuzz/runtime/world.rs")),
    (
        "src/lib.rs",
        "//! Harnesses and what they share. Written by cargo-implfuzz.\n\npub mod harness;\npub mod runtime;\n",
    ),
];

/// The hash of everything that all harnesses share, with the build of both crates: a verdict depends on it.
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

/// The fuzz crate, but for the harnesses themselves: `targets` are the symbols that have one.
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
    put("src/harness/mod.rs", &registry(targets));
    put("src/harness/mutants.rs", &mutants_file(&BTreeMap::new()));
    put("src/harness/port_mutants.rs", &port_mutants_file(None));
    let all = render(include_str!("../../templates/fuzz/implfuzz_all.rs.j2"), context!(lib => &lib))?;
    put("fuzz_targets/implfuzz_all.rs", &all);
    for target in targets {
        let text = render(include_str!("../../templates/fuzz/target.rs.j2"), context!(lib => &lib, target))?;
        put(&format!("fuzz_targets/fuzz_{target}.rs"), &text);
    }
    Ok(files)
}

fn registry(targets: &[String]) -> String {
    let mut text = String::from(
        "//! One module per function that a harness can judge. Written by cargo-implfuzz.\n\n\
         use crate::runtime::driver::Target;\n\npub mod mutants;\npub mod port_mutants;\npub mod values;\n",
    );
    for target in targets {
        text += &format!("pub mod {target};\n");
    }
    text += "\n/// All targets.\npub const TARGETS: &[Target] = &[\n";
    for target in targets {
        text += &format!("    {target}::TARGET,\n");
    }
    text += "];\n\n/// The target of a symbol.\npub fn find(name: &str) -> Option<&'static Target> {\n    \
             TARGETS.iter().find(|target| target.name == name)\n}\n";
    text
}

/// Where `harness/mutants.rs` stands below `rust/`.
pub const MUTANTS_FILE: &str = "fuzz/src/harness/mutants.rs";

/// The tables of mutants that the C side is built with: their names in C and how long they are, by target. In the tree
/// there are none; a build that measures harnesses has others.
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

/// Where `harness/port_mutants.rs` stands below `rust/`.
pub const PORT_MUTANTS_FILE: &str = "fuzz/src/harness/port_mutants.rs";

/// The numbers of the mutants that the crate of the port is built with, by target, and how one is made the port. In the
/// tree there are none.
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
            let name = entry.expect("a file").file_name();
            format!("fuzz/src/runtime/{}", name.to_string_lossy())
        });
        let files = fuzz_crate("kit", &[]).expect("templates are whole");
        let put: BTreeSet<String> =
            files.iter().map(|(path, _)| path.clone()).filter(|path| path.contains("/runtime/")).collect();
        assert_eq!(put, there.collect());
        let modules = &files.iter().find(|(path, _)| path.ends_with("runtime/mod.rs")).expect("it is put").1;
        for path in put.iter().filter(|path| !path.ends_with("/mod.rs")) {
            let name = path.rsplit('/').next().unwrap_or_default().trim_end_matches(".rs");
            assert!(modules.contains(&format!("pub mod {name};")), "{name} is in no module");
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
