//! New drivers pass on what functions made: without that, an input would have to hold a packed message with its checksum.

use crate::support::Repo;
use serde_json::Value;

const HEADER: &str = "\
#include <stddef.h>
int pack(const unsigned char *in, size_t insize, unsigned char **out, size_t *outsize);
int unpack(const unsigned char *in, size_t insize, unsigned char **out, size_t *outsize);
int shade(const unsigned char *image, unsigned w, unsigned h, unsigned long **out);
char *name_of(const unsigned char *in, size_t insize);
int is_name(const char *text);
";

const LIBRARY: &str = "\
#include \"pack.h\"
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
static unsigned sum(const unsigned char *in, size_t size)
{
    unsigned sum = 0x12345u;
    for (size_t at = 0; at < size; at++) sum = (sum ^ in[at]) * 16777619u;
    return sum;
}
static void unmask(unsigned char *to, const unsigned char *from, size_t size)
{
    for (size_t at = 0; at < size; at++) to[at] = from[at] ^ 0x55;
}
static int grow(unsigned char **out, size_t *outsize, size_t more)
{
    unsigned char *bytes = realloc(*out, *outsize + more);
    if (!bytes) return -1;
    *out = bytes;
    return 0;
}
int pack(const unsigned char *in, size_t insize, unsigned char **out, size_t *outsize)
{
    unsigned check = sum(in, insize);
    if (insize == 0 || grow(out, outsize, insize + sizeof check) != 0) return -1;
    memcpy(*out + *outsize, &check, sizeof check);
    unmask(*out + *outsize + sizeof check, in, insize);
    *outsize += insize + sizeof check;
    return 0;
}
static int checked(const unsigned char *in, size_t size, unsigned check, unsigned char *out)
{
    unmask(out, in, size);
    return sum(out, size) == check ? 0 : -1;
}
static int accepted(const unsigned char *bytes, size_t size) { return size > 0 && bytes[0] != 'x'; }
int unpack(const unsigned char *in, size_t insize, unsigned char **out, size_t *outsize)
{
    unsigned check;
    if (insize <= sizeof check || grow(out, outsize, insize) != 0) return -1;
    memcpy(&check, in, sizeof check);
    if (checked(in + sizeof check, insize - sizeof check, check, *out + *outsize) != 0) return -1;
    *outsize += insize - sizeof check;
    return accepted(*out, *outsize) ? 0 : -2;
}
static unsigned long row(const unsigned char *pixels, unsigned w)
{
    unsigned long all = 0;
    for (unsigned at = 0; at < 4 * w; at++) all += pixels[at];
    return all;
}
int shade(const unsigned char *image, unsigned w, unsigned h, unsigned long **out)
{
    unsigned long *all = malloc(sizeof *all);
    if (!all) return -1;
    for (*all = 0; h > 0; h--, image += (size_t)4 * w) *all += row(image, w);
    *out = all;
    return 0;
}
char *name_of(const unsigned char *in, size_t insize)
{
    char *name = malloc(16);
    if (name) snprintf(name, 16, \"n%08x\", sum(in, insize));
    return name;
}
static int digits(const char *text) { return (int)strspn(text, \"0123456789abcdef\"); }
int is_name(const char *text) { return text[0] == 'n' && strlen(text) == 9 && digits(text + 1) == 8; }
";

#[test]
fn what_one_function_packs_another_one_unpacks() {
    let repo = Repo::of(&[("pack.h", HEADER), ("pack.c", LIBRARY)]);
    repo.run(&["drivers", "--new", "calls"]).ok();
    let text = repo.read("fuzz/calls.c");
    for line in [
        "driver_keep_output(*arg_out, arg_outsize ? (size_t)*(size_t *)arg_outsize : 0);",
        "void *arg_outsize = driver_zeros(sizeof(size_t));",
        "driver_keep_text(driver_result);",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let json = repo.run(&["drivers", "--seconds", "5", "--format", "json"]).ok().json("drivers");
    let driver = &json["drivers"][0];
    let reached: Vec<&str> = driver["reached"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    for name in ["accepted", "digits", "row"] {
        assert!(reached.contains(&name), "{name}: {json:#}\n{text}");
    }
}
