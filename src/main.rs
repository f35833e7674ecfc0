//! Starts things; everything else is in the library.
fn main() {}
