//! Failures outside the tool: the C library, the configuration, the machine, the model's server, Ctrl-C. Each
//! gives a clear error with its help and the documented exit code, leaves the tree untouched and never panics.

use crate::support::server::{self, Answer, Server};
use crate::support::{Ran, Repo, Running, assert_same};
use cargo_implfuzz::error::ErrorKind;
use cargo_implfuzz::platform::process::Interrupt;
use cargo_implfuzz::platform::toolchain::{Search, Toolchain};
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

/// Longest time from Ctrl-C to the end.
const PROMPT: Duration = Duration::from_secs(4);

/// The command fails like this and changes nothing in the tree.
#[track_caller]
fn refuses(repo: &Repo, args: &[&str], code: i32, says: &[&str]) {
    let before = repo.tree();
    repo.run(args).fails(code, says);
    assert_same(&before, &repo.tree());
}

#[test]
fn units_that_do_not_parse_are_left_out_with_their_diagnostic() {
    let repo = Repo::library();
    repo.write("gone.c", "#include \"nowhere.h\"\nint gone(int x) { return x; }\n");
    repo.write("torn.c", "int fine(int x) { return x; }\nint torn( { ;;\n");
    let ran = repo.run(&["init"]);
    ran.ok().shows("gone.c:1:10: 'nowhere.h' file not found").shows("torn.c:2:");
    let listed = repo.run(&["list"]);
    listed.ok().shows("twice").shows("sum_bytes");
    assert!(!repo.root().join("rust/src/torn.rs").exists());
}

#[test]
fn a_directory_without_c_is_an_error_and_stays_empty() {
    let repo = Repo::empty();
    refuses(&repo, &["init"], 1, &["no C source found", "sources ="]);
    assert!(!repo.root().join(".implfuzz").exists());
}

#[test]
fn the_demonstration_names_a_function_that_it_does_not_have() {
    let repo = Repo::empty();
    refuses(
        &repo,
        &["demo", "here", "--only", "kit_crc32,nix"],
        2,
        &["a function `nix`", "without `--only`"],
    );
}

#[test]
fn a_library_without_functions_gives_a_crate_without_functions() {
    let repo = Repo::empty();
    repo.write("data.c", "static const int unused = 1;\n");
    repo.run(&["init"]).ok().shows("0 functions");
    refuses(&repo, &["port", "--all"], 2, &["no function"]);
    refuses(&repo, &["verify", "--all"], 2, &["nothing to verify"]);
}

#[test]
fn without_implfuzz_toml_the_help_is_init() {
    let repo = Repo::library();
    for command in ["status", "list"] {
        refuses(&repo, &[command], 2, &["no implfuzz.toml", "cargo implfuzz init"]);
    }
}

#[test]
fn a_directory_that_is_not_there_is_named() {
    let repo = Repo::empty();
    repo.run(&["init", "nowhere"]).code(2).shows("nowhere");
}

#[test]
fn an_unknown_symbol_gets_the_nearest_names() {
    let repo = Repo::initialised();
    for command in ["port", "verify", "fuzz"] {
        refuses(&repo, &[command, "sum_byte"], 2, &["no function `sum_byte`", "did you mean `sum_bytes`"]);
    }
}

#[test]
fn wrong_settings_are_refused_with_their_place() {
    let repo = Repo::initialised();
    refuses(
        &repo,
        &["status", "--config", "llm.modle='x'"],
        2,
        &["unknown key `modle`", "did you mean `model`?"],
    );
    refuses(&repo, &["status", "--config", "fuzz.max_len"], 2, &["not of the form key.path=value"]);
    let good = repo.read("implfuzz.toml");
    repo.write("implfuzz.toml", "version = 1\n[fuzz\n");
    refuses(&repo, &["status"], 2, &["implfuzz.toml:2: not valid TOML"]);
    repo.write("implfuzz.toml", "version = 1\n\n[c]\nsorces = []\n");
    refuses(&repo, &["init"], 2, &["implfuzz.toml:4: unknown key `sorces`", "did you mean `sources`?"]);
    repo.write("implfuzz.toml", &good);
    repo.run(&["status"]).code(11);
}

#[test]
fn where_the_flags_come_from_is_said_kept_and_can_be_forced() {
    let repo = Repo::library();
    repo.write("Makefile", "all:\n\t$(MAKE) -C .. 2>/dev/null; touch touched\n\t$(CC) -DMADE -c sum.c\n");
    repo.write("sum.c", "#ifdef MADE\nint made(int x) { return x; }\n#endif\n");
    repo.write("extra.c", "int extra(void) { return 1; }\n");
    let ran = repo.run(&["init"]);
    ran.ok().shows("flags: from `make -n` (Makefile)").shows("1 function in 1 C file");
    ran.shows("left out: extra.c: not in `make -n` (Makefile)\n  help: to add such a file");
    assert!(!repo.root().join("touched").exists());
    let text = std::fs::read_to_string(repo.root().join("implfuzz.toml")).unwrap();
    assert!(text.contains("\nfrom = \"make\"\n"), "{text}");
    repo.run(&["list"]).ok().shows("made");
    refuses(&repo, &["list", "--config", "c.from=\"cmake\""], 1, &["no CMakeLists.txt", "delete `from`"]);
    refuses(&repo, &["list", "--config", "c.from=\"cmak\""], 2, &["c.from", "`compile-commands`, `cmake`"]);
    refuses(&repo, &["list", "--config", "c.sources=[\"sum.c\"]"], 2, &["both `sources` and `from`"]);
}

#[test]
fn a_broken_contract_is_named_and_kept() {
    let repo = Repo::initialised();
    let (path, good) = ("rust/contracts/twice.toml", repo.read("rust/contracts/twice.toml"));
    repo.write(path, &format!("{good}broken = [\n"));
    refuses(&repo, &["status"], 2, &[path, "unclosed array"]);
    repo.write(path, &good.replace("name = \"x\"", "name = \"y\""));
    refuses(&repo, &["init"], 2, &[path, "its parameters are (y), C has (x)"]);
    std::fs::remove_file(repo.root().join(path)).unwrap();
    repo.run(&["init"]).ok();
    assert_eq!(repo.read(path), good);
}

#[test]
fn a_machine_without_libclang_and_compiler_is_sent_to_the_doctor() {
    // The environment cannot hide what lies in `/usr/lib`; a search of another root can.
    let bare = tempfile::tempdir().unwrap();
    let bin = bare.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let machine = Search::from_env();
    for program in ["cargo", "rustc"] {
        std::os::unix::fs::symlink(machine.program(&[program]).unwrap(), bin.join(program)).unwrap();
    }
    let (path, root) = (vec![bin], bare.path().to_owned());
    let search = Search { root, path, libclang_path: None, library_path: Vec::new(), ..machine };
    let error = Toolchain::find(&search, &Interrupt::none()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Environment, "{error}");
    assert_eq!(error.help_text(), Some("cargo implfuzz doctor --install"));
}

#[test]
fn a_libclang_that_cannot_be_loaded_is_an_error_with_the_doctor_as_help() {
    let repo = Repo::initialised();
    std::fs::write(repo.aside().join("libclang-99.so"), "not a library").unwrap();
    let before = repo.tree();
    for command in ["list", "init"] {
        let ran = Ran::of(repo.command(&[command]).env("LIBCLANG_PATH", repo.aside()));
        ran.fails(1, &["libclang", "cargo implfuzz doctor --install"]);
    }
    assert_same(&before, &repo.tree());
}

#[test]
fn files_where_directories_must_be_are_errors() {
    let repo = Repo::library();
    repo.write("rust", "mine\n");
    refuses(&repo, &["init"], 1, &["rust", "mv "]);
    std::fs::remove_file(repo.root().join("rust")).unwrap();
    std::fs::remove_dir_all(repo.root().join(".implfuzz")).unwrap();
    repo.write(".implfuzz", "mine\n");
    refuses(&repo, &["init"], 1, &[".implfuzz", "mv "]);
}

#[test]
fn a_directory_that_cannot_be_written_is_an_error() {
    let repo = Repo::library();
    let set = |mode| std::fs::set_permissions(repo.root(), std::fs::Permissions::from_mode(mode)).unwrap();
    set(0o555);
    // Permissions do not bind root; what then can be written is written.
    let bound = std::fs::write(repo.root().join("probe"), "").is_err();
    let ran = repo.run(&["init"]);
    set(0o755);
    if bound {
        ran.fails(1, &["cannot be written", "chmod -R u+w"]);
    } else {
        ran.ok();
    }
}

#[test]
fn a_second_process_is_told_to_wait_unless_it_only_reads() {
    let repo = Repo::initialised();
    let path = repo.root().join(".implfuzz/lock");
    std::fs::write(&path, "4711\n").unwrap();
    let lock = std::fs::File::open(&path).unwrap();
    lock.lock().unwrap();
    for command in ["init", "verify", "dropin"] {
        let args: &[&str] = if command == "verify" { &["verify", "--all"] } else { &[command] };
        refuses(&repo, args, 1, &["another cargo implfuzz (process 4711)", "wait until it ends"]);
    }
    // What only reads is not held up, and leaves the other's number and no folder of its own.
    repo.run(&["status"]).code(11);
    for args in [
        &["list"][..],
        &["stats"],
        &["findings", "list"],
        &["memory", "list"],
        &["testgen", "runs"],
        &["testgen", "stats"],
        &["testgen", "evolution"],
        &["testgen", "config", "list"],
        &["testgen", "config", "show"],
    ] {
        repo.run(args).ok();
    }
    repo.replace("sum.c", "twice(x) + x", "twice(x) + x + x");
    repo.run(&["list"]).ok();
    assert_eq!(repo.read(".implfuzz/lock"), "4711\n");
    let left: Vec<_> = std::fs::read_dir(repo.root().join(".implfuzz/cache"))
        .map(|all| all.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect())
        .unwrap_or_default();
    assert!(!left.iter().any(|name| name.starts_with("read-")), "{left:?}");
    drop(lock);
    repo.run(&["init"]).ok();
}

#[test]
fn a_damaged_database_is_an_error_and_not_overwritten() {
    let repo = Repo::initialised();
    repo.write(".implfuzz/state.db", "no database, but who knows what it is worth\n");
    refuses(&repo, &["status"], 1, &["state.db is damaged", "mv "]);
    assert!(repo.read(".implfuzz/state.db").starts_with("no database"));
}

#[test]
fn rust_that_does_not_parse_is_shown_with_its_place() {
    let repo = Repo::initialised();
    repo.replace("rust/src/sum.rs", "unimplemented!(\"twice\")", "x +");
    let line = repo.read("rust/src/sum.rs").lines().position(|l| l.trim() == "x +").unwrap() + 2;
    for args in [&["init"][..], &["verify", "twice"], &["port", "thrice"]] {
        refuses(&repo, args, 1, &[&format!("rust/src/sum.rs:{line}:"), "correct the syntax"]);
    }
}

#[test]
fn a_port_that_does_not_compile_is_shown_as_rustc_shows_it() {
    let repo = Repo::initialised();
    repo.replace("rust/src/sum.rs", "unimplemented!(\"twice\")", "x + \"two\"");
    // Brings `callee.rs` up to date, as the next command would anyway.
    repo.run(&["init"]).ok();
    let place = "rust/src/sum.rs:8:";
    refuses(&repo, &["verify", "twice"], 1, &["E0277", place, "x + \"two\"", "cargo check"]);
}

/// `port` with a server that answers like this.
#[track_caller]
fn no_model(answer: Answer, says: &[&str]) {
    let server = Server::start(answer);
    no_model_at(&server.config(2), says);
    assert!(!server.requests().is_empty(), "it was never asked");
}

#[track_caller]
fn no_model_at(config: &[String], says: &[&str]) {
    let repo = Repo::initialised();
    let config: Vec<&str> = config.iter().map(String::as_str).collect();
    refuses(&repo, &[&["port", "twice"], &config[..]].concat(), 1, says);
    assert_eq!(repo.status("twice")["grade"], "stub");
}

#[test]
fn a_model_server_that_is_down() {
    let address = server::nobody();
    no_model_at(&server::config(&address, 2), &[&address]);
}

#[test]
fn a_model_server_that_answers_garbage() {
    no_model(Answer::Http(200, "%&$ who knows".into()), &["not JSON", "who knows"]);
    no_model(Answer::Http(200, "{\"unexpected\": true}".into()), &["unexpected"]);
    no_model(Answer::Http(200, String::new()), &["empty body"]);
}

#[test]
fn a_model_server_that_answers_html() {
    no_model(Answer::Http(200, "<!doctype html><title>Log in</title>".into()), &["HTML instead of JSON"]);
}

#[test]
fn a_model_server_that_fails() {
    no_model(
        Answer::Http(500, "{\"error\": {\"message\": \"out of order\"}}".into()),
        &["500", "out of order"],
    );
    no_model(
        Answer::Http(401, "{\"error\": {\"message\": \"who are you\"}}".into()),
        &["401", "who are you"],
    );
}

#[test]
fn a_model_server_that_cuts_off() {
    no_model(Answer::CutOff, &["127.0.0.1"]);
    no_model(Answer::HangUp, &["127.0.0.1"]);
}

#[test]
fn a_model_server_that_never_ends() {
    for answer in [Answer::Silence, Answer::Drip] {
        let (server, repo) = (Server::start(answer), Repo::initialised());
        let (config, before) = (server.config(2), repo.tree());
        let config: Vec<&str> = config.iter().map(String::as_str).collect();
        let ran = repo.run(&[&["port", "twice"], &config[..]].concat());
        // Only the function is given up.
        ran.code(11).shows("failed: model-timed-out: ").shows("no complete answer within 2 s");
        assert_same(&before, &repo.tree());
        assert_eq!(server.requests().len(), 1);
    }
}

/// Ctrl-C now: code 130, promptly, and no process is left behind.
#[track_caller]
fn interrupted(repo: &Repo, running: Running) {
    let (ran, took) = running.interrupt();
    ran.code(130).shows("interrupted");
    assert!(took < PROMPT, "it took {took:?}");
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(repo.processes(), Vec::<String>::new());
}

#[test]
fn ctrl_c_during_init_leaves_nothing_or_everything() {
    let mut hit = 0;
    for delay in [0, 40, 150, 400] {
        let repo = Repo::library();
        let before = repo.tree();
        let mut running = Running::start(repo.command(&["init"]));
        running.says("reading the C library");
        std::thread::sleep(Duration::from_millis(delay));
        let (ran, took) = running.interrupt();
        assert!(took < PROMPT, "it took {took:?}");
        if ran.status.code() == Some(0) {
            continue;
        }
        ran.code(130);
        hit += 1;
        let after = repo.tree();
        if after.len() > before.len() {
            repo.run(&["init"]).ok().shows("nothing changed");
        } else {
            assert_same(&before, &after);
            repo.run(&["init"]).ok();
        }
        repo.run(&["status"]).code(11);
    }
    assert!(hit > 0, "every init ended before Ctrl-C came");
}

#[test]
#[ignore = "half a minute: cargo test --test suite bad_input -- --ignored"]
fn ctrl_c_during_build_and_fuzzing() {
    let repo = Repo::initialised();
    repo.replace("rust/src/sum.rs", "unimplemented!(\"twice\")", "x.wrapping_mul(2)");
    repo.run(&["init"]).ok();
    let before = repo.tree();
    let verify = || {
        let mut command = repo.command(&["verify", "twice", "--seconds", "90"]);
        command.env("CARGO_TARGET_DIR", repo.aside().join("target"));
        Running::start(command)
    };
    let mut running = verify();
    running.says("building the harnesses; once for all repositories, this also compiles libFuzzer");
    std::thread::sleep(Duration::from_millis(400));
    interrupted(&repo, running);
    assert_same(&before, &repo.tree());
    let mut running = verify();
    running.says("[1/1]");
    std::thread::sleep(Duration::from_secs(1));
    interrupted(&repo, running);
    assert_same(&before, &repo.tree());
    assert_eq!(repo.count("SELECT count(*) FROM runs WHERE outcome = 'interrupted'"), 2);
    repo.run(&["verify", "twice", "--runs", "5000", "--seconds", "3"]).ok().shows("weak");
}

#[test]
fn ctrl_c_while_another_build_is_waited_for() {
    let repo = Repo::initialised();
    // Without a port nothing would be built.
    repo.replace("rust/src/sum.rs", "unimplemented!(\"twice\")", "x << 1");
    let target = repo.aside().join("target");
    std::fs::create_dir_all(target.join("implfuzz")).unwrap();
    let other = std::fs::File::create(target.join("implfuzz/.implfuzz-build-lock")).unwrap();
    other.lock().unwrap();
    let mut command = repo.command(&["verify", "twice"]);
    command.env("CARGO_TARGET_DIR", &target);
    let mut running = Running::start(command);
    running.says("building the harnesses");
    std::thread::sleep(Duration::from_millis(300));
    interrupted(&repo, running);
    let there = std::fs::read_dir(target.join("implfuzz")).unwrap();
    let mut names: Vec<_> = there.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    // What is to be compiled stands there.
    assert_eq!(names, [".implfuzz-build-lock", "runtime"], "it built all the same");
}

#[test]
fn ctrl_c_during_a_model_call_that_never_ends() {
    let repo = Repo::initialised();
    let before = repo.tree();
    for answer in [Answer::Silence, Answer::Drip] {
        let server = Server::start(answer);
        let config = server.config(300);
        let config: Vec<&str> = config.iter().map(String::as_str).collect();
        let running = Running::start(repo.command(&[&["port", "twice"], &config[..]].concat()));
        server.wait();
        interrupted(&repo, running);
        assert_same(&before, &repo.tree());
    }
    repo.run(&["status"]).code(11);
}

#[cfg(not(feature = "mcp"))]
#[test]
fn a_build_without_the_mcp_server_says_how_to_get_it() {
    let help = "cargo install --locked cargo-implfuzz --features mcp";
    Repo::empty().run(&["mcp"]).fails(1, &["this build of cargo-implfuzz has no MCP server", help]);
}

#[test]
fn ctrl_c_while_a_program_is_the_model_ends_it_too() {
    let repo = Repo::initialised();
    let before = repo.tree();
    let script = repo.root().join(".implfuzz/slow.sh");
    std::fs::write(&script, "sleep 300 & wait\n").unwrap();
    let command = format!("llm.command=[\"sh\", {:?}]", script.display().to_string());
    let args = ["port", "twice", "--config", "llm.provider=\"command\"", "--config", &command];
    let mut running = Running::start(repo.command(&args));
    running.says("asking the prototyper");
    std::thread::sleep(Duration::from_millis(200));
    interrupted(&repo, running);
    assert_same(&before, &repo.tree());
    repo.run(&["status"]).code(11);
}
