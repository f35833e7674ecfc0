//! How well functions are judged inside of the executions of a driver: those of `benches/drivers/`, which know nothing of the
//! tool.

use super::support::clib;
use super::support::real::RealLib;
use super::{KILLED, WITHOUT_MEMORY, array, last_line, run, text};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Seconds of fuzzing with the driver at least; more where the library has more functions.
const FUZZING: u64 = 60;

/// The driver for a library, if there is one.
pub fn driver(package: &str) -> Option<PathBuf> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("benches/drivers/{package}.c"));
    file.is_file().then_some(file)
}

/// A new repository of a library with this driver.
pub fn prepared(lib: &RealLib, driver: &Path, name: &str) -> PathBuf {
    let dir = clib::scratch(&format!("{}-{name}", lib.package));
    clib::copy_tree(&lib.source(), &dir);
    std::fs::create_dir_all(dir.join("fuzz")).unwrap();
    std::fs::copy(driver, dir.join("fuzz/driver.c")).unwrap();
    run(&dir, &[&["init".to_owned(), "-q".to_owned()], &lib.arguments()[..]].concat());
    dir
}

/// Measures with this driver. `record` has what harnesses do for the library.
pub fn measure(lib: &RealLib, driver: &Path, record: &Value) -> Value {
    eprintln!("{} in place", lib.package);
    let dir = prepared(lib, driver, "in-place");
    let functions = record["functions"].as_u64().unwrap();
    let fuzzing = FUZZING.max(functions);
    let start = Instant::now();
    let time = fuzzing.to_string();
    // Some libraries have fuzz targets of their own.
    let own = ["--config", r#"drivers.files=["fuzz/driver.c"]"#];
    let args = ["drivers", "--seconds", &time, "--check", "--format", "json"];
    let args = [&args[..], &own, &WITHOUT_MEMORY].concat();
    let found = last_line(&dir, &args);
    let seconds = start.elapsed().as_secs();
    let mut measured = summary(record, &found, (fuzzing, seconds));
    // The tool fuzzes on for single functions; rows without this are older.
    measured["fuzzes_on"] = json!(true);
    measured
}

/// Seconds of fuzzing with a driver that the tool made.
const FUZZING_NEW: &str = "60";

/// Measures the driver that `drivers --new` writes, as it is. `record` has what harnesses do for the library.
pub fn measure_new(lib: &RealLib, record: &Value) -> Value {
    eprintln!("{} with a new driver", lib.package);
    let dir = clib::scratch(&format!("{}-new-driver", lib.package));
    clib::copy_tree(&lib.source(), &dir);
    run(&dir, &[&["init".to_owned(), "-q".to_owned()], &lib.arguments()[..]].concat());
    let made = last_line(&dir, &["drivers", "--new", "new-driver", "--format", "json"]);
    let own = ["--config", r#"drivers.files=["fuzz/new-driver.c"]"#];
    let args = ["drivers", "--seconds", FUZZING_NEW, "--check", "--format", "json"];
    let found = last_line(&dir, &[&args[..], &own, &WITHOUT_MEMORY].concat());
    let breaking =
        array(&found, "drivers").map(|one| one["breaking"].as_array().unwrap().len()).sum::<usize>();
    let mut measured = summary(record, &found, (FUZZING_NEW.parse().unwrap(), 0));
    let lacking = measured.as_object_mut().unwrap();
    for key in ["lacking", "fuzzing_seconds", "seconds"] {
        lacking.remove(key);
    }
    measured["called"] = made["functions"].clone();
    measured["breaking"] = json!(breaking);
    measured
}

fn summary(record: &Value, found: &Value, (fuzzing, seconds): (u64, u64)) -> Value {
    let named = |values: &Value| -> BTreeSet<String> {
        values.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    let reached: BTreeSet<String> = array(found, "drivers").flat_map(|one| named(&one["reached"])).collect();
    let differing = array(found, "in_place").filter(|one| !one["differs"].is_null());
    let working = array(found, "in_place").filter(|one| works(one)).map(|one| text(one, "symbol").to_owned());
    let working: BTreeSet<String> = working.collect();
    let without = array(record, "without_harness").flat_map(|why| named(&why["symbols"]));
    let failing = array(record, "failing").map(|why| text(why, "symbol").to_owned());
    let lacking: BTreeSet<String> = without.chain(failing).collect();
    let functions = record["functions"].as_u64().unwrap() as usize;
    let either = |name: &&String| working.contains(*name) || !lacking.contains(*name);
    json!({
        "reached": reached.len(),
        "differing": differing.map(|one| text(one, "symbol")).collect::<Vec<_>>(),
        "working": working.len(),
        "either": functions - lacking.difference(&working).count(),
        "either_of_reached": reached.iter().filter(either).count(),
        "lacking": reached.iter().filter(|name| !either(name)).collect::<Vec<_>>(),
        "fuzzing_seconds": fuzzing,
        "seconds": seconds,
    })
}

/// Whether ports of a function can be judged in place as well as a working harness judges them.
fn works(one: &Value) -> bool {
    let (killed, mutants) = (one["killed"].as_f64().unwrap(), one["mutants"].as_f64().unwrap());
    one["differs"].is_null() && mutants > 0.0 && killed / mutants >= KILLED
}
