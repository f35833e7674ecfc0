//! A picture of all memory that can be reached from handles and other roots, which is compared with the other side's.
//! Written by cargo-implfuzz.

use super::ledger::{FRESH, blocks, copy, in_program};
use super::pieces::{BEFORE, Piece, PieceIndex};
use super::roots::{BY_MALLOC, Holder, Memory, Root};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::{CStr, c_char};

unsafe extern "C" {
    fn implfuzz_differ(a: *const u8, b: *const u8, from: usize, size: usize) -> usize;
    fn implfuzz_next_address(at: *const u8, from: usize, size: usize, low: usize, high: usize) -> usize;
}

/// Maximum number of bytes of a text that are compared.
const TEXT: usize = 512;

/// A copy of all memory that can be reached from some pieces of memory.
#[derive(Debug, Clone)]
pub struct Picture {
    /// The first pieces are the roots: handles, structs of the caller, returned pointers.
    pieces: Vec<Copied>,
    /// What holds each root. The piece of a root is empty if another root's piece holds it, or none.
    roots: Vec<Holder>,
    index: PieceIndex,
    /// Freed blocks; pointers to them dangle.
    dead: PieceIndex,
    /// The texts that handles point to, by piece and offset of the pointer.
    texts: BTreeMap<(usize, usize), Option<Vec<u8>>>,
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

impl Picture {
    /// Takes a picture: it begins with the `roots`, `known` is memory of the harness, and `texts` are the pointers to
    /// strings: a root and an offset from its beginning each.
    pub fn take(roots: &[Root], known: &[Piece], texts: &[(usize, usize)]) -> Self {
        let blocks = blocks();
        let sized = roots.iter().filter_map(|root| match root {
            Root::Memory(piece) if piece.size > 0 => Some(piece),
            Root::Memory(_) | Root::Handle(_) => None,
        });
        let candidates: Vec<Piece> = blocks.iter().chain(known).chain(sized).copied().collect();
        // The latest block wins, because a freed address may be allocated again.
        let live = PieceIndex::of(candidates.iter().copied().enumerate().filter(|(_, piece)| piece.live));
        let given: BTreeSet<usize> = known.iter().map(|known| known.at).collect();
        let limits = candidates
            .iter()
            .fold((usize::MAX, 0), |(low, high), p| (low.min(p.at - BEFORE.min(p.at)), high.max(p.at + p.size)));
        let dead = PieceIndex::of(blocks.iter().copied().filter(|block| !block.live).enumerate());
        let memory = Memory { candidates: &candidates, live: &live, dead: &dead };
        let (mut wholes, mut holders): (Vec<Piece>, Vec<Holder>) = (Vec::new(), Vec::new());
        for root in roots {
            let (whole, holder) = memory.holder(*root, &wholes);
            wholes.push(whole);
            holders.push(holder);
        }
        let mut pieces: Vec<Copied> = wholes.into_iter().map(|whole| Copied::of(whole, false, limits)).collect();
        let mut taken: BTreeSet<usize> = pieces.iter().map(|taken| taken.piece.at).collect();
        let mut at = 0;
        while at < pieces.len() {
            let words: Vec<usize> = pieces[at].links.iter().filter_map(|o| pieces[at].word(*o)).collect();
            for piece in words.into_iter().filter_map(|word| live.last(word)).map(|found| candidates[found]) {
                if taken.insert(piece.at) {
                    pieces.push(Copied::of(piece, given.contains(&piece.at), limits));
                }
            }
            at += 1;
        }
        let text = |&(root, offset): &(usize, usize)| {
            let Holder::Piece(piece, from) = holders[root] else { return None };
            let offset = from + offset;
            Some(((piece, offset), read_text(&candidates, &live, pieces[piece].word(offset)?)))
        };
        let texts = texts.iter().filter_map(text).collect();
        let index = PieceIndex::of(pieces.iter().map(|taken| taken.piece).enumerate());
        Self { roots: holders, index, dead, pieces, texts, names: Vec::new() }
    }

    /// Whether the memory of a handle is unknown, so that nothing of it is in the picture.
    pub fn lacks_a_handle(&self) -> bool {
        self.roots.contains(&Holder::Unknown)
    }

    /// Adds names for the first pieces.
    pub fn named(self, names: Vec<String>) -> Self {
        Self { names, ..self }
    }

    /// The target of a pointer: the piece and the offset in it.
    fn locate(&self, address: usize) -> Option<(usize, usize)> {
        let found = self.index.first(address)?;
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

    /// Whether handles lie at different places of the same block on both sides only because C aligns them: then the place
    /// depends on the address of the block.
    fn is_aligned_like(&self, other: &Self, root: usize) -> bool {
        let both = (self.roots[root], other.roots[root]);
        let (Holder::Piece(c, from), Holder::Piece(port, also)) = both else { return false };
        let addresses = (self.pieces[c].piece.at + from) | (other.pieces[port].piece.at + also);
        let alignment = 1usize << addresses.trailing_zeros();
        c == port && alignment > BY_MALLOC && from.abs_diff(also) < alignment
    }

    /// The picture in which the block of a handle begins with the first handle in it.
    fn without_lead(&self, root: usize) -> Option<Self> {
        let Holder::Piece(piece, _) = self.roots[root] else { return None };
        let in_block = self.roots.iter().filter_map(|holder| match holder {
            Holder::Piece(held, at) if *held == piece => Some(*at),
            _ => None,
        });
        let from = in_block.min()?;
        let mut cut = self.clone();
        for holder in &mut cut.roots {
            if let Holder::Piece(held, at) = holder && *held == piece {
                *at = at.checked_sub(from)?;
            }
        }
        let copied = &mut cut.pieces[piece];
        copied.piece = Piece { at: copied.piece.at + from, size: copied.piece.size - from, ..copied.piece };
        copied.bytes.drain(..from);
        copied.links.retain_mut(|at| at.checked_sub(from).map(|left| *at = left).is_some());
        let moved = |((held, at), text)| match held == piece {
            true => Some(((held, usize::checked_sub(at, from)?), text)),
            false => Some(((held, at), text)),
        };
        cut.texts = std::mem::take(&mut cut.texts).into_iter().filter_map(moved).collect();
        cut.index = PieceIndex::of(cut.pieces.iter().map(|taken| taken.piece).enumerate());
        Some(cut)
    }

    fn walked(&self, other: &Self, strict: bool) -> Option<String> {
        if self.roots.len() != other.roots.len() {
            return Some("the number of handles".into());
        }
        if let Some(root) = (0..self.roots.len()).find(|root| self.roots[*root] != other.roots[*root]) {
            let both = self.without_lead(root).zip(other.without_lead(root));
            return match both.filter(|_| self.is_aligned_like(other, root)) {
                Some((left, right)) => left.walked(&right, strict),
                None => Some("where the handle lies".into()),
            };
        }
        let roots = 0..self.roots.len();
        let mut walk = Walk {
            left: self,
            right: other,
            pairs: roots.clone().map(|root| Pair { c: root, port: root, behind: None }).collect(),
            partner: roots.clone().map(|root| (root, root)).collect(),
            taken: roots.clone().map(|root| (root, root)).collect(),
            followed: roots.collect(),
            later: VecDeque::new(),
            strict,
        };
        let mut at = 0;
        loop {
            if at == walk.pairs.len() {
                let pair = walk.put_off()?;
                walk.pairs.push(pair);
            }
            if let Some(what) = walk.pair(at) {
                return Some(what);
            }
            at += 1;
        }
    }
}

/// Corresponding pieces.
#[derive(Debug, Clone, Copy)]
struct Pair {
    c: usize,
    port: usize,
    /// The number of the pair from which a pointer leads here, and the offset of the pointer; none for roots.
    behind: Option<(usize, usize)>,
}

/// Longer paths of pointers are not spelled out.
const LONGEST_PATH: usize = 8;

/// Two pictures that are being compared.
struct Walk<'a> {
    left: &'a Picture,
    right: &'a Picture,
    pairs: Vec<Pair>,
    /// The port's piece for each of C's.
    partner: BTreeMap<usize, usize>,
    /// The first of C's pieces for each of the port's.
    taken: BTreeMap<usize, usize>,
    /// C's pieces in `pairs`.
    followed: BTreeSet<usize>,
    /// Pairs behind words that are equal on both sides and may not be addresses.
    later: VecDeque<Pair>,
    /// Whether no piece may correspond to two pieces.
    strict: bool,
}

impl Walk<'_> {
    /// The path to a pair in words; empty for a handle, which has no name.
    fn way(&self, number: usize) -> String {
        let (mut at, mut offsets) = (number, Vec::new());
        while let Some((before, offset)) = self.pairs[at].behind {
            offsets.push(offset);
            at = before;
        }
        let root = match (self.left.names.get(self.pairs[at].c), self.left.roots[self.pairs[at].c]) {
            (Some(name), _) if !name.is_empty() => name.clone(),
            (_, Holder::Piece(_, from)) if from > 0 => "the block of the handle".to_owned(),
            _ => String::new(),
        };
        if offsets.len() > LONGEST_PATH {
            let from = if root.is_empty() { "the handle" } else { root.as_str() };
            return format!("behind {} pointers from {from}, the last one at byte {}", offsets.len(), offsets[0]);
        }
        offsets.iter().rev().fold(root, |way, offset| format!("behind the pointer at {}", place(&way, *offset)))
    }

    /// The first difference in a pair of pieces.
    fn pair(&mut self, number: usize) -> Option<String> {
        let Pair { c, port, .. } = self.pairs[number];
        let (left, right) = (&self.left.pieces[c], &self.right.pieces[port]);
        let common = left.bytes.len().min(right.bytes.len());
        for offset in left.links.iter().filter(|offset| **offset + 8 <= common) {
            if let Some(what) = self.word(number, *offset) {
                return Some(what);
            }
        }
        let mut from = 0;
        loop {
            // SAFETY: reads only the common bytes of both pieces.
            from = unsafe { implfuzz_differ(left.bytes.as_ptr(), right.bytes.as_ptr(), from, common) };
            if from >= common {
                let beyond = left.bytes[common..].iter().position(|byte| *byte != FRESH)?;
                let way = self.way(number);
                let place = if way.is_empty() { "the handle" } else { way.as_str() };
                return Some(format!("{place}: C wrote byte {}, and the port's memory ends before it", common + beyond));
            }
            let offset = from - from % 8;
            if let Some(what) = self.word(number, offset) {
                return Some(what);
            }
            from = offset + 8;
        }
    }

    /// The difference in the word at this offset of two corresponding pieces.
    fn word(&mut self, number: usize, offset: usize) -> Option<String> {
        let Pair { c: a, port: b, .. } = self.pairs[number];
        let (left, right) = (&self.left.pieces[a], &self.right.pieces[b]);
        let end = (offset + 8).min(left.bytes.len()).min(right.bytes.len());
        let (x, y) = (&left.bytes[offset..end], &right.bytes[offset..end]);
        if x.iter().all(|byte| *byte == FRESH) {
            return None;
        }
        if let (Some(Some(text)), Some(Some(other))) =
                (self.left.texts.get(&(a, offset)), self.right.texts.get(&(b, offset)))
        {
            // A copy outlives the caller's memory, in which the place counts, too.
            let is_kept = |picture: &Picture, piece: &Copied| {
                picture.locate(piece.word(offset)?).map(|(found, _)| picture.pieces[found].given)
            };
            let kept = is_kept(self.left, left).zip(is_kept(self.right, right));
            if kept != Some((true, true)) {
                let is_same = text == other && kept.is_none_or(|(c, port)| c == port);
                return (!is_same).then(|| format!("the text that {} points to", self.place(number, offset)));
            }
        }
        let words = left.word(offset).zip(right.word(offset));
        let led = words.map(|(x, y)| (self.left.locate(x), self.right.locate(y)));
        // A dangling pointer may point to memory that was allocated again.
        let dangle = || words.is_some_and(|(x, y)| self.both_dangle(x, y));
        let pointer_differs = || (!dangle()).then(|| format!("the pointer at {}", self.place(number, offset)));
        match led {
            // Input bytes may look like addresses, because the fuzzer uses values that it saw in comparisons.
            // So equal words are followed last, after all other words.
            Some((Some((p, into)), Some((q, also)))) if x == y => {
                if into == also && !left.given {
                    self.later.push_back(Pair { c: p, port: q, behind: Some((number, offset)) });
                }
                None
            }
            Some((Some(_), None) | (None, Some(_))) if x == y => None,
            Some((Some((p, into)), Some((q, also)))) => {
                let is_taken = self.strict && self.taken.get(&q).is_some_and(|other| *other != p);
                if into != also || is_taken || *self.partner.get(&p).unwrap_or(&q) != q {
                    return pointer_differs();
                }
                self.match_up(p, q);
                if self.followed.insert(p) {
                    self.pairs.push(Pair { c: p, port: q, behind: Some((number, offset)) });
                }
                None
            }
            Some((Some(_), None) | (None, Some(_))) => pointer_differs(),
            Some((None, None)) | None => {
                if words.is_some_and(|(x, y)| self.same_kind(x, y)) {
                    return None;
                }
                let at = (0..x.len()).find(|i| x[*i] != y[*i] && x[*i] != FRESH)?;
                let place = self.place(number, offset + at);
                Some(format!("{place} (C {:#04x}, Rust {:#04x})", x[at], y[at]))
            }
        }
    }

    /// The next pair of pieces behind the same address on both sides, if no other pointer leads to either of
    /// them.
    fn put_off(&mut self) -> Option<Pair> {
        while let Some(pair) = self.later.pop_front() {
            if !self.partner.contains_key(&pair.c) && !self.taken.contains_key(&pair.port) {
                self.match_up(pair.c, pair.port);
                self.followed.insert(pair.c);
                return Some(pair);
            }
        }
        None
    }

    fn place(&self, number: usize, offset: usize) -> String {
        place(&self.way(number), offset)
    }

    fn match_up(&mut self, p: usize, q: usize) {
        self.partner.insert(p, q);
        self.taken.entry(q).or_insert(p);
    }

    /// Whether both words point into the program, whose addresses differ between Rust and C, or both point to
    /// freed memory.
    fn same_kind(&self, x: usize, y: usize) -> bool {
        in_program(x) && in_program(y) || self.both_dangle(x, y)
    }

    /// Whether both addresses are in freed memory, which may have been allocated again.
    fn both_dangle(&self, x: usize, y: usize) -> bool {
        self.left.dead.within(x).next().is_some() && self.right.dead.within(y).next().is_some()
    }
}

/// A byte at the end of a path, in words.
fn place(way: &str, offset: usize) -> String {
    match way {
        "" => format!("byte {offset}"),
        way => format!("{way}, byte {offset}"),
    }
}

/// A text in the program or in known memory; `None` if the pointer leads elsewhere.
fn read_text(known: &[Piece], index: &PieceIndex, address: usize) -> Option<Vec<u8>> {
    if in_program(address) {
        // SAFETY: a constant of the program; a declared text ends with NUL.
        let text = unsafe { CStr::from_ptr(address as *const c_char) }.to_bytes();
        return Some(text[..text.len().min(TEXT)].to_vec());
    }
    let piece = known[index.last(address)?];
    let rest = copy(piece)[address - piece.at..].to_vec();
    Some(rest.into_iter().take(TEXT).take_while(|byte| *byte != 0).collect())
}
