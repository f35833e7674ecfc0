//! The remark on a function whose two sides are reached to different parts.

use super::Reach;

/// Difference between the shares of both sides from which it is reported.
const GAP: f64 = 0.25;

impl Reach {
    /// A remark on the difference between both sides; `None` where it is small, or where the port did not return as
    /// often as C.
    pub fn parity(&self) -> Option<String> {
        if self.inputs.returned != self.inputs.accepted {
            return None;
        }
        let (c, rust) = (self.c.share().value()?.ratio(), self.rust.share().value()?.ratio());
        if (c - rust).abs() < GAP {
            return None;
        }
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        Some(match c > rust {
            true => format!(
                "C is reached to {}, the port is not ({}): dead code, or cases that C does not have",
                percent(c),
                percent(rust)
            ),
            false => format!(
                "the port is reached to {}, C is not ({}): the port may lack cases, or the inputs do",
                percent(rust),
                percent(c)
            ),
        })
    }
}
