//! Where C writes far behind an argument, it breaks; it does not change the next argument.

use crate::support::Repo;

const HEADER: &str =
    "#include <stdint.h>\nvoid count(int32_t *counts, int32_t *last, const uint8_t *values, int32_t n);\n";
/// For a value of `n` or more it writes behind `counts`.
const C: &str = r#"#include "count.h"
void count(int32_t *counts, int32_t *last, const uint8_t *values, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        counts[i] = last[i] = 0;
    for (int32_t i = 0; i < n; i++) {
        counts[values[i]]++;
        if (values[i] < n)
            last[values[i]] = i;
    }
}
"#;

const PORT: &str = "counts.fill(0);
    last.fill(0);
    for (i, &value) in (0..).zip(values) {
        if let Some(count) = counts.get_mut(usize::from(value)) {
            *count += 1;
        }
        if let Some(last) = last.get_mut(usize::from(value)) {
            *last = i;
        }
    }";

#[test]
fn a_right_port_is_not_refuted_by_what_c_writes_into_other_arguments() {
    let repo = Repo::empty();
    repo.write("count.h", HEADER);
    repo.write("count.c", C);
    repo.run(&["init"]).ok();
    repo.replace("rust/src/count.rs", "unimplemented!(\"count\")", PORT);
    let args = ["verify", "--all", "--runs", "30000", "--seconds", "20", "--config", "grade.measure=false"];
    let told = repo.run(&[&args[..], &["--format", "json"]].concat()).json("verify");
    assert_eq!(told["findings"], serde_json::json!([]), "{told:#}");
    assert!(told["symbols"][0]["executions"].as_u64().unwrap() > 0, "{told:#}");
}
