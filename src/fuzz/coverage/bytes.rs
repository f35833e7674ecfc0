//! Readers for LLVM's tables: integers of fixed width, LEB128, and an error for malformed data.

use std::fmt;

/// A malformed table; the text names the malformed part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed(pub String);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

pub type Read<T> = std::result::Result<T, Malformed>;

/// A reading position in a table.
#[derive(Debug, Clone)]
pub struct Bytes<'a> {
    all: &'a [u8],
    at: usize,
}

impl<'a> Bytes<'a> {
    /// The position at the start.
    pub fn new(all: &'a [u8]) -> Self {
        Self { all, at: 0 }
    }

    pub fn is_empty(&self) -> bool {
        self.at >= self.all.len()
    }

    pub fn take(&mut self, n: usize) -> Read<&'a [u8]> {
        let end = self.at.checked_add(n).filter(|end| *end <= self.all.len());
        let Some(end) = end else {
            return Err(Malformed(format!("it ends at byte {}, within {n} bytes", self.all.len())));
        };
        let taken = &self.all[self.at..end];
        self.at = end;
        Ok(taken)
    }

    /// Skips to the next multiple of `to`, at most to the end of the table.
    pub fn align(&mut self, to: usize) {
        self.at = self.at.next_multiple_of(to).min(self.all.len());
    }

    fn array<const N: usize>(&mut self) -> Read<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    /// Little-endian, like both supported machines.
    pub fn u32(&mut self) -> Read<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// Little-endian.
    pub fn u64(&mut self) -> Read<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// An unsigned LEB128 number.
    pub fn leb(&mut self) -> Read<u64> {
        let mut value = 0_u64;
        for shift in (0..).step_by(7) {
            let byte = self.take(1)?[0];
            let part = u64::from(byte & 0x7f);
            if shift > 63 || part << shift >> shift != part {
                return Err(Malformed("a number has more than 64 bits".into()));
            }
            value |= part << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        Ok(value)
    }

    /// An unsigned LEB128 number that is a count or an index.
    pub fn index(&mut self) -> Read<usize> {
        small(self.leb()?)
    }

    /// An unsigned LEB128 number that is a line or a column.
    pub fn narrow(&mut self) -> Read<u32> {
        u32::try_from(self.leb()?).map_err(|_| Malformed("a line or column has more than 32 bits".into()))
    }
}

/// Converts a number to an index.
pub fn small(number: u64) -> Read<usize> {
    usize::try_from(number).map_err(|_| Malformed(format!("{number} is not a size")))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The inverse of [`Bytes::leb`].
    pub fn leb(mut value: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        loop {
            let low = (value & 0x7f) as u8;
            value >>= 7;
            bytes.push(if value == 0 { low } else { low | 0x80 });
            if value == 0 {
                return bytes;
            }
        }
    }

    #[test]
    fn known_numbers_are_read() {
        for (bytes, value) in
            [(&[0][..], 0), (&[0x7f], 127), (&[0x80, 1], 128), (&[0xe5, 0x8e, 0x26], 624_485)]
        {
            assert_eq!(Bytes::new(bytes).leb(), Ok(value));
        }
    }

    #[test]
    fn what_ends_early_or_is_too_wide_is_told() {
        assert!(Bytes::new(&[0x80]).leb().is_err());
        assert!(Bytes::new(&[0xff; 10]).leb().is_err());
        assert!(Bytes::new(&[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2]).leb().is_err());
        assert!(Bytes::new(&[1, 2, 3]).u32().is_err());
    }

    proptest! {
        #[test]
        fn every_number_comes_back(values in proptest::collection::vec(any::<u64>(), 0..20)) {
            let bytes: Vec<u8> = values.iter().flat_map(|value| leb(*value)).collect();
            let mut reader = Bytes::new(&bytes);
            let read: Vec<u64> = values.iter().map(|_| reader.leb().unwrap()).collect();
            prop_assert_eq!(read, values);
            prop_assert!(reader.is_empty());
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64), n in 0_usize..80) {
            let mut reader = Bytes::new(&bytes);
            while !reader.is_empty() && reader.leb().is_ok() {}
            drop(reader.take(n));
            reader.align(8);
            drop(reader.u64());
        }
    }
}
