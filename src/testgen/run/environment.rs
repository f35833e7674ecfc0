//! The environment of a function, for prompts: platform, tools, limits, and the C files near it. A knob
//! (`environment_weight`) controls how much of the files is shown; the schema of inputs describes the parameters.

use super::host_info::{Container, Machine};
use crate::c::call_sites::call_sites;
use crate::config::Fuzz;
use crate::error::Result;
use crate::platform::process::Interrupt;
use crate::project::{FunctionPlan, Project};
use crate::symbol::{Function, Library};
use crate::test_record::by_weight;
use serde::{Deserialize, Serialize};

/// Number of listed files, and of shown pieces of them, with a weight of 1; with 0, none.
const LISTED: usize = 12;
const SHOWN: usize = 6;
/// Largest number of lines of a piece.
const LINES: usize = 40;

/// The sanitizers of C, by the compiler options in the port's `build.rs`, in words. Those without words add nothing
/// about inputs.
const SANITIZERS: [(&str, &[(&str, &str)]); 2] = [
    ("address", &[("address", "")]),
    (
        "undefined",
        &[
            ("signed-integer-overflow", "signed overflow"),
            ("shift-exponent", "shifts"),
            ("integer-divide-by-zero", "division by zero"),
            ("bounds", "bounds"),
            ("unreachable", ""),
            ("return", ""),
            ("vla-bound", ""),
            ("bool", "values of bool and enum"),
            ("enum", ""),
            ("nonnull-attribute", ""),
            ("returns-nonnull-attribute", ""),
            ("float-cast-overflow", "float to integer"),
            ("builtin", "zero for `__builtin_clz` and its like"),
        ],
    ),
];

/// Resources that no test may need and no port may use.
const PROHIBITED: [&str; 6] = [
    "network",
    "files beyond those that an input describes",
    "other processes and threads",
    "environment variables",
    "clocks and chance beyond those that an input describes",
    "the C function itself, or recorded answers, in place of the port",
];

/// The environment of a function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvironmentInfo {
    /// Target triple.
    pub platform: String,
    pub container: Container,
    pub compilers: Vec<String>,
    pub sanitizers: Vec<String>,
    pub tools: Tools,
    pub resources: Resources,
    pub files: Files,
}

/// The available tools and prohibited means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tools {
    pub available: Vec<String>,
    pub prohibited: Vec<String>,
}

/// Resource limits of a call of C.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    /// MiB of the machine or container; `None` if unknown.
    pub memory_mib: Option<u64>,
    pub cores: usize,
    /// MiB of the process in which C runs.
    pub process_mib: u64,
    /// Time limit of one call, milliseconds.
    pub call_ms: u64,
}

/// C files near the function, relative to the root of the library.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Files {
    /// The function's own file comes first.
    pub listing: Vec<String>,
    pub previews: Vec<Preview>,
}

/// A piece of a C file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preview {
    /// `caller twice`, `callee mix`, `macros`.
    pub what: String,
    pub file: String,
    /// Its first line; 0 if it has no single position.
    pub line: usize,
    pub text: String,
}

impl EnvironmentInfo {
    /// Collects the environment. `weight` is from 0 to 1.
    ///
    /// # Errors
    /// `Environment` when a tool is missing, and Ctrl-C.
    pub fn collect(
        project: &Project,
        planned: &FunctionPlan,
        weight: f64,
        interrupt: &Interrupt,
    ) -> Result<Self> {
        let machine = Machine::here(project.toolchain(interrupt)?);
        Ok(Self::of(&machine, &project.config.fuzz, (&project.library, &planned.function), weight))
    }

    fn of(machine: &Machine, fuzz: &Fuzz, (library, function): (&Library, &Function), weight: f64) -> Self {
        let machine = machine.clone();
        Self {
            platform: machine.platform,
            container: machine.container,
            compilers: machine.compilers,
            sanitizers: SANITIZERS.map(|(name, checks)| sanitizer(name, checks)).into(),
            tools: Tools { available: machine.tools, prohibited: PROHIBITED.map(str::to_owned).into() },
            resources: Resources {
                memory_mib: machine.memory_mib,
                cores: machine.cores,
                process_mib: fuzz.rss_limit_mb,
                call_ms: fuzz.call_timeout_ms,
            },
            files: Files {
                listing: listing(library, function, by_weight(weight, 0, LISTED)),
                previews: previews(library, function, by_weight(weight, 0, SHOWN)),
            },
        }
    }
}

fn sanitizer(name: &str, checks: &[(&str, &str)]) -> String {
    let words: Vec<&str> = checks.iter().map(|(_, words)| *words).filter(|words| !words.is_empty()).collect();
    if words.is_empty() { name.to_owned() } else { format!("{name} ({})", words.join(", ")) }
}

/// Files by distance: the function's own, those of callers and callees, the others.
fn listing(library: &Library, function: &Function, most: usize) -> Vec<String> {
    let callers = library.functions.iter().filter(|f| f.calls.contains(&function.key));
    let callees = library.functions.iter().filter(|f| function.calls.contains(&f.key));
    let near = [function].into_iter().chain(callers).chain(callees).map(|f| f.place.file.to_string());
    let mut all: Vec<String> = Vec::new();
    for file in near.chain(library.units.iter().map(|unit| unit.file.to_string())) {
        if !all.contains(&file) {
            all.push(file);
        }
    }
    all.truncate(most);
    all
}

/// Pieces of C by usefulness for inputs: call sites, macros, callees.
fn previews(library: &Library, function: &Function, most: usize) -> Vec<Preview> {
    let sites = call_sites(library, function).into_iter().map(|site| Preview {
        what: format!("caller {}", site.caller),
        file: site.file,
        line: site.line,
        text: site.text,
    });
    let callees =
        library.functions.iter().filter(|f| function.calls.contains(&f.key) && f.key != function.key);
    let callees = callees.map(|callee| Preview {
        what: format!("callee {}", callee.c_name),
        file: callee.place.file.to_string(),
        line: callee.place.line as usize,
        text: beginning(&callee.text),
    });
    sites.chain(macros(library, function)).chain(callees).take(most).collect()
}

/// The library's macros that the body expands.
fn macros(library: &Library, function: &Function) -> Option<Preview> {
    let used: Vec<_> = library.macros.iter().filter(|m| function.macros.contains(&m.name)).collect();
    let first = used.first()?;
    let lines: Vec<String> = used.iter().map(|m| format!("#define {}", m.text)).collect();
    Some(Preview {
        what: "macros".into(),
        file: first.place.file.to_string(),
        line: 0,
        text: beginning(&lines.join("\n")),
    })
}

fn beginning(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().take(LINES + 1).collect();
    if lines.len() > LINES {
        lines[LINES] = "…";
    }
    lines.join("\n")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::testgen::fixture::{digest, library};
    use std::collections::BTreeSet;

    pub fn machine() -> Machine {
        Machine {
            platform: "x86_64-unknown-linux-gnu".into(),
            container: Container::None,
            compilers: vec!["clang 19.1.7".into(), "rustc 1.95.0".into()],
            tools: vec!["make".into()],
            memory_mib: Some(8192),
            cores: 4,
        }
    }

    pub fn environment(weight: f64) -> EnvironmentInfo {
        EnvironmentInfo::of(&machine(), &Fuzz::default(), (&library(), &digest().0), weight)
    }

    #[test]
    fn the_weight_says_how_much_of_the_files_is_told() {
        assert_eq!(environment(0.0).files, Files::default());
        let all = environment(1.0).files;
        assert_eq!(all.listing, ["src/sum.c", "src/other.c"]);
        let what: Vec<&str> = all.previews.iter().map(|preview| preview.what.as_str()).collect();
        assert_eq!(what, ["caller twice", "macros", "callee mix"]);
        assert!(all.previews[0].text.contains("kit_digest(0, 0, p, 2, 1)"), "{:?}", all.previews[0]);
        assert_eq!(all.previews[1].text, "#define START 7");
        // 0.1 · 12 and 0.1 · 6, rounded.
        let few = environment(0.1).files;
        assert_eq!((few.listing.len(), few.previews.len()), (1, 1));
    }

    #[test]
    fn it_is_plain_data_without_absolute_paths() {
        let info = environment(1.0);
        let text = serde_json::to_string(&info).unwrap();
        assert_eq!(serde_json::from_str::<EnvironmentInfo>(&text).unwrap(), info);
        assert!(!text.contains("\"/"), "{text}");
    }

    #[test]
    fn long_pieces_are_cut() {
        let text = "x\n".repeat(100);
        assert_eq!(beginning(&text).lines().count(), LINES + 1);
        assert_eq!(beginning("a\nb"), "a\nb");
    }

    #[test]
    fn the_sanitizers_are_those_of_the_build() {
        // A string literal continues after a backslash at the end of the line.
        let build = include_str!("../../../templates/port/build.rs").replace("\\\n", "");
        let lists = build.split("-fsanitize=").skip(1).filter_map(|rest| rest.split('"').next());
        let asked: BTreeSet<String> =
            lists.flat_map(|list| list.split(',')).map(|word| word.trim().to_owned()).collect();
        // Coverage instrumentation: it checks nothing.
        let checks: BTreeSet<String> = asked.into_iter().filter(|word| word != "fuzzer-no-link").collect();
        let known =
            SANITIZERS.iter().flat_map(|(_, checks)| checks.iter()).map(|(flag, _)| (*flag).to_owned());
        assert_eq!(checks, known.collect());
        assert_eq!(
            environment(0.0).sanitizers,
            [
                "address",
                "undefined (signed overflow, shifts, division by zero, bounds, values of bool and enum, float to integer, zero for `__builtin_clz` and its like)"
            ]
        );
    }
}
