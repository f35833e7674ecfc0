use super::mapping::Span;
use super::*;
use crate::platform::process::{Interrupt, Job};
use crate::platform::toolchain::{Search, Toolchain};
use std::collections::{BTreeMap, BTreeSet};
use tempfile::TempDir;

/// A program of C and Rust, built with coverage by both compilers and run once.
struct Program {
    dir: TempDir,
    tables: Tables,
    counters: Counters,
}

impl Program {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().canonicalize().unwrap();
        fs::write(real.join("counted.c"), include_str!("tests/counted.c")).unwrap();
        fs::write(real.join("counted.rs"), include_str!("tests/counted.rs")).unwrap();
        let interrupt = Interrupt::none();
        let toolchain = Toolchain::find(&Search::from_env(), &interrupt).unwrap();
        assert_eq!(probe(&toolchain, &real, &interrupt).unwrap(), CSide::Measured, "this test needs clang");
        let object = real.join("counted.o");
        run(Job::new(&toolchain.cc.path)
            .args(probe::C_FLAGS)
            .args(["-O2", "-c", "-o"])
            .arg(&object)
            .arg(real.join("counted.c")));
        run(Job::new(&toolchain.rustc)
            .args(["-O", "-Cinstrument-coverage", "-Clink-arg=counted.o", "-o", "program"])
            .arg(real.join("counted.rs"))
            .dir(&real));
        run(Job::new(real.join("program")).env("LLVM_PROFILE_FILE", real.join("once.profraw")).dir(&real));
        let tables = Tables::read(&real.join("program")).unwrap();
        let counters = counters(&[real.join("once.profraw")]).unwrap();
        Self { dir, tables, counters }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    /// The coverage of the function whose first line contains this text.
    fn function(&self, file: &str, text: &str) -> Option<Reached> {
        let all = fs::read_to_string(self.path(file)).unwrap();
        let line = all.lines().position(|line| line.contains(text)).unwrap() as u32 + 1;
        let last = end_of_fn(self.path(file).to_str().unwrap(), line);
        self.tables.at(&self.counters, &self.path(file), &[line..=last]).unwrap()
    }
}

#[track_caller]
fn run(job: Job) -> String {
    let output = job.run(&Interrupt::none()).unwrap();
    assert!(output.exit.success(), "{}", output.stderr_text());
    output.stdout_text()
}

#[test]
fn branches_of_c_are_those_that_a_person_counts() {
    let program = Program::new();
    let pick = program.function("counted.c", "int pick").unwrap();
    // Called with 4, 5 and 0.
    assert_eq!(pick.entered, 3);
    let branches: Vec<_> = pick.branches.iter().map(|b| (b.span.start.0, b.held, b.failed)).collect();
    assert_eq!(branches, [(37, Some(2), Some(1)), (39, Some(0), Some(1))]);
    assert_eq!(pick.branch_share(), Share { reached: 3, total: 4 });
    assert_eq!(pick.lines, BTreeMap::from([(36, 3), (37, 3), (38, 2), (39, 1), (40, 3)]));
    assert_eq!(program.function("counted.c", "int never"), None);
    let counted = program.function("counted.c", "int counted").unwrap();
    let in_macro: Vec<_> = counted.branches.iter().filter(|b| b.in_macro).map(|b| b.span.start.0).collect();
    // `NEEDS` has one condition; `LARGER` mentions the inner `LARGER` twice.
    assert_eq!(in_macro, [8, 10, 10, 10]);
    let endless = counted.branches.iter().find(|b| b.span.start.0 == 22).unwrap();
    assert_eq!(endless.failed, None, "`while (1)` never fails");
}

#[test]
fn parts_of_rust_are_those_that_a_person_counts() {
    let program = Program::new();
    let pick = program.function("counted.rs", "fn pick_in_rust").unwrap();
    assert_eq!(pick.entered, 3);
    assert!(pick.branches.is_empty(), "rustc on stable tells no conditions: {:?}", pick.branches);
    // The whole function, the first arm, the code after it, and two arms.
    let blocks: Vec<_> = pick.blocks.iter().map(|b| (b.span.start.0, b.count)).collect();
    assert_eq!(blocks, [(9, 3), (11, 2), (12, 1), (13, 0), (13, 1)]);
    assert_eq!(pick.lines, BTreeMap::from([(9, 3), (10, 3), (11, 2), (12, 1), (13, 1), (14, 3)]));
    assert_eq!(program.function("counted.rs", "fn unused"), None);
    // The counts of a closure belong to its function too: three bytes, one of which is at most 97.
    let many = program.function("counted.rs", "fn many").unwrap();
    let closure = text_of(program.path("counted.rs").to_str().unwrap(), 21).find("**x == 3").unwrap() as u32;
    let at_closure: Vec<u64> =
        many.blocks.iter().filter(|b| b.span.start == (21, closure + 1)).map(|b| b.count).collect();
    assert_eq!((many.entered, at_closure), (2, vec![1]));
}

#[test]
fn counts_of_two_runs_add_up() {
    let program = Program::new();
    let once = program.path("once.profraw");
    let twice = counters(&[once.clone(), once]).unwrap();
    let lines = [36..=36];
    let pick = program.tables.at(&twice, &program.path("counted.c"), &lines).unwrap().unwrap();
    assert_eq!((pick.entered, pick.lines[&38]), (6, 4));
}

/// Line counts by file, and conditions by function, as `llvm-cov` of the newest LLVM exports them.
#[test]
#[ignore = "needs llvm-tools"]
fn llvm_cov_says_the_same() {
    let program = Program::new();
    let search = Search::from_env();
    let tool = |name: &str| {
        // On Debian, llvm-14 is on the path; the newest version is in the directory of its clang.
        let newest = Toolchain::find(&search, &Interrupt::none()).unwrap().cc.path.canonicalize().unwrap();
        let beside = newest.with_file_name(name);
        if beside.is_file() { beside } else { search.program(&[name]).expect("llvm-profdata and llvm-cov") }
    };
    let (raw, merged) = (program.path("once.profraw"), program.path("once.profdata"));
    run(Job::new(tool("llvm-profdata")).arg("merge").arg(raw).arg("-o").arg(&merged));
    let mut compared = (0, 0);
    let export = |format: &str| {
        let profile = format!("-instr-profile={}", merged.display());
        let job = Job::new(tool("llvm-cov")).arg("export").arg(program.path("program"));
        run(job.arg(profile).arg(format!("-format={format}")))
    };
    let lcov = export("lcov");
    for part in lcov.split("end_of_record") {
        let Some(file) = part.lines().find_map(|line| line.strip_prefix("SF:")) else { continue };
        let theirs: BTreeMap<u32, u64> = part
            .lines()
            .filter_map(|line| line.strip_prefix("DA:")?.split_once(','))
            .map(|(line, count)| (line.parse().unwrap(), count.parse().unwrap()))
            .collect();
        let mut ours = BTreeMap::new();
        for record in &program.tables.functions[Path::new(file)] {
            let line = count::first_line(record).unwrap();
            // A closure is part of the enclosing function.
            let is_inner = file.ends_with(".rs") && !(theirs[&line] == 0 || is_fn(file, line));
            let mut parts = count::Parts::default();
            let counters = program.counters.get(&record.key).map(Vec::as_slice).unwrap_or_default();
            parts.add(record, counters, None).unwrap();
            if !is_inner && parts.clone().reached().is_some_and(|r| r.entered == 0) {
                ours.extend(parts.reached().unwrap().lines);
            }
        }
        let starts: BTreeSet<u32> =
            program.tables.functions[Path::new(file)].iter().filter_map(count::first_line).collect();
        for line in starts.into_iter().filter(|line| is_fn(file, *line)) {
            let last = end_of_fn(file, line);
            ours.extend(
                program
                    .tables
                    .at(&program.counters, Path::new(file), &[line..=last])
                    .unwrap()
                    .into_iter()
                    .flat_map(|r| r.lines),
            );
        }
        // Lines in a macro's text do not count for the function.
        let macros: Vec<u32> = if file.ends_with(".c") { vec![1, 2] } else { vec![] };
        let theirs: BTreeMap<u32, u64> =
            theirs.into_iter().filter(|(line, _)| !macros.contains(line)).collect();
        assert_eq!(ours, theirs, "{file}");
        compared.0 += ours.len();
    }
    let json: serde_json::Value = serde_json::from_str(&export("text")).unwrap();
    for function in json["data"][0]["functions"].as_array().unwrap() {
        let file = function["filenames"][0].as_str().unwrap();
        if !file.ends_with("counted.c") || function["count"] == 0 {
            continue;
        }
        let numbers = |value: &serde_json::Value| -> Vec<u64> {
            value.as_array().unwrap().iter().filter_map(serde_json::Value::as_u64).collect()
        };
        let theirs: Vec<Vec<u64>> = function["branches"].as_array().unwrap().iter().map(numbers).collect();
        let line = numbers(&function["regions"][0])[0] as u32;
        let ours = program.tables.at(&program.counters, Path::new(file), &[line..=line]).unwrap().unwrap();
        let counts = |b: &Branch| vec![b.held.unwrap_or(0), b.failed.unwrap_or(0)];
        let mut mine: Vec<Vec<u64>> = ours.branches.iter().map(counts).collect();
        let mut yours: Vec<Vec<u64>> = theirs.iter().map(|b| b[4..6].to_vec()).collect();
        mine.sort();
        yours.sort();
        assert_eq!(mine, yours, "{}", function["name"]);
        let own: BTreeSet<Span> = ours.branches.iter().filter(|b| !b.in_macro).map(|b| b.span).collect();
        let at = |n: &Vec<u64>| Span { start: (n[0] as u32, n[1] as u32), end: (n[2] as u32, n[3] as u32) };
        assert_eq!(own, theirs.iter().filter(|n| n[6] == 0).map(at).collect(), "{}", function["name"]);
        compared.1 += mine.len();
    }
    assert!(compared.0 > 60 && compared.1 > 15, "{compared:?}");
}

fn text_of(file: &str, line: u32) -> String {
    fs::read_to_string(file).unwrap().lines().nth(line as usize - 1).unwrap().to_owned()
}

fn is_fn(file: &str, line: u32) -> bool {
    let text = text_of(file, line);
    !text.starts_with(' ') && text.contains('(')
}

fn end_of_fn(file: &str, line: u32) -> u32 {
    if text_of(file, line).ends_with('}') {
        return line;
    }
    (line..).find(|line| text_of(file, *line) == "}").unwrap()
}
