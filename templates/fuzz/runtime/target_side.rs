//! The state of one side while a fuzz target calls it: separate memory, and after each call a picture of
//! everything reachable. The target defines the calls; this module compares, in the same way for all targets.
//! Written by cargo-implfuzz.

use super::codec::show_bytes;
use super::digest::Digest;
use super::driver::panic_text;
use super::value_kind::Kind;
use super::ledger;
use super::picture::Picture;
use super::pieces::Piece;
use super::memory::Region;
use super::record::Record;
use super::report::Parts;
use super::roots::Root;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Which function is called.
#[derive(Clone, Copy)]
pub enum Callee {
    /// The original, or a mutant of it.
    C(*const c_void),
    Port,
    /// None: only the arguments of the first call are shown.
    Nobody,
}

/// A value that is compared.
enum Seen {
    Value(Kind, Vec<u8>),
    Text(Option<Vec<u8>>),
}

/// Memory that the target gave to a side.
struct Lent {
    piece: Piece,
    /// Whether it contains only numbers, which are compared byte by byte, also between separate processes.
    plain: bool,
    /// Owns the memory, and returns whether its canaries are untouched.
    intact: Box<dyn Fn() -> bool>,
}

pub struct Ground {
    callee: Callee,
    padded: bool,
    lent: Vec<Lent>,
    /// Returned pointers, and pointers that the target wants to compare. The pictures start from them and
    /// from the memory.
    pointers: Vec<usize>,
    pictured: usize,
    left: Left,
}

/// All effects of one side's calls.
#[derive(Default)]
pub struct Left {
    calls: usize,
    seen: Vec<(String, Seen)>,
    /// After each call: all memory of numbers, and a picture of the rest.
    after: Vec<(Vec<Vec<u8>>, Picture)>,
    live: usize,
    bad_frees: usize,
    /// The arguments of the first call, if they are only shown.
    given: Parts,
    /// Why C could not continue after the port, if so.
    broke: Option<String>,
}

/// Why a run ended early.
pub enum Stop {
    Broke(String),
    /// The side wrote out of the bounds of this memory.
    Damage(String),
}

impl Stop {
    pub fn text(self) -> String {
        match self {
            Self::Broke(why) => why,
            Self::Damage(place) => format!("writes outside of {place}"),
        }
    }
}

/// The payload that unwinds a stopped target, with the reason if C broke.
struct Stopped(Option<String>);

/// Maximum number of pictures in a run; the last call always has one.
const PICTURES: usize = 4;

/// Runs the target on one side. Everything except the original gets the same kind of memory, so that no
/// target can distinguish a port from the mutants with which the target was measured.
pub fn run(callee: Callee, is_original: bool, target: &mut dyn FnMut(&mut Ground)) -> Result<Left, Stop> {
    ledger::start();
    let mut ground = Ground {
        callee,
        padded: !is_original,
        lent: Vec::new(),
        pointers: Vec::new(),
        pictured: 0,
        left: Left::default(),
    };
    let ended = catch_unwind(AssertUnwindSafe(|| target(&mut ground)));
    ledger::watch(false);
    if ended.is_ok() && ground.pictured < ground.pointers.len() {
        ground.picture();
    }
    ground.left.live = ledger::live();
    ground.left.bad_frees = ledger::bad_frees();
    ledger::release();
    let damaged = ground.lent.iter().position(|lent| !(lent.intact)());
    let mut left = std::mem::take(&mut ground.left);
    drop(ground);
    if let Err(payload) = ended {
        match (payload.downcast::<Stopped>(), callee) {
            (Ok(stopped), Callee::C(_)) => return Err(Stop::Broke(stopped.0.unwrap_or_default())),
            (Ok(stopped), _) => left.broke = stopped.0,
            // A target must not choose its inputs by C's results. Running C against itself detects this, and
            // the target is rejected.
            (Err(_), Callee::C(_)) if left.calls > 0 => {
                left.broke = Some(format!("the fuzz target panics after a call: {}", panic_text()));
            }
            (Err(_), Callee::C(_)) => return Err(Stop::Broke(format!("the fuzz target panics: {}", panic_text()))),
            (Err(payload), _) => resume_unwind(payload),
        }
    }
    if let Some(at) = damaged {
        return Err(Stop::Damage(format!("memory {}", at + 1)));
    }
    match (callee, left.calls) {
        (Callee::C(_), 0) => Err(Stop::Broke("the fuzz target calls nothing".into())),
        _ => Ok(left),
    }
}

impl Ground {
    pub fn callee(&self) -> Callee {
        self.callee
    }

    /// Stops the target: there is no function to call, or C broke.
    pub fn stop(&self, why: Option<String>) -> ! {
        resume_unwind(Box::new(Stopped(why)))
    }

    /// Memory of this side, valid until the end of the run.
    pub fn lend<T: Copy + 'static>(&mut self, values: &[T], plain: bool) -> *mut T {
        // Empty memory cannot be exact, because it would have no address.
        let region = match self.padded || values.is_empty() || size_of::<T>() == 0 {
            true => Region::padded(values),
            false => Region::exact(values),
        };
        let at = region.ptr();
        let piece = Piece { at: at as usize, size: size_of_val(values), live: true };
        self.lent.push(Lent { piece, plain, intact: Box::new(move || region.intact()) });
        at
    }

    /// Compares a value.
    pub fn see(&mut self, what: &str, kind: Kind, held: Vec<u8>) {
        self.left.seen.push((what.to_owned(), Seen::Value(kind, held)));
    }

    /// Compares a text; `None` for null.
    pub fn see_text(&mut self, what: &str, text: Option<Vec<u8>>) {
        self.left.seen.push((what.to_owned(), Seen::Text(text)));
    }

    /// Compares a pointer: its target's position and content must be the same on both sides.
    pub fn see_pointer(&mut self, at: usize) {
        self.pointers.push(at);
    }

    /// Like [`Ground::see_pointer`], for a pointer argument or a pointer that C made; ignored unless it
    /// points into a block of this side.
    pub fn see_block(&mut self, at: usize) {
        let is_in = |block: &Piece| block.live && (block.at..=block.at + block.size).contains(&at);
        if ledger::blocks().iter().any(is_in) {
            self.pointers.push(at);
        }
    }

    /// Records an argument of the first call.
    pub fn given(&mut self, name: &str, value: String) {
        self.left.given.push((name.to_owned(), value));
    }

    /// The target of a pointer, for people.
    pub fn place(&self, at: usize) -> String {
        let within = |lent: &Lent| (lent.piece.at..=lent.piece.at + lent.piece.size).contains(&at);
        match self.lent.iter().position(within) {
            _ if at == 0 => "NULL".into(),
            None => "elsewhere".into(),
            Some(number) => match at - self.lent[number].piece.at {
                0 => format!("memory {}", number + 1),
                offset => format!("memory {} + {offset}", number + 1),
            },
        }
    }

    /// Records the memory before the first call.
    pub fn show_memory(&mut self) {
        for (number, bytes) in self.plain().into_iter().enumerate() {
            let shown = bytes.map_or_else(|| "structs, or pointers".to_owned(), |bytes| show_bytes(&bytes));
            self.given(&format!("memory {}", number + 1), shown);
        }
    }

    /// Records that a call has returned; its result is already recorded.
    pub fn called(&mut self) {
        self.left.calls += 1;
        self.picture();
    }

    fn plain(&self) -> Vec<Option<Vec<u8>>> {
        // SAFETY: the piece has this size, and lives as long as this value.
        let copy = |p: &Piece| unsafe { std::slice::from_raw_parts(p.at as *const u8, p.size) }.to_vec();
        self.lent.iter().map(|lent| lent.plain.then(|| copy(&lent.piece))).collect()
    }

    fn picture(&mut self) {
        let plain = self.plain().into_iter().map(Option::unwrap_or_default).collect();
        let words = Piece { at: self.pointers.as_ptr() as usize, size: self.pointers.len() * 8, live: true };
        let others = self.lent.iter().filter(|lent| !lent.plain).map(|lent| lent.piece);
        let roots: Vec<Root> = std::iter::once(words).chain(others).map(Root::Memory).collect();
        let known: Vec<Piece> = self.lent.iter().map(|lent| lent.piece).collect();
        let numbered = self.lent.iter().enumerate().filter(|(_, lent)| !lent.plain);
        let names = numbered.map(|(number, _)| format!("memory {}", number + 1));
        let names = std::iter::once("what came back".to_owned()).chain(names).collect();
        let picture = Picture::take(&roots, &known, &[]).named(names);
        if self.left.after.len() == PICTURES {
            self.left.after.pop();
        }
        self.left.after.push((plain, picture));
        self.pictured = self.pointers.len();
    }
}

impl Seen {
    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Value(kind, a), Self::Value(_, b)) => a.len() == b.len() && (kind.same)(a, b),
            (Self::Text(a), Self::Text(b)) => a == b,
            _ => false,
        }
    }

    fn show(&self) -> String {
        match self {
            Self::Value(kind, held) => (kind.show)(held),
            Self::Text(None) => "NULL".into(),
            Self::Text(Some(text)) => show_bytes(text),
        }
    }

    fn digest(&self) -> Digest {
        let mut digest = Digest::new();
        match self {
            Self::Value(kind, held) => (kind.digest)(held, &mut digest),
            Self::Text(None) => digest.bytes(b"null"),
            Self::Text(Some(text)) => {
                digest.bytes(b"text");
                digest.bytes(text);
            }
        }
        digest
    }
}

impl Left {
    /// The first difference.
    pub fn differs(&self, other: &Self) -> Option<String> {
        if let Some(why) = &other.broke {
            return Some(format!("what the port leaves behind: {why}"));
        }
        for ((what, a), (also, b)) in self.seen.iter().zip(&other.seen) {
            if what != also || !a.same(b) {
                return Some(what.clone());
            }
        }
        for (call, ((plain, picture), (also, other))) in self.after.iter().zip(&other.after).enumerate() {
            let call = call + 1;
            for (number, (a, b)) in plain.iter().zip(also).enumerate() {
                if let Some(at) = (0..a.len().max(b.len())).find(|at| a.get(*at) != b.get(*at)) {
                    return Some(format!("memory {}, byte {at}, after call {call}", number + 1));
                }
            }
            if plain.len() != also.len() {
                return Some("how much memory the call gets".into());
            }
            if let Some(what) = picture.differs_strictly(other) {
                return Some(format!("what is reached after call {call}: {what}"));
            }
        }
        match (self, other) {
            _ if self.calls != other.calls => Some("how often it is called".into()),
            _ if self.seen.len() != other.seen.len() => Some("how much there is to look at".into()),
            _ if self.bad_frees != other.bad_frees => Some("memory is freed twice, or was never allocated".into()),
            _ if self.live != other.live => Some("the number of blocks that are never freed".into()),
            _ => None,
        }
    }

    /// The arguments of the first call.
    pub fn shown(self) -> Parts {
        self.given
    }

    pub fn parts(&self) -> Parts {
        let mut parts: Parts = self.seen.iter().map(|(what, seen)| (what.clone(), seen.show())).collect();
        let last = self.after.last().map(|(plain, _)| plain);
        for (number, bytes) in last.into_iter().flatten().enumerate().filter(|(_, bytes)| !bytes.is_empty()) {
            parts.push((format!("memory {}", number + 1), show_bytes(bytes)));
        }
        parts.extend(self.broke.iter().map(|why| ("end".to_owned(), why.clone())));
        parts.push(("blocks never freed".into(), self.live.to_string()));
        parts
    }

    /// Pictures are left out: which bytes C never wrote is known only if both sides run in one process.
    pub fn record(&self, record: &mut Record) {
        for (at, (what, seen)) in self.seen.iter().enumerate() {
            record.put(&format!("{}. {what}", at + 1), seen.digest());
        }
        for (call, (plain, _)) in self.after.iter().enumerate() {
            for (number, bytes) in plain.iter().enumerate() {
                let mut digest = Digest::new();
                digest.bytes(bytes);
                record.put(&format!("memory {} after call {}", number + 1, call + 1), digest);
            }
        }
        for (what, number) in
            [("calls", self.calls), ("blocks never freed", self.live), ("bad frees", self.bad_frees)]
        {
            record.number(what, number as u64);
        }
        let mut digest = Digest::new();
        digest.bytes(self.broke.as_deref().unwrap_or_default().as_bytes());
        record.put("end", digest);
    }
}
