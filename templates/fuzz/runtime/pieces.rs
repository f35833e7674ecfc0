//! Pieces of memory, and which of them an address belongs to. States of thousands of blocks are compared after each
//! call, so a lookup reads a few pieces only, unless a large one lies over many others.
//! Written by cargo-implfuzz.

/// A piece of memory of a side.
#[derive(Debug, Clone, Copy)]
pub struct Piece {
    pub at: usize,
    pub size: usize,
    pub live: bool,
}

impl Piece {
    /// The address behind it.
    pub fn end(&self) -> usize {
        self.at + self.size
    }

    /// Whether both are the same memory.
    pub fn is(&self, other: &Self) -> bool {
        self.at == other.at && self.size == other.size
    }
}

/// Pointers may point up to this many bytes before their memory: C code steps back by what it has read ahead.
pub const BEFORE: usize = 16;

/// The pieces of a list, found by addresses. Pieces may overlap.
#[derive(Debug, Clone, Default)]
pub struct PieceIndex {
    /// Begin, end and number of each piece, by begin.
    sorted: Vec<(usize, usize, usize)>,
    /// The largest end of the pieces up to each.
    reach: Vec<usize>,
}

impl PieceIndex {
    /// The pieces with their numbers.
    pub fn of(pieces: impl Iterator<Item = (usize, Piece)>) -> Self {
        let mut sorted: Vec<_> =
            pieces.map(|(number, piece)| (piece.at, piece.at + piece.size, number)).collect();
        sorted.sort_unstable();
        let mut largest = 0;
        let mut reached = |end: usize| {
            largest = largest.max(end);
            largest
        };
        let reach = sorted.iter().map(|(_, end, _)| reached(*end)).collect();
        Self { sorted, reach }
    }

    /// The numbers of the pieces in which an address lies. One past the end still belongs to a piece.
    pub fn within(&self, address: usize) -> impl Iterator<Item = usize> {
        let begun = self.sorted.partition_point(|(at, ..)| *at <= address);
        let reaching = (0..begun).rev().take_while(move |i| self.reach[*i] >= address);
        reaching.map(|i| self.sorted[i]).filter(move |(_, end, _)| *end >= address).map(|(.., number)| number)
    }

    /// The numbers of the pieces that begin directly behind an address.
    pub fn behind(&self, address: usize) -> impl Iterator<Item = usize> {
        let begun = self.sorted.partition_point(|(at, ..)| *at <= address);
        let near =
            self.sorted[begun..].iter().take_while(move |(at, ..)| *at <= address.saturating_add(BEFORE));
        near.map(|(.., number)| *number)
    }

    /// The piece with the largest number to which an address belongs.
    pub fn last(&self, address: usize) -> Option<usize> {
        self.within(address).max().or_else(|| self.behind(address).max())
    }

    /// The piece with the smallest number to which an address belongs.
    pub fn first(&self, address: usize) -> Option<usize> {
        self.within(address).min().or_else(|| self.behind(address).min())
    }
}
