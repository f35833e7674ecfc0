//! From what was measured to a grade: pure. `judge` measures; the thresholds are in `config::grade`.

use crate::config::{Grades, Least};
use crate::symbol::SymbolName;
use crate::verdict::{Grade, Measured, Proofs, RunStats, Share};

/// What is known without a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Beside<'a> {
    /// The functions that the port calls and that still run as C.
    pub callees_in_c: &'a [SymbolName],
    /// The model that proposed the contract.
    pub proposed_by: Option<&'a str>,
    /// C accesses `volatile` or atomic memory.
    pub volatile: bool,
}

/// The grade of a port that nothing refuted, and what keeps it from being better.
pub fn grade(stats: &RunStats, proofs: &Proofs, beside: Beside, asked: &Grades) -> (Grade, Vec<String>) {
    let mut short = Vec::new();
    // Where every input was run, there is no more to run, and no branch left to reach.
    let is_all = stats.space.is_some();
    let executions = stats.executions + stats.in_place;
    if !is_all && executions < asked.executions {
        // In place, calls with the same arguments count once.
        let what = if stats.executions == 0 && stats.in_place > 0 { "different calls" } else { "executions" };
        short.push(format!("{executions} {what} of {}", asked.executions));
    }
    // In place there is no input that C does not accept.
    if stats.executions > 0 || stats.in_place == 0 {
        short.extend(accepted(stats.accept_rate(), asked));
    }
    let ended: u64 = stats.rejected.iter().filter(|(why, _)| why == EXITS).map(|(_, count)| count).sum();
    if ended > 0 {
        short.push(format!("C ends the program on {ended} inputs, which only drivers can judge"));
    }
    let constants = stats.rejected.iter().filter(|(why, _)| why.ends_with(CONSTANT));
    short.extend(
        constants.map(|(why, _)| format!("the contract is wrong: C {}", why.trim_start_matches("it "))),
    );
    short.extend(kills(&proofs.kills, asked));
    if let Measured::No(why) = &proofs.apart {
        short.push(format!("separate processes: {why}"));
    }
    match &proofs.branches {
        _ if is_all => {}
        Measured::No(why) => short.push(format!("coverage of C: {why}")),
        Measured::Yes(share) if share.ratio() < asked.branches => {
            short.push(format!("{} of {} branches of C reached", share.reached, share.total));
        }
        Measured::Yes(_) => {}
    }
    if !beside.callees_in_c.is_empty() {
        let names: Vec<&str> = beside.callees_in_c.iter().map(SymbolName::as_str).collect();
        short.push(format!("{CALLS_C}{}", names.join(", ")));
    }
    if let Some(model) = beside.proposed_by {
        short.push(format!("{model} proposed its contract, which is not approved yet"));
    }
    if beside.volatile {
        short.push(VOLATILE.to_owned());
    }
    let grade = match (short.is_empty(), is_all) {
        (false, _) => Grade::Weak,
        (true, false) => Grade::Verified,
        (true, true) => Grade::Exhaustive,
    };
    (grade, short)
}

/// Only the last state of memory is compared, and a device or another thread sees each access.
const VOLATILE: &str = "C accesses volatile or atomic memory, and the order of accesses is not compared";

/// The reason of the guard for an input on which C calls `exit`.
const EXITS: &str = "exit";

/// The end of the harness's reason for an input on which C writes where the contract says that it only reads.
const CONSTANT: &str = ", which the contract declares constant";

/// The beginning of the shortcoming of a port that calls functions which still run as C.
const CALLS_C: &str = "calls C: ";

/// Whether such calls are all that keeps a port from a better grade: its evidence is not thin, its callees are not ported.
pub fn only_calls_c(reason: &str) -> bool {
    reason.starts_with(CALLS_C) && !reason.contains("; ")
}

/// What the share of accepted inputs is short of.
pub fn accepted(rate: Option<f64>, asked: &Grades) -> Option<String> {
    match rate {
        None => Some("nothing was executed".to_owned()),
        Some(rate) if rate < asked.accept_rate => {
            Some(format!("C accepts {:.0} % of the inputs", rate * 100.0))
        }
        Some(_) => None,
    }
}

/// What the kills are short of. Zero of zero is no proof.
pub fn kills(kills: &Measured<Share>, asked: &Grades) -> Option<String> {
    match kills {
        Measured::No(why) => Some(format!("mutants of C: {why}")),
        Measured::Yes(Share { total: 0, .. }) => Some("mutants of C: there is none to kill".to_owned()),
        Measured::Yes(share) if share.ratio() < asked.kills => {
            Some(format!("{} of {} mutants of C killed", share.reached, share.total))
        }
        Measured::Yes(_) => None,
    }
}

/// Whether a grade is one to be content with.
pub fn is_enough(grade: Grade, least: Least) -> bool {
    match grade {
        Grade::Verified | Grade::Exhaustive => true,
        Grade::Weak => least <= Least::Weak,
        Grade::Unverifiable => least == Least::Unverifiable,
        Grade::Stub | Grade::Unjudged | Grade::Stale | Grade::Refuted => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enough() -> (RunStats, Proofs) {
        let stats = RunStats { executions: 10_000, ..RunStats::default() };
        let share = |reached, total| Measured::Yes(Share { reached, total });
        (stats, Proofs { kills: share(4, 5), apart: share(70, 70), branches: share(9, 10) })
    }

    fn short(change: impl FnOnce(&mut RunStats, &mut Proofs)) -> String {
        let (mut stats, mut proofs) = enough();
        change(&mut stats, &mut proofs);
        let (grade, short) = grade(&stats, &proofs, Beside::default(), &Grades::default());
        assert_eq!(grade, Grade::Weak, "{short:?}");
        short.join("; ")
    }

    #[test]
    fn with_every_proof_it_is_verified() {
        let (stats, proofs) = enough();
        assert_eq!(
            grade(&stats, &proofs, Beside::default(), &Grades::default()),
            (Grade::Verified, Vec::new())
        );
    }

    #[test]
    fn with_every_input_run_it_is_exhaustive_if_the_harness_sees_mutants_and_nothing_is_left_in_c() {
        let asked = Grades::default();
        let stats = RunStats { executions: 256, space: Some(256), ..RunStats::default() };
        let proofs = Proofs { branches: Measured::default(), ..enough().1 };
        assert_eq!(grade(&stats, &proofs, Beside::default(), &asked), (Grade::Exhaustive, Vec::new()));
        let f = [SymbolName::new("f")];
        let calling = Beside { callees_in_c: &f, ..Beside::default() };
        assert_eq!(grade(&stats, &proofs, calling, &asked).0, Grade::Weak);
        assert_eq!(grade(&stats, &Proofs::default(), Beside::default(), &asked).0, Grade::Weak);
        let rejected = RunStats { rejected: vec![("shift".into(), 200)], ..stats };
        assert_eq!(grade(&rejected, &proofs, Beside::default(), &asked).0, Grade::Weak);
    }

    #[test]
    fn each_missing_proof_is_said() {
        let none = short(|stats, _| stats.executions = 0);
        assert_eq!(none, "0 executions of 10000; nothing was executed");
        let calls = short(|stats, _| (stats.executions, stats.in_place) = (0, 37));
        assert_eq!(calls, "37 different calls of 10000");
        let rejected = short(|stats, _| stats.rejected = vec![("shift".into(), 5_001)]);
        assert_eq!(rejected, "C accepts 50 % of the inputs");
        let ended = short(|stats, _| stats.rejected = vec![("exit".into(), 3), ("shift".into(), 9)]);
        assert_eq!(ended, "C ends the program on 3 inputs, which only drivers can judge");
        let changes = "changes `p`, which the contract declares constant";
        let changed = short(|stats, _| stats.rejected = vec![(format!("it {changes}"), 1)]);
        assert_eq!(changed, format!("the contract is wrong: C {changes}"));
        assert_eq!(short(|_, p| p.kills = Measured::default()), "mutants of C: unmeasured");
        let kills = |reached, total| {
            move |_: &mut RunStats, p: &mut Proofs| p.kills = Measured::Yes(Share { reached, total })
        };
        assert_eq!(short(kills(0, 0)), "mutants of C: there is none to kill");
        assert_eq!(short(kills(7, 9)), "7 of 9 mutants of C killed");
        assert_eq!(short(|_, p| p.apart = Measured::default()), "separate processes: unmeasured");
        assert_eq!(short(|_, p| p.branches = Measured::default()), "coverage of C: unmeasured");
        let branches = Measured::Yes(Share { reached: 0, total: 0 });
        assert_eq!(short(|_, p| p.branches = branches), "0 of 0 branches of C reached");
    }

    #[test]
    fn what_calls_c_is_weak_whatever_else_it_shows() {
        let (stats, proofs) = enough();
        let f = [SymbolName::new("f")];
        let calling = Beside { callees_in_c: &f, ..Beside::default() };
        let (grade, short) = grade(&stats, &proofs, calling, &Grades::default());
        assert!(only_calls_c(&short.join("; ")) && !only_calls_c(&format!("{}; 7 of 9", short.join("; "))));
        assert_eq!((grade, short), (Grade::Weak, vec!["calls C: f".to_owned()]));
    }

    #[test]
    fn what_accesses_volatile_memory_is_weak_whatever_else_it_shows() {
        let (stats, proofs) = enough();
        let volatile = Beside { volatile: true, ..Beside::default() };
        let (grade, short) = grade(&stats, &proofs, volatile, &Grades::default());
        assert_eq!((grade, short), (Grade::Weak, vec![VOLATILE.to_owned()]));
    }

    #[test]
    fn under_a_contract_that_nobody_approved_of_it_is_weak_whatever_else_it_shows() {
        let (mut stats, proofs) = enough();
        for space in [None, Some(256)] {
            stats.space = space;
            let (grade, short) = grade(
                &stats,
                &proofs,
                Beside { proposed_by: Some("m"), ..Beside::default() },
                &Grades::default(),
            );
            let said = "m proposed its contract, which is not approved yet";
            assert_eq!((grade, short), (Grade::Weak, vec![said.to_owned()]));
        }
    }

    #[test]
    fn only_verified_is_enough_by_default() {
        let asked = Grades::default().least;
        assert!(is_enough(Grade::Verified, asked) && is_enough(Grade::Exhaustive, asked));
        assert!(!is_enough(Grade::Weak, asked) && !is_enough(Grade::Unverifiable, asked));
        assert!(is_enough(Grade::Weak, Least::Weak) && !is_enough(Grade::Refuted, Least::Weak));
        assert!(!is_enough(Grade::Unverifiable, Least::Weak));
        assert!(is_enough(Grade::Unverifiable, Least::Unverifiable));
        assert!(!is_enough(Grade::Unjudged, Least::Unverifiable));
    }
}
