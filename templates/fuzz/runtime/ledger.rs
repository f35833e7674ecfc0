//! The memory of one side: the blocks that it allocated (`ledger.c`), and a picture of everything reachable
//! from a handle, which is compared with the other side's.
//! Written by cargo-implfuzz.

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_uint};

#[repr(C)]
struct RawBlock {
    at: usize,
    size: usize,
    live: c_int,
}

unsafe extern "C" {
    fn implfuzz_ledger_start();
    fn implfuzz_ledger_watch(on: c_int);
    fn implfuzz_ledger_bad_count() -> c_uint;
    fn implfuzz_ledger_blocks(count: *mut usize) -> *const RawBlock;
    fn implfuzz_ledger_release();
    fn implfuzz_ledger_fail(nth: c_uint);
    fn implfuzz_ledger_limit(most: usize);
    fn implfuzz_differ(a: *const u8, b: *const u8, from: usize, size: usize) -> usize;
    fn implfuzz_next_address(at: *const u8, from: usize, size: usize, low: usize, high: usize) -> usize;
    static __executable_start: u8;
    static _end: u8;
}

/// Clears the ledger before a side starts.
pub fn start() {
    // SAFETY: sets numbers.
    unsafe { implfuzz_ledger_start() };
}

/// Frees the remaining blocks of a side, after they were counted.
pub fn release() {
    // SAFETY: frees only blocks that were allocated while the side was watched, and the side is finished.
    unsafe { implfuzz_ledger_release() };
}

/// Makes the allocation with this number, counted from now on, fail as if memory ran out; 0 for none.
pub fn fail(nth: u8) {
    // SAFETY: sets a number.
    unsafe { implfuzz_ledger_fail(c_uint::from(nth)) };
}

/// Until the next start, allocations of more than `most` bytes fail.
pub(super) fn limit(most: usize) {
    // SAFETY: sets a number.
    unsafe { implfuzz_ledger_limit(most) };
}

/// Switches the recording of allocations on or off.
pub fn watch(on: bool) {
    // SAFETY: sets a number.
    unsafe { implfuzz_ledger_watch(c_int::from(on)) };
}

/// Records allocations while this value lives, including during a panic.
pub struct Watch;

impl Watch {
    pub fn on() -> Self {
        watch(true);
        Self
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        watch(false);
    }
}

/// Number of frees of memory that was not allocated.
pub fn bad_frees() -> usize {
    // SAFETY: reads a number.
    unsafe { implfuzz_ledger_bad_count() as usize }
}

/// A piece of memory of a side.
#[derive(Debug, Clone, Copy)]
pub struct Piece {
    pub at: usize,
    pub size: usize,
    pub live: bool,
}

/// All blocks since the start, the oldest first.
pub fn blocks() -> Vec<Piece> {
    let mut count = 0;
    // SAFETY: the ledger returns a valid list of `count` blocks.
    let raw = unsafe { std::slice::from_raw_parts(implfuzz_ledger_blocks(&mut count), count) };
    raw.iter().map(|b| Piece { at: b.at, size: b.size, live: b.live != 0 }).collect()
}

/// Number of blocks that are not freed.
pub fn live() -> usize {
    blocks().iter().filter(|b| b.live).count()
}

/// Whether an address is in the program's functions, tables or constants.
pub fn in_program(address: usize) -> bool {
    let (start, end) = (&raw const __executable_start as usize, &raw const _end as usize);
    (start..end).contains(&address)
}

/// The value of bytes that were never written (`FRESH` in `ledger.c`).
pub(super) const FRESH: u8 = 0xbe;
/// Maximum number of bytes of a text that are compared.
const TEXT: usize = 512;

/// A copy of all memory that can be reached from some pieces of memory.
#[derive(Debug, Clone)]
pub struct Picture {
    /// The first pieces are the handles.
    pieces: Vec<Copied>,
    roots: usize,
    /// Freed blocks; pointers to them dangle.
    dead: Vec<Piece>,
    /// The texts that handles point to, by root and offset.
    texts: HashMap<(usize, usize), Option<Vec<u8>>>,
    /// The names of the first pieces, for people; handles have none.
    names: Vec<String>,
}

/// A piece, its content, and the offsets of words in it that may be pointers.
#[derive(Debug, Clone)]
struct Copied {
    piece: Piece,
    /// Whether the harness provided the piece, so that its content comes from the input.
    given: bool,
    bytes: Vec<u8>,
    links: Vec<usize>,
}

impl Copied {
    fn of(piece: Piece, given: bool, (low, high): (usize, usize)) -> Self {
        let (bytes, mut links, mut from) = (copy(piece), Vec::new(), 0);
        loop {
            // SAFETY: reads only within the bytes.
            let at = unsafe { implfuzz_next_address(bytes.as_ptr(), from, bytes.len(), low, high) };
            if at >= bytes.len() {
                return Self { piece, given, bytes, links };
            }
            links.push(at);
            from = at + 8;
        }
    }

    fn word(&self, offset: usize) -> Option<usize> {
        Some(usize::from_ne_bytes(self.bytes.get(offset..offset + 8)?.try_into().ok()?))
    }
}

/// Pointers may point up to this many bytes before their memory: C code steps back by what it has read ahead.
const BEFORE: usize = 16;

fn find(pieces: &[Piece], address: usize) -> Option<usize> {
    // The latest block first, because a freed address may be allocated again. One past the end still belongs
    // to the block.
    let within = pieces.iter().rposition(|p| p.live && (p.at..=p.at + p.size).contains(&address));
    within.or_else(|| pieces.iter().rposition(|p| p.live && (p.at - BEFORE.min(p.at)..p.at).contains(&address)))
}

impl Picture {
    /// Takes a picture: `roots` are the handles, `known` is memory of the harness, and `texts` are the
    /// offsets in handles of pointers to strings.
    pub fn take(roots: &[Piece], known: &[Piece], texts: &[usize]) -> Self {
        let blocks = blocks();
        // The size of a handle that C allocated is known only from its block.
        let given = roots.iter().filter(|root| root.size > 0);
        let candidates: Vec<Piece> = blocks.iter().chain(known).chain(given).copied().collect();
        let limits = candidates
            .iter()
            .fold((usize::MAX, 0), |(low, high), p| (low.min(p.at - BEFORE.min(p.at)), high.max(p.at + p.size)));
        let mut pieces: Vec<Copied> = Vec::new();
        for root in roots {
            // Memory that C allocated has the size of its block.
            let whole = find(&candidates, root.at).map(|found| candidates[found]);
            let piece = whole.filter(|whole| whole.at == root.at).unwrap_or(*root);
            pieces.push(Copied::of(piece, false, limits));
        }
        let mut at = 0;
        while at < pieces.len() {
            let words: Vec<usize> = pieces[at].links.iter().filter_map(|o| pieces[at].word(*o)).collect();
            for piece in words.into_iter().filter_map(|word| find(&candidates, word)).map(|found| candidates[found]) {
                if !pieces.iter().any(|taken| taken.piece.at == piece.at) {
                    let given = known.iter().any(|known| known.at == piece.at);
                    pieces.push(Copied::of(piece, given, limits));
                }
            }
            at += 1;
        }
        let text = |root: usize, offset: usize| {
            Some(((root, offset), read_text(&candidates, pieces[root].word(offset)?)))
        };
        let texts = (0..roots.len()).flat_map(|root| texts.iter().filter_map(move |o| text(root, *o)));
        let texts = texts.collect();
        Self { roots: roots.len(), dead: blocks.into_iter().filter(|b| !b.live).collect(), pieces, texts, names: Vec::new() }
    }

    /// Adds names for the first pieces.
    pub fn named(self, names: Vec<String>) -> Self {
        Self { names, ..self }
    }

    /// The target of a pointer: the piece and the offset in it.
    fn locate(&self, address: usize) -> Option<(usize, usize)> {
        let within = |c: &Copied| (c.piece.at..=c.piece.at + c.piece.size).contains(&address);
        let before = |c: &Copied| (c.piece.at - BEFORE.min(c.piece.at)..c.piece.at).contains(&address);
        let found = self.pieces.iter().position(within).or_else(|| self.pieces.iter().position(before))?;
        Some((found, address.wrapping_sub(self.pieces[found].piece.at)))
    }

    /// The first difference. Both pictures are walked in parallel from the handles, so that addresses and the
    /// order of allocations do not matter. Bytes that C never wrote are ignored.
    pub fn differs(&self, other: &Self) -> Option<String> {
        self.walked(other, false)
    }

    /// Like [`Picture::differs`], but no block of the port may correspond to two of C's blocks.
    pub fn differs_strictly(&self, other: &Self) -> Option<String> {
        self.walked(other, true)
    }

    fn walked(&self, other: &Self, strict: bool) -> Option<String> {
        if self.roots != other.roots {
            return Some("the number of handles".into());
        }
        let mut walk = Walk {
            left: self,
            right: other,
            pairs: (0..self.roots).map(|r| (r, r, self.names.get(r).cloned().unwrap_or_default())).collect(),
            partner: (0..self.roots).map(|root| (root, root)).collect(),
            later: Vec::new(),
            strict,
        };
        let mut at = 0;
        loop {
            let Some(pair) = walk.pairs.get(at).cloned() else {
                let pair = walk.put_off()?;
                walk.pairs.push(pair);
                continue;
            };
            if let Some(what) = walk.pair(pair) {
                return Some(what);
            }
            at += 1;
        }
    }
}

/// Two pictures that are being compared.
struct Walk<'a> {
    left: &'a Picture,
    right: &'a Picture,
    /// Corresponding pieces, and the path to them in words.
    pairs: Vec<(usize, usize, String)>,
    partner: HashMap<usize, usize>,
    /// Pairs behind words that are equal on both sides and may not be addresses.
    later: Vec<(usize, usize, String)>,
    /// Whether no piece may correspond to two pieces.
    strict: bool,
}

impl Walk<'_> {
    fn pair(&mut self, (a, b, way): (usize, usize, String)) -> Option<String> {
        let (left, right) = (&self.left.pieces[a], &self.right.pieces[b]);
        let common = left.bytes.len().min(right.bytes.len());
        for offset in left.links.iter().filter(|offset| **offset + 8 <= common) {
            if let Some(what) = self.word((a, b), *offset, &way) {
                return Some(what);
            }
        }
        let mut from = 0;
        loop {
            // SAFETY: reads only the common bytes of both pieces.
            from = unsafe { implfuzz_differ(left.bytes.as_ptr(), right.bytes.as_ptr(), from, common) };
            if from >= common {
                let beyond = left.bytes[common..].iter().position(|byte| *byte != FRESH)?;
                let place = if way.is_empty() { "the handle" } else { way.as_str() };
                return Some(format!("{place}: C wrote byte {}, and the port's memory ends before it", common + beyond));
            }
            let offset = from - from % 8;
            if let Some(what) = self.word((a, b), offset, &way) {
                return Some(what);
            }
            from = offset + 8;
        }
    }

    /// The difference in the word at this offset of two corresponding pieces.
    fn word(&mut self, (a, b): (usize, usize), offset: usize, way: &str) -> Option<String> {
        let (left, right) = (&self.left.pieces[a], &self.right.pieces[b]);
        let end = (offset + 8).min(left.bytes.len()).min(right.bytes.len());
        let (x, y) = (&left.bytes[offset..end], &right.bytes[offset..end]);
        let place = |offset: usize| match way {
            "" => format!("byte {offset}"),
            way => format!("{way}, byte {offset}"),
        };
        if x.iter().all(|byte| *byte == FRESH) {
            return None;
        }
        if a < self.left.roots
            && let (Some(Some(text)), Some(Some(other))) =
                (self.left.texts.get(&(a, offset)), self.right.texts.get(&(b, offset)))
        {
            return (text != other).then(|| format!("the text that {} points to", place(offset)));
        }
        let words = left.word(offset).zip(right.word(offset));
        let led = words.map(|(x, y)| (self.left.locate(x), self.right.locate(y)));
        // A dangling pointer may point to memory that was allocated again.
        let dangle = words.is_some_and(|(x, y)| self.both_dangle(x, y));
        let pointer_differs = || (!dangle).then(|| format!("the pointer at {}", place(offset)));
        match led {
            // Input bytes may look like addresses, because the fuzzer uses values that it saw in comparisons.
            // So equal words are followed last, after all other words.
            Some((Some((p, into)), Some((q, also)))) if x == y => {
                if into == also && !left.given {
                    self.later.push((p, q, format!("behind the pointer at {}", place(offset))));
                }
                None
            }
            Some((Some(_), None) | (None, Some(_))) if x == y => None,
            Some((Some((p, into)), Some((q, also)))) => {
                let is_taken = self.strict && self.partner.iter().any(|(other, to)| *to == q && *other != p);
                if into != also || is_taken || *self.partner.get(&p).unwrap_or(&q) != q {
                    return pointer_differs();
                }
                self.partner.insert(p, q);
                if !self.pairs.iter().any(|pair| pair.0 == p) {
                    self.pairs.push((p, q, format!("behind the pointer at {}", place(offset))));
                }
                None
            }
            Some((Some(_), None) | (None, Some(_))) => pointer_differs(),
            Some((None, None)) | None => {
                if words.is_some_and(|(x, y)| self.same_kind(x, y)) {
                    return None;
                }
                let at = (0..x.len()).find(|i| x[*i] != y[*i] && x[*i] != FRESH)?;
                Some(format!("{} (C {:#04x}, Rust {:#04x})", place(offset + at), x[at], y[at]))
            }
        }
    }

    /// The next pair of pieces behind the same address on both sides, if no other pointer leads to either of
    /// them.
    fn put_off(&mut self) -> Option<(usize, usize, String)> {
        while !self.later.is_empty() {
            let (p, q, way) = self.later.remove(0);
            if !self.partner.contains_key(&p) && self.partner.values().all(|other| *other != q) {
                self.partner.insert(p, q);
                return Some((p, q, way));
            }
        }
        None
    }

    /// Whether both words point into the program, whose addresses differ between Rust and C, or both point to
    /// freed memory.
    fn same_kind(&self, x: usize, y: usize) -> bool {
        in_program(x) && in_program(y) || self.both_dangle(x, y)
    }

    /// Whether both addresses are in freed memory, which may have been allocated again.
    fn both_dangle(&self, x: usize, y: usize) -> bool {
        let dead = |picture: &Picture, at: usize| {
            picture.dead.iter().any(|p| (p.at..=p.at + p.size).contains(&at))
        };
        dead(self.left, x) && dead(self.right, y)
    }
}

pub(super) fn copy(piece: Piece) -> Vec<u8> {
    // SAFETY: the piece is allocated, and no other thread runs.
    unsafe { std::slice::from_raw_parts(piece.at as *const u8, piece.size) }.to_vec()
}

/// A text in the program or in known memory; `None` if the pointer leads elsewhere.
fn read_text(known: &[Piece], address: usize) -> Option<Vec<u8>> {
    if in_program(address) {
        // SAFETY: a constant of the program; a declared text ends with NUL.
        let text = unsafe { CStr::from_ptr(address as *const c_char) }.to_bytes();
        return Some(text[..text.len().min(TEXT)].to_vec());
    }
    let piece = known[find(known, address)?];
    let rest = copy(piece)[address - piece.at..].to_vec();
    Some(rest.into_iter().take(TEXT).take_while(|byte| *byte != 0).collect())
}
