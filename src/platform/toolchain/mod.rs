//! Finds the tools of the machine: cargo, rustc, compilers, `ar`, `objcopy`, libclang, the `ASan` runtime, and C build
//! systems. The rest of the crate takes its tools from here.
//!
//! A missing tool is a value, not an error; `doctor` knows its package.

mod build_tool;
mod identity;
mod libclang;
mod search;

pub use build_tool::{BuildTool, BuildTools};
pub use identity::identity;
pub use search::Search;

use crate::error::{Error, ErrorKind, Result};
use crate::platform::process::{Interrupt, Job, time_limits};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use strum::IntoEnumIterator;

/// The command that installs missing tools.
pub const MENDING_COMMAND: &str = "cargo implfuzz doctor --install";

/// The oldest libclang that has every function this tool uses.
pub const OLDEST_LIBCLANG: u32 = 15;

/// A program or file and its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    pub path: PathBuf,
    /// As the tool prints it; empty if it prints none.
    pub version: String,
}

/// Which family of options a compiler understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum CompilerKind {
    Clang,
    Gcc,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiler {
    pub path: PathBuf,
    pub kind: CompilerKind,
    pub version: String,
}

/// `rustc` with its sysroot and host target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rustc {
    pub tool: Tool,
    pub sysroot: PathBuf,
    /// Target triple of the machine.
    pub host: String,
}

impl Rustc {
    /// Whether ports can be fuzzed on this machine: Linux on x86-64 or aarch64.
    pub fn host_is_supported(&self) -> bool {
        let mut parts = self.host.split('-');
        let arch = parts.next().unwrap_or_default();
        matches!(arch, "x86_64" | "aarch64")
            && parts.any(|part| part == "linux")
            && !self.host.contains("android")
    }
}

/// All tools that were found. Each may be missing.
#[derive(Debug, Clone)]
pub struct Survey {
    pub cargo: Option<Tool>,
    pub rustc: Option<Rustc>,
    pub cc: Option<Compiler>,
    pub cxx: Option<Tool>,
    pub ar: Option<Tool>,
    pub objcopy: Option<Tool>,
    /// The newest one found; it may be older than [`OLDEST_LIBCLANG`].
    pub libclang: Option<Tool>,
    pub asan_runtime: Option<PathBuf>,
    pub build_tools: BTreeMap<BuildTool, Tool>,
    /// If enabled, proposes a translation before any model is asked.
    pub c2rust: Option<Tool>,
}

/// A complete set of tools.
#[derive(Debug, Clone)]
pub struct Toolchain {
    pub cargo: PathBuf,
    pub rustc: PathBuf,
    pub rustc_version: String,
    pub sysroot: PathBuf,
    /// Target triple of the machine.
    pub host: String,
    pub cc: Compiler,
    /// For libFuzzer, which is C++.
    pub cxx: Tool,
    pub ar: PathBuf,
    pub objcopy: PathBuf,
    /// The shared library.
    pub libclang: PathBuf,
    /// The toolchain's own static library.
    pub asan_runtime: PathBuf,
    pub build_tools: BuildTools,
}

impl Toolchain {
    /// Finds every tool.
    ///
    /// Errors (`Environment`): tools are missing; the message names them all, and the command that installs them.
    pub fn find(search: &Search, interrupt: &Interrupt) -> Result<Self> {
        Self::of(Survey::make(search, interrupt)?)
    }

    fn of(survey: Survey) -> Result<Self> {
        let missing = survey.missing();
        let Survey {
            cargo: Some(cargo),
            rustc: Some(rustc),
            cc: Some(cc),
            cxx: Some(cxx),
            ar: Some(ar),
            objcopy: Some(objcopy),
            libclang: Some(libclang),
            asan_runtime: Some(asan_runtime),
            build_tools,
            c2rust: _,
        } = survey
        else {
            let text = format!("missing on this machine: {}", missing.join(", "));
            return Err(Error::new(ErrorKind::Environment, text).help(MENDING_COMMAND));
        };
        if !rustc.host_is_supported() {
            let text =
                format!("{} is not supported: ports are fuzzed on Linux x86-64 and aarch64", rustc.host);
            return Err(Error::new(ErrorKind::Environment, text));
        }
        if !is_new_enough(&libclang) {
            let (path, version) = (libclang.path.display(), &libclang.version);
            let text =
                format!("libclang {version} ({path}) is too old: {OLDEST_LIBCLANG} or newer is needed");
            return Err(Error::new(ErrorKind::Environment, text).help(MENDING_COMMAND));
        }
        // The names on PATH are rustup's proxies, which choose a toolchain anew in each directory. A build must use
        // one.
        let own = |name: &str| Some(rustc.sysroot.join("bin").join(name)).filter(|path| path.is_file());
        Ok(Self {
            cargo: own("cargo").unwrap_or(cargo.path),
            rustc: own("rustc").unwrap_or(rustc.tool.path),
            rustc_version: rustc.tool.version,
            sysroot: rustc.sysroot,
            host: rustc.host,
            cc,
            cxx,
            ar: ar.path,
            objcopy: objcopy.path,
            libclang: libclang.path,
            asan_runtime,
            build_tools: build_tools.into_iter().map(|(name, tool)| (name, tool.path)).collect(),
        })
    }
}

/// Whether this libclang is new enough. An unknown version is accepted.
pub fn is_new_enough(libclang: &Tool) -> bool {
    major(&libclang.version).is_none_or(|major| major >= OLDEST_LIBCLANG)
}

/// The first number of a version.
pub fn major(version: &str) -> Option<u32> {
    version.split('.').next()?.parse().ok()
}

impl Survey {
    /// Looks for every tool; one that does not work counts as missing. Fails only on Ctrl-C.
    pub fn make(search: &Search, interrupt: &Interrupt) -> Result<Self> {
        let ask = Asker { search, interrupt };
        // Rust's programs take as long to answer as all others together, so they get their own thread.
        let of_rust = || Ok((ask.rustc()?, ask.tool(search.cargo(), &["--version"])?));
        let of_c = || {
            let clang = ask.newest_clang()?;
            let cc = if clang.is_some() { clang } else { ask.gcc()? };
            let cxx = ask.tool(search.cxx(), &["-dumpversion"])?;
            Ok((cc, cxx, ask.tool(search.program(&["ar", "llvm-ar"]), &["--version"])?))
        };
        let (of_rust, of_c): (Result<_>, Result<_>) = rayon::join(of_rust, of_c);
        let ((rustc, cargo), (cc, cxx, ar)) = (of_rust?, of_c?);
        let asan_runtime = rustc.as_ref().and_then(|rustc| asan_runtime(&search.rustlib(rustc)));
        let objcopy = search.program(&["objcopy", "llvm-objcopy"]).or_else(|| {
            let path = search.rustlib(rustc.as_ref()?).join("bin/rust-objcopy");
            path.is_file().then_some(path)
        });
        let objcopy = ask.tool(objcopy, &["--version"])?;
        let libdir = ask.output(search.program(&["llvm-config"]).as_deref(), &["--libdir"])?;
        let libclang = libclang::find(search, libdir.map(|text| PathBuf::from(text.trim())));
        let mut build_tools = BTreeMap::new();
        for name in BuildTool::iter() {
            let tool = ask.tool(search.program(name.programs()), &["--version"])?;
            build_tools.extend(tool.map(|tool| (name, tool)));
        }
        let c2rust = ask.tool(search.program(&["c2rust"]), &["--version"])?;
        Ok(Self { cargo, rustc, cc, cxx, ar, objcopy, libclang, asan_runtime, build_tools, c2rust })
    }

    fn missing(&self) -> Vec<&'static str> {
        let found = [
            ("cargo", self.cargo.is_some()),
            ("rustc", self.rustc.is_some()),
            ("a C compiler", self.cc.is_some()),
            ("a C++ compiler", self.cxx.is_some()),
            ("ar", self.ar.is_some()),
            ("objcopy", self.objcopy.is_some()),
            ("libclang", self.libclang.is_some()),
            ("the ASan runtime of rustc", self.asan_runtime.is_some()),
        ];
        found.iter().filter(|(_, there)| !there).map(|(name, _)| *name).collect()
    }
}

/// Asks programs about themselves.
struct Asker<'a> {
    search: &'a Search,
    interrupt: &'a Interrupt,
}

impl Asker<'_> {
    /// What a program prints; none if it is missing or does not work.
    fn output(&self, program: Option<&Path>, args: &[&str]) -> Result<Option<String>> {
        let Some(program) = program else { return Ok(None) };
        let job = Job::new(program).args(args).timeout(time_limits::VERSION);
        // rustup follows a `rust-toolchain.toml` at or above the current directory, but builds run elsewhere.
        let job = if program.is_absolute() { job.dir("/") } else { job };
        match job.run(self.interrupt) {
            Ok(output) if output.exit.success() => Ok(Some(output.stdout_text())),
            Err(error) if error.kind() == ErrorKind::Interrupted => Err(error),
            Ok(_) | Err(_) => Ok(None),
        }
    }

    /// A program that prints its version.
    fn tool(&self, path: Option<PathBuf>, args: &[&str]) -> Result<Option<Tool>> {
        let text = self.output(path.as_deref(), args)?;
        Ok(path.zip(text).map(|(path, text)| Tool { path, version: version_in(&text) }))
    }

    fn rustc(&self) -> Result<Option<Rustc>> {
        let path = self.search.rustc();
        let about = self.output(path.as_deref(), &["-vV"])?;
        let sysroot = self.output(path.as_deref(), &["--print", "sysroot"])?;
        let (Some(path), Some(about), Some(sysroot)) = (path, about, sysroot) else { return Ok(None) };
        let field = |name: &str| about.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
        let Some(host) = field("host: ") else { return Ok(None) };
        let tool = Tool { path, version: field("release: ").unwrap_or_default() };
        Ok(Some(Rustc { tool, sysroot: sysroot.trim().into(), host }))
    }

    fn newest_clang(&self) -> Result<Option<Compiler>> {
        let mut best: Option<Compiler> = None;
        let mut seen = HashSet::new();
        for path in self.search.clangs() {
            // Several names may lead to one program.
            if !seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())) {
                continue;
            }
            let Some(Tool { path, version }) = self.tool(Some(path), &["-dumpversion"])? else { continue };
            if best.as_ref().is_none_or(|best| numbers(&version) > numbers(&best.version)) {
                best = Some(Compiler { path, kind: CompilerKind::Clang, version });
            }
        }
        Ok(best)
    }

    fn gcc(&self) -> Result<Option<Compiler>> {
        let found = self.tool(self.search.program(&["gcc"]), &["-dumpfullversion", "-dumpversion"])?;
        Ok(found.map(|tool| Compiler { path: tool.path, kind: CompilerKind::Gcc, version: tool.version }))
    }
}

fn asan_runtime(rustlib: &Path) -> Option<PathBuf> {
    search::list(&rustlib.join("lib")).into_iter().find(|path| {
        search::file_name(path).is_some_and(|n| n.starts_with("librustc-") && n.ends_with("_rt.asan.a"))
    })
}

/// The last word of the first line that has a digit, looks like a version and is not in parentheses.
fn version_in(text: &str) -> String {
    let line = text.lines().find(|line| line.chars().any(|c| c.is_ascii_digit())).unwrap_or_default();
    let looks = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit()) && !word.ends_with(')');
    line.split_whitespace().rfind(looks).unwrap_or_default().to_owned()
}

/// The numbers of a version, for comparison.
fn numbers(version: &str) -> Vec<u32> {
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests;
