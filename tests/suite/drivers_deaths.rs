//! A port on which the judge dies, where its own memory in the thread is overwritten, is not verified, however well its harness
//! judges it.

use crate::support::{Repo, plant};

const HEADER: &str =
    "#include <stddef.h>\nvoid fold(unsigned char *dst, const unsigned char *src, size_t n);\n";

const LIBRARY: &str = "\
#include \"fold.h\"
void fold(unsigned char *dst, const unsigned char *src, size_t n) {
    unsigned char last = 7;
    for (size_t i = 0; i < n; i++) {
        last = (unsigned char)(last * 5 + src[i]);
        dst[i] = last ^ 0x33;
    }
}
";

/// It folds in place, which no harness does.
const DRIVER: &str = "\
#include \"../fold.h\"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    unsigned char *copy = malloc(size + 1);
    if (!copy) return 0;
    memcpy(copy, data, size);
    fold(copy, copy, size);
    free(copy);
    return 0;
}
";

const PORT: &str = "pub fn fold(dst: &mut [u8], src: &[u8]) {
    if core::ptr::eq(dst.as_ptr(), src.as_ptr()) && !src.is_empty() {
        unsafe {
            let at: *mut u8 = (&raw mut *libc::__errno_location()).cast();
            for away in 0..512 {
                at.add(away).write_volatile(0xff);
            }
        }
        return;
    }
    let mut last = 7u8;
    for (to, from) in dst.iter_mut().zip(src) {
        last = last.wrapping_mul(5).wrapping_add(*from);
        *to = last ^ 0x33;
    }
}";

#[test]
fn a_port_on_which_the_judge_dies_is_not_verified() {
    let repo = Repo::of(&[("fold.h", HEADER), ("fold.c", LIBRARY), ("fuzz/run.c", DRIVER)]);
    let stubs = repo.read("rust/src/fold.rs");
    let config = repo.read("implfuzz.toml");
    repo.write("implfuzz.toml", &format!("{config}\n[drivers]\nseconds = 1\n"));
    let mut module = stubs.clone();
    plant(&mut module, "fold", PORT).unwrap();
    repo.write("rust/src/fold.rs", &module);
    let json = repo.run(&["verify", "fold", "--seconds", "3", "--format", "json"]).json("verify");
    let row = &json["symbols"][0];
    assert_eq!(row["grade"], "weak", "{row:#}");
    assert!(row["reason"].as_str().unwrap().contains("with C alone"), "{row:#}");
}
