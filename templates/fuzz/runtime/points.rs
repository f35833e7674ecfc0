//! Decodes a point, the number of an input, into arguments digit by digit.
//! Written by cargo-implfuzz.

/// The part of a point that is not yet decoded.
pub struct Digits {
    left: u64,
    /// The content of outputs before the call.
    fill: [u8; 4],
}

impl Digits {
    /// With `outputs`, each input occurs twice, with contents of the outputs that differ in every bit, so
    /// that a constant cannot be mistaken for memory that C leaves unchanged.
    pub fn new(point: u64, outputs: bool) -> Self {
        if !outputs {
            return Self { left: point, fill: [0; 4] };
        }
        let left = point / 2;
        // Another content for every input, so that a port cannot rely on a certain content.
        let mixed = ((left ^ 0x5a5a_5a5a).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32;
        let seed = if point % 2 == 0 { mixed } else { !mixed };
        Self { left, fill: seed.to_le_bytes() }
    }

    /// Whether the point was valid: no digits are left.
    pub fn is_spent(&self) -> bool {
        self.left == 0
    }

    /// A digit from 0 to `n` - 1.
    pub fn below(&mut self, n: u64) -> u64 {
        let digit = self.left % n;
        self.left /= n;
        digit
    }

    /// A part with `n` values, or null as the last one.
    pub fn nullable<T>(&mut self, n: u64, some: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let mut part = Self { left: self.below(n + 1), fill: self.fill };
        (part.left < n).then(|| some(&mut part))
    }

    /// A buffer of at most `max` elements with `n` values each: the empty one first, then those of one
    /// element, and so on.
    pub fn buffer<T>(&mut self, n: u64, max: usize, mut element: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let sizes = || std::iter::successors(Some(1u64), |size| Some(size.saturating_mul(n)));
        let total = sizes().take(max + 1).sum();
        let mut part = Self { left: self.below(total), fill: self.fill };
        let mut length = 0;
        for size in sizes().take(max + 1) {
            if part.left < size {
                break;
            }
            part.left -= size;
            length += 1;
        }
        (0..length).map(|_| element(&mut part)).collect()
    }

    pub fn fill(&self) -> [u8; 4] {
        self.fill
    }

    /// The size and content of an output of `n` elements.
    pub fn outputs(&self, n: u64) -> (usize, [u8; 4]) {
        (n as usize, self.fill)
    }
}
