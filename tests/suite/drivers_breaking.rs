//! Campaigns go on after inputs on which C breaks, in the same process and in the state before.

use crate::support::Repo;

const HEADER: &str = "#include <stddef.h>\nint half_broken(const unsigned char *bytes, size_t size);\n";

/// Every second input breaks it. If what such a run leaves stayed, all further inputs would.
const LIBRARY: &str = "\
#include \"broken.h\"
#include <stdlib.h>
#include <string.h>
static int is_busy;
static char *last;
int half_broken(const unsigned char *bytes, size_t size)
{
    if (is_busy || last) abort();
    is_busy = 1;
    last = malloc(1 << 20);
    if (!last) return -1;
    if (size > 1 && bytes[0] & 1) last[(1 << 20) + (bytes[1] & 7)] = 1;
    if (size > 1 && (bytes[0] & 3) == 2) memset(last, 1, (1 << 20) + 1);
    free(last);
    if (size > 1 && (bytes[0] & 7) == 4) free(last);
    last = NULL;
    is_busy = 0;
    return size > 5 && bytes[5] == 'q' ? 2 : 1;
}
";

const DRIVER: &str = "\
#include \"../broken.h\"
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { half_broken(data, size); return 0; }
";

#[test]
fn a_campaign_goes_on_after_inputs_on_which_c_breaks() {
    let repo = Repo::of(&[("broken.h", HEADER), ("broken.c", LIBRARY), ("fuzz/run.c", DRIVER)]);
    let ran = repo.run(&["drivers", "--seconds", "2", "--config", "drivers.function_seconds=1"]);
    ran.ok().shows("heap-buffer-overflow").shows("double-free");
    let cache = repo.root().join(".implfuzz/cache/drivers");
    let [breaking, kept] = ["breaking", "kept"].map(|name| repo.root().join(name));
    let (goes_on, _) = libfuzzer(&cache.join("fuzz/fuzz-run"), Some([&breaking, &kept]));
    assert!(goes_on);
    let files = |folder| std::fs::read_dir(folder).unwrap().count();
    // Three for each of three places; and of the others, about half.
    let (breaking, kept) = (files(&breaking), files(&kept));
    assert!((4..=9).contains(&breaking) && kept > 400, "{breaking} {kept}");
    // In all other runs, the first such input ends the process, with a report.
    let (goes_on, report) = libfuzzer(&cache.join("fuzz/fuzz-run"), None);
    assert!(!goes_on && report.contains("AddressSanitizer"), "{report}");
}

/// A run of the campaign's program on some inputs, with folders for those on which C breaks and for the others. Returns
/// whether it ran to its end, and what it said.
#[expect(clippy::disallowed_methods, reason = "a program that the tool built")]
fn libfuzzer(program: &std::path::Path, folders: Option<[&std::path::PathBuf; 2]>) -> (bool, String) {
    let mut command = std::process::Command::new(program);
    command.args(["-runs=2000", "-seed=7", "-len_control=0", "-max_len=64", "-rss_limit_mb=1024"]);
    command.env("ASAN_OPTIONS", "detect_leaks=0:symbolize=0").current_dir(program.parent().unwrap());
    for (name, folder) in
        ["IMPLFUZZ_BREAKING", "IMPLFUZZ_KEEP"].into_iter().zip(folders.into_iter().flatten())
    {
        std::fs::create_dir_all(folder).unwrap();
        command.env(name, folder);
    }
    let output = command.output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The block of a run is freed in the next one, which ends the program.
const CACHE: &str = "\
#include \"broken.h\"
#include <stdlib.h>
static char *cache;
int half_broken(const unsigned char *bytes, size_t size)
{
    free(cache);
    cache = malloc(size + 1);
    if (size > 1 && bytes[0] & 1) exit(3);
    return cache != NULL;
}
";

#[test]
fn a_run_that_frees_blocks_of_earlier_ones_and_exits_does_not_break() {
    let repo = Repo::of(&[("broken.h", HEADER), ("broken.c", CACHE), ("fuzz/run.c", DRIVER)]);
    let quick = ["drivers", "--seconds", "1", "--config", "drivers.function_seconds=1", "--format", "json"];
    let json = repo.run(&quick).ok().json("drivers");
    assert_eq!(json["drivers"][0]["breaking"], serde_json::json!([]), "{json:#}");
}
