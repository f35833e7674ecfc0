//! errno varies before each call, and its value after the call is compared.

use crate::support::Repo;

const HEADER: &str =
    "int number(const char *text, unsigned long *out);\nunsigned long digits(const char *text);\n";
const C: &str = r#"#include "number.h"
#include <errno.h>
#include <stdlib.h>
int number(const char *text, unsigned long *out)
{
    unsigned long value;
    errno = 0;
    value = strtoul(text, NULL, 10);
    if (errno == ERANGE) return -1;
    *out = value;
    return 0;
}
unsigned long digits(const char *text)
{
    unsigned long value = 0;
    while (*text >= '0' && *text <= '9') value = value * 10 + (unsigned long)(*text++ - '0');
    return value;
}
"#;

/// With `reset` in front of the call of `strtoul`.
fn number(reset: &str) -> String {
    format!(
        "// SAFETY: libc gives a valid pointer to this thread's errno.
         let errno = unsafe {{ &mut *libc::__errno_location() }};
         {reset}
         // SAFETY: a text with an end.
         let value = unsafe {{ libc::strtoul(text.as_ptr(), core::ptr::null_mut(), 10) }};
         if *errno == libc::ERANGE {{ return -1; }}
         *out = value;
         0"
    )
}

/// With `first` in front of a body that allocates, and leaves errno alone all the same.
fn digits(first: &str) -> String {
    format!(
        "let digits: Vec<u8> = text.to_bytes().iter().copied().take_while(u8::is_ascii_digit).collect();
         {first}
         digits.iter().fold(0, |v: u64, d| v.wrapping_mul(10).wrapping_add(u64::from(d - b'0')))"
    )
}

fn library(number: &str, digits: &str) -> Repo {
    let repo = Repo::empty();
    repo.write("number.h", HEADER);
    repo.write("number.c", C);
    repo.run(&["init"]).ok();
    repo.replace("rust/src/number.rs", "unimplemented!(\"number\")", number);
    repo.replace("rust/src/number.rs", "unimplemented!(\"digits\")", digits);
    repo
}

const VERIFY: [&str; 8] =
    ["verify", "--all", "--runs", "20000", "--seconds", "20", "--config", "grade.measure=false"];

#[test]
fn a_port_that_takes_errno_for_zero_or_leaves_something_there_is_refuted() {
    let changes = "// SAFETY: libc gives a valid pointer to this thread's errno.
         if digits.len() > 19 { unsafe { *libc::__errno_location() = libc::ERANGE }; }";
    let repo = library(&number(""), &digits(changes));
    let told = repo.run(&[&VERIFY[..], &["--format", "json"]].concat()).json("verify");
    for row in told["symbols"].as_array().unwrap() {
        assert_eq!(row["grade"], "refuted", "{row}");
    }
    let findings = told["findings"].as_array().unwrap();
    let of = |symbol: &str| &findings.iter().find(|f| f["symbol"] == symbol).unwrap()["finding"];
    assert_eq!(of("digits")["what"], "errno", "{}", of("digits"));
    assert!(of("number")["args"].to_string().contains("errno before the call"), "{}", of("number"));
}

#[test]
fn ports_that_reset_errno_and_ports_that_allocate_pass() {
    let repo = library(&number("*errno = 0;"), &digits(""));
    let told = repo.run(&[&VERIFY[..], &["--format", "json"]].concat()).json("verify");
    assert_eq!(told["findings"], serde_json::json!([]));
}

#[test]
fn a_port_that_is_wrong_for_one_of_all_errors_is_refuted() {
    let rare = "// SAFETY: libc gives a valid pointer to this thread's errno.
         if unsafe { *libc::__errno_location() } == libc::EAGAIN { return 0; }";
    let repo = library(&number("*errno = 0;"), &digits(rare));
    let told = repo.run(&[&VERIFY[..], &["--format", "json"]].concat()).code(10).json("verify");
    let findings = told["findings"].as_array().unwrap();
    assert_eq!((findings.len(), &findings[0]["symbol"]), (1, &"digits".into()), "{told:#}");
}
