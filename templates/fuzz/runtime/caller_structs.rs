//! Structs of the caller that point to memory of the caller and to which a handle may keep a pointer: their
//! content in an input, and their memory.
//! Written by cargo-implfuzz.

use super::codec::{Reader, Writer};
use super::plain::Plain;

/// The layout of such a struct, by offsets.
pub struct Form {
    pub size: usize,
    /// Numeric fields: name, offset, size in bytes.
    pub numbers: &'static [(&'static str, usize, usize)],
    pub pointers: &'static [Pointer],
}

/// A field that points to bytes, and the fields with their number.
pub struct Pointer {
    pub name: &'static str,
    pub at: usize,
    pub lengths: &'static [(usize, usize)],
}

/// Its content: numbers, and the bytes behind each pointer, followed by a NUL; `None` for null.
#[derive(Clone)]
pub struct Lent {
    pub numbers: Vec<u64>,
    pub memories: Vec<Option<Vec<u8>>>,
}

impl Lent {
    pub fn decode(reader: &mut Reader, form: &Form) -> Self {
        let number = |reader: &mut Reader| match reader.array::<1>()[0] {
            0..0x80 => 0,
            0x80..0xc0 => 1,
            _ => u64::from(u32::from_le_bytes(reader.array())),
        };
        let memory = |reader: &mut Reader| match reader.array::<1>()[0] {
            tag @ 0..0xc0 => Some(reader.take(usize::from(tag)).to_vec()),
            _ => None,
        };
        let numbers = form.numbers.iter().map(|_| number(reader)).collect();
        Self { numbers, memories: form.pointers.iter().map(|_| memory(reader)).collect() }
    }

    pub fn encode(&self, writer: &mut Writer) {
        for number in &self.numbers {
            match number {
                0 => writer.put(&[0]),
                1 => writer.put(&[0x80]),
                _ => {
                    writer.put(&[0xc0]);
                    writer.put(&(*number as u32).to_le_bytes());
                }
            }
        }
        for memory in &self.memories {
            match memory {
                Some(bytes) => {
                    writer.put(&[bytes.len() as u8]);
                    writer.put(bytes);
                }
                None => writer.put(&[0xc0]),
            }
        }
    }

    pub fn show(&self, form: &Form) -> String {
        let numbers = form.numbers.iter().zip(&self.numbers).map(|((name, ..), n)| format!("{name}: {n}"));
        let memories = form.pointers.iter().zip(&self.memories).map(|(pointer, memory)| match memory {
            Some(bytes) => format!("{}: {} and NUL", pointer.name, super::codec::show_bytes(bytes)),
            None => format!("{}: NULL", pointer.name),
        });
        format!("{{ {} }}", numbers.chain(memories).collect::<Vec<_>>().join(", "))
    }

    /// Reads the parent's form; omitted fields are zero or null.
    pub fn of_plain(plain: &Plain, form: &Form) -> Result<Self, String> {
        let names = form.numbers.iter().map(|(name, ..)| *name).chain(form.pointers.iter().map(|p| p.name));
        let fields = plain.fields(&names.collect::<Vec<_>>())?;
        let number = |plain: &Plain| {
            let number = plain.integer()?;
            u32::try_from(number).map(u64::from).map_err(|_| format!("{number} is no 32-bit number"))
        };
        let memory = |plain: &Plain| if *plain == Plain::Null { Ok(None) } else { plain.bytes().map(Some) };
        let numbers = form.numbers.iter().map(|(name, ..)| fields.read_or(name, || 0, number)).collect::<Result<_, _>>()?;
        let memories = form.pointers.iter().map(|p| fields.read_or(p.name, || None, memory)).collect::<Result<_, _>>()?;
        Ok(Self { numbers, memories })
    }

    /// The inverse of [`Lent::of_plain`].
    pub fn plain(&self, form: &Form) -> Plain {
        let numbers = form.numbers.iter().zip(&self.numbers);
        let numbers = numbers.map(|((name, ..), n)| ((*name).to_owned(), Plain::Integer(i128::from(*n))));
        let memories = form.pointers.iter().zip(&self.memories).map(|(pointer, memory)| {
            (pointer.name.to_owned(), memory.as_ref().map_or(Plain::Null, |bytes| Plain::Bytes(bytes.clone())))
        });
        Plain::Object(numbers.chain(memories).collect())
    }

    pub fn boundaries(form: &Form) -> Vec<Self> {
        let text = |n: usize| b"a name, and more of it: 0123456789".iter().cycle().take(n).copied().collect::<Vec<u8>>();
        let memory = |at: usize| match at % 5 {
            0 => None,
            1 => Some(Vec::new()),
            2 => Some(text(1)),
            3 => Some(text(9)),
            _ => Some(text(180)),
        };
        let number = |at: usize| [0, 1, 0, 3, 0xffff_ffff, 1][at % 6];
        let one = |turn: usize| Self {
            numbers: (0..form.numbers.len()).map(|at| number(turn * (at + 1) + at)).collect(),
            memories: (0..form.pointers.len()).map(|at| memory(turn * (at + 2) + turn / 5)).collect(),
        };
        (0..20).map(one).collect()
    }

    /// The bytes of the struct with these pointers.
    pub fn bytes(&self, form: &Form, pointers: &[usize]) -> Vec<u64> {
        let mut words = vec![0u64; form.size.div_ceil(8)];
        let mut put = |at: usize, width: usize, value: u64| {
            for (n, byte) in value.to_le_bytes().into_iter().take(width).enumerate() {
                let at = at + n;
                words[at / 8] |= u64::from(byte) << (at % 8 * 8);
            }
        };
        for ((_, at, width), number) in form.numbers.iter().zip(&self.numbers) {
            put(*at, *width, *number);
        }
        for ((pointer, memory), address) in form.pointers.iter().zip(&self.memories).zip(pointers) {
            put(pointer.at, 8, *address as u64);
            let length = memory.as_ref().map_or(0, |bytes| bytes.len() + 1);
            for (at, width) in pointer.lengths {
                put(*at, *width, length as u64);
            }
        }
        words
    }
}
