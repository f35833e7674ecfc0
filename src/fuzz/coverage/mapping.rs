//! LLVM's coverage mapping: the source region of each counter of a function. `__llvm_covmap` holds the file
//! names, `__llvm_covfun` a record for each function.

use super::bytes::{Bytes, Malformed, Read, small};
use md5::{Digest, Md5};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The supported versions of the mapping, as stored in the binary (LLVM counts from 0). Both list the
/// compilation directory first.
pub const KNOWN_MAPPINGS: [u32; 2] = [5, 6];

/// A range of the source. Lines and columns start at 1; the end is exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    pub start: (u32, u32),
    pub end: (u32, u32),
}

/// The source of a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Counter {
    /// Code that the compiler knows is never run.
    Zero,
    Counted(usize),
    /// The expression with this index, as the difference or the sum of its two operands.
    Minus(usize),
    Plus(usize),
}

/// The kind of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegionKind {
    Code(Counter),
    /// The gap between two statements; it counts only for lines without other regions.
    Gap(Counter),
    /// A use of a macro or an include; its regions belong to the file with this index in the record.
    Expansion(usize),
    /// Text that the preprocessor removed.
    Skipped,
    /// A condition, with the counts of true and of false.
    Branch(Counter, Counter),
    /// Part of MC/DC coverage, which is not used.
    Decision,
}

/// A region in one of a record's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    pub file: usize,
    pub span: Span,
    pub kind: RegionKind,
}

/// The mapping of one function.
#[derive(Debug, Clone)]
pub struct FunctionRecord {
    /// Hashes of its name and of its shape: the key of its counters.
    pub key: (u64, u64),
    pub files: Vec<Rc<Path>>,
    pub expressions: Vec<(Counter, Counter)>,
    pub regions: Vec<Region>,
}

/// The file names of each compilation, by the hash of their table.
type FileTables = HashMap<u64, Vec<Rc<Path>>>;

/// Decodes the two coverage sections of a binary.
pub fn records(covmap: &[u8], covfun: &[u8]) -> Read<Vec<FunctionRecord>> {
    let tables = file_tables(covmap)?;
    let (mut bytes, mut records) = (Bytes::new(covfun), Vec::new());
    while !bytes.is_empty() {
        let name = bytes.u64()?;
        let size = bytes.u32()?;
        let (shape, files) = (bytes.u64()?, bytes.u64()?);
        let data = bytes.take(small(size.into())?)?;
        bytes.align(8);
        let Some(table) = tables.get(&files) else {
            return Err(Malformed("a function names a table of files that is not there".into()));
        };
        records.push(record((name, shape), table, data)?);
    }
    Ok(records)
}

fn file_tables(covmap: &[u8]) -> Read<FileTables> {
    let (mut bytes, mut tables) = (Bytes::new(covmap), FileTables::new());
    while !bytes.is_empty() {
        let _records = bytes.u32()?;
        let (names, mapping, version) = (bytes.u32()?, bytes.u32()?, bytes.u32()?);
        if !KNOWN_MAPPINGS.contains(&version) {
            return Err(Malformed(format!("version {} of the mapping is not known", version + 1)));
        }
        let names = bytes.take(small(names.into())?)?;
        bytes.take(small(mapping.into())?)?;
        bytes.align(8);
        tables.insert(key_of(names), file_names(names)?);
    }
    Ok(tables)
}

/// LLVM's hash of a text: the first half of its MD5.
pub(super) fn key_of(text: &[u8]) -> u64 {
    let mut half = [0; 8];
    half.copy_from_slice(&Md5::digest(text)[..8]);
    u64::from_le_bytes(half)
}

fn file_names(table: &[u8]) -> Read<Vec<Rc<Path>>> {
    let mut bytes = Bytes::new(table);
    let (count, long, packed) = (bytes.index()?, bytes.index()?, bytes.index()?);
    let text = match packed {
        0 => bytes.take(long)?.to_vec(),
        _ => miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(bytes.take(packed)?, long)
            .map_err(|error| Malformed(format!("the names of files do not unpack: {error}")))?,
    };
    let mut bytes = Bytes::new(&text);
    let mut names: Vec<Rc<Path>> = Vec::new();
    for _ in 0..count {
        let length = bytes.index()?;
        let name = String::from_utf8_lossy(bytes.take(length)?).into_owned();
        // The other names are relative to the first, the compilation directory.
        let path = names.first().map_or_else(|| PathBuf::from(&name), |dir| dir.join(&name));
        names.push(path.into());
    }
    Ok(names)
}

fn record(key: (u64, u64), table: &[Rc<Path>], data: &[u8]) -> Read<FunctionRecord> {
    let mut bytes = Bytes::new(data);
    let mut files = Vec::new();
    for _ in 0..bytes.index()? {
        let file = table.get(bytes.index()?);
        files.push(Rc::clone(file.ok_or_else(|| Malformed("a file has no name".into()))?));
    }
    let mut expressions = Vec::new();
    for _ in 0..bytes.index()? {
        expressions.push((counter(bytes.leb()?)?, counter(bytes.leb()?)?));
    }
    let mut regions = Vec::new();
    for file in 0..files.len() {
        let mut line = 0_u32;
        for _ in 0..bytes.index()? {
            let region = region(&mut bytes, file, line)?;
            line = region.span.start.0;
            regions.push(region);
        }
    }
    Ok(FunctionRecord { key, files, expressions, regions })
}

fn counter(code: u64) -> Read<Counter> {
    let index = small(code >> 2)?;
    Ok(match code & 3 {
        0 => Counter::Zero,
        1 => Counter::Counted(index),
        2 => Counter::Minus(index),
        _ => Counter::Plus(index),
    })
}

/// Decodes a region. Its line is relative to that of the region before.
fn region(bytes: &mut Bytes, file: usize, line_before: u32) -> Read<Region> {
    const EXPANSION: u64 = 4;
    const GAP: u32 = 1 << 31;
    let head = bytes.leb()?;
    let kind = match (head & 3, head & EXPANSION, head >> 3) {
        (1..=3, ..) => RegionKind::Code(counter(head)?),
        (_, EXPANSION, of) => RegionKind::Expansion(small(of)?),
        (_, _, 0) => RegionKind::Code(Counter::Zero),
        (_, _, 2) => RegionKind::Skipped,
        (_, _, 4) => RegionKind::Branch(counter(bytes.leb()?)?, counter(bytes.leb()?)?),
        (_, _, 5) => {
            bytes.leb()?;
            bytes.leb()?;
            RegionKind::Decision
        }
        (_, _, 6) => {
            let kind = RegionKind::Branch(counter(bytes.leb()?)?, counter(bytes.leb()?)?);
            for _ in 0..3 {
                bytes.leb()?;
            }
            kind
        }
        (_, _, other) => return Err(Malformed(format!("a region is of the unknown kind {other}"))),
    };
    let (down, column, lines, end) = (bytes.narrow()?, bytes.narrow()?, bytes.narrow()?, bytes.narrow()?);
    let too_far = || Malformed("a line number has more than 32 bits".into());
    let line = line_before.checked_add(down).ok_or_else(too_far)?;
    let last = line.checked_add(lines).ok_or_else(too_far)?;
    let kind = match kind {
        RegionKind::Code(counter) if end & GAP != 0 => RegionKind::Gap(counter),
        kind => kind,
    };
    Ok(Region { file, span: Span { start: (line, column), end: (last, end & !GAP) }, kind })
}

#[cfg(test)]
mod tests {
    use super::super::bytes::tests::leb;
    use super::*;
    use proptest::prelude::*;

    fn encoded(counter: Counter) -> u64 {
        match counter {
            Counter::Zero => 0,
            Counter::Counted(n) => (n as u64) << 2 | 1,
            Counter::Minus(n) => (n as u64) << 2 | 2,
            Counter::Plus(n) => (n as u64) << 2 | 3,
        }
    }

    /// Encodes functions with one file as a compiler does.
    fn encode(records: &[FunctionRecord], packed: bool) -> (Vec<u8>, Vec<u8>) {
        let names: Vec<u8> = [&b"\x02/a"[..], b"\x03b.c"].concat();
        let data = if packed { miniz_oxide::deflate::compress_to_vec_zlib(&names, 6) } else { names.clone() };
        let length = if packed { data.len() as u64 } else { 0 };
        let table = [leb(2), leb(names.len() as u64), leb(length), data].concat();
        let head: Vec<u8> = [0, table.len() as u32, 0, 6].iter().flat_map(|n| n.to_le_bytes()).collect();
        let mut covmap = [head, table.clone()].concat();
        covmap.resize(covmap.len().next_multiple_of(8), 0);
        let mut covfun = Vec::new();
        for record in records {
            let mut data = [leb(1), leb(1), leb(record.expressions.len() as u64)].concat();
            for (a, b) in &record.expressions {
                data.extend([leb(encoded(*a)), leb(encoded(*b))].concat());
            }
            data.extend(leb(record.regions.len() as u64));
            let mut line = 0;
            for Region { span, kind, .. } in &record.regions {
                let (head, gap) = match *kind {
                    RegionKind::Code(counter) => (leb(encoded(counter)), 0),
                    RegionKind::Gap(counter) => (leb(encoded(counter)), 1 << 31),
                    RegionKind::Expansion(of) => (leb((of as u64) << 3 | 4), 0),
                    RegionKind::Skipped => (leb(2 << 3), 0),
                    RegionKind::Branch(a, b) => ([leb(4 << 3), leb(encoded(a)), leb(encoded(b))].concat(), 0),
                    RegionKind::Decision => ([leb(5 << 3), leb(9), leb(9)].concat(), 0),
                };
                data.extend(head);
                for n in [span.start.0 - line, span.start.1, span.end.0 - span.start.0, span.end.1 | gap] {
                    data.extend(leb(n.into()));
                }
                line = span.start.0;
            }
            covfun.extend(record.key.0.to_le_bytes());
            covfun.extend((data.len() as u32).to_le_bytes());
            covfun.extend(record.key.1.to_le_bytes());
            covfun.extend(key_of(&table).to_le_bytes());
            covfun.extend(data);
            covfun.resize(covfun.len().next_multiple_of(8), 0);
        }
        (covmap, covfun)
    }

    fn counters() -> impl Strategy<Value = Counter> {
        (0_usize..4, 0_usize..5000).prop_map(|(tag, n)| match tag {
            0 => Counter::Zero,
            1 => Counter::Counted(n),
            2 => Counter::Minus(n),
            _ => Counter::Plus(n),
        })
    }

    fn regions() -> impl Strategy<Value = Vec<Region>> {
        let one = (0..6, counters(), counters(), (0_u32..300, 1_u32..200, 0_u32..9, 1_u32..200));
        proptest::collection::vec(one, 0..20).prop_map(|all| {
            let mut line = 1;
            all.into_iter()
                .map(|(kind, a, b, (down, column, lines, end))| {
                    line += down;
                    let kind = match kind {
                        0 => RegionKind::Code(a),
                        1 => RegionKind::Gap(a),
                        2 => RegionKind::Expansion(line as usize),
                        3 => RegionKind::Skipped,
                        4 => RegionKind::Branch(a, b),
                        _ => RegionKind::Decision,
                    };
                    Region { file: 0, span: Span { start: (line, column), end: (line + lines, end) }, kind }
                })
                .collect()
        })
    }

    proptest! {
        #[test]
        fn every_table_comes_back(
            all in proptest::collection::vec(
                (any::<(u64, u64)>(), proptest::collection::vec((counters(), counters()), 0..5), regions()), 0..5),
            packed: bool,
        ) {
            let all: Vec<FunctionRecord> = all.into_iter()
                .map(|(key, expressions, regions)| FunctionRecord { key, files: vec![], expressions, regions })
                .collect();
            let (covmap, covfun) = encode(&all, packed);
            let read = records(&covmap, &covfun).unwrap();
            prop_assert_eq!(read.len(), all.len());
            for (read, wrote) in read.iter().zip(&all) {
                prop_assert_eq!(&*read.files[0], Path::new("/a/b.c"));
                prop_assert_eq!((read.key, &read.expressions, &read.regions),
                                (wrote.key, &wrote.expressions, &wrote.regions));
            }
        }

        #[test]
        fn what_is_cut_off_is_told(at in 1_usize..40) {
            let regions = vec![Region {
                file: 0, span: Span { start: (1, 1), end: (2, 2) }, kind: RegionKind::Code(Counter::Counted(0)),
            }];
            let record = FunctionRecord { key: (1, 2), files: vec![], expressions: vec![], regions };
            let (covmap, covfun) = encode(&[record], false);
            prop_assume!(at < covfun.len());
            prop_assert!(records(&covmap, &covfun[..covfun.len() - at]).is_err() || at < 8);
        }

        #[test]
        fn no_bytes_make_it_panic(a in proptest::collection::vec(any::<u8>(), 0..90),
                                  b in proptest::collection::vec(any::<u8>(), 0..90)) {
            drop(records(&a, &b));
            drop(record((0, 0), &[Path::new("/x").into()], &b));
        }
    }

    #[test]
    fn an_unknown_version_is_told() {
        let (mut covmap, covfun) = encode(&[], false);
        covmap[12] = 9;
        assert!(records(&covmap, &covfun).unwrap_err().0.contains("version 10"));
    }
}
