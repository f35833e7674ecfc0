//! Finds the code of a C function in a fuzz binary, so that the port can be run without it: a port could compute the
//! address of the function that it replaces, and call it. `templates/fuzz/runtime/c_code.rs` removes the code.

use crate::error::{Error, ErrorKind, Result};
use crate::fuzz::build::port_variables::ANCHOR;
use fs_err as fs;
use object::{Architecture, Object as _, ObjectSymbol as _, SymbolKind};
use std::collections::BTreeMap;
use std::path::Path;

/// The places of a function's code, as the runtime reads them: the anchor's address, then `,ADDRESS:SIZE` for each. Without
/// places, nothing is removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CCode(pub String);

impl CCode {
    /// Whether there is nothing to remove.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The code in this binary of the function that the linker knows as `linked`. Compilers move parts of a function into
    /// others, which they name after it (`f.part.0`, `f.cold`), and every unit has its own copy of a function in a header;
    /// `own` is what those names begin with. Empty where the function has no symbol with a size, where its code has another
    /// name as well, under which C may call it, and on processors other than x86-64.
    ///
    /// # Errors
    /// `Internal` if the binary cannot be read.
    pub fn find(binary: &Path, linked: &str, own: Option<&str>) -> Result<Self> {
        let failed = |why: &dyn std::fmt::Display| {
            Error::new(ErrorKind::Internal, format!("{} cannot be read: {why}", binary.display()))
        };
        let bytes = fs::read(binary)?;
        let file = object::File::parse(&*bytes).map_err(|error| failed(&error))?;
        if file.architecture() != Architecture::X86_64 {
            return Ok(Self::default());
        }
        let is_own = |name: &str| {
            let rest = own.and_then(|own| name.strip_prefix(own));
            name == linked || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let symbols: Vec<(&str, u64, u64, bool)> = file
            .symbols()
            .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0)
            .filter_map(|symbol| {
                Some((symbol.name().ok()?, symbol.address(), symbol.size(), symbol.is_global()))
            })
            .collect();
        let code: BTreeMap<u64, u64> =
            symbols.iter().filter(|(name, ..)| is_own(name)).map(|(_, at, size, _)| (*at, *size)).collect();
        let has_other_name = symbols
            .iter()
            .any(|(name, at, _, is_global)| *is_global && code.contains_key(at) && !is_own(name));
        let anchor = file.symbols().find(|symbol| symbol.name() == Ok(ANCHOR)).map(|symbol| symbol.address());
        let Some(anchor) = anchor.filter(|_| !code.is_empty() && !has_other_name) else {
            return Ok(Self::default());
        };
        let places = code.iter().map(|(at, size)| format!(",{at}:{size}"));
        Ok(Self(format!("{anchor}{}", places.collect::<String>())))
    }
}
