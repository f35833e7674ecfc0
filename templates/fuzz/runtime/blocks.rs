//! Memory blocks whose owner changes: a returned block, and blocks that the function must free.
//! Written by cargo-implfuzz.

use super::codec::show_bytes;
use super::digest::Digest;
use super::ledger::{self, FRESH};
use super::pieces::Piece;
use super::record::Record;
use super::report::Parts;
use std::ffi::c_void;

/// Maximum length of a block for either side; longer allocations fail.
const LONGEST: usize = 1 << 20;

/// From now on, allocations and frees belong to the call.
pub fn begin() {
    ledger::start();
    ledger::limit(LONGEST);
}

/// A block for the function, allocated with the side's own allocator.
pub struct Given(*mut c_void);

impl Given {
    pub fn new(content: &[u8]) -> Self {
        let _watch = ledger::Watch::on();
        // SAFETY: a new block, as long as the content that is copied into it.
        unsafe {
            let at = libc::malloc(content.len());
            assert!(!at.is_null(), "there is memory for a few bytes");
            std::ptr::copy_nonoverlapping(content.as_ptr(), at.cast::<u8>(), content.len());
            Self(at)
        }
    }

    pub fn ptr(&self) -> *mut c_void {
        self.0
    }
}

/// The target of a returned pointer.
enum Returned {
    Null,
    Block(Vec<u8>),
    /// Memory that was not allocated in this call.
    Foreign,
}

impl Returned {
    fn of(at: usize, live: &[Piece]) -> Self {
        match live.iter().find(|piece| piece.at == at) {
            _ if at == 0 => Self::Null,
            Some(piece) => Self::Block(ledger::copy(*piece)),
            None => Self::Foreign,
        }
    }
}

/// The state of all blocks after a call.
pub struct Blocks {
    returned: Returned,
    /// The contents of the given blocks; `None` for freed ones.
    given: Vec<(&'static str, Option<Vec<u8>>)>,
    /// Number of other blocks that are not freed.
    more: usize,
    bad_frees: usize,
}

/// Records the state after a call, and frees the remaining blocks. `returned` is null if no block is
/// returned.
pub fn end(given: &[(&'static str, Option<&Given>)], returned: *const c_void) -> Blocks {
    let all = ledger::blocks();
    let live: Vec<Piece> = all.iter().copied().filter(|piece| piece.live).collect();
    let is_given = |piece: &Piece| given.iter().any(|(_, block)| block.is_some_and(|b| b.0 as usize == piece.at));
    // The given blocks are the oldest: after a free, an address may have been allocated again.
    let left = |block: &Given| {
        let piece = all.iter().find(|piece| piece.at == block.0 as usize).filter(|piece| piece.live);
        piece.map(|piece| ledger::copy(*piece))
    };
    let kept = given.iter().filter_map(|(name, block)| Some((*name, left((*block)?)))).collect();
    let is_more = |piece: &&Piece| !is_given(piece) && piece.at != returned as usize;
    let blocks = Blocks {
        returned: Returned::of(returned as usize, &live),
        given: kept,
        more: live.iter().filter(is_more).count(),
        bad_frees: ledger::bad_frees(),
    };
    ledger::release();
    blocks
}

impl Blocks {
    /// Whether the returned pointer is null or allocated; otherwise nothing is known about its target.
    pub fn is_own(&self) -> bool {
        !matches!(self.returned, Returned::Foreign)
    }

    /// The first difference. Bytes that C never wrote are equal to anything.
    pub fn differs(&self, port: &Self) -> Option<String> {
        if self.bad_frees != port.bad_frees {
            return Some("memory is freed twice, or was never allocated".into());
        }
        match (&self.returned, &port.returned) {
            (Returned::Null, Returned::Null) => {}
            (Returned::Block(a), Returned::Block(b)) if a.len() != b.len() => {
                return Some("the length of the returned block".into());
            }
            (Returned::Block(a), Returned::Block(b)) => {
                let is_other = |at: &usize| a[*at] != FRESH && a[*at] != b[*at];
                if let Some(at) = (0..a.len()).find(is_other) {
                    return Some(format!("byte {at} of the returned block"));
                }
            }
            _ => return Some("returned pointer".into()),
        }
        for ((name, a), (_, b)) in self.given.iter().zip(&port.given) {
            match (a, b) {
                _ if a == b => {}
                (Some(_), Some(_)) => return Some(format!("what stands behind `{name}`")),
                _ => return Some(format!("whether `{name}` is freed")),
            }
        }
        (self.more != port.more).then(|| "the number of blocks that are never freed".into())
    }

    pub fn shown(&self) -> Parts {
        let mut parts = Parts::new();
        match &self.returned {
            Returned::Null => {}
            Returned::Block(content) => {
                parts.push(("returned block".into(), format!("{} bytes: {}", content.len(), show_bytes(content))));
            }
            Returned::Foreign => parts.push(("returned block".into(), "none that was allocated".into())),
        }
        for (name, content) in &self.given {
            let text = content.as_ref().map_or("freed".to_owned(), |c| format!("not freed: {}", show_bytes(c)));
            parts.push((format!("`{name}`"), text));
        }
        if self.more > 0 {
            parts.push(("blocks never freed".into(), self.more.to_string()));
        }
        if self.bad_frees > 0 {
            parts.push(("bad frees".into(), self.bad_frees.to_string()));
        }
        parts
    }

    /// Which bytes of a returned block C never wrote is known only if both sides run in one process.
    /// Otherwise its content is left out.
    pub fn put(&self, record: &mut Record) {
        let length = match &self.returned {
            Returned::Null => 0,
            Returned::Block(content) => content.len() as u64 + 1,
            Returned::Foreign => u64::MAX,
        };
        record.number("returned block", length);
        match &self.returned {
            Returned::Block(content) if !content.contains(&FRESH) => {
                let mut digest = Digest::new();
                digest.bytes(content);
                record.put("content of the returned block", digest);
            }
            Returned::Block(_) | Returned::Null | Returned::Foreign => record.unknown("content of the returned block"),
        }
        for (name, content) in &self.given {
            let mut digest = Digest::new();
            digest.bytes(&content.as_ref().map_or(u64::MAX, |c| c.len() as u64).to_le_bytes());
            digest.bytes(content.as_deref().unwrap_or_default());
            record.put(&format!("`{name}`"), digest);
        }
        record.number("blocks never freed", self.more as u64);
        record.number("bad frees", self.bad_frees as u64);
    }
}
