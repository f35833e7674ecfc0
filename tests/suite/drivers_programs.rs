//! Programs of a repository as drivers: `drivers --new NAME --program FILE`.

use crate::drivers::{store, write_ports};
use crate::support::Repo;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Reads commands; it ends in several ways, and does to its streams what programs do.
const PROGRAM: &str = r#"
#include "../store.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct store *store;
static int lines; /* each run begins with 0 where calls are judged */

static int watch(void *context, const char *name)
{
    (void)context;
    return name[0] == '!';
}

static void empty(void)
{
    store_free(store);
}

int main(int count, char **words)
{
    char line[64];
    int removes = 0;
    for (int option = getopt(count, words, "r"); option != -1; option = getopt(count, words, "r")) {
        if (option != 'r')
            exit(2);
        removes = 1;
    }
    store = store_new(watch, NULL);
    if (!store)
        return 1;
    atexit(empty);
    while (fgets(line, sizeof line, stdin)) {
        size_t length = strcspn(line, "\n");
        if (line[0] == '.' && lines > 2)
            exit(lines);
        else if (line[0] == '-' && removes)
            store_remove(store, line + 1, length - 1);
        else if (line[0] == '?')
            store_find(store, line + 1, length - 1);
        else
            store_add(store, line, length);
        lines++;
    }
    store_dump(store);
    fclose(stdin);
    fclose(stdout);
    close(0);
    close(1);
    words[0] = "ended";
}
"#;

fn with_program() -> Repo {
    let repo = store();
    std::fs::remove_dir_all(repo.root().join("fuzz")).unwrap();
    repo.write("tools/names.c", PROGRAM);
    repo
}

fn by_symbol(rows: &Value) -> BTreeMap<&str, &Value> {
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| (row["symbol"].as_str().unwrap(), row)).collect()
}

#[test]
#[ignore = "half a minute: cargo test --test suite drivers_programs -- --ignored"]
fn functions_are_judged_where_a_program_calls_them() {
    let repo = with_program();
    repo.run(&["drivers", "--new", "cli", "--program", "tools/names.c"]).ok().shows("look at the arguments");
    // Without the argument it removes nothing.
    let json = repo.run(&["drivers", "--seconds", "1", "--format", "json"]).ok().json("drivers");
    let reached = json["drivers"][0]["reached"].as_array().unwrap();
    assert!(reached.contains(&json!("store_add")) && !reached.contains(&json!("store_remove")), "{json:#}");
    // Some words to begin with, so that little fuzzing is enough.
    repo.write("tools/inputs/words", "one\ntwo\nthree\n-two\n?three\n-one\n-none\none\n-three\n.\n");
    let config = repo.read("implfuzz.toml");
    repo.write("implfuzz.toml", &format!("{config}seeds = [\"tools/inputs\"]\n"));
    let driver = repo.read("fuzz/cli.c");
    repo.write("fuzz/cli.c", &driver.replace("{\"names\"}", "{\"names\", \"-r\"}"));
    let ran = repo.run(&["drivers", "--seconds", "2", "--check", "--format", "json"]);
    let json = ran.ok().json("drivers");
    let measured = by_symbol(&json["in_place"]);
    for (name, one) in &measured {
        assert_eq!((&one["differs"], &one["broke"]), (&Value::Null, &Value::Null), "{name}: {json:#}");
    }
    for name in ["hash_of", "grow", "link_item", "store_find", "store_add", "store_remove", "store_dump"] {
        let one = measured[name];
        let (killed, mutants) = (one["killed"].as_u64().unwrap(), one["mutants"].as_u64().unwrap());
        assert!(one["judged"].as_u64().unwrap() > 20 && killed * 10 >= mutants * 6, "{name}: {one}");
    }
    assert_eq!(json["drivers"][0]["breaking"], json!([]), "{json:#}");

    write_ports(&repo, &[("store_remove", "libc::free(item.cast());", "")]);
    let ran = repo.run(&["drivers", "--seconds", "1", "--ports", "--format", "json"]);
    let json = ran.code(10).json("drivers");
    let ports = by_symbol(&json["ports"]);
    for (name, port) in &ports {
        assert_eq!(port["differs"].is_null(), *name != "store_remove", "{name}: {port}");
        assert!(port["judged"].as_u64().unwrap() > 0, "{name}: {port}");
    }
}

#[test]
fn what_is_no_program_is_refused() {
    let repo = with_program();
    repo.write("tools/names.cc", "int main() {}\n");
    repo.write("tools/rest.c", "int remaining(void) { return domain(1); }\n");
    let refused = |program: &str, why: &str| {
        repo.run(&["drivers", "--new", "cli", "--program", program]).fails(2, &[program, why]);
    };
    refused("tools/other.c", "no such file");
    refused("../names.c", "no such file below the root");
    refused("tools/names.cc", "no C file");
    refused("tools/rest.c", "no `main`");
    // A test of static functions, which includes the library through a header of its own.
    repo.write("tools/common.h", "#include \"../store.c\"\n");
    repo.write("tools/statics.c", "#include \"common.h\"\nint main(void) { return 0; }\n");
    refused("tools/statics.c", "it includes store.c, a C file of the library");
    assert!(!repo.root().join("fuzz/cli.c").exists());
    repo.run(&["drivers", "--program", "tools/names.c"]).code(2).shows("--new");
}

/// The only C file of a library may have a `main`, and so has libFuzzer.
#[test]
fn a_library_with_a_main_has_drivers() {
    let library = "#include \"sum.h\"\n#include <stdio.h>\n\
        unsigned sum(const unsigned char *data, unsigned n) { unsigned s = 0; while (n--) s = s * 31 + *data++; return s; }\n\
        int main(void) { printf(\"%u\\n\", sum((const unsigned char *)\"abc\", 3)); return 0; }\n";
    let driver = "#include \"../sum.h\"\n#include <stddef.h>\n#include <stdint.h>\n\
        int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return sum(data, (unsigned)size) == 7 ? -1 : 0; }\n";
    let header = "unsigned sum(const unsigned char *data, unsigned n);\n";
    let repo = Repo::of(&[("sum.h", header), ("sum.c", library), ("fuzz/run.c", driver)]);
    let json = repo.run(&["drivers", "--check", "--seconds", "1", "--format", "json"]).ok().json("drivers");
    let row = &json["in_place"].as_array().unwrap()[0];
    assert_eq!((&row["symbol"], row["judged"].as_u64().unwrap() > 0), (&json!("sum"), true), "{json:#}");
}
