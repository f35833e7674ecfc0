//! Call sequences for boundary inputs: every boundary of the call under test on a fresh handle, then after
//! other steps.
//! Written by cargo-implfuzz.

use super::codec::Reader;
use super::constructor_calls::{Random, good, strangers};
use super::sequence::{Entry, Erased, Plan};
use super::sequence_input::{AFTER, BEFORE, Content, Feed, Source, Spoil, Step, Story};

/// The boundary call sequences.
pub fn boundaries(plan: &'static Plan) -> Vec<Story> {
    let mut rng = Random(0x2545_f491_4f6c_dd1d);
    let good = good(plan);
    let mut calls: Vec<Erased> = (plan.under.boundaries)();
    if plan.makes {
        let own = |step: &Step| match step {
            Step::Call(entry, args) if entry.name == plan.under.name => Some(args.clone()),
            _ => None,
        };
        calls = good.iter().filter_map(own).chain(calls.into_iter().take(100)).collect();
    }
    (0..STORIES)
        .map(|at| {
            let fresh = at < calls.len() && at < STORIES / 2;
            let call = match rng.below(4) {
                0 if !fresh && !plan.makes => (plan.under.decode)(&mut Reader::new(&rng.bytes(64))),
                _ if fresh => calls[at].clone(),
                _ => calls[rng.below(calls.len())].clone(),
            };
            let make = (!plan.makes).then(|| match good.is_empty() {
                true => spare(plan),
                false => good[rng.below(good.len())].clone(),
            });
            let produced = match at % 5 {
                0 | 1 => producer(plan, &mut rng),
                2 | 3 if !fresh => after_one(plan, at / 5, &mut rng),
                _ => None,
            };
            let make = if produced.is_some() { make.map(|step| step.aimed(0)) } else { make };
            let before = match produced {
                Some(steps) => steps,
                None if fresh => fed(plan, 0, &mut rng),
                None => past(plan, &mut rng),
            };
            let (before, file) = match plan.shape.file {
                Some(_) if at % 2 == 0 => (reopened(plan, &mut rng), Content::default()),
                Some(_) => (before, content(&mut rng)),
                None => (before, Content::default()),
            };
            let after = (0..rng.below(AFTER)).map(|_| any_step(plan, &mut rng)).collect();
            let fail = if plan.shape.fails && at % 4 == 3 { 1 + rng.below(6) as u8 } else { 0 };
            Story { make, before, call, after, spare: spare(plan), file, fail }
        })
        .collect()
}

/// Number of boundary call sequences.
const STORIES: usize = 480;

pub fn spare(plan: &'static Plan) -> Step {
    let plain = || plan.makers.first().map(|maker| Step::Call(maker, (maker.on)(0)));
    good(plan).into_iter().next().or_else(plain).unwrap_or_else(|| Step::Call(plan.under, (plan.under.on)(0)))
}

/// Content for each field of a handle that points to memory.
fn fed(plan: &'static Plan, which: u8, rng: &mut Random) -> Vec<Step> {
    let count = plan.shape.buffers.len().min(4);
    (0..count).map(|at| feed(which, at as u8, rng)).collect()
}

/// One handle writes the file, and the next one reads it.
fn reopened(plan: &'static Plan, rng: &mut Random) -> Vec<Step> {
    let mut steps: Vec<Step> = (0..1 + rng.below(3)).map(|_| any_step(plan, rng)).collect();
    steps.extend(plan.enders.iter().min_by_key(|entry| entry.name.len()).map(|entry| Step::Call(entry, (entry.on)(0))));
    if rng.below(3) == 0 {
        let [low, high, with] = [rng.below(40), rng.below(4), rng.below(3) * rng.below(256)];
        steps.push(Step::Spoil(Spoil { at: (high << 8 | low) as u16, with: with as u8 }));
    }
    let known = good(plan);
    if !known.is_empty() {
        steps.push(known[rng.below(known.len())].clone());
    }
    steps.extend((0..rng.below(3)).map(|_| any_step(plan, rng)));
    steps.truncate(BEFORE);
    steps
}

fn content(rng: &mut Random) -> Content {
    let random = rng.bytes(32);
    let piece = if rng.below(3) == 0 { &random } else { PIECES[rng.below(PIECES.len())] };
    let (times, noise) = (rng.below(256) as u8, (rng.below(3) * rng.below(40)) as u8);
    Content { piece: piece.to_vec(), times, noise }
}

const PIECES: [&[u8]; 6] =
    [b"abcabcabd", b"The quick brown fox. ", &[0], &[0xff, 0, 7, 8, 9, 200, 31], b"aaaab", b"x"];

fn feed(which: u8, buffer: u8, rng: &mut Random) -> Step {
    let source = match rng.below(5) {
        0 | 1 => Source::Content(content(rng)),
        2 => Source::Room([1, 5, 64, 1000, 20_000][rng.below(5)]),
        3 => Source::Room(8192),
        _ => Source::Earlier(rng.below(4) as u8),
    };
    Step::Feed(Feed { which, buffer, source })
}

/// Some random steps.
fn past(plan: &'static Plan, rng: &mut Random) -> Vec<Step> {
    let mut steps = fed(plan, 0, rng);
    steps.extend((0..rng.below(5)).map(|_| any_step(plan, rng)));
    steps.truncate(BEFORE);
    steps
}

/// Prepares the handle with one other function, taking the functions in turn. Fields get content to read and
/// room to write to.
fn after_one(plan: &'static Plan, turn: usize, rng: &mut Random) -> Option<Vec<Step>> {
    // The most closely related functions come first; every second turn uses one of them.
    let kin = if turn % 2 == 0 { plan.others.len() } else { plan.others.len().min(12) };
    let entry = *plan.others.get(turn / 2 % kin.max(1))?;
    let list = (entry.boundaries)();
    let mut steps = Vec::new();
    for buffer in 0..plan.shape.buffers.len().min(4) as u8 {
        let source = match buffer {
            0 => Source::Content(content(rng)),
            _ => Source::Room([64, 1000, 20_000, 20_000][rng.below(4)]),
        };
        steps.push(Step::Feed(Feed { which: 0, buffer, source }));
    }
    for _ in 0..=rng.below(3) {
        steps.push(Step::Call(entry, list[rng.below(list.len())].clone()).aimed(0));
    }
    if rng.below(2) == 0 {
        steps.extend(work(plan, rng));
    }
    if !plan.makes && rng.below(3) == 0 {
        steps.push(Step::Call(plan.under, (plan.under.decode)(&mut Reader::new(&rng.bytes(64)))).aimed(0));
        steps.extend(work(plan, rng));
    }
    Some(steps)
}

/// The main operation of handles of this kind: among the functions whose name begins like the constructor's,
/// the one with the shortest name.
fn work(plan: &'static Plan, rng: &mut Random) -> Option<Step> {
    let maker = plan.makers.first()?.name;
    let common = |name: &str| name.bytes().zip(maker.bytes()).take_while(|(a, b)| a == b).count();
    let kin = plan.others.iter().filter(|other| common(other.name) >= 3);
    let entry = *kin.min_by_key(|other| (std::cmp::Reverse(common(other.name)), other.name.len()))?;
    Some(Step::Call(entry, (entry.decode)(&mut Reader::new(&rng.bytes(32)))).aimed(0))
}

/// A handle of another kind writes data that the handle under test then reads, because the output of one half
/// of a library is often the input of the other.
fn producer(plan: &'static Plan, rng: &mut Random) -> Option<Vec<Step>> {
    let strangers = strangers(plan);
    if plan.makes || strangers.is_empty() || plan.shape.buffers.len() < 2 {
        return None;
    }
    let maker = strangers[rng.below(strangers.len())].aimed(1);
    let Step::Call(entry, _) = &maker else { return None };
    let common = |name: &str| name.bytes().zip(entry.name.bytes()).take_while(|(a, b)| a == b).count();
    let mut works: Vec<&'static Entry> =
        plan.others.iter().copied().filter(|other| other.name != entry.name && common(other.name) >= 3).collect();
    works.sort_by_key(|other| other.name.len());
    let main = *works.first()?;
    let mut steps = vec![maker, feed(1, 0, rng)];
    let room = |which, n| Step::Feed(Feed { which, buffer: 1, source: Source::Room(n) });
    steps.push(room(1, 20_000));
    if rng.below(3) == 0 {
        let other = works[rng.below(works.len())];
        steps.push(Step::Call(other, (other.decode)(&mut Reader::new(&rng.bytes(32)))).aimed(1));
    }
    for _ in 0..=rng.below(2) {
        steps.push(Step::Call(main, (main.decode)(&mut Reader::new(&rng.bytes(32)))).aimed(1));
    }
    // The second memory that a field got is the output of the other handle.
    steps.push(Step::Feed(Feed { which: 0, buffer: 0, source: Source::Earlier(1) }));
    steps.push(room(0, [3, 200, 20_000, 20_000][rng.below(4)]));
    if rng.below(3) > 0 {
        steps.extend(work(plan, rng));
    }
    Some(steps)
}

fn any_step(plan: &'static Plan, rng: &mut Random) -> Step {
    let which = rng.below(2) as u8;
    match rng.below(6) {
        0 if !plan.shape.buffers.is_empty() => feed(which, rng.below(plan.shape.buffers.len()) as u8, rng),
        1 if !plan.makes => Step::Call(plan.under, (plan.under.decode)(&mut Reader::new(&rng.bytes(64)))),
        2 | 3 if !plan.others.is_empty() => {
            let entry = plan.others[rng.below(plan.others.len())];
            let list = (entry.boundaries)();
            Step::Call(entry, list[rng.below(list.len())].clone())
        }
        _ => Step::decode(plan, &mut Reader::new(&rng.bytes(96))),
    }
}
