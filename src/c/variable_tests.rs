//! Which variables change, and whose they are.

use super::front_tests::library;

#[test]
fn a_static_variable_of_a_header_is_each_files_own() {
    let lib = library(&[
        ("util.h", "static int verbosity = 1;\n"),
        ("a.c", "#include \"util.h\"\nint loud(void) { return verbosity > 1; }\n"),
        ("b.c", "#include \"util.h\"\nvoid set_verbose(int v) { verbosity = v; }\n"),
        ("c.c", "static int twice;\nstatic int twice = 3;\nint more(void) { return twice++; }\n"),
    ]);
    let own: Vec<(&str, bool)> =
        lib.globals.iter().map(|global| (global.c_name.as_str(), global.is_in_each_unit)).collect();
    assert_eq!(own, [("twice", false), ("verbosity", true)]);
}

#[test]
fn what_atomic_operations_and_assembly_write_is_written() {
    let lib = library(&[(
        "a.c",
        "static int level = 3, flag = 1, kept = 2;\n\
         void set_level(int v) { __atomic_store_n(&level, v, __ATOMIC_RELAXED); }\n\
         void set_flag(void) { __asm__ volatile(\"\" : \"=r\"(flag)); }\n\
         int get(void) { return level + flag + kept; }\n",
    )]);
    let never: Vec<(&str, bool)> =
        lib.globals.iter().map(|global| (global.c_name.as_str(), global.never_written)).collect();
    assert_eq!(never, [("flag", false), ("kept", true), ("level", false)]);
}

#[test]
fn what_sizeof_names_is_not_pointed_to() {
    let lib = library(&[(
        "a.c",
        "static const char *words[] = { \"a\", \"b\" };\n\
         static const int count = sizeof words / sizeof *words;\n\
         int how_many(void) { return count; }\n",
    )]);
    let of = |name: &str| lib.globals.iter().find(|global| global.c_name == name).unwrap();
    assert_eq!(lib.find("how_many").unwrap().globals_read, [of("count").key.clone()]);
    assert!(of("words").never_written);
}
