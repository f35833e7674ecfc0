//! What surrounds a function, for prompts and for the record of a run: platform, tools, limits, the C files near it, and its
//! parameters as C declares them. How much of the files is told is a knob (`environment_weight`).

use super::machine::{Container, Machine};
use crate::config::Fuzz;
use crate::contract::types::{Contract, Role};
use crate::error::Result;
use crate::port::call_sites::call_sites;
use crate::process::Interrupt;
use crate::project::{Planned, Project};
use crate::symbol::{Function, Library};
use crate::testgen::by_weight;
use serde::{Deserialize, Serialize};

/// Files that are listed, and pieces of them that are shown, with a weight of 1; with 0, none.
const LISTED: usize = 12;
const SHOWN: usize = 6;
/// Lines of a piece.
const LINES: usize = 40;

/// What C is compiled with; as in the port's `build.rs`.
const SANITIZERS: [&str; 2] = [
    "address",
    "undefined (signed overflow, shifts, division by zero, bounds, values of bool and enum, float to integer)",
];

/// What no test may need and no port may use.
const PROHIBITED: [&str; 6] = [
    "network",
    "files beyond those that an input describes",
    "other processes and threads",
    "environment variables",
    "clocks and chance beyond those that an input describes",
    "the C function itself, or recorded answers, in place of the port",
];

/// What surrounds a function.
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
    /// From the C declaration, not from what a model makes of it.
    pub parameters: Vec<ParameterInfo>,
}

/// What there is to work with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tools {
    pub available: Vec<String>,
    pub prohibited: Vec<String>,
}

/// What a call of C may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    /// MiB of the machine, or of the container; absent where nobody says.
    pub memory_mib: Option<u64>,
    pub cores: usize,
    /// MiB of the process that C runs in.
    pub process_mib: u64,
    /// Milliseconds of one call.
    pub call_ms: u64,
}

/// C files near the function, relative to the root of the library.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Files {
    /// The function's own file first.
    pub listing: Vec<String>,
    pub previews: Vec<Preview>,
}

/// A piece of a C file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preview {
    /// `caller twice`, `callee mix`, `macros`.
    pub what: String,
    pub file: String,
    /// Its first line; 0 where it has none of its own.
    pub line: usize,
    pub text: String,
}

/// A parameter, or the result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParameterInfo {
    pub name: String,
    /// As C writes it.
    pub c_type: String,
    /// The word for its role in the contract; absent where there is no contract.
    pub role: Option<String>,
}

impl EnvironmentInfo {
    /// Collects it. `weight` is from 0 to 1.
    ///
    /// # Errors
    /// `Environment` when a tool is missing, and Ctrl-C.
    pub fn collect(project: &Project, planned: &Planned, weight: f64, interrupt: &Interrupt) -> Result<Self> {
        let machine = Machine::here(project.toolchain(interrupt)?);
        let around = (&project.library, &planned.function, planned.judgeable.contract());
        Ok(Self::of(&machine, &project.config.fuzz, around, weight))
    }

    fn of(
        machine: &Machine,
        fuzz: &Fuzz,
        (library, function, contract): (&Library, &Function, Option<&Contract>),
        weight: f64,
    ) -> Self {
        let machine = machine.clone();
        Self {
            platform: machine.platform,
            container: machine.container,
            compilers: machine.compilers,
            sanitizers: SANITIZERS.map(str::to_owned).into(),
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
            parameters: parameters(function, contract),
        }
    }
}

/// Files by how near they are: its own, those of callers and callees, the others.
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

/// Pieces by how much they say of inputs: where it is called, its macros, what it calls.
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

fn parameters(function: &Function, contract: Option<&Contract>) -> Vec<ParameterInfo> {
    let one = |param: &crate::symbol::Param| ParameterInfo {
        name: param.name.clone(),
        c_type: param.ty.spelling.clone(),
        role: contract.and_then(|contract| contract.role(&param.name)).map(|role| word(role).to_owned()),
    };
    function.params.iter().map(one).collect()
}

/// As contract files call it.
fn word(role: &Role) -> &'static str {
    match role {
        Role::Value { .. } => "value",
        Role::OneOf { .. } => "one-of",
        Role::Buffer { .. } => "buffer",
        Role::Length => "length",
        Role::CString { .. } => "c-string",
        Role::Pointer { .. } => "pointer",
        Role::FixedArray { .. } => "fixed-array",
        Role::Room { .. } => "room",
        Role::Elements { .. } => "elements",
        Role::Callback { .. } => "callback",
        Role::Handle { .. } => "handle",
        Role::Token => "token",
        Role::Given { .. } => "given",
        Role::Lent { .. } => "lent",
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::fixture::{digest, library};
    use super::*;

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
        let (function, contract) = digest();
        EnvironmentInfo::of(&machine(), &Fuzz::default(), (&library(), &function, Some(&contract)), weight)
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
    fn parameters_are_those_of_the_declaration_with_the_roles_of_the_contract() {
        let told: Vec<_> = environment(0.0).parameters;
        let told: Vec<(&str, &str, &str)> =
            told.iter().map(|p| (p.name.as_str(), p.c_type.as_str(), p.role.as_deref().unwrap())).collect();
        assert_eq!(told[0], ("dst", "uint8_t *", "buffer"));
        assert_eq!(told[1..3], [("cap", "size_t", "length"), ("data", "const uint8_t *", "buffer")]);
        let (function, _) = digest();
        assert!(parameters(&function, None).iter().all(|param| param.role.is_none()));
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
        let build = include_str!("../../templates/port/build.rs");
        for word in [
            "-fsanitize=address",
            "signed-integer-overflow",
            "shift",
            "integer-divide-by-zero",
            "bounds",
            "bool",
            "enum",
            "float-cast",
        ] {
            assert!(build.contains(word), "{word}");
        }
    }
}
