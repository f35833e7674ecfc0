//! An opened target repository: its configuration, the C library, and the plan of each function.

mod c_files;
pub mod fuzz_target;
pub mod init;
pub mod listing;
pub mod ported;
pub mod port_for_c;
mod struct_makers;
mod module_texts;
mod names;
mod observed_calls;
mod options;
pub mod new_target;
mod sequences;
mod targets;
mod tools;
pub mod test_files;

pub use c_files::CFiles;
pub use options::{Options, Settings};

use crate::audit::FfiNames;
use crate::c;
use crate::c::data::Data;
use crate::c::flags::{FlagSource, Warning};
use crate::config::{self, Config, Signature as ConfiguredSignature};
use crate::contract::handles::Handles;
use crate::contract::observed_calls::Calls;
use crate::contract::pointer_facts::FactTable;
use crate::contract::types::{Contract, GlobalUse, Judgeable, Signature};
use crate::contract::{file, fits, infer, state};
use crate::error::{Error, ErrorKind, Result};
use crate::platform::process::Interrupt;
use crate::platform::toolchain::Toolchain;
use crate::platform::workspace::Workspace;
use crate::project::ported::PortModule;
use crate::rust::globals;
use crate::rust::shims::Bound;
use crate::rust::signature::CSignature;
use crate::store::Store;
use crate::symbol::{Function, Library, RelPath, SymbolKey, SymbolName};
use camino::Utf8Path;
use fs_err as fs;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// An opened repository.
#[derive(Debug)]
pub struct Project {
    pub workspace: Workspace,
    pub config: Config,
    pub library: Library,
    /// What real calls of the functions look like.
    pub calls: Calls,
    /// The source of the C side's compiler flags.
    pub flags: FlagSource,
    /// Sources of flags that did not work.
    pub flag_warnings: Vec<Warning>,
    /// The text of `ffi.rs`.
    pub ffi: String,
    /// Initial values of C globals, or why a global has none.
    pub values: BTreeMap<SymbolKey, std::result::Result<Data, String>>,
    /// C files that were analysed in this run rather than cached.
    pub read: Vec<RelPath>,
    /// Hash of all inputs of the analysis.
    pub fingerprint: String,
    /// The C files that it read.
    pub c_files: CFiles,
    /// Searched on demand: opening a repository with unchanged C starts no tool.
    toolchain: OnceCell<Toolchain>,
    /// Functions with a stub or a port, in porting order.
    pub planned: Vec<FunctionPlan>,
    /// Functions that stay C, because Rust cannot express them: ports may call them.
    pub staying: Vec<FunctionPlan>,
    /// Variables of C without a Rust static, with the reason.
    without_static: BTreeMap<SymbolName, String>,
    /// Read on demand.
    ffi_names: OnceCell<Arc<FfiNames>>,
    /// Modules as last read.
    modules: RefCell<BTreeMap<String, Rc<PortModule>>>,
    /// A module that counts instead of the one in the tree.
    spliced: RefCell<Option<(String, Rc<PortModule>)>>,
}

/// A function that can be ported.
#[derive(Debug, Clone)]
pub struct FunctionPlan {
    pub function: Function,
    pub c: CSignature,
    pub judgeable: Judgeable,
    /// A person wrote the contract.
    pub edited: bool,
    /// Without the calls that drivers made, it would be another one, or there would be one.
    pub learned: bool,
    /// The text of its fuzz target, if one judges it instead of the roles.
    pub target: Option<String>,
    /// A person requested a fuzz target, and there is none.
    pub wants_target: bool,
    /// Other functions that a fuzz target may call.
    pub helpers: Vec<SymbolName>,
    /// The variables of the library that C code reached from here may change; both sides have a copy.
    pub shared: Vec<SymbolName>,
}

impl FunctionPlan {
    /// The function in the generators' form.
    pub fn bound(&self) -> Bound<'_> {
        let contract = self.judgeable.contract();
        Bound { function: &self.function, contract, c: &self.c, shared: &self.shared }
    }
}

fn utf8(root: &Path) -> Result<&Utf8Path> {
    let text = "the path of the repository is not valid UTF-8";
    Utf8Path::from_path(root).ok_or_else(|| Error::new(ErrorKind::Config, text))
}

impl Project {
    /// Opens the repository at or above `options.dir` and reads its C library.
    pub fn open(options: &Options, interrupt: &Interrupt) -> Result<Self> {
        Self::load(Workspace::open(options.dir.as_deref())?, options, interrupt)
    }

    /// Like [`Project::open`], but only reads the tree, even while another process works there.
    ///
    /// # Errors
    /// Those of reading it.
    pub fn look(options: &Options, interrupt: &Interrupt) -> Result<Self> {
        Self::load(Workspace::open_to_read(options.dir.as_deref())?, options, interrupt)
    }

    /// The root of the repository.
    ///
    /// # Errors
    /// `Config` where its path is not UTF-8.
    pub fn root(&self) -> Result<&Utf8Path> {
        utf8(self.workspace.root())
    }

    /// Reads the C library of an opened workspace.
    pub fn load(workspace: Workspace, options: &Options, interrupt: &Interrupt) -> Result<Self> {
        let path = workspace.config();
        let mut config = Config::load(&path, &options.overrides, &|name| std::env::var(name).ok())?;
        options.settings.apply(&mut config);
        config::validate(&config, &path)?;
        let root = utf8(workspace.root())?;
        let toolchain = OnceCell::new();
        let identity = tools::identity(&config);
        let tools = c::Tools {
            identity: &identity,
            programs: &|| Ok(c::Programs::of(tools::found(&toolchain, &config, interrupt)?)),
            scratch: &workspace.scratch(),
            interrupt,
        };
        let mut store = Store::open(&workspace.state_db())?;
        let c::Analysis { library, bindings, values, flags, files, warnings, read, fingerprint } =
            c::load(root, &config.c, tools, &mut store)?;
        interrupt.check()?;
        workspace.sweep(&workspace.root().join(&config.rust.dir))?;
        let calls = observed_calls::read(&workspace, &config)?;
        let mut project = Self {
            workspace,
            config,
            library,
            calls,
            flags,
            flag_warnings: warnings,
            ffi: bindings.file.clone(),
            values,
            read,
            fingerprint,
            c_files: CFiles(files),
            toolchain,
            planned: Vec::new(),
            staying: Vec::new(),
            without_static: BTreeMap::new(),
            ffi_names: OnceCell::new(),
            modules: RefCell::default(),
            spliced: RefCell::default(),
        };
        project.library.allocators = globals::allocators(&project.library, &project.values);
        let variables = project.library.globals.iter().filter(|global| global.is_variable());
        let missing = variables
            .filter_map(|g| Some((g.name.clone(), globals::missing(&project.library, g, &project.values)?)));
        project.without_static = missing.collect();
        let facts = FactTable::with_calls(&project.library, &project.calls);
        let handles = Handles::of(&project.library, &facts);
        let text = (!project.calls.0.is_empty()).then(|| FactTable::build(&project.library));
        let of_text = text.as_ref().map(|facts| (facts, Handles::of(&project.library, facts)));
        for function in &project.library.functions {
            let Some(signature) = bindings.functions.get(&function.name) else { continue };
            if let Some(why) = &function.unsupported {
                let judgeable = Judgeable::NotYet(why.clone());
                let plan = project.plan(&facts, function, (&signature.sig, judgeable));
                project.staying.push(plan);
                continue;
            }
            let (judgeable, edited) = project.contract_of(&facts, &handles, function)?;
            let learned = match &of_text {
                Some((facts, handles)) if !edited => {
                    observed_calls::differ(&judgeable, &project.contract_of(facts, handles, function)?.0)
                }
                _ => false,
            };
            let aimed = project.under_target(&facts, function, judgeable)?;
            let plan = FunctionPlan {
                edited,
                learned,
                target: aimed.target,
                wants_target: aimed.wanted,
                helpers: aimed.helpers,
                ..project.plan(&facts, function, (&signature.sig, aimed.judgeable))
            };
            project.planned.push(plan);
        }
        project.settle_sequences()?;
        project.settle_makers()?;
        Ok(project)
    }

    /// The name of the port crate.
    pub fn crate_name(&self) -> String {
        self.config.rust.crate_name.clone().unwrap_or_else(|| {
            let name = self.workspace.root().file_name().unwrap_or_default().to_string_lossy().to_lowercase();
            let name: String =
                name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
            let name = name.trim_matches('-').to_owned();
            // A keyword names no crate.
            let usable = syn::parse_str::<syn::Ident>(&name.replace('-', "_")).is_ok();
            if usable
                && name.starts_with(|c: char| c.is_ascii_alphabetic())
                && !matches!(
                    name.as_str(),
                    "core" | "std" | "alloc" | "test" | "libc" | "libfuzzer-sys" | "cc"
                )
            {
                name
            } else {
                format!("port-{name}").trim_end_matches('-').to_owned()
            }
        })
    }

    /// The directory of the port crate.
    pub fn rust_dir(&self) -> PathBuf {
        self.workspace.root().join(&self.config.rust.dir)
    }

    /// The contract file of a symbol.
    pub fn contract_path(&self, symbol: &str) -> PathBuf {
        Self::contract_below(&self.rust_dir(), symbol)
    }

    /// The contract file where no project can be opened because a contract is wrong.
    pub fn contract_below(rust_dir: &Path, symbol: &str) -> PathBuf {
        rust_dir.join("contracts").join(format!("{symbol}.toml"))
    }

    /// The file of a module.
    pub fn module_path(&self, module: &str) -> PathBuf {
        self.rust_dir().join("src").join(format!("{module}.rs"))
    }

    /// A path of the repository for people, relative to its root.
    pub fn shown(&self, path: &Path) -> String {
        path.strip_prefix(self.workspace.root()).unwrap_or(path).display().to_string()
    }

    /// What the C side says of a function.
    fn plan(
        &self,
        facts: &FactTable,
        function: &Function,
        (signature, judgeable): (&syn::Signature, Judgeable),
    ) -> FunctionPlan {
        let names = function.params.iter().map(|param| param.name.as_str());
        let shared = state::shared(&self.library, &facts.index, function).into_iter().map(|g| &g.name);
        FunctionPlan {
            function: function.clone(),
            c: CSignature::of(signature, names).spelled_out(function, &self.library),
            judgeable,
            edited: false,
            learned: false,
            target: None,
            wants_target: false,
            helpers: Vec::new(),
            shared: shared.filter(|name| !self.without_static.contains_key(name)).cloned().collect(),
        }
    }

    /// All functions that a port may call, in the generators' form.
    pub fn callable(&self) -> impl Iterator<Item = &FunctionPlan> {
        self.planned.iter().chain(&self.staying)
    }

    /// The plan of a function.
    pub fn plan_of(&self, key: &SymbolKey) -> Option<&FunctionPlan> {
        self.planned.iter().find(|planned| planned.function.key == *key)
    }

    /// Whether the configuration leaves a function out.
    pub fn is_skipped(&self, planned: &FunctionPlan) -> bool {
        self.config.symbols.get(planned.function.name.as_str()).is_some_and(|own| own.skip)
    }

    fn contract_of(
        &self,
        facts: &FactTable,
        handles: &Handles,
        function: &Function,
    ) -> Result<(Judgeable, bool)> {
        let name = function.name.as_str();
        let settings = self.config.symbols.get(name);
        if let Some(settings) = settings.filter(|s| s.skip) {
            let why = settings.reason.as_deref().unwrap_or("no reason given");
            return Ok((Judgeable::NotYet(format!("skipped in implfuzz.toml: {why}")), false));
        }
        let path = self.contract_path(name);
        if let Ok(text) = fs::read_to_string(&path)
            && file::is_edited(&text)
        {
            let shown = self.shown(&path);
            let contract = file::parse(&text, &shown)?;
            check(&contract, function, &shown)?;
            let state = || state::complaint(&self.library, &facts.index, (function, &contract));
            if let Some(what) = fits::misfit(&self.library, function, &contract).or_else(state) {
                return Err(file::wrong(&shown, &what));
            }
            return Ok((Judgeable::Yes(contract), true));
        }
        let wanted = settings.and_then(|s| s.signature).unwrap_or(self.config.rust.signature);
        let judgeable = match infer::infer(&self.library, facts, function) {
            Judgeable::Yes(contract) if wanted == ConfiguredSignature::C => {
                Judgeable::Yes(Contract { signature: Signature::C, ..contract })
            }
            Judgeable::NotYet(why) => match handles.contract(function) {
                Some(Ok(mut contract)) => {
                    if let Some(sequence) = &mut contract.sequence {
                        sequence.fail_allocations = self.config.fuzz.fail_allocations;
                    }
                    Judgeable::Yes(contract)
                }
                Some(Err(why)) => Judgeable::NotYet(why),
                None => Judgeable::NotYet(why),
            },
            other => other,
        };
        Ok((self.with_statics(judgeable), false))
    }

    /// Why there is no Rust static for a variable of C, if there is none.
    pub fn without_static(&self, name: &SymbolName) -> Option<&str> {
        self.without_static.get(name).map(String::as_str)
    }

    /// Refuses a contract that has a variable without a Rust static.
    fn with_statics(&self, judgeable: Judgeable) -> Judgeable {
        let Some(contract) = judgeable.contract() else { return judgeable };
        let without = |used: &&GlobalUse| self.without_static.contains_key(&used.name);
        match contract.globals.iter().find(without) {
            Some(GlobalUse { name, .. }) => {
                let why = &self.without_static[name];
                Judgeable::NotYet(format!(
                    "depends on the mutable global `{name}`, which has no Rust counterpart: {why}"
                ))
            }
            None => judgeable,
        }
    }
}

/// Checks that a contract names the C parameters, in order.
fn check(contract: &Contract, function: &Function, path: &str) -> Result<()> {
    if contract.params.is_empty() && !contract.harness.is_inferred() {
        return Ok(());
    }
    let theirs: Vec<&str> = contract.params.iter().map(|p| p.name.as_str()).collect();
    let ours: Vec<&str> = function.params.iter().map(|p| p.name.as_str()).collect();
    if theirs == ours {
        return Ok(());
    }
    Err(file::wrong(
        path,
        &format!("its parameters are ({}), C has ({})", theirs.join(", "), ours.join(", ")),
    ))
}
