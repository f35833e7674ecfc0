//! What a verdict is about, as hashes of what stands in the tree: needs no compiler and no database. Whoever records
//! evidence and whoever checks it ask here, so that both see the same.

mod c_tree;
mod c_hash;

pub use c_hash::{LinksOf, Root, Web};
pub use c_tree::{CTree, UnitFlags};

use crate::audit::other_dependencies;
use crate::config;
use crate::contract::file;
use crate::digest::{of_parts, sha256};
use crate::error::{Error, ErrorKind, Result};
use crate::harness::emit::target::target_file;
use crate::lock::Entry;
use crate::ported::{PortModule, Ported};
use crate::rust::item;
use std::collections::BTreeSet;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::OnceLock;

/// How many digits of a chunk's hash stand in the lock.
const SHORT: usize = 16;

/// A chunk's hash as the lock has it.
pub fn short(hash: &str) -> &str {
    hash.get(..SHORT).unwrap_or(hash)
}

/// The C functions that entries are about.
pub fn roots<'e>(entries: impl IntoIterator<Item = &'e Entry>) -> Vec<Root<'e>> {
    entries.into_iter().map(|entry| Root { chunks: &entry.chunks, unit: &entry.unit }).collect()
}

/// What is hashed where a file is not there.
const ABSENT: &str = "absent";

/// The files of a port's crate.
#[derive(Debug)]
pub struct Crate {
    dir: PathBuf,
    /// The hash of what all harnesses share.
    runtime: OnceLock<String>,
}

impl Crate {
    /// The crate in `dir`.
    pub fn new(dir: PathBuf) -> Self {
        Self { dir, runtime: OnceLock::new() }
    }

    /// The hash of a contract, reasons, comments and layout left out.
    pub fn contract(&self, symbol: &str) -> String {
        self.contract_text(symbol).map_or_else(|| sha256(ABSENT), |text| said(text, symbol))
    }

    /// The same where it is known of a text, by the mark of that.
    pub fn contract_again(&self, symbol: &str, known: &str, mark: &str) -> String {
        match self.contract_text(symbol) {
            Some(text) if mark_of(&text, known) == mark => known.to_owned(),
            Some(text) => said(text, symbol),
            None => sha256(ABSENT),
        }
    }

    /// What tells that a contract is still the text that has this hash. Whoever could forge it could as well forge the hash,
    /// and a mark and a hash of two texts do not fit together.
    pub fn contract_mark(&self, symbol: &str, hash: &str) -> String {
        self.contract_text(symbol).map(|text| mark_of(&text, hash)).unwrap_or_default()
    }

    fn contract_text(&self, symbol: &str) -> Option<String> {
        std::fs::read_to_string(self.dir.join(format!("contracts/{symbol}.toml"))).ok()
    }

    /// The hash of a harness, of those of other functions that it calls as steps or of its fuzz target, and of what all
    /// harnesses share.
    pub fn harness(&self, symbol: &str) -> String {
        let text = |name: &str| {
            let path = self.dir.join(format!("fuzz/src/harness/{name}.rs"));
            std::fs::read_to_string(path).unwrap_or_else(|_| ABSENT.to_owned())
        };
        let own = text(symbol);
        if own == ABSENT {
            return sha256(ABSENT);
        }
        let mut others: Vec<String> = steps(&own).into_iter().map(text).collect();
        others.extend(std::fs::read_to_string(self.dir.join(target_file(symbol))));
        let runtime = self.runtime.get_or_init(|| self.shared());
        of_parts([own.as_str(), runtime].into_iter().chain(others.iter().map(String::as_str)))
    }

    fn shared(&self) -> String {
        let fuzz = self.dir.join("fuzz");
        let inside = |folder: PathBuf| names(&folder).into_iter().map(move |name| folder.join(name));
        let is_shared = |path: &PathBuf| {
            let is_of = |end: &str| path.extension().is_some_and(|extension| extension == end);
            is_of("c") || is_of("rs") || is_of("txt")
        };
        let others = [self.dir.join("build.rs"), fuzz.join("src/harness/values.rs")];
        let folders = ["runtime/src", "src", ""].map(|folder| fuzz.join(folder));
        let files = folders.into_iter().flat_map(inside).filter(is_shared).chain(others);
        let texts = files.map(|path| std::fs::read(path).unwrap_or_else(|_| ABSENT.into()));
        // Behind the profile the manifest lists targets, which come and go.
        let manifest = std::fs::read_to_string(fuzz.join("Cargo.toml")).unwrap_or_default();
        let manifest = manifest.split("[[bin]]").next().unwrap_or_default().as_bytes().to_vec();
        // What the port's own crate takes from registries beside `libc`; most take nothing.
        let own = std::fs::read_to_string(self.dir.join("Cargo.toml")).unwrap_or_default();
        let others = Some(other_dependencies(&own)).filter(|list| !list.is_empty()).map(String::into_bytes);
        of_parts(texts.chain([manifest]).chain(others))
    }

    /// The hash of the committed inputs, whatever their files are called; empty where there are none.
    pub fn seeds(&self, symbol: &str) -> String {
        let folder = self.dir.join(format!("fuzz/seeds/fuzz_{symbol}"));
        let hashes = names(&folder).into_iter().filter_map(|name| std::fs::read(folder.join(name)).ok());
        let hashes: BTreeSet<String> = hashes.map(sha256).collect();
        if hashes.is_empty() { String::new() } else { of_parts(hashes) }
    }

    /// The C files that are compiled with their flags, as `init` wrote them down, and what implfuzz.toml says of flags.
    pub fn units(&self, config: &config::C) -> Result<Vec<UnitFlags>> {
        let path = self.dir.join("c_units.rs");
        let text = fs_err::read_to_string(&path)
            .map_err(|error| Error::from(error).help("run `cargo implfuzz init` to write what is missing"))?;
        let mut units = parse_units(&text).ok_or_else(|| {
            let what = format!("{} is not as `init` writes it", path.display());
            Error::new(ErrorKind::Config, what).help("cargo implfuzz init")
        })?;
        let said = [&config.include_dirs, &config.defines, &config.flags].map(|list| list.join("\n"));
        let said = format!("implfuzz.toml {}", of_parts(said));
        units.iter_mut().for_each(|unit| unit.flags.push(said.clone()));
        Ok(units)
    }
}

/// The other harnesses that a harness names, each once.
fn steps(harness: &str) -> BTreeSet<&str> {
    let ends = harness.match_indices("::OPERATION").map(|(at, _)| &harness[..at]);
    ends.filter_map(|before| before.rsplit_once("super::").map(|(_, name)| name))
        .filter(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
        .collect()
}

/// The hash of what a contract says.
fn said(text: String, symbol: &str) -> String {
    sha256(file::parse(&text, symbol).map_or(text, |contract| file::render(&contract.without_reasons())))
}

fn mark_of(text: &str, hash: &str) -> String {
    of_parts([text, hash])
}

/// The names of the files in a folder, in order.
fn names(folder: &Path) -> BTreeSet<std::ffi::OsString> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .map(|entry| entry.file_name())
        .collect()
}

/// `const UNITS: &[Unit] = &[Unit { file: "a.c", flags: &["-DX"], … }];`
fn parse_units(text: &str) -> Option<Vec<UnitFlags>> {
    let items = item::parse(text).ok()?.items;
    let value = items.into_iter().find_map(|item| match item {
        syn::Item::Const(item) if item.ident == "UNITS" => Some(*item.expr),
        _ => None,
    })?;
    let unit = |expr: &syn::Expr| {
        let syn::Expr::Struct(unit) = expr else { return None };
        let field = |name: &str| {
            unit.fields
                .iter()
                .find(|f| matches!(&f.member, syn::Member::Named(ident) if ident == name))
                .map(|f| &f.expr)
        };
        let flags = elements(field("flags")?)?.iter().map(string).collect::<Option<_>>()?;
        Some(UnitFlags { file: string(field("file")?)?, flags })
    };
    elements(&value)?.iter().map(unit).collect()
}

/// What stands in `&[…]`.
fn elements(expr: &syn::Expr) -> Option<Vec<syn::Expr>> {
    let syn::Expr::Reference(reference) = expr else { return None };
    let syn::Expr::Array(array) = &*reference.expr else { return None };
    Some(array.elems.iter().cloned().collect())
}

fn string(expr: &syn::Expr) -> Option<String> {
    match expr {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

/// The ports that a port mentions, directly or through others. `mentioned_by` tells what a function of the library mentions, by its
/// Rust name, if it has a body.
pub fn ports_called<N: Deref<Target = BTreeSet<String>>>(
    name: &str,
    mentioned_by: impl Fn(&str) -> Option<N>,
) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![name.to_owned()];
    while let Some(next) = open.pop() {
        let Some(mentioned) = mentioned_by(&next) else { continue };
        if next != name && !found.insert(next.clone()) {
            continue;
        }
        open.extend(mentioned.iter().filter(|other| *other != name && !found.contains(*other)).cloned());
    }
    found
}

/// The hash of these ports, empty where there are none; one that has no body any more counts as another text.
pub fn ports_hash(names: &[String], hash_of: &dyn Fn(&str) -> Option<String>) -> String {
    if names.is_empty() {
        return String::new();
    }
    let hash = |name: &String| hash_of(name).unwrap_or_else(|| ABSENT.to_owned());
    of_parts(names.iter().flat_map(|name| [name.clone(), hash(name)]))
}

/// The names that a function mentions, if it has a body.
pub fn port_mentions(module: &PortModule, name: &str) -> Option<Rc<BTreeSet<String>>> {
    (module.state_of(name) == Ported::Yes).then(|| module.mentioned_by(name))
}

/// The hash of a function that has a body.
pub fn port_hash(module: &PortModule, name: &str) -> Option<String> {
    let has_body = module.state_of(name) == Ported::Yes;
    has_body.then(|| module.hash_of(name)).flatten().map(|hash| hash.as_str().to_owned())
}

#[cfg(test)]
mod tests;
