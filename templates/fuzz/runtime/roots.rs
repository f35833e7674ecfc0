//! Where a picture begins, and which piece of memory holds it.
//! Written by cargo-implfuzz.

use super::ledger::in_program;
use super::pieces::{Piece, PieceIndex};

/// Every block of `malloc` begins at a multiple of this. Memory of the harness may begin elsewhere.
pub(super) const BY_MALLOC: usize = 16;

/// Where a picture begins.
#[derive(Debug, Clone, Copy)]
pub enum Root {
    /// Memory of the harness.
    Memory(Piece),
    /// The address of a handle in memory of C or the port; its whole block is in the picture.
    Handle(usize),
}

/// What holds a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holder {
    /// The piece with this number, and the offset in it.
    Piece(usize, usize),
    /// The program itself: a constant of the library, since contracts admit no variable.
    Program,
    /// A block that was freed.
    Freed,
    Unknown,
}

/// The memory of a side.
pub(super) struct Memory<'a> {
    pub(super) candidates: &'a [Piece],
    /// The candidates that are not freed, by number.
    pub(super) live: &'a PieceIndex,
    /// Freed blocks.
    pub(super) dead: &'a PieceIndex,
}

impl Memory<'_> {
    /// The piece of a root, and what holds the root. The piece is empty if one of the earlier roots' pieces holds it, or none.
    pub(super) fn holder(&self, root: Root, earlier: &[Piece]) -> (Piece, Holder) {
        let at = match root {
            Root::Memory(piece) => {
                let whole = self.live.last(piece.at).map(|found| self.candidates[found]);
                let whole = whole.filter(|whole| whole.at == piece.at).unwrap_or(piece);
                return (whole, Holder::Piece(earlier.len(), 0));
            }
            Root::Handle(at) => at,
        };
        let holds = |found: &usize| at == self.candidates[*found].at || at < self.candidates[*found].end();
        // The size of the handle is known only from its block.
        let found = self.live.within(at).filter(holds).max().map(|found| self.candidates[found]);
        let empty = Piece { at, size: 0, live: true };
        let Some(block) = found else {
            let holder = match self.dead.within(at).next() {
                _ if in_program(at) => Holder::Program,
                Some(_) => Holder::Freed,
                None => Holder::Unknown,
            };
            return (empty, holder);
        };
        match earlier.iter().position(|piece| piece.is(&block)) {
            Some(known) => (empty, Holder::Piece(known, at - block.at)),
            None => (block, Holder::Piece(earlier.len(), at - block.at)),
        }
    }
}
