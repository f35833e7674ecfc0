//! `check`, `status`, `verify --stale`, `port` and the hook always agree, and none of them trusts a verdict on
//! other texts than those in the tree. The test makes random edits, verdicts, merges, clones and deleted locks, and
//! compares with a model.

mod merge;
mod texts;

use super::last_judgement;
use super::{Ask, Judgement};
use crate::config::{Config, Least};
use crate::contract::types::Judgeable;
use crate::evidence::hook_script::Hook;
use crate::evidence::lock::{LOCK_FILE, Lock};
use crate::evidence::status::{Checked, NOTES, Status, SymbolStatus, Trouble, status};
use crate::platform::process::{Interrupt, Job};
use crate::project::FunctionPlan;
use crate::project::ported::Ported;
use crate::rust::signature::CSignature;
use crate::store::{LastVerdict, Store, SymbolRow};
use crate::symbol::fixture;
use crate::verdict::Grade;
use merge::{Coin, merge_file, merged};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use texts::{CHEAT, NAMES, Texts, entry};

/// The lock's record of a symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Record {
    /// A verdict on these texts; the C texts come first.
    Of(Vec<u8>, Vec<u8>, Grade),
    /// A merge mixed the lines of two sides.
    Mixed,
}

/// One branch.
#[derive(Debug, Clone, Default)]
struct Branch {
    texts: Texts,
    lock: Option<String>,
    records: BTreeMap<usize, Record>,
}

#[derive(Debug, Clone)]
enum Op {
    Edit(u8, usize, u8),
    Judge(usize, Grade),
    /// Switches to the other branch, which starts as a copy of this one.
    Switch,
    Fork,
    /// Takes each text and each line of the lock from one side or the other.
    Merge(u64),
    /// Both branches judge the symbol, each after a change of another part, and merge line by line.
    Diverge(usize, u8, u8, u64),
    /// Merges as git does since the last fork; conflicts go to one side, both, or stay.
    GitMerge(u64),
    DeleteLock,
    /// Files that git ignores are not copied.
    Clone,
}

fn op() -> impl Strategy<Value = Op> {
    let grade = prop_oneof![
        3 => Just(Grade::Verified), 2 => Just(Grade::Weak), 1 => Just(Grade::Refuted), 1 => Just(Grade::Unverifiable),
    ];
    prop_oneof![
        8 => (0u8..7, 0usize..3, 0u8..4).prop_map(|(part, at, version)| Op::Edit(part, at, version)),
        4 => (5u8..6, 0usize..3, 1u8..3).prop_map(|(part, at, version)| Op::Edit(part, at, version)),
        8 => (0usize..3, grade).prop_map(|(at, grade)| Op::Judge(at, grade)),
        2 => Just(Op::Switch),
        2 => Just(Op::Fork),
        3 => any::<u64>().prop_map(Op::Merge),
        4 => any::<u64>().prop_map(Op::GitMerge),
        4 => (0usize..3, 0u8..7, 0u8..7, any::<u64>()).prop_map(|(at, a, b, seed)| Op::Diverge(at, a, b, seed)),
        1 => Just(Op::DeleteLock),
        1 => Just(Op::Clone),
    ]
}

/// A repository with two branches, its history, and all verdicts that were ever given.
struct World {
    dir: tempfile::TempDir,
    here: Branch,
    there: Branch,
    /// What both branches were when they forked.
    base: Branch,
    store: Store,
    given: BTreeSet<(usize, Vec<u8>, String)>,
}

impl World {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = history(dir.path());
        let [here, there, base] = [(); 3].map(|()| Branch::default());
        Self { dir, here, there, base, store, given: BTreeSet::new() }
    }

    /// Writes the branch as files.
    fn write(&self, root: &Path) {
        self.here.texts.write(root);
        match &self.here.lock {
            Some(text) => std::fs::write(root.join(LOCK_FILE), text).unwrap(),
            None => drop(std::fs::remove_file(root.join(LOCK_FILE))),
        }
    }

    fn take(&mut self, op: &Op) {
        match *op {
            Op::Edit(part, at, version) => self.here.texts.set(part, at, version),
            Op::Judge(at, grade) => self.judge(at, grade),
            Op::Switch => std::mem::swap(&mut self.here, &mut self.there),
            Op::Fork => (self.there, self.base) = (self.here.clone(), self.here.clone()),
            Op::Merge(seed) => self.merge(&mut Coin(seed)),
            Op::GitMerge(seed) => self.git_merge(&mut Coin(seed)),
            Op::Diverge(at, here, there, seed) => {
                self.there = self.here.clone();
                for part in [there, here] {
                    std::mem::swap(&mut self.here, &mut self.there);
                    self.here.texts.rust[at] = 1;
                    let version = if self.here.texts.get(part, at) == 1 { 2 } else { 1 };
                    self.here.texts.set(part, at, version);
                    self.write(self.dir.path());
                    self.judge(at, Grade::Verified);
                }
                self.merge(&mut Coin(seed));
            }
            Op::DeleteLock => (self.here.lock, self.here.records) = (None, BTreeMap::new()),
            Op::Clone => {
                std::fs::remove_dir_all(self.dir.path().join(".implfuzz")).unwrap();
                self.store = history(self.dir.path());
            }
        }
        self.write(self.dir.path());
    }

    fn judge(&mut self, at: usize, grade: Grade) {
        let grade = match self.here.texts.rust[at] {
            0 => return,
            CHEAT => Grade::Refuted,
            _ => grade,
        };
        let root = self.dir.path();
        let (entry, lines) = entry(root, at, grade);
        // In a lock with conflicts nothing is recorded.
        let Ok(lock) = Lock::load(root) else { return };
        let mut lock = lock.unwrap_or_default();
        let [c, contract, harness, rust] = [
            &entry.fingerprint.c, &entry.fingerprint.contract, &entry.fingerprint.harness,
            &entry.fingerprint.rust,
        ];
        let row = LastVerdict {
            symbol: plan(at).function.key,
            c_hash: c.clone(),
            contract_hash: contract.clone(),
            harness_hash: harness.clone(),
            rust_hash: rust.clone(),
            seal: entry.seal.clone(),
            grade,
            shortcomings: Vec::new(),
        };
        self.store.put_verdict(&row).unwrap();
        lock.c.extend(lines);
        lock.symbols.insert(NAMES[at].into(), entry);
        self.here.lock = Some(lock.render());
        let (c, about) = (self.here.texts.c_of(at), self.here.texts.about(at));
        self.given.insert((at, about.clone(), grade.word().into()));
        self.here.records.insert(at, Record::Of(c, about, grade));
    }

    fn merge(&mut self, coin: &mut Coin) {
        let mut texts = self.here.texts;
        let theirs = self.there.texts;
        let mut of = |ours: &mut u8, theirs: u8| *ours = if coin.flip() { *ours } else { theirs };
        of(&mut texts.header, theirs.header);
        of(&mut texts.manifest, theirs.manifest);
        let lists = [
            (&mut texts.c, theirs.c),
            (&mut texts.contract, theirs.contract),
            (&mut texts.harness, theirs.harness),
            (&mut texts.rust, theirs.rust),
            (&mut texts.seeds, theirs.seeds),
        ];
        for (ours, theirs) in lists {
            (0..3).for_each(|at| of(&mut ours[at], theirs[at]));
        }
        self.here.texts = texts;
        if let (Some(ours), Some(theirs)) = (&self.here.lock, &self.there.lock) {
            let [ours, theirs] = [ours, theirs].map(|text| text.parse::<toml::Table>());
            let (Ok(ours), Ok(theirs)) = (ours, theirs) else { return };
            self.here.lock = Some(merged(&ours, &theirs, coin).to_string());
            // The C lines of one symbol may come from another symbol's verdict.
            (0..3).for_each(|at| drop(self.here.records.insert(at, Record::Mixed)));
        }
    }

    /// Texts that one side changed are that side's; of texts that both changed, one side's. Git merges the lock.
    fn git_merge(&mut self, coin: &mut Coin) {
        let (theirs, base) = (self.there.texts, self.base.texts);
        let mut of = |ours: &mut u8, theirs: u8, base: u8| {
            if *ours == base || (theirs != base && coin.flip()) {
                *ours = theirs;
            }
        };
        let ours = &mut self.here.texts;
        of(&mut ours.header, theirs.header, base.header);
        of(&mut ours.manifest, theirs.manifest, base.manifest);
        for at in 0..3 {
            of(&mut ours.c[at], theirs.c[at], base.c[at]);
            of(&mut ours.contract[at], theirs.contract[at], base.contract[at]);
            of(&mut ours.harness[at], theirs.harness[at], base.harness[at]);
            of(&mut ours.rust[at], theirs.rust[at], base.rust[at]);
            of(&mut ours.seeds[at], theirs.seeds[at], base.seeds[at]);
        }
        let locks = [&self.here, &self.base, &self.there].map(|branch| branch.lock.as_ref());
        let [Some(ours), Some(base), Some(theirs)] = locks else { return };
        let (lock, is_clean) = merge_file([ours, base, theirs], coin);
        self.here.lock = Some(lock);
        for at in 0..3 {
            let [ours, base, theirs] =
                [&self.here, &self.base, &self.there].map(|branch| branch.records.get(&at).cloned());
            let record = match is_clean {
                true if ours == base => theirs,
                true if theirs == base || theirs == ours => ours,
                _ => Some(Record::Mixed),
            };
            match record {
                Some(record) => drop(self.here.records.insert(at, record)),
                None => drop(self.here.records.remove(&at)),
            }
        }
    }

    /// All commands report the same, as the model expects.
    fn agree(&self) {
        let root = self.dir.path();
        let config = Config::default();
        let checkout = tempfile::tempdir().unwrap();
        self.write(checkout.path());
        let notes = root.join(NOTES);
        let [now, plain, copy] = [(root, Some(&*notes)), (root, None), (checkout.path(), None)]
            .map(|(root, notes)| status(root, &config, notes).map_err(|error| error.to_string()));
        assert_eq!(now, plain, "with and without notes");
        assert_eq!(now, copy, "in a checkout");
        // A lock with conflicts is an error for all, and for nothing else.
        let is_readable = Lock::load(root).is_ok();
        assert_eq!(now.is_ok(), is_readable, "{now:?}");
        let Ok(now) = now else { return };
        let checked = Checked::of(&now, &[], Least::Unverifiable).unwrap();
        let ports = NAMES.iter().filter(|name| now.of(name).unwrap().problem.is_none());
        let holding = ports.filter(|name| now.of(name).unwrap().state == Ported::Yes).count();
        assert_eq!(checked.holds.values().sum::<usize>(), holding);
        for (at, name) in NAMES.iter().enumerate() {
            let one = now.of(name).unwrap();
            self.consumers_agree(at, one, &checked);
            self.is_as_expected(at, one, &now);
        }
    }

    /// The git hook, which judges what is staged, says the same as `check`.
    fn hook_agrees(&self) {
        let (root, config, stop) = (self.dir.path(), Config::default(), Interrupt::none());
        std::fs::write(root.join(".gitignore"), ".implfuzz/\n").unwrap();
        for args in [&["init", "--quiet"][..], &["add", "--all"]] {
            assert!(Job::new("git").args(args).dir(root).run(&stop).unwrap().exit.success());
        }
        let staged = Hook::of(root, &stop).unwrap().staged(&stop).unwrap();
        let [now, hook] =
            [root, &staged.root()].map(|root| status(root, &config, None).map_err(|error| error.to_string()));
        assert_eq!(now, hook, "in the hook's checkout");
    }

    /// `check`, `verify --stale`, `status` and `port`.
    fn consumers_agree(&self, at: usize, one: &SymbolStatus, checked: &Checked) {
        let listed = checked.symbols.iter().find(|complaint| complaint.symbol == NAMES[at]);
        let trouble = one.problem.as_ref().map(|problem| problem.trouble);
        assert_eq!(listed.map(|complaint| complaint.trouble), trouble);
        let judgement: Judgement = last_judgement::one(&self.store, &plan(at), Some(one)).unwrap();
        assert_eq!(judgement.grade, one.grade());
        assert_eq!(judgement.trouble, trouble);
        if let Some(complaint) = listed {
            assert_eq!(judgement.reason.as_deref(), Some(complaint.reason.as_str()));
        }
        if one.state != Ported::Yes {
            assert_eq!((one.grade(), one.is_stale()), (Grade::Stub, false));
            return;
        }
        // A port that `check` lists is judged again before anything is built on it.
        match judgement.ask() {
            None => assert_eq!(trouble, Some(Trouble::Refuted)),
            Some(Ask::Short(_)) => assert!(trouble.is_none() && !one.is_stale()),
            Some(Ask::Whole) => assert!(one.is_stale() || trouble.is_none()),
        }
        assert_eq!(one.is_stale(), trouble.is_some_and(|t| t != Trouble::Refuted));
    }

    fn is_as_expected(&self, at: usize, one: &SymbolStatus, all: &Status) {
        let texts = &self.here.texts;
        let trouble = one.problem.as_ref().map(|problem| problem.trouble);
        // A verdict that holds was given on exactly these texts.
        if one.state == Ported::Yes && trouble.is_none() {
            let given = (at, texts.about(at), one.grade().word().to_owned());
            assert!(self.given.contains(&given), "{} holds and was never judged so: {all:#?}", NAMES[at]);
        }
        let expected = match (texts.rust[at], self.here.records.get(&at)) {
            (_, Some(Record::Mixed)) => return,
            (0, None) => None,
            (0, Some(_)) => Some(Trouble::Stub),
            (_, None) => Some(Trouble::Unjudged),
            (CHEAT, Some(Record::Of(c, _, _))) if *c == texts.c_of(at) => Some(Trouble::Audit),
            (_, Some(Record::Of(_, about, _))) if *about != texts.about(at) => Some(Trouble::Stale),
            (_, Some(Record::Of(_, _, Grade::Refuted))) => Some(Trouble::Refuted),
            (_, Some(Record::Of(..))) => None,
        };
        assert_eq!(trouble, expected, "{}: {one:#?}", NAMES[at]);
    }
}

fn history(root: &Path) -> Store {
    let mut store = Store::open(&root.join(".implfuzz/state.db")).unwrap();
    let rows: Vec<SymbolRow> = (0..3).map(|at| SymbolRow::of(&plan(at).function)).collect();
    store.save_symbols(&rows).unwrap();
    store
}

fn plan(at: usize) -> FunctionPlan {
    let c = syn::parse_str(&format!("fn {}(x: i32) -> i32", NAMES[at])).unwrap();
    FunctionPlan {
        function: fixture::function(NAMES[at]),
        c: CSignature::of(&c, []),
        judgeable: Judgeable::NotYet("it is a test".into()),
        edited: false,
        learned: false,
        target: None,
        wants_target: false,
        helpers: Vec::new(),
        shared: Vec::new(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]
    #[test]
    fn all_who_are_asked_for_the_status_agree(ops in prop::collection::vec(op(), 1..25)) {
        let mut world = World::new();
        world.write(world.dir.path());
        world.agree();
        for op in &ops {
            world.take(op);
            world.agree();
        }
        world.hook_agrees();
    }
}
