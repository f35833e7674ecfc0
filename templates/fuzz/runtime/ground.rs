//! What one side has while a fuzz target calls it: memory of its own, and after each call a picture of all that it leads to. The
//! target says what a call is; what is compared, and how, is said here, and is the same for every target. Written by cargo-implfuzz.

use super::codec::show_bytes;
use super::digest::Digest;
use super::driver::panic_text;
use super::kind::Kind;
use super::ledger::{self, Picture, Piece};
use super::memory::Region;
use super::record::Record;
use super::report::Parts;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Who is called.
#[derive(Clone, Copy)]
pub enum Callee {
    /// The original, or a mutant of it.
    C(*const c_void),
    Port,
    /// Nobody: what the first call would get is shown.
    Nobody,
}

/// What a call, or the target, wants to be looked at.
enum Seen {
    Value(Kind, Vec<u8>),
    Text(Option<Vec<u8>>),
}

/// Memory that the target gave a side.
struct Lent {
    piece: Piece,
    /// Numbers and nothing else: compared byte by byte, in separate processes too.
    plain: bool,
    /// Holds the memory, and says whether its canaries are.
    intact: Box<dyn Fn() -> bool>,
}

/// One side.
pub struct Ground {
    callee: Callee,
    padded: bool,
    lent: Vec<Lent>,
    /// Pointers that came back, or that the target looks at: where the pictures begin, beside the memory.
    pointers: Vec<usize>,
    pictured: usize,
    left: Left,
}

/// Everything that one side's calls leave behind.
#[derive(Default)]
pub struct Left {
    calls: usize,
    seen: Vec<(String, Seen)>,
    /// After each call: all plain memory, and a picture of the rest.
    after: Vec<(Vec<Vec<u8>>, Picture)>,
    live: usize,
    bad_frees: usize,
    /// What the first call gets, where it is only shown.
    given: Parts,
    /// C could not go on with what the port left.
    broke: Option<String>,
}

/// Why a run ended early.
pub enum Stop {
    Broke(String),
    /// Memory was written outside of this.
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

/// What unwinds through a target that cannot go on; with a reason where C broke.
struct Stopped(Option<String>);

/// Pictures of a run; of the last call there always is one.
const PICTURES: usize = 4;

/// Runs the target on one side. All that is not the original has its memory alike, so that no target can tell a port from a mutant
/// that it was measured with.
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
            // By what C has answered no target chooses its inputs: C against itself tells this, and the target is refused.
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

    /// Ends the run of the target: nobody is called, or C broke.
    pub fn stop(&self, why: Option<String>) -> ! {
        resume_unwind(Box::new(Stopped(why)))
    }

    /// Memory of this side until the end.
    pub fn lend<T: Copy + 'static>(&mut self, values: &[T], plain: bool) -> *mut T {
        // Of nothing there is no exact copy: it would have no place of its own.
        let region = match self.padded || values.is_empty() || size_of::<T>() == 0 {
            true => Region::padded(values),
            false => Region::exact(values),
        };
        let at = region.ptr();
        let piece = Piece { at: at as usize, size: size_of_val(values), live: true };
        self.lent.push(Lent { piece, plain, intact: Box::new(move || region.intact()) });
        at
    }

    /// A value that both sides must have.
    pub fn see(&mut self, what: &str, kind: Kind, held: Vec<u8>) {
        self.left.seen.push((what.to_owned(), Seen::Value(kind, held)));
    }

    /// A text that both sides must have; none where there was null.
    pub fn see_text(&mut self, what: &str, text: Option<Vec<u8>>) {
        self.left.seen.push((what.to_owned(), Seen::Text(text)));
    }

    /// A pointer that must lead to the same place on both sides, where the same stands.
    pub fn see_pointer(&mut self, at: usize) {
        self.pointers.push(at);
    }

    /// The same of a pointer that a call gets, or that C made: where it leads into a block of this side.
    pub fn see_block(&mut self, at: usize) {
        let is_in = |block: &Piece| block.live && (block.at..=block.at + block.size).contains(&at);
        if ledger::blocks().iter().any(is_in) {
            self.pointers.push(at);
        }
    }

    /// What the first call gets.
    pub fn given(&mut self, name: &str, value: String) {
        self.left.given.push((name.to_owned(), value));
    }

    /// Where a pointer leads, for people.
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

    /// The memory as it stands before the first call.
    pub fn show_memory(&mut self) {
        for (number, bytes) in self.plain().into_iter().enumerate() {
            let shown = bytes.map_or_else(|| "structs, or pointers".to_owned(), |bytes| show_bytes(&bytes));
            self.given(&format!("memory {}", number + 1), shown);
        }
    }

    /// A call has returned, and what it returned was noted.
    pub fn called(&mut self) {
        self.left.calls += 1;
        self.picture();
    }

    fn plain(&self) -> Vec<Option<Vec<u8>>> {
        // SAFETY: so many bytes, which live as long as the ground does.
        let copy = |p: &Piece| unsafe { std::slice::from_raw_parts(p.at as *const u8, p.size) }.to_vec();
        self.lent.iter().map(|lent| lent.plain.then(|| copy(&lent.piece))).collect()
    }

    fn picture(&mut self) {
        let plain = self.plain().into_iter().map(Option::unwrap_or_default).collect();
        let words = Piece { at: self.pointers.as_ptr() as usize, size: self.pointers.len() * 8, live: true };
        let others = self.lent.iter().filter(|lent| !lent.plain).map(|lent| lent.piece);
        let roots: Vec<Piece> = std::iter::once(words).chain(others).collect();
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
    /// What differs, if anything does.
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

    /// What the first call gets.
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

    /// Pictures are left out: what C never wrote is known only where both stand side by side.
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
