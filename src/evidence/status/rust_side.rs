//! The Rust half of a status: the modules of the port, parsed once, and the audit of what stands in them. The modules are
//! shared out to threads.

use super::audit::{Audited, Known, States, guess, symbol};
use super::cache::{Function, Notes, Reading, tool};
use crate::audit::{Around, FfiNames, manifest_refusal};
use crate::digest::of_parts;
use crate::error::{Error, ErrorKind, Result};
use crate::evidence::fingerprint::{Constants, Crate, FileHashes, KnownContract, port_hash, port_mentions};
use crate::evidence::lock::Lock;
use crate::project::ported::{PortModule, Ported};
use crate::rust::item::fn_start;
use crate::rust::nonlocal_items;
use crate::rust::stub_text::{GENERATED_MODULES, declared_modules};
use fs_err as fs;
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

/// What proc-macro2 says where a text is not made of tokens.
const LEXED: &str = "cannot parse string into token stream";

/// The functions of the library as they stand in Rust, by their Rust names.
pub(super) struct RustSide {
    /// `rust/src`, relative to the root.
    folder: String,
    pub functions: HashMap<String, Facts>,
    pub constants: Constants,
    /// Where and why no port can be judged, whichever it is.
    pub open: Option<String>,
}

/// What stands in the tree of one function.
pub(super) struct Facts {
    pub module: String,
    pub state: Ported,
    pub text: Function,
    /// For a port with evidence.
    pub files: Option<FileHashes>,
}

/// What each thread may look at.
struct Shared<'a> {
    root: &'a Path,
    folder: String,
    files: &'a Crate,
    /// Names and texts of the modules.
    modules: Vec<(String, String)>,
    notes: Notes,
}

/// What stands in one module.
struct Seen {
    module: String,
    reading: Reading,
    /// What the reading follows from; nothing where it is not to be noted.
    key: Option<String>,
    /// Of the ports with evidence.
    files: BTreeMap<String, FileHashes>,
}

impl RustSide {
    /// Each module is parsed, audited and forgotten, so that few syntax trees are in memory at a time; one that is noted as it stands
    /// is neither parsed nor audited. What the audit must know of other modules is guessed before; where the guess was wrong all is done again.
    pub fn read(
        root: &Path,
        dir: &str,
        files: &Crate,
        lock: &Lock,
        lock_text: &str,
        notes: Option<&Path>,
    ) -> Result<Self> {
        let folder = format!("{}/src", dir.trim_end_matches('/'));
        let notes_before = notes.map(Notes::load).unwrap_or_default();
        let mut shared = Shared { root, folder, files, modules: Vec::new(), notes: notes_before };
        let declared = shared.text("lib").ok().and_then(|text| declared_modules(&text));
        // While a C file cannot be read, `init` leaves its module out.
        let is_judged = |name: &String| lock.symbols.values().any(|entry| entry.module == *name);
        let is_declared =
            |name: &String| declared.as_ref().is_none_or(|all| all.contains(name)) || is_judged(name);
        for name in module_names(&root.join(&shared.folder))?.into_iter().filter(is_declared) {
            let text = shared.text(&name)?;
            shared.modules.push((name, text));
        }
        let guesses = shared.modules.iter().map(|(name, text)| (name.clone(), guess(text))).collect();
        let [ffi, globals] = [shared.text("ffi")?, shared.text("globals")?];
        let constants = Constants::of([&ffi, &globals]);
        let names = FfiNames::read(&ffi).map_err(|error| shared.not_rust("ffi", &error))?;
        let texts = notes.and_then(|_| Some(of_parts([&tool()?, lock_text, &ffi, &globals])));
        let mut known = Known::of(lock, names, guesses, (&globals, constants), texts);
        let mut seen = shared.all(&known)?;
        let states: States =
            seen.iter().map(|seen| (seen.module.clone(), seen.reading.states.clone())).collect();
        if !known.fits(states.clone()) {
            known.learn(states);
            seen = shared.all(&known)?;
        }
        if let Some(path) = notes {
            shared.note(&seen, path);
        }
        let open = seen.iter().find_map(|seen| Some((&seen.module, seen.reading.open?)));
        let open = open
            .map(|(module, line)| nonlocal_items::reason(&format!("{}/{module}.rs:{line}", shared.folder)));
        // A manifest that is not there builds nothing.
        let manifest = format!("{}/Cargo.toml", dir.trim_end_matches('/'));
        let text = std::fs::read_to_string(root.join(&manifest)).ok();
        let refused = text.and_then(|text| manifest_refusal(&text));
        let open = refused.map(|reason| format!("{manifest}: {reason}")).or(open);
        let functions = seen.into_iter().flat_map(Seen::facts).collect();
        Ok(Self { folder: shared.folder, functions, constants: known.constants, open })
    }

    /// The file of a module, relative to the root.
    pub fn path(&self, module: &str) -> String {
        format!("{}/{module}.rs", self.folder)
    }
}

impl Shared<'_> {
    fn text(&self, module: &str) -> Result<String> {
        fs::read_to_string(self.root.join(&self.folder).join(format!("{module}.rs")))
            .map_err(|error| Error::from(error).help("run `cargo implfuzz init` to write the missing files"))
    }

    fn not_rust(&self, module: &str, error: &syn::Error) -> Error {
        let at = error.span().start();
        let said = match error.to_string() {
            lexed if lexed == LEXED => {
                "a quote, a bracket or a comment has no end, or a character is not Rust's".to_owned()
            }
            said => said,
        };
        let what = format!("{}/{module}.rs:{}:{}: not Rust: {said}", self.folder, at.line, at.column + 1);
        Error::new(ErrorKind::Build, what).help("correct it, or restore the committed file")
    }

    /// Keeps what was read for the next time.
    fn note(&self, seen: &[Seen], path: &Path) {
        let mut now = Notes::default();
        for seen in seen {
            if let Some(key) = &seen.key {
                now.add(seen.module.clone(), key.clone(), seen.reading.clone());
            }
        }
        if !now.same_as(&self.notes) {
            now.save(path);
        }
    }

    /// What stands in all modules, read by several threads.
    fn all(&self, known: &Known<'_>) -> Result<Vec<Seen>> {
        let read = |(name, text): &(String, String)| self.module(name, text, known);
        // A pool of its own: threads of the global one never end, and each keeps the text of what it has parsed.
        let pool = rayon::ThreadPoolBuilder::new().build().map_err(std::io::Error::other)?;
        let found: Vec<Result<Seen>> = pool.install(|| self.modules.par_iter().map(read).collect());
        let mut found: Vec<Seen> = found.into_iter().collect::<Result<_>>()?;
        // Where two modules have a function of one name, it is the same one that counts each time.
        found.sort_by(|a, b| a.module.cmp(&b.module));
        Ok(found)
    }

    /// What stands in a module.
    fn module(&self, name: &str, text: &str, known: &Known<'_>) -> Result<Seen> {
        let key = known.key.as_ref().map(|key| of_parts([key, name, text]));
        let noted = key.as_ref().and_then(|key| self.notes.reading(name, key));
        if let Some(reading) = noted {
            let files = self.files(&reading.states, known);
            if known.fit(&files) {
                return Ok(Seen { module: name.to_owned(), reading: reading.clone(), key, files });
            }
        }
        let port = PortModule::parse(text.to_owned()).map_err(|error| self.not_rust(name, &error))?;
        let states = port.public().map(|function| (function.to_owned(), port.state_of(function))).collect();
        let files = self.files(&states, known);
        let around = Around::of(&port.items().items.iter().collect::<Vec<_>>());
        let own = port.public().filter(|function| known.around.ffi.is_foreign(function));
        let functions = own.map(|function| {
            let rejected =
                known.evidence(function).filter(|_| states[function] == Ported::Yes).and_then(|entry| {
                    let audited = Audited {
                        name: function,
                        module: name,
                        port: &port,
                        around: &around,
                        entry,
                        files: &files[function],
                    };
                    audited.rejected(known)
                });
            let line = port.function(function).map_or(1, |item| fn_start(item).start().line);
            let counts = |name: &&String| known.around.ffi.is_foreign(name) || known.constants.has(name);
            let mentions =
                port_mentions(&port, function).map(|names| names.iter().filter(counts).cloned().collect());
            (function.to_owned(), Function { line, hash: port_hash(&port, function), mentions, rejected })
        });
        let functions = functions.collect();
        let open = port.open_lines().into_iter().next();
        // An audit by another signature than the recorded one follows from a contract, too.
        let key = key.filter(|_| known.fit(&files));
        Ok(Seen { module: name.to_owned(), reading: Reading { states, open, functions }, key, files })
    }

    /// The files of ports with evidence.
    fn files(&self, states: &BTreeMap<String, Ported>, known: &Known<'_>) -> BTreeMap<String, FileHashes> {
        let ported = states.iter().filter(|(_, state)| **state == Ported::Yes);
        let own = ported.filter(|(name, _)| known.around.ffi.is_foreign(name));
        own.filter_map(|(name, _)| {
            let (symbol, entry) = (symbol(known.lock, name), known.evidence(name)?);
            let known = KnownContract { hash: &entry.fingerprint.contract, mark: &entry.contract_text };
            Some((name.clone(), self.files.hashes(symbol, known)))
        })
        .collect()
    }
}

impl Seen {
    /// What stands in it of each function.
    fn facts(mut self) -> Vec<(String, Facts)> {
        let Reading { states, functions, .. } = self.reading;
        let facts = functions.into_iter().map(|(name, text)| {
            let state = states.get(&name).copied().unwrap_or(Ported::Missing);
            let (module, files) = (self.module.clone(), self.files.remove(&name));
            (name, Facts { module, state, text, files })
        });
        facts.collect()
    }
}

/// The modules that may hold ports.
fn module_names(folder: &Path) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let name = name.to_str().and_then(|name| name.strip_suffix(".rs"));
        names.extend(name.filter(|name| !GENERATED_MODULES.contains(name)).map(str::to_owned));
    }
    Ok(names)
}
