//! The inputs on which the port as it ships was last compared with C, in a file of the campaign: proofs rest on these alone.

use super::campaign::Campaign;
use super::isolated_replay::framed;
use crate::error::Result;
use fs_err as fs;
use std::path::PathBuf;

impl Campaign {
    fn compared(&self) -> PathBuf {
        self.work.join("compared")
    }

    pub(super) fn keep_compared(&self, inputs: &[&Vec<u8>]) -> Result<()> {
        Ok(fs::write(self.compared(), framed(inputs))?)
    }

    pub(super) fn forget_compared(&self) {
        drop(fs::remove_file(self.compared()));
    }

    /// The inputs on which the port as it ships was last compared with C; `None` if it was not.
    pub fn compared_inputs(&self) -> Option<Vec<Vec<u8>>> {
        unframed(&fs::read(self.compared()).ok()?)
    }
}

/// The inputs in a file; `None` if its end is missing.
fn unframed(mut rest: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut inputs = Vec::new();
    while !rest.is_empty() {
        let (length, behind) = rest.split_first_chunk()?;
        let (input, behind) = behind.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        inputs.push(input.to_vec());
        rest = behind;
    }
    Some(inputs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_come_back_and_a_file_without_its_end_has_none() {
        let inputs = [vec![], vec![1, 2, 3], vec![0; 300]];
        let bytes = framed(&inputs.iter().collect::<Vec<_>>());
        assert_eq!(unframed(&bytes).as_deref(), Some(&inputs[..]));
        assert_eq!(unframed(&bytes[..bytes.len() - 1]), None);
        assert_eq!(unframed(&bytes[..2]), None);
        assert_eq!(unframed(&[]), Some(Vec::new()));
    }
}
