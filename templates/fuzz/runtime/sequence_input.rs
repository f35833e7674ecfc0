//! A call sequence in an input: how the handle is made, the steps before the call under test, the call, and
//! the calls after it.
//! Written by cargo-implfuzz.

use super::codec::{Reader, Writer};
use super::report::Parts;
use super::sequence_boundaries::spare;
use super::constructor_calls::good;
use super::sequence::{Entry, Erased, Plan};

/// A step of a call sequence.
#[derive(Clone)]
pub enum Step {
    Call(&'static Entry, Erased),
    Feed(Feed),
    Spoil(Spoil),
}

/// Changes the file on which handles are opened.
#[derive(Clone)]
pub struct Spoil {
    pub at: u16,
    /// The byte at `at` is XORed with this; 0 truncates the file there.
    pub with: u8,
}

/// New memory for a field of a handle.
#[derive(Clone)]
pub struct Feed {
    pub which: u8,
    pub buffer: u8,
    pub source: Source,
}

/// The content of that memory.
#[derive(Clone)]
pub enum Source {
    Content(Content),
    /// Room for this number of bytes.
    Room(u16),
    /// The data that was written to memory given earlier.
    Earlier(u8),
}

/// A long content from few bytes: a repeated piece with some changes.
#[derive(Clone, Default)]
pub struct Content {
    pub piece: Vec<u8>,
    pub times: u8,
    pub noise: u8,
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

/// Maximum size of one content, bytes.
const CONTENT: usize = 16_384;
/// Maximum number of steps before the call, and after it.
pub const BEFORE: usize = 12;
pub const AFTER: usize = 8;
pub struct Story {
    /// `None` if the function under test makes the handle itself.
    pub make: Option<Step>,
    pub before: Vec<Step>,
    /// Arguments of the function under test.
    pub call: Erased,
    pub after: Vec<Step>,
    /// Makes a handle if none is left for the call.
    pub spare: Step,
    /// The content of the file at the beginning, if there is a file.
    pub file: Content,
    /// The number of the allocation that fails in the call under test, from 1; 0 for none.
    pub fail: u8,
}

impl Step {
    pub fn aimed(&self, which: u8) -> Self {
        match self {
            Self::Call(entry, args) => Self::Call(entry, (entry.aimed)(&**args, which)),
            Self::Feed(feed) => Self::Feed(Feed { which, ..feed.clone() }),
            Self::Spoil(spoil) => Self::Spoil(spoil.clone()),
        }
    }

    pub fn decode(plan: &'static Plan, reader: &mut Reader) -> Self {
        let kind = reader.array::<1>()[0];
        let makes = [plan.makers, plan.enders].concat();
        let pick = |list: &[&'static Entry], from: u8| list[usize::from(kind - from) % list.len()];
        let entry = match kind {
            0..0x10 if plan.shape.file.is_some() => {
                let [low, high, with] = reader.array();
                return Self::Spoil(Spoil { at: u16::from_le_bytes([low, high]), with });
            }
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
            Self::Spoil(spoil) => {
                writer.put(&[0]);
                writer.put(&spoil.at.to_le_bytes());
                writer.put(&[spoil.with]);
            }
            Self::Feed(feed) => {
                writer.put(&[0x10]);
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

impl Spoil {
    fn show(&self) -> String {
        match self.with {
            0 => format!("the file ends at byte {}", self.at),
            with => format!("byte {} of the file is mixed with {with:#04x}", self.at),
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
            Source::Content(content) => super::codec::show_bytes(&content.bytes()),
            Source::Room(n) => format!("room for {n} bytes"),
            Source::Earlier(k) => format!("what was written earlier (memory {k})"),
        };
        format!("{name} of handle {} = {what}", self.which)
    }
}

/// A constructor call: a known good one by its number, or any.
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
        let fail = match plan.shape.fails {
            true => reader.array::<1>()[0].saturating_sub(0xe0),
            false => 0,
        };
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
        Self { make, before, call, after, spare: spare(plan), file, fail }
    }

    pub fn encode(&self, plan: &'static Plan, writer: &mut Writer) {
        if plan.shape.fails {
            writer.put(&[if self.fail == 0 { 0 } else { 0xe0 + self.fail.min(31) }]);
        }
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
        parts.extend(plan.shape.file.map(|name| (name.to_owned(), super::codec::show_bytes(&self.file.bytes()))));
        if self.fail > 0 {
            parts.push(("memory".into(), format!("allocation {} of the call fails", self.fail)));
        }
        let call = Step::Call(plan.under, self.call.clone());
        let all = self.make.iter().chain(&self.before).chain([&call]).chain(&self.after);
        for (at, step) in all.enumerate() {
            match step {
                Step::Spoil(spoil) => parts.push((format!("{}.", at + 1), spoil.show())),
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
}
