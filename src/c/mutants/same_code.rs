//! Equivalent mutants: an optimising compiler gives them the same machine code as the function, so no input can kill
//! them ("trivial compiler equivalence", Papadakis et al., ICSE 2015, which finds about three of ten equivalent
//! mutants). An equivalent mutant that this misses counts as a survivor.

use object::{Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, SymbolKind};

/// Flags that are added after the unit's own: one section per function, and nothing whose place would differ
/// and that functions share, such as jump tables and vectors of constants.
pub(in super::super) const OPTIMISED: &[&str] = &[
    "-O2",
    "-g0",
    "-w",
    "-fno-common",
    "-ffunction-sections",
    "-fdata-sections",
    "-fno-lto",
    "-fno-jump-tables",
    "-fno-tree-vectorize",
    "-fno-tree-slp-vectorize",
    "-fno-asynchronous-unwind-tables",
];

/// A relocation: offset, kind, name of the target (`None` for the function itself), and addend.
type Link = (u64, RelocationFlags, Option<String>, i64);

/// The machine code of a function without its name.
#[derive(PartialEq)]
struct Code {
    bytes: Vec<u8>,
    links: Vec<Link>,
}

impl Code {
    /// Whether it only jumps to another function: gcc emits that for the second of two equal functions.
    fn is_jump(&self, to: &str) -> bool {
        let [(at, _, Some(name), _)] = &self.links[..] else { return false };
        let start = self.bytes.get(..*at as usize).unwrap_or_default();
        let jumps = match start.strip_prefix(&ENDBR[..]).unwrap_or(start) {
            // x86-64: the address follows the opcode.
            [0xe9] => self.bytes.len() == *at as usize + 4,
            // aarch64: the opcode is in the last byte of the word that holds the address.
            [] => self.bytes.len() == 4 && self.bytes[3] & 0xfc == 0x14,
            _ => false,
        };
        name == to && jumps
    }
}

/// x86-64's `endbr64`, which marks targets of indirect jumps.
const ENDBR: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];

/// The positions in `names` of the functions in this object file that have the same code as the first one.
pub(super) fn same_as_first(object: &[u8], names: &[&str]) -> Vec<usize> {
    let Ok(file) = object::File::parse(object) else { return Vec::new() };
    let Some(first) = names.first().and_then(|name| code(&file, name)) else { return Vec::new() };
    let is_same = |name: &&str| {
        code(&file, name)
            .is_some_and(|code| code == first || names.first().is_some_and(|to| code.is_jump(to)))
    };
    names.iter().enumerate().skip(1).filter(|(_, name)| is_same(name)).map(|(at, _)| at).collect()
}

/// The code of a function; `None` if the target of a relocation is not certain.
fn code(file: &object::File, name: &str) -> Option<Code> {
    let symbol = file.symbols().find(|s| s.is_definition() && s.name() == Ok(name))?;
    let section = file.section_by_index(symbol.section_index()?).ok()?;
    let start = symbol.address() - section.address();
    let within = |at: &u64| (start..start + symbol.size()).contains(at);
    let bytes = section.data().ok()?.get(usize::try_from(start).ok()?..)?;
    let bytes = bytes.get(..usize::try_from(symbol.size()).ok()?)?.to_vec();
    let mut links = Vec::new();
    for (at, relocation) in section.relocations().filter(|(at, _)| within(at)) {
        let RelocationTarget::Symbol(index) = relocation.target() else { return None };
        let target = file.symbol_by_index(index).ok()?;
        // The function refers to itself by its name, or by its section if it is alone there.
        let is_alone = section.size() == symbol.size();
        let own = target.index() == symbol.index()
            || is_alone
                && target.kind() == SymbolKind::Section
                && target.section_index() == symbol.section_index();
        let to = match target.kind() {
            _ if own => None,
            SymbolKind::Section => {
                let section = file.section_by_index(target.section_index()?).ok()?;
                Some(format!("section {} {}", section.index().0, section.name().ok()?))
            }
            _ => Some(target.name().ok().filter(|name| !name.is_empty())?.to_owned()),
        };
        links.push((at - start, relocation.flags(), to, relocation.addend()));
    }
    (!bytes.is_empty()).then_some(Code { bytes, links })
}
