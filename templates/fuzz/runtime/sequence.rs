//! Functions on handles: runs a call sequence from a constructor to the destructors on one side. Both sides
//! run the same steps on separate handles; every step runs as C except calls of the function under test.
//! Written by cargo-implfuzz.

use super::codec::{Reader, Writer};
use super::counts::{NO_HANDLE, UNCOMPARED};
use super::driver::Case;
use super::guard::{self, Broke};
use super::ledger;
use super::picture::Picture;
use super::plain::Plain;
use super::digest::Digest;
use super::record::Record;
use super::report::Parts;
use super::sequence_boundaries;
use super::sequence_input::{Story, Step};
use super::stretch::Extent;
use super::sequence_state::{Shape, World};
use std::any::Any;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::rc::Rc;

/// The generated code for one function on handles.
pub trait Operation {
    type Args: Clone + 'static;
    type Effects: 'static;
    fn decode(reader: &mut Reader) -> Self::Args;
    fn encode(args: &Self::Args, writer: &mut Writer);
    fn show(args: &Self::Args) -> Parts;
    fn plain(args: &Self::Args) -> Plain;
    fn of_plain(plain: &Plain) -> Result<Self::Args, String>;
    fn boundaries() -> Vec<Self::Args>;
    fn extents() -> &'static [Extent] {
        &[]
    }
    fn resize(_args: &mut Self::Args, _part: usize, _n: usize) {}
    fn admits(args: &Self::Args) -> bool;
    /// Sets all handles among the arguments to this one.
    fn aim(args: &mut Self::Args, which: u8);
    fn original() -> *const c_void;
    /// Calls C, or `callee` with the same signature; `None` if there is no handle for the call.
    fn oracle(args: &Self::Args, callee: *const c_void, world: &mut World) -> Result<Option<Self::Effects>, Broke>;
    /// Calls the port; `Err` names memory that it wrote out of bounds.
    fn subject(args: &Self::Args, world: &mut World) -> Result<Option<Self::Effects>, String>;
    fn differs(oracle: &Self::Effects, subject: &Self::Effects) -> Option<String>;
    fn effects(effects: &Self::Effects) -> Parts;
    fn left(effects: &Self::Effects) -> Plain;
    fn record(effects: &Self::Effects) -> Record;
}

/// Arguments or effects of any operation.
pub type Erased = Rc<dyn Any>;

/// An operation with erased types, so that a list can contain several.
pub struct Entry {
    pub name: &'static str,
    pub decode: fn(&mut Reader) -> Erased,
    pub encode: fn(&dyn Any, &mut Writer),
    pub show: fn(&dyn Any) -> Parts,
    pub plain: fn(&dyn Any) -> Plain,
    pub of_plain: fn(&Plain) -> Result<Erased, String>,
    pub boundaries: fn() -> Vec<Erased>,
    pub extents: fn() -> &'static [Extent],
    /// The same arguments with one part resized.
    pub resized: fn(&dyn Any, usize, usize) -> Erased,
    pub admits: fn(&dyn Any) -> bool,
    /// The simplest arguments on this handle.
    pub on: fn(u8) -> Erased,
    /// The same arguments on this handle.
    pub aimed: fn(&dyn Any, u8) -> Erased,
    pub original: fn() -> *const c_void,
    oracle: fn(&dyn Any, *const c_void, &mut World) -> Result<Option<Erased>, Broke>,
    subject: fn(&dyn Any, &mut World) -> Result<Option<Erased>, String>,
    differs: fn(&dyn Any, &dyn Any) -> Option<String>,
    effects: fn(&dyn Any) -> Parts,
    left: fn(&dyn Any) -> Plain,
    record: fn(&dyn Any) -> Record,
}

fn cast<T: 'static>(value: &dyn Any) -> &T {
    value.downcast_ref().expect("an entry gets only what it has made itself")
}

fn erase<T: 'static>(value: T) -> Erased {
    Rc::new(value)
}

impl Entry {
    pub const fn of<O: Operation>(name: &'static str) -> Self {
        Self {
            name,
            decode: |reader| erase(O::decode(reader)),
            encode: |args, writer| O::encode(cast(args), writer),
            show: |args| O::show(cast(args)),
            plain: |args| O::plain(cast(args)),
            of_plain: |plain| O::of_plain(plain).map(erase),
            boundaries: || O::boundaries().into_iter().map(erase).collect(),
            extents: O::extents,
            resized: |args, part, n| {
                let mut args = cast::<O::Args>(args).clone();
                O::resize(&mut args, part, n);
                erase(args)
            },
            admits: |args| O::admits(cast(args)),
            on: |which| {
                let mut args = O::decode(&mut Reader::new(&[]));
                O::aim(&mut args, which);
                erase(args)
            },
            aimed: |args, which| {
                let mut args = cast::<O::Args>(args).clone();
                O::aim(&mut args, which);
                erase(args)
            },
            original: O::original,
            oracle: |args, callee, world| Ok(O::oracle(cast(args), callee, world)?.map(erase)),
            subject: |args, world| Ok(O::subject(cast(args), world)?.map(erase)),
            differs: |a, b| O::differs(cast(a), cast(b)),
            effects: |effects| O::effects(cast(effects)),
            left: |effects| O::left(cast(effects)),
            record: |effects| O::record(cast(effects)),
        }
    }
}

/// The functions with which a function under test is called in sequences.
pub struct Plan {
    pub under: &'static Entry,
    /// Whether it makes handles itself.
    pub makes: bool,
    pub makers: &'static [&'static Entry],
    pub others: &'static [&'static Entry],
    pub enders: &'static [&'static Entry],
    pub shape: Shape,
}

pub trait UnderTest: 'static {
    fn plan() -> &'static Plan;
}

/// What replaces the function under test.
#[derive(Clone, Copy)]
pub enum Side {
    C(*const c_void),
    Port,
}

/// Why a call sequence ended early.
pub enum Stop {
    Broke(String),
    /// The port wrote out of the bounds of this memory.
    Damage(String),
}

/// The result of one step.
struct Done {
    entry: Option<&'static Entry>,
    effects: Option<Erased>,
    picture: Option<Picture>,
    /// The number of the handle that the step made, and of the one that it got instead of the requested one.
    made: Option<u8>,
    instead: Option<u8>,
}

impl Done {
    /// A step that called nothing.
    fn without_call(entry: Option<&'static Entry>) -> Self {
        Self { entry, effects: None, picture: None, made: None, instead: None }
    }
}

/// All effects of a call sequence on one side.
#[derive(Default)]
pub struct Trace {
    steps: Vec<Done>,
    /// Number of blocks that are not freed at the end, and of frees of memory that was not allocated.
    live: usize,
    bad_frees: usize,
    /// Number of descriptors that stay open, and the content of the file.
    open: usize,
    file: Option<Vec<u8>>,
    /// All memory after the last step, before the destructors run.
    last: Option<Picture>,
    /// No handle was left for the call, so one was made that the input does not mention.
    spare: bool,
    /// A call got another handle than the input names.
    is_mistaken: bool,
    /// Why C could not continue after the port, if so.
    broke: Option<String>,
}

/// Maximum number of pictures in a sequence; large handles are copied as a whole.
const PICTURES: usize = 4;

/// Runs one step; returns whether the sequence continues.
fn step(plan: &'static Plan, step: &Step, side: Side, world: &mut World, trace: &mut Trace) -> Result<bool, Stop> {
    let (entry, args) = match step {
        Step::Feed(feed) => {
            world.feed(feed);
            trace.steps.push(Done::without_call(None));
            return Ok(true);
        }
        Step::Spoil(spoil) => {
            world.spoil(spoil);
            trace.steps.push(Done::without_call(None));
            return Ok(true);
        }
        Step::Call(entry, args) => (*entry, &**args),
    };
    let is_under = entry.name == plan.under.name;
    if !(entry.admits)(args) {
        trace.steps.push(Done::without_call(Some(entry)));
        return Ok(true);
    }
    let before = world.live();
    world.forget_result();
    let effects = match (side, is_under) {
        (Side::Port, true) => (entry.subject)(args, world).map_err(Stop::Damage)?,
        (Side::C(callee), true) => (entry.oracle)(args, callee, world).map_err(|Broke(why)| Stop::Broke(why))?,
        (Side::C(_), false) => {
            (entry.oracle)(args, (entry.original)(), world).map_err(|Broke(why)| Stop::Broke(why))?
        }
        // A call that was just in time on C's side may take longer here.
        (Side::Port, false) => match guard::patiently(|| (entry.oracle)(args, (entry.original)(), world)) {
            Ok(effects) => effects,
            Err(Broke(why)) => {
                trace.broke = Some(format!("C breaks in `{}`: {why}", entry.name));
                return Ok(false);
            }
        },
    };
    let pictures = trace.steps.iter().filter(|done| done.picture.is_some()).count();
    let is_taken = is_under && effects.is_some() && pictures < PICTURES;
    let picture = is_taken.then(|| pictured(world, side)).transpose()?;
    let made = world.live() & !before;
    let made = (made != 0).then(|| made.trailing_zeros() as u8);
    trace.steps.push(Done { entry: Some(entry), effects, picture, made, instead: world.instead() });
    Ok(true)
}

/// A picture of the handles. That of C must show all of them: what it lacks would be compared as nothing.
fn pictured(world: &World, side: Side) -> Result<Picture, Stop> {
    let picture = world.picture();
    match side {
        Side::C(_) if picture.lacks_a_handle() => Err(Stop::Broke(UNCOMPARED.into())),
        Side::C(_) | Side::Port => Ok(picture),
    }
}

/// Runs a whole call sequence on one side.
pub fn live(plan: &'static Plan, story: &Story, side: Side) -> Result<Trace, Stop> {
    ledger::start();
    let mut world = World::new(&plan.shape, matches!(side, Side::Port));
    let mut trace = Trace::default();
    world.write_file(&story.file.bytes());
    let ended = steps(plan, story, side, &mut world, &mut trace);
    trace.is_mistaken = world.is_mistaken();
    (trace.open, trace.file) = world.close_files();
    // The destructors have run; blocks that remain are counted.
    trace.live = ledger::live();
    trace.bad_frees = ledger::bad_frees();
    ledger::release();
    ended?;
    if !world.intact() {
        return Err(Stop::Damage("the memory that a handle points to".into()));
    }
    Ok(trace)
}

/// What C holds after a constructor call.
#[derive(PartialEq, Eq)]
pub enum Held {
    /// A handle, and this number of blocks.
    Blocks(usize),
    /// The function needs a handle itself.
    NoHandle,
    /// C broke, or made no handle.
    Nothing,
}

/// Calls a function without any handle, as a constructor is called.
pub fn holds(plan: &'static Plan, maker: &'static Entry, args: &Erased) -> Held {
    ledger::start();
    let mut world = World::new(&plan.shape, false);
    world.write_file(b"some text\n");
    let made = (maker.admits)(&**args).then(|| (maker.oracle)(&**args, (maker.original)(), &mut world));
    let live = ledger::live();
    let is_made = world.any_live();
    world.close_files();
    ledger::release();
    match made {
        Some(Ok(Some(_))) if is_made => Held::Blocks(live),
        Some(Ok(None)) => Held::NoHandle,
        _ => Held::Nothing,
    }
}

/// Runs a step in which the allocation with this number fails; 0 for none.
fn step_failing(
    fail: u8,
    plan: &'static Plan,
    next: &Step,
    side: Side,
    world: &mut World,
    trace: &mut Trace,
) -> Result<bool, Stop> {
    ledger::fail(fail);
    let goes_on = step(plan, next, side, world, trace);
    ledger::fail(0);
    goes_on
}

fn steps(
    plan: &'static Plan,
    story: &Story,
    side: Side,
    world: &mut World,
    trace: &mut Trace,
) -> Result<(), Stop> {
    let mut list: Vec<Step> = story.make.iter().chain(&story.before).cloned().collect();
    list.push(Step::Call(plan.under, story.call.clone()));
    list.extend(story.after.iter().cloned());
    let call = list.len() - 1 - story.after.len();
    for (at, next) in list.iter().enumerate() {
        let fail = if at == call { story.fail } else { 0 };
        let mut goes_on = step_failing(fail, plan, next, side, world, trace)?;
        // The function under test is called even if earlier steps left no handle.
        let is_lost = goes_on && at == call && !plan.makes && !world.any_live();
        if is_lost && trace.steps.last().is_some_and(|done| done.effects.is_none()) {
            trace.steps.pop();
            trace.spare = true;
            goes_on = step(plan, &story.spare, side, world, trace)?
                && step_failing(fail, plan, next, side, world, trace)?;
        }
        if !goes_on {
            return Ok(());
        }
    }
    trace.last = Some(pictured(world, side)?);
    for which in world.live_ones() {
        let Some(ender) = world.ender(which, plan.enders) else { continue };
        if !step(plan, &Step::Call(ender, (ender.on)(which)), side, world, trace)? {
            return Ok(());
        }
    }
    Ok(())
}

/// The harness of a function under test.
pub struct Sequence<U>(PhantomData<U>);

impl<U: UnderTest> Case for Sequence<U> {
    type Args = Story;
    type Effects = Trace;

    fn decode(reader: &mut Reader) -> Story {
        Story::decode(U::plan(), reader)
    }

    fn encode(args: &Story, writer: &mut Writer) {
        args.encode(U::plan(), writer);
    }

    fn show(args: &Story) -> Parts {
        args.show(U::plan())
    }

    fn plain(args: &Story) -> Plain {
        args.plain(U::plan())
    }

    fn of_plain(plain: &Plain) -> Result<Story, String> {
        Story::of_plain(U::plan(), plain)
    }

    fn boundaries() -> Vec<Story> {
        sequence_boundaries::boundaries(U::plan())
    }

    fn extents() -> &'static [Extent] {
        (U::plan().under.extents)()
    }

    /// Resizes an argument of the function under test.
    fn resize(args: &mut Story, part: usize, n: usize) {
        args.call = (U::plan().under.resized)(&*args.call, part, n);
    }

    fn admits(args: &Story) -> bool {
        (U::plan().under.admits)(&*args.call)
    }

    fn original() -> *const c_void {
        (U::plan().under.original)()
    }

    fn oracle(args: &Story, callee: *const c_void) -> Result<Trace, Broke> {
        let trace = live(U::plan(), args, Side::C(callee)).map_err(|stop| match stop {
            Stop::Broke(why) | Stop::Damage(why) => Broke(why),
        })?;
        let name = U::plan().under.name;
        let called = |done: &Done| done.effects.is_some() && done.entry.is_some_and(|entry| entry.name == name);
        match trace.steps.iter().any(called) {
            true => Ok(trace),
            false => Err(Broke(NO_HANDLE.into())),
        }
    }

    fn subject(args: &Story) -> Result<Trace, String> {
        live(U::plan(), args, Side::Port).map_err(|stop| match stop {
            Stop::Broke(why) | Stop::Damage(why) => why,
        })
    }

    fn differs(oracle: &Trace, subject: &Trace) -> Option<String> {
        for (at, a) in oracle.steps.iter().enumerate() {
            let name = a.entry.map_or("input", |entry| entry.name);
            let Some(b) = subject.steps.get(at) else { break };
            match (&a.effects, &b.effects, a.entry) {
                (Some(x), Some(y), Some(entry)) => {
                    if let Some(what) = (entry.differs)(&**x, &**y) {
                        return Some(format!("{what} of `{name}` (step {})", at + 1));
                    }
                }
                (None, None, _) => {}
                _ => return Some(format!("whether there is a handle for `{name}` (step {})", at + 1)),
            }
            if let (Some(x), Some(y)) = (&a.picture, &b.picture)
                && let Some(what) = x.differs(y)
            {
                return Some(format!("the handle after `{name}` (step {}): {what}", at + 1));
            }
        }
        if let Some(why) = &subject.broke {
            return Some(format!("what the port leaves behind: {why}"));
        }
        if let (Some(x), Some(y)) = (&oracle.last, &subject.last)
            && let Some(what) = x.differs(y)
        {
            return Some(format!("the handles at the end: {what}"));
        }
        if oracle.open != subject.open {
            return Some("the number of files that are left open".into());
        }
        if oracle.file != subject.file {
            return Some("the content of the file".into());
        }
        if oracle.bad_frees != subject.bad_frees {
            return Some("memory is freed twice, or was never allocated".into());
        }
        (oracle.live != subject.live).then(|| "the number of blocks that are never freed".into())
    }

    fn effects(trace: &Trace) -> Parts {
        let mut parts = Parts::new();
        for (at, done) in trace.steps.iter().enumerate() {
            let (Some(entry), Some(effects)) = (done.entry, &done.effects) else { continue };
            for (what, value) in (entry.effects)(&**effects) {
                parts.push((format!("{}. {}: {what}", at + 1, entry.name), value));
            }
            for (what, handle) in [("makes", done.made), ("uses instead", done.instead)] {
                let part = |handle| (format!("{}. {}: {what}", at + 1, entry.name), format!("handle {handle}"));
                parts.extend(handle.map(part));
            }
        }
        parts.extend(trace.broke.iter().map(|why| ("end".to_owned(), why.clone())));
        parts.extend(trace.file.iter().map(|file| ("file".to_owned(), super::codec::show_bytes(file))));
        if trace.open > 0 {
            parts.push(("left open".into(), trace.open.to_string()));
        }
        parts.push(("blocks never freed".into(), trace.live.to_string()));
        if trace.bad_frees > 0 {
            parts.push(("bad frees".into(), trace.bad_frees.to_string()));
        }
        parts
    }

    fn given(args: &Story, trace: &Trace) -> Plain {
        let mut plain = args.plain(U::plan());
        if let Plain::Object(fields) = &mut plain {
            let other = [("$spare", trace.spare), ("$mistaken", trace.is_mistaken)];
            fields.extend(other.into_iter().filter(|(_, is)| *is).map(|(name, _)| (name.to_owned(), Plain::Integer(1))));
        }
        plain
    }

    fn left(trace: &Trace) -> Plain {
        let step = |done: &Done| match (done.entry, &done.effects) {
            (Some(entry), Some(effects)) => Plain::Object(vec![
                ("call".to_owned(), Plain::Bytes(entry.name.into())),
                ("left".to_owned(), (entry.left)(&**effects)),
            ]),
            _ => Plain::Null,
        };
        let mut fields = vec![("steps".to_owned(), Plain::List(trace.steps.iter().map(step).collect()))];
        let text = |text: &str| Plain::Bytes(text.into());
        fields.extend(trace.broke.iter().map(|why| ("end".to_owned(), text(why))));
        fields.extend(trace.file.iter().map(|file| ("file".to_owned(), Plain::Bytes(file.clone()))));
        for (name, count) in [("left open", trace.open), ("blocks never freed", trace.live), ("bad frees", trace.bad_frees)] {
            if count > 0 {
                fields.push((name.to_owned(), Plain::Integer(count as i128)));
            }
        }
        Plain::Object(fields)
    }

    /// Pictures are left out: which bytes C never wrote is known only if both sides run in one process.
    fn record(trace: &Trace) -> Record {
        let mut record = Record::default();
        let mut put = |name: String, text: &[u8]| {
            let mut digest = Digest::new();
            digest.bytes(text);
            record.put(&name, digest);
        };
        for (at, done) in trace.steps.iter().enumerate() {
            let (Some(entry), Some(effects)) = (done.entry, &done.effects) else { continue };
            for (what, digest) in (entry.record)(&**effects).parts() {
                put(format!("{}. {}: {what}", at + 1, entry.name), digest.as_bytes());
            }
        }
        put("end".into(), trace.broke.as_deref().unwrap_or_default().as_bytes());
        put("blocks never freed".into(), trace.live.to_string().as_bytes());
        put("bad frees".into(), trace.bad_frees.to_string().as_bytes());
        put("left open".into(), trace.open.to_string().as_bytes());
        put("file".into(), trace.file.as_deref().unwrap_or_default());
        record
    }
}
