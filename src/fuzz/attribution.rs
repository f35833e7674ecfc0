//! Attribution: reruns the C original alone, in separate processes, on the inputs of findings and of C faults. `triage`
//! decides from the results.

use super::campaign::{ASAN_OPTIONS, Campaign, Subject};
use super::isolated_replay::{PRECONDITION, write};
use super::libfuzzer_process::reported;
use super::report::{AloneOutcome, Found, Told};
use super::triage::{CRun, attribute, class, disagree};
use crate::error::Result;
use crate::platform::process::{Exit, Interrupt, Output, time_limits};
use crate::platform::toolchain::Search;
use crate::verdict::{Attribution, CFault, CFaultKind, Finding, FindingClass, RunStats, Verdict};
use fs_err as fs;
use std::time::Duration;

/// A call that is just too slow once may not be so again: C gets so many times as long as in the run.
const PATIENCE: u64 = 4;
/// Of so many ways in which C broke, an input is looked at after a run.
const LOOKED_AT: usize = 8;
/// Of a report, so many lines are kept.
const LINES: usize = 60;

impl Campaign {
    /// The verdict over what a run found: the port is refuted only where C answers the input, and always the same. Where C
    /// does not on the smallest input, the one that was found first decides.
    ///
    /// # Errors
    /// Those of starting the fuzz process, and Ctrl-C.
    pub fn refuted(&self, found: Found, stats: RunStats, interrupt: &Interrupt) -> Result<Verdict> {
        let Some(c_fault) = self.c_fault(&found.smallest, interrupt)? else {
            return Ok(Verdict::Refuted { finding: Box::new(found.smallest), stats });
        };
        let larger = found.first.filter(|first| first.input != found.smallest.input);
        if let Some(first) = larger
            && self.c_fault(&first, interrupt)?.is_none()
        {
            return Ok(Verdict::Refuted { finding: Box::new(first), stats });
        }
        Ok(Verdict::CFault { found: Box::new(c_fault), stats })
    }

    /// What a finding says about C, where it is not the port's.
    pub(super) fn c_fault(&self, finding: &Finding, interrupt: &Interrupt) -> Result<Option<CFault>> {
        // The process ended with no input in hand: there is nothing to ask C about.
        if self.subject != Subject::Port || finding.input.is_empty() && finding.args.is_empty() {
            return Ok(None);
        }
        self.c_alone(&finding.input, interrupt)
    }

    /// A verdict with what became of the inputs on which C broke, where somebody asks.
    pub(super) fn with_c(&self, mut verdict: Verdict, interrupt: &Interrupt) -> Result<Verdict> {
        let Some(known) = &self.known_breaks else { return Ok(verdict) };
        let new = verdict.stats().broken.iter().filter(|(reason, _)| !known.contains(*reason));
        let new: Vec<_> =
            new.take(LOOKED_AT).map(|(reason, input)| (reason.clone(), input.clone())).collect();
        for (reason, input) in new {
            let small = self.small(&reason, input, interrupt)?;
            verdict.stats_mut().c_faults.extend(self.c_alone(&small, interrupt)?);
        }
        Ok(verdict)
    }

    /// What C alone makes of an input: nothing where it answers, and always the same.
    ///
    /// # Errors
    /// Those of starting the fuzz process, and Ctrl-C.
    pub fn c_alone(&self, input: &[u8], interrupt: &Interrupt) -> Result<Option<CFault>> {
        let runs = self.c_runs(input, interrupt)?;
        let Attribution::CFault(kind) = attribute(&runs) else { return Ok(None) };
        let broke = runs.iter().find_map(|run| match run {
            CRun::Broke(reason) => Some(reason.clone()),
            CRun::Returned { .. } | CRun::Hung | CRun::Late | CRun::RuledOut => None,
        });
        let (args, _) = self.show(input, interrupt)?;
        let input = input.to_vec();
        let none = Vec::new;
        Ok(Some(match (kind, broke) {
            (CFaultKind::Breaks, Some(what)) => {
                let report = self.report(&input, interrupt)?;
                let class = class(&what, &report);
                let finding = Finding { class, what, input, args, oracle: none(), subject: none() };
                CFault { kind, finding, report }
            }
            (CFaultKind::Breaks | CFaultKind::Hangs, _) => {
                let (class, what) = (FindingClass::Timeout, "hang".to_owned());
                let finding = Finding { class, what, input, args, oracle: none(), subject: none() };
                CFault { kind, finding, report: String::new() }
            }
            (CFaultKind::Differs, _) => {
                let (oracle, subject, part) = match disagree(&runs) {
                    Some((first, second, part)) => (first.clone(), second.clone(), part),
                    None => (none(), none(), "it returns in time only sometimes".to_owned()),
                };
                let class = FindingClass::NonDeterminism;
                let finding = Finding { class, what: part, input, args, oracle, subject };
                CFault { kind, finding, report: String::new() }
            }
        }))
    }

    /// Whether the contract still lets the input through.
    ///
    /// # Errors
    /// Those of starting the fuzz process, and Ctrl-C.
    pub fn is_ruled_out(&self, input: &[u8], interrupt: &Interrupt) -> Result<bool> {
        Ok(self.c_runs(input, interrupt)?.contains(&CRun::RuledOut))
    }

    /// Twice in one process with other inputs between, which leave something else on the stack, and once in another
    /// process, at other addresses.
    fn c_runs(&self, input: &[u8], interrupt: &Interrupt) -> Result<Vec<CRun>> {
        let flipped = input.iter().map(|byte| !byte).collect();
        let between = [1, 2];
        let (output, told) =
            self.alone_on(&[&input.to_vec(), &Vec::new(), &flipped, &input.to_vec()], false, interrupt)?;
        let mut runs: Vec<CRun> = run(0, &output, &told).into_iter().collect();
        // A call that was cut short may leave anything behind: what comes after it in the process says nothing.
        let is_clean =
            |at: usize| matches!(run(at, &output, &told), Some(CRun::Returned { .. } | CRun::RuledOut));
        runs.extend(between.into_iter().all(is_clean).then(|| run(3, &output, &told)).flatten());
        // Of processes that something else ended another one is asked, so often.
        for _ in 0..3 {
            if runs.len() > 2 {
                break;
            }
            let (output, told) = self.alone_on(&[&input.to_vec()], false, interrupt)?;
            runs.extend(run(0, &output, &told));
        }
        Ok(runs)
    }

    fn alone_on(
        &self,
        inputs: &[&Vec<u8>],
        unguarded: bool,
        interrupt: &Interrupt,
    ) -> Result<(Output, Told)> {
        fs::create_dir_all(&self.work)?;
        let path = self.work.join("inputs-c-alone");
        write(&path, inputs)?;
        let call_timeout_ms = self.call_timeout_ms.saturating_mul(PATIENCE);
        let own = Campaign { subject: Subject::Original, call_timeout_ms, ..self.clone() };
        // Wall time is for what waits and uses none of the processor.
        let timeout = Duration::from_secs(own.call_timeout_seconds() * inputs.len() as u64 + 10);
        let mut job = own
            .job()
            .env("IMPLFUZZ_MODE", "apart")
            .env("IMPLFUZZ_PATH", &path)
            .env("IMPLFUZZ_SHOWN", "1")
            .timeout(timeout);
        if unguarded {
            job = job.env("IMPLFUZZ_UNGUARDED", "1").env("ASAN_OPTIONS", reporting());
        }
        self.listen(job, interrupt, &mut |_| ())
    }

    /// The smallest input that was found on which C breaks as on this one.
    fn small(&self, reason: &str, input: Vec<u8>, interrupt: &Interrupt) -> Result<Vec<u8>> {
        fs::create_dir_all(&self.work)?;
        let path = self.work.join("broken-input");
        fs::write(&path, &input)?;
        let job = self.job().env("IMPLFUZZ_MODE", "broken").env("IMPLFUZZ_PATH", &path);
        let (_, mut told) = self.listen(job.timeout(time_limits::ONE_INPUT), interrupt, &mut |_| ())?;
        Ok(told.stats.broken.remove(reason).unwrap_or(input))
    }

    /// What the sanitizer says where nothing keeps it from ending the process.
    fn report(&self, input: &[u8], interrupt: &Interrupt) -> Result<String> {
        let (output, _) = self.alone_on(&[&input.to_vec()], true, interrupt)?;
        Ok(tidy(&output.stderr_text()))
    }
}

/// A report without frames of the harness, paths of this machine, and the bytes of the shadow memory.
fn tidy(report: &str) -> String {
    const OURS: [&str; 7] =
        ["_fuzz..", "implfuzz_guard", "LLVMFuzzer", "fuzzer::", " in main", " __libc_start", " _start"];
    let is_ours = |line: &str| {
        line.trim_start().starts_with('#')
            && (line.contains("_fuzz::") || OURS.iter().any(|o| line.contains(o)))
    };
    let word = |word: &str| match word.starts_with('/') {
        true => word.rsplit('/').next().unwrap_or_default().to_owned(),
        false => word.to_owned(),
    };
    let is_place = |word: &str| word.starts_with("(/") || word.starts_with("(BuildId:");
    let line = |line: &str| {
        let indent = line.len() - line.trim_start().len();
        let words = line.split_whitespace().scan(false, |inside, word| {
            let was = *inside || is_place(word);
            *inside = was && !word.ends_with(')');
            Some((was, word))
        });
        let kept: Vec<String> = words.filter(|(is_place, _)| !is_place).map(|(_, text)| word(text)).collect();
        format!("{}{}", " ".repeat(indent), kept.join(" "))
    };
    let lines = report.lines().take_while(|text| !text.starts_with("Shadow bytes"));
    let noise =
        |text: &str| text.starts_with("INFO:") || text.starts_with("======") || text.trim().is_empty();
    let lines = lines.filter(|text| !noise(text) && !is_ours(text)).map(line);
    lines.take(LINES).collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// Names and lines in stacks, where a program can find them.
fn reporting() -> String {
    let symbolizer = Search::from_env().program(&["llvm-symbolizer"]);
    let symbolizer =
        symbolizer.map_or_else(String::new, |path| format!(":external_symbolizer_path={}", path.display()));
    format!("{ASAN_OPTIONS}:malloc_context_size=8{symbolizer}")
}

/// What a process says about the input with this number; nothing where it did not get there.
fn run(at: usize, output: &Output, told: &Told) -> Option<CRun> {
    if let Some(alone) = told.alone.iter().find(|alone| alone.number == at) {
        return Some(match &alone.outcome {
            AloneOutcome::Done(record) => {
                CRun::Returned { record: record.clone(), shown: alone.shown.clone() }
            }
            AloneOutcome::Rejected(why) => match why.as_str() {
                PRECONDITION => CRun::RuledOut,
                "hang" | "calls back without end" => CRun::Hung,
                _ => CRun::Broke(why.clone()),
            },
            AloneOutcome::Failed(_, what) => CRun::Broke(what.clone()),
        });
    }
    // The first that it did not get through is the one that ended it.
    let ended = told.alone.len() == at && !told.alone_done;
    let broke = || reported(&output.stderr_text()).unwrap_or_else(|| "C ended the process".to_owned());
    match output.exit {
        _ if !ended => None,
        // Somebody else ended it: it is short of memory, or a person did.
        Exit::Signal(libc::SIGKILL) => None,
        Exit::TimedOut => Some(CRun::Late),
        Exit::Code(70) => Some(CRun::Hung),
        Exit::Code(_) | Exit::Signal(_) => Some(CRun::Broke(broke())),
    }
}

#[cfg(test)]
mod tests {
    use super::tidy;

    #[test]
    fn reports_have_the_frames_of_c_and_no_paths() {
        let report = "=================\n==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1\n\
            READ of size 1 at 0x1 thread T0\n    #0 0x55 in c_f (/a/b/bin/all+0x13) (BuildId: ff7)\n\
            \x20   #1 0x56 in lib_fuzz::runtime::guard::run::h1 3c\n    #2 0x57 in main (/a/b/bin/all+0x13) (BuildId: f)\n\n\
            /a/b/x.c:3:9: runtime error: overflow\nShadow bytes around\n  00 00\n";
        assert_eq!(
            tidy(report),
            "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1\n\
             READ of size 1 at 0x1 thread T0\n    #0 0x55 in c_f\nx.c:3:9: runtime error: overflow"
        );
    }
}
