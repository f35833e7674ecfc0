//! Builds a program that judges in place: the library with entries that can be patched, the driver, and the judge.

use super::candidates::Candidates;
use super::driver::{Driver, Language};
use super::driver_object::{self, DriverObject};
use super::outside::{self, Outside};
use super::runtime::RUNTIME;
use super::{environment, port, sandboxed_run, table, tape, weak_definitions};
use crate::c::archive::local_lines;
use crate::c::entries::{CALLED, Entries, inline_functions_have_copies};
use crate::c::flags::old_c_flags;
use crate::config::Drivers;
use crate::error::{Error, ErrorKind, Result};
use crate::in_place::build_site::BuildSite;
use crate::platform::process::{Job, time_limits};
use crate::platform::toolchain::CompilerKind;
use crate::platform::workspace::write_atomic;
use crate::symbol::{Function, Library, RelPath, Unit};
use camino::Utf8Path;
use fs_err as fs;
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::hash::{BuildHasher as _, Hasher as _};
use std::path::{Path, PathBuf};

/// Counters of source coverage, in units and for the linker.
const COUNTED: [&str; 2] = ["-fprofile-instr-generate", "-fcoverage-mapping"];

/// Units report each load and store, in functions of the system, too. clang does so only beside edges.
const WATCHED: [&str; 2] = ["-fsanitize-coverage=func,trace-pc,trace-loads,trace-stores", "-fno-builtin"];

/// All is found before the program starts, and local symbols stay.
const LINKED: [&str; 3] = ["-no-pie", "-Wl,-z,now", "-Wl,--discard-none"];

/// What goes into a program.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a> {
    pub root: &'a Utf8Path,
    pub library: &'a Library,
    pub entries: &'a Entries,
    pub candidates: Candidates<'a>,
    /// Libraries that the C side needs.
    pub link: &'a [String],
    pub settings: &'a Drivers,
}

/// The library and the judge, which the programs of all drivers share.
#[derive(Debug)]
pub struct Built {
    objects: Vec<PathBuf>,
    /// Rust's own libraries, and arguments for the linker.
    rest: Vec<OsString>,
    outside: Outside,
    /// Where programs begin in memory.
    base: u64,
}

/// Builds everything but the drivers.
///
/// # Errors
/// `C` if a unit does not compile, `Environment` without the tools, and Ctrl-C.
pub fn library(parts: Parts, place: BuildSite) -> Result<Built> {
    fs::create_dir_all(place.dir)?;
    sandboxed_run::clear(place.dir)?;
    for (name, text) in RUNTIME {
        write_atomic(&place.dir.join(name), text.as_bytes())?;
    }
    let table = table::functions(parts.library, parts.entries, parts.candidates) + &addresses();
    write_atomic(&place.dir.join("table.c"), table.as_bytes())?;
    let numbered: Vec<(usize, &Unit)> = parts.library.units.iter().enumerate().collect();
    let mut objects: Vec<PathBuf> = numbered
        .into_par_iter()
        .map(|(number, unit)| place.unit(parts, number, unit))
        .collect::<Result<_>>()?;
    let port = match parts.candidates {
        Candidates::Ports(ports) => Some(port::unpack(ports, place)?),
        Candidates::None | Candidates::Branches | Candidates::Watched | Candidates::Mutants(_) => None,
    };
    objects.extend(port.iter().flat_map(|port| port.objects.clone()));
    let outside = Outside::of_library(&objects, parts.library, |name| place.finds(name, parts))?;
    let renames = place.dir.join("renames.txt");
    let mut names = outside.renames();
    if matches!(parts.candidates, Candidates::Watched) {
        names += &outside.seen();
    }
    write_atomic(&renames, names.as_bytes())?;
    for object in &objects {
        place.rename(object, &renames)?;
    }
    objects.extend(place.runtime()?);
    let table = place.dir.join("table.o");
    place.done(
        place.own_c(Language::C).args(["-c", "-o"]).arg(&table).arg("table.c"),
        Utf8Path::new("table.c"),
    )?;
    objects.push(table);
    let mut rest = Vec::new();
    if let Some(port) = port {
        rest.push(port.rest.into_os_string());
        rest.extend(port.native.iter().map(Into::into));
    }
    Ok(Built { objects, rest, outside, base: base() })
}

impl Built {
    /// Links the program of a driver.
    ///
    /// # Errors
    /// `C` if the driver does not compile or link, and Ctrl-C.
    pub fn program(&self, driver: &Driver, parts: Parts, place: BuildSite) -> Result<PathBuf> {
        // What a driver does with memory is not watched.
        let has_entries = !matches!(parts.candidates, Candidates::Watched);
        let mut flags = flags(parts.library, parts.settings);
        flags.extend(weak_definitions::flags(parts.library, place)?);
        let of = (parts.root, parts.library, flags);
        let DriverObject { path, own, functions } = driver_object::compile(driver, of, has_entries, place)?;
        let table = place.dir.join(format!("entries-{}.c", driver.name));
        write_atomic(
            &table,
            (table::entries(parts.library, parts.entries, &own) + &table::of_driver(&functions)).as_bytes(),
        )?;
        let entries = table.with_extension("o");
        let job = place.own_c(Language::C).args(["-c", "-o"]).arg(&entries).arg(&table);
        place.done(job, Utf8Path::new("the table of entries"))?;
        let mut objects = self.with_system(driver, &path, parts, place)?;
        objects.push(entries);
        let program = program(place.dir, driver);
        let link = |base: &str| {
            let job = place.compiler(Language::Cxx).dir(parts.root).timeout(time_limits::COMPILE_C);
            let job = job.args(LINKED).arg(base).args(&self.objects).args(&objects).args(&self.rest);
            let mut job = job.args(libraries(parts)).arg("-o").arg(&program);
            if matches!(parts.candidates, Candidates::Branches) {
                job = job.args(COUNTED);
            }
            place.done(job, &driver.file)
        };
        // Linkers name it in two ways.
        match link(&format!("-Wl,-Ttext-segment={:#x}", self.base)) {
            Err(error) if error.to_string().contains("-Ttext-segment") => {
                link(&format!("-Wl,--image-base={:#x}", self.base))?;
            }
            done => done?,
        }
        Ok(program)
    }

    /// The driver's object, and those through which it and the library call the system.
    fn with_system(
        &self,
        driver: &Driver,
        object: &Path,
        parts: Parts,
        place: BuildSite,
    ) -> Result<Vec<PathBuf>> {
        let program = self.outside.of_program(object)?;
        let names = |kind: &str| format!("{kind}-{}.inc", driver.name);
        let renames = place.dir.join(names("renames"));
        write_atomic(&renames, self.outside.renames_of(&program).as_bytes())?;
        write_atomic(&place.dir.join(names("outside")), outside::thunks(&program.replaced).as_bytes())?;
        write_atomic(&place.dir.join(names("tape")), tape::lines(&program.replaced).as_bytes())?;
        let asks = program.replaced.contains("getenv");
        let texts = if asks { environment::lines(parts.library, parts.root)? } else { String::new() };
        write_atomic(&place.dir.join(names("texts")), texts.as_bytes())?;
        place.rename(object, &renames)?;
        // The objects of other libraries call the system by names that are not replaced.
        let is_alone =
            driver.language == Language::C && parts.settings.link.is_empty() && parts.link.is_empty();
        let knows_calls = format!("-DKNOWS_CALLS={}", u8::from(is_alone && program.is_complete));
        let compile = |source: &str, kind: &str, more: &[String]| {
            let made = place.dir.join(format!("{kind}-{}.o", driver.name));
            let job = place.own_c(Language::C).args(more);
            let job = job.arg(format!("-DNAMES=\"{}\"", names(kind)));
            place.done(job.args(["-c", "-o"]).arg(&made).arg(source), Utf8Path::new(source))?;
            Ok::<_, Error>(made)
        };
        Ok(vec![
            object.to_owned(),
            compile("outside.S", "outside", &[])?,
            compile("tape.c", "tape", &[knows_calls, format!("-DTEXTS=\"{}\"", names("texts"))])?,
        ])
    }
}

/// The linker's arguments for the libraries of a program.
fn libraries(parts: Parts) -> impl Iterator<Item = String> {
    let own = parts.link.iter().map(|name| format!("-l{name}"));
    own.chain(["-lm", "-lpthread", "-ldl"].map(str::to_owned)).chain(parts.settings.link.iter().cloned())
}

/// The program of a driver that judges, in the folder of its build.
pub fn program(dir: &Path, driver: &Driver) -> PathBuf {
    dir.join(format!("in-place-{}", driver.name))
}

/// The flags of a driver: the library's folders and macros, and those of the settings.
pub fn flags(library: &Library, settings: &Drivers) -> Vec<String> {
    let mut flags: Vec<String> = Vec::new();
    let of_units = library.units.iter().flat_map(|unit| &unit.flags);
    for flag in
        of_units.filter(|flag| ["-I", "-D", "-isystem", "-iquote"].iter().any(|kind| flag.starts_with(kind)))
    {
        if !flags.contains(flag) {
            flags.push(flag.clone());
        }
    }
    flags.push("-I.".to_owned());
    // A header beside a C file of the library.
    let folders: BTreeSet<_> = library.units.iter().filter_map(|unit| unit.file.0.parent()).collect();
    flags.extend(folders.iter().filter(|folder| **folder != "").map(|folder| format!("-iquote{folder}")));
    flags.extend(settings.flags.iter().cloned());
    flags
}

/// The flag for a unit with a `main`, which the program of a driver has, too.
pub(super) fn other_main(library: &Library, unit: &Unit) -> Option<String> {
    let is_here = |function: &Function| {
        function.c_name == "main"
            && (function.place.file == unit.file || library.unit_of.get(&function.key) == Some(&unit.file))
    };
    library.functions.iter().any(is_here).then(|| format!("-Dmain=implfuzz_main_{}", unit.module))
}

impl BuildSite<'_> {
    /// Whether a program finds a function of this name in the libraries that it is linked with.
    fn finds(&self, name: &str, parts: Parts) -> Result<bool> {
        let [source, program] = ["finds.c", "finds"].map(|file| self.dir.join(file));
        let text = format!(
            "extern void it(void) __asm__(\"{name}\");\nvoid (*volatile at)(void) = it;\nint main(void) {{ return 0; }}\n"
        );
        write_atomic(&source, text.as_bytes())?;
        let job = self.compiler(Language::C).dir(parts.root).timeout(time_limits::COMPILE_OWN_C);
        let job = job.args(["-w", "-fno-pie"]).args(LINKED).arg(&source).args(libraries(parts));
        match self.done(job.arg("-o").arg(&program), Utf8Path::new("finds.c")) {
            Err(error) if error.kind() == ErrorKind::C && error.to_string().contains("undefined") => {
                Ok(false)
            }
            done => done.map(|()| true),
        }
    }

    fn unit(&self, parts: Parts, number: usize, unit: &Unit) -> Result<PathBuf> {
        let path = parts.root.join(&unit.file.0);
        let with_mutants = match parts.candidates {
            Candidates::Mutants(mutants) => mutants.units.get(&unit.file),
            Candidates::None | Candidates::Branches | Candidates::Watched | Candidates::Ports(_) => None,
        };
        let mut text = with_mutants.cloned().unwrap_or_else(|| format!("#include \"{path}\"\n"));
        for line in parts.library.lines_of(&unit.file).iter().chain(lines(&parts.entries.lines, unit)) {
            text += line;
            text += "\n";
        }
        let is_clang = self.toolchain.cc.kind == CompilerKind::Clang;
        let of_functions = if is_clang { local_lines(parts.library, &unit.file) } else { Vec::new() };
        for line in &of_functions {
            text += &format!("{line}\n");
        }
        // A copy of a unit looks for what it includes beside itself first: no other file is there.
        let source = self.dir.join("units").join(format!("implfuzz-unit-{number}.c"));
        write_atomic(&source, text.as_bytes())?;
        let object = source.with_extension("o");
        let beside = with_mutants.and(path.parent()).map(|dir| format!("-iquote{dir}"));
        let unoptimised = if of_functions.is_empty() { &[][..] } else { &["-O0"] };
        let compile = |more: &[&str]| {
            let job = Job::new(&self.toolchain.cc.path).dir(parts.root).timeout(time_limits::COMPILE_C);
            let job = job.args(&unit.flags).args(other_main(parts.library, unit)).args(&beside);
            let mut job = self.patchable(job).args(old_c_flags());
            match parts.candidates {
                Candidates::Branches => job = job.args(COUNTED),
                Candidates::Watched => job = job.args(WATCHED),
                Candidates::None | Candidates::Mutants(_) | Candidates::Ports(_) => {}
            }
            let job = job.args(more).args(unoptimised).args(["-c", "-o"]).arg(&object).arg(&source);
            self.done(job, unit.file.0.as_path())
        };
        let called = if inline_functions_have_copies(parts.library) { &CALLED[..] } else { &[] };
        match compile(called) {
            // Some code compiles only where it is inlined, such as assembly with constants.
            Err(error) if error.kind() == ErrorKind::C => compile(&[])?,
            done => done?,
        }
        Ok(object)
    }
}

fn chance() -> u64 {
    std::hash::RandomState::new().build_hasher().finish()
}

/// An address in the lowest two gigabytes, as code without PIE asks for, but none that a size or an offset often has: an
/// integer between addresses of constants cannot be told from one.
fn base() -> u64 {
    0x2000_0000 + chance() % 0x4000 * 0x1_0000
}

/// Where the judge's own state, the arena and Rust's heap are: addresses that a port cannot have been written for, and of
/// which none says where another one is.
fn addresses() -> String {
    // In steps of two megabytes, below the next one.
    let [state, arena, heap] = [0x2000_0000_0000, 0x2800_0000_0000, 0x3000_0000_0000]
        .map(|start| start + ((chance() & 0x3f_ffff) << 21));
    format!("\nconst struct implfuzz_memory implfuzz_memory = {{{state:#x}, {arena:#x}, {heap:#x}}};\n")
}

fn lines<'l>(all: &'l BTreeMap<RelPath, Vec<String>>, unit: &Unit) -> &'l [String] {
    all.get(&unit.file).map(Vec::as_slice).unwrap_or_default()
}
