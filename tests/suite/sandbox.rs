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
    ("runs", "system(\"true\")", "rt_sigaction"),
    ("kills", "kill(1, 0)", "kill"),
    ("sees_time", "syscall(SYS_clock_gettime, CLOCK_REALTIME, now)", "clock_gettime"),
    ("prints", "(int)write(1, \"x\", 1)", "write"),
];

/// Whether each system call of a port is told, and not only those that seccomp forbids (docs/sandbox.md).
fn is_watched() -> bool {
    cfg!(target_arch = "x86_64") && kernel() >= (5, 11)
}

fn kernel() -> (u32, u32) {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok());
    (numbers.next().unwrap(), numbers.next().unwrap())
}

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
    let forbidden_to_all = ["socket", "clone"];
    for (name, _, system_call) in ASKS {
        if !is_watched() && !forbidden_to_all.contains(&system_call) {
            continue;
        }
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

const LIST: &str = "\
struct node { struct node *next; unsigned value; };
void push(struct node **list, struct node *item, unsigned value);
void swap(struct node **list, struct node *item, unsigned value);
";

const DRIVER: &str = "\
#include \"../list.h\"
#include <stdint.h>
#include <stdlib.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct node *list = NULL, *items = calloc(size + 1, sizeof *items);
    for (size_t at = 0; at < size; at++)
        (data[at] % 2 ? push : swap)(&list, &items[at], data[at]);
    free(items);
    return 0;
}
";

/// A port that passes the C library by: in place, calls of its functions are told already.
#[cfg(target_arch = "x86_64")]
#[test]
fn in_place_system_calls_are_told_that_go_past_the_c_library() {
    if !is_watched() {
        return;
    }
    let body = "{ item->value = value; item->next = *list; *list = item; }\n";
    let function =
        |name: &str| format!("void {name}(struct node **list, struct node *item, unsigned value) {body}");
    let text = format!("#include \"list.h\"\n{}{}", function("push"), function("swap"));
    let repo = Repo::of(&[("list.h", LIST), ("list.c", &text), ("fuzz/run.c", DRIVER)]);
    let mut module = repo.read("rust/src/list.rs");
    for (name, asks) in [
        ("push", ""),
        ("swap", "core::arch::asm!(\"syscall\", inout(\"rax\") 110 => _, out(\"rcx\") _, out(\"r11\") _);"),
    ] {
        let port = format!(
            "pub unsafe fn {name}(list: *mut *mut ffi::node, item: *mut ffi::node, value: ::core::ffi::c_uint) {{\n    \
            unsafe {{\n        {asks}\n        (*item).value = value;\n        (*item).next = *list;\n        *list = item;\n    }}\n}}\n"
        );
        plant(&mut module, name, &port).unwrap();
    }
    repo.write("rust/src/list.rs", &module);
    let ran = repo.run(&["drivers", "--seconds", "1", "--ports", "--format", "json"]);
    let json = ran.code(10).json("drivers");
    let differs = |name: &str| {
        json["ports"].as_array().unwrap().iter().find(|port| port["symbol"] == name).unwrap()["differs"]
            .clone()
    };
    assert_eq!(differs("push"), Value::Null, "{json:#}");
    let told = differs("swap");
    assert_eq!(told["what"], "outside", "{json:#}");
    let said = "it makes the system call `getppid` itself, not through a function of the C library";
    assert_eq!(told["said"], said, "{json:#}");
}
