//! Initial values of C globals and tables: the compiler evaluates them and the object file is read.
//!
//! `rust::globals` writes the Rust statics; `image` reads the object file.

mod image;

pub use image::{Data, Target};

use super::alias_unit::alias;
use crate::symbol::{Global, Linkage};
use image::Image;
use std::collections::BTreeSet;

/// The initial value of each of `globals`, in order, read from the object file of the unit that should define
/// them; or the reason why there is none.
pub(super) fn values(object: &[u8], globals: &[&Global]) -> Vec<Result<Data, String>> {
    let image = Image::parse(object);
    let value = |global: &&Global| {
        let image = image.as_ref().map_err(Clone::clone)?;
        if let Some(symbol) = global.local_symbol() {
            let why =
                || format!("the object file of its unit has no variable {symbol}, as clang would call it");
            return image.variable(&symbol).unwrap_or_else(|| Err(why()));
        }
        let second = (global.linkage == Linkage::Static)
            .then(|| image.variable(&alias(&global.module, &global.c_name)))
            .flatten();
        second
            .or_else(|| image.variable(&global.c_name))
            .unwrap_or_else(|| Err(format!("the C compiler emits no variable for {}", global.c_name)))
    };
    globals.iter().map(value).collect()
}

/// The names of the functions that an object file defines, and the names that it exports.
pub(super) fn names(object: &[u8]) -> Result<(BTreeSet<String>, BTreeSet<String>), String> {
    let image = Image::parse(object)?;
    Ok((image.functions(), image.exports()))
}

#[cfg(test)]
#[path = "data/tests.rs"]
pub(crate) mod tests;
