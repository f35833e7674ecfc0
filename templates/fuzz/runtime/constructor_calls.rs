//! Constructor calls that are known to make a handle. Every call sequence begins with one, and random
//! arguments seldom work.
//! Written by cargo-implfuzz.

use super::codec::Reader;
use super::sequence::{Entry, Erased, Held, Plan, holds};
use super::sequence_input::Step;
use std::cell::OnceCell;

/// Maximum number of such calls.
const GOOD: usize = 48;

thread_local! {
    static MADE: OnceCell<Vec<Step>> = const { OnceCell::new() };
    static STRANGERS: OnceCell<Vec<Step>> = const { OnceCell::new() };
}

/// Constructor calls after which C holds memory, else those that make a handle; the best constructors first.
pub fn good(plan: &'static Plan) -> Vec<Step> {
    MADE.with(|cell| cell.get_or_init(|| find_good(plan)).clone())
}

fn find_good(plan: &'static Plan) -> Vec<Step> {
    let by_maker: Vec<Vec<Step>> = plan.makers.iter().map(|maker| calls_that_hold(plan, maker)).collect();
    let share = (GOOD / plan.makers.len().max(1)).max(2);
    let pick = |at: usize| by_maker.iter().filter_map(move |list| list.get(at).cloned());
    (0..share).flat_map(pick).collect()
}

/// Constructor calls that make handles of another kind with the same type.
pub fn strangers(plan: &'static Plan) -> Vec<Step> {
    STRANGERS.with(|cell| {
        let others = plan.others.iter().filter(|entry| entry.name != plan.under.name);
        cell.get_or_init(|| {
            let lists = others.map(|entry| calls_that_hold(plan, entry));
            lists.flat_map(|list| list.into_iter().take(16)).collect()
        })
        .clone()
    })
}

/// Calls of this constructor after which C holds memory, or at least a handle.
fn calls_that_hold(plan: &'static Plan, maker: &'static Entry) -> Vec<Step> {
    let mut rng = Random(0x9e37_79b9_7f4a_7c15);
    let plain = (maker.on)(0);
    // A function that takes a handle finds none here.
    if holds(plan, maker, &plain) == Held::NoHandle {
        return Vec::new();
    }
    let mut tried: Vec<Erased> = (maker.boundaries)().into_iter().take(96).collect();
    tried.push(plain);
    tried.extend((0..240).map(|_| (maker.decode)(&mut Reader::new(&rng.bytes(48)))));
    let mut rated: Vec<(usize, Erased)> = Vec::new();
    for args in tried {
        if let Held::Blocks(blocks) = holds(plan, maker, &args) {
            rated.push((blocks, args));
        }
    }
    // A constructor that fails midway holds fewer blocks than one that works.
    let most = rated.iter().map(|(blocks, _)| *blocks).max().unwrap_or(0);
    rated.retain(|(blocks, _)| blocks * 2 >= most);
    rated.into_iter().map(|(_, args)| Step::Call(maker, args)).collect()
}

/// Random numbers that are the same in every run.
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() >> 11) as usize % n.max(1)
    }

    pub fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| (self.next() >> 24) as u8).collect()
    }
}
