//! The generated C tables: what the judge knows of each function, and where functions begin in a program.

use super::candidates::Candidates;
use super::floats::lanes;
use super::passing::{self, Part, is_in_memory};
use super::returned::result;
use crate::c::entries::Entries;
use crate::c::mutants::table;
use crate::c::own_copies::OwnCopy;
use crate::c::signatures::{Passed, Signature};
use crate::contract::errno::errno_says_nothing;
use crate::rust::shims::candidate;
use crate::symbol::{CType, Function, Library, LibraryIndex, TypeKind};

/// Bytes of arguments on the stack that every call gets: more than most functions have.
const STACK: u64 = 128;
/// As in `in_place.h`.
const MOST: usize = 64;

/// Why calls of a function are not judged, whatever a driver does.
pub fn why_not(library: &Library, function: &Function) -> Option<&'static str> {
    if library.globals.iter().any(|global| global.is_thread_local) && uses_thread_local(library, function) {
        return Some("it uses a thread-local variable");
    }
    if function.is_variadic {
        return Some("variadic");
    }
    result(library, &function.ret).err()
}

/// Whether it or what it calls uses a variable that each thread has of its own: these are not put back between calls.
fn uses_thread_local(library: &Library, function: &Function) -> bool {
    let index = LibraryIndex::of(library);
    index.reached(function).any(|reached| {
        let mut variables = reached.globals_read.iter().chain(&reached.globals_written);
        variables.any(|key| library.global(key).is_some_and(|global| global.is_thread_local))
    })
}

/// An upper bound for the bytes of arguments on the stack: structs by value are there, and what registers hold is
/// counted too.
fn stack_bytes(library: &Library, function: &Function) -> u64 {
    let size = |ty: &CType| match &ty.kind {
        TypeKind::Record(key) => {
            library.records.get(key).map_or(0, |record| record.size.next_multiple_of(16))
        }
        _ => 16,
    };
    let all: u64 = function.params.iter().map(|param| size(&param.ty)).sum();
    all.next_multiple_of(16).max(STACK)
}

/// How many registers for integers have something else than parameters, before the first of these; `None` where parameters
/// are not each in a register of its own.
pub fn integers_before(library: &Library, function: &Function) -> Option<usize> {
    let is_plain = |ty: &CType| !matches!(ty.kind, TypeKind::Record(_) | TypeKind::Unsupported(_));
    // On x86-64 the address of such a result is the first argument.
    let before = usize::from(cfg!(target_arch = "x86_64") && is_in_memory(library, &function.ret));
    function.params.iter().all(|param| is_plain(&param.ty)).then_some(before)
}

/// How many arguments are in registers for integers, structs by value left out; and how many integers are on the stack,
/// where nothing else is.
fn integers(library: &Library, function: &Function) -> [usize; 2] {
    let is_float = |ty: &CType| matches!(ty.kind, TypeKind::Float { .. });
    let is_plain = |ty: &CType| !matches!(ty.kind, TypeKind::Record(_) | TypeKind::Unsupported(_));
    let vectors = function.params.iter().filter(|param| is_float(&param.ty)).count();
    let integers = function.params.iter().filter(|param| is_plain(&param.ty) && !is_float(&param.ty)).count();
    // On x86-64 the address of such a result is the first argument.
    let is_x86 = cfg!(target_arch = "x86_64");
    let integers = integers + usize::from(is_x86 && is_in_memory(library, &function.ret));
    let most = if is_x86 { 6 } else { 8 };
    let is_known = vectors <= 8 && integers_before(library, function).is_some();
    [integers.min(most), if is_known { integers.saturating_sub(most) } else { 0 }]
}

/// A list of words: its name, their number, and its definition.
fn parts(name: String, parts: &[Part]) -> (String, usize, String) {
    let rows: Vec<String> = parts.iter().map(Part::in_c).collect();
    match rows.is_empty() {
        true => ("0".to_owned(), 0, String::new()),
        false => {
            let text = format!("static const struct implfuzz_part {name}[] = {{{}}};\n", rows.join(", "));
            (name, rows.len(), text)
        }
    }
}

/// The candidates of a function: the name of their list, how many there are, and what declares it.
fn list(candidates: Candidates, number: usize, function: &Function) -> Option<(String, usize, String)> {
    match candidates {
        Candidates::None | Candidates::Branches | Candidates::Watched => None,
        Candidates::Mutants(mutants) => {
            let list = mutants.of.get(&function.name)?;
            let name = table(&function.name);
            let text = format!("extern void *const {name}[];\n");
            // The unchanged copy stands before them.
            Some((name, (list.len() + 1).min(MOST), text))
        }
        Candidates::Ports(ports) => {
            let (name, port) = (format!("implfuzz_candidates_{number}"), candidate(number));
            let text = format!("extern unsigned char {port}[];\nstatic void *const {name}[] = {{{port}}};\n");
            ports.numbers.contains(&number).then_some((name, 1, text))
        }
    }
}

/// The text of the table of functions, which have their positions in the library as numbers.
pub(super) fn functions(library: &Library, entries: &Entries, candidates: Candidates) -> String {
    let (mut declarations, mut rows) = (String::new(), String::new());
    let index = LibraryIndex::of(library);
    for (number, function) in library.functions.iter().enumerate() {
        let is_judged = why_not(library, function).is_none() && !entries.of(&function.key).is_empty();
        let (table, candidates) = match list(candidates, number, function).filter(|_| is_judged) {
            Some((name, candidates, text)) => {
                declarations += &text;
                (name, candidates)
            }
            None => ("0".to_owned(), 0),
        };
        let result = result(library, &function.ret).unwrap_or("RESULT_UNKNOWN");
        let bytes = stack_bytes(library, function);
        let [integers, on_stack] = integers(library, function);
        let of_result = passing::result(library, &function.ret).filter(|_| result == "RESULT_PARTS");
        let arguments = parts(format!("arguments_{number}"), &passing::arguments(library, function));
        let of_result = parts(format!("result_{number}"), &of_result.unwrap_or_default());
        let floats = lanes(library, function, format!("lanes_{number}"));
        declarations += &(arguments.2 + &of_result.2 + &floats.2);
        rows += &format!(
            "    {{\"{}\", {result}, {bytes}, {integers}, {on_stack}, {}, {}, {}, {}, {}, {}, {table}, {candidates}, {}}},\n",
            function.name,
            arguments.0,
            of_result.0,
            arguments.1,
            of_result.1,
            floats.0,
            floats.1,
            u8::from(errno_says_nothing(&index, function))
        );
    }
    let all = library.functions.len();
    format!(
        "#include \"in_place.h\"\n\n{declarations}\n\
         const struct implfuzz_function implfuzz_functions[] = {{\n{rows}}};\n\
         const size_t implfuzz_function_count = {all};\n"
    )
}

/// The text of the table of entries in a program: those in the library, and those of its own copies.
pub(super) fn entries(library: &Library, entries: &Entries, own: &[OwnCopy]) -> String {
    let (mut declarations, mut rows) = (String::new(), String::new());
    let of_units = library.functions.iter().enumerate().flat_map(|(number, function)| {
        entries.of(&function.key).iter().map(move |entry| (number, entry.name.as_str()))
    });
    let own = own.iter().map(|copy| (copy.function, copy.name.as_str()));
    for (number, name) in of_units.chain(own) {
        declarations += &format!("extern unsigned char {name}[];\n");
        rows += &format!("    {{{number}, {name}}},\n");
    }
    format!(
        "#include \"in_place.h\"\n\n{declarations}\n\
         const struct implfuzz_entry implfuzz_entries[] = {{\n{rows}}};\n\
         const size_t implfuzz_entry_count = sizeof implfuzz_entries / sizeof *implfuzz_entries;\n"
    )
}

/// The text of the table of the driver's own functions.
pub(super) fn of_driver(functions: &[Signature]) -> String {
    let (mut lists, mut rows) = (String::new(), String::new());
    for (number, Signature { symbol, parameters }) in functions.iter().enumerate() {
        let passed = |passed: &Passed| match passed {
            Passed::Integer(bytes) => format!("{{PASSED_INTEGER, {bytes}}}"),
            Passed::Float(bytes) => format!("{{PASSED_FLOAT, {bytes}}}"),
            Passed::Pointer(bytes) => format!("{{PASSED_POINTER, {bytes}}}"),
            Passed::Input(bytes) => format!("{{PASSED_INPUT, {bytes}}}"),
            Passed::Text => "{PASSED_TEXT, 1}".to_owned(),
        };
        let all: Vec<String> = parameters.iter().map(passed).collect();
        if !all.is_empty() {
            lists +=
                &format!("static const struct implfuzz_parameter of_{number}[] = {{{}}};\n", all.join(", "));
        }
        let list = if all.is_empty() { "0".to_owned() } else { format!("of_{number}") };
        rows += &format!("    {{{symbol:?}, {list}, {}}},\n", all.len());
    }
    // C has no empty arrays.
    let count = functions.len();
    format!(
        "\n{lists}\nconst struct implfuzz_signature implfuzz_signatures[] = {{\n{rows}    {{0, 0, 0}},\n}};\n\
         const size_t implfuzz_signature_count = {count};\n"
    )
}
