//! Evaluates written inputs: their decoded arguments, C's results, and the mutants of C that they kill.

use super::campaign::{ASAN_OPTIONS, Campaign, Mutated, Subject};
use super::isolated_replay::framed;
use super::libfuzzer_process::reported;
use super::mutants::{CALL_TIMEOUT_MS, STALLS, all_but, ran_last};
use super::report::{Alone, AloneOutcome, Said, Told};
use crate::error::{Error, ErrorKind, Result};
use crate::fuzz::values::wire;
use crate::platform::process::{Exit, Interrupt, Output, time_limits};
use crate::verdict::Measured;
use fs_err as fs;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

/// An input that the harness can decode.
#[derive(Debug, Clone, PartialEq)]
pub struct Readable {
    pub bytes: Vec<u8>,
    /// Its arguments in the tool's canonical JSON.
    pub canonical: Value,
}

/// C's result, the same in two runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Left {
    /// The arguments that C received, in canonical JSON. They equal those of the input if the harness decoded
    /// it as intended.
    pub given: Value,
    pub value: Value,
    /// A hash of each part that a harness compares: two results are equal if these are.
    pub record: Vec<(String, String)>,
}

/// C's result for one input, or the reason why it was discarded.
pub type Outcome = std::result::Result<(Readable, Left), String>;

/// The numbers of the mutants that one input kills; `None` if C gave no result in either of two attempts when
/// mutants ran beside it.
pub type Kills = Option<BTreeSet<usize>>;

/// Converts each input to the fuzz process's text, within the size limit of all texts.
fn texts(inputs: &[Value]) -> Vec<std::result::Result<String, String>> {
    let mut room = TEXTS;
    let one = |input| {
        let text = wire::to_text(input)?;
        room = room.checked_sub(text.len()).ok_or("it is too large together with the inputs before it")?;
        Ok(text)
    };
    inputs.iter().map(one).collect()
}

/// Keys in C's arguments that show that the harness used or made another handle than the input names. The
/// fuzzer keeps such inputs, but as a test they would claim a call sequence that their author did not write.
const OTHER: [(&str, &str); 2] = [
    ("$spare", "no handle is left for the call: the constructor made none, or it was ended before"),
    ("$mistaken", "a call asks for a handle that is not there: it was not made yet, or was ended before"),
];
/// Maximum size of all texts in one request, bytes.
const TEXTS: usize = 32 << 20;

impl Campaign {
    /// The decoded form of each input, or the reason why it is invalid.
    pub fn read_inputs(
        &self,
        inputs: &[Value],
        interrupt: &Interrupt,
    ) -> Result<Vec<std::result::Result<Readable, String>>> {
        let texts = texts(inputs);
        let lines: Vec<&str> = texts.iter().map(|text| text.as_deref().unwrap_or("")).collect();
        let (output, mut said) = self.said_of(&lines, time_limits::PROPOSED_INPUTS, interrupt)?;
        let mut ends = BTreeMap::new();
        if !output.exit.success() {
            // If the process fails even without an input, no input is the cause.
            let (without, _) = self.said_of(&[], time_limits::PROPOSED_INPUT, interrupt)?;
            if !without.exit.success() {
                return Err(ended("reading inputs", &without));
            }
            for (number, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
                if said.contains_key(&number) {
                    continue;
                }
                let (output, mut alone) = self.said_of(&[line], time_limits::PROPOSED_INPUT, interrupt)?;
                match alone.remove(&0) {
                    Some(one) => drop(said.insert(number, one)),
                    None => drop(
                        ends.insert(number, format!("it ends the harness that reads it: {}", how(&output))),
                    ),
                }
            }
        }
        let read = |(number, text): (usize, std::result::Result<String, String>)| {
            text?;
            let silence =
                || ends.remove(&number).unwrap_or_else(|| "the harness reported nothing about it".into());
            let said = said.remove(&number).ok_or_else(silence)?;
            match wire::of_text(&said.plain) {
                Some(canonical) if said.what.is_empty() => Ok(Readable { bytes: said.input, canonical }),
                _ => Err(said.what),
            }
        };
        Ok(texts.into_iter().enumerate().map(read).collect())
    }

    /// The harness's answers for these lines, as far as it gets.
    fn said_of(
        &self,
        lines: &[&str],
        time: Duration,
        interrupt: &Interrupt,
    ) -> Result<(Output, BTreeMap<usize, Said>)> {
        let job = self.job_on("read", "inputs-to-read", lines.join("\n"))?;
        let (output, told) = self.told(job.timeout(time), interrupt)?;
        Ok((output, told.read))
    }

    /// Decodes each input and runs C twice on it. Discards inputs that are invalid or for which C receives
    /// other arguments.
    pub fn measure(&self, inputs: &[Value], interrupt: &Interrupt) -> Result<Vec<Outcome>> {
        let one = |outcome: Outcome| {
            let (read, left) = outcome?;
            if left.given == read.canonical {
                return Ok((read, left));
            }
            let other = OTHER.iter().find(|(name, _)| left.given.get(name).is_some());
            let unlike = || format!("C received a different input: {}", left.given);
            Err(other.map_or_else(unlike, |(_, why)| (*why).to_owned()))
        };
        Ok(self.ran(inputs, interrupt)?.into_iter().map(one).collect())
    }

    /// Like [`Campaign::measure`], but keeps call sequences in which C receives other handles than the input
    /// names.
    pub fn ran(&self, inputs: &[Value], interrupt: &Interrupt) -> Result<Vec<Outcome>> {
        let read = self.read_inputs(inputs, interrupt)?;
        let bytes: Vec<&Vec<u8>> = read.iter().flatten().map(|input| &input.bytes).collect();
        let mut left = self.left_by_c(&bytes, interrupt)?.into_iter();
        let one = |read: std::result::Result<Readable, String>| {
            let read = read?;
            Ok((read, left.next().unwrap_or_else(|| Err("C was not asked".into()))?))
        };
        Ok(read.into_iter().map(one).collect())
    }

    /// C's result for each input, the same in two separate processes; else the reason why there is none: C
    /// breaks on it, the contract excludes it, or the second result differs.
    pub fn left_by_c(
        &self,
        inputs: &[&Vec<u8>],
        interrupt: &Interrupt,
    ) -> Result<Vec<std::result::Result<Left, String>>> {
        let first = self.once_by_c(inputs, interrupt)?;
        // The second run has another order, so that each input follows other inputs and has another call
        // number: what an earlier call leaves behind must not affect a result. Reversing alone would give the
        // middle input of an odd number the same call number again, so the last input also runs first.
        let more = inputs.len() % 2;
        let backwards: Vec<&Vec<u8>> = inputs.iter().take(more).chain(inputs.iter().rev()).copied().collect();
        let second = self.once_by_c(&backwards, interrupt)?.into_iter().skip(more).rev();
        let both = first.into_iter().zip(second).map(|(first, second)| match (first?, second?) {
            (first, second) if first.record == second.record => Ok(first),
            _ => Err("C gives a different result when it is called again after other inputs".to_owned()),
        });
        Ok(both.collect())
    }

    fn once_by_c(
        &self,
        inputs: &[&Vec<u8>],
        interrupt: &Interrupt,
    ) -> Result<Vec<std::result::Result<Left, String>>> {
        let one = |alone: Alone| match alone.outcome {
            AloneOutcome::Done(record) => {
                let both = wire::of_text(&alone.given).zip(wire::of_text(&alone.plain));
                let left = both.map(|(given, value)| Left { given, value, record });
                left.ok_or_else(|| "nothing was reported about it".into())
            }
            AloneOutcome::Rejected(why) => Err(why),
            AloneOutcome::Failed(_, what) => Err(what),
        };
        let mut all: Vec<_> = self.original_alone(inputs, true, interrupt)?.into_iter().map(one).collect();
        all.resize_with(inputs.len(), || Err("C did not run on it".into()));
        Ok(all)
    }

    /// For each input, the mutants (without those in `equal`) that it distinguishes from the original, in a
    /// table of this many entries. `No` if not all mutants ran on all inputs, or if entry 0, the unchanged
    /// copy, was distinguished. Needs the binary with mutants.
    pub fn told_by(
        &self,
        inputs: &[&Vec<u8>],
        (entries, equal): (usize, &BTreeSet<usize>),
        interrupt: &Interrupt,
    ) -> Result<Measured<Vec<Kills>>> {
        let mut told_by = match self.told_once(inputs, (entries, equal), interrupt)? {
            Measured::Yes(told_by) => told_by,
            Measured::No(why) => return Ok(Measured::No(why)),
        };
        let silent: Vec<usize> = (0..inputs.len()).filter(|at| told_by[*at].is_none()).collect();
        if !silent.is_empty() {
            let again: Vec<&Vec<u8>> = silent.iter().map(|at| inputs[*at]).collect();
            // If the second attempt fails, the results of the other inputs are still valid.
            if let Measured::Yes(kills) = self.told_once(&again, (entries, equal), interrupt)? {
                silent.into_iter().zip(kills).for_each(|(at, kills)| told_by[at] = kills);
            }
        }
        Ok(match told_by.iter().flatten().any(|kills| kills.contains(&0)) {
            true => Measured::No("a plain copy of its text differs from it".to_owned()),
            false => Measured::Yes(told_by),
        })
    }

    /// Like `told_by`, without a second attempt for inputs that C did not answer.
    fn told_once(
        &self,
        inputs: &[&Vec<u8>],
        (entries, equal): (usize, &BTreeSet<usize>),
        interrupt: &Interrupt,
    ) -> Result<Measured<Vec<Kills>>> {
        let (mut told_by, mut silent) = (vec![BTreeSet::new(); inputs.len()], BTreeSet::new());
        let (mut from, mut aside, mut stalls) = (0, equal.clone(), 0);
        // Each process that ends early leaves one mutant less, one input less, or one more stall.
        let ends = entries + inputs.len() + STALLS + 1;
        for _ in 0..ends {
            let skipped: Vec<String> = aside.iter().map(usize::to_string).collect();
            let (output, told) = self.over_mutants((inputs, from), skipped.join(","), interrupt)?;
            for (input, mutant) in told.kills {
                told_by.get_mut(input).into_iter().for_each(|of| _ = of.insert(mutant));
            }
            silent.extend(told.not_again);
            if told.kills_done {
                let kills = told_by.into_iter().enumerate();
                return Ok(Measured::Yes(
                    kills.map(|(at, of)| (!silent.contains(&at)).then_some(of)).collect(),
                ));
            }
            let running =
                ran_last(&self.current()).map(|at| ((at >> 32) as usize, (at & 0xffff_ffff) as usize));
            let running = running.filter(|(input, _)| *input < inputs.len());
            if let Some((input, mutant)) = running
                && self.ends_alone((inputs[input], mutant), interrupt)?
            {
                // The mutant would end the process on other inputs too; this input is the one that kills it.
                told_by[input].insert(mutant);
                aside.insert(mutant);
                from = input;
                continue;
            }
            let is_from_outside = matches!(output.exit, Exit::TimedOut | Exit::Signal(libc::SIGKILL));
            match running {
                // The inputs before it are complete.
                Some((input, _)) if is_from_outside && input > from => from = input,
                // The time and memory were used by everything that ran before it.
                _ if stalls < STALLS => stalls += 1,
                _ => return Ok(Measured::No(format!("the run over mutants ended: {}", how(&output)))),
            }
        }
        Ok(Measured::No(format!("the run over mutants ended {ends} times")))
    }

    /// Runs the mutants, without the `skipped` ones, on the inputs from number `from` on.
    fn over_mutants(
        &self,
        (inputs, from): (&[&Vec<u8>], usize),
        skipped: String,
        interrupt: &Interrupt,
    ) -> Result<(Output, Told)> {
        let current = self.current();
        drop(fs::remove_file(&current));
        let subject = Subject::Mutants { of: Mutated::Original, skipped, current };
        let own = Campaign { subject, call_timeout_ms: CALL_TIMEOUT_MS, ..self.clone() };
        let job = own
            .job_on("kills", "inputs-of-mutants", framed(inputs))?
            .env("IMPLFUZZ_ERRNO", "0")
            .env("IMPLFUZZ_FROM", from.to_string())
            .env("ASAN_OPTIONS", format!("{ASAN_OPTIONS}:hard_rss_limit_mb={}", self.rss_limit_mb))
            .timeout(time_limits::PROPOSED_INPUTS);
        own.told(job, interrupt)
    }

    /// Whether a mutant is distinguished on an input when it runs alone, including by ending the process.
    fn ends_alone(&self, (input, mutant): (&Vec<u8>, usize), interrupt: &Interrupt) -> Result<bool> {
        let (output, told) = self.over_mutants((&[input], 0), all_but(mutant), interrupt)?;
        let is_killed = output.exit == Exit::Signal(libc::SIGKILL);
        Ok(!told.kills.is_empty() || !told.kills_done && !is_killed && ran_last(&self.current()).is_some())
    }

    /// The file to which the process writes the running input and mutant.
    fn current(&self) -> PathBuf {
        self.work.join("current-mutant")
    }
}

fn how(output: &Output) -> String {
    match output.exit {
        Exit::TimedOut => "no time was left".to_owned(),
        Exit::Code(_) | Exit::Signal(_) => {
            reported(&output.stderr_text()).unwrap_or_else(|| "without a report".to_owned())
        }
    }
}

fn ended(doing: &str, output: &Output) -> Error {
    let said = how(output);
    Error::new(ErrorKind::Internal, format!("the fuzz process ended while it was {doing}: {said}"))
        .help("cargo implfuzz doctor; if you remove .implfuzz/cache, the tool builds it again")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbol::SymbolName;
    use std::os::unix::fs::PermissionsExt;

    /// A campaign with a script in place of the fuzz process. The script's functions: `say` writes a report
    /// line, `alone` is the only mutant that runs, if any, and `runs` records that mutant 3 runs on input 1.
    fn played(dir: &tempfile::TempDir, script: &str) -> Campaign {
        let binary = dir.path().join("fuzz");
        let head = r#"#!/bin/sh
say() { echo "{\"nonce\":\"$IMPLFUZZ_NONCE\",$1}" > /proc/self/fd/$IMPLFUZZ_REPORT_FD; }
told() { say "\"type\":\"kills\",\"executions\":$1,\"number\":$2"; }
finished() { say '"type":"kills-done"'; exit 0; }
runs() { printf '\003\000\000\000\001\000\000\000' > "$IMPLFUZZ_CURRENT"; }
alone=; case $IMPLFUZZ_SKIP in 0,1,2,4,*) alone=3;; esac
"#;
        fs::write(&binary, format!("{head}{script}\n")).unwrap();
        fs::set_permissions(&binary, std::fs::Permissions::from_mode(0o755)).unwrap();
        Campaign {
            binary,
            target: SymbolName::new("f"),
            work: dir.path().join("work"),
            regressions: Vec::new(),
            seed: 1,
            max_len: 9,
            literals: Vec::new(),
            call_timeout_ms: 100,
            rss_limit_mb: 77,
            subject: Subject::Port,
            compared: Vec::new(),
            asks_system: false,
            held_back: None,
            known_breaks: None,
            shipped: None,
        }
    }

    fn told_by(script: &str) -> Measured<Vec<Kills>> {
        let dir = tempfile::tempdir().unwrap();
        let inputs = [vec![1], vec![2]];
        let campaign = played(&dir, script);
        campaign
            .told_by(&inputs.iter().collect::<Vec<_>>(), (100, &BTreeSet::from([9])), &Interrupt::none())
            .unwrap()
    }

    fn kills(lists: [&[usize]; 2]) -> Measured<Vec<Kills>> {
        Measured::Yes(lists.map(|list| Some(list.iter().copied().collect())).into())
    }

    #[test]
    fn a_mutant_is_blamed_for_an_end_only_where_it_ends_the_process_alone() {
        assert_eq!(told_by("told 0 3; told 1 2; finished"), kills([&[3], &[2]]));
        // It ends every process in which it runs.
        let ends = "case $IMPLFUZZ_SKIP in 3,9) told 1 2; finished;; esac; told 0 2; runs; exit 86";
        assert_eq!(told_by(ends), kills([&[2], &[2, 3]]));
        // The process is ended from outside once, while the mutant runs.
        let killed = "[ -n \"$alone\" ] && finished; [ -e once ] && { told 0 1; finished; }; : > once; runs; kill -9 $$";
        assert_eq!(told_by(killed), kills([&[1], &[]]));
        // Alone it is distinguished without ending the process.
        let told = "[ -n \"$alone\" ] && { told 0 3; finished; }; [ $IMPLFUZZ_SKIP = 3,9 ] && finished; runs; exit 1";
        assert_eq!(told_by(told), kills([&[], &[3]]));
    }

    #[test]
    fn where_not_all_were_run_nothing_is_measured() {
        let why = |script: &str| match told_by(script) {
            Measured::No(why) => why,
            Measured::Yes(kills) => panic!("{kills:?}"),
        };
        assert!(why("told 0 1; exit 1").contains("the run over mutants ended"));
        assert!(
            why("[ -n \"$alone\" ] && finished; runs; kill -9 $$").contains("the run over mutants ended")
        );
        assert_eq!(why("told 1 2; told 1 0; finished"), "a plain copy of its text differs from it");
    }

    #[test]
    fn an_input_that_c_does_not_answer_beside_its_mutants_is_asked_again_and_takes_no_other_with_it() {
        let silent = |n: u8| format!("say '\"type\":\"not-again\",\"executions\":{n}'; finished");
        let slow_once =
            format!("[ -e once ] && {{ told 0 4; finished; }}; : > once; told 0 1; {}", silent(1));
        assert_eq!(told_by(&slow_once), kills([&[1], &[4]]));
        // Only this input is run again.
        let always = format!("[ -e once ] && {{ {}; }}; : > once; told 0 1; {}", silent(0), silent(1));
        assert_eq!(told_by(&always), Measured::Yes(vec![Some(BTreeSet::from([1])), None]));
        let ends = format!("[ -e once ] && exit 1; : > once; told 0 1; {}", silent(1));
        assert_eq!(told_by(&ends), Measured::Yes(vec![Some(BTreeSet::from([1])), None]));
    }

    #[test]
    fn each_mutant_may_end_the_process() {
        // Mutant n, for all n from 10 to 59, ends every process in which it runs on input 1. The sandbox lets the script
        // start no other.
        let script = "at() { printf \"\\\\$(($1 / 64))$(($1 / 8 % 8))$(($1 % 8))\\\\000\\\\000\\\\000\\\\001\\\\000\\\\000\\\\000\" > \"$IMPLFUZZ_CURRENT\"; }\n\
            n=10; while [ $n -lt 60 ]; do case ,$IMPLFUZZ_SKIP, in *,$n,*) n=$((n + 1));; *) at $n; exit 86;; esac; done; finished";
        let all: Vec<usize> = (10..60).collect();
        assert_eq!(told_by(script), kills([&[], &all]));
    }

    #[test]
    fn an_input_that_ends_the_harness_takes_no_other_with_it() {
        let dir = tempfile::tempdir().unwrap();
        let lines = "n=0; while read -r line || [ -n \"$line\" ]; do \
            [ $line = 'i7;' ] && exit 86; \
            say '\"type\":\"read\",\"number\":'$n',\"input\":\"01\",\"plain\":\"'$line'\"'; n=$((n + 1)); \
            done < \"$IMPLFUZZ_PATH\"; exit 0";
        let read = |script: &str| {
            let inputs = [5, 7, 6].map(Value::from);
            played(&dir, script).read_inputs(&inputs, &Interrupt::none())
        };
        let told = read(lines).unwrap();
        assert!(told[1].as_ref().unwrap_err().contains("it ends the harness that reads it"), "{told:?}");
        assert_eq!(told[0].as_ref().unwrap().canonical, 5);
        assert_eq!(told[2].as_ref().unwrap().canonical, 6);
        assert_eq!(read("exit 1").unwrap_err().kind(), ErrorKind::Internal, "no input is to blame");
    }

    #[test]
    fn memory_has_its_limit() {
        assert_eq!(
            told_by("case $ASAN_OPTIONS in *:hard_rss_limit_mb=77) finished;; esac; exit 1"),
            kills([&[], &[]])
        );
    }

    #[test]
    fn texts_are_read_as_far_as_there_is_room_for_all() {
        let large = |times: u64| serde_json::json!({"data": {"repeat": "a", "times": times}});
        let seven = Value::Array(vec![large(1_000_000); 7]);
        let all = texts(&[seven.clone(), seven.clone(), seven, large(7)]);
        assert_eq!(all.iter().map(|text| text.is_ok()).collect::<Vec<_>>(), [true, true, false, true]);
        assert_eq!(all[2], Err("it is too large together with the inputs before it".to_owned()));
    }
}
