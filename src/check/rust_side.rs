//! The Rust half of a check: the modules of the port, parsed once, and the audit of what stands in them.

use crate::audit::{Allowed, Candidate, FfiNames, audit_items};
use crate::error::{Error, ErrorKind, Result};
use crate::evidence::port_hash;
use crate::lock::Entry;
use crate::ported::{PortModule, Ported};
use crate::rust::item::fn_start;
use crate::rust::signature::rust_name;
use fs_err as fs;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::rc::Rc;

/// Modules that are generated, and hold no ports.
const GENERATED: [&str; 5] = ["lib", "ffi", "globals", "callee", "capi"];

pub(super) struct RustSide {
    /// `rust/src`, relative to the root.
    folder: String,
    modules: BTreeMap<String, Module>,
    /// The module of each function of the library.
    functions: HashMap<String, String>,
    ffi: Rc<FfiNames>,
    callees: Rc<BTreeSet<String>>,
    ported: Rc<BTreeMap<String, BTreeSet<String>>>,
    constants: BTreeSet<String>,
    hashes: RefCell<HashMap<String, Option<String>>>,
}

struct Module {
    port: PortModule,
    items: Rc<Vec<syn::Item>>,
}

impl RustSide {
    pub fn read(root: &Path, dir: &str) -> Result<Self> {
        let folder = format!("{}/src", dir.trim_end_matches('/'));
        let text = |name: &str| {
            fs::read_to_string(root.join(&folder).join(format!("{name}.rs"))).map_err(|error| {
                Error::from(error).help("run `cargo implfuzz init` to write what is missing")
            })
        };
        let not_rust = |name: &str, error: syn::Error| {
            let at = error.span().start();
            let what = format!("{folder}/{name}.rs:{}:{}: not Rust: {error}", at.line, at.column + 1);
            Error::new(ErrorKind::Build, what).help("correct it, or take the file as it was committed")
        };
        let ffi = FfiNames::read(&text("ffi")?).map_err(|error| not_rust("ffi", error))?;
        let mut modules = BTreeMap::new();
        for name in module_names(&root.join(&folder))? {
            let port = PortModule::parse(text(&name)?).map_err(|error| not_rust(&name, error))?;
            let items = Rc::new(port.items().items.clone());
            modules.insert(name, Module { port, items });
        }
        let is_symbol = |name: &&str| {
            ffi.foreign.contains(*name) || name.strip_suffix('_').is_some_and(|n| ffi.foreign.contains(n))
        };
        let mut functions = HashMap::new();
        let mut ported: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (name, module) in &modules {
            let all = module.port.public().filter(is_symbol).map(str::to_owned);
            let all: Vec<String> = all.collect();
            let bodies = all.iter().filter(|f| module.port.state_of(f) == Ported::Yes).cloned();
            ported.insert(name.clone(), bodies.collect());
            functions.extend(all.into_iter().map(|function| (function, name.clone())));
        }
        let constants = constants(&text("globals")?);
        let callees = functions.keys().cloned().collect();
        Ok(Self {
            folder,
            modules,
            functions,
            ffi: Rc::new(ffi),
            callees: Rc::new(callees),
            ported: Rc::new(ported),
            constants,
            hashes: RefCell::default(),
        })
    }

    /// The functions of the library in Rust, each with its module.
    pub fn symbols(&self) -> impl Iterator<Item = (&str, &str)> {
        self.functions.iter().map(|(name, module)| (name.as_str(), module.as_str()))
    }

    /// How a symbol is called in Rust.
    pub fn name_of(&self, symbol: &str) -> String {
        if self.functions.contains_key(symbol) { symbol.to_owned() } else { rust_name(symbol) }
    }

    /// The file of a module, relative to the root.
    pub fn path(&self, module: &str) -> String {
        format!("{}/{module}.rs", self.folder)
    }

    pub fn state(&self, module: &str, name: &str) -> Ported {
        self.modules.get(module).map_or(Ported::Missing, |module| module.port.state_of(name))
    }

    /// The line of a function, or the first.
    pub fn line(&self, module: &str, name: &str) -> usize {
        let function = self.modules.get(module).and_then(|module| module.port.function(name));
        function.map_or(1, |item| fn_start(item).start().line)
    }

    /// The hash of a function that has a body.
    pub fn hash(&self, name: &str) -> Option<String> {
        if let Some(known) = self.hashes.borrow().get(name) {
            return known.clone();
        }
        let module = self.functions.get(name).and_then(|module| self.modules.get(module));
        let hash = module.and_then(|module| port_hash(&module.port, name));
        self.hashes.borrow_mut().insert(name.to_owned(), hash.clone());
        hash
    }

    /// Where and why the audit rejects a function. Its signature must be the recorded one where the contract is.
    pub fn audit(
        &self,
        name: &str,
        entry: &Entry,
        same_contract: bool,
        ways_back: BTreeSet<String>,
    ) -> Option<(usize, String)> {
        let module_name = self.functions.get(name)?;
        let module = self.modules.get(module_name)?;
        let own = &module.port.function(name)?.sig;
        let recorded = syn::parse_str(&entry.signature).ok().filter(|_| same_contract);
        let mut ways_back = ways_back;
        ways_back.insert(name.to_owned());
        let allowed = Allowed {
            ffi: Rc::clone(&self.ffi),
            callees: Rc::clone(&self.callees),
            ways_back,
            ported: Rc::clone(&self.ported),
            globals: self.constants.iter().chain(&entry.globals).cloned().collect(),
            libc: entry.libc.iter().cloned().collect(),
            module_items: Rc::clone(&module.items),
            ..Allowed::new(recorded.unwrap_or_else(|| own.clone()))
        };
        let items = module.port.own_items(name).into_iter().cloned().collect();
        let file = syn::File { shebang: None, frontmatter: None, attrs: Vec::new(), items };
        let candidate = Candidate { module: module_name, name, text: module.port.text() };
        let problems = audit_items(&candidate, &file, &allowed).problems;
        let line = problems.first()?.line;
        let reasons: Vec<String> = problems.into_iter().map(|problem| problem.reason).collect();
        Some((line, reasons.join("; ")))
    }
}

/// The modules that may hold ports.
fn module_names(folder: &Path) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let name = name.to_str().and_then(|name| name.strip_suffix(".rs"));
        names.extend(name.filter(|name| !GENERATED.contains(name)).map(str::to_owned));
    }
    Ok(names)
}

/// The constants of `globals.rs`; tables are long, so its lines are read and not its syntax.
fn constants(text: &str) -> BTreeSet<String> {
    let names = text.lines().filter_map(|line| line.strip_prefix("pub static ")?.split_once(':'));
    names.map(|(name, _)| name.trim().to_owned()).filter(|name| !name.starts_with("mut ")).collect()
}
