//! Checks that C and Rust agree on how every bound function is called. Each function has a probe in C whose type
//! the C compiler has found equal to the function's. C calls the probe, Rust calls it through the binding's
//! signature, and the argument and result bytes must be the same. The library's own code never runs.
//!
//! Pointer targets are not compared: bindgen's layout tests, which are compiled with `ffi.rs`, check them.

mod c;
mod rust;

use super::clib::scratch;
use assert_cmd::Command;
use camino::Utf8Path;
use cargo_implfuzz::c::bind::Bindings;
use cargo_implfuzz::c::flags::old_c_flags;
use cargo_implfuzz::symbol::{Function, Library, RelPath};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What the check found.
#[derive(Debug, Default)]
pub struct Report {
    /// Names on the Rust side.
    pub checked: Vec<String>,
    /// Bound functions that could not be checked, and why.
    pub unchecked: Vec<(String, String)>,
    /// One line per difference, which begins with the function's name.
    pub mismatches: Vec<String>,
}

impl Report {
    /// Everything that is bound is called rightly, and enough of it was checked.
    #[track_caller]
    pub fn assert_agrees(&self, bound: usize) {
        assert!(self.mismatches.is_empty(), "\n{}", self.mismatches.join("\n"));
        assert_eq!(self.checked.len() + self.unchecked.len(), bound);
        let enough = self.checked.len() >= 50 || self.unchecked.is_empty();
        assert!(enough, "{} checked; not checked: {:#?}", self.checked.len(), self.unchecked);
    }
}

/// A bound function that is checked.
struct Probe<'a> {
    function: &'a Function,
    binding: &'a syn::ForeignItemFn,
    /// Tells the patterns of functions apart.
    seed: u32,
    /// Which parts hold a `bool`, and so only bytes 0 and 1: the parameters in order, then the result.
    bits: Vec<bool>,
}

/// Compiles the probes with `compiler` and runs them. `name` is that of a directory of its own.
///
/// What does not compile fails the test: it means that the front end's idea of the type is not the compiler's.
pub fn check(name: &str, root: &Utf8Path, library: &Library, bindings: &Bindings, compiler: &Path) -> Report {
    let dir = scratch(name);
    let mut report = Report::default();
    let mut units: BTreeMap<&RelPath, Vec<Probe<'_>>> = BTreeMap::new();
    for function in &library.functions {
        let Some(binding) = bindings.functions.get(&function.name) else { continue };
        if let Some(reason) = c::why_not(function) {
            report.unchecked.push((function.name.to_string(), reason));
            continue;
        }
        let seed = u32::try_from(report.checked.len()).unwrap() * 16;
        let bits = c::parts(function).map(|ty| c::holds_bool(ty, &library.records)).collect();
        report.checked.push(function.name.to_string());
        units.entry(&library.unit_of[&function.key]).or_default().push(Probe {
            function,
            binding,
            seed,
            bits,
        });
    }
    let mut objects = Vec::new();
    for (index, (file, probes)) in units.iter().enumerate() {
        let unit = library.units.iter().find(|unit| unit.file == **file).unwrap();
        let source = dir.join(format!("probes{index}.c"));
        std::fs::write(&source, c::probes(root, unit, probes)).unwrap();
        objects.push(compile(root, compiler, &unit.flags, &source));
    }
    let probes: Vec<&Probe<'_>> = units.values().flatten().collect();
    std::fs::write(dir.join("ffi.rs"), rust::checks(&bindings.file, &probes)).unwrap();
    std::fs::write(dir.join("main.rs"), include_str!("runtime.rs")).unwrap();
    let program = link(&dir, &objects);
    let output = Command::new(program).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let (differences, last) = said.trim_end().rsplit_once('\n').unwrap_or(("", said.trim_end()));
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert_eq!(last, format!("checked {}", probes.len()), "{}: {said}{complaint}", output.status);
    report.mismatches = differences.lines().map(str::to_owned).collect();
    report
}

fn compile(root: &Utf8Path, compiler: &Path, flags: &[String], source: &Path) -> PathBuf {
    let object = source.with_extension("o");
    let mut compile = Command::new(compiler);
    // Relative paths among the flags count from the root. Sections let the linker drop the library's own code.
    compile.current_dir(root).args(["-O0", "-w", "-fPIC", "-ffunction-sections", "-fdata-sections"]);
    compile.args(flags).args(old_c_flags()).arg("-c").arg(source).arg("-o").arg(&object);
    compile.assert().success();
    object
}

fn link(dir: &Path, objects: &[PathBuf]) -> PathBuf {
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.current_dir(dir).args(["--edition", "2024", "-A", "warnings", "-o", "probes", "main.rs"]);
    rustc.args(objects.iter().map(|object| format!("-Clink-arg={}", object.display())));
    rustc.assert().success();
    dir.join("probes")
}
