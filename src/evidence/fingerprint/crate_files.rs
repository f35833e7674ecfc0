//! The files of a port's crate that a verdict is about: contract, harness, committed inputs, and the list of C files.

use super::c_tree::UnitFlags;
use crate::audit::deciding_settings;
use crate::config;
use crate::contract::file;
use crate::digest::{of_parts, sha256};
use crate::error::{Error, ErrorKind, Result};
use crate::harness::emit::target::target_file;
use crate::rust::item;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What is hashed where a file is not there.
pub(super) const ABSENT: &str = "absent";

/// Hashes of the files that belong to one symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileHashes {
    pub contract: String,
    pub harness: String,
    pub seeds: String,
}

/// The hash of a contract, with the mark of the text that has it.
#[derive(Debug, Clone, Copy, Default)]
pub struct KnownContract<'a> {
    pub hash: &'a str,
    pub mark: &'a str,
}

/// The files of a port's crate.
#[derive(Debug)]
pub struct Crate {
    dir: PathBuf,
    /// The hash of what all harnesses share.
    runtime: OnceLock<String>,
    settings: OnceLock<String>,
}

impl Crate {
    /// The crate in `dir`.
    pub fn new(dir: PathBuf) -> Self {
        Self { dir, runtime: OnceLock::new(), settings: OnceLock::new() }
    }

    /// Hashes of the files of a symbol. While the mark of a known contract fits, the text is not parsed.
    pub fn hashes(&self, symbol: &str, known: KnownContract) -> FileHashes {
        let contract = match self.contract_text(symbol) {
            Some(text) if mark_of(&text, known.hash) == known.mark => known.hash.to_owned(),
            Some(text) => said(text, symbol),
            None => sha256(ABSENT),
        };
        FileHashes { contract, harness: self.harness(symbol), seeds: self.seeds(symbol) }
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
    /// harnesses share. Without a harness, drivers judge: then what decides how the port is built counts.
    fn harness(&self, symbol: &str) -> String {
        let text = |name: &str| {
            let path = self.dir.join(format!("fuzz/src/harness/{name}.rs"));
            std::fs::read_to_string(path).unwrap_or_else(|_| ABSENT.to_owned())
        };
        let own = text(symbol);
        if own == ABSENT {
            let build = std::fs::read_to_string(self.dir.join("build.rs")).unwrap_or_default();
            return of_parts([ABSENT, self.settings(), build.as_str()]);
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
        let others = [
            self.dir.join("build.rs"),
            fuzz.join("src/harness/implfuzz_values.rs"),
            fuzz.join("runtime/Cargo.toml"),
        ];
        let folders = ["runtime/src", "runtime", "src", ""].map(|folder| fuzz.join(folder));
        let files = folders.into_iter().flat_map(inside).filter(is_shared).chain(others);
        let texts = files.map(|path| std::fs::read(path).unwrap_or_else(|_| ABSENT.into()));
        // Behind the profile the manifest lists targets, which come and go.
        let manifest = std::fs::read_to_string(fuzz.join("Cargo.toml")).unwrap_or_default();
        let manifest = manifest.split("[[bin]]").next().unwrap_or_default().as_bytes().to_vec();
        of_parts(texts.chain([manifest, self.settings().as_bytes().to_vec()]))
    }

    /// Edition, features, lints, profiles and dependencies, which decide what a port's text means.
    fn settings(&self) -> &str {
        self.settings.get_or_init(|| {
            deciding_settings(&std::fs::read_to_string(self.dir.join("Cargo.toml")).unwrap_or_default())
        })
    }

    /// The hash of the committed inputs: those of the harness, whatever their files are called, and those of drivers on
    /// which a port of the function differed from C. Empty where there are none.
    fn seeds(&self, symbol: &str) -> String {
        let seeds = self.dir.join("fuzz/seeds");
        let inside = |folder: PathBuf| names(&folder).into_iter().map(move |name| folder.join(name));
        let own = inside(seeds.join(format!("fuzz_{symbol}")));
        let of_symbol = format!("{symbol}-");
        let is_of_symbol = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&of_symbol))
        };
        let of_drivers = folders(&seeds.join("drivers")).into_iter().flat_map(inside).filter(is_of_symbol);
        let hashes: BTreeSet<String> =
            own.chain(of_drivers).filter_map(|path| std::fs::read(path).ok()).map(sha256).collect();
        if hashes.is_empty() { String::new() } else { of_parts(hashes) }
    }

    /// The C files that are compiled with their flags, as `init` wrote them down, and what implfuzz.toml says of flags.
    pub fn units(&self, config: &config::C) -> Result<Vec<UnitFlags>> {
        let path = self.dir.join("c_units.rs");
        let text = fs_err::read_to_string(&path).map_err(|error| {
            Error::from(error).help("run `cargo implfuzz init` to write the missing files")
        })?;
        let mut units = parse_units(&text).ok_or_else(|| {
            let what = format!("{} differs from the file that `init` writes", path.display());
            Error::new(ErrorKind::Config, what).help("cargo implfuzz init")
        })?;
        let mut said =
            [&config.include_dirs, &config.defines, &config.flags].map(|list| list.join("\n")).to_vec();
        // Libraries count only where there are some, so that evidence of before holds without them.
        said.extend(Some(config.link.join("\n")).filter(|link| !link.is_empty()));
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

/// The hash of what a contract says: reasons, comments and layout are left out.
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

fn folders(inside: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(inside).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect()
}

/// `const UNITS: &[Unit] = &[Unit { file: "a.c", flags: &["-DX"], … }];`
pub(super) fn parse_units(text: &str) -> Option<Vec<UnitFlags>> {
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
