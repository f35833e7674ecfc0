//! Reads the initial bytes of variables, and the targets of their pointers, from an object file.

use super::super::alias_unit::ALIAS_END;
use object::{
    Object, ObjectSection, ObjectSymbol, RelocationKind, RelocationTarget, SectionKind, SymbolKind,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Data {
    /// Little-endian. Pointers are zero here; their targets are in `targets`.
    pub bytes: Vec<u8>,
    /// The targets of the pointers, by their offset in `bytes`.
    pub targets: BTreeMap<u64, Target>,
}

/// The target of a pointer in a variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    /// A constant string: its bytes up to the first NUL, without it.
    Text(Vec<u8>),
    /// The address `addend` bytes after the start of the function or variable with this C name.
    Symbol { name: String, addend: i64 },
    /// Bytes without a name that are not a string; the text says where they are.
    Unnamed(String),
}

/// A parsed object file.
pub(super) struct Image<'a> {
    file: object::File<'a>,
    /// The variables that it defines, by name.
    variables: HashMap<&'a str, object::SymbolIndex>,
}

impl<'a> Image<'a> {
    /// Parses a compiler's output; `Err` holds the reason if this module does not understand it.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self, String> {
        let file = object::File::parse(bytes).map_err(|e| format!("its object file cannot be read: {e}"))?;
        if !file.is_little_endian() {
            return Err("the C compiler writes big-endian code".into());
        }
        let variables = file.symbols().filter(|s| s.is_definition() && is_variable(s.kind()));
        // Several variables may have one name, such as statics of functions; take the first.
        let mut named = HashMap::new();
        for symbol in variables {
            if let Ok(name) = symbol.name() {
                named.entry(name).or_insert(symbol.index());
            }
        }
        Ok(Self { file, variables: named })
    }

    pub(super) fn functions(&self) -> BTreeSet<String> {
        self.names(|s| s.kind() == SymbolKind::Text && s.is_definition())
    }

    /// The names that the object exports.
    pub(super) fn exports(&self) -> BTreeSet<String> {
        self.names(|s| s.is_global() && s.is_definition())
    }

    fn names(&self, wanted: impl Fn(&object::Symbol) -> bool) -> BTreeSet<String> {
        let names = self.file.symbols().filter(|s| wanted(s)).filter_map(|s| Some(s.name().ok()?.to_owned()));
        names.filter(|name| !name.is_empty() && !name.ends_with(ALIAS_END)).collect()
    }

    /// The variable with this name in the symbol table.
    pub(super) fn variable(&self, name: &str) -> Option<Result<Data, String>> {
        let symbol = self.file.symbol_by_index(*self.variables.get(name)?).ok()?;
        Some(self.data(&symbol))
    }

    fn data(&self, symbol: &object::Symbol<'a, '_>) -> Result<Data, String> {
        let section = symbol
            .section_index()
            .and_then(|index| self.file.section_by_index(index).ok())
            .ok_or("it is in no section of its object file")?;
        let start = symbol.address() - section.address();
        let bytes = contents(&section, start, symbol.size())?;
        let mut targets = BTreeMap::new();
        for (offset, relocation) in section.relocations() {
            if offset < start || offset >= start + symbol.size() {
                continue;
            }
            let at = offset - start;
            if relocation.kind() != RelocationKind::Absolute || relocation.size() != 64 {
                return Err(format!("the value at byte {at} is set by the linker in an unknown way"));
            }
            let mut addend = relocation.addend();
            if relocation.has_implicit_addend() {
                let held = usize::try_from(at).ok().and_then(|at| bytes.get(at..at + 8));
                let held = held.and_then(|b| b.try_into().ok()).ok_or("a pointer extends past its end")?;
                addend = addend.wrapping_add(i64::from_le_bytes(held));
            }
            targets.insert(at, self.target(relocation.target(), addend)?);
        }
        Ok(Data { bytes, targets })
    }

    fn target(&self, target: RelocationTarget, addend: i64) -> Result<Target, String> {
        let unknown = || "a pointer in it has an unknown target".to_owned();
        let section = match target {
            RelocationTarget::Symbol(index) => {
                let symbol = self.file.symbol_by_index(index).map_err(|_| unknown())?;
                if symbol.kind() != SymbolKind::Section {
                    return Ok(self.at_symbol(&symbol, addend));
                }
                symbol.section_index().ok_or_else(unknown)?
            }
            RelocationTarget::Section(index) => index,
            _ => return Err(unknown()),
        };
        let offset = u64::try_from(addend).map_err(|_| unknown())?;
        let covers = |s: &object::Symbol<'a, '_>| {
            let named = is_variable(s.kind()) || s.kind() == SymbolKind::Text;
            let inside = s.address() <= offset && offset < s.address() + s.size().max(1);
            named && s.section_index() == Some(section) && inside
        };
        // Prefer any other name to the generated alias.
        let best = self
            .file
            .symbols()
            .filter(covers)
            .min_by_key(|s| s.name().is_ok_and(|name| name.ends_with(ALIAS_END)));
        if let Some(symbol) = best {
            return Ok(self.at_symbol(&symbol, addend - symbol.address().cast_signed()));
        }
        let section = self.file.section_by_index(section).map_err(|_| unknown())?;
        // clang puts a literal that goes on behind its first NUL elsewhere; gcc puts all together.
        let may_go_on = section.kind() != SectionKind::ReadOnlyString && self.is_by_clang();
        let text = section.data().ok().filter(|_| is_constant(section.kind()) && !may_go_on);
        let text = text.and_then(|bytes| bytes.get(usize::try_from(offset).ok()?..));
        Ok(match text.and_then(until_nul) {
            Some(text) => Target::Text(text),
            None => Target::Unnamed(format!("byte {offset} of section {}", section.name().unwrap_or("?"))),
        })
    }

    fn is_by_clang(&self) -> bool {
        let comment = self.file.section_by_name(".comment").and_then(|section| section.data().ok());
        comment.is_some_and(|text| text.windows(5).any(|word| word == b"clang"))
    }

    /// The target `addend` bytes after the start of a symbol. A constant array of characters with one NUL, at
    /// its end, is treated as a string.
    fn at_symbol(&self, symbol: &object::Symbol<'a, '_>, addend: i64) -> Target {
        let name = symbol.name().unwrap_or_default();
        let string = || {
            let section = self.file.section_by_index(symbol.section_index()?).ok()?;
            if !is_constant(section.kind()) || !is_variable(symbol.kind()) {
                return None;
            }
            let bytes = contents(&section, symbol.address() - section.address(), symbol.size()).ok()?;
            let rest = bytes.get(usize::try_from(addend).ok()?..)?;
            until_nul(rest).filter(|text| text.len() + 1 == rest.len())
        };
        match string() {
            Some(text) => Target::Text(text),
            None => Target::Symbol { name: name.to_owned(), addend },
        }
    }
}

fn is_variable(kind: SymbolKind) -> bool {
    // The kind stays unknown if an assembler is given no type.
    matches!(kind, SymbolKind::Data | SymbolKind::Unknown)
}

fn is_constant(kind: SectionKind) -> bool {
    matches!(kind, SectionKind::ReadOnlyData | SectionKind::ReadOnlyString)
}

fn until_nul(bytes: &[u8]) -> Option<Vec<u8>> {
    let end = bytes.iter().position(|b| *b == 0)?;
    Some(bytes[..end].to_vec())
}

fn contents(section: &object::Section<'_, '_>, start: u64, size: u64) -> Result<Vec<u8>, String> {
    let broken = || "it extends past the end of its section".to_owned();
    let size = usize::try_from(size).map_err(|_| broken())?;
    if section.kind() == SectionKind::UninitializedData {
        return Ok(vec![0; size]);
    }
    let bytes = section.data().map_err(|e| format!("its section cannot be read: {e}"))?;
    let start = usize::try_from(start).map_err(|_| broken())?;
    bytes.get(start..).and_then(|rest| rest.get(..size)).map(<[u8]>::to_vec).ok_or_else(broken)
}
