//! NaNs in memory: two of them are one value, whatever bits they have; numbers that only look like NaNs are not.

use crate::support::{Repo, plant};
use serde_json::Value;

const HEADER: &str = "\
struct pair { float re, im; int tag; };
struct matrix { int rows; double *cells; };
void twist(struct pair *pairs, int count, float by);
void scale(struct matrix *matrix, double by);
void mark(struct pair *pair);
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
        matrix->cells[i] = matrix->cells[i] * by + matrix->rows;
}
void mark(struct pair *pair) { pair->tag = -1; }
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
    struct matrix matrix = {2, calloc(2, sizeof(double))};
    if (pairs && matrix.cells) {
        memcpy(pairs, data, 8);
        memcpy(pairs + 1, data + 8, 8);
        memcpy(matrix.cells, data + 16, 16);
        twist(pairs, 2, data[0] & 1 ? 1.5f : -0.0f);
        scale(&matrix, data[1] & 1 ? 1e300 : -2);
        mark(pairs);
    }
    free(pairs);
    free(matrix.cells);
    return 0;
}
";

/// Each makes NaNs of other bits than C.
const PORTS: [(&str, &str); 3] = [
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
        let cell = unsafe { &mut *matrix.cells.add(i) };
        *cell = own(*cell * by + f64::from(matrix.rows));
    }
}",
    ),
    // As a float, -2 is a NaN like -1.
    ("mark", "pub fn mark(pair: &mut ffi::pair) {\n    pair.tag = -2;\n}"),
];

#[test]
fn nans_are_equal_where_types_say_that_numbers_are() {
    let repo = Repo::of(&[("number.h", HEADER), ("number.c", LIBRARY), ("fuzz/run.c", DRIVER)]);
    // As many NaNs as a generator of inputs can wish for.
    let numbers = [f32::NAN.to_bits(), 0xff80_0001, 0x7f80_0000, 0xffc0_0000];
    let mut input: Vec<u8> = numbers.iter().flat_map(|bits| bits.to_le_bytes()).collect();
    input.extend([f64::NAN, f64::NEG_INFINITY].iter().flat_map(|number| number.to_le_bytes()));
    std::fs::create_dir(repo.root().join("seeds")).unwrap();
    std::fs::write(repo.root().join("seeds/nans"), input).unwrap();
    let config = repo.read("implfuzz.toml");
    repo.write("implfuzz.toml", &format!("{config}\n[drivers]\nseconds = 2\nseeds = [\"seeds\"]\n"));
    let mut module = repo.read("rust/src/number.rs");
    for (name, port) in PORTS {
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
    assert_eq!([differs("twist"), differs("scale")], [Value::Null, Value::Null], "{json:#}");
    assert!(differs("mark")["unclear"].is_null() && !differs("mark").is_null(), "{json:#}");
}
