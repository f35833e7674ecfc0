//! What a process that runs a port cannot do, although the audit has let its text pass: the port has C functions of the
//! library, which its own C function does not call, ask the operating system for it.

use crate::support::{Repo, plant};
use serde_json::{Value, json};

/// What the C functions ask for, with the name of the system call that is told.
const ASKS: [(&str, &str, &str); 8] = [
    ("opens", "open(\"/etc/passwd\", O_RDONLY)", "openat"),
    ("own_memory", "open(\"/proc/self/mem\", O_RDWR)", "openat"),
    ("connects", "socket(AF_INET, SOCK_STREAM, 0)", "socket"),
    ("starts", "fork()", "clone"),
    ("runs", "system(\"true\")", "clone3"),
    ("kills", "kill(getppid(), 0)", "getppid"),
    ("sees_time", "syscall(SYS_clock_gettime, CLOCK_REALTIME, now)", "clock_gettime"),
    ("prints", "(int)write(1, \"x\", 1)", "write"),
];

fn library() -> Repo {
    let mut header = "struct none;\n".to_owned();
    let mut text = "#define _GNU_SOURCE\n#include \"ask.h\"\n#include <fcntl.h>\n#include <signal.h>\n#include <stdlib.h>\n\
        #include <sys/socket.h>\n#include <sys/syscall.h>\n#include <time.h>\n#include <unistd.h>\n"
        .to_owned();
    for (name, asks, _) in ASKS {
        header += &format!("int {name}(void);\nunsigned computes_and_{name}(unsigned x);\n");
        text += &format!("int {name}(void) {{ struct timespec now[1]; (void)now; return {asks}; }}\n");
        text += &format!("unsigned computes_and_{name}(unsigned x) {{ return (x ^ 5u) * 3u; }}\n");
    }
    let repo = Repo::of(&[("ask.h", &header), ("ask.c", &text)]);
    repo.run(&["init"]).ok();
    repo
}

/// A right port of each function; those that ask for something have C do so first.
fn write_ports(repo: &Repo, asks: bool) {
    let mut module = repo.read("rust/src/ask.rs");
    for (name, ..) in ASKS {
        let asked = if asks {
            format!("// SAFETY: it takes nothing.\n    _ = unsafe {{ callee::{name}() }};")
        } else {
            String::new()
        };
        let port = format!(
            "pub fn computes_and_{name}(x: u32) -> u32 {{\n    {asked}\n    (x ^ 5).wrapping_mul(3)\n}}\n"
        );
        plant(&mut module, &format!("computes_and_{name}"), &port).unwrap();
    }
    repo.write("rust/src/ask.rs", &module);
}

fn judged(repo: &Repo) -> Vec<Value> {
    let budget = ["--config", "fuzz.accept_seconds=1", "--config", "fuzz.accept_executions=2000"];
    let ran = repo.run(&[&["verify", "computes_and_*", "--format", "json"][..], &budget].concat());
    ran.json("verify")["symbols"].as_array().unwrap().clone()
}

#[test]
fn what_a_port_asks_of_the_system_is_a_finding_that_names_it() {
    let repo = library();
    write_ports(&repo, true);
    let judged = judged(&repo);
    assert_eq!(judged.len(), ASKS.len());
    for (name, _, system_call) in ASKS {
        let symbol = json!(format!("computes_and_{name}"));
        let one = judged.iter().find(|one| one["symbol"] == symbol).unwrap();
        let wanted = format!("system-call: the port makes the system call `{system_call}`");
        assert_eq!((&one["grade"], &one["reason"]), (&json!("refuted"), &json!(wanted)), "{name}: {one:#}");
    }
}

#[test]
fn ports_that_only_compute_are_not_held_up() {
    let repo = library();
    write_ports(&repo, false);
    for one in judged(&repo) {
        assert_ne!(one["grade"], "refuted", "{one:#}");
        assert!(one["executions"].as_u64().unwrap() > 0, "{one:#}");
    }
}
