use serde::{Deserialize, Serialize};

/// Which way data goes through a pointer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    In,
    Out,
    InOut,
}

impl Direction {
    /// The words of prompts for ports: "input buffer".
    pub(super) fn adjective(self) -> &'static str {
        match self {
            Self::In => "input",
            Self::Out => "output",
            Self::InOut => "input and output",
        }
    }

    /// What is compared after a call.
    pub(super) fn compared(self) -> &'static str {
        match self {
            Self::In => "",
            Self::Out => {
                "; its contents before the call are arbitrary, all of it is compared after, also where C writes nothing"
            }
            Self::InOut => "; all of it is compared after the call",
        }
    }

    /// What C does there.
    pub(super) fn verb(self) -> &'static str {
        match self {
            Self::In => "reads",
            Self::Out => "writes",
            Self::InOut => "reads and writes",
        }
    }

    pub(super) fn word(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}
