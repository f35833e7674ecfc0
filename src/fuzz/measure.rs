//! Inputs that somebody wrote: what they mean to a harness, what C makes of them, and which mutants of C they tell from it.

use super::apart::write;
use super::leg::reported;
use super::mutants::{CALL_TIMEOUT_MS, STALLS, all_but, ran_last};
use super::plain;
use super::report::{Alone, AloneOutcome, Told};
use super::run::{ASAN_OPTIONS, Campaign, Subject};
use crate::error::{Error, ErrorKind, Result};
use crate::process::{Exit, Interrupt, Output};
use crate::verdict::Measured;
use fs_err as fs;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

/// An input as the harness reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct Readable {
    pub bytes: Vec<u8>,
    /// What it says, written in the one way in which the tool writes it.
    pub canonical: Value,
}

/// What C left behind, twice the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Left {
    /// What C was given, in the canonical way: what was read, where that is what was meant.
    pub given: Value,
    pub value: Value,
    /// Everything that a harness compares, part by part, as hashes: two results are the same where these are.
    pub record: Vec<(String, String)>,
}

/// What one input came to: what C left, or in words why it says nothing.
pub type Outcome = std::result::Result<(Readable, Left), String>;

/// How often a process may end before its time: no function has more mutants, and each may do it once.
const ENDS: usize = 32;
/// For reading, and for each run over all inputs.
const SECONDS: u64 = 60;

impl Campaign {
    /// What the harness makes of each input; in words, why it makes nothing of it.
    ///
    /// # Errors
    /// Those of starting the fuzz process, and Ctrl-C.
    pub fn read_inputs(
        &self,
        inputs: &[Value],
        interrupt: &Interrupt,
    ) -> Result<Vec<std::result::Result<Readable, String>>> {
        let texts: Vec<_> = inputs.iter().map(plain::to_text).collect();
        let lines: Vec<&str> = texts.iter().map(|text| text.as_deref().unwrap_or("")).collect();
        fs::create_dir_all(&self.work)?;
        let path = self.work.join("inputs-to-read");
        fs::write(&path, lines.join("\n"))?;
        let job = self.job().env("IMPLFUZZ_MODE", "read").env("IMPLFUZZ_PATH", &path);
        let (output, mut told) =
            self.listen(job.timeout(Duration::from_secs(SECONDS)), interrupt, &mut |_| ())?;
        if !output.exit.success() {
            return Err(ended("reading inputs", &output));
        }
        let read = |(number, text): (usize, std::result::Result<String, String>)| {
            text?;
            let said = told.read.remove(&number).ok_or("the harness says nothing of it")?;
            match plain::of_text(&said.plain) {
                Some(canonical) if said.what.is_empty() => Ok(Readable { bytes: said.input, canonical }),
                _ => Err(said.what),
            }
        };
        Ok(texts.into_iter().enumerate().map(read).collect())
    }

    /// Reads each input, and runs C twice on those that can be read.
    ///
    /// # Errors
    /// Those of starting the fuzz process, and Ctrl-C.
    pub fn measure(&self, inputs: &[Value], interrupt: &Interrupt) -> Result<Vec<Outcome>> {
        let read = self.read_inputs(inputs, interrupt)?;
        let bytes: Vec<&Vec<u8>> = read.iter().flatten().map(|input| &input.bytes).collect();
        let mut left = self.left_by_c(&bytes, interrupt)?.into_iter();
        let one = |read: std::result::Result<Readable, String>| {
            let read = read?;
            let left = left.next().unwrap_or_else(|| Err("C was not asked".into()))?;
            match left.given == read.canonical {
                true => Ok((read, left)),
                false => Err(format!("C was given something else: {}", left.given)),
            }
        };
        Ok(read.into_iter().map(one).collect())
    }

    /// What C leaves behind on each input, in two processes of its own; in words, why an input says nothing: C breaks on it, the
    /// contract rules it out, or C leaves something else the second time.
    ///
    /// # Errors
    /// Those of starting the fuzz process, and Ctrl-C.
    pub fn left_by_c(
        &self,
        inputs: &[&Vec<u8>],
        interrupt: &Interrupt,
    ) -> Result<Vec<std::result::Result<Left, String>>> {
        let first = self.once_by_c(inputs, interrupt)?;
        let second = self.once_by_c(inputs, interrupt)?;
        let both = first.into_iter().zip(second).map(|(first, second)| match (first?, second?) {
            (first, second) if first.record == second.record => Ok(first),
            _ => Err("C leaves something else when it is called again".to_owned()),
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
                let both = plain::of_text(&alone.given).zip(plain::of_text(&alone.plain));
                let left = both.map(|(given, value)| Left { given, value, record });
                left.ok_or_else(|| "nothing was told of it".into())
            }
            AloneOutcome::Rejected(why) => Err(why),
            AloneOutcome::Failed(_, what) => Err(what),
        };
        let mut all: Vec<_> = self.original_alone(inputs, true, interrupt)?.into_iter().map(one).collect();
        all.resize_with(inputs.len(), || Err("C did not come to it".into()));
        Ok(all)
    }

    /// For each input the numbers of the mutants that it tells from the original, but for the `equal` ones; nothing where not all
    /// were run on all inputs. Needs the binary that has mutants.
    ///
    /// # Errors
    /// Those of starting the fuzz process, and Ctrl-C.
    pub fn told_by(
        &self,
        inputs: &[&Vec<u8>],
        equal: &BTreeSet<usize>,
        interrupt: &Interrupt,
    ) -> Result<Measured<Vec<BTreeSet<usize>>>> {
        let mut told_by = vec![BTreeSet::new(); inputs.len()];
        let (mut from, mut aside, mut stalls) = (0, equal.clone(), 0);
        for _ in 0..ENDS {
            let skipped: Vec<String> = aside.iter().map(usize::to_string).collect();
            let (output, told) = self.over_mutants((inputs, from), skipped.join(","), interrupt)?;
            for (input, mutant) in told.kills {
                told_by.get_mut(input).into_iter().for_each(|of| _ = of.insert(mutant));
            }
            if let Some(input) = told.not_again.first() {
                let text = format!("C did not answer input {input} again beside its mutants");
                return Ok(Measured::No(text));
            }
            if told.kills_done {
                return Ok(Measured::Yes(told_by));
            }
            let running =
                ran_last(&self.current()).map(|at| ((at >> 32) as usize, (at & 0xffff_ffff) as usize));
            let running = running.filter(|(input, _)| *input < inputs.len());
            if let Some((input, mutant)) = running
                && self.ends_alone((inputs[input], mutant), interrupt)?
            {
                // It would end the process on other inputs, too: this one is what tells it.
                told_by[input].insert(mutant);
                aside.insert(mutant);
                from = input;
                continue;
            }
            let is_from_outside = matches!(output.exit, Exit::TimedOut | Exit::Signal(libc::SIGKILL));
            match running {
                // All that ran before it are done.
                Some((input, _)) if is_from_outside && input > from => from = input,
                // Time and memory were those of all that ran before it.
                _ if stalls < STALLS => stalls += 1,
                _ => return Ok(Measured::No(format!("the run over mutants ended: {}", how(&output)))),
            }
        }
        Ok(Measured::No(format!("the run over mutants ended {ENDS} times")))
    }

    /// Mutants but for the `skipped` ones on the inputs from the one with this number on.
    fn over_mutants(
        &self,
        (inputs, from): (&[&Vec<u8>], usize),
        skipped: String,
        interrupt: &Interrupt,
    ) -> Result<(Output, Told)> {
        fs::create_dir_all(&self.work)?;
        let path = self.work.join("inputs-of-mutants");
        write(&path, inputs)?;
        let current = self.current();
        drop(fs::remove_file(&current));
        let subject = Subject::Mutants { skipped, current };
        let own = Campaign { subject, call_timeout_ms: CALL_TIMEOUT_MS, ..self.clone() };
        let job = own
            .job()
            .env("IMPLFUZZ_MODE", "kills")
            .env("IMPLFUZZ_PATH", &path)
            .env("IMPLFUZZ_FROM", from.to_string())
            .env("ASAN_OPTIONS", format!("{ASAN_OPTIONS}:hard_rss_limit_mb={}", self.rss_limit_mb))
            .timeout(Duration::from_secs(SECONDS));
        own.listen(job, interrupt, &mut |_| ())
    }

    /// Whether a mutant tells itself apart on an input when nothing else runs, be it by ending the process.
    fn ends_alone(&self, (input, mutant): (&Vec<u8>, usize), interrupt: &Interrupt) -> Result<bool> {
        let (output, told) = self.over_mutants((&[input], 0), all_but(mutant), interrupt)?;
        let is_killed = output.exit == Exit::Signal(libc::SIGKILL);
        Ok(!told.kills.is_empty() || !told.kills_done && !is_killed && ran_last(&self.current()).is_some())
    }

    /// Where a process notes down which input and which mutant runs.
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
        .help("cargo implfuzz doctor; removing .implfuzz/cache builds it anew")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbol::SymbolName;
    use std::os::unix::fs::PermissionsExt;

    /// A campaign over a script that plays the fuzz process. It knows what to `say`, which mutant is `alone`, if one is, and
    /// how to note down that mutant 3 `runs` on input 1.
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
            call_timeout_ms: 100,
            rss_limit_mb: 77,
            subject: Subject::Port,
            held_back: None,
            known_breaks: None,
        }
    }

    fn told_by(script: &str) -> Measured<Vec<BTreeSet<usize>>> {
        let dir = tempfile::tempdir().unwrap();
        let inputs = [vec![1], vec![2]];
        let campaign = played(&dir, script);
        campaign
            .told_by(&inputs.iter().collect::<Vec<_>>(), &BTreeSet::from([9]), &Interrupt::none())
            .unwrap()
    }

    fn kills(lists: [&[usize]; 2]) -> Measured<Vec<BTreeSet<usize>>> {
        Measured::Yes(lists.map(|list| list.iter().copied().collect()).into())
    }

    #[test]
    fn a_mutant_is_blamed_for_an_end_only_where_it_ends_the_process_alone() {
        assert_eq!(told_by("told 0 3; told 1 2; finished"), kills([&[3], &[2]]));
        // It ends every process that it runs in.
        let ends = "case $IMPLFUZZ_SKIP in 3,9) told 1 2; finished;; esac; told 0 2; runs; exit 86";
        assert_eq!(told_by(ends), kills([&[2], &[2, 3]]));
        // The process is ended from outside while it runs, once.
        let killed = "[ -n \"$alone\" ] && finished; [ -e once ] && { told 0 1; finished; }; : > once; runs; kill -9 $$";
        assert_eq!(told_by(killed), kills([&[1], &[]]));
        // Alone it is told without an end.
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
        let skipped = "say '\"type\":\"not-again\",\"executions\":1'; finished";
        assert!(why(skipped).contains("did not answer input 1"));
    }

    #[test]
    fn memory_has_its_limit() {
        assert_eq!(
            told_by("case $ASAN_OPTIONS in *:hard_rss_limit_mb=77) finished;; esac; exit 1"),
            kills([&[], &[]])
        );
    }
}
