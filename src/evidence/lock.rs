//! `implfuzz.lock`: the evidence that is committed with the port. What its hashes are hashes of is known to `evidence`.
//!
//! One line a chunk of C and one table a symbol, both sorted, so that branches merge and a merge that mixes two sides
//! leaves a symbol stale and never falsely fresh: the hash of its C text is over all chunks that it leads to, and its seal
//! over all lines that decide whether it holds, and over its numbers. Lines of two sides that fit the merged tree one by one do not fit a seal.

use crate::digest::of_parts;
use crate::error::{Error, ErrorKind, Result};
use crate::evidence::fingerprint::{Fingerprint, Links, Root};
use crate::platform::workspace::write_atomic;
use crate::verdict::{Grade, Measured, Proofs, Share};
use fs_err as fs;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

/// The file's name, at the root of the target repository.
pub const LOCK_FILE: &str = "implfuzz.lock";

const VERSION: u32 = 1;

/// Why an entry that has another seal than its lines, or none, is stale.
pub const MIXED: &str = "implfuzz.lock mixes two branches for this symbol";

const HEAD: &str = "# What each port was judged on. Written by `cargo implfuzz port` and `verify`, compared with the tree by\n\
    # `cargo implfuzz check`. Commit it with the port; do not edit it.\n";

/// The whole file.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    version: u32,
    /// What the C text of the symbols consists of, by `file:name`.
    #[serde(default)]
    pub c: BTreeMap<String, ChunkLine>,
    #[serde(default)]
    pub symbols: BTreeMap<String, Entry>,
    /// The least `unsafe` that ports were judged with which are stubs now.
    #[serde(default, rename = "unsafe-least")]
    pub unsafe_least: BTreeMap<String, usize>,
}

impl Default for Lock {
    fn default() -> Self {
        let (c, symbols, unsafe_least) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { version: VERSION, c, symbols, unsafe_least }
    }
}

/// A chunk of C text: its hash, cut short, since it only tells what changed, and what the analysis saw it lead to.
/// Macros are not among that: any word may be one, so they are found in the text anew.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChunkLine {
    pub hash: String,
    #[serde(flatten)]
    pub links: Links,
}

/// The evidence of one symbol.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Entry {
    pub grade: Grade,
    /// What keeps the grade from being better.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shortcomings: Vec<String>,
    /// The Rust module, and the unit in which the C function was read.
    pub module: String,
    pub unit: String,
    /// The chunks of C that hold the definition.
    pub chunks: Vec<String>,
    /// The chunks of functions that its harness also calls: they make the states that it is judged in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub harness_chunks: Vec<String>,
    /// The signature that the port must have.
    pub signature: String,
    #[serde(flatten)]
    pub fingerprint: Fingerprint,
    /// Binds all that decides whether the entry holds: both sides of a merge change it, and it fits the lines of one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub seal: String,
    /// Of the text of the contract and of its hash above: while it fits, nobody needs to read what the text says.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub contract_text: String,
    /// What it calls that still ran as C.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub callees_in_c: Vec<String>,
    /// Functions of the system that the C function calls, and variables that it changes or reads: a port may use them too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub libc: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub globals: Vec<String>,
    /// The drivers that the grade rests on, beside the harness or alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub driver_files: Vec<String>,
    pub executions: u64,
    /// Calls in the executions of these drivers in which the port did what C does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_place: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accept_rate: Option<f64>,
    /// Mutants of the C function that the harness tells from it, of so many; absent where that was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kills: Option<String>,
    /// Inputs on which both sides agree from processes of their own, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart: Option<String>,
    /// Branches of the C function that the inputs reached, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branches: Option<String>,
    /// `unsafe` blocks and functions.
    #[serde(rename = "unsafe")]
    pub unsafe_count: usize,
    /// The least that the port had when it was judged before; absent where it has no more now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsafe_least: Option<usize>,
    pub provenance: String,
    pub tools: String,
    pub date: String,
}

impl Entry {
    /// With what was measured of the proofs.
    #[must_use]
    pub fn with_proofs(self, proofs: &Proofs) -> Self {
        let text = |measured: &Measured<Share>| {
            measured.value().map(|share| format!("{}/{}", share.reached, share.total))
        };
        Self {
            kills: text(&proofs.kills),
            apart: text(&proofs.apart),
            branches: text(&proofs.branches),
            ..self
        }
    }

    /// What was measured of the proofs; why something was not is among the shortcomings.
    pub fn proofs(&self) -> Proofs {
        let share = |text: &Option<String>| {
            let (reached, total) = text.as_deref()?.split_once('/')?;
            Some(Measured::Yes(Share { reached: reached.parse().ok()?, total: total.parse().ok()? }))
        };
        let measured = |text| share(text).unwrap_or_default();
        Proofs {
            kills: measured(&self.kills),
            apart: measured(&self.apart),
            branches: measured(&self.branches),
        }
    }

    /// With the seal of its lines.
    #[must_use]
    pub fn sealed(self) -> Self {
        Self { seal: self.seal_of_lines(), ..self }
    }

    /// Why it is stale whatever stands in the tree, where its lines were not written together.
    pub fn mixed(&self) -> Option<&'static str> {
        // Older seals do not cover the numbers.
        let seals = [self.seal_of_lines(), self.seal_without_numbers()];
        (!seals.contains(&self.seal)).then_some(MIXED)
    }

    /// Provenance, tools and date are left out, and so is `contract_text`, which is bound to its hash by itself.
    fn seal_of_lines(&self) -> String {
        let rate = self.accept_rate.map(f64::to_bits);
        let counts = [Some(self.executions), self.in_place, rate, Some(self.unsafe_count as u64)];
        let counts = counts.into_iter().chain([self.unsafe_least.map(|least| least as u64)]);
        let shares =
            [&self.kills, &self.apart, &self.branches].map(|share| share.clone().unwrap_or_default());
        let numbers =
            counts.map(|count| count.map(|count| count.to_string()).unwrap_or_default()).chain(shares);
        of_parts([self.seal_without_numbers()].into_iter().chain(numbers))
    }

    fn seal_without_numbers(&self) -> String {
        let lists = [&self.shortcomings, &self.chunks, &self.callees_in_c, &self.libc, &self.globals];
        let lists = lists.map(of_parts);
        let Fingerprint { c, contract, harness, rust, rust_calls, seeds, drivers } = &self.fingerprint;
        let texts = [self.grade.word(), &self.module, &self.unit, &self.signature];
        let hashes = [c, contract, harness, rust, rust_calls, seeds];
        // Entries without drivers keep the seal that they had before there were any.
        let of_drivers = self.driver_files.iter().chain((!drivers.is_empty()).then_some(drivers));
        let rest = lists.iter().chain(of_drivers).chain(&self.harness_chunks).map(String::as_str);
        of_parts(texts.into_iter().chain(hashes.map(String::as_str)).chain(rest))
    }
}

impl Lock {
    /// Reads the file below `root`; absent where there is none.
    pub fn load(root: &Path) -> Result<Option<Self>> {
        Ok(Self::load_text(root)?.map(|(lock, _)| lock))
    }

    /// The same with the text that it was read from.
    pub fn load_text(root: &Path) -> Result<Option<(Self, String)>> {
        let path = root.join(LOCK_FILE);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some((Self::parse(&text)?, text))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn parse(text: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        let bad = |what: String| Error::new(ErrorKind::Config, format!("{LOCK_FILE}: {what}"));
        let mend = "after a merge, take either side of each conflict, then `cargo implfuzz verify --stale`";
        match toml::from_str(text) {
            Ok(lock @ Self { version: VERSION, .. }) => Ok(lock),
            read => match toml::from_str(text) {
                Ok(Version { version }) if version > VERSION => Err(bad(format!(
                    "version {version} is newer than this cargo-implfuzz, which knows {VERSION}"
                ))
                .help("install a newer cargo-implfuzz: in its checkout, cargo install --locked --path .")),
                _ => {
                    let what =
                        read.err().map_or_else(|| "its version is not known".to_owned(), |e| e.to_string());
                    Err(bad(what).help(mend))
                }
            },
        }
    }

    /// What a chunk leads to.
    pub fn links(&self, id: &str) -> Option<&Links> {
        self.c.get(id).map(|line| &line.links)
    }

    /// Writes the file below `root`, without the chunks that no symbol leads to.
    pub fn save(&mut self, root: &Path, needed: &BTreeSet<String>) -> Result<()> {
        self.c.retain(|name, _| needed.contains(name));
        write_atomic(&root.join(LOCK_FILE), self.render().as_bytes())?;
        Ok(())
    }

    /// The file's text: what is equal is written equally.
    pub fn render(&self) -> String {
        let mut text = format!("{HEAD}version = {VERSION}\n\n[c]\n");
        for (name, line) in &self.c {
            let mut parts = vec![format!("hash = {}", quoted(&line.hash))];
            let Links { calls, uses, outside, constants } = &line.links;
            let lists = [("calls", calls), ("uses", uses), ("outside", outside), ("constants", constants)];
            for (key, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
                let list: Vec<String> = list.iter().map(|name| quoted(name)).collect();
                parts.push(format!("{key} = [{}]", list.join(", ")));
            }
            writeln!(text, "{} = {{ {} }}", quoted(name), parts.join(", ")).expect("a String takes all text");
        }
        if !self.unsafe_least.is_empty() {
            text += "\n[unsafe-least]\n";
        }
        for (name, least) in &self.unsafe_least {
            writeln!(text, "{} = {least}", quoted(name)).expect("a String takes all text");
        }
        for (name, entry) in &self.symbols {
            let body = toml::to_string(entry).expect("an entry has only types that TOML knows");
            let key = if is_bare(name) { name.clone() } else { quoted(name) };
            text += &format!("\n[symbols.{key}]\n{body}");
        }
        text
    }
}

fn of_entry(entry: &Entry) -> Root<'_> {
    Root { chunks: &entry.chunks, also: &entry.harness_chunks, unit: &entry.unit }
}

/// The C functions that entries are about.
pub fn roots<'e>(entries: impl IntoIterator<Item = &'e Entry>) -> Vec<Root<'e>> {
    entries.into_iter().map(|entry| of_entry(entry)).collect()
}

fn is_bare(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lock(name: &str, calls: &[String]) -> Lock {
        let mut lock = Lock::default();
        let links = Links { calls: calls.iter().cloned().collect(), ..Links::default() };
        lock.c.insert(format!("a.c:{name}"), ChunkLine { hash: "00ff".into(), links });
        let entry =
            Entry { callees_in_c: calls.to_vec(), accept_rate: Some(0.5), executions: 7, ..Entry::default() };
        lock.symbols.insert(name.into(), entry);
        lock.unsafe_least.insert(format!("{name}2"), calls.len());
        lock
    }

    proptest! {
        #[test]
        fn a_lock_survives_its_file(name in "[a-z_$é .\"\\\\]{1,12}", calls in prop::collection::vec("[ -~]{0,9}", 0..4)) {
            let lock = lock(&name, &calls);
            let read = Lock::parse(&lock.render()).unwrap();
            prop_assert_eq!(read.render(), lock.render());
            prop_assert_eq!(read, lock);
        }
    }

    /// One branch rewrites the port, the other the C function, and both judge: git takes `c` from one and `rust` from the other.
    #[test]
    fn an_entry_that_a_merge_mixed_of_two_sides_does_not_hold() {
        let judged = |c: &str, rust: &str| {
            let fingerprint = Fingerprint { c: c.into(), rust: rust.into(), ..Fingerprint::default() };
            Entry { grade: Grade::Verified, fingerprint, ..Entry::default() }.sealed()
        };
        let (ours, theirs) = (judged("old", "new"), judged("new", "old"));
        assert_eq!((ours.mixed(), theirs.mixed()), (None, None));
        for seal in [ours.seal.as_str(), &theirs.seal, "", "0"] {
            let mixture = Entry { seal: seal.to_owned(), ..judged("new", "new") };
            assert_eq!(mixture.mixed(), Some(MIXED));
        }
        // Whatever else decides or is shown is bound, too; older seals do not cover the numbers.
        let changes: [fn(&mut Entry); 12] = [
            |e| e.grade = Grade::Exhaustive,
            |e| e.fingerprint.rust_calls = "new".into(),
            |e| e.fingerprint.seeds = "new".into(),
            |e| e.fingerprint.drivers = "new".into(),
            |e| e.driver_files = vec!["fuzz/a.c".into()],
            |e| e.callees_in_c = vec!["g".into()],
            |e| e.libc = vec!["free".into()],
            |e| e.signature = "fn f()".into(),
            |e| e.shortcomings = vec!["few".into()],
            |e| e.executions = 9,
            |e| e.kills = Some("30/30".into()),
            |e| e.unsafe_least = Some(12),
        ];
        let before = Entry { seal: ours.seal_without_numbers(), ..ours.clone() };
        assert_eq!(before.mixed(), None);
        for change in changes {
            let mut entry = ours.clone();
            change(&mut entry);
            assert_eq!(entry.mixed(), Some(MIXED), "{entry:?}");
        }
        assert_eq!(Entry { tools: "others".into(), date: "today".into(), ..ours }.mixed(), None);
    }

    #[test]
    fn another_version_and_a_conflict_are_told_with_what_mends_them() {
        let text = lock("f", &[]).render();
        let newer = Lock::parse(&text.replace("version = 1", "version = 9\nmore = 1")).unwrap_err();
        assert!(newer.to_string().contains("version 9 is newer"), "{newer}");
        let conflict = Lock::parse(&text.replace("[c]", "<<<<<<< ours\n[c]")).unwrap_err();
        assert_eq!(conflict.kind(), ErrorKind::Config);
        assert!(conflict.help_text().unwrap().contains("verify --stale"));
        assert!(Lock::load(Path::new("/nonexistent")).unwrap().is_none());
    }
}
