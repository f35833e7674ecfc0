//! What an input says of a life: how the handle is made, what happens to it before the function under test is called, the
//! call, and what is asked afterwards. Written by cargo-implfuzz.

use super::codec::{Reader, Writer};
use super::report::Parts;
use super::sequence::{Entry, Erased, Held, Plan, holds};
use std::cell::OnceCell;

/// A step of a life.
#[derive(Clone)]
pub enum Step {
    Call(&'static Entry, Erased),
    Feed(Feed),
}

/// New memory for a field of a handle.
#[derive(Clone)]
pub struct Feed {
    pub which: u8,
    pub buffer: u8,
    pub source: Source,
}

/// What stands in that memory.
#[derive(Clone)]
pub enum Source {
    Content(Content),
    /// Room for so many bytes.
    Room(u16),
    /// What was written to memory that was given earlier.
    Earlier(u8),
}

/// Many bytes from a few: a piece, repeated, with a change here and there.
#[derive(Clone, Default)]
pub struct Content {
    piece: Vec<u8>,
    times: u8,
    noise: u8,
}

impl Content {
    fn decode(reader: &mut Reader) -> Self {
        let [n, times, noise] = reader.array();
        Self { piece: reader.take(usize::from(n)).to_vec(), times, noise }
    }

    fn encode(&self, writer: &mut Writer) {
        writer.put(&[self.piece.len() as u8, self.times, self.noise]);
        writer.put(&self.piece);
    }

    pub fn bytes(&self) -> Vec<u8> {
        let mut all = self.piece.repeat(usize::from(self.times));
        all.truncate(CONTENT);
        if self.noise > 0 {
            for at in (0..all.len()).step_by(usize::from(self.noise) * 3 + 1) {
                all[at] = all[at].wrapping_add((at >> 3) as u8);
            }
        }
        all
    }
}

/// Bytes of one content at most.
const CONTENT: usize = 16_384;
/// Steps before the call, and after it.
const BEFORE: usize = 12;
const AFTER: usize = 8;
/// Constructor calls that are known to work.
const GOOD: usize = 48;

pub struct Story {
    /// None where the function under test makes the handle itself.
    pub make: Option<Step>,
    pub before: Vec<Step>,
    /// Arguments of the function under test.
    pub call: Erased,
    pub after: Vec<Step>,
    /// Makes a handle where none is left for the call.
    pub spare: Step,
    /// What the file holds at the beginning, where there is one.
    pub file: Content,
}

thread_local! {
    static MADE: OnceCell<Vec<Step>> = const { OnceCell::new() };
    static STRANGERS: OnceCell<Vec<Step>> = const { OnceCell::new() };
}

/// Constructor calls after which C holds memory, else those that it survives; the best constructors first.
fn good(plan: &'static Plan) -> Vec<Step> {
    MADE.with(|cell| cell.get_or_init(|| find_good(plan)).clone())
}

fn find_good(plan: &'static Plan) -> Vec<Step> {
    let by_maker: Vec<Vec<Step>> = plan.makers.iter().map(|maker| calls_that_hold(plan, maker)).collect();
    let share = (GOOD / plan.makers.len().max(1)).max(2);
    let pick = |at: usize| by_maker.iter().filter_map(move |list| list.get(at).cloned());
    (0..share).flat_map(pick).collect()
}

/// Calls of constructors that make handles of another kind, which share the type.
fn strangers(plan: &'static Plan) -> Vec<Step> {
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
    // What takes a handle finds none here.
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
    // What fails half way holds less than what works.
    let most = rated.iter().map(|(blocks, _)| *blocks).max().unwrap_or(0);
    rated.retain(|(blocks, _)| blocks * 2 >= most);
    rated.into_iter().map(|(_, args)| Step::Call(maker, args)).collect()
}

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 11) as usize % n.max(1)
    }

    fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| (self.next() >> 24) as u8).collect()
    }
}

impl Step {
    fn aimed(&self, which: u8) -> Self {
        match self {
            Self::Call(entry, args) => Self::Call(entry, (entry.aimed)(&**args, which)),
            Self::Feed(feed) => Self::Feed(Feed { which, ..feed.clone() }),
        }
    }

    fn decode(plan: &'static Plan, reader: &mut Reader) -> Self {
        let kind = reader.array::<1>()[0];
        let makes = [plan.makers, plan.enders].concat();
        let pick = |list: &[&'static Entry], from: u8| list[usize::from(kind - from) % list.len()];
        let entry = match kind {
            0..0x40 if !plan.shape.buffers.is_empty() => return Self::Feed(Feed::decode(reader)),
            0x40..0x70 => plan.under,
            0xf0.. if !makes.is_empty() => pick(&makes, 0xf0),
            0x70.. if !plan.others.is_empty() => pick(plan.others, 0x70),
            _ => plan.under,
        };
        Self::Call(entry, (entry.decode)(reader))
    }

    fn encode(&self, plan: &'static Plan, writer: &mut Writer) {
        match self {
            Self::Feed(feed) => {
                writer.put(&[0]);
                feed.encode(writer);
            }
            Self::Call(entry, args) => {
                let at = |list: &[&'static Entry]| list.iter().position(|e| e.name == entry.name);
                let makes = [plan.makers, plan.enders].concat();
                let kind = match (entry.name == plan.under.name, at(plan.others), at(&makes)) {
                    (true, ..) => 0x40,
                    (_, Some(other), _) => 0x70 + other as u8,
                    (.., Some(maker)) => 0xf0 + maker as u8,
                    _ => 0x40,
                };
                writer.put(&[kind]);
                (entry.encode)(&**args, writer);
            }
        }
    }
}

impl Feed {
    fn decode(reader: &mut Reader) -> Self {
        let [place, kind] = reader.array();
        let source = match kind % 4 {
            0 => Source::Content(Content::decode(reader)),
            1 => Source::Room(u16::from_le_bytes(reader.array())),
            _ => Source::Earlier(kind >> 2),
        };
        Self { which: place & 1, buffer: place >> 1, source }
    }

    fn encode(&self, writer: &mut Writer) {
        let place = self.which & 1 | self.buffer << 1;
        match &self.source {
            Source::Content(content) => {
                writer.put(&[place, 0]);
                content.encode(writer);
            }
            Source::Room(n) => {
                writer.put(&[place, 1]);
                writer.put(&n.to_le_bytes());
            }
            Source::Earlier(k) => writer.put(&[place, k << 2 | 2]),
        }
    }

    fn show(&self, plan: &Plan) -> String {
        let buffers = plan.shape.buffers;
        let name = buffers.get(usize::from(self.buffer) % buffers.len().max(1)).map_or("", |b| b.name);
        let what = match &self.source {
            Source::Content(content) => super::codec::show_slice(&content.bytes()),
            Source::Room(n) => format!("room for {n} bytes"),
            Source::Earlier(k) => format!("what was written earlier (memory {k})"),
        };
        format!("{name} of handle {} = {what}", self.which)
    }
}

/// The constructor call: one that is known to work, by its number, or any.
fn decode_make(plan: &'static Plan, reader: &mut Reader) -> Step {
    let tag = reader.array::<1>()[0];
    let known = good(plan);
    if tag < 0xc0 && !known.is_empty() {
        return known[usize::from(tag) % known.len()].clone();
    }
    let maker = plan.makers[usize::from(tag & 0x3f) % plan.makers.len()];
    Step::Call(maker, (maker.decode)(reader))
}

fn encode_make(plan: &'static Plan, step: &Step, writer: &mut Writer) {
    let Step::Call(entry, args) = step else { return };
    let bytes = |args: &Erased| {
        let mut own = Writer::default();
        (entry.encode)(&**args, &mut own);
        own.bytes
    };
    let own = bytes(args);
    let is_same = |other: &Step| {
        matches!(other, Step::Call(maker, args) if maker.name == entry.name && bytes(args) == own)
    };
    match good(plan).iter().position(is_same) {
        Some(at) => writer.put(&[at as u8]),
        None => {
            let at = plan.makers.iter().position(|maker| maker.name == entry.name).unwrap_or(0);
            writer.put(&[0xc0 | at as u8]);
            writer.put(&own);
        }
    }
}

impl Story {
    pub fn decode(plan: &'static Plan, reader: &mut Reader) -> Self {
        let file = match plan.shape.file {
            Some(_) => Content::decode(reader),
            None => Content::default(),
        };
        let make = (!plan.makes).then(|| decode_make(plan, reader));
        let call = match plan.makes {
            true => {
                let Step::Call(_, args) = decode_make(plan, reader) else { unreachable!("constructors are calls") };
                args
            }
            false => (plan.under.decode)(reader),
        };
        let [before, after] = reader.array();
        let mut steps = |n: usize| -> Vec<Step> {
            (0..n).map_while(|_| (reader.left() > 0).then(|| Step::decode(plan, reader))).collect()
        };
        let before = steps(usize::from(before) % (BEFORE + 1));
        let after = steps(usize::from(after) % (AFTER + 1));
        Self { make, before, call, after, spare: spare(plan), file }
    }

    pub fn encode(&self, plan: &'static Plan, writer: &mut Writer) {
        if plan.shape.file.is_some() {
            self.file.encode(writer);
        }
        match &self.make {
            Some(make) => {
                encode_make(plan, make, writer);
                (plan.under.encode)(&*self.call, writer);
            }
            None => encode_make(plan, &Step::Call(plan.under, self.call.clone()), writer),
        }
        writer.put(&[self.before.len() as u8, self.after.len() as u8]);
        for step in self.before.iter().chain(&self.after) {
            step.encode(plan, writer);
        }
    }

    pub fn show(&self, plan: &'static Plan) -> Parts {
        let mut parts = Parts::new();
        parts.extend(plan.shape.file.map(|name| (name.to_owned(), super::codec::show_slice(&self.file.bytes()))));
        let call = Step::Call(plan.under, self.call.clone());
        let all = self.make.iter().chain(&self.before).chain([&call]).chain(&self.after);
        for (at, step) in all.enumerate() {
            match step {
                Step::Feed(feed) => parts.push((format!("{}.", at + 1), feed.show(plan))),
                Step::Call(entry, args) => {
                    let args = (entry.show)(&**args).into_iter().map(|(name, value)| format!("{name} = {value}"));
                    let args = args.collect::<Vec<_>>().join(", ");
                    parts.push((format!("{}.", at + 1), format!("{}({args})", entry.name)));
                }
            }
        }
        parts
    }

    /// Lives worth trying first: every boundary of the call on a fresh handle, then after random steps.
    pub fn boundaries(plan: &'static Plan) -> Vec<Self> {
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
                let produced = if at % 5 < 2 { producer(plan, &mut rng) } else { None };
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
                Self { make, before, call, after, spare: spare(plan), file }
            })
            .collect()
    }
}

/// How many lives are tried first.
const STORIES: usize = 320;

fn spare(plan: &'static Plan) -> Step {
    let plain = || plan.makers.first().map(|maker| Step::Call(maker, (maker.on)(0)));
    good(plan).into_iter().next().or_else(plain).unwrap_or_else(|| Step::Call(plan.under, (plan.under.on)(0)))
}

/// Content for each field that takes some.
fn fed(plan: &'static Plan, which: u8, rng: &mut Random) -> Vec<Step> {
    let count = plan.shape.buffers.len().min(4);
    (0..count).map(|at| feed(which, at as u8, rng)).collect()
}

/// The file is written by one handle and read by the next.
fn reopened(plan: &'static Plan, rng: &mut Random) -> Vec<Step> {
    let mut steps: Vec<Step> = (0..1 + rng.below(3)).map(|_| any_step(plan, rng)).collect();
    steps.extend(plan.enders.iter().min_by_key(|entry| entry.name.len()).map(|entry| Step::Call(entry, (entry.on)(0))));
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

/// Some steps.
fn past(plan: &'static Plan, rng: &mut Random) -> Vec<Step> {
    let mut steps = fed(plan, 0, rng);
    steps.extend((0..rng.below(5)).map(|_| any_step(plan, rng)));
    steps.truncate(BEFORE);
    steps
}

/// A handle of another kind writes what the handle under test then reads: what one half of a library makes is what
/// the other half takes.
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
    // The second memory that was given is what the stranger wrote to.
    steps.push(Step::Feed(Feed { which: 0, buffer: 0, source: Source::Earlier(1) }));
    steps.push(room(0, [3, 200, 20_000, 20_000][rng.below(4)]));
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
