//! The page of the measurements: a summary for people.

use super::support::real;
use super::{ACCEPTED, KILLED, TIERS, array, package, percent, text};
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Reasons and examples that the summary shows of one library.
const SHOWN: usize = 8;
const EXAMPLES: usize = 3;

const HEADER: &str = "\n| library | functions | tier A | B | E | C | D | with harness | working | external | working of these | mutants killed | equivalent | seconds each | seconds in all |\n\
     |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";

/// The summary: tables of all libraries, then the most frequent reasons for each.
pub fn page(libraries: &[Value]) -> String {
    let rows: String = libraries.iter().map(row).collect();
    let sections: String = libraries.iter().map(section).collect();
    let more = in_place(libraries) + &new_drivers(libraries) + &learned(libraries);
    format!("{}{HEADER}{rows}{more}{sections}", head())
}

/// What drivers add, for the libraries that have one in `benches/drivers/`.
fn in_place(libraries: &[Value]) -> String {
    let measured: Vec<&Value> = libraries.iter().filter(|library| library["in_place"].is_object()).collect();
    if measured.is_empty() {
        return String::new();
    }
    let row = |library: &&Value| {
        let (all, found) = (library["functions"].as_u64().unwrap() as usize, &library["in_place"]);
        let number = |key: &str| found[key].as_u64().unwrap() as usize;
        let of =
            |part: usize, whole: usize| percent(part, whole).map_or_else(|| "-".into(), |p| format!("{p} %"));
        let differing = found["differing"].as_array().unwrap().len();
        let cells = [
            text(library, "name").to_owned(),
            all.to_string(),
            of(number("reached"), all),
            of(number("working"), all),
            library["working"].as_u64().map_or_else(|| "-".into(), |share| format!("{share} %")),
            of(number("either"), all),
            of(number("either_of_reached"), number("reached")),
            differing.to_string(),
            number("fuzzing_seconds").to_string(),
            number("seconds").to_string(),
        ];
        format!("| {} |\n", cells.join(" | "))
    };
    let rows: String = measured.iter().map(row).collect();
    let is_shown = |name: &&str| measured.iter().any(|library| package(library) == *name);
    let unseen: Vec<&str> = real::UNSEEN.iter().map(|lib| lib.package).filter(is_shown).collect();
    let unseen = unseen.join(", ");
    let older = measured.iter().filter(|library| library["in_place"]["fuzzes_on"] != true);
    let older: Vec<&str> = older.map(|library| package(library)).collect();
    let older = match &older[..] {
        [] => String::new(),
        older => format!(
            " These were measured before the tool had [fuzzing for single functions](drivers.md#how-well-a-driver-tests-each-function): {}.",
            older.join(", ")
        ),
    };
    format!(
        "\n## In place\n\n\
         Functions can also be judged at the calls that a [driver](drivers.md) makes. Each library in this table has one driver, in `benches/drivers/`. \
         Allocations may fail here, too. These libraries were not used in development before they were first measured: {unseen}. Since then, the results of the first four have been used to improve the tool and the drivers.{older}\n\n\
         - **reached**: share of the functions that the driver calls. **in place**: share of all functions for which the driver's calls kill at least {:.0} % of the mutants. \
         **harness**: share with a working harness, as above. **either**: share of all functions that meet at least one of these two conditions. **either of reached**: the same share of the functions that the driver reaches.\n\
         - **C differs**: number of functions for which C differs from an unchanged copy of itself; it must be 0.\n\
         - **fuzzing**: seconds of fuzzing. **in all**: seconds of `drivers --check`, which includes the fuzzing and all mutants.\n\n\
         `cargo bench --bench harnesses -- --in-place --write [PACKAGE...]` writes this table.\n\n\
         | library | functions | reached | in place | harness | either | either of reached | C differs | fuzzing | in all |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n{rows}",
        KILLED * 100.0
    )
}

/// What the drivers that the tool makes are worth as they are.
fn new_drivers(libraries: &[Value]) -> String {
    let measured = libraries.iter().filter(|library| library["new_driver"].is_object());
    let row = |library: &Value| {
        let (all, found) = (library["functions"].as_u64().unwrap() as usize, &library["new_driver"]);
        let number = |key: &str| found[key].as_u64().unwrap();
        let share =
            |key: &str| percent(number(key) as usize, all).map_or_else(|| "-".into(), |p| format!("{p} %"));
        let cells = [
            text(library, "name").to_owned(),
            all.to_string(),
            number("called").to_string(),
            number("breaking").to_string(),
            number("reached").to_string(),
            share("reached"),
            share("working"),
            share("either"),
            found["differing"].as_array().unwrap().len().to_string(),
        ];
        format!("| {} |\n", cells.join(" | "))
    };
    let rows: String = measured.map(row).collect();
    if rows.is_empty() {
        return rows;
    }
    format!(
        "\n## New drivers\n\n\
         This table shows the same measurements with the driver that [`drivers --new`](drivers.md#a-new-driver) writes, unedited and fuzzed for a minute.\n\n\
         - **called**: functions that the driver calls. **C crashes or hangs**: number of inputs on which C crashes or hangs, because the driver makes calls that no program would make. **reached**: number of functions that the driver calls, directly or through other functions. **share**: the share of all functions that it reaches.\n\n\
         `cargo bench --bench harnesses -- --new-driver --write [PACKAGE...]` writes this table.\n\n\
         | library | functions | called | C crashes or hangs | reached | share | in place | either | C differs |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|\n{rows}"
    )
}

/// What the calls of drivers teach contracts.
fn learned(libraries: &[Value]) -> String {
    let measured: Vec<&Value> = libraries.iter().filter(|library| library["learned"].is_object()).collect();
    if measured.is_empty() {
        return String::new();
    }
    let row = |library: &&Value| {
        let found = &library["learned"];
        let count = |key: &str| found[key].as_array().unwrap().len().to_string();
        let number = |key: &str| found[key].as_u64().unwrap().to_string();
        let cells = [
            text(library, "name").to_owned(),
            number("watched"),
            number("confirmed"),
            number("roles"),
            number("functions"),
            count("new"),
            count("withdrawn"),
            count("worked_before"),
            count("worked_after"),
            count("worse"),
            count("safe"),
            count("unsafe"),
        ];
        format!("| {} |\n", cells.join(" | "))
    };
    let rows: String = measured.iter().map(row).collect();
    format!(
        "\n## Contracts learned from calls\n\n\
         [`contract --learn`](contracts.md#correcting-contracts-from-observed-calls) with the drivers of the table \"In place\", fuzzed for a minute. The harnesses of the functions whose contracts changed are measured before and after.\n\n\
         - **watched**: functions whose calls were watched. **confirmed**: roles that the C text suggests or that calls show, and that no call contradicts. **roles**, **functions**: roles that calls changed, and functions with such a change.\n\
         - **new**, **withdrawn**: functions that got a contract, and functions that lost one, because calls contradict it and show nothing better; drivers judge these.\n\
         - **worked before**, **worked after**: of the functions with a change, those with a working harness. **worse**: those whose earlier harness worked, but whose earlier contract the calls contradict, and that now have no working harness.\n\
         - **safe**, **C's**: signatures that became safe, and signatures that became C's, because a parameter that was taken for a length is not one.\n\n\
         `cargo bench --bench harnesses -- --learned --write [PACKAGE...]` writes this table; the changes are in the data file.\n\n\
         | library | watched | confirmed | roles | functions | new | withdrawn | worked before | worked after | worse | safe | C's |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n{rows}"
    )
}

fn head() -> String {
    format!(
        "# Harnesses of real C libraries\n\n\
         This page measures harnesses, without any port or model. The tool makes a harness for every function that it can call, then runs it on the C original and on mutants of the C function.\n\n\
         A harness *works* if C never differs from itself, C accepts at least {:.0} % of the inputs, and at least {:.0} % of the mutants of the C function are killed within the time limit. \
         Without a working harness, a port can become `verified` only with the help of a [driver](#in-place), or after a person or a model has added a contract or a fuzz target.\n\n\
         - **tier**: share of the functions in each tier. The tier says how a harness can call a function (A: arguments decoded from the input, B: values from the library's constructors, E: heuristics, C: the C text does not show how to call it, so a person or a model must say, D: cannot be called).\n\
         - **with harness**, **working**: share of all functions that have a harness, and that have a working harness. **external**: number of functions that are not `static`. **working of these**: share of the external functions that have a working harness.\n\
         - **equivalent**: number of mutants that compile to the same code as the original; **mutants killed** does not count them. No mutant was marked as equivalent by hand.\n\
         - **seconds each**: time limit for the mutants of one function. **seconds in all**: wall time of `contract --check --all`.\n\n\
         Allocations may fail in functions on handles (`fuzz.fail_allocations`). \
         [data/harnesses.json](data/harnesses.json) lists every function without a working harness and every surviving mutant.\n\n\
         `cargo bench --bench harnesses -- --write --seconds N [PACKAGE...]` writes this page and that file.\n",
        ACCEPTED * 100.0,
        KILLED * 100.0
    )
}

fn row(library: &Value) -> String {
    let share = |value: &Value| value.as_u64().map_or_else(|| "-".to_owned(), |share| format!("{share} %"));
    let number = |key: &str| library[key].to_string();
    let mut cells = vec![text(library, "name").to_owned(), number("functions")];
    cells.extend(TIERS.iter().map(|tier| share(&library["tiers"][tier])));
    cells.extend(["with_harness", "working"].map(|key| share(&library[key])));
    cells.extend([number("external"), share(&library["external_working"]), share(&library["killed"])]);
    cells.extend(["equivalent", "seconds_per_function", "seconds"].map(number));
    format!("| {} |\n", cells.join(" | "))
}

/// The most frequent reasons of one library, with the names in them left out, so that like reasons count together.
fn section(library: &Value) -> String {
    let mut page = format!("\n## {}\n", text(library, "name"));
    let without = array(library, "without_harness").map(|why| {
        let names = why["symbols"].as_array().unwrap().iter().map(|name| name.as_str().unwrap());
        (text(why, "reason"), why["count"].as_u64().unwrap(), names.collect())
    });
    page += &reasons("Functions without a harness", &without.collect::<Vec<_>>());
    let failing =
        array(library, "failing").map(|why| (kind(text(why, "reason")), 1, vec![text(why, "symbol")]));
    page += &reasons("Functions with a harness that does not work", &failing.collect::<Vec<_>>());
    let survivors = library["survivors"].as_object().unwrap();
    let count: usize = survivors.values().map(|all| all.as_array().unwrap().len()).sum();
    page + &format!("\nSurviving mutants: {count}, in {} functions.\n", survivors.len())
}

/// A shortcoming without its numbers.
fn kind(reason: &str) -> &str {
    match reason {
        _ if reason.ends_with("mutants killed") => "too few mutants killed",
        _ if reason.starts_with("C accepts") => "C accepts too few inputs",
        _ if reason.starts_with("C differs from itself") => "C differs from itself",
        _ if reason.starts_with("no mutants") => "the C text has nothing to mutate",
        _ => reason,
    }
}

/// Reasons with their numbers and a few symbols each, the most frequent first.
fn reasons(title: &str, all: &[(&str, u64, Vec<&str>)]) -> String {
    let mut groups: BTreeMap<String, (u64, Vec<&str>)> = BTreeMap::new();
    for (reason, count, symbols) in all {
        let group = groups.entry(without_names(reason)).or_default();
        group.0 += count;
        group.1.extend(symbols);
    }
    if groups.is_empty() {
        return String::new();
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(reason, (count, _))| (Reverse(*count), reason.clone()));
    let total: u64 = groups.iter().map(|(_, (count, _))| count).sum();
    let mut page = format!("\n{title}: {total}.\n\n");
    for (reason, (count, symbols)) in groups.iter().take(SHOWN) {
        let examples: Vec<String> = symbols.iter().take(EXAMPLES).map(|name| format!("`{name}`")).collect();
        let more = if *count as usize > examples.len() { ", ..." } else { "" };
        writeln!(page, "- {count} × {reason}: {}{more}", examples.join(", ")).unwrap();
    }
    let rest: u64 = groups.iter().skip(SHOWN).map(|(_, (count, _))| count).sum();
    if rest > 0 {
        writeln!(page, "- {rest} × other reasons").unwrap();
    }
    page
}

/// A reason with an ellipsis for each name, and without the function through which it applies.
fn without_names(reason: &str) -> String {
    let mut text = String::new();
    for (i, part) in reason.split('`').enumerate() {
        text += match part {
            _ if i % 2 == 0 => part,
            "void *" => "`void *`",
            _ => "`...`",
        };
    }
    text.replace(" (through `...`)", "")
}
