//! `verify --watch` judges again whenever the port is saved.

use crate::support::{QUICK, Repo, Running};

#[test]
fn a_saved_port_is_judged_again_also_after_one_that_does_not_compile() {
    let repo = Repo::initialised();
    let module = "rust/src/sum.rs";
    repo.replace(module, "unimplemented!(\"twice\")", "x.wrapping_mul(3)");
    let command =
        [&["verify", "twice", "--watch"], &QUICK[..], &["--config", "grade.measure=false"]].concat();
    let mut running = Running::start(repo.command(&command));
    running.says("refuted twice");
    running.says("waiting for a change in rust");
    repo.replace(module, "x.wrapping_mul(3)", "x.wrapping_mul(oops)");
    running.says("oops");
    // The file is saved again only when the watch has seen the one before.
    std::thread::sleep(std::time::Duration::from_secs(2));
    repo.replace(module, "x.wrapping_mul(oops)", "x.wrapping_mul(2)");
    running.says("weak twice");
    let (ran, _) = running.interrupt();
    ran.code(130).shows("mismatch in twice");
}
