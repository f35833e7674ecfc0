//! A point is the number of an input, taken apart into arguments digit by digit. Written by cargo-implfuzz.

/// What is left of a point.
pub struct Digits {
    left: u64,
    /// What stands in outputs before the call.
    fill: [u8; 4],
}

impl Digits {
    /// With `outputs`, each input comes twice, with contents of the outputs that differ in every bit: no constant passes for
    /// memory that C leaves alone.
    pub fn new(point: u64, outputs: bool) -> Self {
        if !outputs {
            return Self { left: point, fill: [0; 4] };
        }
        let left = point / 2;
        // Another content for every input: what a port takes for granted in its output seldom comes twice.
        let mixed = ((left ^ 0x5a5a_5a5a).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32;
        let seed = if point % 2 == 0 { mixed } else { !mixed };
        Self { left, fill: seed.to_le_bytes() }
    }

    /// Whether the point was one of those that there are.
    pub fn is_spent(&self) -> bool {
        self.left == 0
    }

    /// A digit of `n` values, from 0.
    pub fn below(&mut self, n: u64) -> u64 {
        let digit = self.left % n;
        self.left /= n;
        digit
    }

    /// A part that has `n` values of its own; the last of them is null.
    pub fn nullable<T>(&mut self, n: u64, some: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let mut part = Self { left: self.below(n + 1), fill: self.fill };
        (part.left < n).then(|| some(&mut part))
    }

    /// A buffer of at most `max` elements, each with `n` values: the empty one, those of one element, and so on.
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

    /// The content of an output before the call.
    pub fn fill(&self) -> [u8; 4] {
        self.fill
    }

    /// The same for a buffer of `n` elements.
    pub fn outputs(&self, n: u64) -> (usize, [u8; 4]) {
        (n as usize, self.fill)
    }
}
