//! Compares the functions that a C compiler finds in a library with those that the front end lists.

use super::clib::scratch;
use assert_cmd::Command;
use camino::Utf8Path;
use cargo_implfuzz::c::flags::old_c_flags;
use cargo_implfuzz::symbol::{Library, RelPath, Unit};
use object::{Object, ObjectSymbol, SymbolKind};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What the compiler makes of one unit.
#[derive(Debug)]
pub struct Compiled {
    /// Functions, also those that nothing uses, without those of system headers.
    pub functions: BTreeSet<String>,
    /// The files of the project that the unit consists of.
    pub files: BTreeSet<RelPath>,
}

/// Compiles every unit. `name` is that of a directory of its own.
pub fn units(name: &str, root: &Utf8Path, library: &Library) -> BTreeMap<RelPath, Compiled> {
    let out = scratch(name);
    let units = library.units.iter().enumerate();
    units.map(|(index, unit)| (unit.file.clone(), one(root, unit, &out.join(format!("{index}.o"))))).collect()
}

/// What the compiler makes and the front end does not list, and the other way round: `unit: name`.
pub fn differences(library: &Library, compiled: &BTreeMap<RelPath, Compiled>) -> (Vec<String>, Vec<String>) {
    let mut places: BTreeMap<&str, Vec<&RelPath>> = BTreeMap::new();
    for function in &library.functions {
        places.entry(&function.c_name).or_default().push(&function.place.file);
    }
    let mut unlisted = Vec::new();
    for (unit, Compiled { functions, files }) in compiled {
        let is_listed = |name: &&String| {
            let places = places.get(name.as_str()).map(Vec::as_slice).unwrap_or_default();
            places.iter().any(|place| files.contains(place))
        };
        unlisted
            .extend(functions.iter().filter(|name| !is_listed(name)).map(|name| format!("{unit}: {name}")));
    }
    let refused =
        |why: &str| why.starts_with("the C compiler has no") || why.starts_with("the C compiler emits no");
    let listed = library.functions.iter().filter(|f| !f.unsupported.as_deref().is_some_and(refused));
    let missing = listed.filter(|function| {
        let unit = compiled.get(&library.unit_of[&function.key]);
        !unit.is_some_and(|unit| unit.functions.contains(&function.c_name))
    });
    (unlisted, missing.map(|f| format!("{}: {}", library.unit_of[&f.key], f.c_name)).collect())
}

/// The functions in the object of one source that are used or seen from outside. At `-O0` nothing is inlined away.
pub fn used_functions(root: &Path, source: &Path, object: &Path) -> BTreeSet<String> {
    functions(compiler(root, &[]), source, object)
}

fn all_functions(root: &Utf8Path, unit: &Unit, source: &Path, object: &Path) -> BTreeSet<String> {
    let mut compile = compiler(root.as_std_path(), &unit.flags);
    compile.args(["-fkeep-static-functions", "-fkeep-inline-functions"]);
    // What must be inlined is not kept otherwise.
    compile.args(["-Dalways_inline=unused", "-D__always_inline__=__unused__"]);
    functions(compile, source, object)
}

fn functions(mut compile: Command, source: &Path, object: &Path) -> BTreeSet<String> {
    compile.args(["-O0", "-c"]).arg(source).arg("-o").arg(object).assert().success();
    let data = std::fs::read(object).unwrap();
    let file = object::File::parse(&*data).unwrap();
    let defined = file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition());
    defined.map(|symbol| symbol.name().unwrap().to_owned()).collect()
}

fn compiler(root: &Path, flags: &[String]) -> Command {
    let mut command = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    command.current_dir(root).arg("-w").args(flags).args(old_c_flags());
    command
}

fn one(root: &Utf8Path, unit: &Unit, object: &Path) -> Compiled {
    let (files, system) = preprocessed(root, unit);
    let source = object.with_extension("i");
    std::fs::write(&source, system).unwrap();
    let of_system = all_functions(root, unit, &source, &object.with_extension("system.o"));
    let mut functions = all_functions(root, unit, unit.file.0.as_std_path(), object);
    functions.retain(|name| !of_system.contains(name));
    Compiled { functions, files }
}

/// The files of the project that make up the unit, and what it has from system headers alone.
fn preprocessed(root: &Utf8Path, unit: &Unit) -> (BTreeSet<RelPath>, String) {
    let mut command = compiler(root.as_std_path(), &unit.flags);
    let output = command.args(["-E", unit.file.0.as_str()]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let (mut files, mut system, mut in_system) = (BTreeSet::new(), String::new(), false);
    for line in text.lines() {
        // `# 12 "a/b.h" 1 3`: the 3 says system header, or that a macro of one is expanded in ours.
        if let Some((_, rest)) = line.strip_prefix("# ").and_then(|rest| rest.split_once('"'))
            && let Some((path, marks)) = rest.split_once('"')
        {
            let path = root.join(path).canonicalize_utf8().ok();
            let ours = path.as_ref().and_then(|path| path.strip_prefix(root).ok());
            in_system = ours.is_none() && marks.split_ascii_whitespace().any(|mark| mark == "3");
            files.extend(ours.map(|path| RelPath(path.to_owned())));
        } else if in_system {
            system += line;
            system.push('\n');
        }
    }
    (files, system)
}
