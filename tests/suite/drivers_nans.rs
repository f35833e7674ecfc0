//! NaNs in memory: two of them are one value, whatever bits they have; numbers that only look like NaNs are not.

use crate::support::{Repo, plant};
use serde_json::Value;

const HEADER: &str = "\
struct pair { float re, im; };
struct inner { double *cells; };
struct matrix { int rows; struct inner inner; };
struct delay { int at; float line[64]; };
struct track { float gain; int samples[]; };
struct report { float share; int rest; };
void twist(struct pair *pairs, int count, float by);
void scale(struct matrix *matrix, double by);
void echo(struct delay *delay, struct pair by);
void mark(struct delay *delay);
void shift(struct track *track, int count);
void split(int value, float *share, int *rest);
";

const LIBRARY: &str = "\
#include \"number.h\"
void twist(struct pair *pairs, int count, float by) {
    for (int i = 0; i < count; i++) {
        float re = pairs[i].re;
        pairs[i].re = re * by - pairs[i].im;
        pairs[i].im = pairs[i].im * by + re;
    }
}
void scale(struct matrix *matrix, double by) {
    for (int i = 0; i < matrix->rows; i++)
        matrix->inner.cells[i] = matrix->inner.cells[i] * by + matrix->rows;
}
void echo(struct delay *delay, struct pair by) {
    for (int i = 0; i < 64; i++)
        delay->line[i] = delay->line[i] * by.re + by.im;
    delay->at++;
}
void mark(struct delay *delay) { delay->at = -1; }
void shift(struct track *track, int count) {
    for (int i = 0; i < count; i++)
        track->samples[i] = -100000 * (i + 1);
}
void split(int value, float *share, int *rest) {
    *share = (float)(value & 255) / 256.0f;
    *rest = value >> 8;
}
";

const DRIVER: &str = "\
#include \"../number.h\"
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 32) return 0;
    struct pair *pairs = calloc(2, sizeof *pairs);
    struct matrix matrix = {2, {calloc(2, sizeof(double))}};
    struct delay *delay = calloc(1, sizeof *delay);
    struct track *track = calloc(1, sizeof *track + 2 * sizeof(int));
    struct report *report = calloc(1, sizeof *report);
    if (pairs && matrix.inner.cells && delay && track && report) {
        memcpy(pairs, data, 16);
        memcpy(matrix.inner.cells, data + 16, 16);
        memcpy(delay->line + 48, data, 32);
        echo(delay, pairs[1]);
        twist(pairs, 2, data[0] & 1 ? 1.5f : -0.0f);
        scale(&matrix, data[1] & 1 ? 1e300 : -2);
        mark(delay);
        shift(track, 2);
        int value;
        memcpy(&value, data, sizeof value);
        split(value, &report->share, &report->rest);
    }
    free(pairs);
    free(matrix.inner.cells);
    free(delay);
    free(track);
    free(report);
    return 0;
}
";

/// Each makes NaNs of other bits than C.
const RIGHT: [(&str, &str); 3] = [
    (
        "twist",
        "pub fn twist(pairs: &mut [ffi::pair], by: f32) {
    let own = |x: f32| if x.is_nan() { f32::from_bits(0x7fc0_1234) } else { x };
    for pair in pairs {
        let re = pair.re;
        pair.re = own(re * by - pair.im);
        pair.im = own(pair.im * by + re);
    }
}",
    ),
    (
        "scale",
        "pub unsafe fn scale(matrix: *mut ffi::matrix, by: f64) {
    let own = |x: f64| if x.is_nan() { f64::from_bits(0x7ff8_0000_0000_1234) } else { x };
    let matrix = unsafe { &mut *matrix };
    for i in 0..matrix.rows as usize {
        let cell = unsafe { &mut *matrix.inner.cells.add(i) };
        *cell = own(*cell * by + f64::from(matrix.rows));
    }
}",
    ),
    (
        "echo",
        "pub fn echo(delay: &mut ffi::delay, by: ffi::pair) {
    let own = |x: f32| if x.is_nan() { f32::from_bits(0x7fc0_1234) } else { x };
    for cell in &mut delay.line {
        *cell = own(*cell * by.re + by.im);
    }
    delay.at = delay.at.wrapping_add(1);
}",
    ),
];

/// Each writes another integer than C, and both would be NaNs.
const WRONG: [(&str, &str); 3] = [
    ("mark", "pub fn mark(delay: &mut ffi::delay) {\n    delay.at = -2;\n}"),
    (
        "shift",
        "pub unsafe fn shift(track: *mut ffi::track, count: ::core::ffi::c_int) {
    for i in 0..count as usize {
        unsafe { *(*track).samples.as_mut_ptr().add(i) = -100_001 * (i as i32 + 1) };
    }
}",
    ),
    (
        "split",
        "pub fn split(value: ::core::ffi::c_int, share: &mut f32, rest: &mut ::core::ffi::c_int) {
    *share = (value & 255) as f32 / 256.0;
    *rest = if value < 0 && value >> 8 != -8_388_608 { -70_000 } else { value >> 8 };
}",
    ),
];

#[test]
fn nans_are_equal_where_types_say_that_numbers_are() {
    let repo = Repo::of(&[("number.h", HEADER), ("number.c", LIBRARY), ("fuzz/run.c", DRIVER)]);
    // As many NaNs as a generator of inputs can wish for.
    let numbers = [f32::NAN.to_bits(), 0xff80_0001, 0x7f80_0000, 0xffc0_0000];
    let mut input: Vec<u8> = numbers.iter().flat_map(|bits| bits.to_le_bytes()).collect();
    input.extend([f64::NAN, f64::NEG_INFINITY].iter().flat_map(|number| number.to_le_bytes()));
    std::fs::create_dir(repo.root().join("seeds")).unwrap();
    std::fs::write(repo.root().join("seeds/nans"), &input).unwrap();
    input[3] = 0xf0;
    std::fs::write(repo.root().join("seeds/negative"), input).unwrap();
    let config = repo.read("implfuzz.toml");
    repo.write("implfuzz.toml", &format!("{config}\n[drivers]\nseconds = 2\nseeds = [\"seeds\"]\n"));
    let mut module = repo.read("rust/src/number.rs");
    for (name, port) in RIGHT.iter().chain(&WRONG) {
        plant(&mut module, name, port).unwrap();
    }
    repo.write("rust/src/number.rs", &module);
    let json = repo.run(&["drivers", "--ports", "--format", "json"]).json("drivers");
    let differs = |symbol: &str| {
        let rows = json["ports"].as_array().unwrap();
        let row = rows.iter().find(|row| row["symbol"] == symbol).unwrap();
        assert!(row["judged"].as_u64().unwrap() > 0, "{json:#}");
        row["differs"].clone()
    };
    for (name, _) in RIGHT {
        assert_eq!(differs(name), Value::Null, "{name}: {json:#}");
    }
    for (name, _) in WRONG {
        assert!(!differs(name).is_null(), "{name}: {json:#}");
    }
    // What lies behind the first element of `samples` no type says for certain.
    assert!(differs("mark")["unclear"].is_null() && differs("split")["unclear"].is_null(), "{json:#}");
    assert!(differs("shift")["unclear"].as_str().unwrap().contains("another integer"), "{json:#}");
}
