//! Compiles the C originals as any crate would: plain `cc`, no sanitizer.
fn main() {
    let root = std::env::var("KIT_ROOT").expect("KIT_ROOT is the folder of the C library");
    println!("cargo::rerun-if-env-changed=KIT_ROOT");
    cc::Build::new().include(format!("{root}/include")).file(format!("{root}/src/checksum.c")).compile("kit");
}
