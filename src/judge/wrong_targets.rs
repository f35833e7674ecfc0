//! Fuzz targets that do not compile must not stop the functions beside them: an overlay has those of earlier commands, too.

use crate::error::{Error, Result};
use crate::fuzz::build::fuzz_binary::Built;
use crate::fuzz::build::overlay::Overlay;
use crate::symbol::SymbolName;
use std::collections::BTreeSet;
use std::path::Path;

/// Fuzz targets that do not compile, where all else does.
#[derive(Debug)]
pub struct WrongTargets {
    /// Their functions.
    pub names: BTreeSet<String>,
    pub error: Error,
}

/// The functions whose fuzz targets are wrong in a build in this overlay, if nothing else is.
pub(super) fn wrong_targets(built: &Built, overlay: &Path) -> Option<BTreeSet<String>> {
    let Built::Errors(errors) = built else { return None };
    let name = |file: &str| {
        let file = file.strip_suffix(".rs")?;
        let in_harness = || file.strip_prefix("fuzz/src/harness/");
        let name = file.strip_prefix("fuzz/targets/").or_else(in_harness)?;
        overlay.join(format!("fuzz/targets/{name}.rs")).exists().then(|| name.to_owned())
    };
    let names: BTreeSet<String> = errors.iter().map(|error| name(&error.file)).collect::<Option<_>>()?;
    (!names.is_empty()).then_some(names)
}

/// Builds in an overlay, without the wrong targets of functions that are not `asked` for.
pub(super) fn without_others(
    overlay: &Path,
    asked: &[&SymbolName],
    build: impl Fn() -> Result<Built>,
) -> Result<Built> {
    let mut left_out = BTreeSet::new();
    loop {
        let built = build()?;
        let is_other = |name: &String| !asked.iter().any(|asked| asked.as_str() == name);
        let wrong = wrong_targets(&built, overlay).unwrap_or_default();
        let others: BTreeSet<String> = wrong.into_iter().filter(is_other).collect();
        // One that is still there belongs to what is asked for.
        if others.is_subset(&left_out) {
            return Ok(built);
        }
        Overlay::leave_out(overlay, &others)?;
        left_out.extend(others);
    }
}
