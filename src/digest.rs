//! SHA-256 in lower-case hexadecimal. What is hashed, and what follows from a hash, is known to the callers.

use sha2::{Digest, Sha256};

/// The hash of a text or of bytes.
pub fn sha256(bytes: impl AsRef<[u8]>) -> String {
    hex(&Sha256::digest(bytes))
}

/// The hash of several texts, none of which runs into the next.
pub fn of_parts<T: AsRef<[u8]>>(parts: impl IntoIterator<Item = T>) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        let part = part.as_ref();
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hex(&hasher.finalize())
}

/// Two digits per byte.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_together() {
        assert_ne!(of_parts(["ab", "c"]), of_parts(["a", "bc"]));
        assert_eq!(hex(&[0, 255]), "00ff");
    }
}
