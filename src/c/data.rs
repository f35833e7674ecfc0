//! Initial values of C globals and tables: the compiler evaluates them, the object file is read.
//!
//! What Rust statics look like is decided in `rust::globals`; reading an object file lives in `image`.

mod image;

pub use image::{Data, Target};

use crate::error::{Context, Error, ErrorKind, Result};
use crate::process::{Exit, Interrupt, Job};
use crate::symbol::{Global, Library, Linkage, SymbolKey, Unit};
use camino::{Utf8Path, Utf8PathBuf};
use fs_err as fs;
use image::{ALIAS_END, Image};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

/// No translation unit takes longer than this without optimisation.
const COMPILE_TIME: Duration = Duration::from_secs(300);

/// Behind the unit's own flags. Symbols keep their own sections, so that a pointer tells what it points to; what
/// compilers of today reject in C of older standards is let through, one flag each.
const FLAGS: &[&str] = &[
    "-O0",
    "-g0",
    "-w",
    "-fno-common",
    "-fno-pic",
    "-fno-pie",
    "-fdata-sections",
    "-fno-lto",
    "-Wno-implicit-function-declaration",
    "-Wno-implicit-int",
    "-Wno-int-conversion",
    "-Wno-incompatible-function-pointer-types",
    "-Wno-return-type",
];

/// Reads the initial value of every global, or the reason why there is none. `cc` compiles the units into `scratch`,
/// a folder that exists.
///
/// # Errors
/// `Environment` when `cc` cannot be started, `Io` when `scratch` cannot be written, `C` when `root` is not there,
/// and Ctrl-C. A unit that does not compile is a reason for its globals.
pub fn read(
    root: &Utf8Path,
    library: &Library,
    cc: &Path,
    scratch: &Path,
    interrupt: &Interrupt,
) -> Result<BTreeMap<SymbolKey, std::result::Result<Data, String>>> {
    let root = root.canonicalize_utf8().map_err(|error| {
        Error::new(ErrorKind::C, format!("the C project {root} cannot be opened: {error}"))
    })?;
    let scratch = fs::canonicalize(scratch)?;
    let compiler = Compiler { root: &root, cc, scratch: &scratch, interrupt };
    let mut results = BTreeMap::new();
    let mut open = Vec::new();
    for global in &library.globals {
        match why_not(global) {
            Some(reason) => drop(results.insert(global.key.clone(), Err(reason))),
            None => open.push(global),
        }
    }
    let homes = homes(&compiler, library, &open)?;
    for round in 0.. {
        // Definitions of one file go together: a header's that are not there under the unit's `#if`s spoil no others.
        let mut jobs: BTreeMap<(usize, &Utf8Path), Vec<&Global>> = BTreeMap::new();
        for global in &open {
            if matches!(results.get(&global.key), Some(Ok(_))) {
                continue;
            }
            let file = global.place.file.0.as_path();
            match homes.get(file).and_then(|homes| homes.get(round)) {
                Some(home) => jobs.entry((*home, file)).or_default().push(global),
                None => {
                    let none = || Err(format!("no unit of the library includes {file}"));
                    results.entry(global.key.clone()).or_insert_with(none);
                }
            }
        }
        if jobs.is_empty() {
            break;
        }
        for ((home, _), globals) in jobs {
            let values = compiler.values(&library.units[home], &globals)?;
            results.extend(globals.iter().map(|g| g.key.clone()).zip(values));
        }
    }
    Ok(results)
}

fn why_not(global: &Global) -> Option<String> {
    let thread_local = global.is_thread_local.then(|| "thread-local".to_owned());
    global.unsupported.clone().or(thread_local)
}

/// For every file with globals, the units (by number) that may hold them, the likeliest first.
fn homes<'a>(
    compiler: &Compiler,
    library: &Library,
    globals: &[&'a Global],
) -> Result<BTreeMap<&'a Utf8Path, Vec<usize>>> {
    let mut homes = BTreeMap::new();
    let mut headers: BTreeMap<&Utf8Path, &str> = BTreeMap::new();
    for global in globals {
        let file = global.place.file.0.as_path();
        match library.units.iter().position(|u| u.file == global.place.file) {
            Some(unit) => drop(homes.insert(file, vec![unit])),
            None => drop(headers.insert(file, &global.module)),
        }
    }
    if headers.is_empty() {
        return Ok(homes);
    }
    let included: Vec<BTreeSet<Utf8PathBuf>> =
        library.units.iter().map(|unit| compiler.includes(unit)).collect::<Result<_>>()?;
    for (file, module) in headers {
        let path = compiler.root.join(file);
        let path = path.canonicalize_utf8().unwrap_or(path);
        let mut units: Vec<usize> =
            (0..library.units.len()).filter(|unit| included[*unit].contains(&path)).collect();
        units.sort_by_key(|unit| library.units[*unit].module != module);
        homes.insert(file, units);
    }
    Ok(homes)
}

struct Compiler<'a> {
    root: &'a Utf8Path,
    cc: &'a Path,
    scratch: &'a Path,
    interrupt: &'a Interrupt,
}

impl Compiler<'_> {
    /// The compiler with the unit's flags, in the root: relative paths in flags count from there.
    fn job(&self, unit: &Unit) -> Job {
        Job::new(self.cc).dir(self.root.as_std_path()).timeout(COMPILE_TIME).args(&unit.flags).args(FLAGS)
    }

    /// Every file that the unit includes; none if the preprocessor fails.
    fn includes(&self, unit: &Unit) -> Result<BTreeSet<Utf8PathBuf>> {
        let output = self.job(unit).args(["-M", "-MT", "x"]).arg(&unit.file.0);
        let output =
            output.run(self.interrupt).context(|| format!("finding the includes of {}", unit.file))?;
        if !output.exit.success() {
            return Ok(BTreeSet::new());
        }
        let files = dependencies(&output.stdout_text());
        Ok(files.into_iter().filter_map(|f| self.root.join(f).canonicalize_utf8().ok()).collect())
    }

    /// The values of globals that the unit should define, in order.
    fn values(&self, unit: &Unit, globals: &[&Global]) -> Result<Vec<std::result::Result<Data, String>>> {
        let aliases: Vec<(String, &Global)> = globals
            .iter()
            .filter(|g| g.linkage == Linkage::Static)
            .map(|g| (format!("{}__{}{ALIAS_END}", unit.module, g.c_name), *g))
            .collect();
        let mut object = self.compile(unit, &aliases)?;
        if object.is_err() && !aliases.is_empty() {
            // A name that is also a macro admits no alias; most statics are in the symbol table without one.
            object = self.compile(unit, &[])?;
        }
        let image = object.as_deref().map_err(Clone::clone).and_then(Image::parse);
        let value = |global: &&Global| {
            let image = image.as_ref().map_err(Clone::clone)?;
            let alias = aliases.iter().find(|(_, g)| g.key == global.key);
            let found = alias.and_then(|(alias, _)| image.variable(alias));
            found.or_else(|| image.variable(&global.c_name)).unwrap_or_else(|| {
                Err(format!("{} is not in the object file of {}", global.c_name, unit.file))
            })
        };
        Ok(globals.iter().map(value).collect())
    }

    /// The object file of the unit with these aliases behind it, or why it does not compile.
    fn compile(
        &self,
        unit: &Unit,
        aliases: &[(String, &Global)],
    ) -> Result<std::result::Result<Vec<u8>, String>> {
        let mut text = format!("#include \"{}\"\n", self.root.join(&unit.file.0));
        for (alias, global) in aliases {
            let name = &global.c_name;
            writeln!(text, "extern __typeof__({name}) {alias} __attribute__((alias(\"{name}\")));")
                .expect("a String takes all text");
        }
        let source = self.scratch.join(format!("{}__globals.c", unit.module));
        let object = source.with_extension("o");
        fs::write(&source, text)?;
        let output = self.job(unit).args(["-c", "-o"]).arg(&object).arg(&source);
        let output = output.run(self.interrupt).context(|| format!("compiling {}", unit.file))?;
        if output.exit.success() {
            return Ok(Ok(fs::read(&object)?));
        }
        let why = match output.exit {
            Exit::TimedOut => "the compiler takes too long".to_owned(),
            _ => first_error(&output.stderr_text()),
        };
        Ok(Err(format!("{} does not compile: {why}", unit.file)))
    }
}

fn first_error(stderr: &str) -> String {
    let line = stderr.lines().find(|l| l.contains("error:")).or(stderr.lines().next());
    let line = line.unwrap_or("the compiler says nothing");
    line.split_once("error:").map_or(line, |(_, what)| what).trim().to_owned()
}

/// The prerequisites in a rule as `-M` writes it: `\` before a space or a line's end, `$$` for a dollar.
fn dependencies(rule: &str) -> Vec<String> {
    let rule = rule.replace("\\\n", " ");
    let Some((_, list)) = rule.split_once(':') else { return Vec::new() };
    let mut files = Vec::new();
    let mut file = String::new();
    let mut chars = list.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if matches!(chars.peek(), Some(' ' | '#')) => file.extend(chars.next()),
            '$' if chars.peek() == Some(&'$') => file.extend(chars.next()),
            c if c.is_whitespace() => files.push(std::mem::take(&mut file)),
            c => file.push(c),
        }
    }
    files.push(file);
    files.retain(|f| !f.is_empty());
    files
}

#[cfg(test)]
#[path = "data/tests.rs"]
mod tests;
