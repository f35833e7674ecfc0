//! Of many calls in an input, a driver's program judges some. A port that knew which ones could be wrong at all others.

use crate::support::{Repo, plant};

const HEADER: &str = "struct node { struct node *next; unsigned value, calls; };\nunsigned step(struct node *node, unsigned by);\n";
const LIBRARY: &str = "\
#include \"node.h\"
unsigned step(struct node *node, unsigned by) {
    node->calls++;
    node->value = node->value * 31 + by;
    return node->next ? node->value ^ node->next->value : node->value;
}
";
const DRIVER: &str = "\
#include \"../node.h\"
#include <stddef.h>
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct node first = {NULL, 0, 9}, second = {&first, 0, 0};
    for (size_t i = 0; i < 900 && size; i++)
        if (step(&second, data[i % size] + (unsigned)i * 77) == 0x55aa1234) break;
    return 0;
}
";
/// Right at the calls that were judged in every input before the choice depended on the input.
const PORT: &str = "pub unsafe fn step(node: *mut ffi::node, by: u32) -> u32 {
    // SAFETY: C passes a node.
    let node = unsafe { &mut *node };
    node.calls = node.calls.wrapping_add(1);
    node.value = node.value.wrapping_mul(31).wrapping_add(by);
    let call = u64::from(node.calls);
    if call > 240 && !call.is_power_of_two() && call.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58 != 0 {
        return 0xdead;
    }
    // SAFETY: the next node is C's.
    if node.next.is_null() { node.value } else { node.value ^ unsafe { (*node.next).value } }
}";

#[test]
fn a_port_that_is_wrong_where_nobody_looked_differs() {
    let repo = Repo::of(&[("node.h", HEADER), ("node.c", LIBRARY), ("fuzz/run.c", DRIVER)]);
    let mut module = repo.read("rust/src/node.rs");
    plant(&mut module, "step", PORT).unwrap();
    repo.write("rust/src/node.rs", &module);
    let json =
        repo.run(&["drivers", "--seconds", "2", "--ports", "--format", "json"]).code(10).json("drivers");
    assert_eq!(json["ports"][0]["differs"]["what"], "result", "{json:#}");
}
