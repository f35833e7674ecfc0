//! Settings of cargo, rustup and the environment do not change the build that judges ports.

use crate::support::Repo;
use std::process::Command;

/// Every value that a function returns is one more.
const EVIL: &str = "#define return return 1u +\n";

/// What C returns with that header in front of it, and not without.
const WRONG: &str = "x.wrapping_mul(2).wrapping_add(1)";

fn grade(mut command: Command) -> String {
    let told = crate::support::Ran::of(&mut command).json("verify");
    told["symbols"][0]["grade"].as_str().unwrap().to_owned()
}

#[test]
fn settings_around_the_repository_do_not_change_the_c_that_judges() {
    let repo = Repo::initialised();
    repo.replace("rust/src/sum.rs", "unimplemented!(\"twice\")", WRONG);
    repo.write("evil.h", EVIL);
    let flags = format!("-include {}", repo.root().join("evil.h").display());
    let nowhere = repo.aside().join("no-such-program").display().to_string();
    let config = format!(
        "[env]\nCFLAGS = {{ value = {flags:?}, force = true }}\n[build]\nrustc-wrapper = {nowhere:?}\n\
         [target.'cfg(all())']\nrustflags = [\"--no-such-flag\"]\n[source.crates-io]\nreplace-with = \"none\"\n\
         [source.none]\ndirectory = {nowhere:?}\n[profile.release]\noverflow-checks = false\n"
    );
    repo.write(".cargo/config.toml", &config);
    repo.write("rust-toolchain.toml", "[toolchain]\nchannel = \"1.0.0\"\n");
    let verify =
        || repo.command(&["verify", "twice", "--seconds", "3", "--runs", "20000", "--format", "json"]);

    let mut command = verify();
    // As the tool is started without cargo, which has chosen a toolchain before.
    command.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO").env_remove("RUSTC");
    assert_eq!(grade(command), "refuted");

    let mut command = verify();
    command
        .env("CFLAGS", &flags)
        .env("RUSTFLAGS", "--no-such-flag")
        .env("CARGO_BUILD_RUSTC_WRAPPER", &nowhere);
    command
        .env("CC_x86_64_unknown_linux_gnu", &nowhere)
        .env("CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS", "false");
    assert_eq!(grade(command), "refuted");
}

#[test]
#[ignore = "a minute: cargo test --test suite hermetic -- --ignored"]
fn settings_of_the_user_bring_crates_and_change_no_code() {
    let repo = Repo::initialised();
    repo.replace("rust/src/sum.rs", "unimplemented!(\"twice\")", WRONG);
    repo.write("evil.h", EVIL);
    let home = repo.aside().join("home");
    let own = std::env::var_os("CARGO_HOME").map_or_else(
        || std::path::Path::new(&std::env::var_os("HOME").unwrap()).join(".cargo"),
        std::path::PathBuf::from,
    );
    std::fs::create_dir_all(&home).unwrap();
    std::os::unix::fs::symlink(own.join("registry"), home.join("registry")).unwrap();
    let flags = format!("-include {}", repo.root().join("evil.h").display());
    let settings = format!("[env]\nCFLAGS = {{ value = {flags:?}, force = true }}\n[net]\noffline = true\n");
    std::fs::write(home.join("config.toml"), settings).unwrap();
    let mut command =
        repo.command(&["verify", "twice", "--seconds", "3", "--runs", "20000", "--format", "json"]);
    command.env("CARGO_HOME", &home).env("XDG_CACHE_HOME", repo.aside().join("cache"));
    assert_eq!(grade(command), "refuted");
    let kept =
        std::fs::read_to_string(repo.aside().join("cache/cargo-implfuzz/cargo-home/config.toml")).unwrap();
    assert_eq!(kept, "[net]\noffline = true\n");
}
