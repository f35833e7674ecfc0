//! Equivalent mutants: an optimising compiler gives them the same machine code as the function, so no input can kill
//! them ("trivial compiler equivalence", Papadakis et al., ICSE 2015, which finds about three of ten equivalent
//! mutants). An equivalent mutant that this misses counts as a survivor.

use object::{Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, SymbolKind};

/// Behind the unit's own flags: one section for each function, and nothing shared between functions whose place would
/// differ, such as tables of jumps and vectors of constants.
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

/// A relocation: where, how, the name of what it leads to (none for the function itself), and how far behind it.
type Link = (u64, RelocationFlags, Option<String>, i64);

/// The machine code of a function without its name.
#[derive(PartialEq)]
struct Code {
    bytes: Vec<u8>,
    links: Vec<Link>,
}

impl Code {
    /// Whether it does nothing but go on in another function: gcc makes that of the second of two that are equal.
    fn is_jump(&self, to: &str) -> bool {
        let [(at, _, Some(name), _)] = &self.links[..] else { return false };
        let start = self.bytes.get(..*at as usize).unwrap_or_default();
        let jumps = match start.strip_prefix(&ENDBR[..]).unwrap_or(start) {
            // x86-64: the address follows the operation.
            [0xe9] => self.bytes.len() == *at as usize + 4,
            // aarch64: the operation is in the last byte of the word that the address is put into.
            [] => self.bytes.len() == 4 && self.bytes[3] & 0xfc == 0x14,
            _ => false,
        };
        name == to && jumps
    }
}

/// x86-64's mark of a place that may be jumped to.
const ENDBR: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];

/// The functions of this object file with the positions in `names` whose code is that of the first of them.
pub(super) fn same_as_first(object: &[u8], names: &[&str]) -> Vec<usize> {
    let Ok(file) = object::File::parse(object) else { return Vec::new() };
    let Some(first) = names.first().and_then(|name| code(&file, name)) else { return Vec::new() };
    let is_same = |name: &&str| {
        code(&file, name)
            .is_some_and(|code| code == first || names.first().is_some_and(|to| code.is_jump(to)))
    };
    names.iter().enumerate().skip(1).filter(|(_, name)| is_same(name)).map(|(at, _)| at).collect()
}

/// None where it is not known for sure what the code leads to.
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
        // Itself by its name, or by the section that it has alone.
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
