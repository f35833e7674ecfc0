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

/// The source of every unit of C, as `build.rs` calls it.
const UNIT: &str = "unit.c";

/// A function in a binary.
struct Code<'b> {
    name: &'b str,
    at: u64,
    size: u64,
    is_global: bool,
    /// Known of local symbols alone, which stand behind the one of their source file.
    is_of_unit: bool,
}

impl<'b> Code<'b> {
    fn all(file: &object::File<'b>) -> Vec<Self> {
        let (mut all, mut is_in_unit) = (Vec::new(), false);
        for symbol in file.symbols() {
            let Ok(name) = symbol.name() else { continue };
            if symbol.kind() == SymbolKind::File {
                is_in_unit = name == UNIT;
            } else if symbol.kind() == SymbolKind::Text && symbol.size() > 0 {
                let (at, size, is_global) = (symbol.address(), symbol.size(), symbol.is_global());
                all.push(Self { name, at, size, is_global, is_of_unit: is_in_unit && !is_global });
            }
        }
        all
    }
}

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
        let is_own = |code: &Code| {
            // The runtime's own functions have short names, too.
            let own = own.filter(|_| code.is_of_unit);
            let rest = own.and_then(|own| code.name.strip_prefix(own));
            code.name == linked || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let symbols = Code::all(&file);
        let code: BTreeMap<u64, u64> =
            symbols.iter().filter(|code| is_own(code)).map(|code| (code.at, code.size)).collect();
        let has_other_name =
            symbols.iter().any(|other| other.is_global && code.contains_key(&other.at) && !is_own(other));
        let anchor = file.symbols().find(|symbol| symbol.name() == Ok(ANCHOR)).map(|symbol| symbol.address());
        let Some(anchor) = anchor.filter(|_| !code.is_empty() && !has_other_name) else {
            return Ok(Self::default());
        };
        let places = code.iter().map(|(at, size)| format!(",{at}:{size}"));
        Ok(Self(format!("{anchor}{}", places.collect::<String>())))
    }
}
