//! Where a driver showed a difference: the call, and under which answer of the system.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::num::NonZeroU64;

/// The call in a driver's execution in which a port differs from C.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallInPlace {
    /// The driver's file, relative to the root.
    pub driver: String,
    /// Number of the function's call in that execution, from 1; 0 where only the driver's end differs.
    pub call: u64,
    /// Number of the allocation in that call that fails on both sides, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing: Option<NonZeroU64>,
    /// What the system answers otherwise in that call than it did in the driver's execution, on both sides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_answer: Option<OtherAnswer>,
}

impl CallInPlace {
    /// What both sides met in the call that the driver's execution did not, in words behind "where".
    pub fn condition(&self) -> Option<String> {
        condition(self.failing, self.other_answer.as_ref())
    }
}

/// The same, from its parts.
pub fn condition(failing: Option<NonZeroU64>, other_answer: Option<&OtherAnswer>) -> Option<String> {
    let allocation = failing.map(|nth| format!("allocation {nth} of the call fails"));
    allocation.or_else(|| other_answer.map(ToString::to_string))
}

/// An answer of the system that could have been, and was not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherAnswer {
    /// The function of the C library.
    pub function: String,
    pub how: Answered,
}

/// How the system answers otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answered {
    /// Fewer bytes or items than were asked for.
    Fewer,
    /// The end of the file.
    End,
    Failure,
    /// Another number, time or text.
    Other,
}

impl fmt::Display for OtherAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { function, how } = self;
        match how {
            Answered::Fewer => write!(f, "{function} does less than it is asked for"),
            Answered::End => write!(f, "{function} finds the end"),
            Answered::Failure => write!(f, "{function} fails"),
            Answered::Other => write!(f, "{function} gives another answer"),
        }
    }
}
