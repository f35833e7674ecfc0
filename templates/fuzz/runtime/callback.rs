//! Callbacks that the harness passes to a side. Every call is recorded with its arguments, and its answer
//! comes from the input.
//! Written by cargo-implfuzz.

use super::codec::{Reader, Writer, show_bytes};
use super::digest::Digest;
use super::{guard, heap, ledger};
use super::value_kind::Kind;
use super::record::Record;
use super::report::Parts;
use std::cell::UnsafeCell;
use std::ffi::c_void;

/// Maximum number of recorded calls. Further calls are counted only, and answered with zero.
const RECORDED: usize = 4096;
/// Maximum number of callbacks in one call of C; after that, the input is given up.
const ENDLESS: usize = 1 << 16;
/// Maximum size of compared elements and of numbers, bytes.
const WIDEST: usize = 16;
/// Maximum number of bytes read of a text.
const TEXT: usize = 4096;

/// The target of a pointer. Addresses themselves differ between the sides.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    /// Not a pointer but a number.
    None,
    Null,
    Token(usize),
    /// In memory that the side was given, this many bytes after its start.
    Known(&'static str, usize),
    Other,
}

/// An argument of a callback as it was recorded.
#[derive(Clone)]
pub struct Seen {
    place: Place,
    /// The content there, as in an input.
    held: [u8; WIDEST],
    size: usize,
    long: Vec<u8>,
    /// What lies there as far as the next argument says, if that is a length. It may be another number: then one side may
    /// have less memory there, and what both have is compared.
    run: Vec<u8>,
    /// The next argument is a length, and all that it counts is there.
    is_whole: bool,
    same: fn(&[u8], &[u8]) -> bool,
    show: fn(&[u8]) -> String,
    digest: fn(&[u8], &mut Digest),
}

impl Seen {
    fn of(place: Place, same: fn(&[u8], &[u8]) -> bool, show: fn(&[u8]) -> String) -> Self {
        let digest = |bytes: &[u8], digest: &mut Digest| digest.bytes(bytes);
        let (long, run) = (Vec::new(), Vec::new());
        Self { place, held: [0; WIDEST], size: 0, long, run, is_whole: false, same, show, digest }
    }

    pub fn value(kind: Kind, at: *const u8) -> Self {
        assert!(kind.size <= WIDEST, "no number is wider");
        let mut seen = Self::of(Place::None, kind.same, kind.show);
        (seen.digest, seen.size) = (kind.digest, kind.size);
        // SAFETY: the caller has a number there, which has no padding.
        unsafe { std::ptr::copy_nonoverlapping(at, seen.held.as_mut_ptr(), seen.size) };
        seen
    }

    /// A pointer to data of unknown type.
    pub fn place(at: *const c_void) -> Self {
        Self::of(session().place(at), |_, _| true, |_| String::new())
    }

    fn element(at: *const c_void, size: usize) -> Self {
        let mut seen = Self::of(session().place(at), |a, b| a == b, show_bytes);
        seen.size = size.min(WIDEST);
        read(at, &mut seen.held[..size.min(WIDEST)]);
        seen
    }

    pub fn one(kind: Kind, at: *const c_void) -> Self {
        if at.is_null() {
            return Self::place(at);
        }
        let element = Self::element(at, kind.size);
        Self { place: element.place, ..Self::value(kind, element.held.as_ptr()) }
    }

    /// How many bytes may be read there, of those that are compared.
    pub fn readable(at: *const c_void) -> usize {
        // SAFETY: nothing is read there.
        unsafe { implfuzz_readable(at, TEXT) }
    }

    /// A pointer to a string: up to its NUL, or to the end of this many bytes.
    pub fn text(at: *const c_void, length: Option<usize>) -> Self {
        let mut seen = Self::element(at, 0);
        let mut byte = [0];
        while !at.is_null() && seen.long.len() < length.unwrap_or(TEXT).min(TEXT) {
            read(at.wrapping_byte_add(seen.long.len()), &mut byte);
            if byte == [0] {
                break;
            }
            seen.long.extend(byte);
        }
        seen
    }

    /// Adds the bytes there. The next argument may be their number; with `is_length`, it is.
    pub fn with_run(mut self, at: *const c_void, bytes: usize, is_length: bool) -> Self {
        if matches!(self.place, Place::Null | Place::Token(_)) {
            return self;
        }
        // SAFETY: nothing is read there.
        let readable = unsafe { implfuzz_readable(at, bytes.min(TEXT)) };
        self.run = vec![0; readable];
        read(at, &mut self.run);
        self.is_whole = is_length && readable == bytes.min(TEXT);
        self
    }

    /// Whether the port passes on what C does; `self` is C's.
    fn has_same_run(&self, port: &Self) -> bool {
        // Of different sizes only where one side has less memory there.
        let both = self.run.len().min(port.run.len());
        let is_short = self.is_whole && both < self.run.len();
        !is_short && self.run[..both] == port.run[..both]
    }

    fn bytes(&self) -> &[u8] {
        if self.long.is_empty() { &self.held[..self.size] } else { &self.long }
    }

    fn is(&self, port: &Self) -> bool {
        let all = self.place == port.place && self.bytes().len() == port.bytes().len();
        all && (self.same)(self.bytes(), port.bytes()) && self.has_same_run(port)
    }

    fn shown(&self) -> String {
        let place = match self.place {
            Place::None => return (self.show)(self.bytes()),
            Place::Null => return "NULL".to_owned(),
            Place::Token(index) => format!("parameter {}", index + 1),
            Place::Known(name, 0) => name.to_owned(),
            Place::Known(name, offset) => format!("{name} + {offset} bytes"),
            Place::Other => "other memory".to_owned(),
        };
        let what = match self.run.len() > self.bytes().len() {
            true => show_bytes(&self.run),
            false => (self.show)(self.bytes()),
        };
        if what.is_empty() { place } else { format!("{place}: {what}") }
    }
}

unsafe extern "C" {
    fn implfuzz_readable(at: *const c_void, size: usize) -> usize;
}

/// Copies memory that a side points to. If C gave an invalid pointer, the guard skips the input; if the port did, the
/// sanitizer reports it.
fn read(at: *const c_void, to: &mut [u8]) {
    let _turn = heap::turn(!session().is_c);
    let was = guard::arm(session().is_c);
    // SAFETY: `to` has room; an invalid source pointer is a fault of the side that gave it. The call goes
    // through the guard, which checks the pointer with ASan first.
    unsafe { libc::memcpy(to.as_mut_ptr().cast(), at, std::hint::black_box(to.len())) };
    guard::arm(was);
}

/// All callback calls of a side, in order.
#[derive(Default)]
pub struct Trace {
    /// The name of the callback, and the index of its first argument.
    calls: Vec<(&'static str, usize)>,
    arguments: Vec<Seen>,
    count: usize,
}

impl Trace {
    fn arguments(&self, call: usize) -> &[Seen] {
        let end = self.calls.get(call + 1).map_or(self.arguments.len(), |(_, start)| *start);
        &self.arguments[self.calls[call].1..end]
    }
}

/// The name, address and size of memory that a side was given.
pub type Known = (&'static str, *const c_void, usize);

/// The state between [`begin`] and [`end`].
struct Session {
    is_c: bool,
    known: Vec<Known>,
    /// For each callback, its answers and the number of bytes already used.
    answers: Vec<(Vec<u8>, usize)>,
    element: usize,
    trace: Trace,
}

struct Shared(UnsafeCell<Session>);

// SAFETY: a target runs in one thread.
unsafe impl Sync for Shared {}

static SESSION: Shared = Shared(UnsafeCell::new(Session {
    is_c: false,
    known: Vec::new(),
    answers: Vec::new(),
    element: 0,
    trace: Trace { calls: Vec::new(), arguments: Vec::new(), count: 0 },
}));

fn session() -> &'static mut Session {
    // SAFETY: one thread, and each reference ends with the expression that uses it.
    unsafe { &mut *SESSION.0.get() }
}

impl Session {
    fn place(&self, at: *const c_void) -> Place {
        if at.is_null() {
            return Place::Null;
        }
        let tokens = (&raw const TOKENS).addr()..(&raw const TOKENS).addr() + size_of_val(&TOKENS);
        if tokens.contains(&at.addr()) {
            let offset = at.addr() - tokens.start;
            return match offset % size_of::<u64>() {
                0 => Place::Token(offset / size_of::<u64>()),
                // C passes on what it got.
                _ => Place::Other,
            };
        }
        let within = |known: &&Known| (known.1.addr()..=known.1.addr() + known.2).contains(&at.addr());
        let found = self.known.iter().find(within);
        found.map_or(Place::Other, |(name, start, _)| Place::Known(name, at.addr() - start.addr()))
    }
}

/// The targets of pointers that are only passed on.
static TOKENS: [u64; 16] = [0; 16];

/// The user-data pointer for parameter `index`.
pub fn token(index: usize) -> *const c_void {
    (&raw const TOKENS[index % TOKENS.len()]).cast()
}

/// Starts recording before a call: with the answers of the callbacks, the memory that the side was given, and
/// the element size for `void`.
pub fn begin(is_c: bool, answers: Vec<Vec<u8>>, known: Vec<Known>, element: usize) {
    let answers = answers.into_iter().map(|bytes| (bytes, 0)).collect();
    *session() = Session { is_c, known, answers, element, trace: Trace::default() };
}

/// Ends recording after a call.
pub fn end() -> Trace {
    let session = session();
    (session.known, session.answers) = (Vec::new(), Vec::new());
    std::mem::take(&mut session.trace)
}

/// Runs the body of a callback with the guard disarmed, so that no jump leaves Rust code. What it allocates belongs to the
/// harness, and to neither side.
pub fn called<R>(body: impl FnOnce() -> R) -> R {
    if session().is_c && session().trace.count >= ENDLESS {
        guard::give_up();
    }
    let was = guard::arm(false);
    let answer = {
        let _turn = heap::turn(false);
        let _pause = ledger::Pause::begin();
        body()
    };
    // It may jump out of the call, which ends both.
    guard::arm(was);
    answer
}

/// Records a call.
pub fn record<const N: usize>(name: &'static str, arguments: [Seen; N]) {
    let trace = &mut session().trace;
    trace.count += 1;
    if trace.count <= RECORDED {
        trace.calls.push((name, trace.arguments.len()));
        trace.arguments.extend(arguments);
    }
}

/// The unused answers of a callback; the next answer takes `width` bytes of them.
pub fn answers_left(index: usize, width: usize) -> &'static [u8] {
    let (bytes, used) = &mut session().answers[index];
    let rest = bytes.get(*used..).unwrap_or_default();
    *used += width;
    rest
}

/// Compares two elements in an order that is the same for all calls with one input, and records the call.
/// `size` is the element size, if its type determines it.
pub fn order(index: usize, name: &'static str, a: *const c_void, b: *const c_void, size: Option<usize>) -> i32 {
    let size = size.unwrap_or(session().element).min(WIDEST);
    let (left, right) = (Seen::element(a, size), Seen::element(b, size));
    let mode = session().answers[index].0.first().copied().unwrap_or(0);
    let how = match mode & 3 {
        0 => left.bytes().cmp(right.bytes()),
        1 => right.bytes().cmp(left.bytes()),
        2 => left.bytes().first().cmp(&right.bytes().first()),
        _ => std::cmp::Ordering::Equal,
    };
    record(name, [left, right]);
    how as i32 * if mode & 4 == 0 { 1 } else { 1 << 20 }
}

/// The first difference between the calls of C and those of the port.
pub fn differs(c: &Trace, port: &Trace) -> Option<String> {
    for at in 0..c.calls.len().min(port.calls.len()) {
        let both = c.arguments(at).iter().zip(port.arguments(at));
        if c.calls[at].0 != port.calls[at].0 || !both.into_iter().all(|(c, port)| c.is(port)) {
            return Some(format!("call {} of `{}`", at + 1, c.calls[at].0));
        }
    }
    (c.count != port.count).then(|| "how often it calls back".to_owned())
}

/// Adds the trace to a record, without addresses, so that two processes can compare it.
pub fn put(trace: &Trace, record: &mut Record) {
    for at in 0..trace.calls.len() {
        let mut digest = Digest::new();
        digest.bytes(trace.calls[at].0.as_bytes());
        for seen in trace.arguments(at) {
            digest.bytes(format!("{:?} {}", seen.place, seen.bytes().len()).as_bytes());
            (seen.digest)(seen.bytes(), &mut digest);
        }
        record.put(&format!("call {} of `{}`", at + 1, trace.calls[at].0), digest);
    }
    record.number("how often it calls back", trace.count as u64);
}

/// The calls, for people.
pub fn shown(trace: &Trace) -> Parts {
    const SHOWN: usize = 8;
    let one = |at: usize| {
        let arguments: Vec<String> = trace.arguments(at).iter().map(Seen::shown).collect();
        (format!("call {}", at + 1), format!("{}({})", trace.calls[at].0, arguments.join(", ")))
    };
    let mut parts: Parts = (0..trace.calls.len().min(SHOWN)).map(one).collect();
    parts.push(("calls back".to_owned(), trace.count.to_string()));
    parts
}

/// Decodes elements of up to 16 bytes: their size and their content.
pub fn decode_elements(reader: &mut Reader, max: usize) -> (usize, Vec<u8>) {
    let size = usize::from(reader.array::<1>()[0] % 16) + 1;
    let count = reader.length(max).min(reader.left().div_ceil(size));
    (size, (0..size * count).flat_map(|_| reader.array::<1>()).collect())
}

/// The inverse of [`decode_elements`].
pub fn encode_elements(writer: &mut Writer, (size, bytes): &(usize, Vec<u8>), max: usize) {
    writer.put(&[*size as u8 - 1]);
    writer.length(bytes.len() / size, max);
    writer.put(bytes);
}

/// Elements for boundary inputs.
pub fn boundary_elements(max: usize) -> Vec<(usize, Vec<u8>)> {
    let mut all = Vec::new();
    for (size, count) in [(1, 0), (1, 1), (4, 2), (1, 5), (2, 9), (4, 7), (8, 3), (3, 4), (16, 5), (1, max)] {
        let count = count.min(max);
        let scattered = (0..size * count).map(|at| (at * 97 % 251) as u8).collect();
        let falling = (0..size * count).map(|at| 255 - (at / size) as u8).collect();
        let equal = (0..size * count).map(|at| if at % size == 0 { 7 } else { at as u8 }).collect();
        all.extend([scattered, falling, equal].map(|bytes: Vec<u8>| (size, bytes)));
    }
    all
}

/// Answers for boundary inputs.
pub fn boundary_answers() -> Vec<Vec<u8>> {
    let ramp = |from: u8| (0..ANSWERS as u8).map(|n| from.wrapping_add(n)).collect::<Vec<u8>>();
    vec![Vec::new(), vec![1, 0, 0, 0, 0, 0, 0, 0], vec![0; 16], vec![0xff; 32], vec![1; ANSWERS], ramp(1), ramp(128)]
}

/// Maximum number of bytes of answers in an input.
pub const ANSWERS: usize = 64;
