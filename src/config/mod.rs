//! `implfuzz.toml` as plain data with defaults.
//!
//! `layers` merges command line over environment over file over defaults; `llm` resolves the model of a role.
//! Nothing here reads the C library or starts a process.

mod grade;
mod layers;
mod llm;
mod suggest;

pub use grade::{Grades, Least};
pub(crate) use layers::{merge, misread, validate};
pub use llm::{
    DRIVER_ROLES, Llm, ModelSettings, PORT_ROLES, Prices, Profile, Provider, RoleModel, TEST_ROLES,
};

use crate::error::Result;
use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// The version of the format that this tool reads and writes.
pub const VERSION: u32 = 1;

/// Everything that a user can configure.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Version of the file format.
    pub version: u32,
    /// Who makes candidates, in the order in which they are asked.
    pub candidates: Vec<Maker>,
    pub c: C,
    pub rust: Rust,
    /// Settings of single symbols, by their name on the Rust side.
    pub symbols: BTreeMap<String, SymbolOverride>,
    pub fuzz: Fuzz,
    pub grade: Grades,
    pub check: Check,
    pub limits: Limits,
    pub port: Port,
    pub llm: Llm,
    pub dropin: Dropin,
    pub drivers: Drivers,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            version: VERSION,
            candidates: vec![Maker::Model],
            c: C::default(),
            rust: Rust::default(),
            symbols: BTreeMap::new(),
            fuzz: Fuzz::default(),
            grade: Grades::default(),
            check: Check::default(),
            limits: Limits::default(),
            port: Port::default(),
            llm: Llm::default(),
            dropin: Dropin::default(),
            drivers: Drivers::default(),
        }
    }
}

impl Config {
    /// Whether a port may ask a model.
    pub fn asks_models(&self) -> bool {
        self.candidates.contains(&Maker::Model)
    }

    /// Reads the file at `path` (its absence means defaults), then lays the environment and the command line's
    /// `--config key=value` texts over it. `Err` (kind `Config`) names the key, where it stands, and the nearest
    /// known key.
    pub fn load(path: &Path, overrides: &[String], env: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        layers::load(path, overrides, env)
    }
}

/// Who makes candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "kebab-case")]
pub enum Maker {
    /// The program c2rust, which translates the C text.
    C2rust,
    /// Language models, as `[llm]` has them.
    Model,
}

impl Maker {
    /// The word in the configuration.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// `[c]`: the C library. Empty lists are found out by `init`. Paths are relative to the file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct C {
    /// Where sources and flags are found; absent: the first way that works. Not together with `sources`.
    pub from: Option<FlagsFrom>,
    /// Files to compile and port.
    pub sources: Vec<String>,
    /// `-I`.
    pub include_dirs: Vec<String>,
    /// `-D`: `NAME` or `NAME=value`.
    pub defines: Vec<String>,
    /// Further compiler flags, such as `-std=c99`.
    pub flags: Vec<String>,
    /// Libraries to link: `m`, `pthread`.
    pub link: Vec<String>,
    /// Sources to leave out although they were found; a trailing `/` leaves out a directory.
    pub exclude: Vec<String>,
    /// The C compiler; clang, else gcc, where absent.
    pub compiler: Option<String>,
}

/// Ways to find the sources of a library and their flags, in the order in which they are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum FlagsFrom {
    /// `compile_commands.json`, in the root or in `build/`.
    CompileCommands,
    /// CMake's export, made in a scratch directory.
    Cmake,
    /// What `make -n` prints.
    Make,
    /// All sources of the tree; folders for `-I` guessed from the `#include` lines.
    Includes,
}

impl FlagsFrom {
    /// As it is written in the file.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// `[rust]`: the crate that the port goes into.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rust {
    /// Name of the crate; made from the directory's name where absent.
    pub crate_name: Option<String>,
    /// Its directory, relative to the file.
    pub dir: String,
    /// Shape of the inner functions.
    pub signature: Signature,
}

impl Default for Rust {
    fn default() -> Self {
        Self { crate_name: None, dir: "rust".into(), signature: Signature::default() }
    }
}

/// `[drivers]`: programs that run the library on inputs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Drivers {
    /// Files that define `LLVMFuzzerTestOneInput`; all of the repository where empty.
    pub files: Vec<String>,
    /// Compiler flags for them, behind the library's folders and macros.
    pub flags: Vec<String>,
    /// Arguments for their linker, such as `-lpng`.
    pub link: Vec<String>,
    /// Folders with inputs to begin with.
    pub seeds: Vec<String>,
    /// Seconds of fuzzing that make a driver's corpus.
    pub seconds: u64,
    /// Of processor time for judging one function with each driver: all of its mutants, or its port.
    pub function_seconds: u64,
}

impl Drivers {
    /// The processor time for one function with one driver.
    pub fn time_for_function(&self) -> Duration {
        Duration::from_secs(self.function_seconds)
    }
}

impl Default for Drivers {
    fn default() -> Self {
        Self {
            files: Vec::new(),
            flags: Vec::new(),
            link: Vec::new(),
            seeds: Vec::new(),
            seconds: 60,
            function_seconds: 5,
        }
    }
}

/// Shape of a port's inner function.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Signature {
    /// Slices and references wherever every role allows them.
    #[default]
    Safe,
    /// The types of C, and `unsafe fn`.
    C,
}

/// `[symbols.<name>]`: what differs for one symbol.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SymbolOverride {
    /// Instead of `rust.signature`.
    pub signature: Option<Signature>,
    /// Who says how it is called and what is looked at.
    pub harness: Harness,
    /// Leave it alone.
    pub skip: bool,
    /// How much `unsafe` its port may have, where that is more than it had.
    #[serde(rename = "unsafe")]
    pub unsafe_most: Option<usize>,
    /// Why; shown wherever the symbol is listed.
    pub reason: Option<String>,
}

/// What a harness is made from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Harness {
    /// The roles of the parameters.
    #[default]
    Inferred,
    /// A fuzz target that a person wrote (`rust/fuzz/targets/`); parameters need no roles then.
    Target,
    /// The same from a model, which is asked for it.
    Model,
}

impl Harness {
    /// What need not be said.
    pub fn is_inferred(&self) -> bool {
        *self == Self::Inferred
    }
}

/// `[port]`: in which steps a function is ported.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Port {
    pub workflow: Workflow,
}

/// What a model is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Workflow {
    /// The port; how the function is called only where the C text does not say it.
    #[default]
    Unified,
    /// How it is called where the C text does not say it, a fuzz target, the port: each in an exchange of its own.
    ThreeStep,
}

impl Workflow {
    /// As in the configuration, on the command line and in the store.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// `[fuzz]`: how long and how hard.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Fuzz {
    /// Time of a run inside the loop, seconds; it ends at this or at `loop_executions`, whichever comes first.
    pub loop_seconds: u64,
    /// Executions of a run inside the loop.
    pub loop_executions: u64,
    /// Time of the run that accepts a port, seconds.
    pub accept_seconds: u64,
    /// Executions of the run that accepts a port; absent: time alone ends it.
    pub accept_executions: Option<u64>,
    /// A function with no more inputs than this gets all of them, instead of those that libFuzzer makes; 0 for never.
    pub exhaustive_points: u64,
    /// Time of one call, milliseconds.
    pub call_timeout_ms: u64,
    /// Functions on handles are also tried with an allocation that fails.
    pub fail_allocations: bool,
    /// Compile the harnesses with optimisation.
    pub optimise: bool,
    /// Longest input, bytes.
    pub max_len: u64,
    /// Memory of the fuzz process, MiB.
    pub rss_limit_mb: u64,
    /// Seed of the random generator; never 0, which would mean "take the clock".
    pub seed: u32,
    /// What to do where the kernel lacks a part of the sandbox.
    pub sandbox: Confinement,
}

/// How to run ports, drivers and programs of the library where the kernel cannot restrict them fully.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confinement {
    /// Warn, and use what there is.
    #[default]
    BestEffort,
    /// Run nothing.
    Required,
}

impl Default for Fuzz {
    fn default() -> Self {
        Self {
            loop_seconds: 10,
            loop_executions: 100_000,
            accept_seconds: 60,
            accept_executions: None,
            exhaustive_points: 1 << 24,
            call_timeout_ms: 100,
            fail_allocations: false,
            optimise: true,
            max_len: 4_096,
            rss_limit_mb: 2_048,
            seed: 1,
            sandbox: Confinement::BestEffort,
        }
    }
}

/// `[check]`: which ports may be committed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Check {
    /// The lowest grade that `check` and the git hook accept.
    pub least: Least,
}

impl Default for Check {
    fn default() -> Self {
        Self { least: Least::Weak }
    }
}

/// `[dropin]`: the library's own programs, which are built once with C alone and once with the port. Commands are a program
/// and its arguments, without a shell; they start in the root of a copy of the library.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Dropin {
    /// What is run first; what it says is not compared.
    pub build: Vec<Vec<String>>,
    /// What is compared by exit code and standard output.
    pub run: Vec<Vec<String>>,
    /// Folders outside of the copy to which the commands may write.
    pub write: Vec<Utf8PathBuf>,
    /// Time of one command, seconds.
    pub timeout: u64,
}

impl Default for Dropin {
    fn default() -> Self {
        Self { build: Vec::new(), run: Vec::new(), write: Vec::new(), timeout: 600 }
    }
}

/// `[limits]`: how often the loop tries again.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Tries to mend code that does not compile.
    pub compile_fixes: u32,
    /// Tries to mend a port that the audit rejects or the target does not call. Bounds the questions outside of a port, too:
    /// for contracts, fuzz targets and preconditions.
    pub validation_fixes: u32,
    /// Tries to mend a port that the C original disagrees with.
    pub repairs: u32,
    /// Contracts that are narrowed once C broke under them, in rounds; with 0 no model is asked about what C breaks on.
    pub false_positive_fixes: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { compile_fixes: 3, validation_fixes: 2, repairs: 3, false_positive_fixes: 1 }
    }
}
