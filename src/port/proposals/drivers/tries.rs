//! How often a model is asked again about one driver: a pure function of what its answers came to.

use crate::config::Limits;

/// What was wrong with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// It does not compile, or may not run.
    DoesNotRun,
    /// It has no driver, or the driver reaches nothing new.
    NothingNew,
    /// C breaks on an input of it.
    Breaks,
}

/// The answers so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tries {
    runs_not: u32,
    nothing_new: u32,
    breaks: u32,
}

impl Tries {
    /// Counts a fault; whether the model is asked again. The limits are those of ports.
    pub fn again(&mut self, fault: Fault, limits: &Limits) -> bool {
        let (count, most) = match fault {
            Fault::DoesNotRun => (&mut self.runs_not, limits.compile_fixes),
            Fault::NothingNew => (&mut self.nothing_new, limits.validation_fixes),
            Fault::Breaks => (&mut self.breaks, limits.false_positive_fixes),
        };
        *count += 1;
        *count <= most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fault() -> impl Strategy<Value = Fault> {
        prop_oneof![Just(Fault::DoesNotRun), Just(Fault::NothingNew), Just(Fault::Breaks)]
    }

    proptest! {
        #[test]
        fn asking_ends_within_the_limits(
            faults in prop::collection::vec(fault(), 40),
            limits in (0u32..4, 0u32..4, 0u32..4),
        ) {
            let (compile_fixes, validation_fixes, false_positive_fixes) = limits;
            let limits = Limits { compile_fixes, validation_fixes, false_positive_fixes, ..Limits::default() };
            let mut tries = Tries::default();
            let asked = faults.iter().take_while(|fault| tries.again(**fault, &limits)).count();
            prop_assert!(asked <= (compile_fixes + validation_fixes + false_positive_fixes) as usize);
        }
    }
}
