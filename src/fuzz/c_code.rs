//! Finds the code of a C function in a fuzz binary, so that the port can be run without it: a port could compute the
//! address of the function that it replaces, and call it. `templates/fuzz/runtime/c_code.rs` removes the code.

use super::port_variables::ANCHOR;
use crate::error::{Error, ErrorKind, Result};
use fs_err as fs;
use object::{Object as _, ObjectSymbol as _, SymbolKind};
use std::fmt::Write as _;
use std::path::Path;

/// The places of a function's code, as the runtime reads them: the anchor's address, then `,ADDRESS:SIZE` for each. Without
/// places, nothing is removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CCode(pub String);

impl CCode {
    /// The code in this binary of the function that the linker knows as `linked`. Compilers move parts of a function into
    /// others, which they name after it (`f.part.0`, `f.cold`); `parts` is what those names begin with.
    ///
    /// # Errors
    /// `Internal` if the binary cannot be read, or has no such function.
    pub fn find(binary: &Path, linked: &str, parts: Option<&str>) -> Result<Self> {
        let failed = |why: String| {
            let text = format!("{}: the code of `{linked}` cannot be found: {why}", binary.display());
            Error::new(ErrorKind::Internal, text)
        };
        let bytes = fs::read(binary)?;
        let file = object::File::parse(&*bytes).map_err(|error| failed(error.to_string()))?;
        let is_part = |name: &str| {
            parts.is_some_and(|start| name.strip_prefix(start).is_some_and(|rest| rest.starts_with('.')))
        };
        let (mut anchor, mut places) = (None, String::new());
        for symbol in file.symbols() {
            let Ok(name) = symbol.name() else { continue };
            if name == ANCHOR {
                anchor = Some(symbol.address());
            }
            let is_code = symbol.kind() == SymbolKind::Text && symbol.size() > 0;
            if is_code && (name == linked || is_part(name)) {
                write!(places, ",{}:{}", symbol.address(), symbol.size()).expect("a String takes all text");
            }
        }
        let anchor = anchor
            .filter(|_| !places.is_empty())
            .ok_or_else(|| failed("it has no such symbol".to_owned()))?;
        Ok(Self(format!("{anchor}{places}")))
    }
}
