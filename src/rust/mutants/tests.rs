use super::*;

const TEXT: &str = "\
use crate::ffi;

const LIMIT: u32 = 3;

fn more(x: u32) -> u32 {
    x.wrapping_add(LIMIT)
}

/// Nobody asks about it.
pub fn other() -> u32 { 5 }

pub fn count(data: &[u8], mut most: u32) -> u32 {
    let mut seen = 0;
    for i in 0..data.len() {
        if data[i] == b'a' && most > 0 {
            seen += 1;
            most -= 1;
        }
    }
    assert!(seen < 1000);
    more(seen as u32)
}
";

#[test]
fn every_kind_of_change_is_made_in_the_function_and_its_helpers_alone() {
    let mutated = Mutated::of(TEXT, "count", 100, 1).unwrap();
    let told: Vec<(u32, &str)> = mutated.mutants().map(|(_, m)| (m.line, m.what.as_str())).collect();
    for wanted in [
        (6, "`wrapping_add` → `wrapping_sub`"),
        (14, "`..` → `..=`"),
        (15, "`==` → `!=`"),
        (15, "`b'a'` → `98u8`"),
        (15, "`&&` → `||`"),
        (15, "`data[i] == b'a' && most > 0` turned round"),
        (16, "`seen += 1;` dropped"),
        (17, "`-=` → `+=`"),
        (21, "`u32` → `u8 as u32`"),
        (21, "`more(seen as u32)` returned as another value"),
    ] {
        assert!(told.contains(&wanted), "{wanted:?} in {told:#?}");
    }
    // Macro arguments, constants and other functions have no mutants.
    assert!(told.iter().all(|(line, _)| ![3, 10, 20].contains(line)), "{told:#?}");
    let ids: BTreeSet<&str> = mutated.mutants().map(|(_, m)| m.id.as_str()).collect();
    assert_eq!(ids.len(), told.len(), "each has a name of its own");
}

#[test]
fn the_module_is_rust_and_knows_the_lines_of_its_copies() {
    let mut mutated = Mutated::of(TEXT, "count", 5, 7).unwrap();
    assert_eq!(mutated.mutants().map(|(number, _)| number).collect::<Vec<_>>(), [7, 8, 9, 10, 11]);
    mutated.without(&BTreeSet::from([9]));
    let module = module(TEXT, &[&mutated]);
    let file = syn::parse_file(&module.text).unwrap();
    let names: Vec<String> = file.items.iter().filter_map(item::item_name).collect();
    let copies = ["implfuzz_mutant_7", "implfuzz_mutant_8", "implfuzz_mutant_10", "implfuzz_mutant_11"];
    assert!(names.ends_with(&copies.map(str::to_owned)), "{names:?}");
    assert!(module.text.contains("10 => return implfuzz_mutant_10::count(data, most),"));
    for (number, range) in &module.lines {
        let lines: Vec<&str> = module.text.lines().collect();
        assert!(lines[range.start].contains(&format!("mod implfuzz_mutant_{number} {{")), "{number}");
        assert_eq!(lines[range.end - 2], "}");
    }
    // The module's own text keeps its lines.
    assert_eq!(module.text.lines().nth(14), TEXT.lines().nth(14));
}

#[test]
fn what_cannot_be_called_again_says_so() {
    let pattern = "pub fn f((a, b): (u8, u8)) -> u8 { a + b }";
    assert_eq!(Mutated::of(pattern, "f", 9, 1).unwrap_err(), "a parameter of it is a pattern");
    assert!(Mutated::of("pub fn f() {}", "f", 9, 1).unwrap_err().contains("nothing to change"));
    assert!(Mutated::of("pub fn f() {}", "g", 9, 1).is_err());
}
